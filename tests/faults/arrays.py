#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arrays.py - kill -9 of the scheduler at random moments while an array runs: each index becomes one job and ends once.

usage: tests/faults/arrays.py [--kills N] [--tasks N] [--seed N]
The scheduler is killed while tasks start; the supervisor starts it again. At the end each index has one job that is COMPLETED,
the counts of the array's row are those of its tasks, and every invariant holds. Exit 0 only then."""
import argparse, json, os, random, signal, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import Platform, log, share, until


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kills", type=int, default=share("kills of the scheduler", 3, 20))
    ap.add_argument("--tasks", type=int, default=share("tasks", 300, 3000))
    ap.add_argument("--seed", type=int, default=int(time.time()))
    a = ap.parse_args()
    random.seed(a.seed)
    p = Platform(args=("--slots", "32"))
    p.zone()
    p.wait_node()
    _, api = p.tenant("sweeps")
    made = api.must("POST", "/v1/arrays", {"array": f"0-{a.tasks - 1}%16", "job": {"name": "sweep", "kind": "noop"}}, key="once")
    array = made["array_id"]
    look = lambda: api.must("GET", f"/v1/arrays/{array}")
    for n in range(a.kills):
        until("tasks go on", lambda: look()["waiting"] < a.tasks * (a.kills - n) / (a.kills + 1) or look()["state"] == "ENDED")
        time.sleep(random.uniform(0, 0.3))              # where in a pass it dies is left to chance
        pid = p.pids()["scheduler"]
        os.kill(pid, signal.SIGKILL)
        until("another scheduler", lambda: p.pids().get("scheduler") not in (None, pid))
        log(f"killed at {look()['waiting']} of {a.tasks} not started")
    end = until("the array has ended", lambda: look()["state"] == "ENDED" and look(), 600)
    again = api.must("POST", "/v1/arrays", {"array": f"0-{a.tasks - 1}%16", "job": {"name": "sweep", "kind": "noop"}}, key="once")
    plain = array.split("_")[1]
    faults = []
    for what, expected, text in (
            ("jobs of the array", a.tasks, f"SELECT count(*) FROM array_task WHERE array_id = '{plain}'"),
            ("indexes", a.tasks, f"SELECT count(DISTINCT task_index) FROM array_task WHERE array_id = '{plain}'"),
            ("jobs in all", a.tasks, "SELECT count(*) FROM job WHERE name LIKE 'sweep[%'"),
            ("ended well", a.tasks, "SELECT count(*) FROM job WHERE name LIKE 'sweep[%' AND ended = 'COMPLETED'"),
            ("broken invariants", 0, "SELECT coalesce(sum(violations), 0) FROM invariants_check()")):
        n = int(p.sql_text(text))
        if n != expected:
            faults.append(f"{what}: {n} instead of {expected}")
    if (end["completed"], end["failed"], end["live"], end["waiting"]) != (a.tasks, 0, 0, 0):
        faults.append(f"the array's counts: {end}")
    if again["array_id"] != array:
        faults.append("the same call made a second array")
    print(json.dumps({"kills": a.kills, "tasks": a.tasks, "seed": a.seed, "faults": faults}))
    p.finish(faults)


if __name__ == "__main__":
    main()
