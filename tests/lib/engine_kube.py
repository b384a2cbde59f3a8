# SPDX-License-Identifier: Apache-2.0
"""engine_kube.py - a platform with a Kubernetes beside it, whose engine `hpc` lends machines; what every engine's drills do is
engine_falaj.py's."""
import os, shutil, subprocess, tempfile

from engine_falaj import Rig
from kube_rig import IMAGE, NAMESPACE, Kube
from platform_falaj import BIN, SRC, Platform, until

LONG_S = 900
SLOW = {"epochs": 200, "hidden": [64, 64], "batch_size": 16, "seed": 7, "checkpoint_every": 1}


class KubeRig(Rig):
    def __init__(self, nodes=3, faults="", **more):
        self.credentials = tempfile.mkdtemp(prefix="falaj-engines-")
        self.p = Platform({"FALAJ_SCHEDULER_ENGINES_DIR": self.credentials, "FALAJ_SCHEDULER_LEASE_MS": "10000",
                           "FALAJ_WORKER_HEARTBEAT_MS": "500", "FALAJ_WORKER_CHECKPOINT_GAP_MS": "0", "FALAJ_FAULTS": faults})
        self.zone = self.p.zone()
        self.api = self.p.tenant("engines", zone=self.zone)[1]
        self.kube, self.cancelled, self.submitted, self.data = Kube(nodes), set(), [], None
        self.there()
        self.secret("kube.token", self.kube.token() + "\n")
        for name, files in (("kube-ca.pem", ("ca.pem",)), ("kube.pem", ("engine.pem", "engine.key"))):
            self.secret(name, "".join(open(self.kube.path(f), encoding="utf-8").read() for f in files))
        self.engine = self.add("hpc", credential="kube.token", machines=nodes, **more)

    def there(self):
        """What an operator does there: the manifests of deploy/kubernetes/engine with this platform's settings, and a certificate
        of the same rights."""
        data = self.p.ready["data_dir"]
        shutil.copy(os.path.join(BIN, "falaj-worker"), self.kube.path("bin/falaj-worker"))
        with open(os.path.join(data, "etc/worker.conf"), encoding="utf-8") as f:
            conf = dict(line.strip().split(" = ", 1) for line in f if " = " in line)
        for own in ("name", "pool", "cert", "key", "join_token_file", "work_dir", "slots", "gpus", "memory", "serve_bind"):
            conf.pop(f"worker.{own}", None)
        site = self.kube.path("engine")
        shutil.copytree(os.path.join(SRC, "deploy/kubernetes/engine"), site)
        shutil.copy(conf["worker.ca"], os.path.join(site, "ca.pem"))
        conf.update({"worker.ca": "/run/falaj-settings/ca.pem", "worker.enrol_url": self.p.url, "worker.heartbeat_ms": "500",
                     "worker.checkpoint_gap_ms": "0"})
        with open(os.path.join(site, "worker.conf"), "w", encoding="utf-8") as f:
            f.write("".join(f"{k} = {v}\n" for k, v in conf.items()))
        with open(os.path.join(site, "kustomization.yaml"), "a", encoding="utf-8") as f:
            f.write("")
        subprocess.run(["sed", "-i", "s/      - worker.conf/      - worker.conf\\n      - ca.pem/",
                        os.path.join(site, "kustomization.yaml")], check=True)
        self.kube.kubectl("apply", "-k", site)
        self.kube.cert("engine", "/CN=falaj-by-certificate")
        self.kube.kubectl("-n", NAMESPACE, "create", "rolebinding", "by-certificate", "--role=falaj-engine",
                          "--user=falaj-by-certificate")
        until("the account", lambda: self.kube.call("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")[0] == 200)

    def add(self, name, address="", **more):
        return self.p.admin.must("POST", "/v1/engines", {
            "name": name, "kind": "kubernetes", "zone": self.zone, "address": address or self.kube.url, "account": NAMESPACE,
            "authority": "kube-ca.pem", "image": IMAGE, "worker": "/run/image/falaj-worker",
            "worker_config": "/run/falaj-settings/worker.conf", "folder": "/tmp", **more})

    def there_of(self, job):
        """The Job of its newest run, as the cluster has it."""
        run = self.run_of(job)
        return next((j for j in self.kube.jobs() if run and j["metadata"]["name"] == run["external_id"]), None)

    def pods_of(self, job):
        run = self.run_of(job)
        return self.kube.pods(run["external_id"]) if run and run["external_id"] else []

    def node_of(self, job):
        """Of its first pod that runs."""
        return next((p["spec"]["nodeName"] for p in self.pods_of(job)
                     if p["status"]["phase"] == "Running" and "deletionTimestamp" not in p["metadata"]), None)

    def outcomes(self, job):
        return [r["outcome"] for r in reversed(self.runs()) if r["job_id"] == job and r["outcome"]]

    def train(self, **more):
        if not self.data:
            made = self.api.must("POST", "/v1/datasets", {"name": "digits", "label_column": "label", "classes": 10})
            self.data = made["dataset_id"]
            with open(os.path.join(SRC, "datasets/digits/digits.csv"), "rb") as f:
                self.api.must("POST", f"/v1/datasets/{self.data}/versions", f.read(), headers={"Content-Type": "text/csv"})
        spec = {"dataset_id": self.data, **SLOW, **more.pop("spec", {})}
        return self.submit(kind="train", spec=spec, slots=1, **more)

    def close(self, faults):
        self.kube.kept = bool(faults)
        self.kube.close()
        shutil.rmtree(self.credentials, ignore_errors=True)
        self.p.finish(faults)
