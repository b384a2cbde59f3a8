#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill.py - kill -9 of each process in turn while jobs flow, then count: 0 lost jobs, 0 double results, 0 audit gaps.

usage: tests/faults/kill.py [--kills N] [--only NAME,…] [--seed N]
Every accepted submission is remembered with its Idempotency-Key; unclear answers (connection lost, 503) are repeated with the same
key, as a client should. At the end every accepted job must be COMPLETED exactly once, the invariants J1-J7 must hold, and the audit
log of the tenant must verify and hold one submission and one end per job. Exit 0 only then."""
import argparse, base64, json, os, random, signal, subprocess, sys, tempfile, threading, time, uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import BIN, Api, Platform, log

NAMES = ("api", "scheduler", "keyd", "worker", "redis", "postgres-backend", "postgres")


class Load:
    def __init__(self, url, token, threads=4, pause=0.01):
        self.accepted, self.lock, self.stop, self.unclear = {}, threading.Lock(), False, 0
        self.threads = [threading.Thread(target=self.run, args=(Api(url, token), pause)) for _ in range(threads)]
        for t in self.threads:
            t.start()

    def run(self, api, pause):
        while not self.stop:
            key = uuid.uuid4().hex
            spec = {"sleep_ms": random.choice((0, 0, 5, 40, 200))}
            until = time.time() + 60
            while time.time() < until:
                try:
                    status, answer = api.call("POST", "/v1/jobs", {"name": "drill", "kind": "noop", "spec": spec, "max_attempts": 100}, key=key, timeout=10)
                except Exception:
                    status, answer = 0, None
                if status == 201:
                    with self.lock:
                        self.accepted[key] = answer["job_id"]
                    break
                if status not in (0, 409, 429, 500, 503, 504):
                    raise RuntimeError(f"submit: {status} {answer}")
                self.unclear += 1
                time.sleep(0.05)
            time.sleep(pause)

    def end(self):
        self.stop = True
        for t in self.threads:
            t.join()


def kill_one(p, name):
    if name == "postgres-backend":
        rows = p.sql("SELECT pid FROM pg_stat_activity WHERE usename LIKE 'falaj_%' AND pid <> pg_backend_pid()")
        if not rows:
            return False
        os.kill(int(random.choice(rows)[0]), signal.SIGKILL)
        return True
    pid = p.pids().get(name)
    if not pid:
        return False
    os.kill(pid, signal.SIGKILL)
    return True


def settle(p, timeout=120):
    until = time.time() + timeout
    while time.time() < until:
        try:
            left = int(p.sql("SELECT count(*) FROM job WHERE finished_at IS NULL")[0][0])
            if left == 0:
                return
        except RuntimeError:
            pass
        time.sleep(0.3)
    raise SystemExit(f"jobs did not settle: {p.sql('SELECT state, reason, message, count(*) FROM job WHERE finished_at IS NULL GROUP BY 1, 2, 3')}")


def verify_audit(p, api):
    time.sleep(2)
    _, bundle = api.call("GET", "/v1/audit/export", raw=True, timeout=120)
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as f:
        f.write(bundle)
        f.flush()
        r = subprocess.run([os.path.join(BIN, "falaj"), "audit", "verify", f.name], capture_output=True, text=True)
    return r.returncode, (r.stdout + r.stderr).strip()


def check(p, tenant, api, load):
    faults = []
    want = set(load.accepted.values())
    rows = p.sql("SELECT replace(job_id::text, '-', ''), state, fence FROM job WHERE name = 'drill'")
    state = {"job_" + r[0]: r[1] for r in rows}
    lost = [j for j in want if j not in state]
    extra = [j for j in state if j not in want]
    bad = {j: s for j, s in state.items() if s != "COMPLETED"}
    if lost:
        faults.append(f"{len(lost)} accepted jobs are lost, e.g. {lost[0]}")
    if extra:
        faults.append(f"{len(extra)} jobs nobody was told of, e.g. {extra[0]}")
    if bad:
        faults.append(f"{len(bad)} jobs did not complete, e.g. {next(iter(bad.items()))}")
    double = p.sql("SELECT job_id FROM attempt WHERE state = 'SUCCEEDED' GROUP BY tenant_id, job_id HAVING count(*) > 1")
    if double:
        faults.append(f"{len(double)} jobs succeeded twice")
    for row in p.admin.must("GET", "/v1/system/invariants")["data"]:
        if row["violations"]:
            faults.append(f"invariant {row['name']}: {row['violations']} violations ({row['doc']})")
    counts = dict((r[0], int(r[1])) for r in p.sql(
        "SELECT convert_from(body, 'UTF8')::jsonb->>'action', count(*) FROM audit_event WHERE tenant_id <> '00000000-0000-0000-0000-000000000000' GROUP BY 1"))
    if counts.get("job.submit") != len(want) or counts.get("job.finish") != len(want):
        faults.append(f"audit: {counts.get('job.submit')} submissions and {counts.get('job.finish')} ends for {len(want)} jobs")
    gaps = p.sql("SELECT count(*) FROM audit_event e LEFT JOIN audit_seq s USING (tenant_id, event_id) WHERE s.tseq IS NULL AND e.at < now() - interval '20 s'")
    if int(gaps[0][0]):
        faults.append(f"{gaps[0][0]} audit events never got a number")
    code, said = verify_audit(p, api)
    if code:
        faults.append(f"audit verify: {said}")
    return faults, said


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kills", type=int, default=20)
    ap.add_argument("--only", default=",".join(NAMES))
    ap.add_argument("--seed", type=int, default=int(time.time()))
    a = ap.parse_args()
    random.seed(a.seed)
    p = Platform({"FALAJ_SCHEDULER_LEASE_MS": "4000", "FALAJ_WORKER_HEARTBEAT_MS": "1000"}, args=("--slots", "32"))
    p.zone()
    p.wait_node()
    tenant, api = p.tenant("drill")
    load = Load(p.url, api.token)
    kills, recovery = {}, []
    for name in a.only.split(","):
        for _ in range(a.kills):
            time.sleep(random.uniform(0.2, 0.8))
            before = len(load.accepted)
            t0 = time.time()
            if not kill_one(p, name):
                continue
            kills[name] = kills.get(name, 0) + 1
            while len(load.accepted) <= before + 2 and time.time() - t0 < 60:
                time.sleep(0.02)
            recovery.append(time.time() - t0)
        log(f"{name}: {kills.get(name, 0)} kills, {len(load.accepted)} jobs accepted so far")
    load.end()
    settle(p)
    faults, said = check(p, tenant, api, load)
    recovery.sort()
    print(json.dumps({"kills": kills, "jobs": len(load.accepted), "repeated_submits": load.unclear, "seed": a.seed,
                      "recovery_p99_s": round(recovery[int(len(recovery) * 0.99)], 2) if recovery else 0, "faults": faults, "audit": said}))
    if faults:
        log(f"logs: {p.log_path} {p.ready['data_dir']}")
        p.proc.send_signal(signal.SIGTERM)
        raise SystemExit(1)
    p.close()


if __name__ == "__main__":
    main()
