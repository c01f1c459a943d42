"""Fixtures that need no more than a folder, and those that need a runtime or a published model."""

import sys
from pathlib import Path

import pytest

from harness.models.reference import PUBLISHED

sys.path.append(str(Path(__file__).parent))  # importlib mode: `command_line` and `coverage_table` lie beside the tests
from command_line import Racegate


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def racegate(tmp_path, cache):
    return Racegate(tmp_path, cache)


@pytest.fixture(scope="session")
def make_racegate(tmp_path_factory, cache):
    """For fixtures that several tests share."""
    return lambda name: Racegate(tmp_path_factory.mktemp(name), cache)


@pytest.fixture(scope="session")
def published(make_racegate):
    """The cache holds the published models, or the test is skipped with what `models fetch` said."""
    done = make_racegate("fetch")("models", "fetch", *PUBLISHED.values())
    if done.code == 3:
        pytest.skip(done.err.strip().replace("\n", "; "))
    assert done.code == 0, done.text
    return done.out
