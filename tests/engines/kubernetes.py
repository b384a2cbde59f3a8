#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kubernetes.py - jobs of Falaj on machines that a real Kubernetes lends (docs/howto/kubernetes-engine.md), on loopback: etcd,
kube-apiserver with TLS and RBAC, kube-controller-manager and kube-scheduler. Only the kubelets are the test's (kube_node.py).

    runs       a job runs to COMPLETED; its token in no Job and no process, its pod closed, nothing left there afterwards
    doors      the same by a client certificate, and by `falaj engine add`; another authority and another namespace get nothing
    queue      an engine with a queue: this server would not keep spec.suspend (before 1.24), which is seen and nothing is stored;
               a later one keeps the Job suspended, as Kueue wants it
    gang       a training on two machines: half of it starts, waits and leaves, and nothing of the job runs before all are there
    waits      what Kubernetes says of a pod that it cannot place, of an image that is not there, and of a quota
    preempted  a pod that is deleted: SIGTERM, a checkpoint, another run; the model has the same bytes
    cancelled  of a job that waits there, and of one that runs
    ended      a limit of time; a Job deleted by the administrator; one whose digest was changed
    lost       a node whose kubelet died while its processes go on
    killed     each part of both sides is ended by SIGKILL at each step of a job
    half       the scheduler ends by SIGKILL between the Secret and the Job of a submission: no Secret is left
    sent       it does so at each submission of this drill, between the call and its record: found by its name

