#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""models.py DIR - the models of the bench as ONNX files with made-up weights, and an input of each: a perceptron, a larger one
whose weights stream from memory, a residual network and one of depthwise convolutions. NAME-int8.onnx is the same after static
quantisation, in the form that quantisers write: pairs of QuantizeLinear and DequantizeLinear around every product, sum and
pooling, weights by channel, ranges from the input. Needs Debian's python3-onnx."""
import os
import sys

import numpy as np

for name, plain in (("float", float), ("int", int), ("bool", bool), ("object", object)):
    if name not in np.__dict__:
        setattr(np, name, plain)
import onnx
from onnx import TensorProto, helper, numpy_helper


def convolve(x, w, b, pads, strides, group):
    p, s, k = pads[0], strides[0], w.shape[2]
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    seen = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))[:, :, ::s, ::s]
    if group > 1:                                       # depthwise
        return np.einsum("nchwij,cij->nchw", seen, w[:, 0]) + b[:, None, None]
    return np.einsum("nchwij,ocij->nohw", seen, w, optimize=True) + b[:, None, None]


COMPUTED = {
    "Conv": convolve, "Relu": lambda x: np.maximum(x, 0), "Add": lambda x, y: x + y, "Gemm": lambda x, w, b: x @ w + b,
    "Identity": lambda x: x, "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True),
    "Flatten": lambda x: x.reshape(len(x), -1),
}


class Model:
    def __init__(self, name, shape):
        self.name, self.shape, self.nodes, self.tensors, self.at, self.n = name, shape, [], [], "x", 0
        self.rng = np.random.default_rng(7)
        self.values = {"x": np.random.default_rng(8).standard_normal((2, *shape)).astype(np.float32)}

    def weight(self, *shape):
        self.n += 1
        data = self.rng.standard_normal(shape).astype(np.float32) * np.float32(np.sqrt(2 / max(1, np.prod(shape[1:]))))
        self.tensors.append(numpy_helper.from_array(data, f"w{self.n}"))
        self.values[f"w{self.n}"] = data
        return f"w{self.n}"

    def node(self, op, *more, at=None, **attrs):
        self.n += 1
        inputs, made = [at or self.at, *more], f"v{self.n}"
        self.nodes.append(helper.make_node(op, inputs, [made], f"n{self.n}", **attrs))
        self.values[made] = COMPUTED[op](*(self.values[i] for i in inputs), **attrs)
        self.at = made
        return made

    def conv(self, into, out, kernel=3, stride=1, groups=1, relu=True):
        pad = kernel // 2
        self.node("Conv", self.weight(out, into // groups, kernel, kernel), self.weight(out), pads=[pad] * 4,
                  strides=[stride] * 2, group=groups)
        return self.node("Relu") if relu else self.at

    def dense(self, into, out, relu=False):
        self.node("Gemm", self.weight(into, out), self.weight(out))
        return self.node("Relu") if relu else self.at

    def write(self, folder):
        self.save(folder, self.name, self.nodes, self.tensors)
        self.save(folder, f"{self.name}-int8", *Quantised(self).made())
        np.save(os.path.join(folder, f"{self.name}.npy"), self.values["x"])

    def save(self, folder, name, nodes, tensors):
        given = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
        taken = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *self.shape])
        graph = helper.make_graph(nodes, name, [taken], [given], tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, os.path.join(folder, f"{name}.onnx"))


class Quantised:
    """The nodes of a model with every value as u8 and back. A value that only a Relu reads stays as it is."""

    def __init__(self, model):
        self.m, self.nodes, self.tensors, self.back, self.scale = model, [], [], {}, {}
        self.readers = {}
        for n in model.nodes:
            for i in n.input:
                self.readers.setdefault(i, []).append(n.op_type)

    def constant(self, name, data):
        self.tensors.append(numpy_helper.from_array(data, name))
        return name

    def pair(self, value):
        """The value through u8: its range in what the model computes for its input."""
        x = self.m.values[value]
        low, high = min(0.0, float(x.min())), max(0.0, float(x.max()))
        scale = np.float32(max(high - low, 1e-6) / 255)
        zero = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
        names = [self.constant(f"{value}_scale", scale), self.constant(f"{value}_zero", zero)]
        self.nodes.append(helper.make_node("QuantizeLinear", [value, *names], [f"{value}_q"], f"{value}_ql"))
        self.nodes.append(helper.make_node("DequantizeLinear", [f"{value}_q", *names], [f"{value}_b"], f"{value}_dl"))
        self.back[value], self.scale[value] = f"{value}_b", scale

    def weights(self, node):
        """Weights by output channel, the bias as i32 at the product of both scales."""
        at, weight, bias = node.input
        axis = 0 if node.op_type == "Conv" else 1
        w, b = self.m.values[weight], self.m.values[bias]
        rest = tuple(d for d in range(w.ndim) if d != axis)
        scale = (np.maximum(np.abs(w).max(rest), 1e-9) / 127).astype(np.float32)
        by = scale.reshape([-1 if d == axis else 1 for d in range(w.ndim)])
        both = (scale * self.scale[at]).astype(np.float32)
        for name, data, s in ((weight, np.rint(w / by).astype(np.int8), scale), (bias, np.rint(b / both).astype(np.int32), both)):
            zero = self.constant(f"{name}_zero", np.zeros(len(s), data.dtype))
            names = [self.constant(f"{name}_q", data), self.constant(f"{name}_scale", s), zero]
            kind = {"axis": axis if name == weight else 0}
            self.nodes.append(helper.make_node("DequantizeLinear", names, [f"{name}_b"], f"{name}_dl", **kind))
        return [self.back[at], f"{weight}_b", f"{bias}_b"]

    def made(self):
        self.pair("x")
        for n in self.m.nodes:
            copy = onnx.NodeProto()
            copy.CopyFrom(n)
            del copy.input[:]
            copy.input.extend(self.weights(n) if len(n.input) == 3 else [self.back[i] for i in n.input])
            self.nodes.append(copy)
            value = n.output[0]
            if self.readers.get(value) == ["Relu"]:
                self.back[value] = value
            elif value in self.readers:
                self.pair(value)
        return self.nodes, self.tensors


def perceptron(name, *widths):
    m = Model(name, widths[:1])
    for into, out in zip(widths, widths[1:]):
        m.dense(into, out, relu=out != widths[-1])
    return m


def identity(name, width):
    """What a call costs without a model; eight bits would be another one."""
    m = Model(name, (width,))
    m.node("Identity")
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
                 perceptron("mlp4096", 1024, 4096, 4096, 1000), identity("identity784", 784),
                 residual("residual20", 32, (16, 32, 64), 3, 10), depthwise("depthwise96", 96, 0.25, 2)):
        made.write(sys.argv[1])
