/* SPDX-License-Identifier: Apache-2.0 */
/* test_box_filter.c - the filter loads, and lets through what it should alone; what a whole program tries is in tests/escape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "workers/lease/box_filter.h"

enum { CODE_MAX = 4096, NO_CALL = 9999 };

static void enter(void)
{
    static struct sock_filter code[CODE_MAX];
    struct err e = { 0 };
    int fd = -1;
    if (box_filter_file(&fd, &e) != ERR_OK)
        _exit(100);
    ssize_t n = read(fd, code, sizeof code);
    struct sock_fprog p = { (unsigned short)((size_t)n / sizeof *code), code };
    if (n <= 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0)
        _exit(101);
}

/* Of a call with these arguments: does the filter refuse it? What it lets through may fail by itself, but not so. */
static void a_call_passes_or_not(void **state)
{
    (void)state;
    static const struct { long call, a, b, c; int refused; } rows[] = {
        { SYS_getpid, 0, 0, 0, 0 }, { SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0 }, { SYS_socket, AF_INET, SOCK_STREAM |
            SOCK_CLOEXEC, 0, 0 },
        { SYS_socket, AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0, 0 }, { SYS_socket, AF_NETLINK, SOCK_RAW, 0, 0 },
        { SYS_socket, AF_NETLINK, SOCK_RAW, 12, EPERM }, { SYS_socket, AF_INET, SOCK_RAW, 1, EPERM },
        { SYS_socket, AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1, EPERM }, { SYS_socket, AF_PACKET, SOCK_DGRAM, 0, EPERM },
        { SYS_socket, 40, SOCK_STREAM, 0, EPERM }, { SYS_socketpair, AF_NETLINK, SOCK_RAW, 0, EPERM },
        { SYS_clone, CLONE_NEWUSER, 0, 0, EPERM }, { SYS_clone3, 0, 0, 0, ENOSYS }, { SYS_unshare, 0, 0, 0, EPERM },
        { SYS_mknodat, -1, 0, S_IFCHR, EPERM }, { SYS_mknodat, -1, 0, S_IFBLK, EPERM }, { SYS_mknodat, -1, 0, S_IFIFO, 0 },
        { SYS_ioctl, -1, 0x5412, 0, EPERM }, { SYS_ioctl, -1, 0x541c, 0, EPERM }, { SYS_ioctl, -1, 0x5413, 0, 0 },
        { SYS_ptrace, 0, 0, 0, EPERM }, { SYS_bpf, 0, 0, 0, EPERM }, { NO_CALL, 0, 0, 0, EPERM }, { 0x40000000 + 39, 0, 0, 0,
            EPERM },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            enter();
            errno = 0;
            long got = syscall(rows[i].call, rows[i].a, rows[i].b, rows[i].c);
            _exit(rows[i].refused ? !(got < 0 && errno == rows[i].refused) : got < 0 && (errno == EPERM || errno == ENOSYS));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status))
            fail_msg("row %zu: call %ld: %#x", i, rows[i].call, (unsigned)status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_call_passes_or_not) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