usage: tests/engines/kubernetes.py [STEP...]
Every job ends COMPLETED after exactly one attempt that ended well, but the cancelled ones, and the invariants hold."""
import json, os, signal, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import kube_rig
from engine_falaj import ENDED, drill, plain
from engine_kube import LONG_S, KubeRig
from kube_rig import NAMESPACE
from platform_falaj import BIN, until

JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"


def state_is(rig, job, *states):
    def look():
        j = rig.read(job)
        assert j["state"] in states or j["state"] not in ENDED, j
        return j if j["state"] in states else None
    return until(f"{job} {states}", look, LONG_S)


def says(rig, job, words):
    def look():
        j = rig.read(job)
        return j["reason"] == "Engine" and words in j["message"] and j["message"]
    return until(f"{words!r}", look, LONG_S)


def empty(rig):
    """Nothing of ours is left there."""
    secrets = f"/api/v1/namespaces/{NAMESPACE}/secrets?labelSelector=app.kubernetes.io/managed-by%3Dfalaj"
    return not rig.kube.jobs() and not rig.kube.pods() and not rig.kube.get(secrets).get("items")


def cancel(rig, job):
    rig.api.must("POST", f"/v1/jobs/{job}/cancel", {})
    rig.cancelled.add(plain(job))


def runs(rig):
    job = rig.submit(sleep_ms=1500)
    until("a machine of the engine", lambda: rig.machines("READY", "DRAINING"))
    there = json.dumps(rig.kube.jobs()) + json.dumps(rig.kube.pods())
    assert "FALAJ_NAMES" in there and "flj_join_" not in there, there
    for pid in until("its worker's process", lambda: workers(rig)):
        assert b"flj_join_" not in told_of(pid), pid
    rig.done(job, LONG_S)
    until("the run's end", lambda: rig.outcomes(job) == ["DONE"], LONG_S)
    until("the machine to be taken as gone", lambda: not rig.machines("READY", "DRAINING"))
    until("nothing left there", lambda: empty(rig), LONG_S)


def doors(rig):
    env = {**os.environ, "FALAJ_URL": rig.p.url, "FALAJ_TOKEN": rig.p.admin.token, "HOME": rig.kube.folder}
    words = [os.path.join(BIN, "falaj"), "engine", "add", "cert", rig.kube.url, "--kind", "kubernetes", "--zone", rig.zone,
             "--account", NAMESPACE, "--credential", "kube.pem", "--authority", "kube-ca.pem", "--image", kube_rig.IMAGE,
             "--machines", "1", "--worker", "/run/image/falaj-worker", "--worker-config", "/run/falaj-settings/worker.conf",
             "--nodes", "falaj.test/node=k2", "-o", "json"]
    r = subprocess.run(words, env=env, capture_output=True, text=True, timeout=180, check=False)
    assert r.returncode == 0, (r.stdout, r.stderr)
    engine = json.loads(r.stdout)
    job = rig.submit(pool="cert", sleep_ms=1500)
    until("its pod on the node that was named", lambda: any(p["spec"].get("nodeName") == "k2" for p in rig.kube.pods()), LONG_S)
    rig.done(job, LONG_S)
    assert rig.show(engine)["health"] == "UP", rig.show(engine)
    rig.secret("bad.token", "not.a.token\n")
    for name, words, more in (("wrong-ca", "certificate", {"authority": ""}), ("wrong-token", "401", {"credential": "bad.token"}),
                              ("wrong-place", "Forbidden", {"account": "default"})):
        g = rig.add(name, machines=1, **{"credential": "kube.token", **{k: v for k, v in more.items() if v}})\
            if more.get("authority") != "" else rig.p.admin.must("POST", "/v1/engines", {
                "name": name, "kind": "kubernetes", "zone": rig.zone, "address": rig.kube.url, "account": NAMESPACE,
                "credential": "kube.token", "image": kube_rig.IMAGE})
        lost = rig.submit(pool=name)
        said = until(name, lambda g=g: (s := rig.show(g))["health"] == "DOWN" and s["health_says"], LONG_S)
        assert words.lower() in said.lower(), said
        says(rig, lost, f"Engine {name}:")
        cancel(rig, lost)
        print(f"doors: {name}: {said!r}")


def queue(rig):
    g = rig.add("queued", credential="kube.token", machines=1, place="night")
    job = rig.submit(pool="queued")
    minor = rig.kube.minor
    if minor < 21:
        said = until("its health", lambda: (s := rig.show(g))["health"] == "DOWN" and s["health_says"], LONG_S)
        assert "spec.suspend" in said and "1.24" in said, said
        says(rig, job, "Engine queued:")
        assert not any("kueue.x-k8s.io/queue-name" in j["metadata"]["labels"] for j in rig.kube.jobs())
        assert rig.p.sql_text("SELECT sum(r.tries) FROM engine_run r JOIN engine g USING (engine_id)"
                              " WHERE g.name = 'queued'") == "0"
        print(f"queue: 1.{minor}: {said!r}")
    else:
        says(rig, job, "not admitted by its queue")
        print(f"queue: 1.{minor} keeps it suspended")
    cancel(rig, job)


def gang(rig):
    spec = {"epochs": 4, "accumulate": 4}
    one = rig.train(spec=spec)
    rig.done(one, LONG_S)
    for name in rig.kube.nodes[1:]:
        rig.kube.kubectl("cordon", name)
    blocker = hold(rig, rig.kube.nodes[0], "10Gi")               # of 16: room for one member alone
    job = rig.train(spec=spec, nodes={"min": 2, "max": 2}, memory_bytes=6 << 30, force_queue=True)
    said = says(rig, job, "1 of 2 started")
    until("half a gang to leave", lambda: rig.outcomes(job), LONG_S)
    assert not rig.began(job), rig.attempts(job)
    for name in rig.kube.nodes[1:]:
        rig.kube.kubectl("uncordon", name)
    free(rig, blocker)
    rig.done(job, LONG_S)
    members = rig.p.sql("SELECT n.name, m.state FROM attempt_member m JOIN node n USING (node_id)"
                        f" JOIN attempt a USING (attempt_id) WHERE a.job_id = '{plain(job)}' AND a.state = 'SUCCEEDED'")
    assert rig.began(job) == 1, rig.attempts(job)
    assert len({m[0] for m in members}) == 2 and {m[1] for m in members} == {"SUCCEEDED"}, members
    assert rig.digest(job) == rig.digest(one), "the gang's model differs from that of one machine"
    print(f"gang: {said!r}, then {rig.outcomes(job)}")


def hold(rig, node, memory):
    """A pod of somebody else's that has so much memory of a node; it runs nothing."""
    name = f"other-{time.time_ns()}"
    rig.kube.must("POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": name}, "spec": {
        "nodeName": node, "automountServiceAccountToken": False, "containers": [{
            "name": "c", "image": "none", "resources": {"requests": {"memory": memory}, "limits": {"memory": memory}}}]}})
    return name


def free(rig, name):
    rig.kube.must("DELETE", f"/api/v1/namespaces/default/pods/{name}", {"kind": "DeleteOptions", "apiVersion": "v1",
                                                                       "gracePeriodSeconds": 0})


