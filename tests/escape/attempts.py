# SPDX-License-Identifier: Apache-2.0
# attempts.py - what a program in a box tries in order to get out of it. Each row is a name and an act; an act that gives back
# something
# true has got out. What it may not do ends in an error or in nothing. Prints one line for each that succeeded, and the count at
# the end.
# OUTSIDE (environment): a folder of the machine with `secret` in it; PORT: a listener of the machine's loopback, and the
# abstract socket
# falaj-escape-PORT; AGENT: a process of the machine; KEY: a System V key that the machine uses.
import ctypes, os, socket, stat, struct, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)
OUTSIDE, PORT, AGENT, KEY = os.environ["OUTSIDE"], int(os.environ["PORT"]), int(os.environ["AGENT"]), int(os.environ["KEY"])
NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, *(1 << n for n in range(25, 31))
CALLS = dict(ptrace=101, syslog=103, setuid=105, setgroups=116, capset=126, personality=135, pivot_root=155, prctl=157,
    adjtimex=159,
             chroot=161, acct=163, settimeofday=164, mount=165, umount2=166, swapon=167, reboot=169, sethostname=170,
                 setdomainname=171,
             iopl=172, ioperm=173, init_module=175, delete_module=176, quotactl=179, clock_settime=227, mq_open=240,
                 kexec_load=246,
             add_key=248, request_key=249, keyctl=250, unshare=272, perf_event_open=298, fanotify_init=300, name_to_handle_at=303,
             open_by_handle_at=304, clock_adjtime=305, setns=308, process_vm_readv=310, process_vm_writev=311, kcmp=312,
                 finit_module=313,
             bpf=321, userfaultfd=323, io_uring_setup=425, io_uring_enter=426, open_tree=428, move_mount=429, fsopen=430,
                 fsmount=432,
             clone3=435, pidfd_getfd=438, process_madvise=440, mount_setattr=442, memfd_secret=447, modify_ldt=154, shmget=29,
                 msgget=68,
             semget=64, clone=56, kexec_file_load=320, vhangup=153, lookup_dcookie=212, migrate_pages=256, move_pages=279)


def call(name, *args):
    """True: the kernel did it."""
    ctypes.set_errno(0)
    cast = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return libc.syscall(CALLS[name], *cast) >= 0


def in_child(act):
    """Run by a child of its own, so that what a filter kills ends no more than that."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(7 if act() else 0)
        except BaseException:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def read(path):
    return open(path, "rb").read(1) != b""


def write(path, text="1", mode="w"):
    with open(path, mode) as f:
        f.write(text)
    return True


def connects(family, address, kind=socket.SOCK_STREAM):
    s = socket.socket(family, kind)
    s.settimeout(2)
    s.connect(address)
    return kind == socket.SOCK_STREAM or s.send(b"x") == 1


def made(family, kind, protocol=0):
    socket.socket(family, kind, protocol)
    return True


def runs(*argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=20).returncode == 0


def setuid_copy():
    subprocess.run(["cp", "/usr/bin/python3", "/tmp/p"], check=True)
    os.chmod("/tmp/p", 0o6755)
    return subprocess.run(["/tmp/p", "-c", "import os; raise SystemExit(os.geteuid() == 0)"]).returncode == 1


def foreign_processes():
    """Somebody else's process is in sight, or the watcher."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        words = open(f"/proc/{pid}/cmdline").read()
        if "falaj-worker" in words or "run-lease" in words or int(pid) == AGENT:
            return True
    return False


def int80():
    """getpid by the gate of 32-bit programs, whose numbers are others."""
    import mmap
    m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    m.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))() > 0


def descriptors():
    """Something but the four that a program is given; listing them takes one more, of /proc."""
    for fd in filter(lambda n: int(n) > 3, os.listdir("/proc/self/fd")):
        link = f"/proc/self/fd/{fd}"
        if os.path.exists(link) and not os.readlink(link).startswith("/proc/"):
            return True
    return stat.S_ISSOCK(os.fstat(3).st_mode)


def clone3_user():
    return libc.syscall(CALLS["clone3"], struct.pack("QQQQQQQQ", NEWUSER, 0, 0, 0, 17, 0, 0, 0), 64) >= 0


def caps():
    return libc.syscall(CALLS["capset"], struct.pack("Ii", 0x20080522, 0), struct.pack("IIIIII", *([0xFFFFFFFF] * 6))) == 0


