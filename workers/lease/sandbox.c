/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c - the child's half: resource limits, Landlock, an account without rights, and a filter of system calls.
 *
 * Order matters: the account first (the C library changes it in all threads), then Landlock (which needs
 * no rights after no-new-privileges), the filter last, with TSYNC so that threads made before have it too. Landlock holds the calling thread and what it
 * makes; a thread older than that has the account and the filter, which is why jobs open their listeners and nothing else before.
 * The filter denies: a new program or process (clone3 is ENOSYS, so that threads come by clone, whose flags it can see), tracing,
 * mounts, namespaces, modules, other processes' memory, io_uring, keys, clocks; System V IPC and POSIX message queues, which know
 * no process tree; signals, limits, priorities and processors of any process but its own (by number: a child that shares its
 * account with the agent or a sibling could stop it otherwise); and every new socket of every family, so that Unix sockets of
 * other services are out of reach too. What was open before stays usable: descriptor 3 is the agent's, and a serving child
 * answers on its listener and can call nobody. (isolation.h takes the network away besides, where it may.)
 * A denied call fails with EPERM: libraries cope with that, and a crash would say less. */
#include "workers/lease/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/lease/filter_code.h"

static const int denied[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd, SYS_perf_event_open,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsmount, SYS_fspick,
    SYS_fsconfig, SYS_mount_setattr, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_setns, SYS_unshare, SYS_bpf, SYS_kexec_load,
    SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct,
    SYS_quotactl, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_syslog,
    SYS_add_key, SYS_request_key, SYS_keyctl, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_msgget, SYS_msgsnd,
        SYS_msgrcv,
    SYS_msgctl, SYS_mq_open, SYS_mq_unlink, SYS_mq_timedsend, SYS_mq_timedreceive, SYS_mq_notify, SYS_mq_getsetattr,
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_setpriority, SYS_ioprio_set,
    SYS_pidfd_open, SYS_pidfd_send_signal, SYS_process_madvise, SYS_process_mrelease, SYS_tkill, SYS_rt_sigqueueinfo,
        SYS_setpgid, SYS_setsid,
    SYS_fanotify_init, SYS_personality, SYS_migrate_pages, SYS_move_pages, SYS_vhangup, SYS_lookup_dcookie, SYS_nfsservctl,
#if defined(__x86_64__)
    SYS_fork, SYS_vfork, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS_mknod,
#endif
    SYS_mknodat,
};
/* Allowed for oneself: the first argument is a process (or thread) that must be 0 or our own. */
static const int own_only[] = { SYS_kill, SYS_tgkill, SYS_rt_tgsigqueueinfo, SYS_prlimit64, SYS_sched_setaffinity,
    SYS_sched_setscheduler,
                                SYS_sched_setparam, SYS_sched_setattr, SYS_get_robust_list };
enum { DENIED = sizeof denied / sizeof denied[0], OWN = sizeof own_only / sizeof own_only[0] };

/* Calls about processes: ours or 0, which is ours too. -1 and negative numbers mean groups, and everybody. The low half decides:
 * the kernel takes an int. */
static void own_write(struct filter_code *p, unsigned self)
{
    for (size_t i = 0; i < OWN; i++) {
        emit(p, UNLESS_EQUAL((unsigned)own_only[i], 5));
        emit(p, LOAD(args[0]));
        emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0));
        emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 1, 0));
        emit(p, RETURN(SECCOMP_RET_ERRNO | EPERM));
        emit(p, RETURN(SECCOMP_RET_ALLOW));
    }
}

static void program_write(struct filter_code *p)
{
    const unsigned deny = SECCOMP_RET_ERRNO | EPERM;
    emit_arch(p, deny);
    for (size_t i = 0; i < DENIED; i++) {
        emit(p, UNLESS_EQUAL((unsigned)denied[i], 1));
        emit(p, RETURN(deny));
    }
    emit(p, UNLESS_EQUAL(SYS_clone3, 1));
    emit(p, RETURN(SECCOMP_RET_ERRNO | ENOSYS));
    emit(p, UNLESS_EQUAL(SYS_clone, 4));
    emit(p, LOAD(args[0]));                                                                 /* the low half, little endian */
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
    emit(p, RETURN(deny));
    emit(p, RETURN(SECCOMP_RET_ALLOW));
    own_write(p, (unsigned)getpid());
    emit(p, RETURN(SECCOMP_RET_ALLOW));
}

static enum errc filter_set(struct filter_code *p, struct err *e)
{
    struct sock_fprog f = { p->n, p->code };
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &f) != 0) {
        FAIL(e, IO, "the filter of system calls was refused");
        return err_errno(e, errno);
    }
    return ERR_OK;
}

static void landlock_allow(int set, const char *path, uint64_t access)
{
    CLEANUP(fd_closep) int fd = open(path, O_PATH | O_CLOEXEC);
    struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = fd };
    if (fd >= 0)
        syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/* The lease's own cards, what the driver has for all processes, and what it reads of itself. */
