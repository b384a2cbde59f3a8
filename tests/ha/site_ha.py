# SPDX-License-Identifier: Apache-2.0
"""site_ha.py - Falaj as a company runs it, on loopback: two of everything that keeps state or answers, and what is around.

    haproxy -- falaj-api 1, 2 -- falaj-keyd 1, 2 (one PKCS#11 token of SoftHSM)
    falaj-scheduler 1, 2; falaj-worker 1, 2; Redis 1, 2 and Sentinels 1, 2, 3, all in TLS (they hold nothing that matters)
    etcd -- patroni 1, 2 -- PostgreSQL: a primary and a synchronous standby

What `falaj dev` makes at its first start (settings, roles, certificates, keys, the empty platform) is taken as it is; its
database becomes the first of Patroni's two. Every process is a Process: what dies is started again only when the drill says
so."""
import atexit, http.client, json, os, shutil, signal, socket, subprocess, tempfile

import balancer
from platform_falaj import BIN, Api, Platform, until

PG_BIN, TTL_S = "/usr/lib/postgresql/15/bin", 20
NEEDED = {"haproxy": "haproxy", "patroni": "patroni", "etcd": "etcd-server", "nft": "nftables"}
SOFTHSM = "/usr/lib/softhsm/libsofthsm2.so"
# A checked build tells of memory that SoftHSM loses.
os.environ.setdefault("LSAN_OPTIONS", "print_suppressions=0:suppressions=" + os.path.abspath(
    os.path.join(os.path.dirname(__file__), "../unit/keys/lsan.supp")))


def missing():
    return [package for program, package in NEEDED.items() if not shutil.which(program)]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def with_children(pids):
    """Parents first. Backends of PostgreSQL have groups of their own. One look for all: a hundred processes one by one take a
    busy machine most of a minute, in which nothing is lost yet."""
    out, parents = list(pids), {}
    for line in subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.splitlines():
        pid, parent = map(int, line.split())
        parents.setdefault(parent, []).append(pid)
    for pid in out:
        out += [x for x in parents.get(pid, []) if x not in out]
    return out


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Process:
    """One program of the site, under an account of its own, its words in a file."""

    def __init__(self, site, name, argv, postmaster=None, env=None):
        self.site, self.name, self.argv, self.postmaster, self.proc = site, name, argv, postmaster, None
        rates = {f"FALAJ_{x}_PER_MINUTE": "0" for x in ("RATE_TENANT", "RATE_PRINCIPAL", "RATE_ADDRESS")}
        self.env = {**os.environ, **(env or {}), **rates}
        self.log_path = os.path.join(site.logs, name + ".log")
        site.processes[name] = self

    def start(self):
        root = {"user": self.site.uid, "group": self.site.gid, "extra_groups": []} if os.geteuid() == 0 else {}
        with open(self.log_path, "ab") as out:
            self.proc = subprocess.Popen(self.argv, stdout=out, stderr=out, env=self.env, cwd="/", start_new_session=True, **root)
        return self

    def signal(self, number):
        """To the program and to what it started: a machine that is lost loses both. Patroni's PostgreSQL has its own session."""
        roots = [self.proc.pid] if self.proc.poll() is None else []
        if self.postmaster and os.path.exists(self.postmaster):
            roots.append(int(read(self.postmaster).split("\n", maxsplit=1)[0]))
        for pid in with_children(roots):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        if self.proc:
            self.signal(signal.SIGKILL)
            self.proc.wait(120)

    def freeze(self, on):
        self.signal(signal.SIGSTOP if on else signal.SIGCONT)


