#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""resume.py - kill -9 of a training's process and of its worker at random points, and a job of a higher class that sends it
away: the model has the same bytes. The same of a batch, and its result.

usage: tests/faults/resume.py [--kills N] [--seed N]
The worker that goes on is another process without any file of the one that was killed: its folder is emptied between. A kill is
done once the job has kept a checkpoint. At the end no checkpoint is left, and the invariants hold. Exit 0 only then."""
import argparse, json, os, random, shutil, signal, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import Platform, is_full, log, share
from platform_falaj import until as until_within

COPIES = 20                              # of the digits, in the table of a batch
SPEC = {"epochs": 400, "hidden": [64, 64], "batch_size": 16, "seed": 7, "checkpoint_every": 1}
VICTIMS = ("child", "worker")
OVER = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "REJECTED")


def until(what, condition):
    """A run of minutes on a busy machine; nothing is promised by it."""
    return until_within(what, condition, 1200)


def children(pid):
    return [int(x) for x in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()]


def submit(api, work):
    kind, spec = work
    job = {"name": "resumed", "kind": kind, "spec": spec, "max_attempts": 10}
    return api.must("POST", "/v1/jobs", job, key=os.urandom(8).hex())["job_id"]


def upload(api, name, text, **more):
    data = api.must("POST", "/v1/datasets", {"name": name, **more})["dataset_id"]
    api.must("POST", f"/v1/datasets/{data}/versions", text, headers={"Content-Type": "text/csv"})
    return data


def plain(job_id):
    return job_id.split("_")[1]


def ended(api, job):
    j = api.must("GET", f"/v1/jobs/{job}")
    return j if j["state"] in OVER else None


def digest(p, job):
    return p.sql_text("SELECT encode(o.sha256, 'hex') FROM job_object j JOIN object o ON o.tenant_id = j.tenant_id"
                      f" AND o.object_id = j.object_id AND o.state = 'COMMITTED'"
                      f" WHERE j.job_id = '{plain(job)}' AND j.direction = 'output'")


def kept(p, job):
    return int(p.sql_text(f"SELECT count(*) FROM checkpoint WHERE job_id = '{plain(job)}' AND whole_at IS NOT NULL"))


def went_on(p, job):
    return p.sql_text(f"SELECT count(*) FROM job_log WHERE job_id = '{plain(job)}' AND fence > 1"
                      " AND text LIKE '%, resumed'") != "0"


def kill(p, what):
    """The process that trains, or its whole worker, whose folder is then emptied: nothing of it helps the next one."""
    worker = p.pids()["worker"]
    if what == "worker":
        os.kill(worker, signal.SIGKILL)
        for path in p.lease_dirs:
            shutil.rmtree(path, ignore_errors=True)
            os.makedirs(path, mode=0o700, exist_ok=True)
        return True
    victims = children(worker)
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    return bool(victims)


def send_away(p, api, work, want):
    """A job that needs the whole machine, twice; the second time the worker becomes another without any file of the first."""
    faults = []
    p.sql_text("INSERT INTO priority_class (class, value) VALUES ('urgent', 10) ON CONFLICT DO NOTHING RETURNING class")
    slots = int(p.sql_text("SELECT slots FROM node WHERE state = 'READY'"))
    job = submit(api, work)
    for again in range(2):
        until("a checkpoint of this attempt", lambda: int(p.sql_text(
            f"SELECT count(*) FROM checkpoint c JOIN job j USING (tenant_id, job_id) WHERE c.job_id = '{plain(job)}'"
            " AND whole_at IS NOT NULL AND c.fence = j.fence")) or ended(api, job))
        urgent = api.must("POST", "/v1/jobs", {"name": "urgent", "kind": "noop", "spec": {"sleep_ms": 2000}, "slots": slots,
                                               "class": "urgent"}, key=os.urandom(8).hex())["job_id"]
        until("the urgent job runs", lambda: api.must("GET", f"/v1/jobs/{urgent}")["state"] in ("RUNNING", *OVER))
        if again:
            kill(p, "worker")
        until("the urgent job ends", lambda: ended(api, urgent))
    until("the job ends", lambda: ended(api, job))
    told = p.sql_text("SELECT coalesce(string_agg(state || ' after ' || round(extract(epoch FROM finished_at - (evict_until -"
                      " interval '60 s')), 2) || ' s', ', '), '') FROM attempt"
                      f" WHERE job_id = '{plain(job)}' AND evict_until IS NOT NULL")
    states = p.sql_text(f"SELECT string_agg(state, ' ' ORDER BY version) FROM job_step WHERE job_id = '{plain(job)}'")
    end = ended(api, job)
    # The urgent job whose worker was killed comes back, and may send away once more what began meanwhile.
    times = told.count("PREEMPTED")
    if end["state"] != "COMPLETED" or digest(p, job) != want or times < 2 or states.count("PREEMPTING") != times:
        faults.append(f"sent away: {end['state']}, {told}, {states}, output {digest(p, job)[:12]} of {want[:12]}")
    if not went_on(p, job):
        faults.append("it did not go on from a checkpoint")
    log(f"sent away: {end['state']}, {told}, {'the same bytes' if digest(p, job) == want else 'OTHER BYTES'}")
    return faults


def run_all(p, api, work, kills, first):
    """Undisturbed, then killed `kills` times in turns, `first` first, then sent away (a batch: full tier).
    (digest, how many went on, faults)"""
    job, faults, resumed = submit(api, work), [], 0
    until("an undisturbed run ends", lambda: ended(api, job))
    want = digest(p, job)
    for i in range(kills):
        what = VICTIMS[(VICTIMS.index(first) + i) % 2]
        job = submit(api, work)
        until("a checkpoint", lambda: kept(p, job) or ended(api, job))
        time.sleep(random.uniform(0, 0.5))
        if not kill(p, what):
            faults.append("there was nothing to kill")
        until("the job ends", lambda: ended(api, job))
        end = ended(api, job)
        resumed += went_on(p, job)
        if end["state"] != "COMPLETED" or digest(p, job) != want:
            faults.append(f"{what}: {end['state']} {end['message']}, output {digest(p, job)[:12]} of {want[:12]}")
        log(f"{work[0]}, {what}: {end['state']}, {'the same bytes' if digest(p, job) == want else 'OTHER BYTES'}")
    if work[0] == "train" or is_full():         # what sends a batch away is what sends a training away
        faults += send_away(p, api, work, want)
    if resumed < kills:
        faults.append(f"{work[0]}: {resumed} of {kills} went on from a checkpoint")
    return want, resumed, faults


def batch_of(api, data, text):
    """A wide model, so that its rows take a while, and a table of many rows."""
    spec = {"dataset_id": data, "epochs": 1, "hidden": [2048, 2048], "batch_size": 64, "seed": 7}
    job = submit(api, ("train", spec))
    until("the batch's model is there", lambda: ended(api, job))
    model = api.must("POST", "/v1/models", {"name": "wide", "job_id": job})["model_id"]
    head, rows = text.split(b"\n", 1)
    many = upload(api, "many", head + b"\n" + rows * COPIES, label_column="label", classes=10)
    return "batch", {"model_id": model, "dataset_id": many}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kills", type=int, default=share("kills of a training and of a batch", 1, 20))
    ap.add_argument("--seed", type=int, default=int(time.time()))
    a = ap.parse_args()
    random.seed(a.seed)
    p = Platform({"FALAJ_SCHEDULER_LEASE_MS": "15000", "FALAJ_WORKER_HEARTBEAT_MS": "1000",
                  "FALAJ_WORKER_CHECKPOINT_GAP_MS": "0"})
    folder = os.path.join(p.ready["data_dir"], "worker")
    p.lease_dirs = [d.path for d in os.scandir(folder) if d.is_dir()]
    p.zone()
    p.wait_node()
    _, api = p.tenant("resume")
    with open(os.path.join(os.environ.get("FALAJ_SRC", "."), "datasets/digits/digits.csv"), "rb") as f:
        text = f.read()
    data = upload(api, "digits", text, label_column="label", classes=10)
    model, resumed, faults = run_all(p, api, ("train", {"dataset_id": data, **SPEC}), a.kills, "worker")
    result, again, more = run_all(p, api, batch_of(api, data, text), a.kills, "child")
    faults += more
    until("no checkpoint outlives its job",
          lambda: p.sql_text("SELECT count(*) FROM object WHERE kind = 'checkpoint'") == "0")
    broken = p.broken_invariants()
    faults += [f"invariants: {broken}"] if broken else []
    print(json.dumps({"kills": a.kills, "resumed": resumed + again, "model": model, "result": result, "seed": a.seed,
                      "faults": faults}))
    p.finish(faults)


if __name__ == "__main__":
    main()