def waits(rig):
    job = rig.submit(gpus=2, slots=1, force_queue=True)     # each node has one
    print("waits:", repr(says(rig, job, "Insufficient nvidia.com/gpu")))
    cancel(rig, job)
    until("its end there", lambda: not rig.pods_of(job), LONG_S)
    g = rig.add("no-image", credential="kube.token", machines=1, image="registry.example/other@sha256:" + "0b" * 32)
    job = rig.submit(pool=g["name"])
    print("waits:", repr(says(rig, job, "ImagePullBackOff")))
    cancel(rig, job)
    until("nothing left there", lambda: empty(rig), LONG_S)
    rig.kube.must("POST", f"/api/v1/namespaces/{NAMESPACE}/resourcequotas", {"metadata": {"name": "q"}, "spec": {
        "hard": {"count/jobs.batch": "0"}}})
    job = rig.submit()
    said = until("the quota", lambda: (s := rig.show())["health"] == "DOWN" and s["health_says"], LONG_S)
    assert "exceeded quota" in said, said
    rig.kube.must("DELETE", f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/q")
    rig.done(job, LONG_S)
    print("waits:", repr(said))


def preempted(rig):
    want = rig.digest(rig.done(rig.train(), LONG_S)["job_id"])
    job = rig.train()
    state_is(rig, job, "RUNNING")
    until("a checkpoint", lambda: rig.kept(job) or rig.read(job)["state"] in ENDED, LONG_S)
    pod = rig.pods_of(job)[0]["metadata"]["name"]
    rig.kube.must("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}")
    rig.done(job, LONG_S)
    assert rig.digest(job) == want, "other bytes"
    tries = rig.attempts(job)
    assert rig.began(job) == 2 and [t[1] for t in tries].count("SUCCEEDED") == 1, tries
    assert rig.went_on(job), "it did not go on from its checkpoint"
    print(f"preempted: attempts {tries}, runs {rig.outcomes(job)}")


def cancelled(rig):
    for name in rig.kube.nodes:
        rig.kube.kubectl("cordon", name)
    job = rig.submit()
    says(rig, job, "unschedulable")
    cancel(rig, job)
    until("nothing left there", lambda: empty(rig), LONG_S)
    until("its run's end", lambda: not rig.runs("WANTED", "SENT"), LONG_S)
    for name in rig.kube.nodes:
        rig.kube.kubectl("uncordon", name)
    job = rig.submit(sleep_ms=300000)
    state_is(rig, job, "RUNNING")
    cancel(rig, job)
    state_is(rig, job, "CANCELLED")
    until("nothing left there", lambda: empty(rig), LONG_S)


def ended(rig):
    job = rig.submit(sleep_ms=8000)
    state_is(rig, job, "RUNNING")
    name = rig.run_of(job)["external_id"]
    rig.kube.must("DELETE", f"{JOBS}/{name}", {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"})
    rig.done(job, LONG_S)
    assert rig.began(job) == 2, rig.attempts(job)
    job = rig.submit(sleep_ms=8000)
    state_is(rig, job, "RUNNING")
    rig.kube.must("PATCH", f"{JOBS}/{rig.run_of(job)['external_id']}", {"metadata": {"annotations": {"falaj/digest": "another"}}},
                  "application/merge-patch+json")
    rig.done(job, LONG_S)
    assert rig.outcomes(job)[0] == "DIFFERS", rig.runs()
    job = rig.submit(sleep_ms=8000)
    state_is(rig, job, "RUNNING")
    pid = workers(rig)[0]
    os.kill(pid, signal.SIGKILL)
    rig.done(job, LONG_S)
    assert rig.outcomes(job)[0] == "FAILED", rig.runs()
    assert [r["says"].split()[-1] for r in rig.runs() if r["job_id"] == job and r["outcome"] == "FAILED"] == ["Error/137"]


def lost(rig):
    job = rig.submit(sleep_ms=60000)
    state_is(rig, job, "RUNNING")
    node = rig.node_of(job)
    rig.kube.kill(node)                                 # its processes work on
    until("the run's end", lambda: rig.outcomes(job), LONG_S)
    assert rig.outcomes(job)[0] == "LOST", rig.runs()
    rig.done(job, LONG_S)
    assert [t[1] for t in rig.attempts(job)].count("SUCCEEDED") == 1, rig.attempts(job)
    rig.kube.start_node(node)
    until("nothing left there", lambda: empty(rig), LONG_S)
    print(f"lost: attempts of the one left behind {rig.attempts(job)}")


def told_of(pid):
    """Words and variables of a process and of the one that began it."""
    def read(path):
        try:
            with open(path, "rb") as f:
                return f.read()
        except OSError:
            return b""
    parent = read(f"/proc/{pid}/stat").rsplit(b")", 1)[-1].split()
    return b"".join(read(f"/proc/{p}/{x}") for p in (pid, int(parent[1]) if parent else pid) for x in ("cmdline", "environ"))


def workers(rig):
    """falaj-worker of this cluster's pods, as this machine numbers them."""
    out = subprocess.run(["ps", "axww", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    def is_ours(pid):
        try:
            return os.path.samefile(f"/proc/{pid}/exe", rig.kube.path("bin/falaj-worker"))
        except OSError:
            return False
    rows = [x.split(None, 1) for x in out.splitlines()]
    return [int(pid) for pid, args in rows if args.startswith("/run/image/falaj-worker --config") and is_ours(pid)]


STEPS = (("written down", lambda rig, job: rig.run_of(job)),
         ("sent", lambda rig, job: (r := rig.run_of(job)) and r["state"] == "SENT"),
         ("known there", lambda rig, job: rig.there_of(job)),
         ("a machine", lambda rig, job: rig.machines("READY", "DRAINING")),
         ("runs", lambda rig, job: rig.read(job)["state"] == "RUNNING"))


def kill_ours(rig, what):
    pid = rig.p.pids().get(what)
    if pid:
        os.kill(pid, signal.SIGKILL)


def kill_worker(rig, _):
    for pid in workers(rig):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_theirs(rig, what):
    rig.kube.kill(what)
    {"etcd": rig.kube.start_etcd, "kube-apiserver": rig.kube.start_api, "kube-controller-manager": rig.kube.start_manager,
     "kube-scheduler": rig.kube.start_scheduler}.get(what, lambda: rig.kube.start_node(what))()


VICTIMS = (("scheduler", kill_ours), ("api", kill_ours), ("kube-apiserver", kill_theirs), ("etcd", kill_theirs),
           ("kube-controller-manager", kill_theirs), ("kube-scheduler", kill_theirs), ("k1", kill_theirs),
           ("falaj-worker", kill_worker))


def killed(rig):
    for what, kill in VICTIMS:
        jobs, t0 = [], time.time()
        for step, reached in STEPS:
            job = rig.submit(sleep_ms=1500)
            until(f"{job}: {step}", lambda: reached(rig, job) or rig.read(job)["state"] in ENDED, LONG_S)
            kill(rig, what)
            jobs.append(job)
        for job in jobs:
            rig.done(job, LONG_S)
        print(f"killed: {what} at {len(STEPS)} steps, {time.time() - t0:.0f} s", flush=True)
    until("nothing left there", lambda: empty(rig), LONG_S)


def half(rig):
    fell = rig.falls()
    for _ in range(3):                                  # one behind another: a machine of one may take the job of the next
        rig.done(rig.submit(), LONG_S)
    assert rig.falls() > fell, "the scheduler did not fall"
    assert max(r["tries"] for r in rig.runs()) == 2, rig.runs()
    until("nothing left there", lambda: empty(rig), LONG_S)


def sent(rig):
    fell = rig.falls()
    for _ in range(3):
        rig.done(rig.submit(), LONG_S)
    assert rig.falls() > fell, "the scheduler did not fall"
    assert max(r["tries"] for r in rig.runs()) == 1, rig.runs()
    until("nothing left there", lambda: empty(rig), LONG_S)


ALL = (runs, doors, queue, gang, waits, preempted, cancelled, ended, lost, killed)


def these(*steps):
    return [s for s in steps if not sys.argv[1:] or s.__name__ in sys.argv[1:]]


def main():
    kube_rig.programs()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))      # what it started ends, too
    drill(KubeRig, these(*ALL))
    drill(KubeRig, these(half), faults="engine_half:2")
    drill(KubeRig, these(sent), faults="engine_sent:1")


if __name__ == "__main__":
    main()
