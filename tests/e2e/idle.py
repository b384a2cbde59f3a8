#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""idle.py - a program that sleeps and one that works, on a real machine under an idle rule: the one is measured as idle, told of
and put aside with the reason Idle; the other goes on. What was idle for 20 seconds is written as idle for minutes by a trigger
of this test's, so every step in between is the product's own. It needs
root and control groups of version 1; elsewhere it says so."""
import atexit, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from platform_falaj import Platform, log, until

SLEEPS = """
import time
print("serving", flush=True)
time.sleep(7200)
"""
WORKS = """
import os
print("serving", flush=True)
for _ in range(3):
    if os.fork() == 0:
        break
while True:
    pass
"""
# A machine says the same again every 20 seconds, and the leader writes noticed_at once: each is moved when it is written anew.
EARLIER = """
CREATE FUNCTION idle_earlier() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'INSERT' OR NEW.idle_since IS DISTINCT FROM OLD.idle_since THEN
    NEW.idle_since := NEW.idle_since - interval '10 minutes';
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.noticed_at IS DISTINCT FROM OLD.noticed_at THEN
    NEW.noticed_at := NEW.noticed_at - interval '2 minutes';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER idle_earlier BEFORE INSERT OR UPDATE ON attempt_idle FOR EACH ROW EXECUTE FUNCTION idle_earlier();
"""
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")


def submit(api, script):
    spec = {"command": ["python3", "/falaj/code/script"], "script": script}
    job = api.must("POST", "/v1/jobs", {"name": "program", "kind": "run", "spec": spec})["job_id"]
    until(f"{job} serves", lambda: b"serving" in api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1])
    return job


def delegate(pid):
    """falaj dev runs its agent without rights: where root runs this test, the agent gets groups of version 1 that are its own."""
    made = []
    for line in open(f"/proc/{pid}/cgroup").read().splitlines():
        names, path = line.split(":", 2)[1:]
        if names not in CONTROLLERS:
            continue
        base = f"/sys/fs/cgroup/{names}{path.rstrip('/')}"
        own = f"{base if os.path.isdir(base) else '/sys/fs/cgroup/' + names}/falaj-idle-{os.getpid()}"
        try:
            os.mkdir(own)
            made.append(own)
            os.chown(own, os.stat(f"/proc/{pid}").st_uid, -1)
            open(f"{own}/cgroup.procs", "w").write(str(pid))
        except OSError as x:
            log(x)
            break
    return made


def remove(groups):
    """Once who was in them has ended; what a killed agent left below goes as well."""
    for own in groups:
        for path, _, _ in os.walk(own, topdown=False):
            try:
                os.rmdir(path)
            except OSError as x:
                log(x)


def said(api, job):
    rows = api.must("GET", f"/v1/audit/events?page_size=200&resource={job}")["data"]
    return [r for r in rows if r["action"] == "job.idle"]


def main():
    p = Platform({"FALAJ_WORKER_PROGRAMS": "host"})
    groups = delegate(p.pids()["worker"])
    atexit.register(remove, groups)
    atexit.register(p.close)
    api = p.tenant("sleepers", zone=p.zone())[1]
    works, sleeps = submit(api, WORKS), submit(api, SLEEPS)
    if len(groups) < len(CONTROLLERS):
        assert p.sql_text("SELECT count(*) FROM attempt_idle") == "0"
        print("share: 0 of 1 idle jobs: this machine lets us make no control groups of version 1", flush=True)
        return p.close()
    get = lambda job: api.must("GET", f"/v1/jobs/{job}")
    until("the machine says that one is idle", lambda: int(p.sql_text("SELECT count(idle_since) FROM attempt_idle")))
    log("measured")
    assert p.sql_text("SELECT count(*) FROM attempt_idle") == "1", p.sql("SELECT * FROM attempt_idle")
    assert (get(sleeps)["state"], get(sleeps).get("reason", "")) == ("RUNNING", ""), "nobody made a rule yet"
    p.sql(EARLIER)
    api.must("PUT", "/v1/idle-policy", {"after_minutes": 5, "notice_minutes": 1})
    until("the sleeping one is put aside", lambda: get(sleeps)["state"] == "SUSPENDED")
    job = get(sleeps)
    assert job["reason"] == "Idle", job
    until("the log has the notice and the end", lambda: len(said(api, sleeps)) == 2)
    job = get(works)
    assert (job["state"], job.get("reason", "")) == ("RUNNING", ""), job
    assert not said(api, works)
    log("put aside, and the other goes on")
    p.close()


main()
