# SPDX-License-Identifier: Apache-2.0
"""platform_falaj.py - a real Falaj for benches and fault drills: `falaj dev --ephemeral` and short ways to talk to it.

Everything runs on loopback, in a throw-away data folder, and ends with the object (close, or the end of the program).
Python's standard library only. PostgreSQL is reached with psql as its superuser over the Unix socket."""
import atexit, http.client, json, os, shutil, signal, subprocess, sys, threading, time, urllib.parse, uuid

SRC = os.environ.get("FALAJ_SRC") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("FALAJ_BIN") or os.path.join(SRC, "build/release/bin")


def log(*a):
    print(*a, file=sys.stderr, flush=True)


def until(what, condition, timeout=600):
    """condition() once it is true."""
    end = time.time() + timeout
    while time.time() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.1)
    raise SystemExit(f"{what}: not within {timeout} s")


def is_full():
    return os.environ.get("FALAJ_TIER") == "full"


def share(what, part, full):
    """How much of a long count this run does: all of it with tests/run.sh --full, else a share; the output says which."""
    n = full if is_full() else part
    print(f"share: {n} of {full} {what}", flush=True)
    return n


class Api:
    """One kept-alive connection to the API with one token; not for several threads."""

    def __init__(self, url, token):
        u = urllib.parse.urlsplit(url)
        self.url, self.host, self.port, self.token, self.conn, self.cookie = url, u.hostname, u.port, token, None, ""

    def move(self, url):
        """The platform may come back under another address."""
        if url != self.url:
            self.__init__(url, self.token)

    def call(self, method, path, body=None, key=None, headers=None, raw=False, timeout=180):
        h = {"Authorization": "Bearer " + self.token} if self.token else {}
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            h["Content-Type"] = "application/json"
        if method == "POST":
            h["Idempotency-Key"] = key or uuid.uuid4().hex
        h.update(headers or {})
        for again in (True, False):
            if self.conn is None:
                self.conn = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
            try:
                self.conn.request(method, path, data, h)
                r = self.conn.getresponse()
                text = r.read()
                self.cookie = (r.getheader("Set-Cookie") or "").split(";")[0]
                return r.status, (text if raw else json.loads(text) if text else None)
            except (OSError, http.client.HTTPException):
                self.conn.close()
                self.conn = None
                if not again:
                    raise

    def must(self, method, path, body=None, **kw):
        """The answer of a call that has to succeed; waits out what says "try again"."""
        key = kw.pop("key", None) or uuid.uuid4().hex
        until = time.time() + 400
        while True:
            try:
                status, answer = self.call(method, path, body, key=key, **kw)
            except (OSError, http.client.HTTPException) as x:
                status, answer = 503, str(x)
            if status < 300:
                return answer
            if status not in (429, 503, 504) or time.time() > until:
                raise RuntimeError(f"{method} {path}: {status} {answer}")
            time.sleep(0.05)


def person(api, name, role):
    """A new person as people come in: invited by `api`, with a password, signed in, and with a token made by themselves."""
    password, nobody = "a heron by the water wheel", Api(api.url, "")
    token = api.must("POST", "/v1/invitations", {"name": name, "roles": [role]})["token"]
    nobody.must("POST", "/v1/auth/invitations/accept", {"token": token, "password": password})
    session = nobody.must("POST", "/v1/auth/login", {"tenant": api.must("GET", "/v1/me")["tenant"], "name": name, "password": password})
    own = nobody.must("POST", "/v1/api-tokens", {"name": name}, headers={
        "Cookie": nobody.cookie, "X-CSRF-Token": session["csrf_token"], "Sec-Fetch-Site": "same-origin"})
    return Api(api.url, own["token"])


