#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""upgrade.py - from the release before to this one under load, as docs/howto/upgrade.md says; and each beside the other's.

    upgrade.py [--previous BIN]     BIN: programs of the release before; without it they are built from the commit that
                                    deploy/previous-release names, into build/previous (git history is needed)

Two falaj-api of the release before, its scheduler, key daemon and worker run on one database. Jobs are submitted and read all
the time; a client turns to the other falaj-api when one takes no connection, as a balancer does. Then, one after the other:

    preflight   this release's falaj-migrate says what it will do
    schema      it does it: the old programs go on with the new schema (N-1)
    scheduler, keyd, api, the other api     each ends by SIGTERM and comes up as this release's; its worker is still the old one
    worker      the last

No answer is an error, whatever is going on; no accepted job is lost or done twice; a model is trained by the old programs on the
new schema, by the old worker under new servers, and by the new ones; data of before opens, the log proves against the head kept
before, invariants hold, falaj doctor finds nothing. Exit status 0 only then."""
import argparse, atexit, http.client, json, os, shutil, signal, socket, subprocess, sys, tempfile, threading, time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEW = os.path.abspath(os.environ.get("FALAJ_BIN") or os.path.join(SRC, "build/release/bin"))
LINKS = tempfile.mkdtemp(prefix="falaj-upgrade-bin-")
os.chmod(LINKS, 0o755)
os.environ["FALAJ_BIN"] = LINKS         # before what reads it: the platform's programs are links that turn one by one
sys.path[:0] = [os.path.join(SRC, "tests/lib"), os.path.dirname(os.path.abspath(__file__))]
from drill import settle
from platform_falaj import Api, Platform, log, until
from restore import CSV, World

# It took calls by connections that it kept open while it ended, and told 500 when a table changed under a statement that returns
# its rows (SQLSTATE 42804). Both go with the next release before.
STOPPING = b"This server is stopping"
OURS = ("falaj", "falaj-api", "falaj-scheduler", "falaj-keyd", "falaj-worker", "falaj-migrate", "falaj-verify")


def previous():
    """The folder of the programs of the release before, built once."""
    with open(os.path.join(SRC, "deploy/previous-release"), encoding="utf-8") as f:
        commit = [line.strip() for line in f if not line.startswith("#")][0]
    tree = os.path.join(SRC, "build/previous", commit[:12])
    if not all(os.path.exists(f"{tree}/build/release/bin/{name}") for name in OURS):
        if subprocess.run(["git", "-C", SRC, "cat-file", "-e", commit + "^{commit}"], capture_output=True).returncode:
            raise SystemExit(f"upgrade.py: commit {commit} of deploy/previous-release is not in this clone; fetch its history"
                             " (git fetch --unshallow), or name programs with --previous BIN")
        os.makedirs(tree, exist_ok=True)
        archive = subprocess.Popen(["git", "-C", SRC, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        for argv in (["cmake", "--preset", "release", *launcher],
                     ["ninja", "-C", "build/release", *(f"bin/{name}" for name in OURS)]):
            r = subprocess.run(argv, cwd=tree, capture_output=True, text=True)
            if r.returncode:
                raise SystemExit(f"upgrade.py: {' '.join(argv)} in {tree}: {r.stdout[-2000:]}{r.stderr[-2000:]}")
    return f"{tree}/build/release/bin"


def point(name, folder):
    """The program `name` of the platform is from now on that of `folder`; who started it before runs on."""
    fresh = os.path.join(LINKS, name + ".new")
    os.symlink(os.path.join(folder, name), fresh)
    os.replace(fresh, os.path.join(LINKS, name))


def account(path):
    st = os.stat(path)
    return {"user": st.st_uid, "group": st.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}


class Second:
    """A second falaj-api beside that of falaj dev, by the same configuration on ports of its own."""

    def __init__(self, p):
        self.p, self.conf = p, os.path.join(p.ready["data_dir"], "etc/api.conf")
        self.log = open(p.log_path[:-4] + "-api-2.log", "ab")
        self.port = free_port()
        atexit.register(lambda: self.proc.kill())
        self.start()

    def start(self):
        argv = [os.path.join(LINKS, "falaj-api"), f"--config={self.conf}", f"--api.port={self.port}",
                f"--api.worker_port={free_port()}"]
        self.proc = subprocess.Popen(argv, stdout=self.log, stderr=self.log, **account(self.conf))
        until("the second falaj-api is ready", lambda: ready(self.port))

    def turn(self):
        self.proc.terminate()
        if self.proc.wait(60):
            raise SystemExit(f"the second falaj-api ended with {self.proc.returncode}; see {self.log.name}")
        self.start()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ready(port):
    try:
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        c.request("GET", "/readyz")
        return c.getresponse().status == 200
    except OSError:
        return False


class Clients:
    """Threads that submit and read by both falaj-api. A connection that is refused, or closed before an answer began, goes to the
    other one with the same key, as a balancer sends it on; what is answered is the answer."""

    def __init__(self, ports, token, threads=3):
        self.ports, self.token, self.stop = ports, token, False
        self.is_before, self.known = True, 0        # falaj-api of the release before has two faults that this one has not
        self.accepted, self.faults, self.calls, self.moved, self.lock = [], [], 0, 0, threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True) for i in range(threads)]
        for t in self.threads:
            t.start()

    def call(self, apis, first, method, path, body=None):
        key = os.urandom(16).hex()
        for n in range(20):
            api = apis[(first + n) % len(apis)]
            try:
                status, answer = api.call(method, path, body, key=key, timeout=30, raw=True)
                if self.is_before and (status, answer == STOPPING) in ((503, True), (500, False)):
                    self.known += 1
                    raise ConnectionResetError
                return status, json.loads(answer) if answer[:1] in b"{[" else repr(answer)
            except (OSError, http.client.HTTPException):
                with self.lock:
                    self.moved += 1
                time.sleep(0.05)
        return 0, "neither falaj-api takes a connection"

    def run(self, first):
        apis = [Api(f"http://127.0.0.1:{port}", self.token) for port in self.ports]
        while not self.stop:
            status, answer = self.call(apis, first, "POST", "/v1/jobs",
                                       {"name": "drill", "kind": "noop", "spec": {"sleep_ms": 20}, "max_attempts": 100})
            seen = [("submit", status, answer)]
            if status == 201:
                with self.lock:
                    self.accepted.append(answer["job_id"])
                seen.append(("read", *self.call(apis, first, "GET", f"/v1/jobs/{answer['job_id']}")))
            seen.append(("list", *self.call(apis, first, "GET", "/v1/jobs?page_size=5")))
            with self.lock:
                self.calls += len(seen)
                self.faults += [f"{what}: {status} {str(answer)[:300]}" for what, status, answer in seen
                                if not 200 <= status < 300]
            first += 1
            time.sleep(0.05)

    def look_ahead(self):
        """Both falaj-api read what functions of the database tell of the machines, by the columns' names: a migration that takes
        one away fails here."""
        for port in self.ports:
            api = Api(f"http://127.0.0.1:{port}", self.token)
            for call in (("POST", "/v1/jobs:check", {"name": "drill", "kind": "noop"}), ("GET", "/v1/queue/clock")):
                status, answer = until(call[1], lambda c=call: (got := self.call([api], 0, *c))[0] not in (429, 503) and got)
                if status != 200:
                    self.faults.append(f"{call[1]} on port {port}: {status} {str(answer)[:300]}")

    def goes_on(self, what):
        """Nothing has failed so far, machines and the queue are told, and more jobs come in."""
        self.look_ahead()
        at = len(self.accepted)
        until(f"{what}: jobs come in", lambda: len(self.accepted) > at + 20 or self.faults)
        log(f"{what}: {len(self.accepted)} jobs accepted, {self.calls} calls, {self.moved} sent on, {len(self.faults)} failed"
            + (f": {self.faults[-1]}" if self.faults else ""))

    def end(self):
        self.stop = True
        for t in self.threads:
            t.join()


def turn(p, name):
    """A daemon of falaj dev ends by SIGTERM and comes up as this release's."""
    point(f"falaj-{name}", NEW)
    before = p.pids()[name]
    os.kill(before, signal.SIGTERM)
    until(f"{name} is there again", lambda: p.pids().get(name, before) != before)
    until("the platform is ready", lambda: ready(int(p.url.rsplit(":", 1)[1])))
    if name != "api" and os.path.realpath(f"/proc/{p.pids()[name]}/exe") != os.path.realpath(f"{NEW}/falaj-{name}"):
        raise SystemExit(f"{name} that came up is not this release's")


