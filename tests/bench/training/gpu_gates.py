# SPDX-License-Identifier: Apache-2.0
"""gpu_gates.py GATE,… FOLDER LAYERS WIDTH HEADS T ROWS - PyTorch gets the same weights and batches as bench_gpu and
must come to the same. A JSON line each, with "ok" by its bound.

grads  gradients of every parameter against fp32 without TF32: |difference|/|gradient| at most 1e-4 of fp32; of bf16 at most 2e-2
       with a cosine of at least 0.9995, or twice what PyTorch's own bf16 is off
curve  losses step by step: fp32 within 2e-3 over the first 50 steps; the last quarter of bf16 within 0.02 of PyTorch's bf16
       in the mean; what that is off its own fp32 is told beside it
file   the safetensors package reads the model file, and transformers' GPT-2 gives the same loss of it"""
import json
import struct
import sys

import torch
from torch.nn import functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
FOLDER = sys.argv[2]
LAYERS, WIDTH, HEADS, T, ROWS = map(int, sys.argv[3:8])
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def say(**line):
    print(json.dumps(line), flush=True)


def load(name):
    """A safetensors file of f32, by its own words: the package is judged by the gate `file` alone."""
    with open(f"{FOLDER}/{name}", "rb") as f:
        raw = f.read()
    (n,) = struct.unpack("<Q", raw[:8])
    head, out = json.loads(raw[8:8 + n]), {}
    data = bytearray(raw[8 + n:])
    for key, at in head.items():
        if key != "__metadata__":
            begin, end = at["data_offsets"]
            flat = torch.frombuffer(data, dtype=torch.float32, count=(end - begin) // 4, offset=begin)
            out[key] = flat.view(at["shape"]).to(DEVICE)
    return out


def attention(q, k, v):
    if DEVICE == "cuda":
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    w = (q @ k.transpose(2, 3)) * q.shape[-1] ** -0.5
    hidden = torch.ones(T, T, device=q.device).triu(1).bool()
    return w.masked_fill(hidden, float("-inf")).softmax(3) @ v


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))


def loss_of(p, x, y):
    """GPT-2 by transformers' names; its weights are [in, out]."""
    h = F.embedding(x, p["transformer.wte.weight"]) + p["transformer.wpe.weight"][:x.shape[1]]
    for i in range(LAYERS):
        at = f"transformer.h.{i}."
        z = F.layer_norm(h, (WIDTH,), p[at + "ln_1.weight"], p[at + "ln_1.bias"])
        z = F.linear(z, p[at + "attn.c_attn.weight"].T, p[at + "attn.c_attn.bias"])
        q, k, v = (part.reshape(*part.shape[:2], HEADS, -1).transpose(1, 2) for part in z.split(WIDTH, 2))
        z = attention(q, k, v).transpose(1, 2).reshape(h.shape)
        h = h + F.linear(z, p[at + "attn.c_proj.weight"].T, p[at + "attn.c_proj.bias"])
        z = F.layer_norm(h, (WIDTH,), p[at + "ln_2.weight"], p[at + "ln_2.bias"])
        z = gelu(F.linear(z, p[at + "mlp.c_fc.weight"].T, p[at + "mlp.c_fc.bias"]))
        h = h + F.linear(z, p[at + "mlp.c_proj.weight"].T, p[at + "mlp.c_proj.bias"])
    h = F.layer_norm(h, (WIDTH,), p["transformer.ln_f.weight"], p["transformer.ln_f.bias"])
    logits = F.linear(h, p["transformer.wte.weight"])
    return F.cross_entropy(logits.float().view(-1, logits.shape[-1]), y.reshape(-1))


def batches():
    with open(f"{FOLDER}/batches.i32", "rb") as f:
        all_ = torch.frombuffer(bytearray(f.read()), dtype=torch.int32).to(torch.int64).to(DEVICE)
    all_ = all_.view(-1, ROWS, T + 1)
    return all_[:, :, :-1].contiguous(), all_[:, :, 1:].contiguous()


def weights():
    return {k: v.clone().requires_grad_() for k, v in load("model.safetensors").items()}


def gradients(bf16):
    p = weights()
    x, y = batches()
    with torch.autocast(DEVICE, torch.bfloat16, enabled=bf16):
        loss = loss_of(p, x[0], y[0])
    loss.backward()
    return {k: v.grad for k, v in p.items()}, float(loss.detach())


def off(got, want):
    got, want = got.double().flatten(), want.double().flatten()
    norm = float(want.norm())
    return float((got - want).norm()) / max(norm, 1e-30), float(got @ want) / max(float(got.norm()) * norm, 1e-30)


def worst(got, want):
    each = {k: off(got[k], want[k]) for k in want}
    far = max(each, key=lambda k: each[k][0])
    return far, each


