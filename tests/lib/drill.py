# SPDX-License-Identifier: Apache-2.0
"""drill.py - what the fault drills share: a load that remembers what was accepted, and the count at the end.

A drill's jobs are called "drill". Load repeats unclear answers with the same Idempotency-Key until they are clear."""
import os, random, subprocess, tempfile, threading, time, uuid

from platform_falaj import BIN, Api

UNCLEAR = (0, 409, 429, 500, 503, 504)


class Load:
    def __init__(self, url, token, threads=4, pause=0.01, sleeps=(0, 0, 5, 40, 200)):
        self.url, self.token, self.sleeps = url, token, sleeps
        self.accepted, self.lock, self.stop, self.unclear, self.given_up, self.wrong = {}, threading.Lock(), False, 0, 0, []
        self.threads = [threading.Thread(target=self.run, args=(pause,), daemon=True) for _ in range(threads)]
        for t in self.threads:
            t.start()

    def submit(self, api, spec, priority=0, timeout=60):
        """The job's id; None when it stayed unclear. Follows the platform when it comes back under another address."""
        key, until = uuid.uuid4().hex, time.time() + timeout
        body = {"name": "drill", "kind": "noop", "spec": spec, "max_attempts": 100, "priority": priority}
        while time.time() < until:
            try:
                api.move(self.url)
                status, answer = api.call("POST", "/v1/jobs", body, key=key, timeout=10)
            except Exception:
                status, answer = 0, None
            if status == 201:
                with self.lock:
                    self.accepted[key] = answer["job_id"]
                return answer["job_id"]
            if status not in UNCLEAR:
                self.wrong.append(f"submit: {status} {answer}")
                return None
            self.unclear += 1
            time.sleep(0.05)
        self.given_up += 1
        return None

    def run(self, pause):
        api = Api(self.url, self.token)
        while not self.stop:
            self.submit(api, {"sleep_ms": random.choice(self.sleeps)})
            time.sleep(pause)

    def probe(self, timeout):
        """Submit a job now and wait for its completion; the seconds it took."""
        t0, api = time.time(), Api(self.url, self.token)
        job = self.submit(api, {}, priority=1000, timeout=timeout)
        while job and time.time() - t0 < timeout:
            try:
                api.move(self.url)
                status, answer = api.call("GET", f"/v1/jobs/{job}", timeout=5)
                if status == 200 and answer["state"] == "COMPLETED":
                    return time.time() - t0
            except Exception:
                pass
            time.sleep(0.01)
        self.wrong.append(f"a job submitted after the fault ({job}) did not complete within {timeout} s")
        return time.time() - t0

    def end(self):
        self.stop = True
        for t in self.threads:
            t.join()


def settle(p, timeout=900, where="name = 'drill'"):
    until = time.time() + timeout
    while time.time() < until:
        try:
            if int(p.sql(f"SELECT count(*) FROM job WHERE finished_at IS NULL AND {where}")[0][0]) == 0:
                return
        except RuntimeError:
            pass
        time.sleep(0.3)
    raise SystemExit(f"jobs did not settle: {p.sql('SELECT state, reason, message, count(*) FROM job WHERE finished_at IS NULL GROUP BY 1, 2, 3')}; "
                     f"see {p.log_path} and {p.ready['data_dir']}/log")


def verify_audit(p, api):
    """Every event has a number, and the bundle of the whole log is whole."""
    until = time.time() + 400
    sql = "SELECT count(*) FROM audit_event e LEFT JOIN audit_seq s USING (tenant_id, event_id) WHERE s.tseq IS NULL"
    while int(p.sql(sql)[0][0]) and time.time() < until:
        time.sleep(0.2)
    gaps = int(p.sql(sql)[0][0])
    status, bundle = api.call("GET", "/v1/audit/export", raw=True, timeout=120)
    while status in UNCLEAR and time.time() < until + 60:       # as any client: a busy platform may say "not now"
        time.sleep(0.5)
        status, bundle = api.call("GET", "/v1/audit/export", raw=True, timeout=120)
    if status != 200:
        raise RuntimeError(f"the log is not exported: {status} {bundle[:300]}")
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as f:
        f.write(bundle)
        f.flush()
        argv = [os.path.join(BIN, "falaj"), "audit", "verify", "--trust-embedded-key", f.name]
        r = subprocess.run(argv, capture_output=True, text=True)
        said = (r.stdout + r.stderr).strip().splitlines()[0].replace(f.name, "bundle")
    faults = [f"{gaps} audit events never got a number"] if gaps else []
    if r.returncode:
        faults.append(f"audit verify: {said}")
    return faults, said


def check(p, tenant, api, load):
    """(what is wrong, what the verifier said) once all jobs of the tenant's drill have ended."""
    faults = list(load.wrong)
    want = set(load.accepted.values())
    hexid = tenant.split("_")[1]
    state = {"job_" + r[0]: r[1] for r in p.sql("SELECT replace(job_id::text, '-', ''), state FROM job"
                                                f" WHERE name = 'drill' AND tenant_id = '{hexid}'")}
    lost = [j for j in want if j not in state]
    extra = [j for j in state if j not in want]
    bad = {j: s for j, s in state.items() if s != "COMPLETED"}
    if lost:
        faults.append(f"{len(lost)} accepted jobs are lost, e.g. {lost[0]}")
    if len(extra) > load.given_up:
        faults.append(f"{len(extra)} jobs nobody was told of, e.g. {extra[0]}")
    if bad:
        faults.append(f"{len(bad)} jobs did not complete, e.g. {next(iter(bad.items()))}")
    double = p.sql("SELECT job_id FROM attempt WHERE state = 'SUCCEEDED' GROUP BY tenant_id, job_id HAVING count(*) > 1")
    if double:
        faults.append(f"{len(double)} jobs succeeded twice")
    for row in p.admin.must("GET", "/v1/system/invariants", timeout=900)["data"]:
        if row["violations"]:
            faults.append(f"invariant {row['name']}: {row['violations']} violations ({row['doc']})")
    told = {"job.submit": [], "job.finish": []}
    for action, job in p.sql("SELECT b->>'action', b->'resource'->>'id' FROM (SELECT convert_from(body, 'UTF8')::jsonb AS b FROM audit_event"
                             f" WHERE tenant_id = '{hexid}') e WHERE b->>'action' IN ('job.submit', 'job.finish')"):
        if job in state:
            told[action].append(job)
    for action, jobs in told.items():
        if len(jobs) != len(state) or len(set(jobs)) != len(state):
            faults.append(f"audit: {len(jobs)} times {action} for {len(set(jobs))} of {len(state)} jobs")
    more, said = verify_audit(p, api)
    return faults + more, said
