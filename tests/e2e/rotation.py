#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rotation.py - every key of a running platform is rotated under load; then memory is searched for keys; then data is shredded.

    rotation.py [--seconds N] [--tenants N]

1. Tenants upload, download, submit and infer from threads of their own while the zone's root and all tenants' keys are rotated again
   and again through the API. No request may fail.
2. The root, the tenant keys and the data keys, which this program can open because the key store is a file, are looked for in the
   memory of falaj-api, falaj-scheduler and falaj-worker, and in every spelling in logs, arguments, environments and a dump of the
   database. None may be there.
3. One tenant's key is destroyed by four eyes, the old root versions too; yesterday's rows of the key table come back: what was stored
   stays unreadable, and a certificate says so.

Exit status: 0 all held, 1 something did not, 77 the memory of other processes cannot be read here (the rest was done)."""
import argparse, base64, csv, ctypes, io, os, random, subprocess, sys, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import Api, Platform, log, person, share

ZONE = "ae-dxb-1"
ROOTS_MAX = share("rotations of the root", 5, 10)       # a key file holds 16 versions of it
crypto = ctypes.CDLL("libcrypto.so.3")
for name in ("EVP_CIPHER_CTX_new", "EVP_aes_256_gcm"):
    getattr(crypto, name).restype = ctypes.c_void_p


def gcm_open(key, nonce, aad, sealed):
    """AES-256-GCM by OpenSSL; None when the tag does not hold."""
    ctx, n, out = ctypes.c_void_p(crypto.EVP_CIPHER_CTX_new()), ctypes.c_int(), ctypes.create_string_buffer(len(sealed))
    crypto.EVP_DecryptInit_ex(ctx, ctypes.c_void_p(crypto.EVP_aes_256_gcm()), None, key, nonce)
    crypto.EVP_DecryptUpdate(ctx, None, ctypes.byref(n), aad, len(aad))
    crypto.EVP_DecryptUpdate(ctx, out, ctypes.byref(n), sealed[:-16], len(sealed) - 16)
    crypto.EVP_CIPHER_CTX_ctrl(ctx, 0x11, 16, sealed[-16:])
    ok = crypto.EVP_DecryptFinal_ex(ctx, ctypes.byref(ctypes.create_string_buffer(16)), ctypes.byref(n)) == 1
    crypto.EVP_CIPHER_CTX_free(ctx)
    return out.raw[:len(sealed) - 16] if ok else None


def fields(*parts):
    return b"".join(len(p).to_bytes(4, "big") + p for p in parts)


def blob_key(key, aad, blob):
    """FLJ1 | alg | zone 2 | tenant 16 | version 4 | nonce 12 | sealed key; the head is the last field of the associated data."""
    return gcm_open(key, blob[27:39], aad + fields(blob[:27]), blob[39:])


class Load:
    """What a tenant does all day, in a thread; every answer that is not a success is a failure."""

    def __init__(self, platform, tenant, api):
        self.platform, self.tenant, self.api, self.stop = platform, tenant, api, threading.Event()
        self.calls, self.failures, self.uploads = 0, [], []
        self.data = api.must("POST", "/v1/datasets", {"name": "rotating", "label_column": "y", "classes": 2})["dataset_id"]
        self.thread = threading.Thread(target=self.run)

    def must(self, method, path, body=None, **kw):
        status, answer = self.api.call(method, path, body, **kw)
        self.calls += 1
        if status >= 300:
            self.failures.append(f"{method} {path}: {status} {answer}")
        return status < 300 and answer

    def run(self):
        rng = random.Random(self.tenant)
        while not self.stop.is_set():
            out = io.StringIO()
            rows = csv.writer(out)
            rows.writerow(["x", "y"])
            rows.writerows([rng.randrange(1000), i % 2] for i in range(20))
            text = out.getvalue().encode()
            v = self.must("POST", f"/v1/datasets/{self.data}/versions", text, headers={"Content-Type": "text/csv"})
            if v:
                self.uploads.append((v["version"], text))
            version, text = rng.choice(self.uploads)
            got = self.must("GET", f"/v1/datasets/{self.data}/versions/{version}/content", raw=True)
            if got is not False and got != text:
                self.failures.append(f"version {version} came back changed")
            self.must("POST", "/v1/jobs", {"name": "n", "kind": "noop", "spec": {}})
            if len(self.uploads) % 10 == 1:
                self.must("POST", "/v1/jobs", {"name": "t", "kind": "train", "spec": {
                    "dataset_id": self.data, "dataset_version": version, "family": "mlp", "hidden": [4], "epochs": 1, "seed": 1}})


def approve(approver, request):
    answer = approver.must("POST", f"/v1/approvals/{request['approval_id']}/approve", {})
    assert answer["state"] == "EXECUTED", answer


def rewrapped(api, path, timeout=300):
    until = time.time() + timeout
    while time.time() < until:
        if all(r["state"] != "RUNNING" for r in api.must("GET", path)["data"]):
            return
        time.sleep(0.2)
    raise RuntimeError(f"{path}: still running")


def rotate_under_load(p, loads, custodian, seconds):
    until, rounds = time.time() + seconds, 0
    for load in loads:
        load.thread.start()
    while time.time() < until and rounds < ROOTS_MAX:
        for load in loads:
            Api(p.url, load.api.token).must("POST", f"/v1/keys/{ZONE}/rotate", {})
        approve(custodian, p.admin.must("POST", f"/v1/zones/{ZONE}/keys/rotate", {"reason": "drill"}))
        rounds += 1
        time.sleep(seconds / ROOTS_MAX)
    for load in loads:
        load.stop.set()
        load.thread.join()
    for load in loads:
        rewrapped(load.api, f"/v1/keys/{ZONE}/rewraps")
    rewrapped(p.admin, f"/v1/zones/{ZONE}/keys/rewraps")
    for load in loads:      # nothing hangs on an old version any more, the keys of persons in the audit log included
        primary = load.api.must("GET", f"/v1/keys/{ZONE}")["primary_version"]
        until = time.time() + 300
        while load.api.call("PUT", f"/v1/keys/{ZONE}/min-version", {"min_version": primary})[0] == 409 and time.time() < until:
            time.sleep(1)
        load.must("PUT", f"/v1/keys/{ZONE}/min-version", {"min_version": primary})
    calls, failures = sum(x.calls for x in loads), [f for x in loads for f in x.failures]
    log(f"rotation: {rounds} rounds of the root and {len(loads)} tenants; {calls} requests, {len(failures)} failed", *failures[:5])
    for load in loads:
        for version, text in load.uploads[:5] + load.uploads[5::20]:
            if load.api.must("GET", f"/v1/datasets/{load.data}/versions/{version}/content", raw=True) != text:
                failures.append(f"version {version} does not come back")
    return len(failures)


def wait_jobs(loads, timeout=600):
    until = time.time() + timeout
    while time.time() < until:
        if not any(load.api.must("GET", f"/v1/jobs?page_size=1&state={s}")["data"] for load in loads
                   for s in ("PENDING", "ADMITTED", "STARTING", "RUNNING")):
            return
        time.sleep(0.3)
    raise RuntimeError("jobs do not end")


def secrets_of(p):
    """Every root, tenant key and data key of the platform, opened from file and database alone."""
    found = {}
    folder = os.path.join(p.ready["data_dir"], "keys")
    raw = b"".join(open(os.path.join(folder, f), "rb").read() for f in os.listdir(folder) if f.startswith("root"))
    keys = p.sql("SELECT tenant_id, version, encode(wrapped, 'hex') FROM tenant_key WHERE wrapped IS NOT NULL")
    tenants = {}
    for tenant, version, wrapped in keys:
        blob, t = bytes.fromhex(wrapped), bytes.fromhex(tenant.replace("-", ""))
        aad = fields(b"falaj-kek-v1", ZONE.encode(), t, b"data", int(version).to_bytes(4, "big"))
        for at in range(len(raw) - 31):
            plain = blob_key(raw[at:at + 32], aad, blob)
            if plain:
                found[f"root at {at}"], found[f"tenant key {tenant} v{version}"] = raw[at:at + 32], plain
                tenants[tenant, version] = plain
                break
    for tenant, version, kind, obj, over, dek, wrapped in p.sql(
            "SELECT d.tenant_id, d.key_version, o.kind, o.object_id, o.version, d.dek_id, encode(d.wrapped, 'hex') FROM dek d JOIN object o USING (tenant_id, object_id) ORDER BY d.dek_id DESC LIMIT 60"):
        if (tenant, version) not in tenants:
            continue
        u = [bytes.fromhex(x.replace("-", "")) for x in (tenant, obj, dek)]
        aad = fields(b"falaj-dek-v1", ZONE.encode(), u[0], kind.encode(), u[1], int(over).to_bytes(4, "big"), u[2])
        plain = blob_key(tenants[tenant, version], aad, bytes.fromhex(wrapped))
        if plain:
            found[f"data key {dek}"] = plain
    return found


def scan(pid, needles):
    """Names of the needles that lie in a process's memory; None where it cannot be read. Mappings past 4 GiB are a sanitizer's shadow."""
    hits, step = set(), 16 << 20
    try:
        mem = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        for line in open(f"/proc/{pid}/maps"):
            span, mode = line.split()[:2]
            a, b = (int(x, 16) for x in span.split("-"))
            if mode[0] != "r" or "[v" in line or b - a > 4 << 30:
                continue
            for at in range(a, b, step - 32):
                try:
                    text = os.pread(mem, min(step, b - at), at)
                except (OSError, OverflowError):
                    continue
                if text.count(0) < len(text):
                    hits.update(name for name, key in needles.items() if key in text)
    except PermissionError:
        return None
    return hits


def memory_is_clean(p):
    needles, bad, blind = secrets_of(p), 0, False
    kinds = {k: sum(n.startswith(k) for n in needles) for k in ("root", "tenant key", "data key")}
    log("memory: looking for", kinds)
    if not all(kinds.values()):
        log("memory: the keys could not be opened; the search would find nothing")
        return 1, False
    for name, pid in p.pids().items():
        if name not in ("api", "scheduler", "worker", "keyd"):
            continue
        hits = scan(pid, needles)
        if hits is None:
            blind = True
        elif name == "keyd":
            log(f"memory: falaj-keyd holds {len(hits)} of them (it must hold the root)")
            bad += not any(h.startswith("root") for h in hits)     # the search sees what is there
        else:
            log(f"memory: falaj-{name} (pid {pid}) holds {len(hits)}", *sorted(hits)[:3])
            bad += len(hits)
    return bad, blind


def spellings(key):
    """A key as it would stand in text."""
    yield from (key, key.hex().encode(), key.hex().upper().encode(), base64.b64encode(key).rstrip(b"="), base64.urlsafe_b64encode(key).rstrip(b"="))


def text_is_clean(p):
    """Logs (PostgreSQL's with its SQL, too), arguments, environments and the database's own dump hold no key in any spelling."""
    needles = [s for key in secrets_of(p).values() for s in spellings(key)]
    places = {}
    for folder, _, names in os.walk(p.ready["data_dir"]):
        if "/keys" in folder or "/blob" in folder or "/secrets" in folder or "/pg" in folder and "log" not in folder:
            continue
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                places[path] = open(path, "rb").read()
    places[p.log_path] = open(p.log_path, "rb").read()
    for name, pid in p.pids().items():
        for what in ("cmdline", "environ"):
            try:
                places[f"{name} {what}"] = open(f"/proc/{pid}/{what}", "rb").read()
            except OSError:
                pass
    places["pg_dump"] = subprocess.run(["pg_dump", "--data-only"], env=p.pg_env(), capture_output=True, check=False).stdout
    bad = [place for place, text in places.items() if any(n in text for n in needles)]
    log(f"text: {len(places)} files, arguments, environments and a dump of {len(places['pg_dump'])} bytes searched; keys in {len(bad)}", *bad[:3])
    return len(bad) + (len(places["pg_dump"]) < 10000)


def shred(p, load, custodian, auditor):
    tenant = load.api
    watcher = person(tenant, "shred-officer", "compliance-officer")
    backup = p.sql("CREATE TABLE IF NOT EXISTS backup_key AS SELECT * FROM tenant_key")
    approve(watcher, tenant.must("POST", f"/v1/keys/{ZONE}/destroy", {"reason": "the tenant leaves"}))
    version, _ = load.uploads[-1]
    content = f"/v1/datasets/{load.data}/versions/{version}/content"
    status, _ = tenant.call("GET", content, raw=True)
    faults = [] if status == 503 else [f"a key in destruction still opens: {status}"]
    p.sql("UPDATE tenant_key SET destroy_after = now() - interval '1 s' WHERE state = 'DESTROY_SCHEDULED'")
    until = time.time() + 300
    while time.time() < until and p.sql("SELECT count(*) FROM tenant_key WHERE state = 'DESTROY_SCHEDULED'") != [["0"]]:
        time.sleep(0.3)
    status, answer = tenant.call("GET", content)
    if status != 410:
        faults.append(f"after the destruction: {status} {answer}")
    certificates = tenant.must("GET", "/v1/erasure-certificates")["data"]
    if not certificates:
        faults.append("there is no certificate")
    # The old roots go, then the backup of the key table comes back.
    approve(custodian, p.admin.must("POST", f"/v1/zones/{ZONE}/keys/rotate", {"reason": "after a shred"}))
    rewrapped(p.admin, f"/v1/zones/{ZONE}/keys/rewraps")
    for root in p.admin.must("GET", f"/v1/zones/{ZONE}/keys")["data"]:
        if root["state"] == "RETIRED":
            approve(auditor, p.admin.must("POST", f"/v1/zones/{ZONE}/keys/versions/{root['version']}/destroy", {"reason": "after a shred"}))
    p.sql("ALTER TABLE tenant_key DISABLE TRIGGER USER; UPDATE tenant_key k SET state = 'DECRYPT_ONLY', wrapped = b.wrapped, destroyed_at = NULL, "
          "root_version = b.root_version FROM backup_key b WHERE b.tenant_id = k.tenant_id AND b.zone = k.zone AND b.version = k.version AND "
          "k.state = 'DESTROYED'; ALTER TABLE tenant_key ENABLE TRIGGER USER")
    status, answer = tenant.call("GET", content)
    if status == 200:
        faults.append("the backup opens what was shredded")
    log(f"shred: {len(certificates)} certificates; with yesterday's key table restored the answer is {status}", *faults)
    return len(faults)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--seconds", type=float, default=share("seconds of rotation under load", 5, 12))
    a.add_argument("--tenants", type=int, default=share("tenants", 2, 3))
    a = a.parse_args()
    p = Platform()
    p.zone()
    custodian, auditor = person(p.admin, "second-custodian", "zone-operator"), person(p.admin, "auditor", "compliance-officer")
    loads = [Load(p, *p.tenant(f"tenant-{i}")) for i in range(a.tenants)]
    p.wait_node()
    faults = rotate_under_load(p, loads, custodian, a.seconds)
    wait_jobs(loads)
    bad, blind = memory_is_clean(p)
    faults += bad + text_is_clean(p) + shred(p, loads[0], custodian, auditor)
    kept = loads[1]
    version, text = kept.uploads[0]
    if kept.api.must("GET", f"/v1/datasets/{kept.data}/versions/{version}/content", raw=True) != text:
        faults += 1
        log("another tenant lost data")
    p.finish(faults)
    return 77 if blind else 0


if __name__ == "__main__":
    sys.exit(main())
