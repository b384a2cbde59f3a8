#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_logits.py WRITE_NETS: PyTorch computes the nets of write_nets.c from their files alone and must give the same logits.

Written from the papers and from PyTorch's own operations, not from Falaj's code: names, layouts and metadata are what a reader of
the file has.
"""
import json
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

MOST = 2e-5  # of the norm: two orders of sums in fp32


def load(path):
    raw = open(path, "rb").read()
    (n,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8 : 8 + n])
    meta = head.pop("__metadata__")
    at = lambda t: raw[8 + n + t["data_offsets"][0] : 8 + n + t["data_offsets"][1]]
    return {k: torch.from_numpy(np.frombuffer(at(t), "<f4").reshape(t["shape"]).copy()) for k, t in head.items()}, meta


def mlp(w, meta, x):
    y = torch.from_numpy(x.reshape(-1, int(meta["inputs"])))
    for i in range(int(meta["layers"])):
        y = F.linear(y, w[f"mlp.{i}.weight"], w[f"mlp.{i}.bias"])
        y = y if i + 1 == int(meta["layers"]) else F.relu(y)
    return y


def cnn(w, meta, x):
    h, wide, c = map(int, meta["image"].split(","))
    channels = list(map(int, meta["channels"].split(",")))
    blocks = list(map(int, meta["blocks"].split(",")))
    groups = lambda n: next(g for g in range(max(1, min(32, n // 4)), 0, -1) if n % g == 0)

    def unit(y, name, stride=1):
        k = w[f"{name}.weight"]
        y = F.conv2d(y, k, stride=stride, padding=k.shape[2] // 2)
        return F.group_norm(y, groups(k.shape[0]), w[f"{name}.norm.weight"], w[f"{name}.norm.bias"], 1e-5)

    y = F.relu(unit(torch.from_numpy(x.reshape(-1, h, wide, c)).permute(0, 3, 1, 2), "stem"))
    for stage in range(len(channels)):
        for i in range(blocks[min(stage, len(blocks) - 1)]):
            name, stride, before = f"stages.{stage}.{i}", 2 if stage and not i else 1, y
            y = F.relu(unit(y, f"{name}.conv1", stride))
            if meta["residual"] == "true":
                y = unit(y, f"{name}.conv2")
                around = unit(before, f"{name}.shortcut", stride) if f"{name}.shortcut.weight" in w else before
                y = F.relu(y + around)
    return F.linear(y.mean((2, 3)), w["head.weight"], w["head.bias"])


def attend(q, k, v):
    t = q.shape[-2]
    scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
    return scores.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), -float("inf")).softmax(-1) @ v


def gpt2(w, meta, x):
    t, heads = int(meta["context"]), int(meta["heads"])
    ids = torch.from_numpy(x.view("<i4").reshape(-1, t).astype("int64"))
    y = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"]
    split = lambda z: z.reshape(*z.shape[:2], heads, -1).transpose(1, 2)
    for i in range(int(meta["layers"])):
        p = f"transformer.h.{i}"
        dense = lambda z, n: z @ w[f"{p}.{n}.weight"] + w[f"{p}.{n}.bias"]  # Conv1D of transformers: [in, out]
        norm = lambda z, n: F.layer_norm(z, z.shape[-1:], w[f"{p}.{n}.weight"], w[f"{p}.{n}.bias"], 1e-5)
        q, k, v = map(split, dense(norm(y, "ln_1"), "attn.c_attn").chunk(3, -1))
        y = y + dense(attend(q, k, v).transpose(1, 2).reshape(y.shape), "attn.c_proj")
        z = dense(norm(y, "ln_2"), "mlp.c_fc")
        z = 0.5 * z * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (z + 0.044715 * z**3)))
        y = y + dense(z, "mlp.c_proj")
    y = F.layer_norm(y, y.shape[-1:], w["transformer.ln_f.weight"], w["transformer.ln_f.bias"], 1e-5)
    return y @ w["transformer.wte.weight"].T


def llama(w, meta, x):
    t, heads, kv = int(meta["context"]), int(meta["heads"]), int(meta["kv_heads"])
    ids = torch.from_numpy(x.view("<i4").reshape(-1, t).astype("int64"))
    y = w["model.embed_tokens.weight"][ids]
    d = y.shape[-1] // heads
    angle = torch.outer(torch.arange(t, dtype=torch.float64), 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d))
    cos, sin = (f(torch.cat((angle, angle), -1)).float() for f in (torch.cos, torch.sin))
    turn = lambda z: z * cos + torch.cat((-z[..., d // 2 :], z[..., : d // 2]), -1) * sin
    norm = lambda z, n: z * torch.rsqrt(z.pow(2).mean(-1, keepdim=True) + 1e-5) * w[n]
    split = lambda z, n: z.reshape(*z.shape[:2], n, -1).transpose(1, 2)
    for i in range(int(meta["layers"])):
        p = f"model.layers.{i}"
        dense = lambda z, n: F.linear(z, w[f"{p}.{n}.weight"])
        z = norm(y, f"{p}.input_layernorm.weight")
        q, k, v = (split(dense(z, f"self_attn.{n}_proj"), heads if n == "q" else kv) for n in "qkv")
        k, v = (m.repeat_interleave(heads // kv, 1) for m in (turn(k), v))
        y = y + dense(attend(turn(q), k, v).transpose(1, 2).reshape(y.shape), "self_attn.o_proj")
        z = norm(y, f"{p}.post_attention_layernorm.weight")
        y = y + dense(F.silu(dense(z, "mlp.gate_proj")) * dense(z, "mlp.up_proj"), "mlp.down_proj")
    return norm(y, "model.norm.weight") @ w["model.embed_tokens.weight"].T


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        for name, net in (("mlp", mlp), ("plain", cnn), ("residual", cnn), ("gpt2", gpt2), ("llama", llama)):
            w, meta = load(f"{folder}/{name}.safetensors")
            x, want = (np.fromfile(f"{folder}/{name}.{end}", "<f4") for end in ("in", "out"))
            got = net(w, meta, x).numpy().reshape(-1)
            off = float(np.linalg.norm(got - want) / np.linalg.norm(want))
            print(f"{name}: {len(w)} tensors, {got.size} logits, off by {off:.1e} of the norm")
            bad += not off <= MOST
    return 1 if bad else 0


sys.exit(main())
