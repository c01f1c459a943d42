"""The fault operator put into an ONNX model leaves what it computes as it was."""

import itertools

import numpy as np
import pytest
from native_cases import skip_unless_there

from adapters.base import ModelFile
from harness.faults.native import NativeFaults
from harness.faults.native.passthrough import float_tensors, with_passthrough
from harness.models.reference import resolve
from harness.models.registry import load_adapter

pytestmark = pytest.mark.runtime

onnx = pytest.importorskip("onnx", reason="onnx, which reads and writes these models, is not installed")


def model(name):
    return resolve(f"builtin:{name}", (".onnx",)).data


@pytest.mark.parametrize(
    ("name", "tensor"), [("affine", "x"), ("affine", "scaled"), ("affine", "y"), ("permutation", "x"), ("slow", "y")]
)
def test_on_an_input_in_the_middle_and_on_an_output(name, tensor):
    skip_unless_there("onnxruntime")
    adapter, faults = load_adapter("onnxruntime"), NativeFaults.onnxruntime()
    faults.reset()
    changed = ModelFile(name="m.onnx", suffix=".onnx", data=with_passthrough(model(name), tensor))
    session = adapter.open(changed, adapter.default_delegate, faults.options("onnxruntime"))
    plain = adapter.open(resolve(f"builtin:{name}", (".onnx",)), adapter.default_delegate, {})
    assert session.contract == plain.contract
    inputs = {
        spec.name: np.array([2], np.int32)
        if spec.name == "n"
        else np.random.default_rng(1).random(spec.shape, np.float32)
        for spec in session.contract.inputs
    }
    np.testing.assert_array_equal(session.run(inputs)["y"], plain.run(inputs)["y"])
    assert faults.counters().invokes == 1
    session.close()


def test_a_tensor_that_is_not_there():
    with pytest.raises(ValueError, match="no tensor 'nothing'"):
        with_passthrough(model("affine"), "nothing")


def test_a_tensor_that_nobody_uses():
    unused = onnx.load_model_from_string(model("affine"))
    unused.graph.input.append(onnx.helper.make_tensor_value_info("spare", onnx.TensorProto.FLOAT, (1,)))
    with pytest.raises(ValueError, match="nobody uses the tensor 'spare'"):
        with_passthrough(unused.SerializeToString(), "spare")


@pytest.mark.parametrize(
    ("name", "tensors"),
    [
        ("affine", ("scaled", "x", "y")),
        ("permutation", ("x", "y")),
        ("slow", ("x", "y")),  # not `n`, which is no float, nor what is inside the loop
    ],
)
def test_the_middle_of_the_graph_comes_first_and_constants_never(name, tensors):
    assert float_tensors(model(name)) == tensors


def test_of_a_chain_the_middle_comes_first():
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    names = ["a", "b", "c", "d", "e"]
    nodes = [helper.make_node("Neg", [one], [other]) for one, other in itertools.pairwise(names)]
    ends = [helper.make_tensor_value_info(name, float32, (2,)) for name in ("a", "e")]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    chain = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    assert float_tensors(chain) == ("c", "d", "b", "a", "e")
