# SPDX-License-Identifier: Apache-2.0
"""machine.py - machines that only pretend to work: the real worker API over TLS with a certificate of the zone's authority, real
leases and reports, and for each job of kind noop nothing but its time.

A machine takes leases by long polls, starts each at once, ends it after the spec's sleep_ms, and gives back at once what is told
to make room. Reports go out together, one call at a time. Threads: one that takes, one that reports."""
import heapq, http.client, json, os, re, ssl, subprocess, tempfile, threading, time, uuid

WAIT_MS, ITEMS_MAX = 5000, 2000


def certificate(p, folder, zone, pool, name):
    """A key and a leaf for a machine, signed as falaj dev's own are."""
    ca, key = os.path.join(p.ready["data_dir"], f"tls/ca-{zone}.pem"), os.path.join(p.ready["data_dir"], f"secrets/ca-{zone}.key")
    at = os.path.join(folder, name)
    with open(at + ".ext", "w") as f:
        f.write("basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth\n"
                f"subjectAltName=URI:spiffe://{zone}/worker/{pool}/{name}\n")
    run = lambda *a: subprocess.run(["openssl", *a], check=True, capture_output=True)
    run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", at + ".key")
    run("req", "-new", "-key", at + ".key", "-subj", "/CN=" + name, "-out", at + ".csr")
    run("x509", "-req", "-in", at + ".csr", "-CA", ca, "-CAkey", key, "-CAcreateserial", "-days", "1", "-extfile", at + ".ext",
        "-out", at + ".pem")
    context = ssl.create_default_context(cafile=ca)
    context.check_hostname = False
    context.load_cert_chain(at + ".pem", at + ".key")
    return context


def listener(p):
    conf = open(os.path.join(p.ready["data_dir"], "etc/worker.conf")).read()
    return re.search(r"worker\.api_url = https://([^:/\s]+):(\d+)", conf).groups()


class Machine:
    """watch(tenant, name, slots, sign) is told of each lease that begins (+1) and ends (-1)."""

    def __init__(self, p, folder, zone, pool, name, slots, watch):
        self.context, self.at, self.watch = certificate(p, folder, zone, pool, name), listener(p), watch
        self.slots = self.free = slots
        self.lock, self.changed = threading.Lock(), threading.Condition()
        self.due, self.live, self.said, self.after = [], {}, [], "att_" + "0" * 31 + "1"
        self.done = self.preempted = self.stale = self.again = 0
        self.stopping, self.failure = False, None
        self.who = {"boot_id": str(uuid.uuid4())}
        self.conns = threading.local()
        got = self.call("/v1/nodes/register", {"name": name, "zone": zone, "pool": pool, "slots": slots, "cpus": 4096,
                                               "memory_bytes": 1 << 46, "version": "0", "boot_id": self.who["boot_id"]})
        self.who["node_id"] = got["node_id"]
        self.beat_s = got["lease_ms"] / 4000
        self.threads = [threading.Thread(target=self.guard, args=(f,), daemon=True) for f in (self.take, self.report)]
        for t in self.threads:
            t.start()

    def call(self, path, body):
        """The answer; a connection that broke is made anew, since each message may be said twice."""
        text = json.dumps(body)
        for left in range(20, -1, -1):
            try:
                if not getattr(self.conns, "c", None):
                    self.conns.c = http.client.HTTPSConnection(*self.at, context=self.context, timeout=60)
                self.conns.c.request("POST", path, text, {"Content-Type": "application/json"})
                r = self.conns.c.getresponse()
                answer = r.read()
                if r.status == 200:
                    return json.loads(answer)
                why = f"{path}: {r.status} {answer[:300]}"
                if r.status not in (429, 503, 504):
                    raise RuntimeError(why)
            except (OSError, http.client.HTTPException) as e:
                why, self.conns.c = f"{path}: {e}", None
            if not left:
                raise RuntimeError(why)
            time.sleep(0.1)

    def guard(self, what):
        try:
            what()
        except Exception as e:                          # a thread that ends unseen would look like a slow platform
            self.failure = e
            raise

    def say(self, attempt, event):
        """With the lock."""
        tenant, fence, _, _ = self.live[attempt]
        self.said.append({"tenant_id": tenant, "attempt_id": attempt, "fence": fence, "event": event})

    def end(self, attempt, event):
        """With the lock; what has ended already stays so."""
        if attempt not in self.live:
            return
        self.say(attempt, event)
        tenant, _, name, slots = self.live.pop(attempt)
        self.free += slots
        self.done += event == "succeed"
        self.preempted += event == "preempt"
        self.watch(tenant, name, slots, -1)

    def take(self):
        told = []
        while not self.stopping:
            with self.lock:
                free = max(self.free, 0)
            ask = {**self.who, "free_slots": free, "max": 1000, "wait_ms": WAIT_MS, "after": self.after}
            got = self.call("/v1/leases/next", {**ask, **({"told": told} if told else {})})
            now = time.monotonic()
            told = [n["attempt_id"] for n in got.get("notices", [])][:400]
            with self.lock:
                for l in got["leases"]:
                    self.after = max(self.after, l["attempt_id"])
                    if l["attempt_id"] in self.live:    # offered again, since a quarter of its lease passed before it was heard
                        self.again += 1                 # that it began: it holds what it holds, once
                        continue
                    self.live[l["attempt_id"]] = (l["tenant_id"], l["fence"], l["name"], l["slots"])
                    self.free -= l["slots"]
                    self.watch(l["tenant_id"], l["name"], l["slots"], 1)
                    self.say(l["attempt_id"], "start")
                    heapq.heappush(self.due, (now + l["spec"].get("sleep_ms", 0) / 1000, l["attempt_id"]))
                for n in got.get("notices", []):
                    self.end(n["attempt_id"], "preempt" if n.get("preempt_ms") else "cancel")
            with self.changed:
                self.changed.notify()

    def report(self):
        beat = time.monotonic()
        while not self.stopping:
            now = time.monotonic()
            with self.lock:
                while self.due and self.due[0][0] <= now:
                    self.end(heapq.heappop(self.due)[1], "succeed")
                if now - beat > self.beat_s:
                    beat = now
                    busy = {x["attempt_id"] for x in self.said}
                    for a in self.live:
                        if a not in busy:
                            self.say(a, "renew")
                items, self.said = self.said[:ITEMS_MAX], self.said[ITEMS_MAX:]
                rest = max(0.0, self.due[0][0] - now) if self.due else 0.05
            if not items:
                with self.changed:
                    self.changed.wait(min(rest, 0.05))
                continue
            for v in self.call("/v1/leases/report", {**self.who, "items": items})["items"]:
                self.stale += v["verdict"] != "ok"
                if v.get("preempt_ms") or v.get("cancel"):
                    with self.lock:
                        self.end(v["attempt_id"], "preempt" if v.get("preempt_ms") else "cancel")

    def stop(self):
        self.stopping = True
