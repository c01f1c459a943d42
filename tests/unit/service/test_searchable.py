"""The service is written so that a search sees what its threads share, and no more than that."""

import ast
from pathlib import Path

import pytest

import harness.service
from harness.engine.instrument.attributes import ANY, mutable_names

FILES = sorted(Path(harness.service.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_attributes_are_stored_under_names_that_stand_in_the_source(file):
    """One `vars(object)` or `setattr` of any name, and every attribute of the package may be stored anywhere."""
    assert ANY not in mutable_names(ast.parse(file.read_bytes()))
