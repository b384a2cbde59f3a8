#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kube_node.py - a stand-in for a kubelet: one node of a real Kubernetes, whose pods are processes of this machine.

usage: kube_node.py FOLDER, which has node.json: name, address, server, ca, cert, key, image, capacity, folder.

It registers its node, says every second that it lives, watches the pods bound to it, gives each its volumes (Secret, ConfigMap,
emptyDir), runs its command in bubblewrap (own processes, a root that cannot be written, its account, no capability), puts
$(NAME) and $$ in its words as a kubelet does, honours activeDeadlineSeconds and deletion (TERM, grace, KILL), and reports phases.
Its pods outlive it, as containers do; a new one takes them up from their folders. It pulls no image: one other than
`image` is ImagePullBackOff, and its containers see this machine's /usr, and `programs` as /run/image. It has no cgroups, so
nothing is OOMKilled."""
import base64, http.client, json, os, re, signal, ssl, subprocess, sys, threading, time, urllib.parse
from datetime import datetime, timezone

HERE = sys.argv[1]
with open(os.path.join(HERE, "node.json"), encoding="utf-8") as f:
    C = json.load(f)
TLS = ssl.create_default_context(cafile=C["ca"])
TLS.load_cert_chain(C["cert"], C["key"])
HOST = urllib.parse.urlsplit(C["server"])
UID, GID = 10004, 10000


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()


def call(method, path, body=None, kind="application/json"):
    """(status, JSON); 0: nobody answers."""
    try:
        c = http.client.HTTPSConnection(HOST.hostname, HOST.port, context=TLS, timeout=10)
        c.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
        r = c.getresponse()
        return r.status, json.loads(r.read() or b"{}")
    except (OSError, http.client.HTTPException, ValueError):
        return 0, {}


def insist(method, path, body=None, kind="application/json"):
    """Until somebody answers."""
    while True:
        status, doc = call(method, path, body, kind)
        if status and status < 500:
            return status, doc
        time.sleep(0.2)


# --- the node ---

def conditions():
    return [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "a stand-in of a test",
             "lastHeartbeatTime": now(), "lastTransitionTime": now()}]


def register():
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": C["name"], "labels": {
        "kubernetes.io/hostname": C["name"], "falaj.test/node": C["name"]}},
        "status": {"capacity": C["capacity"], "allocatable": C["capacity"], "conditions": conditions(),
                   "addresses": [{"type": "InternalIP", "address": C["address"]}]}}
    status, doc = insist("POST", "/api/v1/nodes", body)
    if status not in (201, 409):
        sys.exit(f"node: {status} {doc}")


def beat():
    while True:
        call("PATCH", f"/api/v1/nodes/{C['name']}/status", {"status": {
            "capacity": C["capacity"], "allocatable": C["capacity"], "conditions": conditions()}},
            "application/strategic-merge-patch+json")
        time.sleep(1)


# --- a pod ---

def expand(text, env):
    return re.sub(r"\$\$|\$\((\w+)\)", lambda m: "$" if m[0] == "$$" else env.get(m[1], m[0]), text)


class Pod:
    def __init__(self, doc):
        self.doc, self.meta = doc, doc["metadata"]
        self.path = f"/api/v1/namespaces/{self.meta['namespace']}/pods/{self.meta['name']}"
        self.folder = os.path.join(C["folder"], self.meta["uid"])
        self.is_over, self.leaves_at, self.said = False, None, None
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def file(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        try:
            with open(self.file(name), encoding="utf-8") as f:
                return f.read().strip()
        except FileNotFoundError:
            return ""

    def write(self, name, text):
        with open(self.file(name + ".new"), "w", encoding="utf-8") as f:
            f.write(text)
        os.rename(self.file(name + ".new"), self.file(name))

    def say(self, phase, state, ready=False, reason=""):
        spec = self.doc["spec"]["containers"][0]
        truth = "True" if ready else "False"
        self.said = {"phase": phase, "podIP": C["address"], "hostIP": C["address"], "startTime": self.read("start") or now(),
                     "conditions": [{"type": t, "status": v, "lastTransitionTime": now()} for t, v in (
                         ("Initialized", "True"), ("Ready", truth), ("ContainersReady", truth), ("PodScheduled", "True"))],
                     "containerStatuses": [{"name": spec["name"], "image": spec["image"], "imageID": "", "restartCount": 0,
                                            "ready": ready, "started": ready, "lastState": {}, "state": state}],
                     **({"reason": reason} if reason else {})}
        return insist("PATCH", self.path + "/status", {"metadata": {"uid": self.meta["uid"]}, "status": self.said},
                      "application/merge-patch+json")[0]

    def volume(self, v, root):
        """A folder with what the volume has, or None: it is not there yet."""
        os.makedirs(root, exist_ok=True)
        ns = self.meta["namespace"]
        if "secret" in v or "configMap" in v:
            kind, name = ("secrets", v["secret"]["secretName"]) if "secret" in v else ("configmaps", v["configMap"]["name"])
            status, doc = call("GET", f"/api/v1/namespaces/{ns}/{kind}/{name}")
            if status != 200:
                return None
            for key, text in doc.get("data", {}).items():
                path = os.path.join(root, key)
                with open(path, "wb") as f:
                    f.write(base64.b64decode(text) if kind == "secrets" else text.encode())
                os.chown(path, 0, GID)
                os.chmod(path, 0o440 if kind == "secrets" else 0o644)
            os.chmod(root, 0o755)
        else:
            os.chown(root, UID, GID)
            os.chmod(root, 0o770)
        return root

    def begin(self):
        """True once its process runs."""
        spec = self.doc["spec"]["containers"][0]
        if spec["image"] != C["image"]:
            self.say("Pending", {"waiting": {"reason": "ImagePullBackOff", "message": "no such image here"}})
            return False
        roots = {v["name"]: self.volume(v, self.file("v-" + v["name"])) for v in self.doc["spec"].get("volumes", [])}
        if not all(roots.values()):
            self.say("Pending", {"waiting": {"reason": "ContainerCreating"}})
            return False
        env = {"HOME": "/tmp"}
        for x in spec.get("env", []):
            ref = x.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            env[x["name"]] = C["address"] if ref == "status.podIP" else expand(x.get("value", ""), env)
        words = ["bwrap", "--unshare-pid", "--as-pid-1", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
                 "--tmpfs", "/run", "--tmpfs", "/tmp", "--ro-bind", C["programs"], "/run/image", "--clearenv", "--info-fd", "3"]
        for k, x in env.items():
            words += ["--setenv", k, x]
        for m in spec.get("volumeMounts", []):
            words += ["--perms", "0755", "--dir", os.path.dirname(m["mountPath"])]
            words += ["--ro-bind" if m.get("readOnly") else "--bind", roots[m["name"]], m["mountPath"]]
        own = self.doc["spec"]["securityContext"]
        words += ["setpriv", f"--reuid={own['runAsUser']}", f"--regid={own['runAsGroup']}", "--clear-groups", "--no-new-privs",
                  "--bounding-set=-all", "--inh-caps=-all", *[expand(x, env) for x in spec["command"]]]
        self.write("start", now())
        # What waits for it is no child of this process, and writes down how it ended.
        script = f'exec 3>info; "$@" >out 2>&1; s=$?; echo $s >exit.new; mv exit.new exit'
        subprocess.Popen(["setsid", "bash", "-c", script, "pod", *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return True

    def pid(self):
        """Of the container's first process, as this machine numbers it."""
        try:
            return json.loads(self.read("info") or "{}").get("child-pid", 0)
        except ValueError:
            return 0

    def send(self, sig):
        try:
            if self.pid() and not self.read("exit"):
                os.kill(self.pid(), sig)
        except ProcessLookupError:
            pass

    def end(self, sig_at):
        """TERM, and KILL once its grace is over."""
        if not self.read("term"):
            self.write("term", str(time.time()))
            self.send(signal.SIGTERM)
        elif time.time() > sig_at:
            self.send(signal.SIGKILL)

    def live(self):
        os.makedirs(self.folder, exist_ok=True)
        while not self.read("start"):
            if self.leaves_at is not None or self.begin():
                break
            time.sleep(0.3)
        limit = self.doc["spec"].get("activeDeadlineSeconds", 0)
        grace = self.doc["spec"].get("terminationGracePeriodSeconds", 30)
        is_late = False
        while self.read("start") and not self.read("exit"):
            if self.leaves_at is not None:
                self.end(self.leaves_at)
            elif limit and time.time() > seconds(self.read("start")) + limit:
                is_late = True
                self.end(float(self.read("term") or time.time()) + grace)
            elif not self.said or self.said["phase"] != "Running":
                if self.pid():
                    self.say("Running", {"running": {"startedAt": self.read("start")}}, ready=True)
            time.sleep(0.1)
        code = int(self.read("exit") or 137)
        state = {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error", "finishedAt": now(),
                                "startedAt": self.read("start") or now()}}
        if is_late:
            self.say("Failed", state, reason="DeadlineExceeded")
        else:
            self.say("Succeeded" if code == 0 else "Failed", state)
        while self.leaves_at is None:
            time.sleep(0.2)
        insist("DELETE", self.path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
                                     "preconditions": {"uid": self.meta["uid"]}})
        self.is_over = True


def main():
    register()
    threading.Thread(target=beat, daemon=True).start()
    pods = {}
    where = "/api/v1/pods?fieldSelector=" + urllib.parse.quote(f"spec.nodeName={C['name']}")
    while True:                     # a list each half second: a watch would be no nearer to what is tested
        status, doc = call("GET", where)
        for x in doc.get("items", []) if status == 200 else []:
            uid = x["metadata"]["uid"]
            if uid not in pods and x["status"].get("phase") in ("Pending", "Running"):
                pods[uid] = Pod(x)
            elif uid not in pods and x["metadata"].get("deletionTimestamp"):
                pods[uid] = Pod(x)
            gone = x["metadata"].get("deletionTimestamp")
            if gone and uid in pods and pods[uid].leaves_at is None:
                pods[uid].leaves_at = seconds(gone)
        time.sleep(0.3)


if __name__ == "__main__":
    main()
