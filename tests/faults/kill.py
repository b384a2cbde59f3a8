#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill.py - kill -9 of each process in turn while jobs flow, then count: 0 lost jobs, 0 double results, 0 audit gaps.

usage: tests/faults/kill.py [--kills N] [--only NAME,…] [--seed N]
A kill is recovered from when the process runs again and a job that was submitted after the kill has completed; the time between is
what recovery_p99_s is made of, the supervisor's pause (0.2 s, doubling to 5 s for what dies again and again) included.
Every accepted submission is remembered with its Idempotency-Key; unclear answers (connection lost, 503) are repeated with the same
key, as a client should. At the end every accepted job must be COMPLETED exactly once, the invariants J1-J8 must hold, and the audit
log of the tenant must verify and hold one submission and one end per job. Exit 0 only then."""
import argparse, json, os, random, signal, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from drill import Load, check, settle
from platform_falaj import Platform, is_full, log, share

NAMES = ("api", "scheduler", "keyd", "worker", "redis", "postgres-backend", "postgres")
RECOVERY_MAX_S, RECOVERY_P99_S = 300, 15     # the second is a promise of a machine that has nothing else to do: judged in full


def running(p, name, other_than=0):
    """The pid of the process once it runs; the supervisor may be pausing before it starts it again."""
    until = time.time() + RECOVERY_MAX_S
    while time.time() < until:
        pid = p.pids().get(name)
        if pid and pid != other_than:
            return pid
        time.sleep(0.02)
    raise SystemExit(f"{name} does not run again after {RECOVERY_MAX_S} s; see {p.log_path} and {p.ready['data_dir']}/log")


def victim(p, name):
    if name != "postgres-backend":
        return running(p, name)
    until = time.time() + RECOVERY_MAX_S
    while time.time() < until:
        try:
            rows = p.sql("SELECT pid FROM pg_stat_activity WHERE usename LIKE 'falaj_%'")
            if rows:
                return int(random.choice(rows)[0])
        except RuntimeError:
            pass
        time.sleep(0.05)
    raise SystemExit("PostgreSQL has no connection of Falaj")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kills", type=int, default=share("kills of each process", 3, 20))
    ap.add_argument("--only", default=",".join(NAMES))
    ap.add_argument("--seed", type=int, default=int(time.time()))
    a = ap.parse_args()
    random.seed(a.seed)
    p = Platform({"FALAJ_SCHEDULER_LEASE_MS": "4000", "FALAJ_WORKER_HEARTBEAT_MS": "1000"}, args=("--slots", "32"))
    p.zone()
    p.wait_node()
    tenant, api = p.tenant("drill")
    load = Load(p.url, api.token, pause=share("hundredths of a second between a thread's submissions", 5, 1) / 100)
    kills, recovery = {}, {}
    for name in a.only.split(","):
        for _ in range(a.kills):
            time.sleep(random.uniform(0.2, 0.8))
            pid = victim(p, name)
            t0 = time.time()
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:      # a connection that has just been closed
                continue
            kills[name] = kills.get(name, 0) + 1
            if name != "postgres-backend":
                running(p, name, pid)
            load.probe(RECOVERY_MAX_S)
            recovery.setdefault(name, []).append(time.time() - t0)
        log(f"{name}: {kills.get(name, 0)} kills, recovered after at most {max(recovery[name]):.2f} s, {len(load.accepted)} jobs accepted so far")
    load.end()
    settle(p)
    faults, said = check(p, tenant, api, load)
    times = sorted(t for l in recovery.values() for t in l)
    p99 = times[int(len(times) * 0.99)]
    if p99 >= RECOVERY_P99_S and is_full():
        faults.append(f"recovery p99 is {p99:.1f} s")
    print(json.dumps({"kills": kills, "jobs": len(load.accepted), "repeated_submits": load.unclear, "seed": a.seed,
                      "recovery_p99_s": round(p99, 2), "recovery_p50_s": {n: round(sorted(l)[len(l) // 2], 2) for n, l in recovery.items()},
                      "recovery_max_s": {n: round(max(l), 2) for n, l in recovery.items()}, "faults": faults, "audit": said}))
    p.finish(faults)


if __name__ == "__main__":
    main()
