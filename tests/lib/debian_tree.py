# SPDX-License-Identifier: Apache-2.0
"""debian_tree.py - a tree of bare Debian 12 in which packages are installed, and units are started as systemd would.

Each daemon runs by its unit's ExecStart under the unit's user, group, limits, capabilities, credentials and environment; what
only a running systemd enforces (its sandbox) is not there: `systemd-analyze security` judges that. Needs root and
Debian's archive."""
import os, pathlib, re, resource, shlex, shutil, signal, subprocess, sys, time


def run(*args, ok=True, **kw):
    r = subprocess.run([str(a) for a in args], text=True, capture_output=True, **kw)
    if ok and r.returncode:
        sys.exit(f"{shlex.join(map(str, args))} ended with {r.returncode}\n{r.stdout[-3000:]}{r.stderr[-3000:]}")
    return r.stdout


class Tree:
    """A tree of Debian, and what runs in it; within: words before each command, as those that enter a network namespace."""

    def __init__(self, path, within=()):
        self.path, self.daemons, self.within = pathlib.Path(path), {}, list(within)
        self.path.chmod(0o755)

    def make(self, *packages):
        run("debootstrap", "--variant=minbase", f"--include={','.join(packages)}", "bookworm", self.path)
        (self.path / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")    # no package starts anything here
        (self.path / "usr/sbin/policy-rc.d").chmod(0o755)
        for name in ("proc", "dev"):
            run("mount", "--bind", f"/{name}", self.path / name)

    def sh(self, command, ok=True, shell="sh", **kw):
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        return run(*self.within, "chroot", self.path, shell, "-c", command, ok=ok, env=env, **kw)

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

    def command(self, name, instance=""):
        """Words and environment of a unit's ExecStart under its user, group, limits, capabilities and credentials."""
        unit = self.unit(name)
        user = unit.get("User", ["root"])[0]
        env = {"PATH": "/usr/sbin:/usr/bin", "NOTIFY_SOCKET": "/run/notify"}
        if "WatchdogSec" in unit:
            env["WATCHDOG_USEC"] = str(int(unit["WatchdogSec"][0]) * 1000000)
        for file in unit.get("EnvironmentFile", []):
            lines = (self.path / file.replace("%i", instance)[1:]).read_text().splitlines()
            env |= dict(line.split("=", 1) for line in lines if "=" in line)
        words = []
        for part in shlex.split(unit["ExecStart"][0].replace("%i", instance)):
            words += shlex.split(env.get(part[1:], "")) if part.startswith("$") else [part]
        if "LoadCredential" in unit:
            env["CREDENTIALS_DIRECTORY"] = self.credential(name, unit["LoadCredential"][0].replace("%i", instance), user)
        limits = []
        for key, option, which in (("LimitNOFILE", "nofile", resource.RLIMIT_NOFILE),
                                   ("LimitMEMLOCK", "memlock", resource.RLIMIT_MEMLOCK),
                                   ("LimitCORE", "core", resource.RLIMIT_CORE)):
            hard, want = resource.getrlimit(which)[1], int(unit.get(key, ["-1"])[0].replace("64M", str(64 << 20)))
            if want >= 0:       # a container may not go above what it was given
                limits.append(f"--{option}={want if hard == resource.RLIM_INFINITY else min(want, hard)}")

        def caps(key):
            return "".join(f",+{c.lower().removeprefix('cap_')}" for v in unit.get(key, []) for c in v.split())
        held = caps("AmbientCapabilities")
        return ["prlimit", *limits, *self.within, *self.words_of_root(), "setpriv", f"--reuid={user}",
                f"--regid={unit.get('Group', [user])[0]}", "--init-groups", "--no-new-privs",
                f"--bounding-set=-all{caps('CapabilityBoundingSet')}", f"--inh-caps=-all{held}", f"--ambient-caps=-all{held}",
                *words], env

    def credential(self, name, word, user):
        ident, source = word.split(":", 1)
        creds = self.path / "run" / f"credentials-{name}"
        creds.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(self.path / source[1:], creds / ident)
        uid = int(self.sh(f"id -u {user}"))
        os.chown(creds, uid, -1), os.chown(creds / ident, uid, -1), (creds / ident).chmod(0o400)
        return f"/run/{creds.name}"

    def start(self, name, instance=""):
        words, env = self.command(name, instance)
        with open(self.path / f"{name}.log", "w") as log:
            self.daemons[name] = subprocess.Popen(words, env=env, stdout=log, stderr=log, umask=0o077)

    def once(self, name):
        """A unit of Type=oneshot, to its end."""
        words, env = self.command(name)
        return run(*words, env=env, umask=0o077)

    def log(self, name):
        return (self.path / f"{name}.log").read_text()

    def memory_mb(self, name):
        """(resident now, most so far) of a daemon itself; what its children took is their leases'."""
        with open(f"/proc/{self.daemons[name].pid}/status", encoding="utf-8") as f:
            fields = dict(line.split(":", 1) for line in f)
        return tuple(int(fields[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))

    def wait_log(self, name, word):
        for _ in range(1200):
            if word in self.log(name):
                return
            if self.daemons[name].poll() is not None:
                break
            time.sleep(0.1)
        sys.exit(f"{name} never said {word}:\n{self.log(name)[-3000:]}")

    def stop_one(self, name):
        p = self.daemons.pop(name)
        p.send_signal(signal.SIGTERM)
        if p.wait(60):
            sys.exit(f"{name} ended with {p.returncode}:\n{self.log(name)[-3000:]}")

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
        if not any(os.path.ismount(self.path / name) for name in ("proc", "dev")):      # else this machine's own would go
            shutil.rmtree(self.path, ignore_errors=True)
