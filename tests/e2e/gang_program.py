#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gang_program.py - programs on two machines with real falaj-workers, as docs/howto/gangs.md says:

    reduce    an all-reduce over sockets: the sum is right, and what goes between the machines shows no byte of the numbers
    torch     PyTorch's DDP (gloo) on two ranks, where Debian's python3-torch is: stopped in its middle and gone on with, its
              model has the bytes of an undisturbed run
    inside    people get into the program of the rank they name, and type to that one
    failed    one rank that fails ends the attempt, with its words
    stranger  a machine that is none of the gang's is told of nobody
    refused   a pool whose machines make no interface says so

Every invariant holds at the end."""
import json, os, socket, stat, subprocess, sys, tempfile, threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from machine_falaj import Machine
from platform_falaj import BIN, Platform, until

BEATS = {"worker.heartbeat_ms": "500"}
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")
MARK = b"falaj-known-tensor-"
REDUCE = """
import os, socket, struct, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
known = b"-rosnet-nwonk-jalaf"[::-1] * 4000         # as no request shows it
address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    listener = socket.create_server(address)
    total = 0
    for _ in range(world - 1):
        s, peer = listener.accept()
        got = b""
        while len(got) < len(known) + 8:
            got += s.recv(1 << 16)
        assert got[8:] == known
        total += struct.unpack("<q", got[:8])[0]
        s.sendall(struct.pack("<q", total))
    open("/falaj/out/sum", "w").write(str(total))
else:
    for _ in range(600):
        try:
            s = socket.create_connection(address)
            break
        except OSError:
            time.sleep(0.1)
    s.sendall(struct.pack("<q", 40 + rank + 1) + known)
    assert struct.unpack("<q", s.recv(8))[0] == 42
"""
TORCH = """
import os, signal, sys, torch, torch.distributed as dist
stop = torch.zeros(1)
signal.signal(signal.SIGTERM, lambda *a: stop.fill_(1))
dist.init_process_group("gloo")
rank, kept = dist.get_rank(), "/falaj/checkpoint/state.pt"
torch.manual_seed(7)
x, y = torch.randn(512, 16), torch.randint(0, 4, (512,))
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
net = torch.nn.parallel.DistributedDataParallel(net)
opt, first = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9), 0
if os.path.exists(kept):
    state = torch.load(kept)
    net.load_state_dict(state["net"]); opt.load_state_dict(state["opt"]); first = state["epoch"]
    print("gone on from", first, flush=True)
mine = slice(rank * 256, rank * 256 + 256)
for epoch in range(first, 40):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x[mine]), y[mine]).backward()
    opt.step()
    if rank == 0 and epoch == 20 and not first and not os.path.exists(kept):
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "epoch": epoch + 1}, kept + ".tmp")
        os.rename(kept + ".tmp", kept)
    flag = stop.clone() if len(sys.argv) < 2 or first else torch.tensor([float(epoch == 20)])
    dist.all_reduce(flag)
    if flag.item():
        sys.exit(75)
if rank == 0:
    torch.save([p.detach().numpy() for p in net.module.parameters()], "/falaj/out/net")
"""


class Tap(threading.Thread):
    """Everything that goes over the loopback, looked through for the numbers."""

    def __init__(self):
        super().__init__(daemon=True)
        self.s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.s.bind(("lo", 0))
        self.s.settimeout(0.2)
        self.bytes, self.found, self.ends = 0, 0, False

    def run(self):
        while not self.ends:
            try:
                packet = self.s.recv(1 << 17)
            except TimeoutError:
                continue
            self.bytes += len(packet)
            self.found += packet.count(MARK)

    def end(self):
        self.ends = True
        self.join()
        return self.bytes, self.found


def device():
    """A node of the TUN device as udev makes it, without touching the machine's own."""
    if os.geteuid() != 0:
        return "/dev/net/tun"
    path = os.path.join(tempfile.mkdtemp(prefix="falaj-tun-"), "tun")
    os.chmod(os.path.dirname(path), 0o755)
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(10, 200))
    os.chmod(path, 0o666)
    return path


