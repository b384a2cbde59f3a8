# SPDX-License-Identifier: Apache-2.0
"""debian_falaj.py - Falaj set up in a tree of Debian from its packages, as docs/howto/install-packages.md says, and the main job
done with it: data, training, a served model, an answer, the audit log verified offline."""
import json, pathlib, re, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZONE, API, WORKERS = "ae-dxb-1", 19443, 19444
WORKER, KEYD = "falaj-worker.service", "falaj-keyd@.service"
DATABASE = ["postgresql-15", "softhsm2", "ca-certificates"]
SETUP = (f"falaj-setup server --zone {ZONE} --country AE --host localhost --port {API} --worker-port {WORKERS} --softhsm"
         " --no-start")


def cli(tree, token, command, **kw):
    env = f"FALAJ_URL=https://localhost:{API} FALAJ_CACERT=/etc/falaj/tls/ca.pem FALAJ_TOKEN={token}"
    return tree.sh(f"cd /srv && {env} falaj {command}", **kw)


def servers(tree):
    """Starts the three and makes zone and tenant; returns the tokens of the platform's and the tenant's administrators."""
    tree.start(KEYD, ZONE)
    tree.wait_log(KEYD, "keyd.ready")
    tree.start("falaj-scheduler.service")
    tree.start("falaj-api.service")
    tree.wait_log("falaj-api.service", "api.ready")
    login = tree.sh("setpriv --reuid falaj-api --regid falaj --init-groups"
                    " falaj-api --config=/etc/falaj/api.conf --bootstrap-admin")
    admin = re.search(r"flj_\w+", login)[0]
    cli(tree, admin, f"zone create {ZONE} Dubai AE")
    return admin, cli(tree, admin, f"tenant create palm --zone {ZONE} -o jsonpath=.admin_token").strip()


def enrol(tree, admin, more=""):
    """Sets a machine up and starts it; returns when the platform may give it work."""
    if not (tree.path / "run/join").exists():
        cli(tree, admin, f"node join-token --zone {ZONE} --pool default -o 'jsonpath={{.token}}' >/run/join")
    tree.sh(f"falaj-setup worker --zone {ZONE} --api https://localhost:{WORKERS} --enrol https://localhost:{API}"
            f" --ca /etc/falaj/tls/ca.pem --token /run/join --no-start{more}")
    tree.start(WORKER)
    tree.wait_log(WORKER, "node.registered")
    nodes = json.loads(cli(tree, admin, "node list -o json"))["data"]
    assert [n["state"] for n in nodes] == ["READY"], nodes


def main_job(tree, token, name="digits"):
    """Commands of the quick start, with names of this turn; returns the answer of the served model."""
    csv = ROOT / "datasets/digits/digits.csv"
    (tree.path / "srv/digits.csv").write_bytes(csv.read_bytes())
    row = csv.read_text().splitlines()[1].split(",")
    cli(tree, token, f"dataset create {name} --label label --classes 10")
    cli(tree, token, f"dataset upload {name} digits.csv")
    cli(tree, token, f"job submit {name} --dataset {name} --epochs 20 --seed 7")
    cli(tree, token, f"job wait {name} --timeout 600", timeout=660)
    cli(tree, token, f"model register {name} {name}")
    cli(tree, token, f"deploy create {name} {name} --wait", timeout=600)
    answer = json.loads(cli(tree, token, f"infer {name} --row {','.join(row[:64])} -o json"))
    heads = time.time() + 120       # the first one is signed some seconds after the first event
    while "rc 0" not in cli(tree, token, f"audit export {name}.jsonl; echo rc $?", ok=False):
        assert time.time() < heads, "no head of the log was signed"
        time.sleep(1)
    tree.sh(f"falaj-verify /srv/{name}.jsonl --trust-embedded-key")
    return answer, row[64]
