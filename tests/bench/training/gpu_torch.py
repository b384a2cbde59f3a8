# SPDX-License-Identifier: Apache-2.0
"""gpu_torch.py STAGE,… [BENCH_GPU] - PyTorch on the same card in the same run, one JSON line a figure.

ceilings  the products of a 124M step and attention, at bench_gpu's shapes
gpt       steps of the same GPT-2 (biases, tied head, AdamW, clipping), B = 32, bf16 with fp32 weights: eager and compiled, in
          turns with BENCH_GPU where it is given; then eager at B = 8
mlp, cnn  steps of the same nets: mlp eager in fp32 and bf16, cnn compiled, channels last, bf16"""
import json
import os
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

HAS_CARD = torch.cuda.is_available()
DEVICE = "cuda" if HAS_CARD else "cpu"
TOY = not HAS_CARD
BENCH = (sys.argv[2:] or [None])[0]


def say(**line):
    print(json.dumps(line), flush=True)


def wait():
    if HAS_CARD:
        torch.cuda.synchronize()


def seconds(call, budget=0.12):
    """The median of rounds of calls that fill the budget."""
    for _ in range(3):
        call()
    wait()
    began = time.perf_counter()
    call()
    wait()
    count = max(1, int(budget / 5 / max(1e-6, time.perf_counter() - began)))
    took = []
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        took.append((time.perf_counter() - began) / count)
    return sorted(took)[2]


def normal(*shape):
    return torch.randn(*shape, device=DEVICE).to(torch.bfloat16)


def ceilings():
    t, c, words = (256, 64, 96) if TOY else (32768, 768, 50304)
    for out, n in [(3 * c, c), (c, c), (4 * c, c), (c, 4 * c), (words, c)]:
        x, w, dy = normal(t, n), normal(out, n), normal(t, out)
        for name, call in [("forward", lambda: x @ w.T), ("input", lambda: dy @ w), ("weight", lambda: dy.T @ x)]:
            s = seconds(call)
            shape = {"forward": (t, out, n), "input": (t, n, out), "weight": (out, n, t)}[name]
            say(stage="torch", of=f"product {name} {shape[0]}x{shape[1]}x{shape[2]}", us=round(1e6 * s, 1),
                tflops=round(2e-12 * t * out * n / s, 2))
    for b, h in [(32, 12), (8, 16)]:
        b, t, d = (1, 64, 16) if TOY else (b, 1024, 64)
        q, k, v = (normal(b, h, t, d).requires_grad_() for _ in range(3))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        g = torch.randn_like(y)
        flops = 2.0 * b * h * t * t * d
        forward = seconds(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
        back = seconds(lambda: torch.autograd.grad(y, (q, k, v), g, retain_graph=True))
        say(stage="torch", of=f"attention B={b} H={h} T={t} d={d}", tflops=round(1e-12 * flops / forward, 2),
            back_tflops=round(2.5e-12 * flops / back, 2))


class Block(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.ln1, self.ln2, self.heads = nn.LayerNorm(c), nn.LayerNorm(c), heads
        self.qkv, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.up, self.down = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(self.ln1(x)).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, c, heads, t, words):
        super().__init__()
        self.table, self.place = nn.Embedding(words, c), nn.Parameter(torch.randn(t, c) * 0.02)
        self.blocks, self.last = nn.ModuleList(Block(c, heads) for _ in range(layers)), nn.LayerNorm(c)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x, y):
        h = self.table(x) + self.place
        for b in self.blocks:
            h = b(h)
        return F.cross_entropy((self.last(h) @ self.table.weight.T).float().view(-1, self.table.num_embeddings), y.view(-1))


