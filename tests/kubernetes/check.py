#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py - every overlay of deploy/kubernetes is built by kubectl, judged by the schemas of Kubernetes' API, by the rules
below, and by Falaj's own programs, which read the settings that a pod would have. No cluster is asked.

usage: tests/kubernetes/check.py
Needs kubectl (1.27 or later; Debian 12 has 1.20), Node with the packages of package-lock.json here, and FALAJ_BIN.
Each rule is broken once by hand, so that it is seen to notice."""
import copy, json, os, pathlib, re, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT, BIN = HERE.parents[1], os.environ.get("FALAJ_BIN", "build/asan/bin")
OVERLAYS = ("dev", "ha", "air-gap")
UIDS = {"api": 10001, "scheduler": 10002, "keyd": 10003}


def objects_of(overlay):
    kustomize = subprocess.run(["kubectl", "kustomize", ROOT / "deploy/kubernetes/overlays" / overlay], capture_output=True,
                               text=True, check=False)
    if kustomize.returncode:
        sys.exit(f"check.py: kubectl kustomize {overlay}: {kustomize.stderr}")
    return judged(kustomize.stdout, overlay)


def judged(text, what, ok=True):
    r = subprocess.run(["node", HERE / "read.mjs"], input=text, capture_output=True, text=True, check=False)
    if (r.returncode == 0) != ok:
        sys.exit(f"check.py: {what}: the schemas say {r.stderr or 'nothing'}")
    return json.loads(r.stdout) if ok else r.stderr


def pods(objects):
    """(name, pod template) of whatever makes pods."""
    return [(f"{o['kind']} {o['metadata']['name']}", o["spec"]["template"]) for o in objects if "template" in o.get("spec", {})]


def containers(pod):
    return pod["spec"].get("initContainers", []) + pod["spec"]["containers"]


# --- rules: each gives what is wrong, in words ---

def hardened(objects):
    for name, pod in pods(objects):
        spec = pod["spec"]
        if spec.get("automountServiceAccountToken") is not False:
            yield f"{name} mounts a token of the cluster"
        if not spec.get("securityContext", {}).get("runAsNonRoot") or "seccompProfile" not in spec["securityContext"]:
            yield f"{name} may run as root, or without seccomp"
        if any(spec.get(x) for x in ("hostNetwork", "hostPID", "hostIPC")) \
                or any("hostPath" in v for v in spec.get("volumes", [])):
            yield f"{name} reaches into its node"
        for c in containers(pod):
            own = c.get("securityContext", {})
            if not own.get("readOnlyRootFilesystem") or own.get("allowPrivilegeEscalation") is not False \
                    or own.get("capabilities") != {"drop": ["ALL"]}:
                yield f"{name}/{c['name']} is not closed"
            if own.get("runAsUser", spec["securityContext"].get("runAsUser", 0)) < 10000:
                yield f"{name}/{c['name']} has no account of its own"
            if "memory" not in c.get("resources", {}).get("limits", {}) or "cpu" not in c["resources"].get("requests", {}):
                yield f"{name}/{c['name']} has no bounds"
            if not re.search(r":[\w.-]*\d[\w.-]*$", c["image"]):
                yield f"{name}/{c['name']} runs whatever {c['image']} is"


def accounts(objects):
    """falaj-keyd lets in the account that its neighbour has, and no two programs share one."""
    for name, pod in pods(objects):
        of = {c["name"]: c.get("securityContext", {}).get("runAsUser") for c in pod["spec"]["containers"]}
        for program, uid in of.items():
            if program in UIDS and uid != UIDS[program]:
                yield f"{name}/{program} runs as {uid}"
        for c in pod["spec"]["containers"]:
            allowed = [int(x.split("=")[1]) for x in c["command"] if x.startswith("--allow-uid=")]
            if c["name"] == "keyd" and allowed != [uid for n, uid in of.items() if n != "keyd"]:
                yield f"{name}/keyd lets in {allowed}"


def joined(objects):
    """What is named is there: volumes, configurations, ports, pods behind services and policies."""
    there = {(o["kind"], o["metadata"]["name"]): o for o in objects}
    labels = [pod["metadata"]["labels"] for _, pod in pods(objects)]
    for name, pod in pods(objects):
        volumes = {v["name"]: v for v in pod["spec"].get("volumes", [])}
        for v in volumes.values():
            if "configMap" in v and ("ConfigMap", v["configMap"]["name"]) not in there:
                yield f"{name}: no ConfigMap {v['configMap']['name']}"
            if "persistentVolumeClaim" in v and ("PersistentVolumeClaim", v["persistentVolumeClaim"]["claimName"]) not in there:
                yield f"{name}: no claim {v['persistentVolumeClaim']['claimName']}"
        for c in containers(pod):
            ports = {p["name"] for p in c.get("ports", [])}
            for m in c.get("volumeMounts", []):
                if m["name"] not in volumes:
                    yield f"{name}/{c['name']}: no volume {m['name']}"
            for e in c.get("env", []):
                ref = e.get("valueFrom", {}).get("configMapKeyRef")
                if ref and ref["key"] not in there.get(("ConfigMap", ref["name"]), {}).get("data", {}):
                    yield f"{name}/{c['name']}: {ref['name']} has no {ref['key']}"
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                if probe in c and c[probe]["httpGet"]["port"] not in ports:
                    yield f"{name}/{c['name']}: {probe} asks a port that is not there"
    for o in objects:
        spec = o.get("spec", {})
        want = spec.get("podSelector", spec.get("selector", {})) if o["kind"] in ("NetworkPolicy", "PodDisruptionBudget") else \
            {"matchLabels": spec["selector"]} if o["kind"] == "Service" else None
        if want and not any(want["matchLabels"].items() <= x.items() for x in labels):
            yield f"{o['kind']} {o['metadata']['name']} chooses no pod"


def secrets_told(objects):
    """Every secret and key that a pod needs stands in the howto, and none is in the repository."""
    page = (ROOT / "docs/howto/kubernetes.md").read_text()
    for o in objects:
        if o["kind"] == "Secret":
            yield f"a Secret {o['metadata']['name']} is in the tree"
    for name, pod in pods(objects):
        needed = {v["secret"]["secretName"] for v in pod["spec"].get("volumes", []) if "secret" in v}
        for c in containers(pod):
            for e in c.get("env", []):
                ref = e.get("valueFrom", {}).get("secretKeyRef")
                needed |= {ref["name"], ref["key"]} if ref else set()
        for x in needed:
            if x not in page:
                yield f"{name} needs {x}, of which docs/howto/kubernetes.md says nothing"


RULES = (hardened, accounts, joined, secrets_told)


def broken(objects):
    """What each rule must notice: (rule, a change that breaks it)."""
    def at(kind, name):
        return lambda all_: next(o for o in all_ if o["kind"] == kind and o["metadata"]["name"].startswith(name))

    def pod(all_, which=0):
        return pods(all_)[which][1]["spec"]

    api, first = at("Deployment", "falaj-api"), lambda all_: pod(all_)["containers"][0]
    keyd = lambda all_: next(c for c in api(all_)["spec"]["template"]["spec"]["containers"] if c["name"] == "keyd")
    return [
        (hardened, lambda a: pod(a).pop("automountServiceAccountToken")),
        (hardened, lambda a: pod(a)["securityContext"].pop("runAsNonRoot")),
        (hardened, lambda a: pod(a).update(hostNetwork=True)),
        (hardened, lambda a: first(a)["securityContext"].pop("readOnlyRootFilesystem")),
        (hardened, lambda a: first(a)["securityContext"].update(capabilities={"drop": []})),
        (hardened, lambda a: first(a)["resources"].pop("limits")),
        (hardened, lambda a: first(a).update(image="falaj-server:latest")),
        (hardened, lambda a: first(a)["securityContext"].update(runAsUser=0)),
        (accounts, lambda a: keyd(a)["command"].append("--allow-uid=10009")),
        (accounts, lambda a: keyd(a)["securityContext"].update(runAsUser=10001)),
        (joined, lambda a: a.remove(at("ConfigMap", "falaj-config")(a))),
        (joined, lambda a: at("ConfigMap", "falaj-site")(a)["data"].pop("zone")),
        (joined, lambda a: at("Service", "falaj")(a)["spec"].update(selector={"app": "other"})),
        (joined, lambda a: a.remove(at("PersistentVolumeClaim", "falaj-state")(a))),
        (joined, lambda a: api(a)["spec"]["template"]["spec"]["volumes"].pop()),
        (secrets_told, lambda a: keyd(a)["env"].append(
            {"name": "X", "valueFrom": {"secretKeyRef": {"name": "falaj-other", "key": "k"}}})),
        (secrets_told, lambda a: a.append({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})),
    ]


# --- the programs' own judgement ---

def settings_hold(objects, folder):
    """The daemon reads its file and environment as the pod has them; it must get as far as the database, which is not there
    (falaj-scheduler waits 30 s for it)."""
    config = next(o for o in objects if o["kind"] == "ConfigMap" and o["metadata"]["name"].startswith("falaj-config"))["data"]
    site = next(o for o in objects if o["kind"] == "ConfigMap" and o["metadata"]["name"].startswith("falaj-site"))["data"]
    secret = os.path.join(folder, "password")
    pathlib.Path(secret).write_text("word\n")
    for program, args in (("api", ["--check-db"]), ("scheduler", [])):
        pod = next(p for n, p in pods(objects) if n == f"Deployment falaj-{program}")
        c = next(x for x in pod["spec"]["containers"] if x["name"] == program)
        env = {k: v for k, v in os.environ.items() if not k.startswith("FALAJ_")}
        for e in c["env"]:
            ref = e.get("valueFrom", {})
            value = e.get("value", f"host={folder} dbname=falaj")
            if "configMapKeyRef" in ref:
                value = site[ref["configMapKeyRef"]["key"]]
            env[e["name"]] = re.sub(r"\$\((\w+)\)", lambda m: env[m[1]], value)
            if e["name"].startswith("FALAJ_REDIS_") and value.startswith("/"):
                env[e["name"]] = secret if "PASSWORD" in e["name"] else ""      # certificates are a cluster's affair
        path = os.path.join(folder, f"{program}.conf")
        pathlib.Path(path).write_text(config[f"{program}.conf"])
        # A key twice would be refused as well; an unknown one must be, or this proves nothing.
        for extra, want in (("", "database"), ("api.no_such_setting = 1\n", "no_such_setting")):
            pathlib.Path(path).write_text(config[f"{program}.conf"] + extra)
            r = subprocess.run([f"{BIN}/falaj-{program}", f"--config={path}", *args], env=env, capture_output=True, text=True,
                               timeout=300, check=False)
            if r.returncode == 0 or want not in r.stderr or (not extra and "settings" in r.stderr):
                sys.exit(f"check.py: falaj-{program} read its settings and said: {r.stderr[-600:]}")


def compose():
    """docker-compose reads its file; each program has the passwords of its own roles and no other."""
    folder = ROOT / "deploy/compose"
    r = subprocess.run(["docker-compose", "--env-file", "falaj.env.example", "config"], cwd=folder, capture_output=True,
                       text=True, check=False)
    if r.returncode:
        sys.exit(f"check.py: docker-compose config: {r.stderr}")
    for service, roles in (("api", {"falaj_app", "falaj_worker_api"}), ("migrate", {"falaj_migrate"}), ("keyd", set()),
                           ("scheduler", {"falaj_scheduler", "falaj_sequencer", "falaj_retention"})):
        part = re.search(rf"^  {service}:\n((?:    .*\n)+)", r.stdout, re.M)[1]
        closed = all(x in part for x in ("read_only: true", "- ALL", "user: 1000"))
        if set(re.findall(r"user=(\w+)", part)) != roles or not closed:
            sys.exit(f"check.py: compose: {service}:\n{part}")
    print("check.py: compose.yaml holds")


def main():
    if not shutil.which("kubectl"):
        sys.exit("check.py: kubectl is missing (1.27 or later)")
    if not (HERE / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=HERE, check=True)
    judged("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: one}\n", "a wrong type", ok=False)
    compose()
    judged("apiVersion: v1\nkind: Deployment\nmetadata: {name: a}\n", "a kind that is not there", ok=False)
    noticed = 0
    for overlay in OVERLAYS:
        objects = objects_of(overlay)
        faults = [f for rule in RULES for f in rule(objects)]
        if faults:
            sys.exit(f"check.py: {overlay}:\n  " + "\n  ".join(faults))
        for rule, change in broken(objects):
            worse = copy.deepcopy(objects)
            change(worse)
            if not list(rule(worse)):
                sys.exit(f"check.py: {overlay}: {rule.__name__} did not notice change {noticed}")
            noticed += 1
        with tempfile.TemporaryDirectory() as folder:
            settings_hold(objects, folder)
        print(f"check.py: {overlay}: {len(objects)} objects hold")
    print(f"check.py: {noticed} changes for the worse were noticed")


if __name__ == "__main__":
    main()
