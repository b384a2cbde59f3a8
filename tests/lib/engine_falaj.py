# SPDX-License-Identifier: Apache-2.0
"""engine_falaj.py - a platform with a Slurm beside it, whose engine `hpc` lends machines."""
import os, shutil, tempfile

from platform_falaj import BIN, Platform, until
from slurm_rig import USER, Slurm

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")


def plain(identifier):
    return identifier.split("_")[1]


class Rig:
    def __init__(self, nodes=4, faults="", **more):
        self.credentials = tempfile.mkdtemp(prefix="falaj-engines-")
        self.p = Platform({"FALAJ_SCHEDULER_ENGINES_DIR": self.credentials, "FALAJ_SCHEDULER_LEASE_MS": "10000",
                           "FALAJ_WORKER_HEARTBEAT_MS": "500", "FALAJ_FAULTS": faults})
        self.zone = self.p.zone()
        self.api = self.p.tenant("engines", zone=self.zone)[1]
        self.slurm, self.cancelled, self.submitted, self.own = Slurm(nodes), set(), [], None
        self.scratch()
        self.secret()
        self.engine = self.p.admin.must("POST", "/v1/engines", {
            "name": "hpc", "zone": self.zone, "address": f"http://127.0.0.1:{self.slurm.ports['rest']}", "account": USER,
            "credential": "hpc.jwt", "worker": self.slurm.path("bin/falaj-worker"),
            "worker_config": self.slurm.path("etc/worker.conf"), "folder": self.slurm.path("scratch"), "machines": nodes, **more})

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
        conf.update({"worker.ca": self.slurm.path("etc/ca.pem"), "worker.enrol_url": self.p.url, "worker.heartbeat_ms": "500"})
        with open(self.slurm.path("etc/worker.conf"), "w", encoding="utf-8") as f:
            f.write("".join(f"{k} = {v}\n" for k, v in conf.items()))
        os.chmod(self.slurm.path("scratch"), 0o1777)
        os.chmod(self.slurm.path("etc/ca.pem"), 0o644)

    def secret(self):
        path = os.path.join(self.credentials, "hpc.jwt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.slurm.token() + "\n")
        os.chmod(path, 0o600)
        st = os.stat(os.path.join(self.p.ready["data_dir"], "etc/worker.conf"))
        if os.geteuid() == 0:
            for x in (self.credentials, path):
                os.chown(x, st.st_uid, st.st_gid)

    def submit(self, sleep_ms=200, **more):
        body = {"name": "lent", "kind": "noop", "pool": "hpc", "spec": {"sleep_ms": sleep_ms}, "max_attempts": 20, **more}
        self.submitted.append(self.api.must("POST", "/v1/jobs", body)["job_id"])
        return self.submitted[-1]

    def done(self, job, timeout=180):
        j = until(f"the end of {job}", lambda: (j := self.api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j, timeout)
        assert j["state"] == "COMPLETED", j
        return j

    def show(self):
        return self.p.admin.must("GET", f"/v1/engines/{self.engine['engine_id']}")

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
        broken = self.p.broken_invariants()
        return faults + ([broken] if broken else [])

    def close(self, faults):
        self.slurm.kept = bool(faults)
        self.slurm.close()
        shutil.rmtree(self.credentials, ignore_errors=True)
        self.p.finish(faults)
