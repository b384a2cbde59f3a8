# SPDX-License-Identifier: Apache-2.0
"""peer_bullmq.py - BullMQ on a Redis of its own with appendfsync always, for api.py: as durable as a job queue on Redis can be.

Needs node and redis-server; the packages of tests/bench/peer/package-lock.json are installed by the first run. What BullMQ does not
do beside it: quotas, fences, an audit log, tenants."""
import json, os, shutil, socket, subprocess, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = os.path.join(HERE, "peer")


def packages():
    stamp, lock = os.path.join(DIR, "node_modules/.falaj-lock"), os.path.join(DIR, "package-lock.json")
    if os.path.exists(stamp) and open(stamp).read() == open(lock).read():
        return
    # As the lock file says, but not `npm ci`: that refuses registries which lack the optional packages of other systems.
    subprocess.run(["npm", "install", "--no-save", "--no-audit", "--no-fund"], cwd=DIR, check=True, capture_output=True)
    shutil.copy(lock, stamp)


class Bull:
    def __init__(self, data_dir=None):
        packages()
        self.dir = tempfile.mkdtemp(prefix="falaj-bull-", dir=data_dir)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.redis = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.dir, "--save", "",
                                       "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"],
                                      stdout=subprocess.DEVNULL)
        self.env = dict(os.environ, REDIS_PORT=str(self.port), NODE_ENV="production")
        until = time.time() + 20
        while self.cli("PING") != "PONG":
            if time.time() > until:
                raise RuntimeError("redis-server did not start")
            time.sleep(0.02)

    def cli(self, *words):
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True).stdout.strip()

    def node(self, *words, **kw):
        return subprocess.Popen(["node", os.path.join(DIR, "bullmq.mjs"), *map(str, words)], env=self.env, text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, **kw)

    def measure(self, *producer, concurrency):
        """Producer and worker at once: jobs/s from the first add to the last completion, and the latency of each job."""
        self.cli("FLUSHALL")
        worker = self.node("work", concurrency)
        if not json.loads(worker.stdout.readline()).get("ready"):
            raise RuntimeError("the worker of BullMQ did not start")
        made = json.loads(self.node(*producer).communicate(timeout=300)[0])
        out, _ = worker.communicate(f"{made['n']}\n", timeout=300)
        done = json.loads(out)
        return {"jobs": made["n"], "rate": made["n"] / (done["t1"] - made["t0"]) * 1000, "p50": done["p50"], "p99": done["p99"]}

    def rate(self, seconds, connections, concurrency):
        return self.measure("add", seconds, connections, concurrency=concurrency)

    def latency(self, per_second, seconds, concurrency):
        return self.measure("pace", per_second, seconds, concurrency=concurrency)

    def close(self):
        self.redis.terminate()
        self.redis.wait(10)
        shutil.rmtree(self.dir, ignore_errors=True)
