"""Make a small ONNX model: y = 3 x - 1. Any model of yours does as well.

python docs/examples/make_model.py camera.onnx
"""

import sys

import onnx
from onnx import TensorProto, helper, numpy_helper
from numpy import float32, full

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])
three, one = (numpy_helper.from_array(full(1, value, float32), name) for name, value in (("three", 3), ("one", 1)))
nodes = [helper.make_node("Mul", ["x", "three"], ["scaled"]), helper.make_node("Sub", ["scaled", "one"], ["y"])]
graph = helper.make_graph(nodes, "camera", [x], [y], [three, one])
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
onnx.save(model, sys.argv[1])
