/* SPDX-License-Identifier: Apache-2.0 */
/* box_filter.c - the list, and the arguments of the few calls that are allowed in part. */
#include "workers/lease/box_filter.h"

#include <errno.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/lease/filter_code.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static const int allowed[] = {
    /* files */
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2,
    SYS_openat, SYS_openat2, SYS_close, SYS_close_range, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat,
        SYS_faccessat2,
    SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2,
    SYS_linkat, SYS_symlinkat, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_truncate, SYS_ftruncate,
    SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_sync_file_range, SYS_fadvise64, SYS_readahead, SYS_flock, SYS_dup, SYS_dup3,
    SYS_fcntl, SYS_pipe2, SYS_splice, SYS_tee, SYS_vmsplice, SYS_sendfile, SYS_copy_file_range, SYS_umask, SYS_statfs,
        SYS_fstatfs,
    SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr, SYS_flistxattr, SYS_sync, SYS_syncfs,
        SYS_memfd_create,
    SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch, SYS_cachestat,
    /* memory */
    SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_msync, SYS_mincore, SYS_mlock, SYS_mlock2, SYS_munlock,
    SYS_mlockall, SYS_munlockall, SYS_brk, SYS_membarrier, SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect, SYS_get_mempolicy,
    SYS_mbind, SYS_set_mempolicy, SYS_shmget, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop,
    SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
    /* processes and threads, all of one's own process tree */
    SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigaction,
    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_sigaltstack, SYS_signalfd4, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_getpid, SYS_getppid,
        SYS_gettid,
    SYS_getpgid, SYS_setpgid, SYS_getsid, SYS_setsid, SYS_set_tid_address, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq,
    SYS_futex, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_setparam,
    SYS_sched_getscheduler, SYS_sched_setscheduler, SYS_sched_getattr, SYS_sched_setattr, SYS_sched_get_priority_max,
    SYS_sched_get_priority_min, SYS_sched_rr_get_interval, SYS_getpriority, SYS_setpriority, SYS_ioprio_get, SYS_getrusage,
        SYS_times,
    SYS_getrlimit, SYS_setrlimit, SYS_prlimit64, SYS_prctl, SYS_getcpu, SYS_restart_syscall,
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_setuid, SYS_setgid,
        SYS_setreuid,
    SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_setfsuid, SYS_setfsgid, SYS_capget, SYS_capset, SYS_seccomp,
    SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self,
    /* time, waiting, the machine */
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getitimer, SYS_setitimer,
    SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete, SYS_timerfd_create,
    SYS_timerfd_settime, SYS_timerfd_gettime, SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait,
    SYS_epoll_pwait2, SYS_eventfd2, SYS_uname, SYS_sysinfo, SYS_getrandom,
    /* sockets; socket and socketpair are below */
    SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_getsockname, SYS_getpeername, SYS_setsockopt, SYS_getsockopt,
    SYS_shutdown, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg,
#if defined(__x86_64__)
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents, SYS_mkdir, SYS_rmdir, SYS_unlink,
        SYS_rename,
    SYS_link, SYS_symlink, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_dup2, SYS_pipe, SYS_poll,
    SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_inotify_init, SYS_fork, SYS_vfork, SYS_getpgrp,
    SYS_pause, SYS_alarm, SYS_time, SYS_arch_prctl,
#endif
};

/* An argument of a call that has none of these bits is allowed. Bit by bit, since a filter sees numbers only. */
static void allow_without(struct filter_code *p, int call, size_t arg, unsigned bits)
{
    emit(p, UNLESS_EQUAL((unsigned)call, 4));
    emit(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + arg * sizeof(__u64)));
    emit(p, IF_ANY(bits, 1));
    emit(p, RETURN(SECCOMP_RET_ALLOW));
    emit(p, RETURN(SECCOMP_RET_ERRNO | EPERM));
}

