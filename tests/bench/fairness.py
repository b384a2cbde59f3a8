#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fairness.py - what one tenant's floods cost another's GET /v1/jobs/{id}, and the machines' reports.

A process of its own floods in one way after another, by FLOODERS calls at once, behind the others for a processor (a flood
comes from elsewhere: what its client computes is not Falaj's); quiet and flooded seconds take turns, and
medians of the rounds are compared. Meanwhile no-op jobs of the other tenant run, so that machines report. Prints one JSON
line a figure. Not a test: no figure fails. The client and everything else share the machine's processors, so a flood that
only computes costs the other its part of them.
usage: tests/bench/fairness.py [--seconds N] [--reps N] [--only FLOOD,…]"""
import argparse, http.client, itertools, json, multiprocessing, os, re, socket, statistics, struct, sys, threading, time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import SRC, Api, Platform, log

FLOODERS, SILENT, IP_BIND_ADDRESS_NO_PORT = 12, 400, 24
CSV = open(os.path.join(SRC, "datasets/digits/digits.csv"), "rb").read()


class Flood:
    """What a flooding thread needs: its own connection, and what the tenant has."""

    def __init__(self, url, token, tenant, dataset, job, machines_at, n):
        self.machines_at = machines_at
        self.api, self.url, self.tenant, self.dataset, self.job, self.n = Api(url, token), url, tenant, dataset, job, n
        self.kept, self.numbers = [], itertools.count()

    def filled(self):
        status, u = self.api.call("POST", "/v1/uploads", {"dataset_id": self.dataset, "size_bytes": len(CSV)})
        if status != 201:
            return None
        self.api.call("PUT", f"/v1/uploads/{u['upload_id']}/parts?offset=0", CSV,
                      headers={"Content-Type": "application/octet-stream"})
        return u["upload_id"]

    def uploads(self):
        upload = self.filled()
        if upload:
            self.api.call("DELETE", f"/v1/uploads/{upload}")

    def completions(self):
        upload = self.filled()
        if upload:
            self.api.call("POST", f"/v1/uploads/{upload}/complete")

    def searches(self):
        self.api.call("GET", f"/v1/jobs?q=nothing-{next(self.numbers)}")

    def counts(self):
        self.api.call("GET", f"/v1/jobs/counts?q=job-{next(self.numbers)}")

    def submissions(self):
        self.api.call("POST", "/v1/jobs", {"name": "flood", "kind": "noop", "pool": "no-machines"})

    def sign_ons(self):
        Api(self.url, "").call("POST", "/v1/auth/login", {"tenant": self.tenant, "name": f"n-{self.n}-{next(self.numbers)}",
                                                         "password": "a heron by the water wheel"})

    def opened(self, path, most):
        if len(self.kept) >= most:
            time.sleep(0.05)
            return
        c = http.client.HTTPConnection(self.api.host, self.api.port, timeout=30)
        c.request("GET", path, headers={"Authorization": "Bearer " + self.api.token, "Accept": "text/event-stream"})
        self.kept.append(c)

    def streams(self):
        self.opened(f"/v1/jobs/{self.job}/events", 30)

    def exports(self):
        self.opened("/v1/audit/events.csv", 20)         # and never reads

    def machines(self):
        """Connections to the machines' listener: every other one says nothing and stays, the rest are gone at once."""
        n = next(self.numbers)
        self.silent(self.machines_at, f"127.0.0.{2 + n % 8}", n % 2)

    def connections(self):
        self.silent((self.api.host, self.api.port), "127.0.0.2", True)

    def silent(self, at, address, is_kept):
        if len(self.kept) >= SILENT // FLOODERS:
            self.kept.pop(0).close()
        s = socket.socket()
        # The kernel's search for a free port would cost more than all that is measured here: it is left to connect, and no
        # port stays behind.
        s.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.bind((address, 0))
        s.connect(at)
        if is_kept:
            self.kept.append(s)
        else:
            s.close()


KINDS = ["uploads", "completions", "searches", "counts", "submissions", "streams", "exports", "connections", "machines",
         "sign_ons"]


def flooder(kind, args, stop, done):
    os.nice(10)

    def one(n):
        f = Flood(*args, n)
        while not stop.is_set():
            try:
                getattr(f, kind)()
                done[n] += 1
            except (OSError, http.client.HTTPException):
                f.api = Api(f.url, args[1])             # it was ended: that is what a flood may expect
                time.sleep(0.01)
    threads = [threading.Thread(target=one, args=(n,), daemon=True) for n in range(FLOODERS)]
    for t in threads:
        t.start()
    stop.wait()
    os._exit(0)


def measure(api, job, seconds):
    """(p99 in ms, calls, failed)"""
    times, failed, until = [], 0, time.time() + seconds
    while time.time() < until:
        began = time.perf_counter()
        try:
            failed += api.call("GET", f"/v1/jobs/{job}")[0] != 200
        except (OSError, http.client.HTTPException):
            failed += 1
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return times[int(len(times) * 0.99)], len(times), failed


def reports(p):
    """How many reports machines made, and how many of them took more than a second."""
    text = urllib.request.urlopen(p.ready["metrics"]["worker"]).read().decode()
    within = int(re.search(r'^falaj_worker_report_seconds_bucket\{le="1"\} (\d+)', text, re.M).group(1))
    count = int(re.search(r"^falaj_worker_report_seconds_count (\d+)", text, re.M).group(1))
    return count, count - within


def machines_at(p):
    """Host and port of the machines' listener."""
    conf = open(os.path.join(p.ready["data_dir"], "etc/worker.conf")).read()
    host, port = re.search(r"worker\.api_url = https://([^:/\s]+):(\d+)", conf).groups()
    return host, int(port)


def keep_running(url, token, stop):
    api = Api(url, token)
    while not stop.wait(0.1):
        api.call("POST", "/v1/jobs", {"name": "steady", "kind": "noop"})


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--seconds", type=float, default=4)
    ap.add_argument("--reps", type=int, default=3)
    ap.add_argument("--only", default=",".join(KINDS))
    a = ap.parse_args()
    p = Platform()
    p.zone()
    p.wait_node()
    flooding_id, flooding = p.tenant("floods")
    _, other = p.tenant("other")
    dataset = flooding.must("POST", "/v1/datasets", {"name": "digits", "label_column": "label", "classes": 10})["dataset_id"]
    job = flooding.must("POST", "/v1/jobs", {"name": "waits", "kind": "noop", "pool": "no-machines"})["job_id"]
    own = other.must("POST", "/v1/jobs", {"name": "read", "kind": "noop", "pool": "no-machines"})["job_id"]
    stop_jobs = threading.Event()
    threading.Thread(target=keep_running, args=(p.url, other.token, stop_jobs), daemon=True).start()
    measure(other, own, 1)
    for kind in a.only.split(","):
        quiet, flooded, failed, calls, made = [], [], 0, 0, 0
        before = reports(p)
        for _ in range(a.reps):
            quiet.append(measure(other, own, a.seconds)[0])
            stop, done = multiprocessing.Event(), multiprocessing.Array("q", FLOODERS, lock=False)
            args = (p.url, flooding.token, "floods", dataset, job, machines_at(p))
            flood = multiprocessing.Process(target=flooder, args=(kind, args, stop, done))
            flood.start()
            time.sleep(0.5)
            p99, n, bad = measure(other, own, a.seconds)
            stop.set()
            flood.join()
            flooded.append(p99)
            failed, calls, made = failed + bad, calls + n, made + sum(done)
        after = reports(p)
        q, f = statistics.median(quiet), statistics.median(flooded)
        print(json.dumps({"figure": f"p99 beside {kind}", "ratio": round(f / q, 2), "quiet_ms": round(q, 2),
                          "flooded_ms": round(f, 2), "calls": calls, "failed": failed, "flood_calls": made,
                          "reports": after[0] - before[0],
                          "reports_above_1_s": after[1] - before[1], "load": round(os.getloadavg()[0], 1)}), flush=True)
    stop_jobs.set()
    p.close()


if __name__ == "__main__":
    main()
