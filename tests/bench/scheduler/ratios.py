#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ratios.py - what the scheduler costs others, each as a ratio of two rates that are measured in turns in one run.

    rules    no-op jobs from submission to end: of tenants with a rule, a declared queue and a class, beside tenants without; why
             jobs wait is explained in both. Goal: 0.95
    members  the same of people who act in one project each, beside people who act in the tenant as a whole. Goal: 0.95
    waiting  submissions per second while a million jobs wait, beside a platform where none does. Goal: 0.95

Two platforms of the second stand beside each other, and one at a time has work; the jobs that wait are put in as million_jobs.py
does. Prints one JSON line a figure. Not a test: no figure fails. Needs wrk.
usage: tests/bench/scheduler/ratios.py [--only rules,members,waiting] [--turns N] [--seconds N] [--waiting N] [--tenants N]"""
import argparse, os, statistics, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
for at in ("../../lib", ".."):
    sys.path.insert(0, os.path.join(HERE, at))
from api import BODY, SLOTS, age_wal, figure, one_e2e, per_job, stage_marks, wrk
from million_jobs import fill
from platform_falaj import Api, Platform, log

CLASS, QUEUE = "usual", "main"


def tell(name, plain, other, turns, **more):
    ratios = [y / x for x, y in zip(plain, other)]
    figure(name, statistics.median(ratios), "ratio", least=round(min(ratios), 3), most=round(max(ratios), 3),
           plain=[round(x, 1) for x in plain], other=[round(x, 1) for x in other], turns=turns,
           load=round(os.getloadavg()[0], 1), **more)


def platform(tenants, slots):
    p = Platform(args=("--slots", str(slots)))
    p.zone()
    p.wait_node()
    return p, [p.tenant(f"plain-{i}") for i in range(tenants)]


def with_rules(p, n):
    """As many more tenants, each with a limit of the platform and a queue of its own that has a part of it."""
    p.admin.must("PUT", f"/v1/classes/{CLASS}", {"value": 10, "preemptible": True, "grace_s": 60, "min_runtime_s": 60})
    out = []
    for i in range(n):
        tenant, api = p.tenant(f"ruled-{i}")
        p.admin.must("POST", f"/v1/tenants/{tenant}/quota-rules", {"resource": "slots", "nominal": 4096})
        api.must("POST", "/v1/quota-rules", {"place": "queue", "queue": QUEUE, "resource": "slots", "nominal": 2048,
                                             "borrowing_limit": 2048})
        api.must("POST", "/v1/queues", {"name": QUEUE, "within_cluster_queue": "LowerPriority",
                                        "reclaim_within_cohort": "Any"})
        out.append((tenant, api))
    return out


def with_members(p, n):
    """As many more tenants, each with a project and a person who acts in it alone."""
    out = []
    for i in range(n):
        tenant, api = p.tenant(f"parted-{i}")
        project = api.must("POST", "/v1/projects", {"name": "one"})["project_id"]
        user = api.must("POST", "/v1/users", {"name": "member"})["user_id"]
        api.must("POST", "/v1/role-bindings", {"user_id": user, "role": "ml-engineer", "project_id": project})
        out.append((tenant, Api(p.url, api.must("POST", "/v1/api-tokens", {"name": "x", "user_id": user})["token"])))
    return out


def to_the_end(a, name, others, **job):
    p, plain = platform(a.tenants, SLOTS)
    made = others(p, a.tenants)
    age_wal(p)
    rates = ([], [])
    for turn in range(a.turns):
        for k in (0, 1) if turn % 2 == 0 else (1, 0):
            r = one_e2e(p, [api.token for _, api in (made if k else plain)], a.seconds, **(job if k else {}))
            rates[k].append(r["rate"])
            log(name if k else "plain", round(r["rate"]), "jobs/s", r["per_job"]["cpu_us"])
    p.close()
    tell(f"{name}.submit_to_done", *rates, a.turns, goal=0.95)


def rules(a):
    to_the_end(a, "rules", with_rules, **{"queue": QUEUE, "class": CLASS})


def members(a):
    to_the_end(a, "members", with_members)


def settle(p, most_s=300):
    """Until the scheduler has read what waits: a million that came at once keep it busy for a minute on a busy machine."""
    until = time.time() + most_s
    while time.time() < until:
        before = stage_marks(p)["cpu"]
        time.sleep(2)
        if sum(v - before.get(k, 0.0) for k, v in stage_marks(p)["cpu"].items() if k.endswith("scheduler")) < 0.16:
            return
    log("the scheduler is still busy")


def waiting(a):
    both = [platform(a.tenants, 4) for _ in range(2)]
    p, tenants = both[1]
    seconds = fill(p.ready, tenants[0][0], a.waiting, a.waiting)
    log(f"{a.waiting} jobs put in within {seconds:.0f} s")
    settle(p)
    tokens = [[api.token for _, api in made] for _, made in both]
    for k in (0, 1):
        age_wal(both[k][0])                             # what the jobs that were put in left to be written is no part of it
        wrk(both[k][0], tokens[k], 1, body=BODY)        # first calls make keys and plan statements
    rates = ([], [])
    for turn in range(a.turns):
        for k in (0, 1) if turn % 2 == 0 else (1, 0):
            before = stage_marks(both[k][0])
            r = wrk(both[k][0], tokens[k], a.seconds, body=BODY)
            log("waiting" if k else "plain", round(r["rate"]), "submissions/s",
                per_job(before, stage_marks(both[k][0]), r["requests"])["cpu_us"])
            if r["bad"] or r["socket_errors"]:
                log("failures", r)
            rates[k].append(r["rate"])
    waits = int(p.sql_text("SELECT count(*) FROM job WHERE queued"))
    for x, _ in both:
        x.close()
    tell("waiting.submissions", *rates, a.turns, waiting=waits, goal=0.95)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--only", default="rules,members,waiting")
    ap.add_argument("--turns", type=int, default=4)
    ap.add_argument("--seconds", type=int, default=5)
    ap.add_argument("--waiting", type=int, default=1000000)
    ap.add_argument("--tenants", type=int, default=32)
    a = ap.parse_args()
    for name in a.only.split(","):
        {"rules": rules, "members": members, "waiting": waiting}[name](a)


if __name__ == "__main__":
    main()
