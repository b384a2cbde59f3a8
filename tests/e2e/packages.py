#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packages.py - the Debian packages, installed into a tree of bare Debian 12, set up, run, used and purged.

usage: tests/e2e/packages.py [--debs DIR] [--keep]

Builds the packages with deploy/packages.sh unless --debs names them, makes the tree with debootstrap, installs them with apt,
runs falaj-setup there, and starts each daemon by its unit's ExecStart under the unit's user, group, limits and environment; what
only a running systemd enforces (its sandbox) is judged by `systemd-analyze security`, at most 2.0, 2.5 with the worker's
drop-in for accounts, 3.7 with all three, and tried by unit.py. Then a zone is made and a machine enrolled and registered,
without and with the drop-ins, the main job is done from data to a verified audit log, and a backup is made by the timer's unit
under its capabilities. At the end the packages are purged.
Needs root, Debian's archive, and deploy/install-deps.sh --build --console --package."""
import argparse, os, pathlib, re, shutil, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))
from debian_falaj import API, DATABASE, KEYD, SETUP, WORKER, cli, enrol, main_job, servers
from debian_tree import Tree, run

BACKUP = "falaj-backup.service"
UNITS = ["falaj-api.service", "falaj-scheduler.service", KEYD, WORKER, BACKUP]


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
    tree.sh(SETUP)
    before = tree.sh("cat /etc/falaj/api.conf /etc/falaj/keyd/*")
    for conf in ("api", "scheduler"):       # mails are made by the scheduler, and their links of this
        assert f"\napi.public_url = https://localhost:{API}\n" in tree.sh(f"cat /etc/falaj/{conf}.conf"), conf
    (tree.path / "etc/falaj/api.conf").open("a").write("api.threads = 3\n")
    tree.sh(SETUP)          # again: what is there stays
    assert tree.sh("cat /etc/falaj/api.conf /etc/falaj/keyd/*").replace("api.threads = 3\n", "") == before
    assert "api.threads = 3" in tree.sh("cat /etc/falaj/api.conf")


def footprint(tree, when):
    for name in tree.daemons:
        print("packages.py: %s, %s: %.1f MB resident, %.1f at most" % (name, when, *tree.memory_mb(name)))


def use(tree):
    admin, tenant = servers(tree)
    for more, account, most in (("", "only root gives accounts away", 2.0), (" --uid-per-lease", "one for each lease", 2.5),
                                (" --uid-per-lease --programs --gpus", "one for each lease", 3.7)):
        enrol(tree, admin, more)
        check_unit(tree, WORKER, most)
        assert ("event=worker.programs" in tree.log(WORKER)) == ("--programs" in more), tree.log(WORKER)
        said = re.search(r"worker.isolation.*", tree.log(WORKER))[0]
        assert account in said, said
        if most < 3.7:
            tree.stop_one(WORKER)
    footprint(tree, "idle")
    answer, label = main_job(tree, tenant)
    footprint(tree, "after the main job")
    print(f"packages.py: a digit {label} was answered by {answer['outputs'][0]['data'][:10]}")
    timer = (tree.path / "lib/systemd/system/falaj-backup.timer").read_text()
    assert "OnCalendar=" in timer and (tree.path / "lib/systemd/system" / BACKUP).exists(), timer
    tree.sh("falaj-backup init --config /etc/falaj/backup.conf --recovery-key /srv/recovery")
    tree.once(BACKUP)
    said = tree.sh("falaj-backup verify --config /etc/falaj/backup.conf")
    print("packages.py: a backup by the timer's unit:", said.strip().splitlines()[-1])


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
    try:
        tree.make(*DATABASE, "bubblewrap")
        install(tree, debs)
        for name in UNITS:
            check_unit(tree, name, 2.0)
        use(tree)
        tree.stop()
        purge(tree)
        print("packages.py: installed, set up, used and purged")
    finally:
        if not a.keep:
            tree.drop()


if __name__ == "__main__":
    main()
