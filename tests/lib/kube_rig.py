# SPDX-License-Identifier: Apache-2.0
"""kube_rig.py - a real Kubernetes on loopback for tests: etcd, kube-apiserver with TLS and RBAC, kube-controller-manager and
kube-scheduler, of any version. Only the kubelets are stand-ins (kube_node.py).

KUBE_BIN names the folder of the three programs (tests/engines/kube_build.sh makes them from Debian's source); etcd is Debian's
etcd-server. Everything is in a folder of its own, no port is fixed, and the cluster's authority is made for it."""
import atexit, http.client, json, os, re, shutil, signal, socket, ssl, subprocess, sys, tempfile, urllib.parse

from platform_falaj import SRC, until

PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
NAMESPACE = "falaj-jobs"
IMAGE = "registry.example/falaj-worker@sha256:" + "0a" * 32


def programs():
    """The folder with the cluster's programs, or an end that says how to get them."""
    at = os.environ.get("KUBE_BIN") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                                                    "falaj/kubernetes/bin")
    lacks = [p for p in PROGRAMS if not os.access(os.path.join(at, p), os.X_OK)] \
        + [p for p in ("etcd", "openssl", "bwrap", "kubectl") if not shutil.which(p)]
    if lacks:
        sys.exit(f"kube_rig.py: {', '.join(lacks)} missing (looked in {at}): run tests/engines/kube_build.sh, which builds them "
                 "of Debian's source (some minutes), or name a folder with them in KUBE_BIN; apt-get install etcd-server "
                 "kubernetes-client bubblewrap openssl")
    return at


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Kube:
    kept = False

    def __init__(self, nodes=4, gpus=1):
        self.bin = programs()
        self.folder, self.procs, self.nodes = tempfile.mkdtemp(prefix="falaj-kube-"), {}, [f"k{i + 1}" for i in range(nodes)]
        os.chmod(self.folder, 0o755)
        self.ports = {name: free_port() for name in ("etcd", "peer", "api", "manager", "scheduler")}
        self.url = f"https://127.0.0.1:{self.ports['api']}"
        version = subprocess.check_output([os.path.join(self.bin, "kube-scheduler"), "--version"], text=True)
        self.minor = int(re.search(r"v1\.(\d+)", version)[1])
        self.plain_off = ["--port=0"] if self.minor < 23 else []        # the old port without TLS, on all addresses
        atexit.register(self.close)
        self.authority()
        self.start_etcd()
        self.start_api()
        self.start_manager()
        self.start_scheduler()
        os.mkdir(self.path("bin"))
        for i, name in enumerate(self.nodes):
            os.makedirs(self.path(f"{name}/pods"))
            with open(self.path(f"{name}/node.json"), "w", encoding="utf-8") as f:
                json.dump({"name": name, "address": f"127.0.0.{i + 11}", "server": self.url, "ca": self.path("ca.pem"),
                           "cert": self.path("admin.pem"), "key": self.path("admin.key"), "image": IMAGE,
                           "programs": self.path("bin"),
                           "folder": self.path(f"{name}/pods"), "capacity": {
                               "cpu": "8", "memory": "16Gi", "pods": "20", "nvidia.com/gpu": str(gpus)}}, f)
            self.start_node(name)
        until("nodes", lambda: len(self.get("/api/v1/nodes").get("items", [])) == nodes)

    def path(self, name):
        return os.path.join(self.folder, name)

    # --- certificates ---

    def openssl(self, *words):
        r = subprocess.run(["openssl", *words], cwd=self.folder, capture_output=True, text=True, check=False)
        if r.returncode:
            raise RuntimeError(f"openssl {words}: {r.stderr}")

    def cert(self, name, subject, names=""):
        ext = self.path(f"{name}.ext")
        with open(ext, "w", encoding="utf-8") as f:
            f.write("extendedKeyUsage=serverAuth,clientAuth\n" + (f"subjectAltName={names}\n" if names else ""))
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out",
                     f"{name}.csr", "-subj", subject)
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                     "-out", f"{name}.pem", "-extfile", ext)

    def authority(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
                     "-out", "ca.pem", "-days", "2", "-subj", "/CN=kube-test")
        self.cert("api", "/CN=kube-apiserver", "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:127.0.0.1")
        self.cert("admin", "/O=system:masters/CN=admin")
        self.cert("manager", "/CN=system:kube-controller-manager")
        self.cert("scheduler", "/CN=system:kube-scheduler")
        self.openssl("genrsa", "-out", "sa.key", "2048")
        self.openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")
        for who in ("admin", "manager", "scheduler"):
            with open(self.path(f"{who}.conf"), "w", encoding="utf-8") as f:
                json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                           "clusters": [{"name": "c", "cluster": {"server": self.url,
                                                                  "certificate-authority": self.path("ca.pem")}}],
                           "users": [{"name": "u", "user": {"client-certificate": self.path(f"{who}.pem"),
                                                            "client-key": self.path(f"{who}.key")}}],
                           "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, f)

    # --- programs ---

    def begin(self, name, *command):
        with open(self.path(f"{name}.log"), "ab") as log:
            self.procs[name] = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                start_new_session=True)

    def start_etcd(self):
        url, peer = f"http://127.0.0.1:{self.ports['etcd']}", f"http://127.0.0.1:{self.ports['peer']}"
        self.begin("etcd", "etcd", "--name=a", f"--data-dir={self.path('etcd')}", f"--listen-client-urls={url}",
                   f"--advertise-client-urls={url}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                   f"--initial-cluster=a={peer}")

    def start_api(self):
        self.begin("kube-apiserver", os.path.join(self.bin, "kube-apiserver"),
                   f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}",
                   "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={self.ports['api']}",
                   "--tls-cert-file=api.pem", "--tls-private-key-file=api.key", "--client-ca-file=ca.pem",
                   "--authorization-mode=RBAC", "--service-account-key-file=sa.pub", "--service-account-signing-key-file=sa.key",
                   "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.213.0.0/24",
                   f"--cert-dir={self.path('tmp')}", "--anonymous-auth=false",
                   "--endpoint-reconciler-type=none")
        until("the API server", lambda: self.call("GET", "/readyz")[0] == 200, 300)

    def start_manager(self):
        self.begin("kube-controller-manager", os.path.join(self.bin, "kube-controller-manager"), "--kubeconfig=manager.conf",
                   "--leader-elect=false", f"--secure-port={self.ports['manager']}", "--bind-address=127.0.0.1",
                   f"--cert-dir={self.path('tmp')}", "--service-account-private-key-file=sa.key", "--root-ca-file=ca.pem",
                   "--use-service-account-credentials=true", *self.plain_off, "--controllers=" + ",".join((
                       "job", "garbagecollector", "namespace", "serviceaccount", "serviceaccount-token", "nodelifecycle", "podgc",
                       "resourcequota", "clusterrole-aggregation")),
                   "--node-monitor-period=1s", "--node-monitor-grace-period=10s")

    def start_scheduler(self):
        self.begin("kube-scheduler", os.path.join(self.bin, "kube-scheduler"), "--kubeconfig=scheduler.conf",
                   "--leader-elect=false",
                   f"--secure-port={self.ports['scheduler']}", "--bind-address=127.0.0.1", f"--cert-dir={self.path('tmp')}",
                   *self.plain_off)

    def start_node(self, name):
        self.begin(name, sys.executable, os.path.join(SRC, "tests/lib/kube_node.py"), self.path(name))

    def kill(self, name):
        """kill -9, and waits until it is gone."""
        self.procs[name].kill()
        self.procs[name].wait()

    # --- its API, as its administrator ---

    def call(self, method, path, body=None, kind="application/json"):
        tls = ssl.create_default_context(cafile=self.path("ca.pem"))
        tls.load_cert_chain(self.path("admin.pem"), self.path("admin.key"))
        try:
            c = http.client.HTTPSConnection("127.0.0.1", self.ports["api"], context=tls, timeout=30)
            c.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
            r = c.getresponse()
            text = r.read()
            return r.status, json.loads(text) if text[:1] == b"{" else {}
        except (OSError, http.client.HTTPException):
            return 0, {}

    def get(self, path):
        return self.call("GET", path)[1]

    def must(self, method, path, body=None, kind="application/json"):
        status, doc = self.call(method, path, body, kind)
        assert 200 <= status < 300, (method, path, status, doc)
        return doc

    def kubectl(self, *words, text=None):
        r = subprocess.run(["kubectl", f"--kubeconfig={self.path('admin.conf')}", *words], input=text,
                           capture_output=True, text=True, timeout=120, check=False)
        assert r.returncode == 0, (words, r.stdout, r.stderr)
        return r.stdout

    def jobs(self):
        return self.get(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs").get("items", [])

    def pods(self, run=""):
        q = "?labelSelector=" + urllib.parse.quote(f"falaj/run={run}") if run else ""
        return self.get(f"/api/v1/namespaces/{NAMESPACE}/pods{q}").get("items", [])

    def token(self, account="falaj-engine"):
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
        return self.must("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token", body)["status"]["token"]

    def close(self):
        atexit.unregister(self.close)
        for name in reversed(list(self.procs)):
            p = self.procs[name]
            if p.poll() is None:
                p.send_signal(signal.SIGTERM if name == "etcd" else signal.SIGKILL)
                p.wait()
        for name in self.nodes:
            pods = self.path(f"{name}/pods")
            for uid in os.listdir(pods) if os.path.isdir(pods) else []:
                try:
                    with open(os.path.join(pods, uid, "info"), encoding="utf-8") as f:
                        pid = json.load(f)["child-pid"]
                    if not os.path.exists(os.path.join(pods, uid, "exit")):
                        os.kill(pid, signal.SIGKILL)
                except (OSError, ValueError, KeyError):
                    pass
        if self.kept:
            print(f"logs: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