def grads():
    want, loss = gradients(False)
    theirs, their_loss = gradients(True)
    _, own = worst(theirs, want)
    for kind, bound in (("f32", 1e-4), ("bf16", 2e-2)):
        got = load(f"gradients_{kind}.safetensors")
        same = sorted(got) == sorted(want)
        far, each = worst(got, want) if same else ("names differ", {})
        # A bf16 gradient may be off by more where PyTorch's own is: never by more than twice that.
        if kind == "f32":
            bad = [k for k, (d, _) in each.items() if not d <= bound]
        else:
            bad = [k for k, (d, c) in each.items() if not (d <= bound and c >= 0.9995 or d <= 2 * own[k][0])]
        at = each.get(far, (0, 0))
        say(stage="gate G4", type=kind, ok=same and not bad, tensors=len(each), bad=len(bad), bad_first=bad[:3], worst=far,
            relative=float(f"{at[0]:.3g}"), cosine_least=round(min([c for _, c in each.values()] or [0]), 6),
            torch_bf16_worst=float(f"{max(d for d, _ in own.values()):.3g}"), loss=round(loss, 6), loss_bf16=round(their_loss, 6))


def learn(bf16, steps):
    p = weights()
    plain = [v for v in p.values() if v.dim() > 1]
    places = p["transformer.wpe.weight"]
    plain = [v for v in plain if v is not places]
    rest = [v for v in p.values() if all(v is not w for w in plain)]
    opt = torch.optim.AdamW([{"params": plain, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=3e-4,
                            betas=(0.9, 0.999), eps=1e-8)
    x, y = batches()
    losses = []
    for i in range(steps):
        with torch.autocast(DEVICE, torch.bfloat16, enabled=bf16):
            loss = loss_of(p, x[i], y[i])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(p.values()), 1)
        opt.step()
        opt.zero_grad(set_to_none=True)
        losses.append(loss.detach())
    return torch.stack(losses).double().cpu().tolist()


def curve():
    with open(f"{FOLDER}/losses.json") as f:
        ours = json.load(f)
    n, steps = min(50, len(ours["f32"])), len(ours["bf16"])
    exact, theirs = learn(False, steps), learn(True, steps)
    far = max(abs(a - b) for a, b in zip(ours["f32"][:n], exact))
    say(stage="gate G5", type="f32", ok=far <= 2e-3, layers=LAYERS, width=WIDTH, steps=n, most=float(f"{far:.3g}"))
    last = max(1, steps // 4)
    each = [a - b for a, b in zip(ours["bf16"], theirs)][-last:]
    mean = sum(abs(d) for d in each) / last
    own = sum(abs(a - b) for a, b in list(zip(theirs, exact))[-last:]) / last
    say(stage="gate G5", type="bf16", ok=mean <= 0.02, layers=LAYERS, width=WIDTH, steps=steps,
        mean=float(f"{mean:.3g}"), torch_bf16_from_fp32=float(f"{own:.3g}"), drift=float(f"{sum(each) / last:.3g}"),
        ours=round(ours["bf16"][-1], 4), torch=round(theirs[-1], 4), torch_fp32=round(exact[-1], 4))


def file():
    from safetensors.torch import load_file
    from transformers import GPT2Config, GPT2LMHeadModel

    tensors = load_file(f"{FOLDER}/model.safetensors")
    ours = load("model.safetensors")
    same = sorted(tensors) == sorted(ours) and all(torch.equal(tensors[k].to(DEVICE), ours[k]) for k in ours)
    words = tensors["transformer.wte.weight"].shape[0]
    config = GPT2Config(vocab_size=words, n_positions=T, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, resid_pdrop=0, embd_pdrop=0,
                        attn_pdrop=0, activation_function="gelu_new")
    config.save_pretrained(FOLDER)
    model = GPT2LMHeadModel.from_pretrained(FOLDER).to(DEVICE).eval()
    x, y = batches()
    with torch.no_grad():
        logits = model(x[0]).logits
        theirs = float(F.cross_entropy(logits.float().view(-1, words), y[0].reshape(-1)))
        want = float(loss_of(ours, x[0], y[0]))
    say(stage="gate G8", ok=bool(same) and abs(theirs - want) < 1e-4 * want, tensors=len(tensors), package_same=bool(same),
        loss_of_transformers=round(theirs, 6), loss=round(want, 6))


for gate in sys.argv[1].split(","):
    try:
        {"grads": grads, "curve": curve, "file": file}[gate]()
    except Exception as e:  # told as a line, with its kind; the next gate runs
        say(stage=f"gate {gate}", failed=f"{type(e).__name__}: {str(e).splitlines()[0][:200] if str(e) else ''}")
