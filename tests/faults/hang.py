#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hang.py - a machine does not end an attempt that was told to make room: it is drained and the attempt is fenced.

The failure point lease_hangs keeps the worker from ending the attempt, while its heartbeats go on. Then: the job is PENDING
again, the machine DRAINING with a reason, nothing starts there before it is undrained, and both jobs end. Exit 0 only then."""
import json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import Platform, log, until

FENCED = "SELECT count(*) FROM attempt WHERE state = 'FENCED' AND evict_until IS NOT NULL"


def main():
    p = Platform({"FALAJ_SCHEDULER_FENCE_MS": "2000", "FALAJ_WORKER_HEARTBEAT_MS": "500", "FALAJ_FAULTS": "lease_hangs:100%"})
    p.zone()
    node = p.wait_node()[0]["node_id"]
    _, api = p.tenant("hang")
    p.sql_text("INSERT INTO priority_class (class, value, grace_s, min_runtime_s) VALUES ('low', -10, 1, 0), ('urgent', 10, 1, 0)"
               " RETURNING class")
    slots, faults = int(p.sql_text("SELECT slots FROM node WHERE state = 'READY'")), []

    def submit(cls, sleep_ms):
        job = {"name": cls, "kind": "noop", "spec": {"sleep_ms": sleep_ms}, "slots": slots, "class": cls, "max_attempts": 1}
        return api.must("POST", "/v1/jobs", job, key=os.urandom(8).hex())["job_id"]

    def job(job_id):
        return api.must("GET", f"/v1/jobs/{job_id}")

    def steps(job_id):
        return p.sql_text(f"SELECT string_agg(state, ' ' ORDER BY version) FROM job_step WHERE job_id = '{job_id.split('_')[1]}'")

    low = submit("low", 20000)
    until("it runs", lambda: job(low)["state"] == "RUNNING")
    urgent = submit("urgent", 0)
    until("it is told", lambda: "PREEMPTING" in steps(low))         # for two seconds, which a busy machine may not look at
    until("it is fenced", lambda: p.sql_text(FENCED) == "1")
    until("it waits again", lambda: job(low)["state"] == "PENDING")
    machine = p.admin.must("GET", f"/v1/nodes/{node}")
    if machine["state"] != "DRAINING" or "make room" not in machine["reason"]:
        faults.append(f"the machine is {machine['state']}: {machine['reason']}")
    if job(urgent)["state"] != "PENDING" or job(low)["state"] != "PENDING":
        faults.append("something started on a machine that did not end what it should")
    p.admin.must("POST", f"/v1/nodes/{node}/undrain", {"reason": "its processes are gone"})
    until("the urgent job ends", lambda: job(urgent)["state"] == "COMPLETED")
    until("the other one ends", lambda: job(low)["state"] == "COMPLETED")
    seen = steps(low)
    log(seen)
    broken = p.broken_invariants()
    faults += [f"invariants: {broken}"] if broken else []
    print(json.dumps({"states": seen, "faults": faults}))
    p.finish(faults)


if __name__ == "__main__":
    main()
