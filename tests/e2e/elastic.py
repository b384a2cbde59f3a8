#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""elastic.py - a training of one to two machines with real falaj-workers on loopback, as docs/howto/gangs.md says:

    alone     with one machine it runs there
    grows     a second machine comes and nobody waits: it goes on from a checkpoint on both
    smaller   a job of a higher class wants one of them: it goes on with the other at once
    lost      it has grown again when the second machine is killed: it goes on alone
    equal     the model has the bytes of one that ran on one machine from its start to its end

One attempt is live at any time, each has a fence of its own, and every invariant holds at the end."""
import os, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from machine_falaj import Machine
from platform_falaj import BIN, SRC, Platform, until

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")
EPOCHS = int(os.environ.get("ELASTIC_EPOCHS", "400"))


def main():
    p = Platform({"FALAJ_SCHEDULER_LEASE_MS": "5000", "FALAJ_SCHEDULER_GANG_START_MS": "60000",
                  "FALAJ_WORKER_HEARTBEAT_MS": "500", "FALAJ_SCHEDULER_GROW_AFTER_MS": "1000"})
    api = p.tenant("elastic", zone=p.zone())[1]
    for name, value, preemptible in (("low", -10, True), ("high", 10, False)):
        p.admin.must("PUT", f"/v1/classes/{name}",
                     {"value": value, "preemptible": preemptible, "grace_s": 60, "min_runtime_s": 0})
    env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": api.token}
    for words in (("dataset", "create", "digits", "--label", "label", "--classes", "10"),
                  ("dataset", "upload", "digits", os.path.join(SRC, "datasets/digits/digits.csv"))):
        subprocess.run([os.path.join(BIN, "falaj"), *words], env=env, check=True, stdout=subprocess.DEVNULL)
    data = [d for d in api.must("GET", "/v1/datasets")["data"] if d["name"] == "digits"][0]["dataset_id"]
    slots = [n for n in p.admin.must("GET", "/v1/nodes")["data"]][0]["slots"]

    def train(least, most):
        body = {"name": f"{least}-{most}", "kind": "train", "slots": slots, "nodes": {"min": least, "max": most}, "class": "low",
                "max_attempts": 50,
                "spec": {"dataset_id": data, "epochs": EPOCHS, "seed": 7, "batch_size": 16, "accumulate": 4, "hidden": [32]}}
        return api.must("POST", "/v1/jobs", body)["job_id"]

    def attempts(job):
        """(fence, machines, state, cause), the first one first."""
        return [tuple(a) for a in p.sql("SELECT fence, nodes, state, cause FROM attempt"
                                        f" WHERE job_id = '{job.split('_')[1]}' ORDER BY fence")]

    def runs_on(job, machines, after):
        """Its attempt beyond that fence runs on so many machines; returns its fence."""
        def now():
            if api.must("GET", f"/v1/jobs/{job}")["state"] in ENDED:
                raise SystemExit(f"{job} ended before it ran on {machines} machines: {attempts(job)}")
            return [int(a[0]) for a in attempts(job) if int(a[0]) > after and int(a[1]) == machines and a[2] == "RUNNING"]
        return until(f"an attempt on {machines} machines", now, 240)[0]

    def ended(job):
        j = until(f"the end of {job}", lambda: (j := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j, 600)
        if j["state"] != "COMPLETED":
            raise SystemExit(f"{job}: {j}\n" + api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1].decode())
        return j

    def digest(job):
        return p.sql_text("SELECT encode(o.sha256, 'hex') FROM job_object j JOIN object o ON o.tenant_id = j.tenant_id"
                          " AND o.object_id = j.object_id AND o.state = 'COMMITTED'"
                          f" WHERE j.job_id = '{job.split('_')[1]}' AND j.direction = 'output'")

    one = ended(train(1, 1))
    job = train(1, 2)
    fence = runs_on(job, 1, 0)
    print("alone: attempt", fence)
    second = Machine(p, "second", **{"worker.heartbeat_ms": "500"})
    fence = runs_on(job, 2, fence)
    print("grows: attempt", fence, [m["message"] for m in api.must("GET", f"/v1/jobs/{job}/events")["data"]
                                   if "instead of" in m["message"]])
    high = api.must("POST", "/v1/jobs", {"name": "high", "kind": "noop", "class": "high", "slots": slots,
                                         "spec": {"sleep_ms": 8000}})["job_id"]
    fence = runs_on(job, 1, fence)
    assert api.must("GET", f"/v1/jobs/{high}")["state"] not in ("PENDING", "ADMITTED"), "both run"
    print("smaller: attempt", fence)
    fence = runs_on(job, 2, fence)
    print("grown again: attempt", fence)
    second.kill()
    fence = runs_on(job, 1, fence)
    print("lost: attempt", fence)
    done = ended(job)
    assert (done["nodes"], done["nodes_max"]) == (1, 2), done
    assert digest(job) == digest(one["job_id"]), (digest(job), digest(one["job_id"]))
    print("equal: the same bytes as on one machine;", attempts(job))
    if broken := p.broken_invariants():
        raise SystemExit(f"invariants: {broken}")
    p.close()


main()
