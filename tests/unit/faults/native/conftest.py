"""Native fault libraries, skipped by name where the runtime or the compiler is missing."""

import importlib.util
import pathlib
import sys

import pytest


def _shared(name):
    """Load what tests share once, by path, under a name of its own: importlib mode gives them no package."""
    spec = importlib.util.spec_from_file_location(name, pathlib.Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_CASES = _shared("native_cases")
_CELLS = _shared("cell_cases")


@pytest.fixture(params=["litert", "tflite", "onnxruntime"])
def native(request):
    with _CASES.opened(request.param) as case:
        yield case


@pytest.fixture(params=["litert", "tflite"])
def delegate(request):
    with _CASES.opened(request.param) as case:
        yield case


@pytest.fixture
def operator():
    with _CASES.opened("onnxruntime") as case:
        yield case


@pytest.fixture(params=["litert", pytest.param("tflite", marks=pytest.mark.soak), "onnxruntime"])
def bench(request):
    """Cells of one runtime, in this process. tflite-runtime differs from LiteRT in nothing that they show."""
    return _CELLS.NativeBench(request.param)


@pytest.fixture(scope="session")
def specimens():
    """Where the known-bad services are."""
    return pathlib.Path(__file__).parents[3] / "specimens"
