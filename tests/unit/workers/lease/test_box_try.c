/* SPDX-License-Identifier: Apache-2.0 */
/* test_box_try.c - what a unit's filter refuses a box is told by the try, not by the first job. */
#include "run_kit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "workers/lease/box_try.h"

static uid_t account(void)
{
    return geteuid() ? 0 : 65534;
}

/* As systemd does it: this call is answered so, here and in all children. */
static bool refuse(long call, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void a_refused_call_is_told(void **state)
{
    (void)state;
    static const struct { long call; int error; const char *words; } rows[] = {
        { SYS_unshare, EPERM, "refused a user namespace to the lease's account: errno 1" },     /* RestrictNamespaces */
        { SYS_mount, EPERM, "scratch in memory cannot be made" },                               /* SystemCallFilter=~@mount */
        { SYS_openat2, ENOSYS, "openat2, by which outputs are read, was refused" },             /* RestrictSUIDSGID */
        { SYS_sethostname, EPERM, "a box could not be made: bwrap: Can't set hostname" },       /* ProtectHostname */
        { SYS_pivot_root, EPERM, "a box could not be made: bwrap: pivot_root" },
        { SYS_capset, EPERM, "capabilities cannot be given up" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            const char *said = refuse(rows[i].call, rows[i].error) ? box_lacks(account(), account()) : "no filter";
            if (!said || !strstr(said, rows[i].words))
                fprintf(stderr, "wanted: %s\ngot: %s\n", rows[i].words, said ? said : "nothing");
            _exit(said && strstr(said, rows[i].words) ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

static void where_nothing_is_refused_nothing_lacks(void **state)
{
    (void)state;
    const char *lacks = box_lacks(account(), account());
    if (lacks)
        fail_msg("%s", lacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_refused_call_is_told),
                                        cmocka_unit_test(where_nothing_is_refused_nothing_lacks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
