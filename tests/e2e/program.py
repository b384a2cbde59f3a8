#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""program.py - a tenant's programs on a real platform: data in, a checkpoint carried from attempt to attempt, outputs out and on
to the next job, refusals; full tier: the PyTorch script of the howto, as it stands there."""
import json, os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "escape"))
import image_of_python
from platform_falaj import BIN, SRC, Platform, until

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")
COUNT = """
rows = open("/falaj/in/digits").read().split()[1:]
print("::metric", '{"step":1,"rows":%d}' % len(rows))
open("/falaj/out/count", "w").write(str(len(rows)))
"""
AGAIN = """
import os, sys
path, n = "/falaj/checkpoint/n", int(open("/falaj/in/from").read())
if os.path.exists(path):
    n = int(open(path).read())
open(path, "w").write(str(n + 1))
print("attempt", os.environ["FALAJ_ATTEMPT"], "at", n, flush=True)
if n < 1799:
    sys.exit(75)
open("/falaj/out/n", "w").write(str(n))
"""
SECRETS = """
import os, time
token, key = os.environ["TOKEN"], open("/falaj/secrets/key.pem").read()
assert oct(os.stat("/falaj/secrets/key.pem").st_mode & 0o777) == "0o400"
print("token", token, flush=True)
print(key, end="", flush=True)
for c in token:
    print(c, end="", flush=True)
    time.sleep(0.01)