class Platform:
    """data: a folder that outlives falaj dev (start() again works on it); without it everything is thrown away at the end."""

    def __init__(self, settings=None, args=(), start_timeout=600, data=None):
        limits = ("RATE_TENANT", "RATE_PRINCIPAL", "RATE_ADDRESS", "AUTH_ATTEMPTS")
        self.env = {**os.environ, **{f"FALAJ_{x}_PER_MINUTE": "0" for x in limits}, **(settings or {})}
        self.log_path = f"/tmp/falaj-test-{os.getpid()}-{int(time.time() * 1000)}.log"
        self.log = open(self.log_path, "wb")
        self.args = [*(("--data", data) if data else ("--ephemeral",)), "--port", "0", "--json-ready", *args]
        self.start_timeout = start_timeout
        atexit.register(self.close)
        self.start()

    def start(self):
        t0 = time.time()
        self.proc = subprocess.Popen([os.path.join(BIN, "falaj"), "dev", *self.args], stdout=subprocess.PIPE, stderr=self.log, env=self.env)
        late = threading.Event()
        timer = threading.Timer(self.start_timeout, lambda: (late.set(), self.proc.kill()))
        timer.start()
        line = b""
        while not line.startswith(b"{"):
            line = self.proc.stdout.readline()
            if not line:
                timer.cancel()
                why = f"was not ready after {self.start_timeout} s" if late.is_set() else "ended before it was ready"
                raise RuntimeError(f"falaj dev {why}; see {self.log_path}")
        timer.cancel()
        self.start_s = time.time() - t0
        self.ready = json.loads(line)
        self.url = self.ready["api_url"]
        self.admin = Api(self.url, self.ready["admin_token"])

    def finish(self, faults):
        """The end of a drill: with faults the exit is 1, and the daemons' logs are kept."""
        if faults:
            kept = self.log_path[:-4] + "-logs"
            shutil.copytree(os.path.join(self.ready["data_dir"], "log"), kept, dirs_exist_ok=True)
            log(f"logs: {self.log_path} {kept}")
        self.close()
        if faults:
            raise SystemExit(1)

    def close(self):
        atexit.unregister(self.close)
        if self.proc.poll() is None:
            self.proc.send_signal(signal.SIGTERM)
            try:
                self.proc.wait(120)
            except subprocess.TimeoutExpired:
                self.proc.kill()
        self.log.close()

    def pids(self):
        """The daemons as they run now: falaj dev restarts what dies, so ask the kernel, not the ready line."""
        out = {}
        for name in ("falaj-keyd", "falaj-api", "falaj-scheduler", "falaj-worker", "redis-server", "postgres"):
            found = subprocess.run(["pgrep", "-P", str(self.proc.pid), "-f", name], capture_output=True, text=True).stdout.split()
            if found:
                out[name.replace("falaj-", "").replace("-server", "")] = int(found[0])
        return out

    def zone(self, code="ae-dxb-1", country="AE"):
        status, _ = self.admin.call("POST", "/v1/zones", {"code": code, "name": code, "country": country})
        if status not in (201, 409):
            raise RuntimeError(f"zone {code}: {status}")
        return code

    def tenant(self, name, jobs=1000000000, slots=4096, zone="ae-dxb-1", zones=None):
        """(tenant id, Api of its administrator) with quotas wide enough not to matter."""
        body = {"name": name, "home_zone": zone}
        if zones:
            body["allowed_zones"] = zones
        t = self.admin.must("POST", "/v1/tenants", body)
        for resource, limit in (("jobs", jobs), ("slots", slots)):
            self.admin.must("PUT", f"/v1/tenants/{t['tenant_id']}/quotas/{resource}", {"hard_limit": limit}, headers={"If-Match": "*"})
        return t["tenant_id"], Api(self.url, t["admin_token"])

    def wait_node(self, n=1, timeout=600):
        until = time.time() + timeout
        while time.time() < until:
            nodes = self.admin.must("GET", "/v1/nodes")["data"]
            if sum(x["state"] == "READY" for x in nodes) >= n:
                return nodes
            time.sleep(0.05)
        raise RuntimeError("no worker registered")

    def pg_env(self, database="falaj"):
        data = self.ready["data_dir"]
        env = dict(os.environ, PGHOST=self.ready["pg"]["socket_dir"], PGPORT=str(self.ready["pg"]["port"]), PGUSER="postgres",
                   PGDATABASE=database)
        for name in ("secrets/postgres", "secrets/pg-superuser", "secrets/pg-postgres", "secrets/postgres.password"):
            path = os.path.join(data, name)
            if os.path.exists(path):
                env["PGPASSWORD"] = open(path).read().strip()
        return env

    def sql_text(self, text, database="falaj"):
        """The one value of a query, line breaks and all."""
        r = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text], env=self.pg_env(database), capture_output=True, text=True)
        if r.returncode:
            raise RuntimeError(r.stderr.strip())
        return r.stdout.rstrip("\n")

    def broken_invariants(self):
        """The names of those that do not hold, of jobs and of quotas; empty: all hold."""
        return self.sql_text("SELECT coalesce(string_agg(name || ': ' || violations, ', '), '') FROM ("
                             "SELECT name, violations FROM invariants_check()"
                             " UNION ALL SELECT name, violations FROM invariants_quota()) i WHERE violations > 0")

    def sql(self, text, database="falaj"):
        r = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text], env=self.pg_env(database), capture_output=True, text=True)
        if r.returncode:
            raise RuntimeError(r.stderr.strip())
        return [line.split("|") for line in r.stdout.splitlines()]
