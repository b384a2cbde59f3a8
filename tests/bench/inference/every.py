#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""every.py WORKER FOLDER [--seconds S] [--turns N] [--check] [MODEL...] - every model of a folder that has a models.tsv (name,
form, ONNX file, an input as raw numbers, an output, rows of both; form: fp32, int8 or int8dyn), with onnxruntime-node beside
peer.mjs.

First agreement: what falaj-worker infer says of random rows beside ONNX Runtime's answer. How far they are apart is the length
of the difference of the length of the answer: fp32 at most 1e-4, --type bf16 beside fp32 1e-2; a file in eight bits beside ONNX
Runtime on the same file: the same class in 99 % of the rows. Of --type int8, which ONNX Runtime does not have, the share of the
same class as fp32 is told. Then falaj-worker bench in turns with ONNX Runtime, one thread: a line of JSON for each model, type
and batch, the ratio by processor time (above 1: Falaj needs less). Lines go to FOLDER/every.jsonl, too. Exit 1 when a model does
not agree. --check: agreement alone. Needs Debian's python3-numpy."""
import argparse, json, os, statistics, subprocess, sys, tempfile

import numpy as np

ROWS = {"mobilenet_224": 16, "resnet20": 128}                       # of the comparison; others 512
INPUTS = {"bertmini": lambda r, n: r.integers(0, 30522, (n, 128)),
          "resnet20": lambda r, n: r.standard_normal((n, 3, 32, 32)).astype(np.float32),
          "mobilenet_224": lambda r, n: r.standard_normal((n, 3, 224, 224)).astype(np.float32),
          "mobilenet025_96": lambda r, n: r.standard_normal((n, 3, 96, 96)).astype(np.float32)}
OWN = {"int8": "int8-rows"}                                         # by the ranges of rows, of the file in fp32
MOST = {"fp32": 1e-4, "bf16": 1e-2}
ap = argparse.ArgumentParser()
ap.add_argument("worker")
ap.add_argument("folder")
ap.add_argument("models", nargs="*")
ap.add_argument("--seconds", type=float, default=0.5)
ap.add_argument("--turns", type=int, default=1)
ap.add_argument("--check", action="store_true")
a = ap.parse_intermixed_args()
peer = subprocess.Popen(["node", "peer.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                        cwd=os.path.dirname(os.path.abspath(__file__)), env=os.environ | {"ORT_DISABLE_TELEMETRY": "1"})
figures = open(os.path.join(a.folder, "every.jsonl"), "a")
room = tempfile.TemporaryDirectory()


def ask(**words):
    peer.stdin.write(json.dumps(words) + "\n")
    peer.stdin.flush()
    return json.loads(peer.stdout.readline())


def keep(**line):
    for to in (figures, sys.stdout):
        print(json.dumps(line), file=to, flush=True)


def run(*words):
    done = subprocess.run([a.worker, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def answer(file, data, kind):
    """The first output as rows."""
    run("infer", file, "--input", data, "--output", room.name, "--type", kind)
    made = [os.path.join(room.name, f) for f in sorted(os.listdir(room.name)) if f != os.path.basename(data)]
    out = np.load(made[0])
    for f in made:
        os.remove(f)
    return out.reshape(len(out), -1).astype(np.float64)


def apart(want, got):
    return float(np.linalg.norm(want - got) / np.linalg.norm(want))


def same(want, got):
    return float((want.argmax(1) == got.argmax(1)).mean()) if want.shape[1] > 1 else 1.0


def check(name, forms, width):
    """Faults; and the file of the rows. width: of a row where it is numbers behind each other."""
    r, n, faults = np.random.default_rng(11), ROWS.get(name, 512), []
    rows = INPUTS[name](r, n) if name in INPUTS else r.standard_normal((n, width)).astype(np.float32)
    data = os.path.join(room.name, "rows.npy")
    np.save(data, rows)
    def theirs(form):
        # A dynamic range there is that of all rows of a call, here of one row: alone a row is the same for both.
        each = {"each": 1} if form == "int8dyn" else {}
        return np.array(ask(model=forms[form], input=data, threads=1, check=True, **each)["out"]).reshape(n, -1)
    whole = theirs("fp32")
    for kind in ("fp32", "bf16", "int8"):           # of the file in fp32
        if kind != "fp32" and name == "gbdt":
            continue                                # no product to be made smaller
        got = answer(forms["fp32"], data, kind)
        line = {"check": name, "type": OWN.get(kind, kind), "rows": n, "apart": apart(whole, got), "same_class": same(whole, got)}
        keep(**line)
        if kind in MOST and not line["apart"] <= MOST[kind]:
            faults.append(f"{name} {kind}: {line['apart']:.1e} apart")
    for form in (f for f in forms if f != "fp32"):
        want, got = theirs(form), answer(forms[form], data, "fp32")
        line = {"check": name, "type": form, "rows": n, "apart": apart(want, got), "same_class": same(want, got),
                "ort_same_as_fp32": same(whole, want), "falaj_same_as_fp32": same(whole, got)}
        keep(**line)
        if line["same_class"] < 0.99:
            faults.append(f"{name} {form}: {line['same_class']:.3f} of the rows have the same class")
    return faults, data


def bench(name, forms, data):
    batches = (1, 32) if name not in ("mobilenet_224", "bertmini") else (1, 8)
    kinds = [("fp32", "fp32", "fp32")] + ([] if name == "gbdt" else [("bf16", "fp32", "bf16"), (OWN["int8"], "fp32", "int8")])
    kinds += [(form, form, "fp32") for form in forms if form != "fp32"]
    for prec, form, kind in kinds:
        for batch in batches:
            ours, theirs = [], []
            for _ in range(a.turns):
                ours.append(json.loads(run("bench", forms[form], "--batch", str(batch), "--seconds", str(a.seconds), "--type",
                                           kind)))
                theirs.append(ask(model=forms[form], input=data, batch=batch, threads=1, seconds=a.seconds))
            best = {of: statistics.median(x[of] for x in ours) for of in ("us", "cpu_us")}
            peers = {of: statistics.median(x[of] for x in theirs) for of in ("us", "cpu_us")}
            keep(**{**ours[-1], **best, "model": name, "prec": prec, "peer": f"onnxruntime {form}", "peer_us": peers["us"],
                    "peer_cpu_us": peers["cpu_us"], "ratio": peers["us"] / best["us"],
                    "cpu_ratio": peers["cpu_us"] / best["cpu_us"]})


faults, models, widths = [], {}, {}
for words in (line.split("\t") for line in open(os.path.join(a.folder, "models.tsv"))):
    models.setdefault(words[0], {})[words[1]] = os.path.join(a.folder, words[2])
    widths[words[0]] = os.path.getsize(os.path.join(a.folder, words[3])) // 4 // int(words[5])
for name, forms in models.items():
    if a.models and name not in a.models:
        continue
    found, data = check(name, forms, widths[name])
    faults += found
    if not a.check:
        bench(name, forms, data)
peer.stdin.close()
peer.wait()
for fault in faults:
    print(f"every: {fault}", file=sys.stderr)
sys.exit(1 if faults else 0)
