#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gangs.py - jobs on two machines with real falaj-workers on loopback, as docs/howto/gangs.md says:

    equal     the model of a training on two machines has the bytes of that on one
    refused   what no gang can be is refused with its place
    killed    kill -9 of one machine's agent: the attempt ends, and the job goes on with the other machine and a new one; one
              result, the same bytes
    half      a machine that takes its part and never comes: both are freed at the start deadline, and the job is done by others

Every invariant holds at the end."""
import os, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from machine_falaj import Machine
from platform_falaj import BIN, SRC, Platform, until

BEATS = {"worker.heartbeat_ms": "500"}
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")


def plain(job_id):
    return job_id.split("_")[1]


def main():
    p = Platform({"FALAJ_SCHEDULER_LEASE_MS": "3000", "FALAJ_SCHEDULER_GANG_START_MS": "8000",
                  "FALAJ_WORKER_HEARTBEAT_MS": "500"})
    api = p.tenant("gangs", zone=p.zone())[1]
    second = Machine(p, "second", **BEATS)
    nodes = lambda: {n["name"]: n for n in p.admin.must("GET", "/v1/nodes")["data"] if n["state"] == "READY"}
    until("the second machine", lambda: len(nodes()) == 2)
    env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": api.token, "HOME": second.folder}

    def falaj(*words):
        r = subprocess.run([os.path.join(BIN, "falaj"), *words], env=env, capture_output=True, text=True, timeout=180)
        if r.returncode:
            raise SystemExit(f"falaj {words}: {r.returncode} {r.stdout} {r.stderr}")
        return r.stdout

    falaj("dataset", "create", "digits", "--label", "label", "--classes", "10")
    falaj("dataset", "upload", "digits", os.path.join(SRC, "datasets/digits/digits.csv"))
    data = [d for d in api.must("GET", "/v1/datasets")["data"] if d["name"] == "digits"][0]["dataset_id"]

    def train(n, epochs=4, **more):
        # many attempts: a machine counts as ready for a while after its last word, and under load a lease of 3 s may end
        body = {"name": f"on-{n}", "kind": "train", "slots": 1, "nodes": {"min": n, "max": n}, "max_attempts": 50, **more,
                "spec": {"dataset_id": data, "epochs": epochs, "seed": 7, "batch_size": 16, "accumulate": 4, "hidden": [32]}}
        return api.must("POST", "/v1/jobs", body)["job_id"]

    def ended(job, timeout=600):
        j = until(f"the end of {job}", lambda: (j := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j, timeout)
        if j["state"] != "COMPLETED":
            raise SystemExit(f"{job}: {j}\n" + api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1].decode())
        return j

    def digest(job):
        return p.sql_text("SELECT encode(o.sha256, 'hex') FROM job_object j JOIN object o ON o.tenant_id = j.tenant_id"
                          f" AND o.object_id = j.object_id AND o.state = 'COMMITTED' WHERE j.job_id = '{plain(job)}'"
                          " AND j.direction = 'output'")

    def same(job, want, what):
        got = digest(job)
        if got != want:
            raise SystemExit(f"{what}: the model's bytes are {got}, of one machine {want}")
        print(f"{what}: the same bytes")

    def members(job):
        """Of its last attempt: under load a lease of 3 s may end and another attempt begin, as the platform promises."""
        return p.sql(f"SELECT m.rank, n.name, m.state FROM attempt_member m JOIN node n USING (node_id)"
                     f" WHERE m.attempt_id = (SELECT attempt_id FROM attempt WHERE job_id = '{plain(job)}'"
                     " ORDER BY fence DESC LIMIT 1)"
                     " ORDER BY m.rank")

    def attempts(job):
        return p.sql(f"SELECT fence, state, cause, message FROM attempt WHERE job_id = '{plain(job)}' ORDER BY fence")

    def log_of(job):
        return api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1].decode()

    # equal
    one, two = ended(train(1)), ended(train(2))
    want = digest(one["job_id"])
    same(two["job_id"], want, "equal")
    assert sorted(m[1] for m in members(two["job_id"])) == ["dev-1", "second"], members(two["job_id"])
    assert two["nodes"] == 2 and one["nodes"] == 1 and not members(one["job_id"])
    assert "rank 0 of 2 machines: all are there" in log_of(two["job_id"]) and "[rank 1]" in log_of(two["job_id"])

    shown = api.must("GET", f"/v1/jobs/{two['job_id']}/attempts")["data"][-1]
    assert shown["nodes"] == 2 and [m["rank"] for m in shown["members"]] == [0, 1], shown
    assert {m["state"] for m in shown["members"]} == {"SUCCEEDED"} and shown["members"][0]["node_id"] == shown["node_id"], shown

    # as the howto says it
    big = falaj("job", "submit", "big", "--dataset", "digits", "--accumulate", "4", "--nodes", "2", "-o",
                "jsonpath={.job_id}").strip()
    assert ended(big)["nodes"] == 2

    # refused
    for body, place in (({"nodes": {"min": 3, "max": 2}}, "/nodes/min"), ({"nodes": {"min": 2, "max": 6}}, "/nodes/max"),
                        ({"nodes": {"min": 2}, "kind": "noop", "spec": {}}, "/nodes"),
                        ({"nodes": {"min": 2}}, "/spec/accumulate"),
                        ({"nodes": {"min": 2}, "slots": 4000, "spec": {"dataset_id": data, "accumulate": 2}}, "/nodes")):
        status, answer = api.call("POST", "/v1/jobs", {"name": "no", "kind": "train", "spec": {"dataset_id": data}, **body})
        assert status == 422 and answer["errors"][0]["pointer"] == place, (status, answer)
    print("refused: five times, each with its place")

    # killed
    want = digest(ended(train(1, 60))["job_id"])
    job = train(2, 60)
    until("both machines train", lambda: "epoch 2" in log_of(job) or api.must("GET", f"/v1/jobs/{job}")["state"] in ENDED, 120)
    second.kill()
    third = Machine(p, "third", **BEATS)
    ended(job, 600)
    same(job, want, "killed")
    tries = attempts(job)
    assert len(tries) > 1 and {t[2] for t in tries[:-1]} == {"machine"} and [t[1] for t in tries].count("SUCCEEDED") == 1, tries
    assert sorted(m[1] for m in members(job)) == ["dev-1", "third"], members(job)
    assert p.sql_text(f"SELECT count(*) FROM job_object WHERE job_id = '{plain(job)}' AND direction = 'output' AND name = 'model'"
                      " AND object_id IN (SELECT object_id FROM object WHERE state = 'COMMITTED')") == "1"

    # half
    os.environ["FALAJ_FAULTS"] = "gang_stays_away:100%"
    third.kill()
    third.start()
    until("the machine that stays away", lambda: nodes().get("third"))
    job = train(2)
    until("the start deadline", lambda: [a for a in attempts(job) if a[3] == "Its machines did not all meet in time"], 600)
    assert p.sql_text("SELECT count(*) FROM attempt_member WHERE live") == "0" or len(attempts(job)) > 1
    del os.environ["FALAJ_FAULTS"]
    third.kill()
    third.start()
    ended(job, 600)
    print("half: freed at the start deadline, then done")

    if broken := p.broken_invariants():
        raise SystemExit(f"invariants: {broken}")
    p.close()


main()
