# SPDX-License-Identifier: Apache-2.0
"""systemd_unit.py - a command under everything that a unit says, enforced by a real systemd: process 1 of namespaces of its own.

It sees this machine's files, an empty /run, /dev/net/tun with the mode of udev's, and a tree of control groups of version 2
without controllers (this machine's may be busy in version 1). Nothing else is started. Needs root, unshare(1) and systemd.
Sources: systemd.exec(5), systemd(1)."""
import pathlib, re, shlex, shutil, subprocess, tempfile

SYSTEMD = "/lib/systemd/systemd"
BOOT = """set -e
mount --make-rprivate /
mount -t tmpfs run /run && mkdir -p /run/systemd/system
mount -t tmpfs groups /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
mount -t proc proc /proc
if [ -d /dev/net ]; then mount -t tmpfs net /dev/net && mknod -m 666 /dev/net/tun c 10 200; fi
cp -r "$0"/units/. /run/systemd/system/
exec env -i container=other PATH=/usr/sbin:/usr/bin /lib/systemd/systemd --system --unit=tried.service \\
    --log-target=console --show-status=no
"""
TRIED = """[Unit]
DefaultDependencies=no
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
Restart=no
User={user}
Group=
ExecStart=
ExecStart=/bin/sh -c {command}
StandardOutput=file:{out}
StandardError=file:{out}
{more}
"""


def lacks():
    """What this machine has not, in words; None: nothing."""
    if not pathlib.Path(SYSTEMD).exists():
        return f"no {SYSTEMD}"
    r = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, text=True, check=False)
    return r.stderr.strip() or None


def service(text):
    """[Service] of a unit without what waits for the daemon or for other units."""
    body = text.split("[Service]")[1].split("[Install]")[0]
    return "[Service]" + re.sub(r"^(Type|NotifyAccess|WatchdogSec|ExecStart\w*|User|Group|Restart\w*)=.*\n", "", body, flags=re.M)


def under(unit, drop_ins, command, user="nobody", more="", timeout=300):
    """(exit status, what it wrote) of shell text under the unit and its drop-ins; more: further lines of [Service]."""
    with tempfile.TemporaryDirectory(prefix="falaj-unit-") as d:
        at = pathlib.Path(d)
        at.chmod(0o755)
        out = at / "out"
        own = at / "units/tried.service.d"
        own.mkdir(parents=True)
        (at / "units/tried.service").write_text(service(pathlib.Path(unit).read_text()))
        for i, drop_in in enumerate(drop_ins):
            shutil.copy(drop_in, own / f"{i}.conf")
        quoted = shlex.quote(f"{command}; echo status $?").replace("%", "%%").replace("$", "$$")
        (own / "9.conf").write_text(TRIED.format(user=user, command=quoted, out=out, more=more))
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--net", "--cgroup", "sh", "-c", BOOT]
        r = subprocess.run([*words, d], capture_output=True, text=True, timeout=timeout, check=False)
        said = out.read_text() if out.exists() else ""
        status = re.search(r"status (\d+)\n\Z", said)
        assert status, f"the unit did not start: {r.stdout[-2000:]}{r.stderr[-2000:]}{said[-2000:]}"
        return int(status[1]), said[:status.start()]
