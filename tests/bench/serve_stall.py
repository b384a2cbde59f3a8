#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve_stall.py - what models that stall cost everybody else, and what a served model answers.

Four deployments are served; their children are stopped by SIGSTOP while calls to each of them wait, and GET /v1/jobs/{id} is
measured in turns with quiet ones. Prints one JSON line a figure, as api.py. Not a test: no figure fails. Needs wrk.
usage: tests/bench/serve_stall.py [--seconds N] [--reps N] [--calls N]"""
import argparse, json, os, signal, statistics, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import SRC, Api, Platform, log
from api import figure, wrk

MODELS = 4
TIMEOUT_S = 30      # of a call to a model; a stall that is measured must be shorter


def until(what, look, limit=60):
    end = time.time() + limit
    while True:
        found = look()
        if found:
            return found
        if time.time() > end:
            raise RuntimeError(f"not within {limit} s: {what}")
        time.sleep(0.1)


def deploy(p, api):
    """MODELS deployments of one small model; (names, a job's path)."""
    csv = open(os.path.join(SRC, "datasets/digits/digits.csv"), "rb").read()
    ds = api.must("POST", "/v1/datasets", {"name": "digits", "label_column": "label", "classes": 10})["dataset_id"]
    api.must("POST", f"/v1/datasets/{ds}/versions", csv, headers={"Content-Type": "text/csv"})
    spec = {"dataset_id": ds, "hidden": [64, 32], "epochs": 2, "seed": 1}
    job = api.must("POST", "/v1/jobs", {"name": "t", "kind": "train", "spec": spec})["job_id"]
    until("the training", lambda: api.must("GET", f"/v1/jobs/{job}")["state"] == "COMPLETED", 120)
    model = api.must("POST", "/v1/models", {"name": "digits", "job_id": job})["model_id"]
    names = [f"m{i}" for i in range(MODELS)]
    for name in names:
        api.must("POST", "/v1/deployments", {"name": name, "model_id": model})
    for name in names:
        until(name, lambda: api.call("GET", f"/v2/models/{name}/ready")[0] == 200)
    return names, f"/v1/jobs/{job}"


def children(pid):
    return [int(c) for t in os.listdir(f"/proc/{pid}/task") for c in open(f"/proc/{pid}/task/{t}/children").read().split()]


def body_of(api, name):
    """One row of zeros."""
    inputs = api.must("GET", f"/v2/models/{name}")["inputs"][0]
    width = inputs["shape"][1]
    return json.dumps({"inputs": [{"name": inputs["name"], "shape": [1, width], "datatype": "FP32", "data": [0] * width}]})


class Callers:
    """`calls` calls to each model at once, each in a thread with its own connection."""

    def __init__(self, p, token, names, body, calls):
        self.answers, self.lock = [], threading.Lock()
        self.threads = [threading.Thread(target=self.one, args=(Api(p.url, token), n, body)) for n in names for _ in range(calls)]
        for t in self.threads:
            t.start()

    def one(self, api, name, body):
        status, _ = api.call("POST", f"/v2/models/{name}/infer", body.encode(), headers={"Content-Type": "application/json"},
                             timeout=2 * TIMEOUT_S)
        with self.lock:
            self.answers.append(status)

    def join(self):
        for t in self.threads:
            t.join()
        return {s: self.answers.count(s) for s in sorted(set(self.answers))}


def pending(p):
    text = Api(p.url, "").call("GET", "/metrics", raw=True)[1].decode()
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("falaj_inference_pending_requests "))


def connect(p, pids, token, names, body, calls):
    """Connections to keep, so that later calls wait for answers and not for a handshake, for which a machine has two seconds.

    What has to connect while the children stand still for a second is connected when they go on. It may take several tries."""
    for _ in range(20):
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        callers = Callers(p, token, names, body, calls)
        time.sleep(1)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        if callers.join() == {200: calls * len(names)}:
            return
    raise RuntimeError("the models could not be connected to")


def stalled(p, token, names, body, path, a):
    pids = children(p.pids()["worker"])
    if len(pids) != MODELS:
        raise RuntimeError(f"{len(pids)} children of the worker, not {MODELS}")
    connect(p, pids, token, names, body, a.calls)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        callers = Callers(p, token, names, body, a.calls)
        time.sleep(3)                                       # who had to connect anew has given up by now
        waiting = pending(p)
        r = wrk(p, [f"{token} {path}"], a.seconds, connections=8)
        still = pending(p)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    return r, waiting, still, callers.join()


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--seconds", type=int, default=6)
    ap.add_argument("--reps", type=int, default=5)
    ap.add_argument("--calls", type=int, default=16, help="to each model")
    a = ap.parse_args()
    if a.seconds + 5 > TIMEOUT_S:
        ap.error(f"a stall of {a.seconds} s ends calls of {TIMEOUT_S} s")
    p = Platform()
    p.zone()
    p.wait_node()
    _, api = p.tenant("a")
    names, path = deploy(p, api)
    body = body_of(api, names[0])
    quiet, stall, least = [], [], 1 << 30
    wrk(p, [f"{api.token} {path}"], 2, connections=8)
    for _ in range(a.reps):
        quiet.append(wrk(p, [f"{api.token} {path}"], a.seconds, connections=8))
        r, waiting, still, answers = stalled(p, api.token, names, body, path, a)
        stall.append(r)
        least = min(least, waiting, still)
        log("stall:", json.dumps({"quiet": quiet[-1], "stalled": r, "waiting": waiting, "still": still, "answers": answers}))
    q, s = statistics.median(r["p99_ms"] for r in quiet), statistics.median(r["p99_ms"] for r in stall)
    figure("stall.job_get.quiet_p99", q, "ms", rate=statistics.median(r["rate"] for r in quiet), bad=sum(r["bad"] for r in quiet))
    figure("stall.job_get.stalled_p99", s, "ms", rate=statistics.median(r["rate"] for r in stall),
           bad=sum(r["bad"] for r in stall), models=MODELS, calls_waiting_at_least=least)
    figure("stall.p99_ratio", s / q, "stalled / quiet", each=[round(x["p99_ms"] / y["p99_ms"], 3) for x, y in zip(stall, quiet)])
    p.close()


if __name__ == "__main__":
    main()
