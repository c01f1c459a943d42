"""Test processes side by side prefer a core each, as the workers of a run do: cells pin their threads."""

import os

import pytest

from harness.models.registry import load_adapter
from harness.suite.plan import CORE

os.environ.setdefault(CORE, os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


@pytest.fixture(scope="module")
def engine():
    """For modules that run cells in this process: a cell pins the thread that runs it, and that is undone."""
    from harness.engine.install import install

    install()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    yield
    if cores is not None:
        os.sched_setaffinity(0, cores)


@pytest.fixture(scope="session")
def require_runtime():
    """Skip, and say what to install, where the adapter's runtime is not here."""

    def require(name):
        probe = load_adapter(name).probe()
        if not probe.importable:
            pytest.skip(f"{name} is not installed here: {probe.why_not}")

    return require
