#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""outage.py - faults that are not a clean death: silence, slowness, an orderly end at the wrong moment, the loss of everything at once.

usage: tests/faults/outage.py [--only NAME,…] [--seed N]
  silent-worker   the worker is stopped past its leases and goes on: its old attempts are refused, every job completes once
  redis-stopped   Redis hangs for 10 s, then loses all it holds: submissions and jobs go on meanwhile, nothing is lost
  postmaster      PostgreSQL is shut down (fast) under load
  training        the worker dies while it trains: the job is tried again and there is one model
  deployment      the worker dies while it serves: inference answers again
  cancel          jobs are cancelled in every state while the worker dies: each ends, and the quota knows
  dev             falaj dev itself is killed: the next start on the same folder completes all that was accepted
Each scenario has a tenant of its own and ends with the count of drill.py: 0 lost, 0 twice, invariants, audit. All but `dev`
use one platform, one after the other. Exit 0 only when all hold."""
import argparse, http.client, json, os, random, shutil, signal, ssl, sys, tempfile, threading, time, urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from drill import Load, check, settle
from platform_falaj import SRC, Api, Platform, log, share

SETTINGS = {"FALAJ_SCHEDULER_LEASE_MS": "4000", "FALAJ_WORKER_HEARTBEAT_MS": "1000"}
LEASE_S, WAIT_S = 4, 600        # the second for a machine that is slow and busy: nothing is promised by it
PAUSE_S = share("hundredths of a second between a thread's submissions", 10, 3) / 100
DIGITS = os.path.join(SRC, "datasets/digits/digits.csv")


def until(what, condition, timeout=WAIT_S, pause=0.05):
    """condition() once it is true; an error while waiting counts as not yet."""
    end, last = time.time() + timeout, None
    while time.time() < end:
        try:
            value = condition()
            if value:
                return value
        except Exception as x:
            last = x
        time.sleep(pause)
    raise RuntimeError(f"{what}: not within {timeout} s ({last})")


def kill_worker(p):
    pid = p.pids()["worker"]
    os.kill(pid, signal.SIGKILL)
    until("the worker runs again", lambda: p.pids().get("worker", pid) != pid)


def forged_reports(p, rows):
    """What a worker that knows nothing of its expiry would say, over its own certificate; the verdicts."""
    tls = os.path.join(p.ready["data_dir"], "tls")
    context = ssl.create_default_context(cafile=os.path.join(tls, f"ca-{p.ready['zone']}.pem"))
    context.load_cert_chain(os.path.join(tls, "worker.pem"), os.path.join(tls, "worker.key"))
    u = urllib.parse.urlsplit(p.ready["worker_url"])
    node, boot = p.sql("SELECT replace(node_id::text, '-', ''), boot_id FROM node")[0]
    items = [{"tenant_id": "tnt_" + t, "attempt_id": "att_" + a, "fence": int(f), "event": "succeed", "result": {"forged": True}} for t, a, f in rows]
    conn = http.client.HTTPSConnection(u.hostname, u.port, context=context, timeout=30)
    conn.request("POST", "/v1/leases/report", json.dumps({"node_id": "nod_" + node, "boot_id": boot, "items": items}), {"Content-Type": "application/json"})
    r = conn.getresponse()
    text = r.read()
    conn.close()
    if r.status != 200:
        raise RuntimeError(f"report: {r.status} {text[:300]}")
    return [x["verdict"] for x in json.loads(text)["items"]]


def silent_worker(p, api, load):
    slow = Load(p.url, load.token, threads=4, pause=4 * PAUSE_S, sleeps=(500, 3000))
    time.sleep(2)
    pid, expired = p.pids()["worker"], "SELECT count(*) FROM attempt WHERE state = 'LEASE_EXPIRED'"
    before = int(p.sql(expired)[0][0])
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(LEASE_S + 1.5)
        until("leases run out", lambda: int(p.sql(expired)[0][0]) > before)
    finally:
        os.kill(pid, signal.SIGCONT)
    slow.end()
    load.accepted.update(slow.accepted)
    load.wrong += slow.wrong
    load.probe(WAIT_S)
    rows = p.sql("SELECT replace(tenant_id::text, '-', ''), replace(attempt_id::text, '-', ''), fence FROM attempt WHERE state = 'LEASE_EXPIRED' LIMIT 500")
    verdicts = forged_reports(p, rows)
    if set(verdicts) != {"stale"}:
        load.wrong.append(f"completions of expired attempts were answered {sorted(set(verdicts))}")
    forged = int(p.sql("SELECT count(*) FROM job WHERE result @> '{\"forged\": true}'")[0][0])
    if forged:
        load.wrong.append(f"{forged} jobs took the result of an expired attempt")
    return f"{len(rows)} leases ran out, {len(verdicts)} late completions refused"


def redis_stopped(p, api, load):
    pid, said = p.pids()["redis"], []
    os.kill(pid, signal.SIGSTOP)
    try:
        for _ in range(share("times two seconds without Redis", 3, 5)):
            t0 = time.time()
            said.append(load.probe(WAIT_S))
            time.sleep(max(0, 2 - (time.time() - t0)))
    finally:
        os.kill(pid, signal.SIGCONT)
    time.sleep(0.5)
    os.kill(pid, signal.SIGKILL)        # it keeps nothing on disk: the same as FLUSHALL, only ruder
    until("Redis runs again", lambda: p.pids().get("redis", pid) != pid)
    said.append(load.probe(WAIT_S))
    return f"a job took at most {max(said):.2f} s while Redis hung"


def postmaster(p, api, load):
    times = []
    for _ in range(share("restarts of PostgreSQL", 1, 3)):
        pid, t0 = p.pids()["postgres"], time.time()
        os.kill(pid, signal.SIGINT)
        until("PostgreSQL runs again", lambda: p.pids().get("postgres", pid) != pid)
        load.probe(WAIT_S)
        times.append(time.time() - t0)
        time.sleep(1)
    return f"{len(times)} restarts, recovered after at most {max(times):.2f} s"


def train(p, api, name, epochs):
    data = api.must("POST", "/v1/datasets", {"name": name, "label_column": "label", "classes": 10})
    with open(DIGITS, "rb") as f:
        version = api.must("POST", f"/v1/datasets/{data['dataset_id']}/versions", f.read(), headers={"Content-Type": "text/csv"})
    return api.must("POST", "/v1/jobs", {"name": name, "kind": "train", "max_attempts": 5, "spec": {
        "dataset_id": data["dataset_id"], "dataset_version": version["version"], "family": "mlp", "hidden": [64, 32], "epochs": epochs, "seed": 1}})["job_id"]


def ended(api, job):
    def look():
        j = api.must("GET", f"/v1/jobs/{job}")
        return j if j["finished_at"] else None
    j = until(f"{job} ends", look)
    if j["state"] != "COMPLETED":
        raise RuntimeError(f"{job} ended as {j['state']}: {j['message']}")
    return j


def training(p, api, load):
    job = train(p, api, "interrupted", 400)
    until("the training is under way", lambda: len(api.must("GET", f"/v1/jobs/{job}/metrics")["data"]) > 3)
    kill_worker(p)
    j = ended(api, job)
    if j["fence"] < 2:
        load.wrong.append("the training had ended before its worker was killed")
    if j["result"]["holdout_accuracy"] < 0.95:
        load.wrong.append(f"the second attempt reached {j['result']['holdout_accuracy']}")
    made = p.sql("SELECT o.fence, b.state, 'obj_' || replace(b.object_id::text, '-', '') FROM job_object o JOIN object b USING (tenant_id, object_id) "
                 f"WHERE o.job_id = '{job[4:]}' AND o.direction = 'output' AND o.name = 'model' AND b.state = 'COMMITTED'")
    if made != [[str(j["fence"]), "COMMITTED", j["result"]["model_object_id"]]]:
        load.wrong.append(f"models of the interrupted training: {made}")
    model = api.must("POST", "/v1/models", {"name": "interrupted", "job_id": job})
    if not api.must("GET", f"/v1/models/{model['model_id']}/versions/1/content", raw=True):
        load.wrong.append("the model is empty")
    return f"attempt {j['fence']} completed, accuracy {j['result']['holdout_accuracy']:.3f}, one model"


def deployment(p, api, load):
    job = train(p, api, "served", 30)
    ended(api, job)
    model = api.must("POST", "/v1/models", {"name": "served", "job_id": job})
    dep = api.must("POST", "/v1/deployments", {"name": "served", "model_id": model["model_id"]})

    def answer():
        status, meta = api.call("GET", "/v2/models/served")
        if status != 200:
            return None
        name = meta["inputs"][0]["name"]
        status, r = api.call("POST", "/v2/models/served/infer", {"inputs": [{"name": name, "shape": [1, 64], "datatype": "FP32", "data": [0.0] * 64}]}, timeout=10)
        return r["outputs"] if status == 200 else None
    first = until("inference answers", answer)
    times = []
    for _ in range(share("kills of a deployment's worker", 1, 2)):
        t0 = time.time()
        kill_worker(p)
        again = until("inference answers after the kill", answer)
        times.append(time.time() - t0)
        if again != first:
            load.wrong.append("the deployment answers differently after the kill")
    api.must("DELETE", f"/v1/deployments/{dep['deployment_id']}")
    settle(p, where="kind = 'serve'")
    return f"{len(times)} kills, the same answer again after at most {max(times):.2f} s"


def cancel(p, api, load):
    """Jobs of another name, so that load's own must still all complete."""
    jobs, told, lock, wrong = [], {}, threading.Lock(), []
    most = share("cancelled jobs", 100, 300)

    def canceller():
        mine = Api(p.url, load.token)
        while not load.stop and len(told) < most:
            try:
                job = mine.must("POST", "/v1/jobs", {"name": "unwanted", "kind": "noop", "spec": {"sleep_ms": random.choice((0, 50, 500))}, "max_attempts": 100})["job_id"]
                time.sleep(random.choice((0, 0, 0.005, 0.05, 0.6)))
                status, answer = mine.call("POST", f"/v1/jobs/{job}/cancel", timeout=10)
                with lock:
                    jobs.append(job)
                    told[job] = answer["state"] if status == 200 else str(status)
            except Exception as x:
                wrong.append(f"cancel: {x}")
    threads = [threading.Thread(target=canceller, daemon=True) for _ in range(4)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        kill_worker(p)
        time.sleep(1)
    for t in threads:
        t.join()
    settle(p, where="name = 'unwanted'")
    states = {"job_" + r[0]: r[1] for r in p.sql("SELECT replace(job_id::text, '-', ''), state FROM job WHERE name = 'unwanted'")}
    broken = [j for j, said in told.items() if said == "CANCELLED" and states[j] != "CANCELLED"]
    if broken or wrong or set(states.values()) - {"CANCELLED", "COMPLETED"}:
        load.wrong.append(f"{len(broken)} cancelled jobs went on; {wrong[:1]} {set(states.values())}")
    n = list(states.values())
    return f"{n.count('CANCELLED')} of {len(n)} jobs cancelled"


def platform(data=None):
    p = Platform(SETTINGS, args=("--slots", "32"), data=data)
    p.zone()
    p.wait_node(timeout=WAIT_S)
    return p


def one(p, name, scenario):
    tenant, api = p.tenant(f"drill-{name}")
    load = Load(p.url, api.token, pause=PAUSE_S)
    time.sleep(0.5)
    note = ""
    try:
        note = scenario(p, api, load)
    except RuntimeError as x:
        load.wrong.append(str(x))
    load.end()
    settle(p)
    faults, said = check(p, tenant, api, load)
    return load, note, faults, said


def dev(p):
    tenant, api = p.tenant("drill")
    load, times, kills = Load(p.url, api.token, pause=PAUSE_S), [], share("kills of falaj dev", 1, 2)
    for _ in range(kills):
        time.sleep(2)
        t0 = time.time()
        p.proc.kill()
        p.proc.wait()
        p.start()
        load.url = p.url
        load.probe(WAIT_S)
        times.append(time.time() - t0)
    load.end()
    settle(p)
    faults, said = check(p, tenant, Api(p.url, api.token), load)
    return load, f"{kills} kills, a job completed again after at most {max(times):.2f} s", faults, said


def main():
    scenarios = {"silent-worker": silent_worker, "redis-stopped": redis_stopped, "postmaster": postmaster, "training": training,
                 "deployment": deployment, "cancel": cancel}
    ap = argparse.ArgumentParser()
    ap.add_argument("--only", default=",".join([*scenarios, "dev"]))
    ap.add_argument("--seed", type=int, default=int(time.time()))
    a = ap.parse_args()
    random.seed(a.seed)
    out, is_bad = {}, False

    def told(name, load, note, faults, said):
        log(f"{name}: {note}; {len(load.accepted)} jobs, {said}" + "".join(f"\n  FAULT {f}" for f in faults))
        out[name] = {"note": note, "jobs": len(load.accepted), "repeated_submits": load.unclear, "faults": faults}

    def over(p, names):
        try:
            p.finish([f for name in names for f in out[name]["faults"]])
        except SystemExit:
            return True
        return False
    wanted = a.only.split(",")
    shared = [name for name in wanted if name != "dev"]
    if shared:
        p = platform()
        for name in shared:
            told(name, *one(p, name, scenarios[name]))
        is_bad = over(p, shared)
    if "dev" in wanted:
        folder = tempfile.mkdtemp(prefix="falaj-outage-")
        p = platform(folder)
        told("dev", *dev(p))
        is_bad = over(p, ["dev"]) or is_bad
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({"outages": out, "seed": a.seed}))
    raise SystemExit(1 if is_bad else 0)


if __name__ == "__main__":
    main()
