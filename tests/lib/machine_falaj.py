# SPDX-License-Identifier: Apache-2.0
"""machine_falaj.py - further falaj-workers beside that of a platform, for tests of several machines."""
import atexit, os, subprocess, tempfile

from platform_falaj import BIN


class Machine:
    """A falaj-worker beside that of falaj dev, enrolled by a join token as one of its own machine would be."""

    def __init__(self, p, name, **settings):
        data = p.ready["data_dir"]
        st = os.stat(os.path.join(data, "etc/worker.conf"))
        self.account = {"user": st.st_uid, "group": st.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        self.folder, self.name, self.proc = tempfile.mkdtemp(prefix=f"falaj-gang-{name}-"), name, None
        with open(os.path.join(data, "etc/worker.conf"), encoding="utf-8") as f:
            conf = dict(line.strip().split(" = ", 1) for line in f if " = " in line)
        token = p.admin.must("POST", "/v1/join-tokens", {"zone": p.ready["zone"], "pool": "default", "node_name": name})["token"]
        conf.update({"worker.name": name, "worker.enrol_url": p.url, "worker.cert": self.path("worker.pem"),
                     "worker.key": self.path("worker.key"), "worker.join_token_file": self.path("token"),
                     "worker.work_dir": self.path("work"), "worker.ops_port": "0", **settings})
        for file, text in (("token", token), ("worker.conf", "".join(f"{k} = {v}\n" for k, v in conf.items()))):
            with open(self.path(file), "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(self.path(file), 0o600)
        os.mkdir(self.path("work"))
        for root, dirs, files in os.walk(self.folder):
            for x in (".", *dirs, *files):
                os.chown(os.path.join(root, x), st.st_uid, st.st_gid)
        self.log = open(self.path("log"), "ab")
        atexit.register(self.kill)
        self.start()

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        self.proc = subprocess.Popen([os.path.join(BIN, "falaj-worker"), "--config", self.path("worker.conf")], stdout=self.log,
                                     stderr=self.log, **self.account)

    def kill(self):
        if self.proc and self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()
