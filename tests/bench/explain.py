#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain.py - how long POST /v1/access/explain takes over HTTP and the database in a tenant with many role bindings.

Two tenants: one whose bindings belong to as many users (who may?), one of whose users holds as many as there may be (may this one?).
Prints one JSON line a figure, in milliseconds as the caller sees them. Not a test: no figure fails.
usage: tests/bench/explain.py [--bindings N] [--calls N]"""
import argparse, json, os, statistics, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import Platform

USERS_OF = """
INSERT INTO app_user (tenant_id, user_id, name) SELECT '{t}', md5('{t}' || i)::uuid, 'user ' || i FROM generate_series(1, {users}) i;
INSERT INTO project (tenant_id, project_id, name, created_by) SELECT '{t}', md5('{t}p' || i)::uuid, 'p' || i, '{me}' FROM generate_series(1, {each}) i;
INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by, place, project_id, cidrs)
  SELECT '{t}', gen_random_uuid(), md5('{t}' || u)::uuid, 'ml-engineer', '{me}', 'project', md5('{t}p' || p)::uuid,
         CASE WHEN (u + p) % 2 = 0 THEN '{{10.0.0.0/8}}'::cidr[] ELSE '{{}}' END
    FROM generate_series(1, {users}) u, generate_series(1, {each}) p;
ANALYZE app_user; ANALYZE role_binding; ANALYZE project"""


def hex_of(name):
    return name.split("_", 1)[1]


def measure(p, name, api, body, calls):
    times = []
    for i in range(calls + 5):
        began = time.perf_counter()
        answer = api.must("POST", "/v1/access/explain", body)
        if i >= 5:
            times.append((time.perf_counter() - began) * 1000)
    times.sort()
    print(json.dumps({"figure": name, "median_ms": round(statistics.median(times), 2), "p95_ms": round(times[int(len(times) * 0.95)], 2),
                      "max_ms": round(times[-1], 2), "calls": calls, "allowed": answer["allowed"], "bindings": len(answer["bindings"]),
                      "who_may": len(answer["who_may"])}), flush=True)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--bindings", type=int, default=10000)
    a.add_argument("--calls", type=int, default=200)
    a = a.parse_args()
    p = Platform()
    p.zone()
    for name, users, each in (("one binding each", a.bindings, 1), ("256 bindings each", a.bindings // 256, 256)):
        api = p.tenant(f"t{each}")[1]
        me = api.must("GET", "/v1/me")
        t = hex_of(me["tenant_id"])
        p.sql_text(USERS_OF.format(t=t, me=hex_of(me["user_id"]), users=users, each=each))
        some = api.must("GET", "/v1/users?page_size=1")["data"][0]["user_id"]
        measure(p, f"{name}: may this user submit?", api, {"user_id": some, "act": "job_submit"}, a.calls)
        measure(p, f"{name}: may this user grant roles?", api, {"user_id": some, "act": "role:grant"}, a.calls)
    p.close()


if __name__ == "__main__":
    main()
