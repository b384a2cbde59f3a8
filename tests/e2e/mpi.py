#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi.py - Debian's OpenMPI on two machines with real falaj-workers, as docs/howto/gangs.md says. Its ranks are in network
namespaces of their own, which only the gang's network joins:

    reduce    mpirun, on rank 0 alone, starts a rank on each machine: their all-reduce of a million numbers is right on both
    again     a second mpirun in the same job, with two ranks on each machine; and a command of which a machine says the status
    failed    a rank that fails on the other machine ends the job, with mpirun's words
    stopped   a cancel ends what runs on both

The program calls libmpi itself, so nothing is compiled. Every invariant holds at the end."""
import os, stat, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from machine_falaj import Machine
from platform_falaj import Platform, until

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")
N = 1 << 20
MPI = """
import ctypes, os, sys, time
mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
of = lambda name: ctypes.byref(ctypes.c_char.in_dll(mpi, name))
world, double, add = of("ompi_mpi_comm_world"), of("ompi_mpi_double"), of("ompi_mpi_op_sum")
rank, size = ctypes.c_int(), ctypes.c_int()
assert mpi.MPI_Init(None, None) == 0
mpi.MPI_Comm_rank(world, ctypes.byref(rank)), mpi.MPI_Comm_size(world, ctypes.byref(size))
if sys.argv[1] == "fail" and rank.value == 1:
    sys.exit("no such column")
if sys.argv[1] == "stay":
    print("up", flush=True)
    time.sleep(600)
n = 1 << 20
mine, all_ = (ctypes.c_double * n)(*[rank.value + 1 + i for i in range(n)]), (ctypes.c_double * n)()
assert mpi.MPI_Allreduce(mine, all_, n, double, add, world) == 0
want = size.value * (size.value + 1) // 2
assert all(all_[i] == want + size.value * i for i in range(n)), all_[:4]
print("sum of", size.value, "on", os.uname().nodename, "by", rank.value, flush=True)
mpi.MPI_Finalize()
"""


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
    if subprocess.run(["/bin/sh", "-c", "command -v mpirun"], capture_output=True).returncode:
        raise SystemExit("mpirun is not here: deploy/install-deps.sh --mpi installs it")
    tun = device()
    p = Platform({"FALAJ_SCHEDULER_LEASE_MS": "3000", "FALAJ_WORKER_HEARTBEAT_MS": "500", "FALAJ_WORKER_PROGRAMS": "host",
                  "FALAJ_WORKER_TUN_DEVICE": tun})
    api = p.tenant("mpi", zone=p.zone())[1]
    Machine(p, "second", **{"worker.heartbeat_ms": "500", "worker.programs": "host", "worker.tun_device": tun})
    until("the second machine", lambda: len([n for n in p.admin.must("GET", "/v1/nodes")["data"]
                                             if n["state"] == "READY" and n.get("gang_programs")]) == 2, 60)

    def submit(*command):
        spec = {"command": list(command), "script": MPI, "launcher": "mpi"}
        return api.must("POST", "/v1/jobs", {"name": "mpi", "kind": "run", "slots": 1, "nodes": {"min": 2, "max": 2},
                                             "memory_bytes": 1 << 30, "spec": spec})["job_id"]

    log_of = lambda job: api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1].decode()

    def ended(job, state="COMPLETED"):
        j = until(f"the end of {job}", lambda: (j := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j, 240)
        if j["state"] != state:
            raise SystemExit(f"{job}: {j}\n{log_of(job)}")
        return j

    program = "/usr/bin/python3 /falaj/code/script"
    # reduce
    job = submit("/usr/bin/mpirun", *program.split(), "sum")
    ended(job)
    until("both ranks' words", lambda: {"sum of 2 on rank-0 by 0", "sum of 2 on rank-1 by 1"} <= set(log_of(job).split("\n")), 60)
    assert "hwloc" not in log_of(job), log_of(job)              # no /sys in a box is nobody's news
    print(f"reduce: {N} numbers over two machines")

    # again
    job = submit("/bin/sh", "-c", f"mpirun {program} sum && mpirun --oversubscribe -n 4 {program} sum"
                                  " && /falaj/code/falaj-rank rank-1 'exit 7'; echo said $?")
    ended(job)
    until("its last word", lambda: "\nsaid 7" in log_of(job), 60)
    hosts = [line.split()[4] for line in log_of(job).split("\n") if line.startswith("sum of 4")]
    assert sorted(hosts) == ["rank-0", "rank-0", "rank-1", "rank-1"], log_of(job)
    print("again: four ranks, two on each; a status comes back")

    # failed
    job = submit("/usr/bin/mpirun", *program.split(), "fail")
    ended(job, "FAILED")
    until("the words of the rank", lambda: "no such column" in log_of(job), 60)
    print("failed: by the words of the rank that did")

    # stopped
    job = submit("/usr/bin/mpirun", *program.split(), "stay")
    until("both ranks are up", lambda: log_of(job).count("up\n") >= 2, 120)
    api.must("POST", f"/v1/jobs/{job}/cancel", {})
    ended(job, "CANCELLED")
    left = lambda: subprocess.run(["pgrep", "-f", "falaj/code/script[ ]stay"], capture_output=True, text=True).stdout
    until("nothing of it runs", lambda: not left(), 60)
    print("stopped: on both")

    if broken := p.broken_invariants():
        raise SystemExit(f"invariants: {broken}")
    p.close()


main()
