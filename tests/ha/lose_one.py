#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lose_one.py - any one of a highly available Falaj is lost, or falls silent, while jobs flow; then all is counted.

usage: tests/ha/lose_one.py [--rounds N] [--minutes M] [--sums FILE] [--only NAME,…]

With --sums rounds that ended, well or badly, are added up in FILE, run after run: --rounds 50 goes on where the last ended, and
--minutes says after which time no further round begins. What a run that was cut short did is not added: its count never came.
Each round takes every part of site_ha.py away in turn, one at a time, and, when jobs complete again, gives it back:
  api, keyd, worker       kill -9 of one of two; without a falaj-keyd data sets are stored by the falaj-api beside the other one
  leader, standby         kill -9 of the falaj-scheduler that leads (takeover within 5 s), and of the other
  primary, standby-db     kill -9 of PostgreSQL with its Patroni, as a machine that is lost; the standby takes over within
                          Patroni's TTL + 5 s (on a machine so busy that Patroni itself needs longer: 5 s after it)
  silent-primary          the primary's machine is frozen past the TTL and comes back: what it says then counts for nothing;
                          as long without writes as for one that is lost
  silent-leader, silent-api   frozen past their leases, then they go on
  redis                   kill -9 of the master; the other one takes over, and the first comes back as its replica
  silent-redis            the master frozen until the other one has taken over
  sentinel                kill -9 of one of three
  link-api                the balancer reaches one falaj-api no more, for CUT_S; seconds count from the cut
  link-machines           no machine reaches a falaj-api, for longer than a lease may be silent; seconds count from the mending
  link-database           nobody reaches the primary, whose Patroni keeps its lead, as long; from the mending
As root all of it runs in a network of its own, in which links can be cut.
A PostgreSQL that comes back as a standby has the time of the next losses for it: losses of databases stand apart.
At the end: 0 accepted jobs lost, 0 done twice, 0 audit gaps, J1-J9. Exit status 0 only then."""
import argparse, json, os, sys, threading, time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"), os.path.dirname(os.path.abspath(__file__))]
import balancer
from drill import Load, check, settle
from platform_falaj import Api, log, share, until
from site_ha import TTL_S, Site, missing

RECOVERY_MAX_S, TAKEOVER_S, CUT_S = 90, 5, 12
FROZEN_S = {"silent-primary": TTL_S + 5, "silent-leader": 6, "silent-api": 10, "silent-redis": 0}   # at least: past their leases
LIMITS = {"leader": (1, TAKEOVER_S), "silent-leader": (1, TAKEOVER_S)}    # of what lose() returns
PRIMARIES = ("primary", "silent-primary")


def part(site, name, turn):
    """The process of this round's loss."""
    if name in ("leader", "standby", "silent-leader"):
        led = until("a falaj-scheduler leads, the other stands by", site.leader, 60)
        return f"scheduler-{led if name != 'standby' else 3 - led}"
    if name in ("primary", "silent-primary", "standby-db"):
        first = until("there is a primary", site.primary, 60)
        until("and a synchronous standby", site.has_standby, 180)
        return f"postgres-{first if name != 'standby-db' else 3 - first}"
    if name in ("redis", "silent-redis"):
        return f"redis-{until('a Redis follows the other', site.redis_whole, 180)}"
    if name == "keyd":      # else the balancer may still miss the one that was lost in the round before
        until("the balancer has two falaj-api that are whole", lambda: balancer.up(site, "api_whole") == 2, RECOVERY_MAX_S)
    return f"{name.removeprefix('silent-')}-{turn % 2 + 1}"


def lose(site, load, name, turn):
    """Seconds without service: until a submission was accepted, until a job that was submitted after the loss is done, and, of a
    primary, until Patroni had another one."""
    p = site.processes[part(site, name, turn)]
    silent = name.startswith("silent-")
    began = time.time()
    p.freeze(True) if silent else p.kill()
    elected = Elected(site, int(p.name[-1]), began) if name in PRIMARIES else None
    load.submit(Api(site.url, load.token), {}, timeout=RECOVERY_MAX_S)
    wrote = time.time() - began
    load.probe(RECOVERY_MAX_S)
    took = time.time() - began
    if name == "keyd":
        store(site, load, turn)
    if name in ("redis", "silent-redis"):
        until("Sentinel has another master", lambda: site.redis_named() not in (None, p.name), RECOVERY_MAX_S)
    if silent:
        time.sleep(max(0, began + FROZEN_S[name] - time.time()))
        p.freeze(False)
        load.probe(RECOVERY_MAX_S)
    else:
        p.start()
    return wrote, took, *([elected.after()] if elected else [])


def store(site, load, turn):
    """Once the balancer knows whose falaj-keyd is away, no data set meets that falaj-api, though it is ready for all else."""
    api = Api(site.url, load.token)
    data = api.must("POST", "/v1/datasets", {"name": f"drill-{turn}", "label_column": "y", "classes": 2})["dataset_id"]
    until("the balancer has one falaj-api that is whole, and two that are ready",
          lambda: [balancer.up(site, x) for x in ("api_whole", "api")] == [1, 2], RECOVERY_MAX_S)
    for _ in range(10):
        status, said = api.call("POST", f"/v1/datasets/{data}/versions", b"x,y\n1,0\n2,1\n", headers={"Content-Type": "text/csv"})
        if status != 201:
            load.wrong.append(f"keyd: a data set was not stored: {status} {said}")


