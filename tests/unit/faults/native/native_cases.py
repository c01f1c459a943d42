"""One runtime with its native fault library and a model whose answers are known."""

import gc
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from adapters.base import ModelFile
from harness.faults.native import NativeFaults, native_availability
from harness.faults.native.passthrough import with_passthrough
from harness.models.reference import resolve
from harness.models.registry import load_adapter

PACKAGES = {"onnxruntime": "onnxruntime", "litert": "ai_edge_litert", "tflite": "tflite_runtime"}
LIVE = ("live_delegates", "live_kernels", "held")


class Case:
    """The affine model y = 2 x + 1, with the fault library in it."""

    def __init__(self, name):
        self.name = name
        self.adapter = load_adapter(name)
        self.faults = NativeFaults.onnxruntime() if name == "onnxruntime" else NativeFaults.tflite()
        model = resolve("builtin:affine", self.adapter.suffixes)
        if name == "onnxruntime":
            pytest.importorskip("onnx", reason="onnx, which puts the operator into the model, is not installed")
            model = ModelFile(name=model.name, suffix=model.suffix, data=with_passthrough(model.data, "scaled"))
        self.model = model

    def open(self, **options):
        delegate = self.adapter.default_delegate if self.name == "onnxruntime" else self.faults.delegate
        return self.adapter.open(self.model, delegate, {**self.faults.options(self.name), **options})

    def live(self):
        counters = self.faults.counters()
        return {name: getattr(counters, name) for name in LIVE}


def feeds(number):
    return {"x": np.full((1, 8), number, np.float32)}


def truth(number):
    return [2.0 * number + 1.0] * 8


def answer(session, number):
    return session.run(feeds(number))["y"].ravel().tolist()


def skip_unless_there(name):
    if find_spec(PACKAGES[name]) is None:
        pytest.skip(f"the runtime {PACKAGES[name]} is not installed")
    available, reason = native_availability()
    if not available:
        pytest.skip(f"native faults are not available: {reason}")


@contextmanager
def opened(name):
    """A case that starts from zero and must end with nothing live."""
    skip_unless_there(name)
    case = Case(name)
    gc.collect()
    case.faults.reset()
    assert not any(case.live().values()), "an earlier test left something live"
    yield case
    case.faults.reset()


def child(name, body):
    """Python code for a process of its own: `case`, `answer`, `feeds` and `truth` are there."""
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from native_cases import Case, answer, feeds, truth
case = Case({name!r})
{body}"""
    return [sys.executable, "-c", code]