class Trial:
    """A model with its optimiser and one batch; .ms() times so many steps."""

    def __init__(self, name, model, batch, items, bf16, compiled=False, clip=True):
        self.name, self.batch, self.items, self.bf16, self.clip = name, batch, items, bf16, clip
        self.model = model.to(DEVICE)
        self.run = torch.compile(self.model) if compiled else self.model
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-4, weight_decay=0.1, **({"fused": True} if HAS_CARD else {}))
        began = time.perf_counter()
        for _ in range(1 if TOY else 5):
            self.step()
        wait()
        self.ready = time.perf_counter() - began
        self.took = []

    def step(self):
        with torch.autocast(DEVICE, torch.bfloat16, enabled=self.bf16):
            loss = self.run(*self.batch)
        loss.backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), 1)
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)
        return float(loss.detach())      # waits for the card, as a run that tells its loss

    def turn(self, steps):
        for _ in range(1 if TOY else steps):
            began = time.perf_counter()
            self.loss = self.step()
            self.took.append(time.perf_counter() - began)

    def say(self):
        each = sorted(self.took)[len(self.took) // 2]
        say(stage="torch", of=self.name, version=torch.__version__, steps=len(self.took), ms=round(1e3 * each, 3),
            items_s=round(self.items / each), loss=round(self.loss, 4), ready_s=round(self.ready, 1))


def ours(*args, seconds="0.8"):
    """A turn of bench_gpu: its line, marked."""
    if not BENCH:
        return
    env = {k: v for k, v in os.environ.items() if k != "FALAJ_GPU_PROFILE"} | {"FALAJ_GPU_BF16": "1"}
    ran = subprocess.run([BENCH, args[0], seconds, *map(str, args[1:])], capture_output=True, text=True, env=env)
    for line in ran.stdout.splitlines():
        say(**(json.loads(line) | {"turn": "beside torch"}))


def guarded(make):
    try:
        return make()
    except Exception as e:  # one way that fails leaves the others
        say(stage="torch", failed=str(e).splitlines()[0][:160])
        return None


def gpt():
    layers, c, heads, t, words = (1, 64, 2, 32, 96) if TOY else (12, 768, 12, 1024, 50304)

    def trial(name, b, **more):
        torch.manual_seed(1)
        batch = [torch.randint(0, words, (b, t), device=DEVICE) for _ in range(2)]
        return Trial(name, Gpt(layers, c, heads, t, words), batch, b * t, True, **more)

    big, small = (2, 1) if TOY else (32, 8)
    trials = [guarded(lambda: trial(f"gpt 124M bf16 eager B={big}", big))]
    if not TOY:
        trials.append(guarded(lambda: trial(f"gpt 124M bf16 compiled B={big}", big, compiled=True)))
    for _ in range(2):
        for one in filter(None, trials):
            ours("gpt", layers, c, heads, t, big)
            one.turn(8)
    for one in filter(None, trials):
        one.say()
    del trials
    one = guarded(lambda: trial(f"gpt 124M bf16 eager B={small}", small))
    if one:
        one.turn(10)
        one.say()


class Mlp(nn.Module):
    def __init__(self, n, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, x, y):
        return F.cross_entropy(self.net(x), y)


def mlp():
    b, n, hidden = (8, 9, 17) if TOY else (1024, 784, 1024)
    for bf16 in (False, True):
        torch.manual_seed(1)
        batch = (torch.randn(b, n, device=DEVICE), torch.randint(0, 10, (b,), device=DEVICE))
        one = guarded(lambda: Trial(f"mlp {'bf16' if bf16 else 'fp32'} eager", Mlp(n, hidden), batch, b, bf16))
        if one:
            one.turn(200)
            one.say()


def unit(n, out, window, stride):
    return nn.Sequential(nn.Conv2d(n, out, window, stride, window // 2, bias=False), nn.GroupNorm(min(32, out // 4), out))


class Cnn(nn.Module):
    """That of fam_cnn.c for small images: a stem, stages of one residual block, the mean, a linear layer."""

    def __init__(self, channels):
        super().__init__()
        self.stem, self.stages, n = unit(3, channels[0], 3, 1), nn.ModuleList(), channels[0]
        for i, out in enumerate(channels):
            stride = 2 if i else 1
            shortcut = unit(n, out, 1, stride) if stride == 2 or n != out else nn.Identity()
            self.stages.append(nn.ModuleList([unit(n, out, 3, stride), unit(out, out, 3, 1), shortcut]))
            n = out
        self.head = nn.Linear(n, 10)

    def forward(self, x, y):
        x = F.relu(self.stem(x))
        for one, two, shortcut in self.stages:
            x = F.relu(two(F.relu(one(x))) + shortcut(x))
        return F.cross_entropy(self.head(x.mean((2, 3))), y)


def cnn():
    b, side, c = (2, 6, 8) if TOY else (128, 32, 64)
    for compiled in (False,) if TOY else (False, True):
        torch.manual_seed(1)
        x = torch.randn(b, 3, side, side, device=DEVICE).to(memory_format=torch.channels_last)
        model = Cnn([c, 2 * c, 4 * c]).to(memory_format=torch.channels_last)
        batch = (x, torch.randint(0, 10, (b,), device=DEVICE))
        name = f"cnn bf16 channels last {'compiled' if compiled else 'eager'}"
        one = guarded(lambda: Trial(name, model, batch, b, True, compiled=compiled))
        if one:
            one.turn(60)
            one.say()


for stage in sys.argv[1].split(","):
    {"ceilings": ceilings, "gpt": gpt, "mlp": mlp, "cnn": cnn}[stage]()
