#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kept_images.py - an image that a machine keeps unpacked goes with the right to its key: a program ran in it, the machine asked
of it and kept it; then its data set is deleted, or its key destroyed by two people, and it is nowhere in the agent any more."""
import os, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "escape"))
import image_of_python
from platform_falaj import BIN, Platform, log, person, until

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")
ACCESS_LOG = os.path.join(tempfile.mkdtemp(prefix="falaj-kept-"), "access.log")
os.chmod(os.path.dirname(ACCESS_LOG), 0o777)     # falaj-api has an account of its own


def kept(p):
    """Images in the agent's memory, by its own descriptors."""
    here, found = f"/proc/{p.pids()['worker']}/fd", 0
    for fd in os.listdir(here):
        try:
            found += os.readlink(os.path.join(here, fd)).startswith("/memfd:image")
        except OSError:
            pass
    return found


def asked():
    return open(ACCESS_LOG, "rb").read().count(b"lease_kept") if os.path.exists(ACCESS_LOG) else 0


def main():
    p = Platform({"FALAJ_WORKER_PROGRAMS": "host", "FALAJ_API_ACCESS_LOG": ACCESS_LOG})
    zone, made = p.zone(), tempfile.mkdtemp(prefix="falaj-kept-")
    api = p.tenant("keepers", zone=zone)[1]
    archive = os.path.join(made, "tiny.tar")
    digest = image_of_python.image(archive)
    env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": api.token, "HOME": made}

    def falaj(*words):
        r = subprocess.run([os.path.join(BIN, "falaj"), *words], env=env, capture_output=True, text=True, timeout=180, cwd=made)
        assert r.returncode == 0, (words, r.stdout, r.stderr)

    def run_in(name):
        falaj("dataset", "create", name, "--target", "none")
        falaj("dataset", "upload", name, archive)
        data = [d for d in api.must("GET", "/v1/datasets")["data"] if d["name"] == name][0]["dataset_id"]
        job = api.must("POST", "/v1/jobs", {"name": name, "kind": "run", "spec": {
            "command": ["python3", "/falaj/code/script"], "script": "print(1)", "environment": f"{data}/{digest}"}})["job_id"]
        j = until(f"the end of {job}", lambda: (j := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j, 180)
        assert j["state"] == "COMPLETED", j
        assert kept(p) == 1, kept(p)
        return data

    def goes(why):
        began = time.time()
        until(f"the image is gone: {why}", lambda: kept(p) == 0)
        log(f"{why}: gone after {time.time() - began:.1f} s")

    first = run_in("first")
    before = asked()
    until("the machine has asked of what it keeps", lambda: asked() > before)
    until("and again", lambda: asked() > before + 1)
    assert kept(p) == 1, "an image that may be kept was not"
    api.must("DELETE", f"/v1/datasets/{first}")
    goes("its data set was deleted")
    run_in("second")
    officer = person(api, "shred-officer", "compliance-officer")
    request = api.must("POST", f"/v1/keys/{zone}/destroy", {"reason": "the tenant leaves"})
    assert officer.must("POST", f"/v1/approvals/{request['approval_id']}/approve", {})["state"] == "EXECUTED"
    goes("its key was destroyed")
    p.close()


main()