def cut(site, load, name, turn):
    """As lose. A link that all need is mended first: until then nothing can be accepted, or done."""
    at = {"link-api": site.api_ports[turn % 2], "link-machines": site.worker_port, "link-database": None}[name]
    if at is None:
        at = site.pg_ports[until("there is a primary", site.primary, 60) - 1]
        until("and a synchronous standby", site.has_standby, 180)
    site.cut(at)
    began = time.time()
    if name != "link-api":
        time.sleep(CUT_S)
        site.mend()
        began = time.time()
    load.submit(Api(site.url, load.token), {}, timeout=RECOVERY_MAX_S)
    wrote = time.time() - began
    load.probe(RECOVERY_MAX_S)
    took = time.time() - began
    if name == "link-api":
        time.sleep(max(0, CUT_S - took))
        site.mend()
    return wrote, took


def own_network():
    """Goes on in a network namespace that has lo alone."""
    if os.geteuid() == 0 and "FALAJ_HA_NETWORK" not in os.environ:
        os.environ["FALAJ_HA_NETWORK"] = "own"
        os.execvp("unshare", ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv])


class Elected(threading.Thread):
    """Looks when Patroni's other PostgreSQL became primary and takes writes: on a busy machine that is seconds later."""

    def __init__(self, site, lost, began):
        super().__init__(daemon=True)
        self.site, self.other, self.began, self.took = site, 2 - lost, began, None
        self.start()

    def run(self):
        until("another primary is there", lambda: self.site.answers(self.site.rest_ports[self.other], "/primary"), RECOVERY_MAX_S)
        until("and takes writes", lambda: self.site.takes_writes(self.other), RECOVERY_MAX_S)
        self.took = time.time() - self.began

    def after(self):
        self.join()
        return self.took or RECOVERY_MAX_S


NAMES = ("primary", "api", "keyd", "worker", "leader", "standby-db", "standby", "redis", "silent-api", "silent-primary",
         "silent-redis", "silent-leader", "sentinel", "link-api", "link-database", "link-machines")


def add_up(path, a, one):
    """The sums of all runs with this one; None: there are none yet."""
    sums = json.load(open(path)) if os.path.exists(path) else {"only": a.only, "runs": 0, "rounds": 0, "losses": 0, "jobs": 0,
                                                               "repeated_submits": 0, "faults": [], "without_service_s": {}}
    if sums["only"] != a.only:
        raise SystemExit(f"{path} has the sums of other losses ({sums['only']}): expected {a.only}; give another --sums")
    if one:
        for key in ("rounds", "losses", "jobs", "repeated_submits", "faults"):
            sums[key] += one[key]
        sums["runs"] += 1
        for name, times in one["without_service_s"].items():
            sums["without_service_s"].setdefault(name, []).extend(times)
        with open(path + ".new", "w") as f:
            json.dump(sums, f)
        os.replace(path + ".new", path)
    return sums


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=share("rounds of losing each part", 1, 5))
    ap.add_argument("--minutes", type=float, default=1e9)
    ap.add_argument("--sums")
    ap.add_argument("--only", default=",".join(n for n in NAMES if os.geteuid() == 0 or not n.startswith("link-")))
    a = ap.parse_args()
    own_network()
    if missing():
        raise SystemExit(f"lose_one.py needs the packages {', '.join(missing())}")
    done = add_up(a.sums, a, None)["rounds"] if a.sums else 0
    if done >= a.rounds:
        raise SystemExit(f"{a.sums} has {done} rounds already, {a.rounds} were asked for")
    site, start = Site(), time.time()
    tenant, api = site.tenant("drill")
    load, lost, rounds = Load(site.url, api.token), {}, 0
    for turn in range(done, a.rounds):
        if time.time() - start > a.minutes * 60:
            break
        rounds += 1
        for name in a.only.split(","):
            began = time.time()
            lost.setdefault(name, []).append((cut if name.startswith("link-") else lose)(site, load, name, turn))
            wrote, took = lost[name][-1][:2]
            there = f", another primary was there after {lost[name][-1][2]:.2f} s" if name in PRIMARIES else ""
            log(f"{turn + 1} of {a.rounds}: {name}: {wrote:.2f} s until a job was accepted, {took:.2f} s until one was done"
                f"{there}; {time.time() - began:.0f} s in all, {len(load.accepted)} jobs")
    load.end()
    settle(site)
    faults, said = check(site, tenant, api, load)
    for name, (which, limit) in LIMITS.items():
        late = [x[which] for x in lost.get(name, []) if x[which] > limit]
        if late:
            faults.append(f"{name}: {max(late):.1f} s without service, {limit} allowed")
    for name in PRIMARIES:
        for wrote, _, elected in lost.get(name, []):
            if wrote > max(TTL_S, elected) + 5:
                faults.append(f"{name}: {wrote:.1f} s without writes, another primary was there after {elected:.1f} s")
    one = {"rounds": rounds, "losses": sum(len(l) for l in lost.values()), "jobs": len(load.accepted),
           "repeated_submits": load.unclear, "faults": faults, "audit": said,
           "without_service_s": {n: [[round(x, 2) for x in one] for one in l] for n, l in lost.items()}}
    print(json.dumps(one))
    site.close()
    if a.sums:
        all_ = add_up(a.sums, a, one)
        log(f"in {all_['runs']} runs: {all_['rounds']} rounds, {all_['losses']} losses, {all_['jobs']} jobs,"
            f" {len(all_['faults'])} faults")
    raise SystemExit(1 if faults else 0)


main()