print(" by letters")
open("/falaj/out/lengths", "w").write(f"{len(token)} {len(key)}")
raise SystemExit(f"cannot use {token}" if os.path.exists("/falaj/in/fail") else 0)
"""
IMAGE = """
import os
assert sorted(os.listdir("/")) == ["bin", "dev", "etc", "falaj", "lib", "lib64", "proc", "tmp", "usr"], os.listdir("/")
assert len(os.listdir("/usr/bin")) == 2 and not os.path.exists("/etc/os-release")
assert not os.stat("/usr/bin/python3").st_mode & 0o7000
open("/usr/made", "w").write("the root is the lease's own")
open("/falaj/out/seen", "w").write(open("/falaj/in/count").read() + " " + str(len(open("/falaj/secrets/key.pem").read())))
"""
SLEEPER = """
import signal, sys, time
signal.signal(15, lambda *a: (print("told", flush=True), sys.exit(0)))
print("here", flush=True)
time.sleep(600)
"""


def main():
    p = Platform({"FALAJ_WORKER_PROGRAMS": "host"})
    api, made = p.tenant("programs", zone=p.zone())[1], tempfile.mkdtemp(prefix="falaj-program-")
    env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": api.token, "HOME": made}

    def falaj(*words, ok=True):
        r = subprocess.run([os.path.join(BIN, "falaj"), *words], env=env, capture_output=True, text=True, timeout=180, cwd=made)
        if ok and r.returncode:
            raise SystemExit(f"falaj {words}: {r.returncode} {r.stdout} {r.stderr}")
        return r

    def submit(script, *words, name="program", **spec):
        body = {"name": name, "kind": "run", "spec": {"command": ["python3", "/falaj/code/script"], "script": script, **spec}}
        return api.must("POST", "/v1/jobs", body)["job_id"]

    def ended(job):
        return until(f"the end of {job}", lambda: (j := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j, 180)

    def text(job):
        return api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1].decode()

    falaj("dataset", "create", "digits", "--label", "label", "--classes", "10")
    falaj("dataset", "upload", "digits", os.path.join(SRC, "datasets/digits/digits.csv"))
    data = api.must("GET", "/v1/datasets")["data"][0]["dataset_id"]

    # By the command line: words behind -- are the command, @FILE is the script; what comes out is downloaded.
    with open(os.path.join(made, "count.py"), "w") as f:
        f.write(COUNT)
    first = json.loads(falaj("job", "submit", "first", "--kind", "run", "--script", "@count.py", "--inputs", f"digits={data}",
        "--outputs", "count",
                             "-o", "json", "--", "python3", "/falaj/code/script").stdout)["job_id"]
    j = ended(first)
    assert j["state"] == "COMPLETED", (j, text(first))
    assert j["spec"]["inputs"] == [f"digits={data}@1"] and j["result"]["exit_code"] == 0, j
    assert [o["name"] for o in api.must("GET", f"/v1/jobs/{first}/outputs")["data"]] == ["count"]
    falaj("job", "download", first, "count", "got")
    assert open(os.path.join(made, "got")).read() == "1797"
    points = api.must("GET", f"/v1/jobs/{first}/metrics")["data"]
    assert any(x.get("values", {}).get("rows") == 1797 for x in points), points
    print("a program read a data set, and its output was downloaded")

    # Its output is the next one's input; status 75 twice, each attempt going on from the folder that the one before kept.
    second = submit(AGAIN, **{"inputs": [f"from={first}/count"], "outputs": ["n"]})
    j = ended(second)
    assert j["state"] == "COMPLETED" and j["requeue_count"] == 2, (j, text(second))
    said = re.findall(r"attempt (\d+) at (\d+)", text(second))
    assert [n for _, n in said] == ["1797", "1798", "1799"] and len({a for a, _ in said}) == 3, said
    assert api.call("GET", f"/v1/jobs/{second}/outputs/n", raw=True) == (200, b"1799")
    print("three attempts, each with the folder of the one before")

    third = submit("import sys; print('no such thing', file=sys.stderr); sys.exit(4)")
    j = ended(third)
    assert j["state"] == "FAILED" and "status 4: no such thing" in j["message"], j
    fourth = api.must("POST", "/v1/jobs", {"name": "typo", "kind": "run", "spec": {"command": ["pyhton3"]}})["job_id"]
    j = ended(fourth)
    assert j["state"] == "FAILED" and "pyhton3: No such file or directory" in j["message"], j

    fifth = submit(SLEEPER)
    until("its first words", lambda: "here" in text(fifth))
    api.must("POST", f"/v1/jobs/{fifth}/cancel")
    assert ended(fifth)["state"] == "CANCELLED" and "told" in text(fifth)
    print("failures say why, and who is cancelled is told")

    # Secrets: as a variable and a file, in no line of the log, in no answer; a disabled one is given to nobody.
    token, key = "s3cr3t-token-of-the-hub", "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----\n"
    for name, value in (("hub-token", token), ("deploy-key", key)):
        with open(os.path.join(made, "value"), "w") as f:
            f.write(value)
        falaj("secret", "set", name, "--from-file", "value")
    os.unlink(os.path.join(made, "value"))
    sixth = submit(SECRETS, secrets=["env:TOKEN=hub-token", "file:key.pem=deploy-key"], outputs=["lengths"])
    j = ended(sixth)
    said = text(sixth)
    assert j["state"] == "COMPLETED" and api.call("GET", f"/v1/jobs/{sixth}/outputs/lengths", raw=True)[1] == b"23 55", (j, said)
    assert "token ***" in said and "*** by letters" in said and "MIIEvQ" not in said and token not in said, said
    seventh = submit(SECRETS, secrets=["env:TOKEN=hub-token", "file:key.pem=deploy-key"], inputs=[f"fail={first}/count"])
    j = ended(seventh)
    assert j["state"] == "FAILED" and j["message"].endswith("status 1: cannot use ***"), j
    for path in (f"/v1/jobs/{seventh}", f"/v1/jobs/{seventh}/events", f"/v1/jobs/{seventh}/attempts",
        "/v1/audit/events?page_size=200"):
        assert token not in json.dumps(api.must("GET", path)), path
    until("four uses in the log", lambda: len([x for x in api.must("GET", "/v1/audit/events?page_size=200")["data"]
                                                if x["action"] == "secret.use"]) == 4)
    assert b"s3cr3t-token" not in falaj("secret", "uses", "hub-token").stdout.encode() and sixth in falaj("secret", "uses",
        "hub-token").stdout
    api.must("POST", "/v1/jobs", {"name": "late", "kind": "run", "pool": "later", "force_queue": True,
                                  "spec": {"command": ["true"], "secrets": ["env:TOKEN=hub-token"]}})
    r = falaj("secret", "delete", "hub-token", "--yes", ok=False)
    assert r.returncode and "name it: late" in r.stderr, r
    slow = submit("import time; time.sleep(2)", secrets=["env:TOKEN=hub-token"])
    falaj("secret", "disable", "hub-token")
    again = api.call("POST", "/v1/jobs", {"name": "x", "kind": "run",
        "spec": {"command": ["true"], "secrets": ["env:TOKEN=hub-token"]}})
    assert again[0] == 403 and "disabled" in json.dumps(again[1]), again
    ended(slow)
    print("a program got its secrets, and its log, its failure and the API told none")

    # An image: uploaded in one file, named by data set, version and digest; the program sees its files and no others.
    archive = os.path.join(made, "tiny.tar")
    digest = image_of_python.image(archive)
    falaj("dataset", "create", "tiny", "--target", "none")
    falaj("dataset", "upload", "tiny", archive)
    tiny = [d for d in api.must("GET", "/v1/datasets")["data"] if d["name"] == "tiny"][0]["dataset_id"]
    assert api.must("GET", f"/v1/datasets/{tiny}/versions")["data"][0]["format"] == "oci"
    eighth = submit(IMAGE, environment=f"{tiny}/{digest}", inputs=[f"count={first}/count"], outputs=["seen"], name="in an image",
                    secrets=["file:key.pem=deploy-key"])
    j = ended(eighth)
    assert j["state"] == "COMPLETED" and j["spec"]["environment"] == f"{tiny}@1/{digest}", (j, text(eighth))
    assert api.call("GET", f"/v1/jobs/{eighth}/outputs/seen", raw=True)[1] == b"1797 55", text(eighth)
    assert f"info: image {digest}: 1 layers" in text(eighth), text(eighth)
    wrong = "sha256:" + "0" * 64
    ninth = submit(IMAGE, environment=f"{tiny}@1/{wrong}")
    j = ended(ninth)
    assert j["state"] == "FAILED" and f"the archive has no image {wrong}" in j["message"], j
    got, answer = api.call("POST", "/v1/jobs", {"name": "x", "kind": "run", "spec": {"command": ["x"], "environment": data}})
    assert got == 422 and "reads images" in json.dumps(answer), (got, answer)
    # The same as an environment: imported by name, listed, signed where the organisation asks for it, used, and kept while used.
    def environment(*words, ok=True):
        return falaj("environment", *words, "-o", "json", ok=ok)
    v = json.loads(environment("import", "tiny", archive, "--allow-setuid").stdout)
    assert v["state"] == "READY" and v["digest"] == digest and v["owns_archive"] and v["package_count"] == 1, v
    assert [x["name"] for x in api.must("GET", f"/v1/environments/{v['environment_id']}/packages")["data"]] == ["python3-tiny"]
    eleventh = submit(IMAGE, environment="tiny", inputs=[f"count={first}/count"], outputs=["seen"], name="in tiny",
                      secrets=["file:key.pem=deploy-key"])
    j = ended(eleventh)
    assert j["state"] == "COMPLETED" and j["spec"]["environment"] == f"{v['dataset_id']}@1/{digest}", (j, text(eleventh))
    assert eleventh in environment("uses", "tiny").stdout
    refused = environment("import", "strict", archive, ok=False)
    assert refused.returncode and "has a setuid or setgid bit" in refused.stderr and \
        "layer 1 of the image" in refused.stderr, refused
    until("the refused archive is gone", lambda: not [d for d in api.must("GET", "/v1/datasets?page_size=200")["data"]
                                                      if d["name"].startswith("image-strict-")])
    key = os.path.join(made, "key.pem")
    for words in (["genpkey", "-algorithm", "ed25519", "-out", key], ["pkey", "-in", key, "-pubout", "-out", key + ".pub"]):
        subprocess.run(["openssl", *words], check=True)
    with open(os.path.join(made, "digest"), "w") as f:
        f.write(digest)
    subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", os.path.join(made, "digest"),
                    "-out", key + ".sig"],
                   check=True)
    environment("trust", "builds", key + ".pub")
    waits = api.must("POST", "/v1/jobs", {"name": "waits", "kind": "run", "pool": "later", "force_queue": True,
                                          "spec": {"command": ["true"], "environment": "tiny"}})["job_id"]
    environment("require", "signed")
    got, answer = api.call("POST", "/v1/jobs", {"name": "x", "kind": "run", "spec": {"command": ["x"], "environment": "tiny"}})
    assert got == 403 and "not signed" in json.dumps(answer), (got, answer)
    environment("sign", "tiny", key + ".sig")
    assert ended(submit("print(1)", environment="tiny"))["state"] == "COMPLETED"
    used = environment("delete", "tiny", "--yes", ok=False)
    assert used.returncode and waits in used.stderr, used
    api.must("POST", f"/v1/jobs/{waits}/cancel", {})
    environment("require", "any")
    print("an image was imported by name, its packages listed, one with setuid bits refused; unsigned it ran nothing")

    with open(archive, "r+b") as f:
        f.seek(os.path.getsize(archive) // 3)
        f.write(b"damaged")
    falaj("dataset", "upload", "tiny", archive, "--format", "oci")
    tenth = submit(IMAGE, environment=tiny)
    j = ended(tenth)
    assert j["state"] == "FAILED" and "layer 1 of the image (sha256:" in j["message"], j
    print("a program ran in an image, and a damaged one was refused by its layer")

    nobody = "0" * 32
    for spec, status, field in (
            ({}, 400, "/spec/command"), ({"command": []}, 400, "/spec/command"), ({"command": ["x"], "image": "y"}, 400,
                "/spec/image"),
            ({"command": ["x"], "inputs": ["a=b"]}, 400, "/spec/inputs/0"), ({"command": ["x"], "inputs": [f"a=dst_{nobody}"]},
                404, "/spec/inputs/0"),
            ({"command": ["x"], "inputs": [f"a={data}@9"]}, 404, "/spec/inputs/0"), ({"command": ["x"], "outputs": ["m=../x"]},
                400, "/spec/outputs/0"),
            ({"command": ["x"], "environment": "debian:12"}, 400, "/spec/environment"),
            ({"command": ["x"], "environment": f"dst_{nobody}"}, 404, "/spec/environment"),
            ({"command": ["x"], "inputs": [f"a={first}/none"]}, 404, "/spec/inputs/0"), ({"command": ["x"],
                "env": ["FALAJ_X=1"]}, 400, "/spec/env/0"),
            ({"command": ["x"], "outputs": ["m", "m=y"]}, 400, "/spec/outputs/1"), ({"command": ["x"], "workdir": "here"}, 400,
                "/spec/workdir")):
        got, answer = api.call("POST", "/v1/jobs", {"name": "bad", "kind": "run", "spec": spec})
        assert got == status and field in json.dumps(answer), (spec, got, answer)
    print("13 bad requests were refused at their member")

    if os.environ.get("FALAJ_TIER") == "full":
        howto = open(os.path.join(SRC, "docs/howto/run-a-program.md")).read()
        script = re.search(r"<<'PY'\n(.*?)\n    PY\n", howto, re.S).group(1)
        script = "\n".join(line[4:] for line in script.split("\n"))
        torch = api.must("POST", "/v1/jobs", {"name": "torch", "kind": "run", "memory_bytes": 2 << 30, "spec": {
            "command": ["python3", "/falaj/code/script"], "script": script, "inputs": [f"digits={data}"],
                "outputs": ["weights=digits.pt"]}})["job_id"]
        j = ended(torch)
        assert j["state"] == "COMPLETED", (j, text(torch))
        assert api.call("GET", f"/v1/jobs/{torch}/outputs/weights", raw=True)[1][:2] == b"PK"
        print("the howto's PyTorch script ran as written")
    p.close()


main()
