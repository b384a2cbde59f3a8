#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""restore.py - a platform comes back from its backup, or goes on with its standby, and its log, queue, budgets and data with it.

    restore.py dump       pg_dump and a copy of the blobs while jobs run; all daemons end; a new cluster (initdb) is filled
                          from the dump and the daemons start on it. Its transactions count from low again, far behind the log.
    restore.py standby    a synchronous standby; under load the primary is killed with -9, the standby promoted and put in its
                          place under the daemons, which run on. Nothing that was accepted is lost.

In both: who was erased before stays erased, and who was erased after the dump is erased again by the journal that lies
outside the database, and the log says so; every event gets a number, the log says what happened, a bundle proves against the
head that was kept before, what ran and what waited ends, budgets sum up, data opens, invariants hold, falaj doctor and
/v1/system/health find nothing. Exit status 0 only then."""
import argparse, json, os, shutil, signal, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from cluster import Cluster
from drill import Load, settle
from platform_falaj import BIN, SRC, Api, Platform, log, person, until

CSV = ("a,b,y\n" + "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(60))).encode()
AHEAD = 20000       # transactions that the old cluster counts beyond the new one


class World:
    """A tenant with data, a model, a budget, jobs that run and jobs that wait, and a head that its auditor keeps."""

    def __init__(self, p, scratch):
        self.p, self.scratch = p, scratch
        p.zone()
        p.admin.must("POST", "/v1/prices", {"flavor": "cpu", "currency": "AED", "slot_hour": 3600000, "slot_watts": 100})
        self.tenant, self.api = p.tenant("amana")
        ledgers = {"name": "ledgers-of-amana", "label_column": "y", "classes": 2}
        self.data = self.api.must("POST", "/v1/datasets", ledgers)["dataset_id"]
        self.api.must("POST", f"/v1/datasets/{self.data}/versions", CSV, headers={"Content-Type": "text/csv"})
        budget = {"name": "all", "measure": "money", "currency": "AED", "amount": 10 ** 9, "period": "total"}
        self.budget = self.api.must("POST", "/v1/budgets", budget)["budget_id"]
        self.ended = self.train("before")
        self.officer = person(self.api, "officer", "compliance-officer")
        self.early, self.late = (self.leaver(n) for n in ("Early Leaver", "Late Leaver"))
        self.erase(self.early)
        self.bundle("kept", "--save-head", self.path("head"))

    def path(self, name):
        return os.path.join(self.scratch, name)

    def job(self, name, **more):
        return self.api.must("POST", "/v1/jobs", {"name": name, "kind": "noop", "spec": {}, "max_attempts": 10, **more})["job_id"]

    def state(self, job):
        return self.api.must("GET", f"/v1/jobs/{job}")["state"]

    def train(self, name):
        """Reads the data set on a machine, which wants its key, and leaves a model."""
        spec = {"dataset_id": self.data, "dataset_version": 1, "family": "mlp", "hidden": [4], "epochs": 1, "seed": 1}
        job = self.job(name, kind="train", spec=spec)
        until(f"job {name} completes", lambda: self.state(job) == "COMPLETED")
        return job

    def leaver(self, name):
        """Somebody whose name is in the directory, and sealed in the log."""
        user = self.api.must("POST", "/v1/users", {"name": name, "kind": "person", "roles": ["viewer"]})["user_id"]
        token = self.api.must("POST", "/v1/api-tokens", {"name": name, "user_id": user, "scopes": ["job:read"]})
        Api(self.p.url, token["token"]).must("GET", "/v1/jobs")
        return user

    def erase(self, user):
        self.officer.must("POST", "/v1/audit/erasures", {"user_id": user})

    def erased(self):
        return {e["user_id"] for e in self.officer.must("GET", "/v1/audit/erasures")["data"]}

    def traces(self):
        """What is still there of those who were erased."""
        faults = []
        for name, user in (("Early Leaver", self.early), ("Late Leaver", self.late)):
            if not self.officer.must("GET", f"/v1/audit/persons/{user}").get("erased_at"):
                faults.append(f"{name} is not erased")
            if self.p.sql(f"SELECT 1 FROM audit_subject_key WHERE subject_id = '{user[4:]}' AND wrapped IS NOT NULL"):
                faults.append(f"the key of {name}'s fields in the log is there")
            dumped = subprocess.run(["pg_dump"], env=self.p.pg_env(), capture_output=True, text=True, check=True).stdout
            if name in dumped:
                faults.append(f"pg_dump has {name}")
        return faults

    def used(self):
        return self.api.must("GET", f"/v1/budgets/{self.budget}")["used"]

    def unnumbered(self):
        return int(self.p.sql("SELECT count(*) FROM audit_event e WHERE NOT EXISTS (SELECT FROM audit_seq s WHERE"
                              " (s.tenant_id, s.event_id) = (e.tenant_id, e.event_id))")[0][0])

    def bundle(self, name, *args):
        """An export of the whole log, which falaj-verify finds whole; its number of entries."""
        until("every event has a number", lambda: not self.unnumbered())
        with open(self.path(name), "wb") as f:
            f.write(self.api.must("GET", "/v1/audit/export", raw=True, timeout=400))
        argv = [f"{BIN}/falaj-verify", "--trust-embedded-key", "--json", *args, self.path(name)]
        r = subprocess.run(argv, capture_output=True, text=True)
        if r.returncode:
            raise SystemExit(f"falaj-verify {' '.join(args)} {name}: {r.returncode} {r.stdout}{r.stderr}")
        with open(self.path(name), encoding="utf-8") as f:
            return sum('"tseq"' in line for line in f)

    def goes_on(self, kind):
        """What must hold after the change, whichever it was; the list of what does not."""
        p, faults = self.p, []
        told = until(f"the log tells of the {kind}", lambda: [
            e for e in self.api.must("GET", "/v1/audit/events?action=audit.epoch")["data"] if kind in json.dumps(e)])
        spent = until("the budget is summed up", self.used)
        if self.api.must("GET", f"/v1/datasets/{self.data}/versions/1/content", raw=True) != CSV:
            faults.append("the data set does not come back as it was")
        if self.state(self.ended) != "COMPLETED":
            faults.append("a job that had ended is not as it was")
        self.train("after")
        until("the budget settles", lambda: self.used() > spent)
        size = self.bundle("after", "--previous", self.path("head"))
        argv = [sys.executable, f"{SRC}/docs/verify-audit.py", "--trust-embedded-key", self.path("after")]
        r = subprocess.run(argv, capture_output=True, text=True)
        if r.returncode:
            faults.append(f"docs/verify-audit.py: {r.stdout}{r.stderr}")
        until("invariants hold", lambda: not any(r["violations"] for r in p.admin.must("GET", "/v1/system/invariants")["data"]))
        health = until("health is ok", lambda: (h := p.admin.must("GET", "/v1/system/health"))["state"] == "ok" and h)
        r = subprocess.run([f"{BIN}/falaj", "doctor", "--data", p.ready["data_dir"]], capture_output=True, text=True)
        if r.returncode:
            faults.append(f"falaj doctor: {r.returncode} {r.stdout}{r.stderr}")
        log(f"log: {size} entries, told {len(told)} time(s) of the {kind}; health {health['state']}")
        return faults


def dump(scratch):
    data = os.path.join(scratch, "data")
    p = Platform(args=("--slots", "2", "--no-console"), data=data)
    w = World(p, scratch)
    p.sql("CREATE PROCEDURE burn(n int) LANGUAGE plpgsql AS"
          " $$ BEGIN FOR i IN 1..n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$", "postgres")
    p.sql(f"CALL burn({AHEAD})", "postgres")
    running = [w.job(f"runs-{i}", spec={"sleep_ms": 4000}) for i in range(2)]
    until("two jobs run", lambda: all(w.state(j) == "RUNNING" for j in running))
    waiting = [w.job(f"waits-{i}") for i in range(3)]
    subprocess.run(["pg_dump", "-Fc", "-f", f"{scratch}/dump"], env=p.pg_env(), check=True)
    shutil.copytree(f"{data}/blobs", f"{scratch}/blobs")
    os.chmod(f"{scratch}/dump", 0o644)
    ahead = int(p.sql("SELECT pg_current_xact_id()::text")[0][0])
    lost = w.job("after-the-dump")
    w.erase(w.late)

    new = Cluster(p, f"{scratch}/new/cluster", f"{scratch}/sockets")
    os.makedirs(f"{scratch}/new")
    os.chown(f"{scratch}/new", new.uid, new.gid)
    p.close()
    t0 = time.time()
    new.init()
    new.start()
    new.restore(f"{SRC}/migrations/roles.sql", f"{scratch}/dump")
    low = int(new.sql("SELECT pg_current_xact_id()::text"))
    new.stop()
    new.take_place()
    st = os.stat(f"{data}/blobs")
    shutil.rmtree(f"{data}/blobs")
    subprocess.run(["cp", "-a", f"{scratch}/blobs", f"{data}/blobs"], check=True)
    subprocess.run(["chown", "-R", f"{st.st_uid}:{st.st_gid}", f"{data}/blobs"], check=True)
    os.chmod(f"{data}/blobs", st.st_mode & 0o777)
    p = w.p = Platform(args=("--slots", "2", "--no-console"), data=data)
    w.api.move(p.url)
    w.officer.move(p.url)
    log(f"restored in {time.time() - t0:.1f} s: transactions count from {low}, they were at {ahead}")
    faults = [] if low < ahead - AHEAD // 2 else ["the new cluster is not behind the old one: nothing is shown"]
    until("what ran and what waited completes", lambda: all(w.state(j) == "COMPLETED" for j in running + waiting))
    if w.api.call("GET", f"/v1/jobs/{lost}")[0] != 404:
        faults.append("a job from after the dump is there: this is not the restored database")
    if w.erased() != {w.early, w.late}:
        faults.append(f"erased after the restore: {w.erased()}")
    again = [e["resource_id"] for e in w.api.must("GET", "/v1/audit/events?action=person.erase_again")["data"]]
    if again != [w.late]:
        faults.append(f"the log tells of being erased again: {again}")
    return p, faults + w.goes_on("restore") + w.traces()


def standby(scratch):
    p = Platform(args=("--no-console",), data=os.path.join(scratch, "data"))
    w = World(p, scratch)
    other = Cluster(p, f"{scratch}/new/cluster", f"{scratch}/sockets")
    os.makedirs(f"{scratch}/new")
    os.chown(f"{scratch}/new", other.uid, other.gid)
    other.follow()
    load = Load(p.url, w.api.token, pause=0.02)
    w.erase(w.late)
    until("jobs flow", lambda: len(load.accepted) > 50)
    primary = p.pids()["postgres"]
    # The supervisor would start the dead primary again: it stands still until the standby has taken its place. The daemons run.
    os.kill(p.proc.pid, signal.SIGSTOP)
    try:
        os.kill(primary, signal.SIGKILL)
        at = len(load.accepted)
        other.promote()
        path = f"{p.ready['pg']['socket_dir']}/.s.PGSQL.{other.port}"
        until("the old socket is gone or dead", lambda: not os.path.exists(path) or not listening(p))
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(f"{other.sockets}/.s.PGSQL.{other.port}", path)      # as an address that moves with the primary
        until("jobs flow again", lambda: len(load.accepted) > at + 50)
        load.end()
        settle(p)
        faults = list(load.wrong)
        states = {"job_" + r[0].replace("-", ""): r[1] for r in p.sql("SELECT job_id, state FROM job WHERE name = 'drill'")}
        bad = [j for j in load.accepted.values() if states.get(j) != "COMPLETED"]
        if bad:
            faults.append(f"{len(bad)} of {len(load.accepted)} accepted jobs are lost or not complete, e.g. {bad[0]}")
        log(f"{len(load.accepted)} jobs accepted, {at} of them before the primary was killed; {load.unclear} unclear answers")
        faults += w.goes_on("timeline")
        # And under the supervisor again, from its own place.
        other.stop()
        os.unlink(path)
        other.take_place()
    finally:
        os.kill(p.proc.pid, signal.SIGCONT)
    until("the platform runs on the standby's files", lambda: p.admin.call("GET", "/readyz")[0] == 200)
    w.train("at the end")
    w.bundle("end", "--previous", w.path("head"))
    return p, faults + w.traces()


def listening(p):
    return subprocess.run(["psql", "-XAtqc", "SELECT 1"], env=p.pg_env(), capture_output=True).returncode == 0


def main():
    a = argparse.ArgumentParser()
    a.add_argument("way", choices=("dump", "standby"))
    way = a.parse_args().way
    with tempfile.TemporaryDirectory(prefix="falaj-restore-") as scratch:
        os.chmod(scratch, 0o711)        # the account of PostgreSQL passes
        t0 = time.time()
        p, faults = dump(scratch) if way == "dump" else standby(scratch)
        for f in faults:
            log(f"restore {way}: {f}")
        log(f"restore {way}: {len(faults)} faults, {time.time() - t0:.0f} s")
        p.finish(len(faults))


if __name__ == "__main__":
    main()
