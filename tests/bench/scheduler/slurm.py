#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slurm.py - no-op jobs from submission to end: a tuned Slurm and Falaj in turns in one run.

Slurm is Debian's, with one node that says it has 64 processors, munge, no accounting and no prolog; its scheduler is told to look
often, at many jobs, and to start many at once (TUNED). Jobs are submitted through its library over one connection. Falaj has 64
slots, PostgreSQL with fsync, its audit log, quotas and fences; jobs are submitted one by one over 64 connections, as in api.py.
Slurm starts /bin/true by a script, Falaj's worker a program that does nothing. The one that has no turn has nothing to do.
Prints one JSON line a figure; the ratio is that of each turn's rates. Not a test: no figure fails.
Needs wrk and Slurm (deploy/install-deps.sh --test), and libslurm-dev, which nothing else needs.

usage: tests/bench/scheduler/slurm.py [--turns N] [--jobs N] [--seconds N]"""
import argparse, os, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
for at in ("../../lib", ".."):
    sys.path.insert(0, os.path.join(HERE, at))
from api import age_wal, figure, one_e2e
from platform_falaj import Platform, log
from slurm_rig import Slurm

CPUS, PATIENCE_S = 64, 600
TUNED = ("defer,batch_sched_delay=0,sched_min_interval=50000,sched_interval=1,sched_max_job_start=500,"
         "default_queue_depth=1000,max_rpc_cnt=150,bf_interval=5,bf_max_job_test=1000,bf_continue")


class Tuned(Slurm):
    """The rig's Slurm with one node, without limits of memory, and with the scheduler tuned."""

    def __init__(self):
        super().__init__(nodes=1)

    def conf(self):
        lines = super().conf().splitlines()
        mine = {"SelectTypeParameters": "CR_CPU", "SchedulerParameters": TUNED, "MinJobAge": "10", "SlurmctldDebug": "error",
                "SlurmdDebug": "error", "ProctrackType": "proctrack/pgid", "PreemptType": "preempt/none", "PreemptMode": "OFF"}
        lines = [f"{k}={mine[k]}" if (k := x.split("=", 1)[0]) in mine else x for x in lines]
        return "\n".join(x.replace("CPUs=8", f"CPUs={CPUS}").replace("CoresPerSocket=8", f"CoresPerSocket={CPUS}")
                         for x in lines) + "\nMaxJobCount=100000\n"


def built(folder):
    """slurm_submit, or what is missing for it."""
    program = os.path.join(folder, "slurm_submit")
    for path, package in (("/usr/include/slurm/slurm.h", "libslurm-dev"), ("/usr/sbin/slurmctld", "slurm-wlm"),
                          ("/usr/bin/wrk", "wrk")):
        if not os.path.exists(path):
            raise SystemExit(f"slurm.py: {path} is missing; apt-get install {package}")
    subprocess.run(["cc", "-O2", "-o", program, os.path.join(HERE, "slurm_submit.c"), "-lslurm"], check=True)
    return program


def known(slurm, states):
    """Slurm's jobs of these states; an answer that fails is none."""
    r = subprocess.run(["squeue", "-h", "-t", states, "-o", "%i"], env=slurm.env, capture_output=True, text=True, **slurm.account)
    return r.stdout.split() if r.returncode == 0 else [r.stderr.strip()]


def of_slurm(slurm, program, n):
    began = time.monotonic()
    r = subprocess.run([program, str(n), slurm.folder], env=slurm.env, capture_output=True, text=True, timeout=PATIENCE_S,
                       **slurm.account)
    if r.returncode:
        raise SystemExit(f"slurm_submit: {r.stderr.strip()}")
    while known(slurm, "PD,R,CF,CG"):
        if time.monotonic() - began > PATIENCE_S:
            raise SystemExit(f"Slurm did not end {n} jobs within {PATIENCE_S} s")
        time.sleep(0.1)
    took = time.monotonic() - began
    if wrong := known(slurm, "F,NF,TO,CA,BF,OOM"):
        raise SystemExit(f"Slurm's jobs did not end well: {wrong[:5]}")
    return {"rate": n / took, "submit_rate": n / float(r.stdout)}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--turns", type=int, default=3)
    ap.add_argument("--jobs", type=int, default=600, help="of Slurm in a turn")
    ap.add_argument("--seconds", type=int, default=5, help="for which jobs are submitted to Falaj in a turn")
    a = ap.parse_args()
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = built(folder)
        slurm, p = Tuned(), Platform(args=("--slots", str(CPUS)))
        p.zone()
        p.wait_node()
        tokens = [p.tenant(f"bench-{i}")[1].token for i in range(CPUS)]
        age_wal(p)
        for _ in range(a.turns):
            theirs.append(of_slurm(slurm, program, a.jobs))
            ours.append(one_e2e(p, tokens, a.seconds))
            if ours[-1]["bad"]:
                log("submissions that failed:", ours[-1]["bad"])
            log(f"slurm {theirs[-1]['rate']:.1f}, falaj {ours[-1]['rate']:.1f} jobs/s, load {os.getloadavg()[0]:.1f}")
        p.close()
        slurm.close()
    ratios = [x["rate"] / y["rate"] for x, y in zip(ours, theirs)]
    figure("slurm.tuned.rate", statistics.median(x["rate"] for x in theirs), "jobs/s", runs=[round(x["rate"], 1) for x in theirs],
           submit_rate=round(statistics.median(x["submit_rate"] for x in theirs)), jobs=a.jobs)
    figure("slurm.falaj.rate", statistics.median(x["rate"] for x in ours), "jobs/s", runs=[round(x["rate"]) for x in ours],
           jobs=[x["jobs"] for x in ours])
    figure("slurm.ratio", statistics.median(ratios), "Falaj / Slurm", least=round(min(ratios), 1), most=round(max(ratios), 1),
           load=round(os.getloadavg()[0], 1))


if __name__ == "__main__":
    main()
