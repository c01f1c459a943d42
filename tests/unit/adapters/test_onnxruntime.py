"""ONNX Runtime: placement, strict and falling-back providers, concurrent runs, fixed buffers, quiet failures."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from adapter_cases import builtin, file_model, inputs, opened

from adapters.base import ContractError, DelegateInitError, ModelLoadError, OptionError, Sharing

CPU = "CPUExecutionProvider"


def dynamic_model() -> bytes:
    onnx = pytest.importorskip("onnx", reason="the package onnx, which builds this model, is not installed")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "dynamic",
        [helper.make_tensor_value_info("x", kind, ["batch", 3])],
        [helper.make_tensor_value_info("y", kind, ["batch", 3])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def test_ordinary_session_is_concurrent_and_calls_share_nothing(ort):
    session = opened(ort, "permutation")
    assert session.sharing is Sharing.CONCURRENT_RUN
    feeds = [inputs(session, seed) for seed in range(2)]
    expected = [session.run(one)["y"] for one in feeds]
    calls = [session.call(one) for one in feeds]
    for step in ("bind", "invoke"):
        for call in calls:
            getattr(call, step)()
    for call, answer in zip(calls, expected, strict=True):
        np.testing.assert_array_equal(call.fetch()["y"], answer)


def test_threads_on_one_session_get_their_own_answers(ort):
    session = opened(ort, "permutation")
    wrong = []

    def client(seed):
        feeds = inputs(session, seed)
        expected = session.run(feeds)["y"]
        wrong.extend(seed for _ in range(200) if not np.array_equal(session.run(feeds)["y"], expected))

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_overwriting_an_input_in_mid_run_changes_nothing(ort):
    session = opened(ort, "slow")
    feeds = inputs(session, n=2_000)
    expected = session.run(feeds)["y"]
    call = session.call(feeds)
    call.bind()
    thread = threading.Thread(target=call.invoke)
    thread.start()
    while thread.is_alive():
        feeds["x"][...] = -1.0
    thread.join()
    np.testing.assert_array_equal(call.fetch()["y"], expected)


def test_provider_that_takes_no_node_is_refused_or_declared(ort):
    if "AzureExecutionProvider" not in ort.probe().delegates:
        pytest.skip("this build of onnxruntime has no provider that takes no node")
    model = builtin(ort, "affine")
    with pytest.raises(DelegateInitError):
        ort.open(model, "AzureExecutionProvider", {})
    truth = ort.open(model, "AzureExecutionProvider", {"fallback": True}).delegate
    assert (truth.actual, truth.fallback, truth.init_error) == (CPU, True, None)


def test_bad_bytes_are_a_model_error_whatever_the_provider(ort):
    data = builtin(ort, "permutation").data
    for bad in (b"", b"not a model", data[:100], bytes(64)):
        for delegate in (CPU, "NoSuchProvider"):
            with pytest.raises(ModelLoadError):
                ort.open(file_model("bad.onnx", bad), delegate, {})


@pytest.mark.parametrize("io_binding", [False, True])
def test_dynamic_dimension(ort, io_binding):
    session = ort.open(file_model("dynamic.onnx", dynamic_model()), CPU, {"io_binding": io_binding})
    assert session.contract.inputs[0].shape == (None, 3)
    for rows in (1, 4, 2):
        x = np.random.default_rng(rows).random((rows, 3), np.float32)
        np.testing.assert_array_equal(session.run({"x": x})["y"], x)
    with pytest.raises(ContractError):
        session.run({"x": np.zeros((1, 4), np.float32)})


def test_io_binding_interleaved_with_other_shapes_survives(ort):
    session = ort.open(file_model("dynamic.onnx", dynamic_model()), CPU, {"io_binding": True})
    one, many = session.call({"x": np.ones((1, 3), np.float32)}), session.call({"x": np.zeros((5, 3), np.float32)})
    one.bind()
    many.bind()
    one.invoke()
    assert one.fetch()["y"].shape == (5, 3), "the other task's answer, and no crash"
    many.invoke()
    many.fetch()


def test_io_binding_before_any_run_fetches_nothing_unowned(ort):
    session = opened(ort, "permutation", io_binding=True)
    session.bind({"x": np.zeros((1, 16), np.float32)})
    first = session.fetch()["y"]
    session.run({"x": np.ones((1, 16), np.float32)})
    np.testing.assert_array_equal(first, np.zeros((1, 16), np.float32))


def test_bad_option_values(ort):
    for options in ({"intra_op_threads": "two"}, {"intra_op_threads": -1}, {"optimization": "most"}, {"io_binding": 1}):
        with pytest.raises(OptionError):
            ort.open(builtin(ort, "affine"), CPU, options)


@pytest.mark.usefixtures("ort")
def test_nothing_is_printed_not_even_by_an_interrupted_run():
    code = """
import threading, numpy as np
from adapters.base import AdapterError
from harness.models.reference import resolve
from harness.models.registry import load_adapter
adapter = load_adapter("onnxruntime")
session = adapter.open(resolve("builtin:slow", adapter.suffixes), "CPUExecutionProvider", {})
threading.Timer(0.1, session.interrupt).start()
try:
    session.run({"x": np.zeros((256, 64), np.float32), "n": np.array([100_000_000], np.int32)})
except AdapterError:
    pass
for delegate, options in (("Nope", {}), ("Nope", {"fallback": True}), ("AzureExecutionProvider", {})):
    try:
        adapter.open(resolve("builtin:affine", adapter.suffixes), delegate, options)
    except AdapterError:
        pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
