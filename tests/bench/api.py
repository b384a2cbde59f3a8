#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""api.py - how fast falaj-api takes and shows jobs, beside pgbench doing the same work on the same cluster in the same run.

Prints one JSON line a figure: {"figure", "value", "unit", …}. Not a test: no figure fails. Needs wrk and pgbench; `peer` needs node too.
usage: tests/bench/api.py [--seconds N] [--reps N] [--slots N] [--only submit|batch|read|e2e|latency|peer|idle]"""
import argparse, datetime, json, os, re, resource, signal, statistics, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import BIN, SRC, Api, Platform, log
from peer_bullmq import Bull

HERE = os.path.dirname(os.path.abspath(__file__))
SLOTS = 64                              # of the machine, and jobs at once of BullMQ's worker
PGBENCH = "/usr/lib/postgresql/15/bin/pgbench"
# A job as people send it; the pool has no machine, so that the jobs stay where the submission put them.
BODY = json.dumps({"name": "finetune-llama-8b-ar", "kind": "noop", "pool": "no-machines", "slots": 4, "gpus": 4, "priority": 50,
                   "max_runtime_seconds": 86400, "max_attempts": 2})


def figure(name, value, unit, **more):
    print(json.dumps({"figure": name, "value": round(value, 3), "unit": unit, **more}), flush=True)
    return value


def children_cpu():
    """Processor time of programs that were started here and have ended."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def wrk(p, lines, seconds, connections=64, body=None):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        env = dict(os.environ, FALAJ_WRK=f.name)
        if body:
            env["FALAJ_WRK_BODY"] = body
        start = children_cpu()
        out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", os.path.join(HERE, "submit.lua"), p.url],
                             env=env, capture_output=True, text=True).stdout
    return {**json.loads([x for x in out.splitlines() if x.startswith("{")][-1]), "client_cpu_s": children_cpu() - start}


def pgbench(p, script, seconds, clients=32, **variables):
    args = [PGBENCH, "-n", "-M", "prepared", "-f", os.path.join(HERE, "sql", script), "-c", str(clients), "-j", "1", "-T", str(seconds)]
    for k, v in variables.items():
        args += ["-D", f"{k}={v}"]
    r = subprocess.run(args, env=p.pg_env("peer"), capture_output=True, text=True)
    m = re.search(r"tps = ([0-9.]+)", r.stdout)
    if not m:
        raise RuntimeError(r.stderr)
    return float(m.group(1))


def median(f, reps):
    return statistics.median([f() for _ in range(reps)])


def pause(p, names, sig):
    pids = p.pids()
    for n in names:
        if n in pids:
            os.kill(pids[n], sig)


def with_checkpoint(p, seconds, f):
    """f() with a whole checkpoint begun a third into it: what comes after it writes full pages, as in the life of a server."""
    t = threading.Timer(seconds / 3, lambda: p.sql("CHECKPOINT", "postgres"))
    t.start()
    r = f()
    t.join()
    return r


def bench_submit(p, tokens, a):
    """Scheduler (with the audit sequencer) and worker stand still: pgbench has neither. A checkpoint falls into every run of both."""
    pause(p, ("scheduler", "worker"), signal.SIGSTOP)
    wrk(p, tokens, 1, body=BODY)        # first calls make keys, look tokens up and plan statements
    spec = BODY
    h = "ab" * 32
    one, peer_many, many = [], [], []
    p99 = []
    for _ in range(a.reps):
        peer_many.append(with_checkpoint(p, a.seconds, lambda: pgbench(p, "submit.sql", a.seconds, t_lo=1, t_hi=100, spec=spec, hash=h)))
        r = with_checkpoint(p, a.seconds, lambda: wrk(p, tokens, a.seconds, body=BODY))
        if r["bad"] or r["socket_errors"]:
            log("submit: failures", r)
        many.append(r["rate"])
        p99.append(r["p99_ms"])
        one.append(wrk(p, tokens[:1], a.seconds, body=BODY)["rate"])
    peer_one = pgbench(p, "submit.sql", a.seconds, t_lo=1, t_hi=1, spec=spec, hash=h)
    m, pm, o = statistics.median(many), statistics.median(peer_many), statistics.median(one)
    figure("submit.many_tenants", m, "jobs/s", p99_ms=statistics.median(p99), ratio_to_pgbench=round(m / pm, 3))
    figure("submit.pgbench.many_tenants", pm, "tx/s")
    figure("submit.one_tenant", o, "jobs/s", ratio_to_many=round(o / m, 3))
    figure("submit.pgbench.one_tenant", peer_one, "tx/s")
    pause(p, ("scheduler", "worker"), signal.SIGCONT)
    r = wrk(p, tokens, a.seconds, body=BODY)
    figure("submit.many_tenants.all_running", r["rate"], "jobs/s", p99_ms=r["p99_ms"])


