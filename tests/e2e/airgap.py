#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airgap.py - Falaj on a machine without the internet: installed from the archive, set up, used; and nothing tries to leave.

usage: tests/e2e/airgap.py [--debs DIR] [--keep]

Makes the archive (deploy/airgap/build.sh), and a bare tree of Debian 12 that has openssl and nothing else that Falaj needs. All
of the rest happens in a network namespace that has no interface but lo: install.sh --offline, falaj-setup, the daemons by their
units, the main job. Then the namespace gets an interface with a default route and a name server that lead nowhere: the main job
again, and twice the time of every daemon's rounds of a minute. The interface must have carried no packet; that it counts is
seen with one.
Needs root, Debian's archive (for the archive and the tree), deploy/install-deps.sh --build --console --package."""
import argparse, os, pathlib, shutil, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))
from debian_falaj import SETUP, enrol, main_job, servers
from debian_tree import Tree, run

ROUNDS_S = 130


class Space:
    """A network namespace. Commands enter its network alone: `ip netns exec` would also hide the control groups."""

    def __init__(self):
        self.name = f"falaj-airgap-{os.getpid()}"
        run("ip", "netns", "add", self.name)
        self.words = ["nsenter", f"--net=/run/netns/{self.name}"]
        run(*self.words, "ip", "link", "set", "lo", "up")

    def way_out(self):
        """An interface that swallows what is sent. Without IPv6, whose kernel part would send by itself."""
        self.before = 0
        run(*self.words, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        for words in ("link add out type veth peer name hole", "link set hole up", "link set out up",
                      "addr add 192.0.2.1/24 dev out", "neigh add 192.0.2.254 lladdr 02:00:00:00:00:01 dev out",
                      "route add default via 192.0.2.254"):
            run(*self.words, "ip", *words.split())
        self.before = self.sent()

    def sent(self):
        lines = run(*self.words, "ip", "-s", "link", "show", "out").splitlines()
        return int(lines[-1].split()[1]) - self.before

    def drop(self):
        run("ip", "netns", "del", self.name, ok=False)


def archive(tree, debs):
    """Builds it and unpacks it into the tree; the public key comes by another way."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="falaj-archive-"))
    run("openssl", "genpkey", "-algorithm", "ed25519", "-out", folder / "maker.key")
    run("openssl", "pkey", "-in", folder / "maker.key", "-pubout", "-out", tree.path / "srv/maker.pub")
    more = ["--debs", debs] if debs else []
    print("airgap.py:", run(ROOT / "deploy/airgap/build.sh", "--sign-key", folder / "maker.key", "--out", folder, *more).strip())
    tar = next(folder.glob("*.tar"))
    run("tar", "-xf", tar, "-C", tree.path / "srv")
    shutil.rmtree(folder)
    return f"/srv/{tar.stem}"


def install(tree, top):
    (tree.path / "etc/apt/sources.list").write_text("")
    tree.sh("rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb")
    victim = sorted((tree.path / top[1:] / "packages").glob("postgresql-15_*.deb"))[0]
    whole = victim.read_bytes()
    victim.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    said = tree.sh(f"{top}/install.sh --key /srv/maker.pub --offline server 2>&1; echo rc $?")
    assert f"packages/{victim.name}: was changed" in said and "rc 3" in said, said
    assert not (tree.path / "usr/sbin/falaj-api").exists() and not (tree.path / "usr/lib/postgresql").exists()
    victim.write_bytes(whole)
    began = time.time()
    for what in ("server", "worker"):
        print(tree.sh(f"{top}/install.sh --key /srv/maker.pub --offline {what}").strip())
    return began


def main():
    a = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    a.add_argument("--debs")
    a.add_argument("--keep", action="store_true")
    a = a.parse_args()
    space = Space()
    tree = Tree(tempfile.mkdtemp(prefix="falaj-tree-"), within=space.words)
    try:
        tree.make("openssl")
        top = archive(tree, a.debs)
        began = install(tree, top)
        tree.sh("pg_ctlcluster 15 main start")
        tree.sh(SETUP)
        admin, tenant = servers(tree)
        enrol(tree, admin)
        main_job(tree, tenant, "first")
        print(f"airgap.py: without a route: installed, set up, main job done; "
              f"{time.time() - began:.0f} s after the archive was unpacked")
        space.way_out()
        (tree.path / "etc/resolv.conf").write_text("nameserver 192.0.2.53\n")
        main_job(tree, tenant, "second")
        time.sleep(ROUNDS_S)        # not until something: for as long as nothing may happen
        assert not [name for name, p in tree.daemons.items() if p.poll() is not None]
        sent = space.sent()
        tree.sh("exec 3<>/dev/udp/192.0.2.53/53 && echo x >&3", shell="bash")
        counts = space.sent()
        tree.stop()
        print(f"airgap.py: with a way out: {sent} packets tried to leave; "
              f"{counts - sent} of one that was sent to see that they are counted")
        if sent or counts <= sent:
            raise SystemExit(1)
    finally:
        if not a.keep:
            tree.drop()
        space.drop()


if __name__ == "__main__":
    main()
