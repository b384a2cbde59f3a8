#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""text.py WORKER FOLDER [SECONDS] - tokens per second of a decoder of GPT-2's 124M shape with random weights, Falaj's
(falaj-worker bench) in turns with PyTorch's (Debian's python3-torch, fp32 and bf16, a cache of keys and values, eager), at 1 and
8 texts at a time, on one thread and on two. First both go on from the same tokens in fp32 and must make the same ones. Three
turns, medians by the clock and by processor time, which other work on the machine does not stretch; ratios to PyTorch's fp32 and
bf16 by processor time; beside them how fast weights were read, and what memory gives when nothing else is done. Lines go to
FOLDER/figures.jsonl."""
import json
import os
import statistics
import subprocess
import sys
import time

import numpy
import torch
import torch.nn.functional as F

worker, folder = sys.argv[1:3]
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 3.0
LAYERS, WIDTH, HEADS, CONTEXT, VOCAB, PROMPT, TURNS = 12, 768, 12, 1024, 50257, 16, 3
model = os.path.join(folder, "gpt124m.safetensors")
figures = open(os.path.join(folder, "figures.jsonl"), "a")


def shapes():
    yield "transformer.wte.weight", (VOCAB, WIDTH)
    yield "transformer.wpe.weight", (CONTEXT, WIDTH)
    for i in range(LAYERS):
        h = f"transformer.h.{i}."
        for name, shape in (("attn.c_attn", (WIDTH, 3 * WIDTH)), ("attn.c_proj", (WIDTH, WIDTH)),
                            ("mlp.c_fc", (WIDTH, 4 * WIDTH)), ("mlp.c_proj", (4 * WIDTH, WIDTH))):
            yield h + name + ".weight", shape
            yield h + name + ".bias", shape[1:]
        for name in "ln_1", "ln_2":
            yield h + name + ".weight", (WIDTH,)
            yield h + name + ".bias", (WIDTH,)
    yield "transformer.ln_f.weight", (WIDTH,)
    yield "transformer.ln_f.bias", (WIDTH,)


def weights():
    random = numpy.random.default_rng(7)
    for name, shape in shapes():
        scale = numpy.ones if ".ln_" in name and name.endswith("weight") else None
        yield name, scale(shape, "<f4") if scale else random.standard_normal(shape, "f4") * numpy.float32(0.02)


def write():
    meta = {"family": "gpt", "classes": VOCAB, "context": CONTEXT, "layers": LAYERS, "width": WIDTH, "heads": HEADS,
            "kv_heads": HEADS, "options": ""}
    head, at = {"__metadata__": {k: str(v) for k, v in meta.items()}}, 0
    for name, shape in shapes():
        size = 4 * int(numpy.prod(shape))
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(model + ".part", "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for _, w in weights():
            out.write(w.tobytes())
    os.rename(model + ".part", model)


class Peer:
    def __init__(self, dtype):
        self.w = {name: torch.from_numpy(numpy.ascontiguousarray(w.T if w.ndim == 2 and ".h." in name else w)).to(dtype)
                  for name, w in weights()}
        self.dtype = dtype

    def begin(self, batch):
        shape = (LAYERS, batch, HEADS, CONTEXT, WIDTH // HEADS)
        self.keys, self.values = torch.zeros(shape, dtype=self.dtype), torch.zeros(shape, dtype=self.dtype)

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, x, name):
        return F.layer_norm(x, (WIDTH,), self.w[name + ".weight"], self.w[name + ".bias"])

    def step(self, tokens, at):
        """One token of each text at place `at`; the logits behind it."""
        n, d = len(tokens), WIDTH // HEADS
        x = self.w["transformer.wte.weight"][tokens] + self.w["transformer.wpe.weight"][at]
        for i in range(LAYERS):
            h = f"transformer.h.{i}."
            q, k, v = self.linear(self.norm(x, h + "ln_1"), h + "attn.c_attn").view(n, 3, HEADS, d).unbind(1)
            self.keys[i, :, :, at], self.values[i, :, :, at] = k, v
            scores = torch.matmul(self.keys[i, :, :, :at + 1], q.unsqueeze(-1)).squeeze(-1) / d**0.5
            y = torch.matmul(F.softmax(scores, -1).unsqueeze(2), self.values[i, :, :, :at + 1]).reshape(n, WIDTH)
            x = x + self.linear(y, h + "attn.c_proj")
            y = F.gelu(self.linear(self.norm(x, h + "ln_2"), h + "mlp.c_fc"), approximate="tanh")
            x = x + self.linear(y, h + "mlp.c_proj")
        return F.linear(self.norm(x, "transformer.ln_f"), self.w["transformer.wte.weight"])

    def bench(self, batch, threads):
        """Tokens per second by the clock, and by processor time."""
        torch.set_num_threads(threads)
        self.begin(batch)
        tokens, took, until, at, cpu = torch.arange(batch), [], None, 0, 0.0
        while at < CONTEXT and (until is None or time.monotonic() < until or len(took) < 3):
            begin = time.monotonic()
            tokens = self.step(tokens, at).argmax(-1)
            if at == PROMPT:
                until, cpu = time.monotonic() + seconds, time.process_time()
            elif at > PROMPT:
                took.append(time.monotonic() - begin)
            at += 1
        return batch / statistics.median(took), batch * len(took) / (time.process_time() - cpu)


def own(*words):
    return subprocess.run([worker, *words], capture_output=True, text=True, check=True).stdout


def check(peer):
    prompt, more = [11, 500, 7, 40000, 3], 12
    got = [int(t) for t in own("infer", model, "--prompt", ",".join(map(str, prompt)), "--max-tokens", str(more)).split(",")]
    peer.begin(1)
    want = list(prompt)
    for at in range(len(prompt) + more - 1):
        logits = peer.step(torch.tensor([want[at]]), at)
        if at + 1 >= len(prompt):
            want.append(int(logits.argmax()))
    if got != want:
        sys.exit(f"the tokens are not the same: {got} and {want}")


with torch.no_grad():
    if not os.path.exists(model):
        write()
    peers = {"fp32": Peer(torch.float32), "bf16": Peer(torch.bfloat16)}
    check(peers["fp32"])
    kinds = "fp32", "bf16", "int8", "torch fp32", "torch bf16"
    print("batch threads by    " + "".join(f"{k:>11}" for k in kinds) + "  of torch fp32 / bf16: fp32, bf16, int8   GB/s, memory")
    for batch in 1, 8:
        for threads in 1, 2:
            clock, cpu, lines = {k: [] for k in kinds}, {k: [] for k in kinds}, {}
            for _ in range(TURNS):
                for kind in kinds[:3]:
                    lines[kind] = line = json.loads(own("bench", model, "--batch", str(batch), "--threads", str(threads),
                                                        "--type", kind, "--seconds", str(seconds)))
                    figures.write(json.dumps(line) + "\n")
                    clock[kind].append(line["tokens_s"])
                    cpu[kind].append(batch * 1e6 / line["cpu_us"])
                for kind, peer in peers.items():
                    for side, rate in zip((clock, cpu), peer.bench(batch, threads), strict=True):
                        side[f"torch {kind}"].append(rate)
            for by, side in ("clock", clock), ("cpu", cpu):
                mid = {k: statistics.median(v) for k, v in side.items()}
                figures.write(json.dumps({"row": "gpt124m", "batch": batch, "threads": threads, "by": by, **mid}) + "\n")
                figures.flush()
                print(f"{batch:5} {threads:7} {by:5} " + "".join(f"{v:11.2f}" for v in mid.values()) + "  "
                      + ", ".join(f"{mid[k] / mid['torch fp32']:.2f} / {mid[k] / mid['torch bf16']:.2f}" for k in kinds[:3])
                      + f"   {lines['bf16']['read_gb_s']:.1f}, {lines['bf16']['limit_gb_s']:.1f}", flush=True)
