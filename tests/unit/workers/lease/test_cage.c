/* SPDX-License-Identifier: Apache-2.0 */
/* test_cage.c - the limits for real: a memory bomb, forks, calls that are denied, files out of reach. */
#include "lease_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "workers/lease/sandbox.h"

static pid_t group;             /* of the last child; without a control group it is all that tells its children */

static int in_cage(struct cage **cage, int64_t memory, void (*what)(void), int64_t *ret_peak)
{
    struct err e = { 0 };
    char name[64];
    struct rusage u;
    int status;
    snprintf(name, sizeof name, "test-%d", (int)getpid());
    assert_int_equal(cage_new(name, &(struct cage_limits){ memory, 64, 1 }, cage, &e), ERR_OK);
    pid_t pid = group = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (!cage_join(*cage))
            _exit(99);
        what();
        _exit(0);
    }
    assert_int_equal(wait4(pid, &status, 0, &u), pid);
    *ret_peak = u.ru_maxrss * 1024;
    return status;
}

static void bomb(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    for (int i = 0; i < 512; i++) {
        void *volatile p = malloc((size_t)1 << 20);         /* volatile: an optimiser may leave out memory that nobody reads */
        memset(p, 1, (size_t)1 << 20);
    }
}

static void test_memory_bomb_is_told_by_counter(void **state)
{
    (void)state;
    struct cage *c = NULL;
    int64_t peak;
    int status = in_cage(&c, (int64_t)64 << 20, bomb, &peak);
    if (cage_kind(c) == CAGE_RLIMITS) {
        cage_free(c);
        skip();
    }
    assert_true(WIFSIGNALED(status));
    assert_true(cage_oom_kills(c) > 0);
    assert_true(cage_is_oom(c, status, peak));
    cage_free(c);
}

static void die(void)
{
    raise(SIGKILL);
}

static void test_plain_kill_is_not_oom(void **state)
{
    (void)state;
    struct cage *c = NULL;
    int64_t peak;
    int status = in_cage(&c, (int64_t)64 << 20, die, &peak);
    assert_true(WIFSIGNALED(status));
    assert_false(cage_is_oom(c, status, peak));
    cage_free(c);
}

static void forks(void)
{
    int n = 0;
    for (; n < 200; n++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            pause();
            _exit(0);
        }
    }
    _exit(n < 100 ? 42 : 43);
}

static void test_fork_bomb_is_bounded(void **state)
{
    (void)state;
    struct cage *c = NULL;
    int64_t peak;
    int status = in_cage(&c, (int64_t)256 << 20, forks, &peak);
    if (cage_kind(c) != CAGE_RLIMITS)
        assert_int_equal(WEXITSTATUS(status), 42);
    cage_kill(c, group);
    usleep(100000);
    cage_free(c);
}

#define MUST(cond) do { if (!(cond)) _exit(__LINE__ & 0xff ? __LINE__ & 0xff : 1); } while (0)

static void denied(void)
{
    struct err e = { 0 };
    char *argv[] = { NULL };
    MUST(chdir("/tmp") == 0);
    bool is_root = getuid() == 0;                           /* somebody else is nobody enough already */
    MUST(sandbox_enter(&(struct sandbox){ .files = 64, .to_nobody = is_root, .parent = getppid() }, &e) == ERR_OK);
    MUST(getuid() != 0);
    MUST(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
    MUST(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    MUST(fork() < 0 && errno == EPERM);
    MUST(execv("/bin/true", argv) < 0 && errno == EPERM);
    MUST(ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 && errno == EPERM);
    MUST(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
    struct rlimit r;
    MUST(getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_max == 64);
    MUST(getrlimit(RLIMIT_CORE, &r) == 0 && r.rlim_max == 0);
}

static void test_calls_are_denied(void **state)
{
    (void)state;
    struct cage *c = NULL;
    int64_t peak;
    int status = in_cage(&c, (int64_t)256 << 20, denied, &peak);
    assert_int_equal(status, 0);
    cage_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_memory_bomb_is_told_by_counter), cmocka_unit_test(test_plain_kill_is_not_oom),
                                        cmocka_unit_test(test_fork_bomb_is_bounded), cmocka_unit_test(test_calls_are_denied) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
