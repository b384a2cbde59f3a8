#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cpu.py BENCH_TRAIN [ROUNDS] [NET…]: a training step of Falaj's in turns with the same step of Debian's PyTorch, one thread,
processor time, the least of all rounds: what a busy machine disturbs least. AdamW on both sides, PyTorch in fp32, Falaj in fp32
and with products in bf16. A line of JSON for each net and precision on standard output, the same in words on standard error.
PyTorch's linear layers are products of the BLAS that Debian's alternatives choose. OpenBLAS is wanted: the reference BLAS is 13
times slower, and a ratio to it says nothing. OpenBLAS has threads of its own that torch.set_num_threads does not reach."""
import json
import os
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self, c, heads, t):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.attn, self.proj, self.fc, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c), nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
        self.register_buffer("mask", torch.triu(torch.full((t, t), -float("inf")), 1))

    def forward(self, y):
        b, t, c = y.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.attn(self.ln_1(y)).chunk(3, -1))
        p = (q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5 + self.mask).softmax(-1)
        y = y + self.proj((p @ v).transpose(1, 2).reshape(b, t, c))
        return y + self.out(F.gelu(self.fc(self.ln_2(y))))


class Gpt(nn.Module):
    def __init__(self, c=256, t=256, heads=4, layers=4, vocab=256):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, c), nn.Parameter(torch.randn(t, c) * 0.02)
        self.h, self.ln_f = nn.Sequential(*(Block(c, heads, t) for _ in range(layers))), nn.LayerNorm(c)

    def forward(self, x):
        return (self.ln_f(self.h(self.wte(x) + self.wpe)) @ self.wte.weight.T).flatten(0, 1)


class Residual(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        unit = lambda a, b, k, s: nn.Sequential(nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.GroupNorm(min(32, b // 4), b))
        self.a, self.b = unit(i, o, 3, stride), unit(o, o, 3, 1)
        self.around = unit(i, o, 1, stride) if stride == 2 or i != o else nn.Identity()

    def forward(self, y):
        return F.relu(self.b(F.relu(self.a(y))) + self.around(y))


def nets():
    stem = nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.GroupNorm(16, 64), nn.ReLU())
    stages = (Residual(64, 64, 1), Residual(64, 128, 2), Residual(128, 256, 2))
    cnn = nn.Sequential(stem, *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10))
    mlp = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
    yield "gpt", 3, Gpt(), torch.randint(256, (8, 256)), torch.randint(256, (2048,))
    yield "cnn", 3, cnn, torch.randn(32, 3, 32, 32), torch.randint(10, (32,))
    yield "mlp", 60, mlp, torch.randn(64, 784), torch.randint(10, (64,))


def blas():
    """The file that answers for libblas.so.3 in this process."""
    with open("/proc/self/maps", encoding="ascii") as f:
        paths = {line.split()[-1] for line in f if ".so" in line}
    of = sorted(os.path.basename(p) for p in paths if os.path.basename(p).startswith(("libopenblas", "libblis", "libmkl")))
    return of[0] if of else "reference"


def main():
    if blas() == "reference":
        sys.exit("cpu.py: PyTorch multiplies with the reference BLAS here; install libopenblas0-pthread (deploy/install-deps.sh "
                 "--torch), or name the folder of its libblas.so.3 in LD_LIBRARY_PATH")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for name, steps, net, x, target in (n for n in nets() if n[0] in (sys.argv[3:] or ("gpt", "cnn", "mlp"))):
        optimiser, theirs, ours = torch.optim.AdamW(net.parameters(), 1e-3), 1e9, {}
        for _ in range(rounds):
            for _ in range(steps):
                began = time.process_time()
                optimiser.zero_grad()
                F.cross_entropy(net(x), target).backward()
                optimiser.step()
                theirs = min(theirs, time.process_time() - began)
            for precision in ("fp32", "bf16"):
                ran = subprocess.run([sys.argv[1], name, str(steps), precision], check=True, capture_output=True, text=True)
                one = json.loads(ran.stdout)
                if precision not in ours or one["seconds"] < ours[precision]["seconds"]:
                    ours[precision] = one
        for precision, best in ours.items():
            tell(name, precision, best, theirs)


def tell(name, precision, ours, theirs):
    peak = ours["product_gflops"]
    share = ours["gflops"] / peak
    mine = f"{ours['seconds'] * 1e3:.2f} ms, {ours['gflops']:.1f} GFLOP/s, {share:.2f} of a product's {peak:.0f}"
    other = f"PyTorch {torch.__version__} in fp32 {theirs * 1e3:.2f} ms: ours is {theirs / ours['seconds']:.2f} times as fast"
    print(f"{name} {precision}: {mine} ({ours['backend']}); {other}", file=sys.stderr, flush=True)
    figures = {"net": name, **ours, "share_of_product": round(share, 3), "torch": torch.__version__, "blas": blas(),
               "torch_seconds": theirs}
    print(json.dumps({**figures, "times_torch": round(theirs / ours["seconds"], 3)}), flush=True)


main()
