# SPDX-License-Identifier: Apache-2.0
"""cluster.py - PostgreSQL clusters beside the one of `falaj dev`: made anew and filled from a dump, or following it as a standby.

All by the documented way (docs/howto/restore.md) with PostgreSQL's own programs, run as the account that owns the platform's
cluster. A cluster listens on a Unix socket in a folder of its own, under the platform's port, with its superuser and password."""
import os, shutil, subprocess, time

PG_BIN = "/usr/lib/postgresql/15/bin"


class Cluster:
    """of: a running Platform. folder: where the cluster shall be; it must not be there yet."""

    def __init__(self, of, folder, sockets):
        self.own = of.sql("SHOW data_directory")[0][0]
        st = os.stat(self.own)
        self.uid, self.gid, self.folder, self.sockets = st.st_uid, st.st_gid, folder, sockets
        self.env, self.port, self.src = of.pg_env(), of.ready["pg"]["port"], of.pg_env()["PGHOST"]
        os.makedirs(sockets, 0o700, exist_ok=True)
        os.chown(sockets, self.uid, self.gid)

    def do(self, *argv, **kw):
        root = {"user": self.uid, "group": self.gid, "extra_groups": []} if os.geteuid() == 0 else {}
        r = subprocess.run(argv, env=self.env, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **root, **kw)
        if r.returncode:
            raise RuntimeError(f"{' '.join(argv)}: {r.returncode} {r.stdout[-2000:]}")
        return r.stdout

    def sql(self, text, database="postgres"):
        return self.do("psql", "-XAtq", "-h", self.sockets, "-v", "ON_ERROR_STOP=1", "-d", database, "-c", text).strip()

    def init(self):
        """An empty cluster as the platform makes its own."""
        password = os.path.join(self.sockets, "password")
        with open(password, "w", encoding="utf-8") as f:
            f.write(self.env["PGPASSWORD"])
        os.chmod(password, 0o644)
        self.do(f"{PG_BIN}/initdb", "-D", self.folder, "-U", "postgres", "--auth=scram-sha-256", f"--pwfile={password}",
                "--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C.UTF-8")
        os.unlink(password)

    def start(self):
        self.do(f"{PG_BIN}/pg_ctl", "-D", self.folder, "-w", "-t", "60", "-l", f"{self.sockets}/log", "-o",
                f"-c listen_addresses= -c port={self.port} -c unix_socket_directories={self.sockets}", "start")

    def stop(self):
        self.do(f"{PG_BIN}/pg_ctl", "-D", self.folder, "-w", "-t", "60", "-m", "fast", "stop")

    def restore(self, roles, dump):
        """The roles and the database out of a dump of pg_dump -Fc."""
        self.do("psql", "-Xq", "-h", self.sockets, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-f", roles)
        self.sql("CREATE DATABASE falaj OWNER falaj_owner")
        self.do(f"{PG_BIN}/pg_restore", "-h", self.sockets, "-d", "falaj", "--exit-on-error", dump)

    def follow(self):
        """A standby of the platform's cluster that has everything, and from then on nothing is committed without it."""
        with open(os.path.join(self.own, "pg_hba.conf"), "a", encoding="utf-8") as f:
            f.write("local replication postgres scram-sha-256\n")
        at_primary = ("psql", "-XAtq", "-h", self.src, "-d", "postgres", "-c")
        self.do(*at_primary, "SELECT pg_reload_conf()")
        self.do(f"{PG_BIN}/pg_basebackup", "-h", self.src, "-U", "postgres", "-D", self.folder, "-R", "-X", "stream",
                "-c", "fast", "--no-sync")
        self.start()
        self.do(*at_primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.do(*at_primary, "SELECT pg_reload_conf()")
        until = time.time() + 300
        while self.do(*at_primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").strip() != "1":
            if time.time() > until:
                raise RuntimeError("the standby does not follow")
            time.sleep(0.1)

    def promote(self):
        if self.sql("SELECT pg_promote(true, 60)") != "t":
            raise RuntimeError("the standby was not promoted")

    def take_place(self):
        """The stopped cluster becomes the platform's own, which is kept beside it as FOLDER.old; falaj dev must not run."""
        os.rename(self.own, self.own + ".old")
        shutil.move(self.folder, self.own)
