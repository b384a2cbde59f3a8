#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""models.py DIR - the models of the bench as ONNX files with made-up weights, and an input of each: a perceptron, a larger one
whose weights stream from memory, a residual network and one of depthwise convolutions. Needs Debian's python3-onnx."""
import os
import sys

import numpy as np

for name, plain in (("float", float), ("int", int), ("bool", bool), ("object", object)):
    if name not in np.__dict__:
        setattr(np, name, plain)
import onnx
from onnx import TensorProto, helper, numpy_helper


class Model:
    def __init__(self, name, shape):
        self.name, self.shape, self.nodes, self.tensors, self.at, self.n = name, shape, [], [], "x", 0
        self.rng = np.random.default_rng(7)

    def weight(self, *shape):
        self.n += 1
        data = self.rng.standard_normal(shape).astype(np.float32) * np.float32(np.sqrt(2 / max(1, np.prod(shape[1:]))))
        self.tensors.append(numpy_helper.from_array(data, f"w{self.n}"))
        return f"w{self.n}"

    def node(self, op, *more, at=None, **attrs):
        self.n += 1
        self.nodes.append(helper.make_node(op, [at or self.at, *more], [f"v{self.n}"], f"n{self.n}", **attrs))
        self.at = f"v{self.n}"
        return self.at

    def conv(self, into, out, kernel=3, stride=1, groups=1, relu=True):
        pad = kernel // 2
        self.node("Conv", self.weight(out, into // groups, kernel, kernel), self.weight(out), pads=[pad] * 4,
                  strides=[stride] * 2, group=groups)
        return self.node("Relu") if relu else self.at

    def dense(self, into, out, relu=False):
        self.node("Gemm", self.weight(into, out), self.weight(out))
        return self.node("Relu") if relu else self.at

    def write(self, folder):
        self.nodes[-1].output[0] = "y"
        taken = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *self.shape])
        given = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, self.name, [taken], [given], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, os.path.join(folder, f"{self.name}.onnx"))
        np.save(os.path.join(folder, f"{self.name}.npy"), self.rng.standard_normal((2, *self.shape)).astype(np.float32))


def perceptron(name, *widths):
    m = Model(name, widths[:1])
    for into, out in zip(widths, widths[1:]):
        m.dense(into, out, relu=out != widths[-1])
    return m


def head(m, channels, classes):
    m.node("GlobalAveragePool")
    m.node("Flatten")
    m.dense(channels, classes)
    return m


def residual(name, side, widths, blocks, classes):
    m = Model(name, (3, side, side))
    m.conv(3, widths[0])
    into = widths[0]
    for stage, out in enumerate(widths):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            before = m.at
            m.conv(into, out, stride=stride)
            after = m.conv(out, out, relu=False)
            if stride > 1:
                m.at = before
                before = m.conv(into, out, kernel=1, stride=stride, relu=False)
            m.node("Add", before, at=after)
            m.node("Relu")
            into = out
    return head(m, into, classes)


def depthwise(name, side, scale, classes):
    m = Model(name, (3, side, side))
    into = int(32 * scale)
    m.conv(3, into, stride=2)
    for out, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (1024, 2), (1024, 1)):
        m.conv(into, into, stride=stride, groups=into)
        m.conv(into, int(out * scale), kernel=1)
        into = int(out * scale)
    return head(m, into, classes)


if __name__ == "__main__":
    for made in (perceptron("mlp784", 784, 512, 256, 10), perceptron("mlp2048", 2048, 2048, 2048, 1000),
                 residual("residual20", 32, (16, 32, 64), 3, 10), depthwise("depthwise96", 96, 0.25, 2)):
        made.write(sys.argv[1])