def migrate(p, *args):
    data = p.ready["data_dir"]
    with open(os.path.join(data, "secrets/pg-falaj_migrate"), encoding="utf-8") as f:
        password = f.read().strip()
    pg = p.ready["pg"]
    url = f"host={pg['socket_dir']} port={pg['port']} dbname=falaj user=falaj_migrate password={password}"
    env = dict(os.environ, FALAJ_MIGRATE_URL=url)
    r = subprocess.run([f"{NEW}/falaj-migrate", *args], env=env, capture_output=True, text=True)
    if r.returncode:
        raise SystemExit(f"falaj-migrate {' '.join(args)}: {r.returncode} {r.stdout}{r.stderr}")
    return r.stdout


def upgrade(p, scratch):
    """The list of what does not hold."""
    w = World(p, scratch)
    w.erase(w.late)
    w.bundle("before", "--save-head", w.path("head"))
    second = Second(p)
    clients = Clients([int(p.url.rsplit(":", 1)[1]), second.port], w.api.token)
    clients.goes_on("the release before")
    said = migrate(p, "--preflight")
    log(f"preflight: {said.strip().splitlines()[-1] if said.strip() else 'nothing to do'}")
    t0 = time.time()
    migrate(p)
    log(f"migrated in {time.time() - t0:.1f} s")
    clients.goes_on("old programs, new schema")
    w.train("old programs on the new schema")
    for name in ("scheduler", "keyd", "api"):
        turn(p, name)
        clients.goes_on(f"new {name}")
    point("falaj-api", NEW)
    second.turn()
    clients.goes_on("both new api")
    clients.is_before = False
    turn(p, "api")
    second.turn()
    clients.goes_on("both new api once more")
    w.train("old worker under new servers")
    turn(p, "worker")
    point("falaj", NEW)
    point("falaj-verify", NEW)
    point("falaj-migrate", NEW)
    clients.goes_on("new worker")
    w.train("all new")
    clients.end()
    settle(p)
    faults = clients.faults[:5] + ([f"{len(clients.faults)} of {clients.calls} calls failed"] if clients.faults else [])
    states = {"job_" + r[0].replace("-", ""): r[1] for r in p.sql("SELECT job_id, state FROM job WHERE name = 'drill'")}
    bad = [j for j in clients.accepted if states.get(j) != "COMPLETED"]
    if bad or len(states) != len(clients.accepted):
        faults.append(f"{len(clients.accepted)} jobs accepted, {len(states)} there, {len(bad)} not complete, e.g. {bad[:1]}")
    twice = p.sql("SELECT job_id FROM attempt WHERE state = 'SUCCEEDED' GROUP BY 1 HAVING count(*) > 1")
    if twice:
        faults.append(f"{len(twice)} jobs were done twice")
    if w.api.must("GET", f"/v1/datasets/{w.data}/versions/1/content", raw=True) != CSV:
        faults.append("the data set does not come back as it was")
    size = w.bundle("after", "--previous", w.path("head"))
    until("invariants hold", lambda: not any(r["violations"] for r in p.admin.must("GET", "/v1/system/invariants")["data"]))
    r = subprocess.run([f"{NEW}/falaj", "doctor", "--data", p.ready["data_dir"]], capture_output=True, text=True)
    if r.returncode:
        faults.append(f"falaj doctor: {r.returncode} {r.stdout}{r.stderr}")
    log(f"{len(clients.accepted)} jobs, {clients.calls} calls of which {clients.moved} were sent on, {clients.known} of"
        f" them for known faults of the release before; a log of {size} entries")
    second.proc.terminate()
    second.proc.wait(60)
    return faults + w.traces()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--previous", metavar="BIN")
    given = a.parse_args().previous
    with tempfile.TemporaryDirectory(prefix="falaj-upgrade-") as scratch:
        os.chmod(scratch, 0o711)        # the account of PostgreSQL passes
        t0 = time.time()
        old = os.path.abspath(given) if given else previous()
        log(f"programs of the release before: {old}, {time.time() - t0:.0f} s")
        for name in OURS:
            point(name, old)
        p = Platform(args=("--no-console",), data=os.path.join(scratch, "data"), start_timeout=300)
        try:
            faults = upgrade(p, scratch)
        except SystemExit as x:         # something was waited for in vain
            faults = [str(x)]
        for f in faults:
            log(f"upgrade: {f}")
        log(f"upgrade: {len(faults)} faults, {time.time() - t0:.0f} s")
        p.finish(len(faults))
        shutil.rmtree(LINKS)


if __name__ == "__main__":
    main()
