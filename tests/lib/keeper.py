#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keeper.py - a platform that several tests use one after the other: CTest starts it before the first of them and ends it after the last.

usage: keeper.py up DIR      start `falaj dev` and leave it to a keeper in the background; DIR/ready.json says where it is
       keeper.py down DIR    end it. Fails when an invariant does not hold, when it ends badly (a sanitizer finding does), does not
                             end by itself, or leaves a process behind
The keeper goes away with the ctest that asked for it: it looks for its process twice a second, so that a run that was broken off
leaves nothing running. A platform that an earlier run left in DIR is ended first."""
import json, os, shutil, signal, subprocess, sys, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from platform_falaj import Platform

START_S, STOP_S = 600, 300


def alive(pid):
    """Running, that is: what has ended and is not waited for yet counts as gone."""
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def is_keeper(pid, folder):
    try:
        words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
    except OSError:
        return False
    return any(w.endswith(b"keeper.py") for w in words) and folder.encode() in words


def read(folder, name):
    try:
        return open(os.path.join(folder, name)).read()
    except OSError:
        return None


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".new", "w") as f:
        f.write(text)
    os.rename(path + ".new", path)


def violations(p):
    """The invariants that the platform checks itself; what the last test had begun may still be under way."""
    until = time.time() + 120
    while True:
        bad = [f"{r['name']}: {r['violations']} ({r['doc']})" for r in p.admin.must("GET", "/v1/system/invariants")["data"] if r["violations"]]
        if not bad or time.time() > until:
            return bad
        time.sleep(0.5)


def keep(folder, parent):
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    p = Platform({"FALAJ_RATE_ENROL_PER_MINUTE": "0"}, start_timeout=START_S)
    p.zone()
    p.wait_node(timeout=START_S)
    write(folder, "ready.json", json.dumps(p.ready))
    while not asked and alive(parent):
        time.sleep(0.5)
    faults = []
    if asked:
        faults += [f"invariant {v}" for v in violations(p)]
        names = json.load(open(os.path.join(p.ready["data_dir"], "dev.json")))["pids"]
        logs = os.path.join(folder, "log")
        shutil.rmtree(logs, ignore_errors=True)
        shutil.copytree(os.path.join(p.ready["data_dir"], "log"), logs)
        p.close()
        code = p.proc.wait()
        if code:
            faults.append(f"falaj dev ended with {code}; its output is {p.log_path}, the daemons' is in {logs}")
        left = [name for name, pid in names.items() if pid > 1 and alive(pid)]
        if left:
            faults.append(f"falaj dev left processes behind: {', '.join(left)}")
    else:
        p.close()
    write(folder, "end", "\n".join(faults))


def up(folder):
    down_if_there(folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    parent = os.getppid()
    log = open(os.path.join(folder, "keeper.log"), "wb")
    child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "keep", folder, str(parent)], stdin=subprocess.DEVNULL, stdout=log,
                             stderr=log, start_new_session=True)
    write(folder, "pid", str(child.pid))
    until = time.time() + 2 * START_S
    while time.time() < until and child.poll() is None:
        if read(folder, "ready.json"):
            print(f"ready: {folder}/ready.json")
            return 0
        time.sleep(0.05)
    print(f"the platform did not start:\n{read(folder, 'keeper.log')}")
    if child.poll() is None:
        child.terminate()
    return 1


def down_if_there(folder):
    pid = int(read(folder, "pid") or 0)
    if pid and is_keeper(pid, folder):
        os.kill(pid, signal.SIGTERM)
        until = time.time() + STOP_S
        while alive(pid) and time.time() < until:
            time.sleep(0.05)


def down(folder):
    down_if_there(folder)
    said = read(folder, "end")
    if said is None:
        print(f"the keeper did not end in order:\n{read(folder, 'keeper.log')}")
        return 1
    print(said or "ended in order, every invariant holds")
    return 1 if said else 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] in ("up", "down"):
        raise SystemExit({"up": up, "down": down}[sys.argv[1]](os.path.abspath(sys.argv[2])))
    if len(sys.argv) == 4 and sys.argv[1] == "keep":
        raise SystemExit(keep(sys.argv[2], int(sys.argv[3])))
    raise SystemExit(__doc__)
