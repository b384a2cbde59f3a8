# SPDX-License-Identifier: Apache-2.0
"""gpu_torch.py [LAYERS WIDTH HEADS T B] - PyTorch's step of the same GPT-2 (biases, tied head, AdamW, clipping), eager and
compiled: fp32, fp32 by TF32 products, and bf16 with fp32 weights. One JSON line each, tokens per second."""
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

LAYERS, WIDTH, HEADS, T, B = [int(v) for v in sys.argv[1:6]] or [12, 768, 12, 1024, 8]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WORDS, WARM, STEPS = (50304, 5, 20) if WIDTH >= 256 else (32, 1, 2)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, HEADS, c // HEADS).transpose(1, 2) for y in self.qkv(self.ln1(x)).split(c, 2))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            w = (q @ k.transpose(2, 3)) * (c // HEADS) ** -0.5
            y = w.masked_fill(torch.ones(t, t, device=x.device).triu(1).bool(), float("-inf")).softmax(3) @ v
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.place = nn.Embedding(WORDS, WIDTH), nn.Parameter(torch.randn(T, WIDTH) * 0.02)
        self.blocks, self.last = nn.ModuleList(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x, y):
        h = self.table(x) + self.place
        for b in self.blocks:
            h = b(h)
        return F.cross_entropy((self.last(h) @ self.table.weight.T).float().view(-1, WORDS), y.view(-1))


def measure(name, bf16, tf32, compiled):
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = tf32
    model = Gpt().to(DEVICE)
    run = torch.compile(model) if compiled else model
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1)
    x, y = (torch.randint(0, WORDS, (B, T), device=DEVICE) for _ in range(2))

    def step():
        with torch.autocast(DEVICE, torch.bfloat16, enabled=bf16):
            loss = run(x, y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        opt.step()
        opt.zero_grad(set_to_none=True)
        return loss

    took = []
    for i in range(WARM + STEPS):
        began = time.monotonic()
        loss = float(step())            # waits for the card
        took += [time.monotonic() - began] if i >= WARM else []
    took.sort()
    each = took[len(took) // 2]
    print(json.dumps({"stage": "torch", "of": name, "version": torch.__version__, "ms": round(1e3 * each, 2),
                      "items_s": round(B * T / each), "loss": round(loss, 4)}), flush=True)


for args in [("fp32 eager", False, False, False), ("tf32 eager", False, True, False), ("bf16 eager", True, True, False),
             ("bf16 compiled", True, True, True)]:
    if args[3] and (not hasattr(torch, "compile") or WIDTH < 256):
        continue
    try:
        measure(*args)
    except Exception as e:  # one way that fails leaves the others
        print(json.dumps({"stage": "torch", "of": args[0], "failed": str(e)[:100]}), flush=True)
