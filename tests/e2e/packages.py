#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packages.py - the Debian packages, installed into a tree of bare Debian 12, set up, run, used and purged.

usage: tests/e2e/packages.py [--debs DIR] [--keep]

Builds the packages with deploy/packages.sh unless --debs names them, makes the tree with debootstrap, installs them with apt,
runs falaj-setup there, and starts each daemon by its unit's ExecStart under the unit's user, group, limits and environment; what
only a running systemd enforces (its sandbox) is judged by `systemd-analyze security`, at most 2.0, 2.5 with the worker's
drop-in for accounts. Then a zone is made and a machine enrolled and registered, without and with the drop-in.
At the end the packages are purged.
Needs root, Debian's archive, and deploy/install-deps.sh --build --console --package."""
import argparse, json, os, pathlib, re, resource, shlex, shutil, signal, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZONE = "ae-dxb-1"
UNITS = ["falaj-api.service", "falaj-scheduler.service", "falaj-keyd@.service", "falaj-worker.service"]
WORKER = UNITS[-1]
API, WORKERS = 19443, 19444


def run(*args, ok=True, **kw):
    r = subprocess.run([str(a) for a in args], text=True, capture_output=True, **kw)
    if ok and r.returncode:
        sys.exit(f"packages.py: {shlex.join(map(str, args))} ended with {r.returncode}\n{r.stdout[-3000:]}{r.stderr[-3000:]}")
    return r.stdout


class Tree:
    """A tree of Debian, and what runs in it."""

    def __init__(self, path):
        self.path, self.daemons = pathlib.Path(path), {}

    def make(self):
        run("debootstrap", "--variant=minbase", "--include=postgresql-15,softhsm2,ca-certificates", "bookworm", self.path)
        (self.path / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")    # no package starts anything here
        (self.path / "usr/sbin/policy-rc.d").chmod(0o755)
        for name in ("proc", "dev"):
            run("mount", "--bind", f"/{name}", self.path / name)

    def sh(self, command, ok=True, **kw):
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        return run("chroot", self.path, "sh", "-c", command, ok=ok, env=env, **kw)

    def unit(self, name):
        """The settings of [Service] of a unit and its drop-ins: name -> list of values; an empty one begins anew."""
        files = [self.path / "lib/systemd/system" / name, *sorted((self.path / f"etc/systemd/system/{name}.d").glob("*.conf"))]
        found = {}
        for text in (f.read_text() for f in files):
            for key, value in re.findall(r"^(\w+)=(.*)$", text.split("[Service]")[1].split("[Install]")[0], re.M):
                found[key] = found.get(key, []) + [value] if value else []
        return found

    def words_of_root(self):
        """Words before a command that make the tree its root: by pivot_root, since a chroot permits no user namespace."""
        script = ('mount --rbind "$0" "$0" && cd "$0" && mkdir -p .old && pivot_root . .old && '
                  'cd / && umount -l /.old && exec "$@"')
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, self.path]

    def start(self, name, instance=""):
        unit = self.unit(name)
        env = {"PATH": "/usr/sbin:/usr/bin", "NOTIFY_SOCKET": "/run/notify",
               "WATCHDOG_USEC": str(int(unit["WatchdogSec"][0]) * 1000000)}
        for file in unit.get("EnvironmentFile", []):
            lines = (self.path / file.replace("%i", instance)[1:]).read_text().splitlines()
            env |= dict(line.split("=", 1) for line in lines if "=" in line)
        command = unit["ExecStart"][0].replace("%i", instance)
        words = []
        for part in shlex.split(command):
            words += shlex.split(env.get(part[1:], "")) if part.startswith("$") else [part]
        if "LoadCredential" in unit:
            ident, source = unit["LoadCredential"][0].replace("%i", instance).split(":", 1)
            creds = self.path / "run" / f"credentials-{name}"
            creds.mkdir(mode=0o700, exist_ok=True)
            shutil.copy(self.path / source[1:], creds / ident)
            env["CREDENTIALS_DIRECTORY"] = f"/run/{creds.name}"
            uid = int(self.sh(f"id -u {unit['User'][0]}"))
            os.chown(creds, uid, -1), os.chown(creds / ident, uid, -1), (creds / ident).chmod(0o400)
        limits = []
        for key, option, which in (("LimitNOFILE", "nofile", resource.RLIMIT_NOFILE),
                                   ("LimitMEMLOCK", "memlock", resource.RLIMIT_MEMLOCK),
                                   ("LimitCORE", "core", resource.RLIMIT_CORE)):
            hard, want = resource.getrlimit(which)[1], int(unit.get(key, ["-1"])[0].replace("64M", str(64 << 20)))
            if want >= 0:       # a container may not go above what it was given
                limits.append(f"--{option}={want if hard == resource.RLIM_INFINITY else min(want, hard)}")
        log = open(self.path / f"{name}.log", "w")
        caps = "".join(f",+{c.lower().removeprefix('cap_')}" for v in unit.get("AmbientCapabilities", []) for c in v.split())
        self.daemons[name] = subprocess.Popen(
            ["prlimit", *limits, *self.words_of_root(), "setpriv", f"--reuid={unit['User'][0]}", f"--regid={unit['Group'][0]}",
             "--init-groups", "--no-new-privs", f"--bounding-set=-all{caps}", f"--inh-caps=-all{caps}",
             f"--ambient-caps=-all{caps}", *words], env=env, stdout=log, stderr=log, umask=0o077)

    def log(self, name):
        return (self.path / f"{name}.log").read_text()

    def wait_log(self, name, word):
        for _ in range(1200):
            if word in self.log(name):
                return
            if self.daemons[name].poll() is not None:
                break
            time.sleep(0.1)
        sys.exit(f"packages.py: {name} never said {word}:\n{self.log(name)[-3000:]}")

    def stop_one(self, name):
        p = self.daemons.pop(name)
        p.send_signal(signal.SIGTERM)
        if p.wait(60):
            sys.exit(f"packages.py: {name} ended with {p.returncode}:\n{self.log(name)[-3000:]}")

    def stop(self):
        for name in list(reversed(self.daemons)):
            self.stop_one(name)

    def drop(self):
        for p in self.daemons.values():
            p.kill()
            p.wait()
        self.sh("pg_ctlcluster 15 main stop -m immediate", ok=False)
        for name in ("proc", "dev"):
            run("umount", "-l", self.path / name, ok=False)
        shutil.rmtree(self.path, ignore_errors=True)


