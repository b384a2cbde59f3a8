#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""million_jobs.py - a tenant with a million jobs, and how long lists and counts of them take over HTTP.

Puts the rows straight into the database of a running `falaj dev`, newest ids last as submissions would: 99 % have ended, some hundreds run or
are held, the rest waits in a pool without machines. Then it asks, and prints one JSON line a figure. Not a test: no figure fails.
As a module: fill(ready, tenant_id, count) and measure(ready, token).
usage: tests/bench/million_jobs.py [--json READY.json --tenant-id tnt_… [--token TOKEN]] [--count N] [--live N] [--calls N]
--json is the line of `falaj dev --json-ready`; without it an ephemeral falaj dev is started and ended. Without --token nothing is asked."""
import argparse, json, os, statistics, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import Api, Platform

# Names, makers and places are drawn by arithmetic on i, so that two runs put in the same. The last {live} of i are live.
FILL = """
INSERT INTO job (tenant_id, job_id, name, kind, state, queued, reason, message, spec, zone, pool, slots, gpus, priority, fence, version,
                 created_by, submitted_at, started_at, finished_at, project_id, queue)
SELECT '{t}', (lpad(to_hex((extract(epoch FROM x.at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(i & 4095), 3, '0') || '8' ||
               substr(md5('{t}' || i), 1, 15))::uuid,
       (ARRAY['finetune-llama-8b-ar','finetune-qwen-7b','pretrain-gulf-ocr','تدريب-نموذج','sweep-lr','eval-arabic-mmlu','embed-archive',
              'tts-khaleeji','asr-adaptation','rank-offers'])[1 + h % 10] || '-' || i,
       CASE WHEN h % 10 < 8 THEN 'train' WHEN h % 1000 = 9 THEN 'serve' ELSE 'noop' END, x.state, x.state = 'PENDING',
       CASE WHEN x.state = 'PENDING' THEN 'Resources' ELSE '' END, CASE WHEN x.state = 'FAILED' THEN 'exit code 1' ELSE '' END,
       jsonb_build_object('epochs', 1 + h % 40, 'learning_rate', 0.001),
       CASE WHEN h % 20 = 0 THEN '{z}' WHEN i % 100000 = 7 THEN 'far-1' END,
       CASE WHEN x.state = 'PENDING' THEN 'no-machines' WHEN h % 50 = 1 THEN 'a100' WHEN i % 200000 = 11 THEN 'rare' ELSE 'default' END,
       1 + h % 8, CASE WHEN h % 3 = 0 THEN 1 + h % 8 ELSE 0 END, h % 7 * 10, 1, 4,
       CASE WHEN i % 50000 = 3 THEN '{rare}'::uuid ELSE (ARRAY[{users}]::uuid[])[1 + h % {n}] END, x.at,
       CASE WHEN x.state NOT IN ('PENDING', 'HELD') THEN x.at + interval '9 seconds' END,
       CASE WHEN x.state NOT IN ('PENDING', 'HELD', 'RUNNING') THEN x.at + make_interval(secs => 10 + h % 3000) END,
       NULL, (ARRAY['default','night','research'])[1 + h % 3]
  FROM generate_series({first}, {last}) i,
       LATERAL (SELECT abs(hashint8(i)) AS h, now() - make_interval(secs => ({count} - i) * {pace}) AS at OFFSET 0) y,
       LATERAL (SELECT y.at, CASE WHEN i > {count} - {live} THEN CASE WHEN i % 9 = 1 AND i > {count} * 0.992 THEN 'RUNNING' WHEN i % 200 = 2 THEN 'HELD' ELSE 'PENDING' END
                WHEN h % 100 < 86 THEN 'COMPLETED' WHEN h % 100 < 93 THEN 'FAILED' WHEN h % 100 < 97 THEN 'CANCELLED'
                WHEN h % 100 < 98 THEN 'TIMEOUT' WHEN h % 1000 = 980 THEN 'OUT_OF_MEMORY' WHEN h % 5000 = 981 THEN 'NODE_FAIL' ELSE 'COMPLETED'
                END AS state OFFSET 0) x
"""
PIECE = 50000


def psql(ready, text):
    env = dict(os.environ, PGHOST=ready["pg"]["socket_dir"], PGPORT=str(ready["pg"]["port"]), PGUSER="postgres", PGDATABASE="falaj")
    for name in ("secrets/postgres", "secrets/pg-superuser", "secrets/pg-postgres", "secrets/postgres.password"):
        path = os.path.join(ready["data_dir"], name)
        if os.path.exists(path):
            env["PGPASSWORD"] = open(path).read().strip()
    r = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-"], input=text, env=env, capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr)
    return r.stdout.strip()


def as_uuid(name):
    return name.split("_", 1)[-1]


def fill(ready, tenant_id, count=1000000, live=None):
    """The rows, in the tenant's name; returns the seconds it took."""
    t, began = as_uuid(tenant_id), time.time()
    users = psql(ready, f"SELECT user_id FROM app_user WHERE tenant_id = '{t}' ORDER BY user_id LIMIT 20").split()
    zone = psql(ready, f"SELECT home_zone FROM tenant WHERE tenant_id = '{t}'")
    # Makers who are no user of the tenant any more keep their jobs, too.
    while len(users) < 8:
        users.append(psql(ready, f"SELECT md5('{t}maker{len(users)}')::uuid"))
    rare = psql(ready, f"SELECT md5('{t}rare')::uuid")
    pieces = [(i, min(i + PIECE - 1, count)) for i in range(1, count + 1, PIECE)]
    text = [FILL.format(t=t, z=zone, rare=rare, users=",".join(f"'{u}'" for u in users), n=len(users), first=a, last=b, count=count,
                        pace=90 * 86400 / count,
                        live=count // 125 if live is None else live) + ";" for a, b in pieces]
    # Indexes of ended jobs are made anew when all are in, which takes a fraction of the time of filling them row by row. All in one
    # transaction: killed at any point, the table is as it was. It holds the table, so the platform waits meanwhile.
    made = psql(ready, "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'job'::regclass AND indexrelid::regclass::text LIKE 'job_ended%'").splitlines()
    # As the owner's login: whoever else writes rows has each of them noted in audit_shadow, which takes five times as long as the row.
    psql(ready, "SET session_replication_role = replica; SET maintenance_work_mem = '512MB'; SET synchronous_commit = off;"
         "SET SESSION AUTHORIZATION falaj_migrate; SET ROLE falaj_owner; BEGIN;"
         + "".join(f"DROP INDEX {d.split(' ')[2]};" for d in made) + "".join(text) + "".join(d + ";" for d in made) + "COMMIT;")
    psql(ready, f"""UPDATE quota SET hard_limit = greatest(hard_limit, n + 100000), used = n, ended =
      coalesce((SELECT e.ended FROM job_end e WHERE e.tenant_id = '{t}'), 0)
      FROM (SELECT count(*) AS n FROM job WHERE tenant_id = '{t}' AND ended IS NULL) x WHERE tenant_id = '{t}' AND resource = 'jobs'""")
    psql(ready, "VACUUM ANALYZE job")
    return time.time() - began


def filters(ready, tenant_id):
    t = as_uuid(tenant_id)
    zone = psql(ready, f"SELECT home_zone FROM tenant WHERE tenant_id = '{t}'")
    some, rare = psql(ready, f"SELECT created_by FROM job WHERE tenant_id = '{t}' LIMIT 1"), psql(ready, f"SELECT md5('{t}rare')::uuid")
    user = lambda u: "created_by=usr_" + u.replace("-", "")
    day = lambda n: time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime(time.time() - n * 86400))
    return {"no filter": "", "group=waiting": "group=waiting", "group=running": "group=running", "group=done": "group=done",
            "group=failed": "group=failed", "state=NODE_FAIL": "state=NODE_FAIL", "state=HELD": "state=HELD", "state=COMPLETED": "state=COMPLETED",
            "kind=serve": "kind=serve", "kind=train": "kind=train", "created_by, many": user(some), "created_by, few": user(rare),
            "zone, many": f"zone={zone}", "zone, few": "zone=far-1", "pool=default": "pool=default", "pool, few": "pool=rare",
            "pool=no-machines": "pool=no-machines", "q, a tenth": "q=LLAMA", "q, one": "q=tts-khaleeji-123", "q, none": "q=nothing-like-it",
            "q, Arabic": "q=%D9%86%D9%85%D9%88%D8%B0%D8%AC", "last week": f"submitted_after={day(7)}",
            "one day of last month": f"submitted_after={day(40)}&submitted_before={day(39)}", "group=failed, created_by few": "group=failed&" + user(rare)}


def figure(name, times, **more):
    times.sort()
    print(json.dumps({"figure": name, "median_ms": round(statistics.median(times), 1), "max_ms": round(times[-1], 1), "calls": len(times), **more}), flush=True)


def timed(api, path, calls):
    times = []
    for i in range(calls + 1):
        began = time.perf_counter()
        answer = api.must("GET", path)
        if i:
            times.append((time.perf_counter() - began) * 1000)
    return answer, times


def measure(ready, token, tenant_id, calls=5):
    api = Api(ready["api_url"], token)
    for name, query in filters(ready, tenant_id).items():
        answer, times = timed(api, "/v1/jobs?" + query, calls)
        figure(f"list: {name}", times, rows=len(answer["data"]))
        if "state=" in query or "group=" in query:
            continue
        answer, times = timed(api, "/v1/jobs/counts?" + query, calls)
        figure(f"counts: {name}", times, jobs=sum(s["jobs"] for s in answer["states"]))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--json")
    a.add_argument("--tenant-id")
    a.add_argument("--token")
    a.add_argument("--count", type=int, default=1000000)
    a.add_argument("--live", type=int, help="so many of them have not ended, nearly all of these wait; else 0.8 %%")
    a.add_argument("--calls", type=int, default=5)
    a = a.parse_args()
    p = None
    if a.json:
        with open(a.json) as f:
            ready = json.loads([line for line in f if line.startswith("{")][-1])
        if not a.tenant_id:
            raise SystemExit("--json needs --tenant-id")
    else:
        p = Platform()
        ready = p.ready
        p.zone()
        a.tenant_id, api = p.tenant("million")
        a.token = api.token
    seconds = round(fill(ready, a.tenant_id, a.count, a.live), 1)
    print(json.dumps({"figure": "fill", "seconds": seconds, "jobs": a.count}), flush=True)
    if a.token:
        measure(ready, a.token, a.tenant_id, a.calls)
    if p:
        p.close()


if __name__ == "__main__":
    main()
