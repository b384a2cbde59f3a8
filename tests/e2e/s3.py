#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""s3.py - blobs in a real S3 store: Ceph's radosgw over one monitor, manager and memory-backed disk, all on loopback.

The contract of the blob store first (tests/unit/registry/vault/test_blob_s3.c and two beside it,
                                      without the faults that only a server of the
tests' can make). Then a platform with data on its disk gets the bucket: jobs run while blobs move there, an upload in parts
ends there, everything opens afterwards, the disk's folder is empty, and the platform runs on without it. A store that is down
is told by /readyz; nothing is lost by it. Needs deploy/install-deps.sh --s3. Exit status 0 only then."""
import hashlib, json, os, shutil, signal, subprocess, sys, tempfile, urllib.error, urllib.request, uuid
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import BIN, Platform, log, until

KEY, SECRET, BUCKET = "FALAJTESTKEY", "falaj/test+secret", "blobs"
CSV = ("a,b,y\n" + "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(60))).encode()


def run(*argv, **more):
    return subprocess.run(argv, check=True, capture_output=True, text=True, **more).stdout


class Ceph:
    """Daemons are started in the foreground, so that they end with this test; cephx stays on, as radosgw wants it."""

    def __init__(self, folder, port):
        self.dir, self.port, self.url, self.children = folder, port, f"http://127.0.0.1:{port}", []
        self.conf, ring, fsid = f"{folder}/ceph.conf", f"{folder}/keyring", str(uuid.uuid4())
        for name in ("mon", "mgr", "osd", "run", "log"):
            os.makedirs(f"{folder}/{name}")
        monitor = f"[v2:127.0.0.1:{port + 1},v1:127.0.0.1:{port + 2}]"
        open(self.conf, "w").write("\n".join((
            "[global]", f"fsid = {fsid}", f"mon host = {monitor}", "public addr = 127.0.0.1", "cluster addr = 127.0.0.1",
                "ms bind ipv6 = false",
            "osd pool default size = 1", "osd pool default min size = 1", "osd pool default pg num = 8",
                 "osd crush chooseleaf type = 0",
            "mon allow pool size one = true", "mon warn on pool no redundancy = false", "mon max pg per osd = 1000",
            "osd objectstore = memstore", f"memstore device bytes = {2 << 30}", f"run dir = {folder}/run",
                 f"log file = {folder}/log/$name.log",
            f"admin socket = {folder}/run/$name.asok", f"keyring = {ring}", f"mon data = {folder}/mon",
                f"mgr data = {folder}/mgr",
            f"osd data = {folder}/osd", "setuser match path = /nonexistent", "[client.rgw]",
                f"rgw frontends = beast endpoint=127.0.0.1:{port}",
            "rgw usage max shards = 1", "")))
        run("ceph-authtool", "-C", ring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
        for who in ("client.admin", "mgr.x", "osd.0", "client.rgw"):
            run("ceph-authtool", ring, "--gen-key", "-n", who,
                *(w for c in ("mon", "osd", "mgr") for w in ("--cap", c, "allow *")))
        run("monmaptool", "--create", "--clobber", "--fsid", fsid, "--addv", "a", monitor, f"{folder}/monmap")
        run("ceph-mon", "-c", self.conf, "--mkfs", "-i", "a", "--monmap", f"{folder}/monmap", "--keyring", ring)
        self.child("ceph-mon", "-i", "a")
        self.ceph("config", "set", "mon", "auth_allow_insecure_global_id_reclaim", "false")
        self.child("ceph-mgr", "-i", "x")
        disk = self.ceph("osd", "create").strip()
        subprocess.run(["ceph-osd", "-c", self.conf, "-i", disk, "--mkfs", "--osd-uuid", str(uuid.uuid4())], check=True,
                       stderr=subprocess.DEVNULL)
        self.ceph("osd", "crush", "add", f"osd.{disk}", "1.0", "root=default", "host=h0")
        self.child("ceph-osd", "-i", disk)
        self.gate()
        run("radosgw-admin", "-c", self.conf, "user", "create", "--uid=falaj", "--display-name=falaj", f"--access-key={KEY}",
            f"--secret={SECRET}")
        run("curl", "-sSf", "-X", "PUT", "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", f"{KEY}:{SECRET}",
            "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", f"{self.url}/{BUCKET}")

    def ceph(self, *argv):
        return run("ceph", "-c", self.conf, "--connect-timeout", "60", *argv)

    def child(self, *argv):
        out = open(f"{self.dir}/log/{argv[0]}.out", "ab")
        self.children.append(subprocess.Popen([argv[0], "-c", self.conf, "-f", *argv[1:]], stdout=out, stderr=out))
        return self.children[-1]

    def answers(self):
        try:
            return urllib.request.urlopen(self.url, timeout=5).status == 200
        except OSError:
            return False

    def gate(self):
        self.rgw = self.child("radosgw", "-n", "client.rgw")
        until("radosgw answers", self.answers, timeout=180)

    def objects(self):
        stats = json.loads(run("radosgw-admin", "-c", self.conf, "bucket", "list", f"--bucket={BUCKET}", "--max-entries=10000"))
        return [row["name"] for row in stats]

    def close(self):
        for c in reversed(self.children):
            c.kill()
            c.wait()


def contract(ceph):
    env = dict(os.environ, FALAJ_TEST_S3=f"{ceph.url}/{BUCKET}/contract", FALAJ_TEST_S3_KEY=KEY, FALAJ_TEST_S3_SECRET=SECRET,
               FALAJ_TEST_S3_REAL="1")
    for test in ("blob_s3", "blob_s3_stage", "blob_moving"):
        subprocess.run([os.path.join(BIN, f"../tests/unit_registry_vault_test_{test}")], env=env, check=True)
    left = [o for o in ceph.objects() if o.startswith("contract/")]
    assert not left, f"the tests left {left}"


def files(data):
    return [f for d, _, names in os.walk(f"{data}/blobs") for f in names]


def train(api, data, name):
    spec = {"dataset_id": data, "dataset_version": 1, "family": "mlp", "hidden": [4], "epochs": 1, "seed": 1}
    job = api.must("POST", "/v1/jobs", {"name": name, "kind": "train", "spec": spec})["job_id"]
    until(f"job {name} completes", lambda: api.must("GET", f"/v1/jobs/{job}")["state"] == "COMPLETED")
    return job


def versions(api, name, n, first=1):
    data = api.must("POST", "/v1/datasets",
                    {"name": name, "label_column": "y", "classes": 2})["dataset_id"] if first == 1 else name
    for _ in range(n):
        api.must("POST", f"/v1/datasets/{data}/versions", CSV, headers={"Content-Type": "text/csv"})
    return data


def opens(api, data, n):
    for v in range(1, n + 1):
        _, content = api.call("GET", f"/v1/datasets/{data}/versions/{v}/content", raw=True)
        assert content == CSV, f"version {v} is not what was stored but {content[:200]}"


def platform(ceph, data):
    p = Platform(data=data)
    p.zone()
    p.wait_node()
    tenant, api = p.tenant("amana")
    kept = versions(api, "kept", 12)
    train(api, kept, "on the disk")
    on_disk = len(files(data))
    assert on_disk >= 13, on_disk
    token = api.token
    p.close()
    bucket = {"FALAJ_BLOB_S3_URL": f"{ceph.url}/{BUCKET}/ae-dxb-1", "FALAJ_BLOB_S3_KEY_ID": KEY, "FALAJ_BLOB_S3_SECRET": SECRET}
    p = Platform(bucket, data=data)
    api = type(api)(p.url, token)
    p.wait_node()
    opens(api, kept, 12)                                        # where they were
    moved = subprocess.run([os.path.join(BIN, "falaj-api"), f"--config={data}/etc/api.conf", "--move-blobs"],
                           env=dict(os.environ, **bucket),
                           capture_output=True, text=True)
    assert moved.returncode == 0, moved.stderr
    log(f"{moved.stdout.strip()}; {on_disk} lay on the disk")
    assert not files(data), files(data)
    opens(api, kept, 12)
    train(api, kept, "in the bucket")
    large = upload(api)
    ceph.rgw.kill()
    ceph.rgw.wait()
    until("/readyz tells of it", lambda: part(p, "blobs") == "down")
    status, _ = api.call("POST", f"/v1/datasets/{kept}/versions", CSV, headers={"Content-Type": "text/csv"})
    assert status == 503, status
    ceph.gate()
    until("/readyz tells that it is back", lambda: part(p, "blobs") == "ok")
    versions(api, kept, 1, first=13)
    opens(api, kept, 13)
    _, content = api.call("GET", f"/v1/datasets/{large}/versions/1/content", raw=True)
    assert len(content) > 20 << 20
    faults = [row for row in p.admin.must("GET", "/v1/system/invariants")["data"] if row["violations"]]
    assert not faults, faults
    p.close()


def part(p, name):
    try:
        body = json.load(urllib.request.urlopen(f"{p.url}/readyz", timeout=30))
    except urllib.error.HTTPError as e:
        body = json.load(e)
    return next(x["status"] for x in body["parts"] if x["name"] == name)


def upload(api):
    """More than two parts of the store's, in six of the caller's."""
    row = "1,2,0\n"
    content = ("a,b,y\n" + row * ((21 << 20) // len(row))).encode()
    data = api.must("POST", "/v1/datasets", {"name": "large", "label_column": "y", "classes": 2})["dataset_id"]
    up = api.must("POST", "/v1/uploads",
                  {"dataset_id": data, "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    kind = {"Content-Type": "application/octet-stream"}
    for at in range(0, len(content), 4 << 20):
        api.must("PUT", f"/v1/uploads/{up['upload_id']}/parts?offset={at}", content[at:at + (4 << 20)], headers=kind)
    api.must("POST", f"/v1/uploads/{up['upload_id']}/complete", timeout=120)
    return data


def main():
    folder = tempfile.mkdtemp(prefix="falaj-s3-")
    ceph = None
    try:
        ceph = Ceph(os.path.join(folder, "ceph"), 20000 + os.getpid() % 20000)
        contract(ceph)
        platform(ceph, os.path.join(folder, "data"))
    finally:
        if ceph:
            ceph.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
