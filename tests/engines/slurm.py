#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slurm.py - jobs of Falaj on machines that a real Slurm lends (docs/howto/slurm.md), on loopback:

    runs       a job runs through Slurm to COMPLETED, its token in no place that Slurm shows, its machine gone afterwards
    forgotten  kill -9 of slurmctld right after a submission: what it forgets is submitted again, what it kept is not
    killed     the scheduler ends by SIGKILL at each submission of this test, between the call and its record: the next one
               finds what was taken by its name
    down       slurmrestd away: jobs wait and say so, and go on when it is back
    cancelled  a job that waits at Slurm and is cancelled leaves nothing there

All jobs end COMPLETED after exactly one attempt that ran, but the cancelled one. slurm_full.py has the rest."""
import os, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from engine_falaj import Rig, plain
from platform_falaj import until


def main():
    rig = Rig(faults="engine_sent:1")
    faults = []
    for step in (runs, forgotten, killed, down, cancelled):
        t0 = time.time()
        try:
            step(rig)
            print(f"{step.__name__}: {time.time() - t0:.1f} s", flush=True)
        except (AssertionError, SystemExit, RuntimeError) as x:
            faults.append(f"{step.__name__}: {x!r}")
            break
    if not faults:
        faults = rig.check()
    for f in faults:
        print("FAULT", f)
    rig.close(faults)


def runs(rig):
    job = rig.submit(sleep_ms=1500)
    until("a machine of the engine", lambda: rig.machines("READY", "DRAINING"))
    held = "".join(rig.slurm.run("scontrol", "show", "job", i) + rig.slurm.run("scontrol", "write", "batch_script", i, "-")
                   for i, _, _ in rig.slurm.jobs())
    assert "FALAJ_NAMES" in held and "flj_join_" not in held, held
    assert "flj_join_" not in os.popen("ps axeww -o args | grep -v grep | grep falaj-worker").read().split("FALAJ_")[0]
    rig.done(job)
    until("the run's end", lambda: [r["outcome"] for r in rig.runs()] == ["DONE"])
    until("the machine to be taken as gone", lambda: not rig.machines("READY", "DRAINING"))
    left = [x for x in os.listdir(rig.slurm.folder + "/scratch") if x.startswith("falaj-")]
    assert not left, left


def forgotten(rig):
    jobs = [rig.submit() for _ in range(3)]
    until("a submission", lambda: len(rig.runs("SENT")) >= 1)
    rig.slurm.kill("slurmctld")
    time.sleep(0.2)
    rig.slurm.start_ctld()
    for j in jobs:
        rig.done(j)


def killed(rig):
    fell = rig.falls()
    rig.done(rig.submit())
    assert rig.falls() > fell >= 4, (fell, rig.falls())
    assert all(r["tries"] == 1 for r in rig.runs() if r["job_id"] == rig.submitted[-1]), rig.runs()


def down(rig):
    rig.slurm.kill("slurmrestd")
    job = rig.submit()
    says = until("the reason", lambda: (j := rig.api.must("GET", f"/v1/jobs/{job}"))["reason"] == "Engine" and j["message"])
    assert rig.engine["name"] in says, says
    assert rig.show()["health"] == "DOWN"
    rig.slurm.start_rest()
    rig.done(job)
    until("health", lambda: rig.show()["health"] == "UP")


def cancelled(rig):
    rig.slurm.run("scontrol", "update", "partitionname=low", "state=down")
    job = rig.submit()
    until("Slurm to have it wait", lambda: any(s == "PENDING" for _, _, s in rig.slurm.jobs()))
    until("its word", lambda: "waiting" in rig.api.must("GET", f"/v1/jobs/{job}")["message"])
    rig.api.must("POST", f"/v1/jobs/{job}/cancel", {})
    until("its end at Slurm", lambda: not any(s == "PENDING" for _, _, s in rig.slurm.jobs()))
    until("its run's end", lambda: not rig.runs("WANTED", "SENT"))
    rig.slurm.run("scontrol", "update", "partitionname=low", "state=up")
    rig.cancelled.add(plain(job))


if __name__ == "__main__":
    main()
