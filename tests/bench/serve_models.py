#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve_models.py FOLDER - served models on loopback, end to end, binary tensors both ways, by wrk (needed).

1. mlp784 in eight bits beside a model of one Identity node of the same width, 64 connections in turns: the ratio of the rates
   (goal 0.6), and the processor time of falaj-api and the model's child for a call of each.
   Beside it: how long the child of each needed until its first answer, and decrypting and hashing the model of that (goal 1.5).
2. The latency of the first at half its rate and at a third: p99 (goal 2 ms). In turns with the same load on Identity, which needs
   the same path, and on GET /healthz, which needs the API alone; and with how late a thread woke that asks for 1 ms at a time
   meanwhile: what those have in common is the machine's. Processor time and waits given up for a call, by thread.
3. mlp4096 in fp32 at 32 connections in turns as it is and with max_batch_size 1: what batching gains (goal 3.5).
FOLDER has the models of tests/bench/inference/models.py. Prints one JSON line a figure, as api.py. Not a test: no figure fails.
--first: falaj-api, the models' children and wrk go before everything else on the machine (nice -20; root), so that a busy one
shows more of what a quiet one would; others get little meanwhile, a minute in all.
usage: tests/bench/serve_models.py [--seconds N] [--reps N] [--only small|batching] [--first] FOLDER"""
import argparse, json, os, re, statistics, struct, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import BIN, Platform, until
from api import HERE, figure

TICK = os.sysconf("SC_CLK_TCK")


def children(pid):
    return [int(c) for t in os.listdir(f"/proc/{pid}/task") for c in open(f"/proc/{pid}/task/{t}/children").read().split()]


def cpu_s(pid):
    words = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICK


class Lateness:
    """How late a thread wakes that sleeps 1 ms at a time, before all others where that is allowed: p99 in ms, and wakes that were
    over 1 ms late."""

    def __enter__(self):
        self.late, self.ends = [], threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except OSError:
            pass                        # then it tells of neighbours too
        while not self.ends.is_set():
            before = time.monotonic()
            time.sleep(0.001)
            self.late.append((time.monotonic() - before) * 1000 - 1)

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()
        self.p99_ms = sorted(self.late)[len(self.late) * 99 // 100]
        self.over = sum(x > 1 for x in self.late)


def waits(pid):
    """Of each thread: its name, processor time in ns, and how often it went to sleep."""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        at = f"/proc/{pid}/task/{thread}/"
        about = dict(x.split(":", 1) for x in open(at + "status"))
        found[thread] = (about["Name"].strip(), int(open(at + "schedstat").read().split()[0]),
                         int(about["voluntary_ctxt_switches"]))
    return found


def spent(before, after, calls):
    """The threads that count: {name: [us a call, waits a call]}."""
    found = {}
    for thread, (name, ns, slept) in after.items():
        _, ns0, slept0 = before.get(thread, (name, 0, 0))
        if ns - ns0 > calls * 2000:
            found[name] = [round((ns - ns0) / 1000 / calls, 1), round((slept - slept0) / calls, 2)]
    return found


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
        self.api_pid = p.pids()["api"]
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

    def wrk(self, seconds, connections, delay_ms=0.0, path=None):
        """path: of a GET without a body instead of the model's."""
        if Served.is_first:
            first(self.child)
            first(self.api_pid)
        env = dict(os.environ, FALAJ_WRK_BODY="" if path else self.file.name, FALAJ_WRK_PATH=path or self.path,
                   FALAJ_WRK_TOKEN=self.api.token, FALAJ_WRK_JSON=str(self.json), FALAJ_WRK_DELAY_MS=f"{delay_ms:.3f}")
        before, threads = (cpu_s(self.child), cpu_s(self.api_pid)), (waits(self.child), waits(self.api_pid))
        before_all = ["nice", "-n", "-20"] if Served.is_first else []
        with Lateness() as late:
            out = subprocess.run([*before_all, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s",
                                  os.path.join(HERE, "infer.lua"), self.p.url], env=env, capture_output=True, text=True)
        said = [x for x in out.stdout.splitlines() if x.startswith("{")]
        if not said:
            raise SystemExit(f"{path or self.path}: wrk ended with {out.returncode}: {out.stdout[-300:]}{out.stderr[-300:]}")
        line = json.loads(said[-1])
        if line["bad"] or line["socket_errors"]:
            raise SystemExit(f"{path or self.path}: {line}")
        n = max(1, line["requests"])
        return {**line, "child_us": (cpu_s(self.child) - before[0]) * 1e6 / n,
                "api_us": (cpu_s(self.api_pid) - before[1]) * 1e6 / n,
                "late_p99_ms": late.p99_ms, "late_over_1ms_a_second": late.over / seconds,
                "threads": {**spent(threads[0], waits(self.child), n), **spent(threads[1], waits(self.api_pid), n)}}


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
    measure_latency(a, small, same, rate)


def measure_latency(a, small, same, rate):
    for name, part in (("half", 2), ("a third of", 3)):
        delay_ms = 64 / (rate / part) * 1000
        turns = [(small.wrk(a.seconds, 64, delay_ms), same.wrk(a.seconds, 64, delay_ms),
                  small.wrk(a.seconds, 64, delay_ms, "/healthz")) for _ in range(a.reps)]
        lines, theirs, bare = zip(*turns)
        of = {f"of_{k}": round(statistics.median(x["p99_ms"] / y["p99_ms"] for x, y in zip(lines, other)), 2)
              for k, other in (("identity", theirs), ("healthz", bare))}
        figure(f"mlp784 int8 at {name} that rate, p99", middle(lines, "p99_ms"), "ms", rate=middle(lines, "rate"),
               p50_ms=middle(lines, "p50_ms"), child_us=middle(lines, "child_us"), api_us=middle(lines, "api_us"), **of,
               identity_p99_ms=middle(theirs, "p99_ms"), healthz_p99_ms=middle(bare, "p99_ms"),
               healthz_api_us=middle(bare, "api_us"),
               late_p99_ms=round(middle(lines, "late_p99_ms"), 3), late_over_1ms_a_second=middle(lines, "late_over_1ms_a_second"),
               threads=lines[-1]["threads"], load=os.getloadavg()[0])


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
