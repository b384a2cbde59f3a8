#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pull.py - an image from Debian's docker-registry, with TLS of an authority of its own and passwords: pushed by skopeo, allowed
by staff, pulled by digest by a machine of the zone with a secret, run in; each refusal with its reason, and nothing left
of it."""
import atexit, crypt, json, os, shutil, socket, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "escape"))
import image_of_python
from platform_falaj import BIN, Platform, log, until

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")
CONFIG = """version: 0.1
storage: {{filesystem: {{rootdirectory: {made}/blobs}}}}
http: {{addr: "127.0.0.1:{port}", tls: {{certificate: {made}/certs/ca.crt, key: {made}/key.pem}}}}
auth: {{htpasswd: {{realm: here, path: {made}/passwords}}}}
"""


def registry(made):
    """Its process and port."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    os.mkdir(os.path.join(made, "certs"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-keyout", f"{made}/key.pem", "-out", f"{made}/certs/ca.crt", "-subj", "/CN=hub",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    with open(os.path.join(made, "passwords"), "w") as f:
        f.write("ann:" + crypt.crypt("pa55:word", crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)) + "\n")
    with open(os.path.join(made, "registry.yml"), "w") as f:
        f.write(CONFIG.format(made=made, port=port))
    out = open(os.path.join(made, "registry.log"), "wb")
    process = subprocess.Popen(["docker-registry", "serve", os.path.join(made, "registry.yml")], stdout=out, stderr=out)
    atexit.register(process.kill)

    def listens():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0
    until("the registry listens", listens)
    return process, port


def main():
    p = Platform({"FALAJ_WORKER_PROGRAMS": "host", "FALAJ_WORKER_PULLS": "true"})
    zone = p.zone()
    made = tempfile.mkdtemp(prefix="falaj-pull-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    api = p.tenant("pullers", zone=zone)[1]
    process, port = registry(made)
    archive, host = os.path.join(made, "tiny.tar"), f"localhost:{port}"
    digest = image_of_python.image(archive)
    subprocess.run(["skopeo", "copy", "--dest-creds", "ann:pa55:word", "--dest-cert-dir", f"{made}/certs",
                    f"oci-archive:{archive}", f"docker://{host}/team/python:1"], check=True, capture_output=True)

    def falaj(by, *words, ok=True):
        env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": by.token, "HOME": made}
        r = subprocess.run([os.path.join(BIN, "falaj"), *words, "-o", "json"], env=env, capture_output=True, text=True,
                           timeout=300, cwd=made)
        assert (r.returncode == 0) == ok, (words, r.stdout, r.stderr)
        return json.loads(r.stdout) if ok and r.stdout.strip() else r.stderr

    def pull(name, *words, ref=f"docker://{host}/team/python@{digest}", ok=True):
        return falaj(api, "environment", "import", name, ref, "--allow-setuid", *words, ok=ok)

    said = pull("python", ok=False)
    assert f"lets no images come from {host}" in said and "it allows no registry" in said, said
    row = falaj(p.admin, "registry", "add", zone, host, "--ca", f"{made}/certs/ca.crt", "--reach", "local", "--silent", "10")
    assert row["allowed"] and falaj(api, "registry", "list"), row
    said = pull("python", ref=f"docker://{host}/team/python:1", ok=False)
    assert "An image is pulled by digest" in said and f"docker://{host}/team/python:1" in said, said
    said = pull("anonymous", ok=False)
    assert "the image is refused" in said and "wants credentials; name a secret with them" in said, said
    for name, value in (("hub", "ann:pa55:word\n"), ("wrong", "ann:no password\n")):
        with open(os.path.join(made, "value"), "w") as f:
            f.write(value)
        falaj(api, "secret", "set", name, "--from-file", "value")
    said = pull("wrong", "--credentials", "wrong", ok=False)
    assert "the image is refused" in said and "refuses the credentials" in said, said
    said = pull("nobody", "--credentials", "hub", ref=f"docker://{host}/team/python@sha256:{'0' * 64}", ok=False)
    assert "has no such image" in said, said
    assert int(p.sql_text("SELECT count(*) FROM object WHERE kind = 'dataset'")) == 0, "a refused pull left something"
    log("a tag, a stranger, a wrong password and an unknown digest are refused, and nothing is left")

    v = pull("python", "--credentials", "hub")
    assert (v["state"], v["digest"], v["package_count"]) == ("READY", digest, 1), v
    assert v["pulled_from"] == f"{host}/team/python@{digest}" and v["dataset_id"] and v["size_bytes"] > 1000, v
    text = api.call("GET", f"/v1/jobs/{v['job_id']}/log.txt", raw=True)[1].decode()
    assert f"pulling {host}/team/python@{digest}" in text and "pa55" not in text, text
    job = api.must("POST", "/v1/jobs", {"name": "x", "kind": "run", "spec": {
        "command": ["python3", "/falaj/code/script"], "script": "print(6 * 7)", "environment": "python"}})["job_id"]
    j = until("the end", lambda: (x := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and x, 300)
    assert j["state"] == "COMPLETED" and j["spec"]["environment"] == f"{v['dataset_id']}@1/{digest}", j
    assert "42" in api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1].decode()
    log("an image of docker-registry was pulled with a secret, and a program ran in it")

    def told():
        data = api.must("GET", "/v1/audit/events?page_size=200")["data"]
        return len([e for e in data if e["action"] == "secret.use"]) == 3 and json.dumps(data)
    events = until("the log tells", told)
    assert f"{host}/team/python@{digest}" in events and "pa55" not in events
    falaj(p.admin, "registry", "shut", row["registry_id"])
    assert "it allows no registry" in pull("again", "--credentials", "hub", ok=False)
    falaj(p.admin, "registry", "remove", row["registry_id"], "--yes")
    falaj(api, "environment", "delete", "python", "--yes")
    assert int(p.sql_text("SELECT count(*) FROM dataset")) == 0
    assert not p.broken_invariants()
    process.terminate()
    process.wait()
    p.close()


main()