def owner_changes():
    open("/tmp/mine", "w").close()
    os.chown("/tmp/mine", 0, 0)
    return True


def symbols():
    return any(not line.startswith("0000000000000000") for line in open("/proc/kallsyms"))


def keeps_env():
    return any(w in k + v for k, v in os.environ.items() for w in ("PRIVATE KEY", "WORKER_KEY", "ASAN_OPTIONS", "LD_PRELOAD"))


P, U = os.path, b"x"
ROWS = [
    # files of the machine, of the agent, of neighbours
    ("shadow", lambda: read("/etc/shadow")), ("passwd of the machine", lambda: "root:" in open("/etc/passwd").read()),
    ("home of root", lambda: os.listdir("/root")), ("var", lambda: os.listdir("/var")), ("run", lambda: os.listdir("/run")),
    ("secret by its path", lambda: read(OUTSIDE + "/secret")), ("folder of leases", lambda: os.listdir(OUTSIDE)),
    ("secret through pid 1", lambda: read("/proc/1/root" + OUTSIDE + "/secret")), ("cwd of pid 1",
        lambda: os.listdir("/proc/1/cwd/" + OUTSIDE)),
    ("upwards", lambda: read("../" * 40 + OUTSIDE + "/secret")), ("old root", lambda: os.listdir("/oldroot")),
    ("write /usr", lambda: write("/usr/bin/falaj-was-here")), ("write /", lambda: write("/here")), ("write /etc",
        lambda: write("/etc/here")),
    ("write passwd", lambda: write("/etc/passwd", "root::0:0::/:/bin/sh\n", "a")), ("write /dev", lambda: write("/dev/here")),
    ("write /proc", lambda: write("/proc/here")), ("write an input", lambda: write("/falaj/in/dataset")),
    ("a new input", lambda: write("/falaj/in/here")), ("unlink an input", lambda: os.unlink("/falaj/in/dataset") is None),
    ("chmod an input", lambda: os.chmod("/falaj/in/dataset", 0o777) is None), ("write the script",
        lambda: write("/falaj/code/script")),
    ("rename the inputs", lambda: os.rename("/falaj/in", "/falaj/was") is None), ("mkdir in /falaj",
        lambda: os.mkdir("/falaj/here") is None),
    ("hard link out", lambda: os.link("/usr/bin/env", "/falaj/out/env") is None),
    ("descriptors that were left open", descriptors), ("environment of the agent", keeps_env),
    # device nodes
    ("mknod null", lambda: os.mknod("/tmp/null", stat.S_IFCHR | 0o666, os.makedev(1, 3)) is None),
    ("mknod disk", lambda: os.mknod("/tmp/disk", stat.S_IFBLK | 0o666, os.makedev(254, 0)) is None),
    *[(f"open {d}", lambda d=d: os.open(d, os.O_RDWR) >= 0)
      for d in ("/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/vda", "/dev/sda", "/dev/fuse", "/dev/kvm",
          "/dev/net/tun", "/dev/vsock")],
    # /proc and /sys
    *[(f"write {p}", lambda p=p: write(p)) for p in (
        "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
        "/proc/sys/kernel/modprobe", "/proc/sys/kernel/ns_last_pid", "/proc/sys/user/max_user_namespaces",
            "/proc/sys/net/ipv4/ip_forward",
        "/proc/self/uid_map", "/proc/1/mem", "/proc/mtrr", "/proc/irq/default_smp_affinity")],
    ("the first one, never out of memory", lambda: write("/proc/1/oom_score_adj", "-999")), ("never out of memory",
        lambda: write("/proc/self/oom_score_adj", "-1000")), ("kcore", lambda: read("/proc/kcore")),
    ("addresses of the kernel", symbols), ("kmsg of /proc", lambda: read("/proc/kmsg")), ("environment of pid 1",
        lambda: read("/proc/1/environ") and "falaj" in open("/proc/1/environ").read().lower()),
    ("processes of others", foreign_processes), ("keys of others", lambda: "falaj" in open("/proc/keys").read()),
    ("control groups", lambda: os.listdir("/sys/fs/cgroup")), ("raise memory", lambda: write("/sys/fs/cgroup/memory.max", "max")),
    ("leave the control group", lambda: write("/sys/fs/cgroup/cgroup.procs", "0")), ("power", lambda: write("/sys/power/state",
        "mem")),
    # mounts
    ("mount tmpfs", lambda: call("mount", b"x", b"/tmp", b"tmpfs", 0, 0)), ("mount proc", lambda: call("mount", b"proc",
        b"/tmp", b"proc", 0, 0)),
    ("mount cgroup2", lambda: call("mount", b"x", b"/tmp", b"cgroup2", 0, 0)), ("bind", lambda: call("mount", b"/usr", b"/tmp",
        0, 4096, 0)),
    ("remount /usr writable", lambda: call("mount", 0, b"/usr", 0, 4096 | 32, 0)), ("unmount /proc", lambda: call("umount2",
        b"/proc", 2)),
    ("pivot_root", lambda: call("pivot_root", b"/tmp", b"/tmp")), ("chroot", lambda: call("chroot", b"/tmp")),
    ("open_tree", lambda: call("open_tree", -100, b"/usr", 1)), ("fsopen", lambda: call("fsopen", b"tmpfs", 0)),
    ("move_mount", lambda: call("move_mount", -100, b"/usr", -100, b"/tmp", 0)),
    ("mount_setattr", lambda: libc.syscall(CALLS["mount_setattr"], -100, b"/usr", 0, struct.pack("QQQQ", 0, 1, 0, 0), 32) == 0),
    # namespaces
    *[(f"unshare {n}", lambda f=f: in_child(lambda: call("unshare", f))) for n, f in (
        ("user", NEWUSER), ("mounts", NEWNS), ("network", NEWNET), ("processes", NEWPID), ("ipc", NEWIPC), ("uts", NEWUTS),
        ("cgroup", NEWCGROUP))],
    ("clone user", lambda: call("clone", NEWUSER | 17, 0, 0, 0, 0)), ("clone3 user", clone3_user),
    ("unshare by a program", lambda: runs("unshare", "-Ur", "true")), ("bwrap in it", lambda: runs("bwrap", "--ro-bind", "/",
        "/", "true")),
    ("setns mounts of pid 1", lambda: call("setns", os.open("/proc/1/ns/mnt", 0), 0)),
    ("setns own user", lambda: call("setns", os.open("/proc/self/ns/user", 0), 0)),
    # privileges
    ("setuid 0", lambda: call("setuid", 0)), ("setgroups", lambda: os.setgroups([0]) is None), ("capabilities", caps),
    ("a setuid copy", setuid_copy), ("su", lambda: runs("su", "-c", "true")), ("mount by a program", lambda: runs("mount", "-t",
        "tmpfs", "x", "/tmp")),
    ("new privileges", lambda: libc.prctl(38, 0, 0, 0, 0) == 0), ("no filter", lambda: libc.prctl(22, 0, 0) == 0),
    ("ambient capability", lambda: libc.prctl(47, 2, 21, 0, 0) == 0), ("chown to root", owner_changes),
    # other processes
    ("ptrace 1", lambda: call("ptrace", 16, 1, 0, 0)), ("ptrace me", lambda: call("ptrace", 0, 0, 0, 0)),
    ("read memory of 1", lambda: call("process_vm_readv", 1, 0, 0, 0, 0, 0)), ("write memory of 1",
        lambda: call("process_vm_writev", 1, 0, 0, 0, 0, 0)),
    ("signal the agent", lambda: os.kill(AGENT, 0) is None), ("handle of the agent", lambda: os.pidfd_open(AGENT) >= 0),
    ("slow the agent", lambda: os.setpriority(os.PRIO_PROCESS, AGENT, 19) is None),
    ("move the agent", lambda: os.sched_setaffinity(AGENT, {0}) is None), ("take a descriptor", lambda: call("pidfd_getfd",
        os.pidfd_open(1), 0, 0)),
    ("kcmp", lambda: call("kcmp", 1, os.getpid(), 0, 0, 0)),
    # keys, IPC
    ("add_key", lambda: call("add_key", b"user", b"k", b"v", 1, -3)), ("keyctl", lambda: call("keyctl", 0, -3, 0)),
    ("request_key", lambda: call("request_key", b"user", b"falaj", 0, -3)), ("segment of the machine", lambda: call("shmget",
        KEY, 0, 0)),
    ("queue of the machine", lambda: call("msgget", KEY, 0)), ("semaphore of the machine", lambda: call("semget", KEY, 0, 0)),
    ("mq_open", lambda: call("mq_open", b"falaj", 0o102, 0o600, 0)), ("file of /dev/shm",
        lambda: P.exists(f"/dev/shm/falaj-escape-{PORT}")),
    # network
    ("loopback of the machine", lambda: connects(socket.AF_INET, ("127.0.0.1", PORT))), ("the same by IPv6",
        lambda: connects(socket.AF_INET6, ("::1", PORT))),
    ("any address", lambda: connects(socket.AF_INET, ("0.0.0.0", PORT))), ("abstract socket", lambda: connects(socket.AF_UNIX,
        f"\0falaj-escape-{PORT}")),
    ("metadata", lambda: connects(socket.AF_INET, ("169.254.169.254", 80))), ("metadata by IPv6",
        lambda: connects(socket.AF_INET6, ("fd00:ec2::254", 80))),
    ("the world", lambda: connects(socket.AF_INET, ("1.1.1.1", 53))), ("the world by UDP", lambda: connects(socket.AF_INET,
        ("1.1.1.1", 53), socket.SOCK_DGRAM)),
    ("names", lambda: socket.getaddrinfo("example.com", 80)), ("docker", lambda: connects(socket.AF_UNIX,
        "/var/run/docker.sock")),
    ("raw", lambda: made(socket.AF_INET, socket.SOCK_RAW, 1)), ("raw by IPv6", lambda: made(socket.AF_INET6, socket.SOCK_RAW,
        58)),
    ("packet", lambda: made(17, socket.SOCK_RAW, 3)), ("netfilter", lambda: made(16, socket.SOCK_RAW, 12)), ("audit",
        lambda: made(16, socket.SOCK_RAW, 9)),
    ("vsock", lambda: made(40, socket.SOCK_STREAM)), ("crypto", lambda: made(38, socket.SOCK_SEQPACKET)), ("xdp",
        lambda: made(44, socket.SOCK_RAW)),
    ("key socket", lambda: made(15, socket.SOCK_RAW, 2)), ("bluetooth", lambda: made(31, socket.SOCK_RAW, 1)), ("can",
        lambda: made(29, socket.SOCK_RAW, 1)),
    # the kernel itself
    *[(n, lambda n=n: call(n, 0, 0, 0, 0, 0)) for n in (
        "bpf", "userfaultfd", "io_uring_enter", "init_module", "delete_module", "finit_module", "kexec_load", "kexec_file_load",
            "swapon", "acct",
        "quotactl", "syslog", "iopl", "ioperm", "settimeofday", "adjtimex", "clock_settime", "clock_adjtime", "sethostname",
            "setdomainname",
        "fanotify_init", "vhangup", "modify_ldt", "migrate_pages", "move_pages", "process_madvise", "memfd_secret", "fsmount")],
    ("io_uring", lambda: libc.syscall(CALLS["io_uring_setup"], 4, bytes(120)) >= 0),
    ("performance counters", lambda: libc.syscall(CALLS["perf_event_open"], struct.pack("IIQ", 1, 112, 0) + bytes(96), 0, -1,
        -1, 0) >= 0),
    ("reboot", lambda: call("reboot", 0xFEE1DEAD, 672274793, 0x89ABCDEF, 0)), ("sysctl of names", lambda: call("personality",
        0x0040000)),
    ("handle of a file", lambda: libc.syscall(CALLS["name_to_handle_at"], -100, b"/usr", struct.pack("Ii", 128, 0) + bytes(128),
    bytes(4), 0) >= 0),
    ("open by handle", lambda: libc.syscall(CALLS["open_by_handle_at"], -100, struct.pack("Ii", 8, 1) + bytes(8), 0) >= 0),
    ("32-bit gate", lambda: in_child(int80)), ("x32 call", lambda: in_child(lambda: libc.syscall(0x40000000 + 39) > 0)),
    ("terminal's input", lambda: __import__("fcntl").ioctl(os.open("/dev/ptmx", os.O_RDWR), 0x5412, b"x") == b"x"),
]
# In an image the root is a copy that is the lease's alone: what is written there reaches nobody.
OWN = ("write /usr", "write /", "write /etc", "mkdir in /falaj")
if os.environ.get("OWN_ROOT"):
    ROWS = [row for row in ROWS if row[0] not in OWN]
out = []
for name, act in ROWS:
    try:
        if act():
            out.append(name)
    except BaseException:
        pass
for name in out:
    print("OUT:", name)
print(f"attempts: {len(ROWS)} succeeded: {len(out)}")
sys.exit(len(out) > 0)
