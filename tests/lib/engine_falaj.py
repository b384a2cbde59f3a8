# SPDX-License-Identifier: Apache-2.0
"""engine_falaj.py - a platform with a Slurm beside it, whose engine `hpc` lends machines."""
import os, pwd, shutil, tempfile, time

from platform_falaj import BIN, Platform, until
from slurm_rig import USER, Slurm

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")


# Machines of a run that was submitted once, and so had one worker each, with several leases in its time.
SECOND_LEASES = """SELECT count(*) FROM (
  SELECT FROM engine_run r JOIN engine g USING (engine_id)
    JOIN node n ON n.zone = g.zone AND n.pool = g.pool AND n.name IN (SELECT g.name || '-' || s FROM unnest(r.seats) s)
    JOIN (SELECT node_id, attempt_id, leased_at FROM attempt UNION
          SELECT m.node_id, m.attempt_id, a.leased_at FROM attempt_member m JOIN attempt a USING (tenant_id, attempt_id)) a
      ON a.node_id = n.node_id AND a.leased_at > r.sent_at AND a.leased_at < coalesce(r.ended_at, 'infinity')
   WHERE r.tries = 1 GROUP BY r.run_id, n.node_id HAVING count(*) > 1) x"""


def plain(identifier):
    return identifier.split("_")[1]


def drill(make, steps, **rig_as):
    """Steps, one after the other, on one rig that make(**rig_as) gives; it is made with the first of them."""
    rig, faults = None, []
    for step in steps:
        t0 = time.time()
        try:
            rig = rig or make(**rig_as)
            step(rig)
            print(f"{step.__name__}: {time.time() - t0:.1f} s", flush=True)
        except (AssertionError, SystemExit, RuntimeError) as x:
            faults.append(f"{step.__name__}: {x!r}")
            break
    if rig:
        faults += [] if faults else rig.check()
        for f in faults:
            print("FAULT", f, flush=True)
        rig.close(faults)


