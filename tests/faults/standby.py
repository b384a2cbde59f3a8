#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""standby.py - kill -9 of the falaj-scheduler that leads while jobs wait and another one stands by, in turns.

usage: tests/faults/standby.py [--losses N] [--jobs N]
Beside the falaj-scheduler of `falaj dev` a second one works on the same PostgreSQL. One leads, the other keeps what waits and
the machines (docs/adr/0151). At each loss the supervisor of `falaj dev` stands still, so that nobody but the other one can
lead. From the other's own figures: it had read all that waits and the machines before, and until the lost one stands by again
it loaded neither anew. Every accepted job ends once, by drill.py. The full tier wants the first admission within 5 s of each
loss; by hand the time is printed. Exit 0 only then."""
import argparse, atexit, http.client, json, os, re, signal, socket, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from drill import Load, check, settle
from platform_falaj import BIN, Platform, is_full, log, share, until

TAKEOVER_S, SLOTS, SLEEP_MS, KEPT = 5, 8, 400, 2      # KEPT: what waits, and machines


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Scheduler:
    """One falaj-scheduler, as its port of figures shows it; of falaj dev's own only the pid changes."""

    def __init__(self, p, port):
        self.p, self.port, self.proc = p, port, None
        atexit.register(self.close)

    def close(self):
        if self.proc and self.proc.poll() is None:
            self.proc.terminate()
            self.proc.wait()

    def start_as(self, pid):
        """Beside the one of that pid: the same settings and account, and a port and cycles of its own."""
        argv = open(f"/proc/{pid}/cmdline", "rb").read().decode().split("\0")[:-1]
        env = dict(x.split("=", 1) for x in open(f"/proc/{pid}/environ", "rb").read().decode().split("\0") if "=" in x)
        env.pop("NOTIFY_SOCKET", None)
        st, log_file = os.stat(f"/proc/{pid}"), open(os.path.join(self.p.ready["data_dir"], "log/standby.log"), "ab")
        who = {"user": st.st_uid, "group": st.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        self.proc = subprocess.Popen([os.path.join(BIN, "falaj-scheduler"), *argv[1:], f"--scheduler.ops_port={self.port}",
                                      "--scheduler.cycles_kept=0"], env=env, stdout=log_file, stderr=log_file, **who)

    def pid(self):
        return self.proc.pid if self.proc else self.p.pids().get("scheduler")

    def figures(self):
        """Each series by its name; {}: it does not answer."""
        try:
            c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            c.request("GET", "/metrics")
            text = c.getresponse().read().decode()
            c.close()
        except OSError:
            return {}
        return {m[1]: float(m[2]) for m in re.finditer(r"^falaj_(\S+) (\S+)$", text, re.M)}

    def leads(self):
        return self.figures().get("leader") == 1

    def loads(self):
        """How often it read all that waits, or all machines."""
        return int(self.figures().get('scheduler_mirror_total{what="loaded"}', 0))


def lose(p, leader, other):
    """The leader is killed: the seconds until the other one admits, and how many jobs wait. What the dead one's session may
    still do is over when PostgreSQL has answered (at); the time counts from the kill."""
    os.kill(p.proc.pid, signal.SIGSTOP)
    try:
        pid, killed = leader.pid(), time.time()
        os.kill(pid, signal.SIGKILL)
        if leader.proc:
            leader.proc.wait()
        at = p.sql_text("SELECT clock_timestamp()")
        since = f"SELECT extract(epoch FROM min(leased_at)) - {killed} FROM attempt WHERE leased_at > '{at}'"
        until("the other one leads", other.leads)
        took = float(until("the other one admits", lambda: p.sql_text(since)))
    finally:
        os.kill(p.proc.pid, signal.SIGCONT)
    return took, int(p.sql_text("SELECT count(*) FROM job WHERE queued"))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--losses", type=int, default=share("losses of the leader", 2, 10))
    ap.add_argument("--jobs", type=int, default=share("jobs that wait", 100, 1000))
    a = ap.parse_args()
    own = Scheduler(None, free_port())
    p = Platform({"FALAJ_SCHEDULER_LEASE_MS": "30000", "FALAJ_SCHEDULER_OPS_PORT": str(own.port)}, args=("--slots", str(SLOTS)))
    own.p, second = p, Scheduler(p, free_port())
    p.zone()
    p.wait_node()
    tenant, api = p.tenant("drill")
    until("the first one leads", own.leads)
    second.start_as(own.pid())
    until("the second one stands by", lambda: second.figures().get("leader") == 0)
    load = Load(p.url, api.token, threads=4, pause=0.04, sleeps=(SLEEP_MS,))
    until("jobs wait", lambda: int(p.sql_text("SELECT count(*) FROM job WHERE queued")) >= a.jobs)
    leader, other, losses, faults = own, second, [], []
    for _ in range(a.losses):
        until("the other one has read what waits", lambda: other.loads() >= KEPT)
        before = other.loads()
        losses.append(lose(p, leader, other))
        if leader is second:
            second.start_as(own.pid())
        until("the one that was lost stands by", lambda: leader.figures().get("leader") == 0)
        log(f"{losses[-1][0]:.2f} s; {losses[-1][1]} jobs wait; {other.loads() - before} loads")
        if other.loads() != before:
            faults.append("the new leader read anew what it had")
        if losses[-1][0] > TAKEOVER_S and is_full():
            faults.append(f"a new leader took {losses[-1][0]:.1f} s")
        leader, other = other, leader
    load.end()
    settle(p)
    more, said = check(p, tenant, api, load)
    second.close()
    print(json.dumps({"losses": len(losses), "jobs": len(load.accepted), "takeover_max_s": round(max(x[0] for x in losses), 2),
                      "waiting_min": min(x[1] for x in losses),
                      "faults": faults + more, "audit": said}))
    p.finish(faults + more)


if __name__ == "__main__":
    main()
