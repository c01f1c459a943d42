"""Tests run on every adapter; one whose runtime is not installed is skipped by name."""

import importlib.util
import pathlib
import sys

import pytest

# importlib mode gives tests no package: what they share is loaded once, by path, under a name of its own.
_SPEC = importlib.util.spec_from_file_location("adapter_cases", pathlib.Path(__file__).with_name("adapter_cases.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_CASES = importlib.util.module_from_spec(_SPEC)
sys.modules["adapter_cases"] = _CASES
_SPEC.loader.exec_module(_CASES)


@pytest.fixture(params=_CASES.PACKAGES)
def adapter(request):
    return _CASES.adapter_or_skip(request.param)


@pytest.fixture(params=["litert", "tflite"])
def interpreter(request):
    return _CASES.adapter_or_skip(request.param)


@pytest.fixture
def ort():
    return _CASES.adapter_or_skip("onnxruntime")
