#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small ONNX models that tests and fuzzers begin with: python3 make_models.py FOLDER (apt: python3-onnx)."""
import sys
import numpy as np
import onnx
from onnx import TensorProto as T, helper as H, numpy_helper as N

rng = np.random.default_rng(7)


def tensor(name, *shape, kind=np.float32):
    return N.from_array(rng.standard_normal(shape).astype(kind), name)


def save(name, nodes, inputs, outputs, tensors, opset=17):
    graph = H.make_graph(nodes, name, inputs, outputs, tensors)
    model = H.make_model(graph, opset_imports=[H.make_opsetid("", opset)], producer_name="falaj-tests")
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, "%s/%s.onnx" % (sys.argv[1], name))


f = lambda name, *dims: H.make_tensor_value_info(name, T.FLOAT, list(dims))
n = H.make_node
save("mlp", [n("Gemm", ["x", "w1", "b1"], ["h"], transB=1), n("Relu", ["h"], ["r"]), n("MatMul", ["r", "w2"], ["m"]),
             n("Add", ["m", "b2"], ["l"]), n("Softmax", ["l"], ["probabilities"], axis=-1), n("ArgMax", ["l"], ["label"],
                 axis=-1, keepdims=0)],
     [f("x", "N", 4)], [f("probabilities", "N", 3), H.make_tensor_value_info("label", T.INT64, ["N"])],
     [tensor("w1", 8, 4), tensor("b1", 8), tensor("w2", 8, 3), tensor("b2", 3)])
save("tokens", [n("Gather", ["table", "ids"], ["e"]), n("LayerNormalization", ["e", "s", "b"], ["l"]), n("Transpose", ["l"],
    ["t"], perm=[0, 2, 1]),
                n("MatMul", ["l", "t"], ["a"]), n("Softmax", ["a"], ["p"]), n("MatMul", ["p", "l"], ["v"]), n("ReduceMean",
                    ["v"], ["y"], axes=[1], keepdims=0)],
     [H.make_tensor_value_info("ids", T.INT64, ["N", 5])], [f("y", "N", 6)], [tensor("table", 11, 6), tensor("s", 6),
         tensor("b", 6)])
