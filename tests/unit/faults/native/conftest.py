"""Native fault libraries, skipped by name where the runtime or the compiler is missing."""

import importlib.util
import pathlib
import sys

import pytest

# importlib mode gives tests no package: what they share is loaded once, by path, under a name of its own.
_SPEC = importlib.util.spec_from_file_location("native_cases", pathlib.Path(__file__).with_name("native_cases.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_CASES = importlib.util.module_from_spec(_SPEC)
sys.modules["native_cases"] = _CASES
_SPEC.loader.exec_module(_CASES)


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