static void landlock_gpus(int set, const struct sandbox *s)
{
    const uint64_t node = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
    const uint64_t reads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    static const char *const shared[] = { "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", NULL };
    const char *dev = s->dev ? s->dev : "/dev";
    char path[256];
    for (int m = 0; m < 64; m++)
        if (s->gpu_nodes >> m & 1) {
            snprintf(path, sizeof path, "%s/nvidia%d", dev, m);
            landlock_allow(set, path, node);
        }
    for (int i = 0; s->gpu_nodes && shared[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", dev, shared[i]);
        landlock_allow(set, path, node);
    }
    if (s->gpu_nodes && s->library && s->library[0] == '/')
        landlock_allow(set, s->library, LANDLOCK_ACCESS_FS_READ_FILE);
    static const char *const about[] = { "/proc/driver/nvidia", "/proc/self", "/sys/bus/pci", NULL };
    static const char *const files[] = { "/proc/meminfo", "/etc/ld.so.cache", NULL };       /* the other: where libraries lie */
    for (int i = 0; s->gpu_nodes && about[i]; i++)
        landlock_allow(set, about[i], reads);
    for (int i = 0; s->gpu_nodes && files[i]; i++)
        landlock_allow(set, files[i], LANDLOCK_ACCESS_FS_READ_FILE);
}

/* Read below /usr, /lib, /lib64 and the time zone, all below the working directory, and the lease's GPUs. Without Landlock:
 * nothing. */
static void landlock_enter(const struct sandbox *s)
{
    const uint64_t reads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, all = (1u << 13) - 1;
    struct landlock_ruleset_attr attr = { .handled_access_fs = all };
    CLEANUP(fd_closep) int set = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (set < 0)
        return;
    static const char *const readable[] = { "/usr", "/lib", "/lib64", "/etc/localtime", "/sys/devices/system/cpu", "/dev/urandom", NULL };
    for (int i = 0; readable[i]; i++)
        landlock_allow(set, readable[i], i < 3 || i == 4 ? reads : LANDLOCK_ACCESS_FS_READ_FILE);
    landlock_allow(set, ".", all & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE);
    if (s->engine) {
        landlock_allow(set, s->engine, LANDLOCK_ACCESS_FS_READ_FILE);
        landlock_allow(set, "/proc/cpuinfo", LANDLOCK_ACCESS_FS_READ_FILE);     /* it chooses its kernels by that, too */
    }
    landlock_gpus(set, s);
    syscall(SYS_landlock_restrict_self, set, 0);
}

bool sandbox_nobody(uid_t *ret_uid, gid_t *ret_gid)
{
    struct passwd p, *found = NULL;
    char room[4096];
    if (geteuid() != 0 || getpwnam_r("nobody", &p, room, sizeof room, &found) != 0 || !found)
        return false;
    *ret_uid = p.pw_uid;
    *ret_gid = p.pw_gid;
    return true;
}

static enum errc account_change(uid_t uid, gid_t gid, struct err *e)
{
    if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) {
        FAIL(e, IO, "the account %u was refused", uid);
        return err_errno(e, errno);
    }
    return ERR_OK;
}

static bool limit(int what, int64_t value)
{
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)what, &r) != 0)
        return false;
    rlim_t v = (rlim_t)value < r.rlim_max ? (rlim_t)value : r.rlim_max;
    r = (struct rlimit){ v, v };
    return setrlimit((__rlimit_resource_t)what, &r) == 0;
}

/* A sanitizer's shadow memory counts as data, and is larger than any limit: instrumented builds go without this one. */
static bool limit_data(int64_t bytes)
{
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(HAS_SHADOW)
    (void)bytes;
    return true;
#else
    return bytes <= 0 || limit(RLIMIT_DATA, bytes);
#endif
}

enum errc sandbox_begin(const struct sandbox *s, struct err *e)
{
    if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_NOFILE, s->files) || !limit_data(s->memory_bytes))
        return FAIL(e, IO, "the resource limits were refused");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return FAIL(e, IO, "no-new-privileges was refused");
    return s->uid ? account_change((uid_t)s->uid, (gid_t)s->gid, e) : ERR_OK;
}

enum errc sandbox_tie(const struct sandbox *s, struct err *e)
{
    if (s->parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != s->parent)
            return FAIL(e, IO, "the agent is gone");
    }
    prctl(PR_SET_DUMPABLE, 0);
    return ERR_OK;
}

enum errc sandbox_enter(const struct sandbox *s, struct err *e)
{
    TRY(sandbox_begin(s, e));
    landlock_enter(s);
    TRY(sandbox_tie(s, e));
    struct filter_code p = { .n = 0 };
    program_write(&p);
    return filter_set(&p, e);
}

enum errc sandbox_keep_peers(struct err *e)
{
    struct filter_code p = { .n = 0 };
    emit_arch(&p, SECCOMP_RET_ERRNO | EPERM);
    emit(&p, UNLESS_EQUAL(SYS_connect, 1));
    emit(&p, RETURN(SECCOMP_RET_ERRNO | EINPROGRESS));
    emit(&p, UNLESS_EQUAL(SYS_io_uring_setup, 1));
    emit(&p, RETURN(SECCOMP_RET_ERRNO | EPERM));
    emit(&p, RETURN(SECCOMP_RET_ALLOW));
    return filter_set(&p, e);
}
