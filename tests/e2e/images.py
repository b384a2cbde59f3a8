#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""images.py - the OCI image from the packages: made, looked at, and run as Kubernetes would, with a root that cannot be written,
under the accounts of deploy/kubernetes, without any capability.

usage: tests/e2e/images.py [--debs DIR] [--image FILE]
A PostgreSQL and a Redis of the test's own serve it by sockets. falaj-migrate brings the schema up, falaj-keyd makes a token of
SoftHSM and opens it, falaj-api and falaj-scheduler become ready in the prod profile, the console is served, and an
administrator is made. The programs run in bubblewrap over the image's own tree, not under a container engine.
Needs root, Debian's archive, and deploy/install-deps.sh --build --package --images."""
import argparse, http.client, json, os, pathlib, shutil, ssl, subprocess, sys, tarfile, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))
from debian_tree import run
from platform_falaj import until

API, SCHEDULER, KEYD, GROUP = 10001, 10002, 10003, 10000
PG = "/usr/lib/postgresql/15/bin"


def unpack(image, folder):
    """The tree of the image's one layer, and its configuration. Digests are compared on the way."""
    import hashlib
    store, tree = folder / "oci", folder / "root"
    with tarfile.open(image) as t:
        t.extractall(store)

    def blob(d):
        path = store / "blobs/sha256" / d["digest"].split(":")[1]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name, f"{path} is not what it says"
        return path

    manifest = json.loads(blob(json.loads((store / "index.json").read_text())["manifests"][0]).read_text())
    config = json.loads(blob(manifest["config"]).read_text())
    tree.mkdir()
    for layer in manifest["layers"]:
        run("tar", "-xf", blob(layer), "-C", tree, "--numeric-owner")
    return config, tree


def look(config, tree):
    own = config["config"]
    assert own["User"] == f"{API}:{GROUP}", own
    assert own["Labels"]["org.opencontainers.image.title"] == "falaj-server", own
    marked = run("find", tree, "-xdev", "-type", "f", "-perm", "/6000").split()
    assert not marked, f"programs with the rights of their owner: {marked}"
    for gone in ("usr/bin/apt-get", "usr/bin/gcc", "var/lib/apt", "etc/apt/sources.list.d", "etc/resolv.conf"):
        assert not (tree / gone).exists(), f"{gone} is in the image"
    open_files = run("find", tree, "-xdev", "-type", "f", "-perm", "-o+w").split()
    assert not open_files, f"anybody may write {open_files}"
    whose = ["(", "-uid", "+9999", "-o", "-gid", "+9999", "-perm", "/g+w", ")"]
    theirs = run("find", tree, "-xdev", *whose, "-printf", "%P\n").split()
    assert all(f"{x}/".startswith("var/lib/falaj/") for x in theirs), f"the accounts may write {theirs}"
    users = dict(line.split(":")[0:3:2] for line in (tree / "etc/passwd").read_text().splitlines())
    assert [users[f"falaj-{x}"] for x in ("api", "scheduler", "keyd")] == [str(x) for x in (API, SCHEDULER, KEYD)], users
    print(f"images.py: {sum(1 for _ in tree.rglob('*'))} files, {int(run('du', '-sm', tree).split()[0])} MB")


