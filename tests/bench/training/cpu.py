#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cpu.py [--backend NAME] BENCH_TRAIN [ROUNDS] [NET…]: a training step of Falaj's in turns with the same step of Debian's
PyTorch, one thread, processor time, the least of all rounds: what a busy machine disturbs least. AdamW on both sides, PyTorch in
fp32, Falaj in fp32 and with products in bf16. A line of JSON for each net and precision on standard output, the same in words on
standard error. NAME as worker.backend has it; with avx2 PyTorch, its oneDNN and its BLAS are held to AVX2, too, and all three are
asked whether they are. With any other, PyTorch uses what it finds.
PyTorch's linear layers are products of the BLAS that Debian's alternatives choose. OpenBLAS is wanted: the reference BLAS is 13
times slower, and a ratio to it says nothing. OpenBLAS has threads of its own that torch.set_num_threads does not reach."""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

# What holds PyTorch to a tier is read when its libraries are loaded.
HELD = {"avx2": {"ATEN_CPU_CAPABILITY": "avx2", "DNNL_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
                 "OPENBLAS_CORETYPE": "Haswell"}}
reader = argparse.ArgumentParser(prog="cpu.py", description=__doc__)
reader.add_argument("bench_train")
reader.add_argument("--backend", default="auto", help="auto, ref, avx2, avx512 …")
reader.add_argument("rounds", nargs="?", type=int, default=5)
reader.add_argument("nets", nargs="*", metavar="NET", help="gpt, cnn, mlp")
args = reader.parse_intermixed_args()
os.environ.update(HELD.get(args.backend, {}), OPENBLAS_NUM_THREADS="1")

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
    of = sorted(p for p in paths if os.path.basename(p).startswith(("libopenblas", "libblis", "libmkl")))
    return of[0] if of else "reference"


def tier():
    """What PyTorch's own kernels and its BLAS run on, as they say themselves."""
    own = [line.split(":")[-1].strip() for line in torch.__config__.show().splitlines() if "CPU capability" in line]
    core = None
    if "openblas" in blas():
        say = ctypes.CDLL(blas()).openblas_get_corename
        say.restype = ctypes.c_char_p
        core = say().decode()
    return (own or [None])[0], core


def check_tier():
    if args.backend != "avx2":
        return
    (own, core), avx2 = tier(), 7           # dnnl_cpu_isa_avx2
    isa = ctypes.CDLL("libdnnl.so.2").dnnl_get_effective_cpu_isa()
    if own != "AVX2" or core not in ("Haswell", "Zen") or isa != avx2:
        sys.exit(f"cpu.py: PyTorch should be held to AVX2, but its kernels say {own}, OpenBLAS {core} and oneDNN {isa:#x} (7 is "
                 "AVX2); a BLAS that OPENBLAS_CORETYPE does not reach cannot be compared")


def main():
    if blas() == "reference":
        sys.exit("cpu.py: PyTorch multiplies with the reference BLAS here; install libopenblas0-pthread (deploy/install-deps.sh "
                 "--torch), or name the folder of its libblas.so.3 in LD_LIBRARY_PATH")
    check_tier()
    for name, steps, net, x, target in (n for n in nets() if n[0] in (args.nets or ("gpt", "cnn", "mlp"))):
        optimiser, theirs, ours = torch.optim.AdamW(net.parameters(), 1e-3), 1e9, {}
        for _ in range(args.rounds):
            for _ in range(steps):
                began = time.process_time()
                optimiser.zero_grad()
                F.cross_entropy(net(x), target).backward()
                optimiser.step()
                theirs = min(theirs, time.process_time() - began)
            for precision in ("fp32", "bf16"):
                ran = subprocess.run([args.bench_train, "--backend", args.backend, name, str(steps), precision], check=True,
                                     stdout=subprocess.PIPE, text=True)
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
    own, core = tier()
    figures = {"net": name, **ours, "share_of_product": round(share, 3), "torch": torch.__version__, "torch_tier": own,
               "blas": os.path.basename(blas()), "blas_core": core, "torch_seconds": theirs}
    print(json.dumps({**figures, "times_torch": round(theirs / ours["seconds"], 3)}), flush=True)


main()