def bench_batch(p, tokens, a):
    pause(p, ("scheduler", "worker"), signal.SIGSTOP)
    api = Api(p.url, tokens[0])
    body = json.dumps({"jobs": [json.loads(BODY)] * 1000}).encode()
    n, t0 = 0, time.time()
    while time.time() - t0 < a.seconds:
        api.must("POST", "/v1/jobs:batch", body)
        n += 1000
    figure("submit.batch_1000.c1", n / (time.time() - t0), "jobs/s")
    pause(p, ("scheduler", "worker"), signal.SIGCONT)


def bench_read(p, tokens, a):
    paths = []
    for t in tokens[:20]:
        ids = [j["job_id"] for j in Api(p.url, t).must("GET", "/v1/jobs?page_size=50")["data"]]
        paths += [f"{t} /v1/jobs/{i}" for i in ids]
    p.sql(f"INSERT INTO job (id, tenant, spec) SELECT md5(i::text)::uuid, i % 100 + 1, '{BODY}'::jsonb FROM generate_series(1, 20000) i ON CONFLICT DO NOTHING", "peer")
    peer = median(lambda: pgbench(p, "select.sql", a.seconds, nrows=20000), a.reps)
    ours = [wrk(p, paths, a.seconds) for _ in range(a.reps)]
    rate = statistics.median(r["rate"] for r in ours)
    figure("read.one_job", rate, "req/s", p99_ms=statistics.median(r["p99_ms"] for r in ours), bad=sum(r["bad"] for r in ours),
           ratio_to_pgbench=round(rate / peer, 3))
    figure("read.pgbench.select", peer, "tx/s")


