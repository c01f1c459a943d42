"""Adapters by name, the built-in models in their formats, and inputs for them."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from adapters.base import Adapter, ModelFile, Session
from harness.models.reference import resolve
from harness.models.registry import load_adapter

PACKAGES = {"numpy": "numpy", "onnxruntime": "onnxruntime", "litert": "ai_edge_litert", "tflite": "tflite_runtime"}


def adapter_or_skip(name: str) -> Adapter:
    if find_spec(PACKAGES[name]) is None:
        pytest.skip(f"the runtime {PACKAGES[name]} is not installed")
    return load_adapter(name)


def builtin(adapter: Adapter, name: str) -> ModelFile:
    return resolve(f"builtin:{name}", adapter.suffixes)


def opened(adapter: Adapter, name: str, **options) -> Session:
    return adapter.open(builtin(adapter, name), adapter.default_delegate, options)


def inputs(session: Session, seed: int = 0, n: int = 3) -> dict:
    rng = np.random.default_rng(seed)
    feeds = {spec.name: rng.random(spec.shape, np.float32) for spec in session.contract.inputs if spec.name == "x"}
    if len(session.contract.inputs) > 1:
        feeds["n"] = np.array([n], np.int32)
    return feeds


def file_model(name: str, data: bytes) -> ModelFile:
    return ModelFile(name=name, suffix=Path(name).suffix, data=data)
