"""The committed built-in models are what the program builds."""

import importlib.util
from pathlib import Path

import pytest

import harness.models
from harness.models.build import BUILDERS

NEEDS = {".json": (), ".onnx": ("onnx",), ".tflite": ("ai_edge_litert", "flatbuffers")}
CASES = [(suffix, name) for suffix, builders in BUILDERS.items() for name in builders]


@pytest.mark.parametrize(("suffix", "name"), CASES)
def test_rebuilding_gives_the_committed_bytes(suffix, name):
    for package in NEEDS[suffix]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package}, which builds {suffix} models, is not installed")
    committed = Path(harness.models.__file__).parent / "builtin" / f"{name}{suffix}"
    assert BUILDERS[suffix][name]() == committed.read_bytes()


def test_nothing_else_is_committed():
    folder = Path(harness.models.__file__).parent / "builtin"
    assert {file.name for file in folder.iterdir()} == {f"{name}{suffix}" for suffix, name in CASES}