def check_unit(tree, name, most):
    with tempfile.TemporaryDirectory() as d:
        at = shutil.copy(tree.path / "lib/systemd/system" / name, d)
        own = tree.path / f"etc/systemd/system/{name}.d"
        if own.is_dir():
            shutil.copytree(own, f"{at}.d")
        last = run("systemd-analyze", "security", "--offline=yes", at, ok=False).strip().splitlines()[-1]
        level = float(re.search(r": ([\d.]+) ", last)[1])
        print(f"{name}: exposure {level}{' with its drop-in' if own.is_dir() else ''}")
        assert level <= most, last


def install(tree, debs):
    shutil.copytree(debs, tree.path / "debs")
    tree.sh("apt-get update && apt-get install -y --no-install-recommends $(ls /debs/*.deb | grep -v dbgsym)")
    tree.sh("pg_ctlcluster 15 main start")
    setup = (f"falaj-setup server --zone {ZONE} --country AE --host localhost --port {API} --worker-port {WORKERS}"
             " --softhsm --no-start")
    tree.sh(setup)
    before = tree.sh("cat /etc/falaj/api.conf /etc/falaj/keyd/*")
    for conf in ("api", "scheduler"):       # mails are made by the scheduler, and their links of this
        assert f"\napi.public_url = https://localhost:{API}\n" in tree.sh(f"cat /etc/falaj/{conf}.conf"), conf
    (tree.path / "etc/falaj/api.conf").open("a").write("api.threads = 3\n")
    tree.sh(setup)          # again: what is there stays
    assert tree.sh("cat /etc/falaj/api.conf /etc/falaj/keyd/*").replace("api.threads = 3\n", "") == before
    assert "api.threads = 3" in tree.sh("cat /etc/falaj/api.conf")


def main_job(tree):
    tree.start("falaj-keyd@.service", ZONE)
    tree.wait_log("falaj-keyd@.service", "keyd.ready")
    tree.start("falaj-scheduler.service")
    tree.start("falaj-api.service")
    tree.wait_log("falaj-api.service", "api.ready")
    login = tree.sh("setpriv --reuid falaj-api --regid falaj --init-groups"
                    " falaj-api --config=/etc/falaj/api.conf --bootstrap-admin")
    token = re.search(r"flj_\w+", login)[0]
    falaj = f"FALAJ_URL=https://localhost:{API} FALAJ_CACERT=/etc/falaj/tls/ca.pem FALAJ_TOKEN={token} falaj "
    tree.sh(f"{falaj} zone create {ZONE} Dubai AE")
    tree.sh(f"{falaj} node join-token --zone {ZONE} --pool default -o 'jsonpath={{.token}}' >/run/join")
    setup = (f"falaj-setup worker --zone {ZONE} --api https://localhost:{WORKERS} --enrol https://localhost:{API}"
             " --ca /etc/falaj/tls/ca.pem --token /run/join --no-start")
    for more, account in (("", "only root gives accounts away"), (" --uid-per-lease", "one for each lease")):
        tree.sh(setup + more)
        check_unit(tree, WORKER, 2.5 if more else 2.0)
        tree.start(WORKER)
        tree.wait_log(WORKER, "node.registered")
        said = re.search(r"worker.isolation.*", tree.log(WORKER))[0]
        assert account in said, said
        nodes = json.loads(tree.sh(f"{falaj} node list -o json"))["data"]
        assert [n["state"] for n in nodes] == ["READY"], nodes
        tree.stop_one(WORKER)


def purge(tree):
    tree.sh("apt-get purge -y 'falaj-*'")
    left = tree.sh("find /usr /lib /etc/systemd -name '*falaj*' -not -path '*/man-db/*'")
    assert not left.strip(), left
    tree.sh("ls /var/lib/falaj/blobs /etc/falaj/api.conf")         # data and settings are the operator's to remove


def main():
    a = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    a.add_argument("--debs")
    a.add_argument("--keep", action="store_true")
    a = a.parse_args()
    debs = a.debs or tempfile.mkdtemp(prefix="falaj-debs-")
    if not a.debs:
        run(ROOT / "deploy/packages.sh", "--out", debs)
    tree = Tree(tempfile.mkdtemp(prefix="falaj-tree-"))
    tree.path.chmod(0o755)
    try:
        tree.make()
        install(tree, debs)
        for name in UNITS:
            check_unit(tree, name, 2.0)
        main_job(tree)
        tree.stop()
        purge(tree)
        print("packages.py: installed, set up, used and purged")
    finally:
        if not a.keep:
            tree.drop()


if __name__ == "__main__":
    main()
