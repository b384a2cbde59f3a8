# SPDX-License-Identifier: Apache-2.0
"""slurm_rig.py - a real Slurm on loopback for tests: slurmctld, slurmd for each virtual node, slurmrestd by JWT over TCP, munged.

Everything runs as one plain user (nobody where the test is root), in a folder of its own; nothing is written under /etc and no
port is fixed. Limits of time are Slurm's own least ones, so that failures are seen soon."""
import atexit, base64, hashlib, hmac, json, os, pwd, shutil, signal, socket, subprocess, tempfile, time

from platform_falaj import until

USER = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Slurm:
    def __init__(self, nodes=4, user=USER):
        self.folder, self.nodes, self.procs, self.user = tempfile.mkdtemp(prefix="falaj-slurm-"), nodes, {}, user
        entry = pwd.getpwnam(user)
        self.account = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": self.path("slurm.conf"), "HOME": self.folder}
        self.ports = {name: free_port() for name in ["ctld", "rest", *(f"n{i + 1}" for i in range(nodes))]}
        for d in ("state", "log", "run", "munge", *(f"{x}/n{i + 1}" for x in ("tmp", "spool") for i in range(nodes))):
            os.makedirs(self.path(d))
        self.key = os.urandom(32)
        for name, text in (("munge.key", os.urandom(1024)), ("jwt.key", self.key), ("slurm.conf", self.conf().encode())):
            with open(self.path(name), "wb") as f:
                f.write(text)
            os.chmod(self.path(name), 0o600)
        if os.geteuid() == 0:
            for root, dirs, files in os.walk(self.folder):
                for x in (".", *dirs, *files):
                    os.chown(os.path.join(root, x), entry.pw_uid, entry.pw_gid)
        os.chmod(self.folder, 0o755)
        atexit.register(self.close)
        self.begin("munged", "munged", "--foreground", f"--socket={self.path('munge/s')}", f"--key-file={self.path('munge.key')}",
                   f"--pid-file={self.path('run/munged.pid')}", f"--log-file={self.path('log/munged.log')}",
                   f"--seed-file={self.path('munge.seed')}")
        until("munged's socket", lambda: os.path.exists(self.path("munge/s")))
        self.start_ctld()
        for i in range(nodes):
            self.start_node(f"n{i + 1}")
        self.start_rest()
        until("idle nodes", lambda: self.run("sinfo", "-h", "-o", "%t").split() == ["idle"])

    def path(self, name):
        return os.path.join(self.folder, name)

    def conf(self):
        host = socket.gethostname().split(".")[0]
        lines = [
            "ClusterName=falaj", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmUser={self.user}", f"SlurmdUser={self.user}",
            f"SlurmctldPort={self.ports['ctld']}", "AuthType=auth/munge",
            f"AuthInfo=socket={self.path('munge/s')},cred_expire=20", "CredType=cred/munge", "AuthAltTypes=auth/jwt",
            f"AuthAltParameters=jwt_key={self.path('jwt.key')}", f"StateSaveLocation={self.path('state')}",
            f"SlurmdSpoolDir={self.folder}/spool/%n", f"TmpFS={self.folder}/tmp/%n",
            f"SlurmctldPidFile={self.path('run/slurmctld.pid')}", f"SlurmdPidFile={self.folder}/run/slurmd.%n.pid",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "MailProg=/bin/true", "MpiDefault=none",
            "SwitchType=switch/none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core_Memory",
            "SchedulerType=sched/backfill", "SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0",
            "PriorityType=priority/basic", "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE",
            "AccountingStorageType=accounting_storage/none", "JobAcctGatherType=jobacct_gather/none", "ReturnToService=2",
            "SlurmdTimeout=10", "SlurmctldTimeout=10", "KillWait=3", "MinJobAge=300", "SlurmdParameters=config_overrides",
            "SlurmctldDebug=info", "SlurmdDebug=info"]
        lines += [f"NodeName=n{i + 1} NodeHostname={host} NodeAddr=127.0.0.1 Port={self.ports[f'n{i + 1}']} CPUs=8 Boards=1 "
                  "SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000 State=UNKNOWN" for i in range(self.nodes)]
        lines += ["PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1 State=UP",
                  "PartitionName=high Nodes=ALL Default=NO MaxTime=INFINITE PriorityTier=10 State=UP"]
        return "\n".join(lines) + "\n"

    def begin(self, name, *command):
        log = open(self.path(f"log/{name}.out"), "ab")
        env = {**self.env, "SLURM_JWT": "daemon"} if name == "slurmrestd" else self.env
        self.procs[name] = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, **self.account)

    def start_ctld(self):
        self.begin("slurmctld", "slurmctld", "-D")

    def start_node(self, name):
        self.begin(name, "slurmd", "-D", "-N", name)

    def start_rest(self):
        self.begin("slurmrestd", "slurmrestd", "-a", "rest_auth/jwt", "-s", "openapi/v0.0.38", f"127.0.0.1:{self.ports['rest']}")

    def start_local(self):
        """The same by a Unix socket, for its own account alone and without a token."""
        self.begin("local", "slurmrestd", "-a", "rest_auth/local", "-s", "openapi/v0.0.38", f"unix:{self.path('run/rest')}")
        until("slurmrestd's socket", lambda: os.path.exists(self.path("run/rest")))

    def kill(self, name):
        """kill -9, and waits until it is gone."""
        self.procs[name].kill()
        self.procs[name].wait()

    def run(self, *command):
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=60, **self.account).stdout

    def jobs(self):
        """(id, name, state) of all jobs that Slurm knows."""
        rows = [x.split() for x in self.run("squeue", "-h", "-t", "all", "-o", "%i %j %T").splitlines()]
        return [tuple(x) for x in rows if len(x) == 3]

    def show(self, name_or_id):
        """What scontrol shows of a job, as words; the newest of a name."""
        return dict(x.split("=", 1) for x in self.run("scontrol", "show", "job", "-o", str(name_or_id)).split() if "=" in x)

    def other(self, *words, seconds=600):
        """A job of somebody else's there; its id."""
        r = self.run("sbatch", "--parsable", "-o", "/dev/null", "-e", "/dev/null", "-D", self.folder, "-J", "other", *words,
                     "--wrap", f"sleep {seconds}")
        return r.strip()

    def token(self, seconds=7200):
        def part(x):
            return base64.urlsafe_b64encode(x if isinstance(x, bytes) else json.dumps(x).encode()).rstrip(b"=")
        now = int(time.time())
        text = part({"alg": "HS256", "typ": "JWT"}) + b"." + part({"exp": now + seconds, "iat": now, "sun": self.user})
        return (text + b"." + part(hmac.new(self.key, text, hashlib.sha256).digest())).decode()

    def close(self):
        atexit.unregister(self.close)
        if self.procs.get("slurmctld") and self.procs["slurmctld"].poll() is None:
            self.run("scancel", "-u", self.user)
        for name in reversed(list(self.procs)):
            p = self.procs[name]
            if p.poll() is None:
                p.send_signal(signal.SIGTERM)
                try:
                    p.wait(10)
                except subprocess.TimeoutExpired:
                    p.kill()
                    p.wait()
        if self.kept:
            print(f"logs: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    kept = False