def main():
    tun = device()
    p = Platform({"FALAJ_SCHEDULER_LEASE_MS": "3000", "FALAJ_WORKER_HEARTBEAT_MS": "500", "FALAJ_WORKER_PROGRAMS": "host",
                  "FALAJ_WORKER_TUN_DEVICE": tun})
    api = p.tenant("gangs", zone=p.zone())[1]
    second = Machine(p, "second", **BEATS, **{"worker.programs": "host", "worker.tun_device": tun})
    nodes = lambda: {n["name"]: n for n in p.admin.must("GET", "/v1/nodes")["data"] if n["state"] == "READY"}
    until("the second machine", lambda: len([n for n in nodes().values() if n.get("gang_programs")]) == 2, 60)

    def submit(script, *words, **more):
        spec = {"command": ["/usr/bin/python3", "/falaj/code/script", *words], "script": script, **more.pop("spec", {})}
        return api.must("POST", "/v1/jobs", {"name": "gang", "kind": "run", "slots": 1, "nodes": {"min": 2, "max": 2},
                                             "memory_bytes": 1 << 30, "spec": spec, **more})["job_id"]

    def log_of(job):
        return api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1].decode()

    def ended(job, state="COMPLETED", timeout=180):
        j = until(f"the end of {job}", lambda: (j := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j, timeout)
        if j["state"] != state:
            raise SystemExit(f"{job}: {j}\n{log_of(job)}")
        return j

    def output(job, name):
        return api.call("GET", f"/v1/jobs/{job}/outputs/{name}", raw=True)[1]

    # reduce
    tap = Tap() if os.geteuid() == 0 else None
    if tap:
        tap.start()
    job = submit(REDUCE, spec={"outputs": ["sum"]})
    ended(job)
    assert output(job, "sum") == b"42", output(job, "sum")
    assert "[rank 1]" in log_of(job)
    if tap:
        seen, found = tap.end()
        assert seen > len(MARK) * 4000 and not found, (seen, found)
        print(f"reduce: 42; {seen} bytes went by, none of the numbers among them")

    # inside
    job = submit("import sys\nprint('up', flush=True)\nfor line in sys.stdin: print('read', line.strip()[::-1], flush=True)\n",
                 spec={"takes_stdin": True})
    until("both ranks are up", lambda: {"up", "[rank 1] up"} <= set(log_of(job).split("\n")), 120)
    env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": api.token, "HOME": tempfile.mkdtemp(prefix="falaj-gang-")}
    falaj = lambda *words, **more: subprocess.run([os.path.join(BIN, "falaj"), "job", *words], env=env, capture_output=True,
                                                  text=True, timeout=180, **more)
    for rank in (0, 1):
        r = falaj("exec", job, "--rank", str(rank), "--", "hostname")
        assert (r.returncode, r.stdout) == (0, f"rank-{rank}\n"), r
    r = falaj("exec", job, "--rank", "2", "--", "hostname")
    assert r.returncode != 0 and "There is no rank 2: this job's program runs on 2 machines, ranks 0 to 1" in r.stderr, r
    r = falaj("forward", job, "--rank", "2", "0:80")
    assert r.returncode == 2 and "there is no rank 2" in r.stderr, r
    entered = [e["event"]["details"] for e in api.must("GET", f"/v1/audit/events?page_size=200&resource={job}")["data"]
               if e["action"] == "job.enter"]
    assert {d.get("rank") for d in entered} >= {None, 1} and len({d["machine"] for d in entered}) == 2, entered
    typists = [subprocess.Popen([os.path.join(BIN, "falaj"), "job", "attach", job, "--rank", str(rank)], env=env,
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for rank in (0, 1)]
    for rank, typist in enumerate(typists):
        typist.stdin.write(f"for {'zero' if rank == 0 else 'one'}\n".encode())
        typist.stdin.close()
    ended(job)
    assert "[rank 1] read eno rof" in log_of(job) and "\nread orez rof" in log_of(job), log_of(job)
    assert [typist.wait(60) for typist in typists] == [0, 0]
    print("inside: by rank")

    # failed
    job = submit("import os, sys, time\nif os.environ['RANK'] == '1': sys.exit('no such column')\ntime.sleep(300)\n")
    assert "status 1: no such column" in ended(job, "FAILED")["message"]
    print("failed: by the words of the rank that did")

    # stranger: a lease that is no member's is told of nobody, and neither is a machine of the gang by another certificate
    attempt = p.sql("SELECT attempt_id, tenant_id, fence FROM attempt ORDER BY leased_at DESC LIMIT 1")[0]
    third = Machine(p, "third", **BEATS)
    until("the third machine", lambda: nodes().get("third"), 60)
    conf = dict(line.split(" = ", 1) for line in open(third.path("worker.conf")).read().splitlines() if " = " in line)
    body = json.dumps({"tenant_id": "tnt_" + attempt[1].replace("-", ""), "fence": int(attempt[2]), "endpoint": "127.0.0.1:1"})
    url = f"{conf['worker.api_url']}/v1/leases/att_{attempt[0].replace('-', '')}/gang"
    r = subprocess.run(["curl", "-s", "--cacert", conf["worker.ca"], "--cert", third.path("worker.pem"), "--key",
                        third.path("worker.key"), "-H", "Content-Type: application/json", "-d", body, url],
                       capture_output=True, text=True)
    assert '"status":409' in r.stdout.replace(" ", "") and "members" not in r.stdout, r.stdout + r.stderr
    third.kill()
    print("stranger: told of nobody")

    # torch
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode == 0:
        one = submit(TORCH, spec={"outputs": ["net"]})
        ended(one)
        two = submit(TORCH, "stop", spec={"outputs": ["net"]})
        ended(two)
        assert "gone on from 21" in log_of(two) and log_of(two).count("gone on from 21") == 2, log_of(two)
        assert output(one, "net") == output(two, "net") and output(one, "net"), "the bytes of an undisturbed run"
        print("torch: gone on with from a checkpoint on both ranks; the bytes of an undisturbed run")
    else:
        print("torch: python3-torch is not here")

    # refused
    second.kill()
    until("one machine", lambda: "second" not in nodes(), 60)
    waits = submit("0")
    until("the reason", lambda: "that run parts of such jobs" in api.must("GET", f"/v1/jobs/{waits}").get("message", ""), 60)
    api.must("POST", f"/v1/jobs/{waits}/cancel", {})

    if broken := p.broken_invariants():
        raise SystemExit(f"invariants: {broken}")
    p.close()


main()