class Site:
    def __init__(self, tree, folder):
        self.tree, self.folder, self.running = tree, folder, []
        for name, uid in (("state/blobs", API), ("state/erasures", API), ("state/anchors", SCHEDULER), ("state/keys", KEYD),
                          ("run/keyd", KEYD), ("pin", KEYD), ("tls", API), ("etc", API)):
            path = folder / name
            path.mkdir(parents=True)
            os.chown(path, uid, GROUP)
            path.chmod(0o2770 if name == "run/keyd" else 0o750)
        for path in (folder, folder / "state", folder / "run"):
            path.chmod(0o755)
        (folder / "sockets").mkdir(mode=0o777)
        (folder / "sockets").chmod(0o777)

    def words(self, uid, argv, env):
        """As a pod has it: nothing but the image, read-only, its volumes, and a small /tmp."""
        binds = [("state", "/var/lib/falaj"), ("run/keyd", "/run/falaj/keyd"), ("pin", "/run/pin"), ("tls", "/etc/falaj/tls"),
                 ("etc", "/etc/falaj/conf"), ("sockets", "/run/sockets")]
        out = ["bwrap", "--ro-bind", self.tree, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--die-with-parent",
               "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL", "--clearenv",
               # root until setpriv: in a user namespace of each, falaj-keyd would not see who calls
               "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP",
               "--setenv", "PATH", "/usr/sbin:/usr/bin"]
        for ours, theirs in binds:
            (self.tree / theirs[1:]).mkdir(parents=True, exist_ok=True)      # as a container engine makes what it mounts on
            out += ["--bind", self.folder / ours, theirs]
        for k, v in env.items():
            out += ["--setenv", k, v]
        return [*map(str, out), "setpriv", "--reuid", str(uid), "--regid", str(GROUP), "--clear-groups", "--no-new-privs",
                "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", *argv]

    def once(self, uid, *argv, **env):
        return run(*self.words(uid, argv, env))

    def start(self, name, uid, *argv, **env):
        log = open(self.folder / f"{name}.log", "wb")
        self.running.append(subprocess.Popen(self.words(uid, argv, env), stdout=log, stderr=log))

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()[-2500:]

    def end(self):
        for p in reversed(self.running):
            p.terminate()
            try:
                p.wait(60)
            except subprocess.TimeoutExpired:
                p.kill()


def servers(site):
    """PostgreSQL and Redis of this machine, as somebody else's, on sockets."""
    data, sockets = site.folder / "pg", site.folder / "sockets"
    data.mkdir()
    shutil.chown(data, "postgres", "postgres")
    as_pg = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]
    run(*as_pg, f"{PG}/initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", cwd="/")
    log = open(site.folder / "pg.log", "wb")
    for argv in ([*as_pg, f"{PG}/postgres", "-D", data, "-k", sockets, "-c", "listen_addresses=", "-c", "fsync=off"],
                 ["redis-server", "--port", "0", "--unixsocket", sockets / "redis", "--unixsocketperm", "777", "--save", ""]):
        site.running.append(subprocess.Popen(argv, stdout=log, stderr=log, cwd="/"))
    psql = ["psql", "-X", "-q", "-h", str(sockets), "-U", "postgres", "-v", "ON_ERROR_STOP=1"]
    hello = [*psql, "-c", "SELECT 1"]
    until("PostgreSQL answers", lambda: subprocess.run(hello, capture_output=True, check=False).returncode == 0, 120)
    run(*psql, "-f", site.tree / "usr/share/falaj/sql/roles.sql")
    run(*psql, "-c", "CREATE DATABASE falaj OWNER falaj_owner")
    return psql


def url(role):
    return f"host=/run/sockets dbname=falaj user={role}"


def answers(path, port, context=None):
    try:
        c = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=5) if context else \
            http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        c.request("GET", path)
        r = c.getresponse()
        return r.status, r.read()
    except (OSError, http.client.HTTPException):
        return 0, b""


