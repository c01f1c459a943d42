"""The reference's own: its format is checked, and it is fast enough for a thousand executions a second."""

import json
import time

import numpy as np
import pytest
from adapter_cases import file_model, opened

from adapters.base import ModelLoadError
from adapters.numpy_reference import FORMAT, NumpyAdapter

GOOD = {"format": FORMAT, "kind": "permutation", "shape": [1, 2], "order": [1, 0]}


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"kind": "unheard-of"},
        {"kind": ["affine"]},
        {"shape": []},
        {"shape": [1, 0]},
        {"shape": [1, True]},
        {"shape": [1 << 11, 1 << 11]},
        {"order": [0, 0]},
        {"order": [0]},
        {"order": ["a", "b"]},
        {"order": None},
        {"kind": "affine"},
        {"kind": "affine", "scale": 1, "offset": float("nan")},
    ],
)
def test_bad_description(change):
    with pytest.raises(ModelLoadError):
        NumpyAdapter().open(file_model("m.json", json.dumps(GOOD | change).encode()), "reference", {})


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"{", b"[" * 100_000])
def test_bytes_that_are_no_object(data):
    with pytest.raises(ModelLoadError):
        NumpyAdapter().open(file_model("m.json", data), "reference", {})


def test_a_run_takes_microseconds():
    session = opened(NumpyAdapter(), "permutation")
    feeds = {"x": np.zeros((1, 16), np.float32)}
    best = float("inf")
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(200):
            session.run(feeds)
        best = min(best, (time.perf_counter() - started) / 200)
    assert best < 50e-6, "about 2 us on an idle core"
