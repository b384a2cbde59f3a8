#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shared_images.py - an image that one organisation offers and staff publish: another one's program runs in it, from the one
object that there is, which counts as its owner's alone; nothing else of the owner is anybody's; and after it was withdrawn nobody
gets it, waiting jobs included, each with the reason, and no machine keeps it."""
import json, os, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "escape"))
import image_of_python
from platform_falaj import BIN, Platform, log, until

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")
WHY = "openssl has a hole"


def kept(p):
    """Images in the agent's memory, by its own descriptors."""
    here, found = f"/proc/{p.pids()['worker']}/fd", 0
    for fd in os.listdir(here):
        try:
            found += os.readlink(os.path.join(here, fd)).startswith("/memfd:image")
        except OSError:
            pass
    return found


def main():
    p = Platform({"FALAJ_WORKER_PROGRAMS": "host"})
    p.zone()
    owner_tenant, owner = p.tenant("bases")
    guest_tenant, guest = p.tenant("guests")
    made = tempfile.mkdtemp(prefix="falaj-shared-")
    archive = os.path.join(made, "tiny.tar")
    digest = image_of_python.image(archive)

    def falaj(by, *words, ok=True):
        env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": by.token, "HOME": made}
        r = subprocess.run([os.path.join(BIN, "falaj"), "environment", *words, "-o", "json"], env=env, capture_output=True,
                           text=True, timeout=300, cwd=made)
        assert (r.returncode == 0) == ok, (words, r.stdout, r.stderr)
        return json.loads(r.stdout) if ok and r.stdout.strip() else r.stderr

    def job(by, environment, script="print(6 * 7)", **more):
        return by.must("POST", "/v1/jobs", {"name": "x", "kind": "run", **more, "spec": {
            "command": ["python3", "/falaj/code/script"], "script": script, "environment": environment}})["job_id"]

    def ended(by, job_id):
        return until(f"the end of {job_id}", lambda: (j := by.must("GET", f"/v1/jobs/{job_id}"))["state"] in ENDED and j, 300)

    def text(by, job_id):
        return until("the log", lambda: (r := by.call("GET", f"/v1/jobs/{job_id}/log.txt", raw=True))[0] == 200 and r)[1].decode()

    v = falaj(owner, "import", "python", archive, "--allow-setuid", "--class", "public")
    assert v["digest"] == digest, v
    shared = f"shared/{digest}"
    got, _ = guest.call("POST", "/v1/jobs", {"name": "x", "kind": "run", "spec": {"command": ["x"], "environment": shared}})
    assert got == 404, got                                              # nobody published it
    got, answer = p.admin.call("POST", f"/v1/tenants/{owner_tenant}/shared-environments", {"environment_id": v["environment_id"]})
    assert got == 422 and "has not offered it" in answer["detail"], (got, answer)
    assert falaj(owner, "offer", "python")["offered_at"]
    s = falaj(p.admin, "publish", owner_tenant, v["environment_id"], "--description", "Python of the base images")
    assert (s["environment"], s["zone"], s["package_count"], s["owner_id"]) == (shared, v["zone"], 1, owner_tenant), s

    stored = {x["resource"]: x["used"] for x in guest.must("GET", "/v1/quotas")["data"]}["stored_bytes"]
    seen = falaj(guest, "shared")
    seen = seen["data"] if isinstance(seen, dict) else seen
    assert [(x["name"], x["state"]) for x in seen] == [("python", "PUBLISHED")] and "owner_id" not in seen[0], seen
    first = job(guest, shared)
    j = ended(guest, first)
    assert j["state"] == "COMPLETED" and j["spec"]["environment"] == shared, (j, text(guest, first))
    assert "42" in text(guest, first), text(guest, first)
    assert kept(p) == 1, kept(p)
    again = job(guest, shared)
    assert ended(guest, again)["state"] == "COMPLETED"
    assert "unpacked on this machine before" in text(guest, again), text(guest, again)
    assert {x["resource"]: x["used"] for x in guest.must("GET", "/v1/quotas")["data"]}["stored_bytes"] == stored
    assert int(p.sql_text(f"SELECT count(*) FROM object WHERE tenant_id = '{guest_tenant[4:]}'::uuid AND kind = 'dataset'")) == 0
    log("a guest's program ran in it, from the one object that there is")

    # Nothing of it is the guest's to see, change or end; nothing else of its owner is named by anybody.
    for method, path, body, wanted in (
            ("GET", f"/v1/environments/{v['environment_id']}", None, 404), ("GET", f"/v1/datasets/{v['dataset_id']}", None, 404),
            ("POST", f"/v1/shared-environments/{s['shared_id']}/withdraw", {"reason": "x"}, 403),
            ("DELETE", f"/v1/shared-environments/{s['shared_id']}", None, 403),
            ("POST", "/v1/jobs", {"name": "x", "kind": "run", "spec": {"command": ["x"], "environment": digest}}, 404)):
        got, answer = guest.call(method, path, body)
        assert got == wanted, (method, path, got, answer)
    got, answer = owner.call("DELETE", f"/v1/environments/{v['environment_id']}")
    assert got == 409 and "published to other organisations" in answer["detail"], (got, answer)
    until("the guest's log tells of the key", lambda: any(
        e["action"] == "key.release" for e in guest.must("GET", "/v1/audit/events?page_size=200")["data"]))
    assert first not in json.dumps(owner.must("GET", "/v1/audit/events?page_size=200")), "its owner learns who runs it"

    running = job(guest, shared, script="import time\nprint('begun', flush=True)\ntime.sleep(3600)")
    until("a program runs in it", lambda: "begun" in text(guest, running), 300)
    waiting = job(guest, shared, dependencies=[{"type": "afterany", "job_id": running}])
    falaj(p.admin, "withdraw", s["shared_id"], "--reason", WHY)
    until("no machine keeps it", lambda: kept(p) == 0)
    got, answer = guest.call("POST", "/v1/jobs", {"name": "x", "kind": "run", "spec": {"command": ["x"], "environment": shared}})
    assert got == 403 and WHY in answer["detail"], (got, answer)
    assert guest.must("GET", f"/v1/jobs/{running}")["state"] == "RUNNING"        # what has it goes on
    got, answer = p.admin.call("DELETE", f"/v1/shared-environments/{s['shared_id']}")
    assert got == 409 and "2 jobs" in answer["detail"], (got, answer)
    guest.must("POST", f"/v1/jobs/{running}/cancel", {})
    j = ended(guest, waiting)
    assert j["state"] == "FAILED" and WHY in j["message"], j
    falaj(p.admin, "unpublish", s["shared_id"], "--yes")
    falaj(owner, "delete", "python", "--yes")
    log("withdrawn: no machine keeps it, no job gets it, and each is told why")
    assert not p.broken_invariants()
    p.close()


main()
