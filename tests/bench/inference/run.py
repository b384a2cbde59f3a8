#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py WORKER FOLDER [SECONDS] - falaj-worker bench in turns with ONNX Runtime (peer.mjs), the same models and batches in
fp32 and in eight bits: three turns of each, medians, and the ratio ONNX Runtime / Falaj (above 1: Falaj is faster), by the clock
and by processor time, which other work on the machine does not stretch. Outputs are compared first; a difference of more than
1e-4 of their range in fp32, or 5e-2 in eight bits, ends the run: there ONNX Runtime rounds to bytes between operators where Falaj
keeps f32. Every figure is a line of FOLDER/figures.jsonl."""
import json
import os
import statistics
import subprocess
import sys

worker, folder = sys.argv[1:3]
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
MODELS, BATCHES, TURNS = ("mlp784", "mlp2048", "residual20", "depthwise96"), (1, 32), 3
peer = subprocess.Popen(["node", "peer.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                        cwd=os.path.dirname(os.path.abspath(__file__)), env=os.environ | {"ORT_DISABLE_TELEMETRY": "1"})
figures = open(os.path.join(folder, "figures.jsonl"), "a")


def ask(**words):
    peer.stdin.write(json.dumps(words) + "\n")
    peer.stdin.flush()
    return json.loads(peer.stdout.readline())


def own(*words):
    return json.loads(subprocess.run([worker, *words], capture_output=True, text=True, check=True).stdout)


def keep(**line):
    figures.write(json.dumps(line) + "\n")
    figures.flush()


def compare(name, model, data, most):
    want, got = ask(model=model, input=data, threads=1, check=True)["out"], own("infer", model, "--input", data)[0]["data"]
    apart = max(abs(a - b) for a, b in zip(want, got, strict=True)) / max(map(abs, want))
    keep(check=name, apart=apart)
    if not apart <= most:
        sys.exit(f"{name}: the outputs are {apart:.1e} of their range apart")
    return apart


heads = ("falaj us", 10), ("ort us", 10), ("ratio", 6), ("cpu us", 10), ("ort cpu", 10), ("ratio", 6)
print(f"{'model':17} batch", *(f"{text:>{width}}" for text, width in heads), " outputs apart")
for plain, name, most in [(m, f"{m}{kind}", most) for m in MODELS for kind, most in (("", 1e-4), ("-int8", 5e-2))]:
    model, data = os.path.join(folder, f"{name}.onnx"), os.path.join(folder, f"{plain}.npy")
    apart = compare(name, model, data, most)
    for batch in BATCHES:
        ours, theirs = [], []
        for _ in range(TURNS):
            ours.append(own("bench", model, "--batch", str(batch), "--seconds", str(seconds)))
            theirs.append(ask(model=model, input=data, batch=batch, threads=1, seconds=seconds))
            keep(**ours[-1])
            keep(src="onnxruntime", model=f"{name}.onnx", batch=batch, threads=1, **theirs[-1])
        a, b, c, d = (statistics.median(x[of] for x in side) for of in ("us", "cpu_us") for side in (ours, theirs))
        print(f"{name:17} {batch:5} {a:10.1f} {b:10.1f} {b / a:6.2f} {c:10.1f} {d:10.1f} {d / c:6.2f}  {apart:.1e}", flush=True)
        keep(row=name, batch=batch, falaj_us=a, ort_us=b, ratio=b / a, falaj_cpu_us=c, ort_cpu_us=d, cpu_ratio=d / c)
peer.stdin.close()
peer.wait()
