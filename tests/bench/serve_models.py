#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve_models.py FOLDER - served models on loopback, end to end, binary tensors both ways, by wrk (needed).

1. mlp784 in eight bits beside a model of one Identity node of the same width, 64 connections in turns: the ratio of the rates
   (goal 0.6), and the processor time of falaj-api and the model's child for a call of each.
   Beside it: how long the child of each needed until its first answer, and decrypting and hashing the model of that (goal 1.5).
2. The latency of the first at half its rate: p99 (goal 2 ms).
3. mlp4096 in fp32 at 32 connections in turns as it is and with max_batch_size 1: what batching gains (goal 3.5).
FOLDER has the models of tests/bench/inference/models.py. Prints one JSON line a figure, as api.py. Not a test: no figure fails.
--first: falaj-api, the models' children and wrk go before everything else on the machine (nice -20; root), so that a busy one
shows more of what a quiet one would; others get little meanwhile, a minute in all.
usage: tests/bench/serve_models.py [--seconds N] [--reps N] [--only small|batching] [--first] FOLDER"""
import argparse, json, os, re, statistics, struct, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import BIN, Platform, until
from api import HERE, figure

TICK = os.sysconf("SC_CLK_TCK")


def children(pid):
    return [int(c) for t in os.listdir(f"/proc/{pid}/task") for c in open(f"/proc/{pid}/task/{t}/children").read().split()]


def cpu_s(pid):
    words = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICK


def bring(api, name, path):
    """An ONNX file as a model of this name, by the command line; its id."""
    env = dict(os.environ, FALAJ_URL=api.url, FALAJ_TOKEN=api.token)
    subprocess.run([os.path.join(BIN, "falaj"), "model", "import", path, "--name", name, "-q"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    return next(m["model_id"] for m in api.must("GET", "/v1/models")["data"] if m["name"] == name)


def first(pid):
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.setpriority(os.PRIO_PROCESS, int(thread), -20)


class Served:
    """One deployment, its child, and how it is called: a row of numbers, the outputs in binary."""

    def __init__(self, p, api, name, model, known, **knobs):
        made = api.must("POST", "/v1/deployments", {"name": name, "model_id": model, **knobs})
        until(f"{name} answers", lambda: api.call("GET", f"/v2/models/{name}/ready")[0] == 200, 120)
        about = api.must("GET", f"/v2/models/{name}")
        width = about["inputs"][0]["shape"][1]
        row = struct.pack(f"<{width}f", *((i * 37 % 101) / 101 for i in range(width)))
        head = json.dumps({"inputs": [{"name": about["inputs"][0]["name"], "shape": [1, width], "datatype": "FP32",
                                       "parameters": {"binary_data_size": len(row)}}],
                           "parameters": {"binary_data_output": True}}).encode()
        self.p, self.api, self.path, self.json = p, api, f"/v2/models/{name}/infer", len(head)
        self.file = tempfile.NamedTemporaryFile()
        self.file.write(head + row)
        self.file.flush()
        self.child = until(f"the child of {name}", lambda: [c for c in children(p.pids()["worker"]) if c not in known])[-1]
        known.append(self.child)
        self.start(name, made["job_id"])

    def start(self, name, job):
        form = (r"first answer after ([0-9.]+) ms \(([0-9.]+) of .*; "
                r"decrypting and hashing (\d+) bytes took ([0-9.]+) ms \(([0-9.]+) of")
        def said():
            texts = json.dumps(self.api.must("GET", f"/v1/jobs/{job}/logs?page_size=100"))
            return re.search(form, texts)
        found = until("its log", said)
        ms, cpu_ms, size, open_ms, open_cpu_ms = (float(x) for x in found.groups())
        figure(f"{name}: first answer of decrypting and hashing", cpu_ms / max(open_cpu_ms, 0.001), "x", ms=ms, cpu_ms=cpu_ms,
               bytes=size, open_ms=open_ms, open_cpu_ms=open_cpu_ms)

    is_first = False

    def wrk(self, seconds, connections, delay_ms=0.0):
        if Served.is_first:
            first(self.child)
            first(self.p.pids()["api"])
        env = dict(os.environ, FALAJ_WRK_BODY=self.file.name, FALAJ_WRK_PATH=self.path, FALAJ_WRK_TOKEN=self.api.token,
                   FALAJ_WRK_JSON=str(self.json), FALAJ_WRK_DELAY_MS=f"{delay_ms:.3f}")
        before = cpu_s(self.child), cpu_s(self.p.pids()["api"])
        before_all = ["nice", "-n", "-20"] if Served.is_first else []
        out = subprocess.run([*before_all, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s",
                              os.path.join(HERE, "infer.lua"), self.p.url], env=env, capture_output=True, text=True)
        line = json.loads([x for x in out.stdout.splitlines() if x.startswith("{")][-1])
        if line["bad"] or line["socket_errors"]:
            raise SystemExit(f"{self.path}: {line}")
        n = max(1, line["requests"])
        return {**line, "child_us": (cpu_s(self.child) - before[0]) * 1e6 / n,
                "api_us": (cpu_s(self.p.pids()["api"]) - before[1]) * 1e6 / n}


def middle(lines, of):
    return statistics.median(x[of] for x in lines)


def ratio(ours, theirs):
    return statistics.median(x["rate"] / y["rate"] for x, y in zip(ours, theirs))


def measure_small(a, p, api, known):
    small = Served(p, api, "mlp784", bring(api, "mlp784", os.path.join(a.folder, "mlp784-int8.onnx")), known)
    same = Served(p, api, "identity", bring(api, "identity", os.path.join(a.folder, "identity784.onnx")), known)
    ours, theirs = [], []
    for _ in range(a.reps):
        ours.append(small.wrk(a.seconds, 64))
        theirs.append(same.wrk(a.seconds, 64))
    rate = middle(ours, "rate")
    figure("mlp784 int8 of Identity, 64 connections", ratio(ours, theirs), "ratio",
           rate=rate, identity_rate=middle(theirs, "rate"), child_us=middle(ours, "child_us"), api_us=middle(ours, "api_us"),
           identity_child_us=middle(theirs, "child_us"), identity_api_us=middle(theirs, "api_us"), load=os.getloadavg()[0])
    half, third = ([small.wrk(a.seconds, 64, 64 / (rate / part) * 1000) for _ in range(a.reps)] for part in (2, 3))
    for name, lines in (("half", half), ("a third of", third)):
        figure(f"mlp784 int8 at {name} that rate, p99", middle(lines, "p99_ms"), "ms", rate=middle(lines, "rate"),
               p50_ms=middle(lines, "p50_ms"), child_us=middle(lines, "child_us"), api_us=middle(lines, "api_us"),
               load=os.getloadavg()[0])


def measure_batching(a, p, api, known):
    large = bring(api, "mlp4096", os.path.join(a.folder, "mlp4096.onnx"))
    batched = Served(p, api, "batched", large, known, slots=1)
    single = Served(p, api, "single", large, known, slots=1, max_batch_size=1)
    ours, theirs = [], []
    for _ in range(a.reps):
        ours.append(batched.wrk(a.seconds, 32))
        theirs.append(single.wrk(a.seconds, 32))
    figure("mlp4096 fp32, batching at 32 connections", ratio(ours, theirs), "x",
           by_cpu=middle(theirs, "child_us") / middle(ours, "child_us"), rate=middle(ours, "rate"),
           single_rate=middle(theirs, "rate"), child_us=middle(ours, "child_us"), single_child_us=middle(theirs, "child_us"),
           load=os.getloadavg()[0])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seconds", type=int, default=5)
    ap.add_argument("--reps", type=int, default=3)
    ap.add_argument("--only", choices=("small", "batching"))
    ap.add_argument("--first", action="store_true")
    ap.add_argument("folder")
    a = ap.parse_args()
    Served.is_first = a.first
    p = Platform({"FALAJ_WORKER_SLOTS": "8"})
    p.zone()
    p.wait_node()
    _, api = p.tenant("models")
    known = []
    if a.only != "batching":
        measure_small(a, p, api, known)
    if a.only != "small":
        measure_batching(a, p, api, known)
    p.close()


if __name__ == "__main__":
    main()
