#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kueue.py - Kueue's load of many queues that lend to each other, on falaj-api, PostgreSQL and the real worker API, with machines
that only pretend to work (machine.py).

A cohort is a tenant, a queue a project with a declared queue: nominal 20 slots, borrowing 100, reclaim Any, LowerPriority within;
classes of the values 50, 100 and 200. The numbers are those of Kueue's test/performance/scheduler (configs baseline and
large-scale), whose published runs took 351 s and 1,179 s; `arithmetic` is the work of a queue over its nominal slots.
    A  5 x 6 queues, each 350 jobs of 1 slot and 200 ms, 100 of 5 and 500 ms, 50 of 20 and 1 s, made every 100, 500, 1,200 ms
    B  10 x 100 queues, each 35 of 1 and 150 ms, 11 of 5 and 350 ms, 4 of 20 and 700 ms, made every 60, 300, 700 ms
Prints one JSON line a load. Whatever the time: each job ends well once, no tenant or project holds more than it may at any
moment, and every invariant holds; else the exit is 1. --small: the same with few queues and jobs, for what is right and not for
how long.

usage: tests/bench/scheduler/kueue.py [--load A,B] [--small]"""
import argparse, collections, json, os, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../lib"))
sys.path.insert(0, HERE)
from machine import Machine
from platform_falaj import Api, Platform, log

NOMINAL, BORROW, POOL, BATCH, TICK_S = 20, 100, "kueue", 500, 0.05
VALUES = {"small": 50, "medium": 100, "large": 200}
# cohorts, queues; for each class: jobs, slots, ms, made every so many ms; Kueue's seconds, by arithmetic
LOADS = {
    "A": (5, 6, {"small": (350, 1, 200, 100), "medium": (100, 5, 500, 500), "large": (50, 20, 1000, 1200)}, 351, 66),
    "B": (10, 100, {"small": (35, 1, 150, 60), "medium": (11, 5, 350, 300), "large": (4, 20, 700, 700)}, 1179, 5),
    "small": (2, 3, {"small": (20, 1, 100, 20), "medium": (8, 5, 200, 100), "large": (4, 20, 400, 240)}, None, None),
}


# The most that one tenant's attempts held at once.
MOST = ("SELECT max(s) FROM (SELECT sum(d) OVER (ORDER BY at, d) AS s FROM (SELECT leased_at AS at, slots AS d FROM attempt WHERE"
        " tenant_id = '{0}' UNION ALL SELECT finished_at, -slots FROM attempt WHERE tenant_id = '{0}' AND NOT live) x) y")


class Watch:
    """What is held at each moment, as the machines see it, by tenant and by project; `most` is never passed."""

    def __init__(self):
        self.lock, self.held, self.peak = threading.Lock(), collections.Counter(), collections.Counter()

    def __call__(self, tenant, name, slots, sign):
        with self.lock:
            for key in (tenant, (tenant, name.split("-")[0])):
                self.held[key] += sign * slots
                self.peak[key] = max(self.peak[key], self.held[key])


def setup(p, load, cohorts, queues):
    for name, value in VALUES.items():
        p.admin.must("PUT", f"/v1/classes/{name}", {"value": value, "preemptible": True, "grace_s": 1, "min_runtime_s": 0})
    made = []
    for c in range(cohorts):
        tenant, api = p.tenant(f"{load.lower()}-cohort{c}", slots=NOMINAL * queues)
        projects = []
        for q in range(queues):
            project = api.must("POST", "/v1/projects", {"name": f"q{q}"})["project_id"]
            api.must("POST", "/v1/queues", {"name": "main", "project_id": project, "reclaim_within_cohort": "Any",
                                            "within_cluster_queue": "LowerPriority"})
            api.must("POST", "/v1/quota-rules", {"place": "project", "project_id": project, "resource": "slots",
                                                 "nominal": NOMINAL, "borrowing_limit": BORROW})
            projects.append(project)
        made.append((tenant, api.token, projects))
    return made


def jobs_in_time(projects, classes):
    """(seconds, job) in order: each project makes its own of each class at its own pace."""
    all_ = []
    for q, project in enumerate(projects):
        for cls, (count, slots, ms, every) in classes.items():
            for i in range(count):
                all_.append((i * every / 1000, {
                    "name": f"q{q}-{cls}-{i}", "kind": "noop", "pool": POOL, "project_id": project, "queue": "main", "class": cls,
                    "slots": slots, "max_runtime_seconds": 600, "max_attempts": 5, "spec": {"sleep_ms": ms}}))
    all_.sort(key=lambda x: x[0])
    return all_


def submit(api, body, patience_s=300):
    """The verdicts, however long the platform takes: the same key is said again, so that nothing is stored twice."""
    key, until = os.urandom(16).hex(), time.monotonic() + patience_s
    while True:
        try:
            return api.must("POST", "/v1/jobs:batch", body, key=key)["data"]
        except RuntimeError:
            if time.monotonic() > until:
                raise


def create(p, token, plan, began, fault):
    api, at = Api(p.url, token), 0
    try:
        while at < len(plan):
            now, batch = time.monotonic() - began, []
            while at < len(plan) and plan[at][0] <= now and len(batch) < BATCH:
                batch.append(plan[at][1])
                at += 1
            if not batch:
                time.sleep(min(TICK_S, plan[at][0] - now))
                continue
            for v in submit(api, {"jobs": batch}):
                if not v.get("job_id"):
                    raise RuntimeError(f"a job was refused: {v}")
    except Exception as e:
        fault.append(f"making jobs: {e}")


def run(p, load):
    cohorts, queues, classes, kueue, arithmetic = LOADS[load]
    total = cohorts * queues * sum(c[0] for c in classes.values())
    made, watch, fault = setup(p, load, cohorts, queues), Watch(), []
    with tempfile.TemporaryDirectory(prefix="falaj-kueue-") as folder:
        slots = NOMINAL * queues * cohorts
        count = -(-slots // 4096)
        names = [f"{load.lower()}-m{i}" for i in range(max(count, 2))]
        machines = [Machine(p, folder, "ae-dxb-1", POOL, name, 4096, watch) for name in names]
        began = time.monotonic()
        makers = [threading.Thread(target=create, args=(p, token, jobs_in_time(projects, classes), began, fault), daemon=True)
                  for _, token, projects in made]
        for t in makers:
            t.start()
        created = None
        told = began
        while sum(m.done for m in machines) < total and not fault:
            if created is None and not any(t.is_alive() for t in makers):
                created = time.monotonic() - began
            fault += [f"a machine failed: {m.failure}" for m in machines if m.failure]
            if time.monotonic() - told > 10:
                told = time.monotonic()
                log(f"{load}: {sum(m.done for m in machines)} of {total} after {told - began:.0f} s")
            time.sleep(0.02)
        wall = time.monotonic() - began
        # The last reports are on their way: ends are counted where they are kept.
        left = f"SELECT count(*) FROM job WHERE pool = '{POOL}' AND ended IS DISTINCT FROM 'COMPLETED'"
        while not fault and int(p.sql_text(left)) and time.monotonic() - began < wall + 60:
            time.sleep(0.1)
        for m in machines:
            m.stop()
        fault += check(p, made, queues, watch, total, left)
        line = {"load": load, "jobs": total, "wall_s": round(wall, 1), "created_s": round(created or wall, 1),
                "jobs_per_s": round(total / wall), "preempted": sum(m.preempted for m in machines),
                "stale": sum(m.stale for m in machines), "offered_again": sum(m.again for m in machines),
                "load_average": os.getloadavg()[0], "faults": fault}
        if kueue:
            line |= {"kueue_s": kueue, "of_kueue": round(wall / kueue, 3), "arithmetic_s": arithmetic,
                     "of_arithmetic": round(wall / arithmetic, 2)}
        print(json.dumps(line), flush=True)
    return fault


def check(p, made, queues, watch, total, left):
    faults = []
    for tenant, _, projects in made:
        kept = int(p.sql_text(MOST.format(tenant.split("_")[1])) or 0)
        if max(watch.peak[tenant], kept) > NOMINAL * queues:
            faults.append(f"a tenant held {watch.peak[tenant]} slots by its machines, {kept} by its attempts, of"
                          f" {NOMINAL * queues}")
        for q in range(len(projects)):
            if watch.peak[(tenant, f"q{q}")] > NOMINAL + BORROW:
                faults.append(f"a project held {watch.peak[(tenant, f'q{q}')]} slots of {NOMINAL + BORROW}")
    if int(p.sql_text(left)):
        faults.append(f"{p.sql_text(left)} jobs did not end well")
    done = int(p.sql_text(f"SELECT count(*) FROM job WHERE pool = '{POOL}'"))
    twice = int(p.sql_text("SELECT count(*) FROM (SELECT job_id FROM attempt WHERE state = 'SUCCEEDED'"
                           " GROUP BY job_id HAVING count(*) > 1) x"))
    broken = p.sql_text("SELECT coalesce(string_agg(name, ','), '') FROM invariants_check() WHERE violations > 0")
    faults += [f"{done} jobs instead of {total}"] if done != total else []
    faults += [f"{twice} jobs ended well twice"] if twice else []
    faults += [f"invariants: {broken}"] if broken else []
    return faults


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--load", default="A,B")
    ap.add_argument("--small", action="store_true")
    a = ap.parse_args()
    faults = []
    for load in ["small"] if a.small else a.load.split(","):
        p = Platform()
        p.zone()
        p.wait_node()
        faults = run(p, load)
        p.finish(faults)


if __name__ == "__main__":
    main()