class Site:
    """admin, url, sql, ready: as of a Platform, so that tests/lib/drill.py counts here too."""

    def __init__(self, slots=16):
        self.processes, self.folder = {}, tempfile.mkdtemp(prefix="falaj-ha-")
        os.chmod(self.folder, 0o755)
        self.data, self.logs = os.path.join(self.folder, "data"), os.path.join(self.folder, "log")
        self.log_path = os.path.join(self.logs, "*.log")
        os.makedirs(self.logs)
        atexit.register(self.close)
        self.seed(slots)
        self.database()
        self.programs()

    def own(self, *names):
        """A folder of the account that the programs run under."""
        path = os.path.join(self.folder, *names)
        os.makedirs(path, 0o700, exist_ok=True)
        os.chown(path, self.uid, self.gid)
        return path

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chown(path, self.uid, self.gid)
        os.chmod(path, 0o600)
        return path

    def add(self, name, *argv, **more):
        return Process(self, name, [str(x) for x in argv], **more).start()

    # --- what is there once ---

    def seed(self, slots):
        p = Platform(data=self.data, args=("--slots", str(slots), "--no-console", "--hsm"), start_timeout=300)
        p.zone()
        p.wait_node()
        self.token, self.zone_code = p.ready["admin_token"], p.ready["zone"]
        self.password = p.pg_env()["PGPASSWORD"]
        pg = os.path.join(self.data, "pg/cluster")
        st = os.stat(pg)
        self.uid, self.gid = st.st_uid, st.st_gid
        self.conf = {n: read(os.path.join(self.data, f"etc/{n}.conf")) for n in ("api", "scheduler", "worker")}
        lines = self.conf["api"].splitlines()
        self.redis_password = next(x.split(" = ")[1] for x in lines if x.startswith("redis.password"))
        self.hsm = os.path.join(self.data, f"keys/softhsm-{self.zone_code}")
        p.close()
        self.ready = {"data_dir": self.folder}
        os.chmod(self.data, 0o711)

    def database(self):
        self.run = self.own("run")
        self.etcd_port, self.etcd_peer = free_port(), free_port()
        at, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{self.etcd_peer}"
        self.add("etcd", "etcd", "--enable-v2=true", "--data-dir", self.own("etcd"),
                 "--listen-client-urls", at, "--advertise-client-urls", at,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer)
        until("etcd answers", lambda: self.answers(self.etcd_port, "/health"), 60)
        self.pg_ports, self.rest_ports = [free_port(), free_port()], [free_port(), free_port()]
        for i in (0, 1):
            settings = self.write(os.path.join(self.folder, f"patroni-{i + 1}.yml"), self.patroni(i))
            self.add(f"postgres-{i + 1}", "patroni", settings,
                     postmaster=os.path.join(self.cluster(i), "postmaster.pid"))
            until(f"postgres-{i + 1} is there", lambda i=i: self.answers(self.rest_ports[i], "/health"), 180)
        until("there is a primary", lambda: self.primary() is not None, 120)
        until("and a synchronous standby", self.has_standby, 180)

    def cluster(self, i):
        return os.path.join(self.data if i == 0 else self.own("pg-2"), "pg/cluster" if i == 0 else "cluster")

    def patroni(self, i):
        return json.dumps({
            "scope": "falaj", "name": f"postgres-{i + 1}", "restapi": {"listen": f"127.0.0.1:{self.rest_ports[i]}"},
            # Not etcd3: Patroni 3.0.2 writes the leader's key there without looking whether another has it by now, so a primary
            # that was frozen past its TTL takes the lead back, and what the other acknowledged meanwhile is lost.
            "etcd": {"host": f"127.0.0.1:{self.etcd_port}"},
            "bootstrap": {"dcs": {"ttl": TTL_S, "loop_wait": 2, "retry_timeout": 5, "synchronous_mode": True,
                                  "maximum_lag_on_failover": 0,
                                  "postgresql": {"use_pg_rewind": True, "parameters": {
                                      "max_connections": 200, "wal_log_hints": "on", "hot_standby": "on", "max_wal_senders": 5,
                                      "wal_level": "replica"}}}},
            "postgresql": {"listen": f"127.0.0.1:{self.pg_ports[i]}", "connect_address": f"127.0.0.1:{self.pg_ports[i]}",
                           "data_dir": self.cluster(i), "bin_dir": PG_BIN, "pgpass": os.path.join(self.own("pgpass"), str(i)),
                           "parameters": {"unix_socket_directories": self.own(f"socket-{i + 1}")},
                           "pg_hba": ["local all all scram-sha-256", "host replication postgres 127.0.0.1/32 scram-sha-256",
                                      "host all all 127.0.0.1/32 scram-sha-256"],
                           "authentication": {x: {"username": "postgres", "password": self.password}
                                              for x in ("superuser", "replication", "rewind")}}})

    # --- Redis and its Sentinels, as docs/howto/redis.md has them ---

    def certificates(self):
        """An authority, and one certificate for 127.0.0.1 that all of them have."""
        tls = self.own("tls-redis")
        new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        ext = self.write(f"{tls}/ext", "subjectAltName = IP:127.0.0.1\n")
        for args in ([*new, "-x509", "-days", "2", "-subj", "/CN=redis authority", "-keyout", f"{tls}/ca.key", "-out",
                      f"{tls}/ca.pem"],
                     [*new, "-subj", "/CN=redis", "-keyout", f"{tls}/own.key", "-out", f"{tls}/own.csr"],
                     ["openssl", "x509", "-req", "-days", "2", "-in", f"{tls}/own.csr", "-CA", f"{tls}/ca.pem",
                      "-CAkey", f"{tls}/ca.key", "-CAcreateserial", "-out", f"{tls}/own.pem", "-extfile", ext]):
            subprocess.run(args, check=True, capture_output=True)
        for name in os.listdir(tls):
            os.chown(os.path.join(tls, name), self.uid, self.gid)
        return tls

    def redis(self):
        """Starts them; the settings of Falaj's programs."""
        tls, secret = self.certificates(), self.redis_password
        self.redis_tls = ["--tls", "--cacert", f"{tls}/ca.pem", "--cert", f"{tls}/own.pem", "--key", f"{tls}/own.key"]
        self.redis_ports, self.sentinel_ports = [free_port(), free_port()], [free_port() for _ in range(3)]
        sentinel_may = ("+multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish +info +client|setname "
                        "+client|kill +script|kill")
        for i, port in enumerate(self.redis_ports + self.sentinel_ports):
            name = f"redis-{i + 1}" if i < 2 else f"sentinel-{i - 1}"
            text = (f"bind 127.0.0.1\nprotected-mode no\nport 0\ntls-port {port}\ndir {self.own(name)}\n"
                    f"tls-cert-file {tls}/own.pem\ntls-key-file {tls}/own.key\n"
                    f"tls-ca-cert-file {tls}/ca.pem\ntls-replication yes\n")
            if i < 2:
                text += (f"save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\nuser default off\n"
                         f"user falaj on >{secret} ~* &* +@all -@scripting -@dangerous +role +info\n"
                         f"user replica on >{secret} +psync +replconf +ping\n"
                         f"user sentinel on >{secret} allchannels {sentinel_may}\nmasteruser replica\nmasterauth {secret}\n")
                text += f"replicaof 127.0.0.1 {self.redis_ports[0]}\n" if i else ""
            else:
                text += (f"sentinel monitor falaj 127.0.0.1 {self.redis_ports[0]} 2\nsentinel auth-user falaj sentinel\n"
                         f"sentinel auth-pass falaj {secret}\nsentinel down-after-milliseconds falaj 3000\n"
                         "sentinel failover-timeout falaj 10000\n")
            argv = ["redis-server", self.write(os.path.join(self.own(name), "conf"), text)]      # they write into it themselves
            self.add(name, *argv, *([] if i < 2 else ["--sentinel"]))
        until("a Redis follows the other", self.redis_whole, 120)
        return {"redis__socket": "", "redis__sentinels": ",".join(f"127.0.0.1:{x}" for x in self.sentinel_ports),
                "redis__master": "falaj", "redis__ca": f"{tls}/ca.pem", "redis__cert": f"{tls}/own.pem",
                "redis__key": f"{tls}/own.key"}

    def ask_redis(self, port, *words, login=()):
        return subprocess.run(["redis-cli", "-p", str(port), *self.redis_tls, *login, *words], capture_output=True, text=True,
                              timeout=10, check=False).stdout

    def redis_named(self):
        """Which Redis the first Sentinel that answers names as master."""
        for x in self.sentinel_ports:
            said = self.ask_redis(x, "sentinel", "get-master-addr-by-name", "falaj").split("\n")
            if len(said) > 1:
                return f"redis-{[str(y) for y in self.redis_ports].index(said[1]) + 1}"
        return None

    def redis_whole(self):
        """The number of the Redis that all Sentinels name, while the other follows it; else None."""
        try:
            said = {self.ask_redis(x, "sentinel", "get-master-addr-by-name", "falaj").split("\n")[1] for x in self.sentinel_ports}
            master = [str(x) for x in self.redis_ports].index(said.pop())
            login = ("--user", "falaj", "--pass", self.redis_password, "--no-auth-warning")
            state = self.ask_redis(self.redis_ports[1 - master], "info", "replication", login=login)
        except (IndexError, ValueError, subprocess.TimeoutExpired):
            return None
        follows = f"master_port:{self.redis_ports[master]}\n" in state and "master_link_status:up" in state
        return master + 1 if follows and not said else None

    # --- what is there twice ---

    def settings(self, name, **changes):
        """The file of `falaj dev`, its database at either server, whichever takes writes."""
        out, ports = [], ",".join(map(str, self.pg_ports))
        for line in self.conf[name].splitlines():
            key, _, value = line.partition(" = ")
            if key in changes:
                continue
            if key.endswith("url") and "dbname=" in value:
                rest = " ".join(w for w in value.split() if not w.startswith(("host=", "port=")))
                value = (f"host=127.0.0.1,127.0.0.1 port={ports} {rest} target_session_attrs=read-write connect_timeout=5 "
                         "keepalives_idle=2 keepalives_interval=1 keepalives_count=3 tcp_user_timeout=5000")
            out.append(f"{key} = {value}" if value else line)
        return "\n".join(out + [f"{k} = {v}" for k, v in changes.items()]) + "\n"

    def conf_file(self, name, kind, **changes):
        text = self.settings(kind, **{k.replace("__", "."): v for k, v in changes.items()})
        return self.write(os.path.join(self.folder, name + ".conf"), text)

    def programs(self):
        redis = self.redis()
        self.api_ports, self.worker_ports = [free_port(), free_port()], [free_port(), free_port()]
        self.scheduler_ports, self.stats_port = [free_port(), free_port()], free_port()
        self.port, self.worker_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        for i in (0, 1):
            n = i + 1
            keyd = f"{self.run}/keyd-{n}.sock"
            shared = {**redis, "keys__sockets": f"{self.zone_code}={keyd}", "api__public_url": self.url}
            self.add(f"keyd-{n}", f"{BIN}/falaj-keyd", "--zone", self.zone_code, "--socket", keyd, "--module", SOFTHSM,
                     "--token-label", "falaj-dev", "--pin-file", f"{self.hsm}/pin", env={"SOFTHSM2_CONF": f"{self.hsm}/conf"})
            # falaj-api ends when it finds no database at its start; its unit of systemd starts it again, as this does.
            conf = self.conf_file(f"api-{n}", "api", **shared, api__port=self.api_ports[i], api__worker_port=self.worker_ports[i],
                                  api__trusted_proxies="127.0.0.1/32")
            self.add(f"api-{n}", "sh", "-c", 'while :; do "$@"; sleep 0.3; done', "sh", f"{BIN}/falaj-api", "--config", conf)
            self.add(f"scheduler-{n}", f"{BIN}/falaj-scheduler", "--config", self.conf_file(
                f"scheduler-{n}", "scheduler", **shared, scheduler__ops_port=self.scheduler_ports[i], scheduler__lease_ms=6000))
        self.add("haproxy", "haproxy", "-f", self.write(os.path.join(self.folder, "haproxy.cfg"), balancer.conf(self)))
        until("both falaj-api are ready", lambda: all(self.answers(x, "/readyz") for x in self.api_ports), 300)
        until("and the balancer knows", lambda: self.answers(self.port, "/readyz"), 60)
        self.admin = Api(self.url, self.token)
        self.workers()

    def workers(self):
        for n in (1, 2):
            work, tls = self.own(f"worker-{n}"), self.own(f"tls-{n}")
            changes = {"worker__api_url": f"https://127.0.0.1:{self.worker_port}", "worker__name": f"machine-{n}",
                       "worker__work_dir": work, "worker__ops_port": free_port(), "worker__heartbeat_ms": 1000,
                       "worker__cert": f"{tls}/worker.pem", "worker__key": f"{tls}/worker.key"}
            token = self.admin.must("POST", "/v1/join-tokens", {"zone": self.zone_code, "pool": "default"})["token"]
            changes |= {"worker__join_token_file": self.write(f"{tls}/token", token), "worker__enrol_url": self.url}
            self.add(f"worker-{n}", f"{BIN}/falaj-worker", "--config", self.conf_file(f"worker-{n}", "worker", **changes))
        until("both machines are there", lambda: {"machine-1", "machine-2"} <= {
            x["name"] for x in self.admin.must("GET", "/v1/nodes")["data"] if x["state"] == "READY"}, 300)

    # --- links ---

    def cut(self, port):
        """Packets to what listens on this port and back go nowhere, as on a cable that is cut. Only in a network of one's own."""
        subprocess.run(["nft", "-f", "-"], check=True, text=True, input=f"""table inet cut {{
  chain out {{
    type filter hook output priority 0
    tcp dport {port} drop
    tcp sport {port} drop
  }}
}}
""")

    def mend(self):
        subprocess.run(["nft", "delete", "table", "inet", "cut"], check=True)

    # --- looking ---

    def answers(self, port, path, want=200):
        try:
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            c.request("GET", path)
            return c.getresponse().status == want
        except (OSError, http.client.HTTPException):
            return False

    def primary(self):
        """1, 2 or None, as Patroni says."""
        return next((i + 1 for i in (0, 1) if self.answers(self.rest_ports[i], "/primary")), None)

    def pg_env(self, database="falaj"):
        return dict(os.environ, PGHOST="127.0.0.1,127.0.0.1", PGPORT=",".join(map(str, self.pg_ports)), PGUSER="postgres",
                    PGDATABASE=database, PGPASSWORD=self.password, PGTARGETSESSIONATTRS="read-write", PGCONNECT_TIMEOUT="2")

    def takes_writes(self, i):
        env = self.pg_env() | {"PGHOST": "127.0.0.1", "PGPORT": str(self.pg_ports[i])}
        r = subprocess.run(["psql", "-XAtqc", "SELECT pg_is_in_recovery()"], env=env, capture_output=True, text=True, check=False)
        return r.stdout.strip() == "f"

    sql, tenant = Platform.sql, Platform.tenant

    def has_standby(self):
        """A synchronous one, as Patroni has it. PostgreSQL knows it earlier, and Patroni never knows of a loss in between."""
        return any(self.answers(port, "/sync") for port in self.rest_ports)

    def said(self, n):
        """What falaj-scheduler n says of itself; None: nothing."""
        try:
            c = http.client.HTTPConnection("127.0.0.1", self.scheduler_ports[n - 1], timeout=2)
            c.request("GET", "/readyz")
            return c.getresponse().read()
        except (OSError, http.client.HTTPException):
            return None

    def leader(self):
        """Which falaj-scheduler leads, 1 or 2, while the other stands by; else None: its loss would then be the loss of both."""
        said = [self.said(1), self.said(2)]
        return said.index(b"leading\n") + 1 if {*said} == {b"leading\n", b"standing by\n"} else None

    def close(self):
        atexit.unregister(self.close)
        for p in reversed(list(self.processes.values())):
            p.freeze(False)
            p.kill()
