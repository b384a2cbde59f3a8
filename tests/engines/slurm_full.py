#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slurm_full.py - what a real Slurm does to jobs of Falaj besides running them, on loopback:

    doors       the same Slurm as two more engines: by slurmrestd's Unix socket without a token, and through a front with TLS
                whose authority is a file; a front of another authority gets nothing
    once        more short jobs than machines: each machine gets one lease and no second (rig.check looks at every drill's)
    gang        a training on two machines: while Slurm has one node free none of it starts; then one attempt and one fence
    preempted   Slurm takes a training's node for a job of a higher partition: it is asked for anew, its model has the same bytes
    requeued    a job that Slurm put back into its queue is no machine any more: asked for anew before Slurm begins it again
    cancelled   scancel by Slurm's administrator, of a job that waits there and of one that runs
    changed     a time limit that the administrator lowered: not what was sent
    limit       Slurm's time limit ends a machine while slurmrestd is away
    down        a node set DOWN, and a slurmd that is killed while its processes go on
    begun       the scheduler ends by SIGKILL between the record of a submission and the call
    killed      each part of both sides is ended by SIGKILL at each step of a job; killed_api and so on: of one part

usage: tests/engines/slurm_full.py [STEP...]
Every job ends COMPLETED after exactly one attempt that ended well, and the invariants hold."""
import functools, json, os, shutil, signal, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from engine_falaj import ENDED, Rig, drill, plain
from platform_falaj import BIN, SRC, until
from tls_front import Front, authority

SLOW = {"epochs": 200, "hidden": [64, 64], "batch_size": 16, "seed": 7, "checkpoint_every": 1}
LONG_S = 900


def train(rig, **more):
    if not rig.data:
        rig.data = rig.api.must("POST", "/v1/datasets", {"name": "digits", "label_column": "label", "classes": 10})["dataset_id"]
        with open(os.path.join(SRC, "datasets/digits/digits.csv"), "rb") as f:
            rig.api.must("POST", f"/v1/datasets/{rig.data}/versions", f.read(), headers={"Content-Type": "text/csv"})
    spec = {"dataset_id": rig.data, **SLOW, **more.pop("spec", {})}
    return rig.submit(kind="train", spec=spec, slots=1, **more)


def state_is(rig, job, *states):
    """Its record once it is in one of the states; one that ended otherwise is a fault."""
    def look():
        j = rig.read(job)
        assert j["state"] in states or j["state"] not in ENDED, j
        return j if j["state"] in states else None
    return until(f"{job} {states}", look, LONG_S)


def there(rig, job):
    """Slurm's own words about the object of the job's newest run."""
    run = rig.run_of(job)
    return rig.slurm.show(run["external_id"]) if run and run["external_id"] else {}


def running(rig, job):
    """The node it runs on at Slurm, once its lease has begun there."""
    state_is(rig, job, "RUNNING")
    return until("Slurm's word for it", lambda: (s := there(rig, job)).get("JobState") == "RUNNING" and s["NodeList"])


def outcomes(rig, job):
    return [r["outcome"] for r in reversed(rig.runs()) if r["job_id"] == job and r["outcome"]]


def falaj(rig, *words):
    """What the command says, as JSON."""
    env = {**os.environ, "FALAJ_URL": rig.p.url, "FALAJ_TOKEN": rig.p.admin.token, "HOME": rig.slurm.folder}
    r = subprocess.run([os.path.join(BIN, "falaj"), *words, "-o", "json"], env=env, capture_output=True, text=True, timeout=180)
    assert r.returncode == 0, (words, r.stdout, r.stderr)
    return json.loads(r.stdout)


def doors(rig):
    rig.slurm.start_local()
    local = rig.add("local", f"unix:{rig.slurm.path('run/rest')}", machines=1)
    folder = tempfile.mkdtemp(prefix="falaj-front-")
    try:
        ca, pem = authority(folder, "own")
        other, _ = authority(folder, "other")
        for name, path in (("own-ca.pem", ca), ("other-ca.pem", other)):
            with open(path, encoding="utf-8") as f:
                rig.secret(name, f.read())
        front = Front(pem, rig.slurm.ports["rest"])
        address = f"https://localhost:{front.port}"
        far = falaj(rig, "engine", "add", "far", address, "--zone", rig.zone, "--account", rig.slurm.user,
                    "--credential", "hpc.jwt", "--authority", "own-ca.pem", "--machines", "1",
                    "--worker", rig.slurm.path("bin/falaj-worker"),
                    "--worker-config", rig.slurm.path("etc/worker.conf"), "--folder", rig.slurm.path("scratch"))
        wrong = rig.add("wrong", address, credential="hpc.jwt", authority="other-ca.pem", machines=1)
        for engine in (local, far):
            rig.done(rig.submit(pool=engine["name"]), LONG_S)
            shown = rig.show(engine)
            assert shown["health"] == "UP" and not shown["health_says"], shown
        assert front.calls > 2, front.calls
        assert {"hpc", "local", "far"} <= {g["name"] for g in falaj(rig, "engine", "list")["data"]}
        assert falaj(rig, "engine", "runs", far["engine_id"])["data"][0]["outcome"] in ("", "DONE")
        lost = rig.submit(pool="wrong")
        says = until("the wrong authority", lambda: (g := rig.show(wrong))["health"] == "DOWN" and g["health_says"], LONG_S)
        until("its job to say so", lambda: rig.read(lost)["reason"] == "Engine", LONG_S)
        assert "certificate" in says.lower() or "tls" in says.lower(), says
        rig.api.must("POST", f"/v1/jobs/{lost}/cancel", {})
        rig.cancelled.add(plain(lost))
        print(f"doors: of another authority: {says!r}")
    finally:
        front.close()
        shutil.rmtree(folder, ignore_errors=True)


def once(rig):
    for job in [rig.submit(sleep_ms=100) for _ in range(12)]:
        rig.done(job, LONG_S)


def gang(rig):
    others = [rig.slurm.other("--exclusive", "-N", "1") for _ in range(3)]
    until("others on three nodes", lambda: sum(s == "RUNNING" for i, _, s in rig.slurm.jobs() if i in others) == 3)
    one, spec = None, {"epochs": 4, "accumulate": 4}
    job = train(rig, nodes={"min": 2, "max": 2}, spec=spec)
    until("Slurm to have it waiting", lambda: there(rig, job).get("JobState") == "PENDING")
    says = until("the reason", lambda: (j := rig.read(job))["reason"] == "Engine" and "Resources" in j["message"]
                 and j["message"])
    assert there(rig, job)["NumNodes"].startswith("2") and not rig.machines("READY", "DRAINING"), there(rig, job)
    one = train(rig, spec=spec)                         # of one machine: it goes first into what is free
    rig.done(one, LONG_S)
    assert not rig.attempts(job), rig.attempts(job)     # none of its machines began meanwhile
    for i in others:
        rig.slurm.run("scancel", i)
    rig.done(job, LONG_S)
    members = rig.p.sql("SELECT n.name, m.state FROM attempt_member m JOIN node n USING (node_id)"
                        f" JOIN attempt a USING (attempt_id) WHERE a.job_id = '{plain(job)}' AND a.state = 'SUCCEEDED'")
    assert rig.began(job) == 1, rig.attempts(job)
    assert len({m[0] for m in members}) == 2 and {m[1] for m in members} == {"SUCCEEDED"}, members
    assert rig.run_of(job)["tries"] == 1, rig.runs()
    assert rig.digest(job) == rig.digest(one), "the gang's model differs from that of one machine"
    print(f"gang: waited as {says!r}")


def preempted(rig):
    want = rig.digest(rig.done(train(rig), LONG_S)["job_id"])
    job = train(rig)
    node = running(rig, job)
    until("a checkpoint", lambda: rig.kept(job) or rig.read(job)["state"] in ENDED)
    urgent = rig.slurm.other("-p", "high", "-w", node, "--exclusive")
    until("Slurm to give its node away", lambda: (rig.slurm.show(urgent).get("JobState") == "RUNNING"))
    rig.done(job, LONG_S)
    assert rig.slurm.show(urgent)["JobState"] == "RUNNING", "it was to go on elsewhere"
    rig.slurm.run("scancel", urgent)
    assert rig.digest(job) == want, "other bytes"
    tries = rig.attempts(job)
    assert rig.began(job) == 2 and [t[1] for t in tries].count("SUCCEEDED") == 1, tries
    assert rig.went_on(job), "it did not go on from its checkpoint"
    print(f"preempted: attempts {tries}, runs {outcomes(rig, job)}")


def requeued(rig):
    job = rig.submit(sleep_ms=8000)
    running(rig, job)
    first = rig.run_of(job)["external_id"]
    rig.slurm.run("scontrol", "requeue", first)
    rig.done(job, LONG_S)
    assert outcomes(rig, job)[0] == "REQUEUED", rig.runs()
    assert rig.slurm.show(first)["JobState"] == "CANCELLED", rig.slurm.show(first)     # Slurm never began it again


def cancelled(rig):
    rig.slurm.run("scontrol", "update", "partitionname=low", "state=down")
    job = rig.submit()
    until("it waits there", lambda: there(rig, job).get("JobState") == "PENDING")
    rig.slurm.run("scancel", rig.run_of(job)["external_id"])
    until("the run's end", lambda: outcomes(rig, job))
    rig.slurm.run("scontrol", "update", "partitionname=low", "state=up")
    rig.done(job, LONG_S)
    assert outcomes(rig, job)[0] == "CANCELLED", rig.runs()
    job = rig.submit(sleep_ms=8000)
    running(rig, job)
    rig.slurm.run("scancel", rig.run_of(job)["external_id"])
    rig.done(job, LONG_S)
    assert outcomes(rig, job)[0] == "CANCELLED" and rig.began(job) == 2, (outcomes(rig, job), rig.attempts(job))


def changed(rig):
    job = rig.submit(sleep_ms=8000)
    running(rig, job)
    rig.slurm.run("scontrol", "update", f"jobid={rig.run_of(job)['external_id']}", "timelimit=2")
    rig.done(job, LONG_S)
    assert outcomes(rig, job)[0] == "DIFFERS", rig.runs()


def limit(rig):
    job = rig.submit(sleep_ms=300000)
    running(rig, job)
    rig.slurm.kill("slurmrestd")
    first = rig.run_of(job)["external_id"]
    rig.slurm.run("scontrol", "update", f"jobid={first}", "timelimit=1")
    until("Slurm's limit", lambda: rig.slurm.show(first).get("JobState") == "TIMEOUT", LONG_S)
    rig.slurm.start_rest()
    until("the run's end", lambda: outcomes(rig, job) == ["TIMEOUT"], LONG_S)
    until("its second machine", lambda: rig.read(job)["state"] == "RUNNING" and rig.began(job) == 2, LONG_S)
    rig.api.must("POST", f"/v1/jobs/{job}/cancel", {})
    state_is(rig, job, "CANCELLED")
    rig.cancelled.add(plain(job))


def down(rig):
    job = rig.submit(sleep_ms=8000)
    node = running(rig, job)
    rig.slurm.run("scontrol", "update", f"nodename={node}", "state=down", "reason=drill")
    rig.done(job, LONG_S)
    assert outcomes(rig, job)[0] in ("REQUEUED", "LOST"), rig.runs()
    rig.slurm.run("scontrol", "update", f"nodename={node}", "state=resume")
    job = rig.submit(sleep_ms=60000)
    node = running(rig, job)
    rig.slurm.kill(node)                                # its processes are left behind and work on
    until("Slurm to give the node up", lambda: outcomes(rig, job), LONG_S)
    assert outcomes(rig, job)[0] in ("REQUEUED", "LOST"), rig.runs()
    rig.done(job, LONG_S)
    assert [t[1] for t in rig.attempts(job)].count("SUCCEEDED") == 1, rig.attempts(job)
    rig.slurm.start_node(node)
    until("the node", lambda: "n" in node and rig.slurm.run("sinfo", "-h", "-n", node, "-o", "%t").strip() == "idle", LONG_S)
    print(f"down: attempts of the one left behind {rig.attempts(job)}")


def begun(rig):
    fell = rig.falls()
    jobs = [rig.submit() for _ in range(3)]
    for job in jobs:
        rig.done(job, LONG_S)
    assert rig.falls() > fell, "the scheduler did not fall"
    assert max(rig.run_of(job)["tries"] for job in jobs) == 2, rig.runs()


STEPS = (("written down", lambda rig, job: rig.run_of(job)),
         ("sent", lambda rig, job: (r := rig.run_of(job)) and r["state"] == "SENT"),
         ("known there", lambda rig, job: (r := rig.run_of(job)) and r["external_id"]),
         ("a machine", lambda rig, job: (r := rig.run_of(job)) and any(
             n["name"] in r["machine_names"].split(", ") for n in rig.machines("READY", "DRAINING"))),
         ("runs", lambda rig, job: rig.read(job)["state"] == "RUNNING"))


def pids(*words):
    """Of this Slurm's account and folder alone."""
    out = subprocess.run(["ps", "axeww", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [int(x.split()[0]) for x in out.splitlines() if all(w in x for w in words)]


def kill_there(rig, what):
    n = 0
    for pid in pids(what, rig.slurm.folder):
        try:
            os.kill(pid, signal.SIGKILL)
            n += 1
        except ProcessLookupError:
            pass
    return n > 0


def kill_ours(rig, what):
    pid = rig.p.pids().get(what)
    if pid:
        os.kill(pid, signal.SIGKILL)
    return bool(pid)


def kill_slurm(rig, what):
    rig.slurm.kill(what)
    {"slurmctld": rig.slurm.start_ctld, "slurmrestd": rig.slurm.start_rest}.get(what, lambda: rig.slurm.start_node(what))()
    return True


VICTIMS = (("scheduler", kill_ours), ("api", kill_ours), ("slurmctld", kill_slurm), ("slurmrestd", kill_slurm),
           ("n1", kill_slurm), ("falaj-worker", kill_there), ("slurmstepd", kill_there))


def killed(what, kill):
    """A part of the drill: killed_api, … A process of a machine is there from the fourth step on; at the last one it has the
    lease for long enough to be met. Without its worker the job has to begin anew; without slurmstepd the worker goes on."""
    def part(rig):
        jobs, kills = [], 0
        for step, reached in STEPS:
            job = rig.submit(sleep_ms=30000 if kill is kill_there and step == STEPS[-1][0] else 1500)
            until(f"{job}: {step}", lambda: reached(rig, job) or rig.read(job)["state"] in ENDED)
            kills += kill(rig, what)
            jobs.append(job)
        for job in jobs:
            rig.done(job, LONG_S)
        assert kills, f"nothing was killed: there was no {what}"
        assert what != "falaj-worker" or rig.began(jobs[-1]) > 1, rig.attempts(jobs[-1])
        print(f"killed: {what} at {len(STEPS)} steps, there at {kills}; attempts that began "
              f"{[rig.began(j) for j in jobs]} of {[len(rig.attempts(j)) for j in jobs]}", flush=True)
    part.__name__ = f"killed_{what}"
    return part


def main():
    wanted = sys.argv[1:]
    rig = functools.partial(Rig, same_account=True)
    def these(*steps):
        return [s for s in steps if not wanted or s.__name__ in wanted or s.__name__.split("_")[0] in wanted]
    drill(rig, these(doors, once, gang, preempted, requeued, cancelled, changed, limit, down))
    drill(rig, these(begun), faults="engine_begun:2")
    drill(rig, these(*(killed(*v) for v in VICTIMS)))


if __name__ == "__main__":
    main()