/* A family of sockets, neither raw nor packet ones. */
static void allow_family(struct filter_code *p, int call, unsigned family)
{
    enum { TYPE_BITS = 0xf };
    emit(p, UNLESS_EQUAL((unsigned)call, 9));
    emit(p, LOAD(args[0]));
    emit(p, UNLESS_EQUAL(family, 6));
    emit(p, LOAD(args[1]));
    emit(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TYPE_BITS));
    emit(p, UNLESS_EQUAL(SOCK_STREAM, 1));
    emit(p, RETURN(SECCOMP_RET_ALLOW));
    emit(p, UNLESS_EQUAL(SOCK_DGRAM, 1));
    emit(p, RETURN(SECCOMP_RET_ALLOW));
    emit(p, LOAD(nr));
}

static void allow_unix(struct filter_code *p, int call)
{
    emit(p, UNLESS_EQUAL((unsigned)call, 4));
    emit(p, LOAD(args[0]));
    emit(p, UNLESS_EQUAL(AF_UNIX, 1));
    emit(p, RETURN(SECCOMP_RET_ALLOW));
    emit(p, LOAD(nr));
}

/* Which addresses there are, and nothing else that is asked over netlink. */
static void allow_routes(struct filter_code *p)
{
    emit(p, UNLESS_EQUAL(SYS_socket, 6));
    emit(p, LOAD(args[0]));
    emit(p, UNLESS_EQUAL(AF_NETLINK, 3));
    emit(p, LOAD(args[2]));
    emit(p, UNLESS_EQUAL(NETLINK_ROUTE, 1));
    emit(p, RETURN(SECCOMP_RET_ALLOW));
    emit(p, LOAD(nr));
}

/* Terminals' ways to write into their own input. */
static void refuse_ioctl(struct filter_code *p)
{
    enum { TIOCLINUX_ = 0x541c };
    emit(p, UNLESS_EQUAL(SYS_ioctl, 6));
    emit(p, LOAD(args[1]));
    emit(p, UNLESS_EQUAL(TIOCSTI, 1));
    emit(p, RETURN(SECCOMP_RET_ERRNO | EPERM));
    emit(p, UNLESS_EQUAL(TIOCLINUX_, 1));
    emit(p, RETURN(SECCOMP_RET_ERRNO | EPERM));
    emit(p, RETURN(SECCOMP_RET_ALLOW));
}

static void filter_write(struct filter_code *p)
{
    const unsigned spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
        CLONE_NEWNET;
    emit_arch(p, SECCOMP_RET_ERRNO | EPERM);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        emit(p, UNLESS_EQUAL((unsigned)allowed[i], 1));
        emit(p, RETURN(SECCOMP_RET_ALLOW));
    }
    emit(p, UNLESS_EQUAL(SYS_clone3, 1));       /* its flags are in memory, where no filter looks: threads then come by clone */
    emit(p, RETURN(SECCOMP_RET_ERRNO | ENOSYS));
    allow_without(p, SYS_clone, 0, spaces);
    allow_without(p, SYS_mknodat, 2, S_IFCHR);  /* S_IFBLK has its bit too; pipes and plain files have not */
#if defined(__x86_64__)
    allow_without(p, SYS_mknod, 1, S_IFCHR);
#endif
    refuse_ioctl(p);
    static const int calls[] = { SYS_socket, SYS_socketpair };
    for (size_t i = 0; i < 2; i++) {
        allow_unix(p, calls[i]);
        allow_family(p, calls[i], AF_INET);
        allow_family(p, calls[i], AF_INET6);
    }
    allow_routes(p);
    emit(p, RETURN(SECCOMP_RET_ERRNO | EPERM));
}

enum errc box_filter_file(int *ret_fd, struct err *e)
{
    struct filter_code p = { .n = 0 };
    filter_write(&p);
    CLEANUP(fd_closep) int fd = memfd_create("filter", MFD_CLOEXEC);
    ssize_t size = (ssize_t)(p.n * sizeof p.code[0]);
    if (fd < 0 || write(fd, p.code, (size_t)size) != size || lseek(fd, 0, SEEK_SET) != 0)
        return FAIL(e, IO, "no file for the filter of system calls");
    *ret_fd = fd;
    fd = -1;
    return ERR_OK;
}