class Rig:
    """same_account: Slurm runs as the account of Falaj's daemons, whom its Unix socket then lets in."""

    def __init__(self, nodes=4, faults="", same_account=False, **more):
        self.credentials = tempfile.mkdtemp(prefix="falaj-engines-")
        self.p = Platform({"FALAJ_SCHEDULER_ENGINES_DIR": self.credentials, "FALAJ_SCHEDULER_LEASE_MS": "10000",
                           "FALAJ_WORKER_HEARTBEAT_MS": "500", "FALAJ_WORKER_CHECKPOINT_GAP_MS": "0",
                           "FALAJ_FAULTS": faults})
        self.zone = self.p.zone()
        self.api = self.p.tenant("engines", zone=self.zone)[1]
        user = pwd.getpwuid(os.stat(os.path.join(self.p.ready["data_dir"], "etc/worker.conf")).st_uid).pw_name
        self.slurm, self.cancelled, self.submitted = Slurm(nodes, user if same_account else USER), set(), []
        self.data = None                                # a data set, where a drill has one
        self.scratch()
        self.secret("hpc.jwt", self.slurm.token() + "\n")
        rest = f"http://127.0.0.1:{self.slurm.ports['rest']}"
        self.engine = self.add("hpc", rest, credential="hpc.jwt", machines=nodes, **more)

    def add(self, name, address, **more):
        return self.p.admin.must("POST", "/v1/engines", {
            "name": name, "zone": self.zone, "address": address, "account": self.slurm.user,
            "worker": self.slurm.path("bin/falaj-worker"), "worker_config": self.slurm.path("etc/worker.conf"),
            "folder": self.slurm.path("scratch"), **more})

    def scratch(self):
        """What an operator puts on the machines there: the worker, its settings, the authorities. The account may read them."""
        data = self.p.ready["data_dir"]
        for d in ("bin", "etc", "scratch"):
            os.mkdir(self.slurm.path(d))
        shutil.copy(os.path.join(BIN, "falaj-worker"), self.slurm.path("bin/falaj-worker"))
        with open(os.path.join(data, "etc/worker.conf"), encoding="utf-8") as f:
            conf = dict(line.strip().split(" = ", 1) for line in f if " = " in line)
        for own in ("name", "pool", "cert", "key", "join_token_file", "work_dir", "slots", "gpus", "memory"):
            conf.pop(f"worker.{own}", None)
        shutil.copy(conf["worker.ca"], self.slurm.path("etc/ca.pem"))
        conf.update({"worker.ca": self.slurm.path("etc/ca.pem"), "worker.enrol_url": self.p.url, "worker.heartbeat_ms": "500",
                     "worker.checkpoint_gap_ms": "0"})
        with open(self.slurm.path("etc/worker.conf"), "w", encoding="utf-8") as f:
            f.write("".join(f"{k} = {v}\n" for k, v in conf.items()))
        os.chmod(self.slurm.path("scratch"), 0o1777)
        os.chmod(self.slurm.path("etc/ca.pem"), 0o644)

    def secret(self, name, text):
        path = os.path.join(self.credentials, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o600)
        st = os.stat(os.path.join(self.p.ready["data_dir"], "etc/worker.conf"))
        if os.geteuid() == 0:
            for x in (self.credentials, path):
                os.chown(x, st.st_uid, st.st_gid)

    def submit(self, sleep_ms=200, **more):
        body = {"name": "lent", "kind": "noop", "pool": "hpc", "spec": {"sleep_ms": sleep_ms}, "max_attempts": 20, **more}
        self.submitted.append(self.api.must("POST", "/v1/jobs", body)["job_id"])
        return self.submitted[-1]

    def began(self, job):
        """How many of its attempts began: one whose machine was killed before it took the lease did not."""
        return [t[2] for t in self.attempts(job)].count("t")

    def done(self, job, timeout=600):
        j = until(f"the end of {job}", lambda: (j := self.api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j, timeout)
        assert j["state"] == "COMPLETED", j
        return j

    def show(self, engine=None):
        return self.p.admin.must("GET", f"/v1/engines/{(engine or self.engine)['engine_id']}")

    def read(self, job):
        return self.api.must("GET", f"/v1/jobs/{job}")

    def run_of(self, job):
        """Its newest run."""
        return next((r for r in self.runs() if r["job_id"] == job), None)

    def digest(self, job):
        """Of the model."""
        return self.p.sql_text("SELECT encode(o.sha256, 'hex') FROM job_object j JOIN object o ON o.tenant_id = j.tenant_id"
                               " AND o.object_id = j.object_id AND o.state = 'COMMITTED'"
                               f" WHERE j.job_id = '{plain(job)}' AND j.direction = 'output'")

    def kept(self, job):
        return self.p.sql_text(f"SELECT count(*) FROM checkpoint WHERE job_id = '{plain(job)}' AND whole_at IS NOT NULL") != "0"

    def went_on(self, job):
        return self.p.sql_text(f"SELECT count(*) FROM job_log WHERE job_id = '{plain(job)}' AND fence > 1"
                               " AND text LIKE '%, resumed'") != "0"

    def attempts(self, job):
        return self.p.sql("SELECT fence, state, started_at IS NOT NULL FROM attempt"
                          f" WHERE job_id = '{plain(job)}' ORDER BY fence")

    def runs(self, *states):
        rows = self.p.admin.must("GET", f"/v1/engines/{self.engine['engine_id']}/runs")["data"]
        return [r for r in rows if not states or r["state"] in states]

    def machines(self, *states):
        return [n for n in self.p.admin.must("GET", "/v1/nodes")["data"] if n["pool"] == "hpc" and n["state"] in states]

    def falls(self):
        """How often the scheduler ended by a signal; falaj dev starts it again."""
        with open(self.p.log_path, "rb") as f:
            return sum(b"scheduler was ended by signal" in x for x in f)

    def check(self):
        """Each job one attempt that ran to its end, no matter how many machines were begun; every invariant holds."""
        faults = []
        for j in self.submitted:
            if plain(j) in self.cancelled:
                continue
            n = self.p.sql_text(f"SELECT count(*) FROM attempt WHERE job_id = '{plain(j)}' AND started_at IS NOT NULL"
                                " AND state = 'SUCCEEDED'").strip()
            if n != "1":
                faults.append(f"{j}: {n} attempts ended well")
        twice = self.p.sql_text(SECOND_LEASES).strip()
        if twice != "0":
            faults.append(f"{twice} machines had more than the one lease that they were lent for")
        broken = self.p.broken_invariants()
        return faults + ([broken] if broken else [])

    def close(self, faults):
        self.slurm.kept = bool(faults)
        self.slurm.close()
        shutil.rmtree(self.credentials, ignore_errors=True)
        self.p.finish(faults)