def use(site):
    psql = servers(site)
    site.once(API, "falaj-migrate", FALAJ_MIGRATE_URL=url("falaj_migrate"))
    run(*psql, "-d", "falaj", "-f", site.tree / "usr/share/falaj/sql/superuser.sql")
    for name in ("falaj-pin", "so-pin"):
        (site.folder / "pin" / name).write_text("image-test-pin\n")
        os.chown(site.folder / "pin" / name, KEYD, GROUP)
        (site.folder / "pin" / name).chmod(0o400)
    (site.folder / "etc/softhsm.conf").write_text((ROOT / "deploy/kubernetes/overlays/dev/softhsm.conf").read_text())
    (site.folder / "etc").chmod(0o755)
    keyd = {"CREDENTIALS_DIRECTORY": "/run/pin", "SOFTHSM2_CONF": "/etc/falaj/conf/softhsm.conf"}
    token = ["--zone=ae-dxb-1", "--module=/usr/lib/softhsm/libsofthsm2.so", "--token-label=falaj"]
    site.once(KEYD, "falaj-keyd", "--init-token", *token, "--so-pin-file=/run/pin/so-pin", **keyd)
    site.start("keyd", KEYD, "falaj-keyd", *token, "--socket=/run/falaj/keyd/zone.sock", "--profile=prod", f"--allow-uid={API}",
               f"--allow-uid={SCHEDULER}", **keyd)
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=falaj", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", site.folder / "tls/tls.key",
        "-out", site.folder / "tls/tls.crt")
    for name in ("tls.key", "tls.crt"):
        os.chown(site.folder / "tls" / name, API, GROUP)
    for name in ("api", "scheduler"):
        shutil.copy(ROOT / f"deploy/kubernetes/base/{name}.conf", site.folder / "etc")
        (site.folder / f"etc/{name}.conf").chmod(0o644)
    shared = {"FALAJ_KEYS_SOCKETS": "ae-dxb-1=/run/falaj/keyd/zone.sock", "FALAJ_API_PUBLIC_URL": "https://localhost",
              "FALAJ_REDIS_SOCKET": "/run/sockets/redis"}
    api = {**shared, "FALAJ_DB_URL": url("falaj_app"), "FALAJ_DB_NODE_URL": url("falaj_worker_api"), "FALAJ_API_PORT": "18480",
           "FALAJ_API_WORKER_PORT": "18443", "FALAJ_API_OPS_PORT": "18464"}
    site.start("api", API, "falaj-api", "--config=/etc/falaj/conf/api.conf", **api)
    site.start("scheduler", SCHEDULER, "falaj-scheduler", "--config=/etc/falaj/conf/scheduler.conf", **shared,
               FALAJ_SCHEDULER_URL=url("falaj_scheduler"), FALAJ_DB_URL=url("falaj_scheduler"),
               FALAJ_SEQUENCER_URL=url("falaj_sequencer"), FALAJ_AUDIT_RETENTION_URL=url("falaj_retention"),
               FALAJ_SCHEDULER_OPS_PORT="18465")
    try:
        until("falaj-api is ready", lambda: answers("/readyz", 18464)[0] == 200, 120)
        until("falaj-scheduler leads", lambda: answers("/readyz", 18465) == (200, b"leading\n"), 120)
    except SystemExit:
        sys.exit("\n".join(f"--- {x}\n{site.log(x)}" for x in ("keyd", "api", "scheduler")))
    context = ssl.create_default_context(cafile=site.folder / "tls/tls.crt")
    status, page = answers("/", 18480, context)
    assert status == 200 and b"<html" in page, (status, page[:200])
    said = site.once(API, "falaj-api", "--config=/etc/falaj/conf/api.conf", "--bootstrap-admin", **api)
    assert said.startswith("flj_user_"), said
    for uid in (API, SCHEDULER, KEYD):
        status = site.once(uid, "cat", "/proc/self/status")
        assert f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n" in status and "CapBnd:\t0000000000000000\n" in status, status
    print("images.py: falaj-migrate, -keyd, -api and -scheduler ran read-only in prod, the console came, and an administrator")


def main():
    a = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    a.add_argument("--debs")
    a.add_argument("--image")
    a = a.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="falaj-images-"))
    folder.chmod(0o755)
    began = time.time()
    debs = ["--debs", a.debs] if a.debs else []
    image = a.image or run(ROOT / "deploy/images/build.sh", "--out", folder / "out", *debs).strip()
    print(f"images.py: {os.path.basename(image)}, {os.path.getsize(image) >> 20} MB, after {time.time() - began:.0f} s")
    try:
        config, tree = unpack(image, folder)
        look(config, tree)
        site = Site(tree, folder)
        try:
            use(site)
        finally:
            site.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