class Watch:
    """Whether any job waits or runs: two looks at partial indexes, over one session, so that asking costs the run nothing."""

    def __init__(self, p):
        self.psql = subprocess.Popen(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1"], env=p.pg_env("falaj"), text=True, bufsize=1,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.psql.stdin.write("SET enable_seqscan = off;\n")

    def live(self):
        self.psql.stdin.write("SELECT EXISTS (SELECT FROM job WHERE queued) OR "
                              "EXISTS (SELECT FROM job WHERE ended IS NULL AND NOT queued);\n")
        answer = self.psql.stdout.readline().strip()
        if answer not in ("t", "f"):
            raise RuntimeError("psql ended")
        return answer == "t"

    def close(self):
        self.psql.stdin.close()
        self.psql.wait(10)


def age_wal(p, files=32):
    """As in the life of a server: once it has had a checkpoint, PostgreSQL takes its next files of the log from the old ones instead of
    filling new ones with zeros."""
    for _ in range(files):
        p.sql("SELECT pg_logical_emit_message(false, 'bench', ''); SELECT pg_switch_wal()", "postgres")
    p.sql("CHECKPOINT", "postgres")


def one_e2e(p, tokens, seconds, **job):
    """Submit -> done of no-op jobs: single submits at 64 connections, then wait for the last one. From the first submission to the last end.
    job: more members of each."""
    name = f"e2e-{time.monotonic_ns()}"
    watch = Watch(p)
    before = stage_marks(p)
    t0 = time.time()
    r = wrk(p, tokens, seconds, body=json.dumps({"name": name, "kind": "noop", **job}))
    while watch.live() and time.time() - t0 < 120:
        time.sleep(0.1)
    watch.close()
    n, took = p.sql(f"SELECT count(*), extract(epoch FROM max(finished_at) - min(submitted_at)) FROM job WHERE name = '{name}' AND state = 'COMPLETED'")[0]
    return {"rate": int(n) / float(took), "jobs": int(n), "client_us": round(r["client_cpu_s"] * 1e6 / max(1, int(n))), "submit_rate": r["rate"], "bad": r["bad"], "per_job": per_job(before, stage_marks(p), int(n)),
            "waits_ms": stage_waits(p, name)}


def process_cpu(pid):
    try:
        f = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def stage_marks(p):
    """Processor time of every process by what it works for, WAL and commits, up to now."""
    cpu = {name: process_cpu(pid) for name, pid in p.pids().items() if name != "postgres"}
    for pid, who in p.sql("SELECT pid, coalesce(usename::text, backend_type) FROM pg_stat_activity"):
        name = "pg:" + who.replace("falaj_", "")
        cpu[name] = cpu.get(name, 0.0) + process_cpu(int(pid))
    wal, syncs, commits = p.sql("SELECT w.wal_bytes, w.wal_sync, d.xact_commit FROM pg_stat_wal w, pg_stat_database d WHERE d.datname = 'falaj'")[0]
    return {"cpu": cpu, "wal_bytes": float(wal), "syncs": float(syncs), "commits": float(commits)}


def per_job(a, b, n):
    n = max(1, n)
    out = {k: round((b[k] - a[k]) / n, 4 if k != "wal_bytes" else 0) for k in ("wal_bytes", "syncs", "commits")}
    out["cpu_us"] = {k: round((v - a["cpu"].get(k, 0.0)) * 1e6 / n) for k, v in sorted(b["cpu"].items()) if v - a["cpu"].get(k, 0.0) > 0.02}
    out["cpu_us"]["all"] = sum(out["cpu_us"].values())
    return out


def stage_waits(p, name):
    """Medians of a job's ways from step to step, by the events of the run. Counted first: without numbers of such young tables
    the join of a whole run may be planned as loops in loops, which take minutes."""
    row = p.sql(f"""ANALYZE job, job_event, attempt; WITH e AS (SELECT j.job_id, min(e.at) FILTER (WHERE e.state = 'PENDING') AS s, min(e.at) FILTER (WHERE e.state = 'ADMITTED') AS a,
        min(e.at) FILTER (WHERE e.state = 'STARTING') AS t, max(e.at) FILTER (WHERE e.state = 'COMPLETED') AS d
        FROM job j JOIN job_step e ON e.tenant_id = j.tenant_id AND e.job_id = j.job_id WHERE j.name = '{name}' GROUP BY 1)
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM a - s)), percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM t - a)),
               percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM d - t))
        FROM e""")[-1]
    return {k: round(float(v or 0) * 1000, 1) for k, v in zip(("submit_to_admit", "admit_to_take", "take_to_end"), row)}


def bench_e2e(p, tokens, a):
    r = one_e2e(p, tokens, a.seconds)
    figure("e2e.single_submits", r.pop("rate"), "jobs/s", **r)


def one_latency(p, tokens, seconds, rate=50):
    """At 50 jobs/s: from before the POST, on a connection that is open already, to the recorded end of the job; ms, sorted."""
    name = f"lat-{time.monotonic_ns()}"
    jobs, lock = [], threading.Lock()
    apis = [Api(p.url, t) for t in tokens]
    for x in apis:
        x.must("GET", "/v1/me")

    def one(api):
        t = time.time()
        j = api.must("POST", "/v1/jobs", {"name": name, "kind": "noop"})
        with lock:
            jobs.append((t, j["job_id"]))
    t0 = time.time()
    threads = []
    for i in range(rate * seconds):
        wait = t0 + i / rate - time.time()
        if wait > 0:
            time.sleep(wait)
        th = threading.Thread(target=one, args=(apis[i % len(apis)],))
        th.start()
        threads.append(th)
    for th in threads:
        th.join()
    time.sleep(0.5)
    ends = {r[0].replace("-", ""): float(r[1]) for r in p.sql(f"SELECT job_id, extract(epoch FROM finished_at) FROM job WHERE name = '{name}' AND finished_at IS NOT NULL")}
    return sorted((ends[j[4:]] - t) * 1000 for t, j in jobs if j[4:] in ends), len(jobs)


def bench_latency(p, tokens, a):
    ms, of = one_latency(p, tokens, a.seconds)
    figure("latency.50_per_s", ms[len(ms) // 2], "ms (p50 submit->done)", p99=round(ms[int(len(ms) * 0.99)], 3), done=len(ms), of=of)


def bench_peer(p, tokens, a):
    """BullMQ and Falaj in turns: the same number of connections, of jobs that run at once, of seconds. What counts is the
    ratio. A slot of Falaj is free when its program has ended, one of BullMQ when that is recorded (docs/adr/0101)."""
    bull = Bull()
    theirs, ours, lat, bull_lat = [], [], [], []
    try:
        for _ in range(a.reps):
            theirs.append(bull.rate(a.seconds, 64, a.slots)["rate"])
            r = one_e2e(p, tokens, a.seconds)
            ours.append(r["rate"])
            log("peer:", round(ours[-1]), "of", round(theirs[-1]), json.dumps(r))
        for _ in range(a.reps):
            bull_lat.append(bull.latency(50, a.seconds, a.slots))
            lat.append(one_latency(p, tokens, a.seconds)[0])
    finally:
        bull.close()
    ratios = [x / y for x, y in zip(ours, theirs)]
    figure("peer.bullmq_always.rate", statistics.median(theirs), "jobs/s", runs=[round(x) for x in theirs])
    figure("peer.falaj.rate", statistics.median(ours), "jobs/s", runs=[round(x) for x in ours])
    figure("peer.ratio", statistics.median(ratios), "Falaj / BullMQ", least=round(min(ratios), 3), most=round(max(ratios), 3))
    p50, bull_p50 = [x[len(x) // 2] for x in lat], [x["p50"] for x in bull_lat]
    figure("peer.bullmq_always.p50_at_50_per_s", statistics.median(bull_p50), "ms", p99=[round(x["p99"], 1) for x in bull_lat])
    figure("peer.falaj.p50_at_50_per_s", statistics.median(p50), "ms", p99=[round(x[int(len(x) * 0.99)], 1) for x in lat])
    figure("peer.p50_ratio", statistics.median(x / y for x, y in zip(p50, bull_p50)), "Falaj / BullMQ")


def bench_idle(p, a):
    for name, pid in p.pids().items():
        rss = int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) / 1024
        figure(f"idle.rss.{name}", rss, "MB")
    pid = p.pids()["api"]
    ticks = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19])
    boot = time.time() - float(open("/proc/uptime").read().split()[0])
    log_text = open(os.path.join(p.ready["data_dir"], "log/api.log")).read()
    at = re.findall(r"ts=(\S+)Z level=info program=falaj-api event=api.ready", log_text)[-1]
    ready = datetime.datetime.fromisoformat(at).replace(tzinfo=datetime.timezone.utc).timestamp()
    figure("start.falaj_api_ready", ready - (boot + ticks / os.sysconf("SC_CLK_TCK")), "s")
    total = 0
    with tempfile.TemporaryDirectory() as d:
        for name in ("falaj", "falaj-api", "falaj-scheduler", "falaj-keyd", "falaj-worker", "falaj-migrate", "falaj-verify"):
            out = os.path.join(d, name)
            subprocess.run(["strip", "-o", out, os.path.join(BIN, name)], check=True)
            total += os.path.getsize(out)
    figure("size.release_binaries_stripped", total / 1e6, "MB")
    figure("start.falaj_dev_ready", p.start_s, "s")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seconds", type=int, default=5)
    ap.add_argument("--reps", type=int, default=3)
    ap.add_argument("--tenants", type=int, default=64)
    ap.add_argument("--slots", type=int, default=SLOTS)
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    p = Platform(args=("--slots", str(a.slots)))
    want = lambda name: not a.only or name in a.only.split(",")
    p.zone()
    p.wait_node()
    if want("idle"):
        bench_idle(p, a)
    tokens = [p.tenant(f"bench-{i}")[1].token for i in range(a.tenants)]
    p.sql("CREATE DATABASE peer", "postgres")
    subprocess.run(["psql", "-Xq", "-f", os.path.join(HERE, "sql/schema.sql")], env=p.pg_env("peer"), check=True)
    if want("latency") or want("e2e") or want("peer"):
        age_wal(p)
    if want("latency"):
        bench_latency(p, tokens, a)
    if want("e2e"):
        bench_e2e(p, tokens, a)
    if want("peer"):
        bench_peer(p, tokens, a)
    if want("submit"):
        bench_submit(p, tokens, a)
    if want("batch"):
        bench_batch(p, tokens, a)
    if want("read"):
        bench_read(p, tokens, a)
    p.close()


if __name__ == "__main__":
    main()
