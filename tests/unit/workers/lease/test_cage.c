/* SPDX-License-Identifier: Apache-2.0 */
/* test_cage.c - the limits for real: a memory bomb, forks, calls that are denied, files out of reach. */
#include "lease_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/un.h>
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
    assert_int_equal(cage_new(name, &(struct cage_limits){ memory, 64, 1000 }, cage, &e), ERR_OK);
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
    if (cage_kind(c) == CAGE_RLIMITS) {             /* no counter there: judged by how it ended and by its peak */
        print_message("note: no control groups on this machine\n");
        assert_int_equal(cage_oom_kills(c), 0);
        assert_true(cage_is_oom(c, SIGKILL, (int64_t)60 << 20));
        assert_false(cage_is_oom(c, SIGKILL, (int64_t)40 << 20));
        assert_false(cage_is_oom(c, 0, (int64_t)60 << 20));
    } else {
        assert_true(WIFSIGNALED(status));
        assert_true(cage_oom_kills(c) > 0);
        assert_true(cage_is_oom(c, status, peak));
    }
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
    uid_t uid = 0;                                          /* somebody else is nobody enough already */
    gid_t gid = 0;
    sandbox_nobody(&uid, &gid);
    MUST(sandbox_enter(&(struct sandbox){ .files = 64, .uid = uid, .gid = gid, .parent = getppid() }, &e) == ERR_OK);
    MUST(getuid() != 0);
    MUST(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
    MUST(socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM);
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){ 0 }) < 0 && errno == EPERM);
    MUST(fork() < 0 && errno == EPERM);
    MUST(execv("/bin/true", argv) < 0 && errno == EPERM);
    MUST(ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 && errno == EPERM);
    MUST(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
    struct rlimit r;
    MUST(getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_max == 64);
    MUST(getrlimit(RLIMIT_CORE, &r) == 0 && r.rlim_max == 0);
}

/* Under its agent's account too, its memory is not for others of the account to read: no core, no ptrace, no /proc/PID/mem. */
static void keeps_its_memory(void)
{
    struct err e = { 0 };
    MUST(chdir("/tmp") == 0);
    MUST(prctl(PR_SET_DUMPABLE, 1) == 0);
    MUST(sandbox_enter(&(struct sandbox){ .files = 64, .parent = getppid() }, &e) == ERR_OK);
    MUST(prctl(PR_GET_DUMPABLE) == 0);
}

/* What a child may try on its agent, on a sibling and on other services of the machine; `other` is alive and shares the account.
 * */
static pid_t other;
static int unix_socket, listener;

static void reaches(bool to_nobody)
{
    struct err e = { 0 };
    uid_t uid = 0;
    gid_t gid = 0;
    if (to_nobody)
        sandbox_nobody(&uid, &gid);
    struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "/tmp/x" };
    struct rlimit r = { 1, 1 }, own;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    MUST(chdir("/tmp") == 0);
    MUST(sandbox_enter(&(struct sandbox){ .files = 64, .uid = uid, .gid = gid, .parent = getppid() }, &e) == ERR_OK);
    static const int families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        MUST(socket(families[i], SOCK_DGRAM, 0) < 0 && errno == EPERM);
    MUST(connect(unix_socket, (struct sockaddr *)&addr, sizeof addr) < 0 && errno == EPERM);   /* even with a socket of before */
    MUST(bind(unix_socket, (struct sockaddr *)&addr, sizeof addr) < 0 && errno == EPERM);
    const pid_t targets[] = { other, getppid(), -1, -other, 1 };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        MUST(kill(targets[i], 0) < 0 && errno == EPERM);
        MUST(kill(targets[i], SIGSTOP) < 0 && errno == EPERM);
    }
    MUST(syscall(SYS_tgkill, other, other, SIGSTOP) < 0 && errno == EPERM);
    MUST(syscall(SYS_tkill, other, SIGSTOP) < 0 && errno == EPERM);
    MUST(syscall(SYS_rt_sigqueueinfo, other, SIGTERM, NULL) < 0 && errno == EPERM);
    MUST(syscall(SYS_pidfd_open, other, 0) < 0 && errno == EPERM);
    MUST(prlimit(other, RLIMIT_NOFILE, &r, NULL) < 0 && errno == EPERM);
    MUST(prlimit(getppid(), RLIMIT_CPU, &r, NULL) < 0 && errno == EPERM);
    MUST(sched_setaffinity(other, sizeof cpus, &cpus) < 0 && errno == EPERM);
    MUST(setpriority(PRIO_PROCESS, (id_t)other, 19) < 0 && errno == EPERM);
    MUST(setpriority(PRIO_USER, 0, 19) < 0 && errno == EPERM);
    MUST(ptrace(PTRACE_ATTACH, other, 0, 0) < 0 && errno == EPERM);
    MUST(syscall(SYS_process_vm_readv, other, NULL, 0, NULL, 0, 0) < 0 && errno == EPERM);
    MUST(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) < 0 && errno == EPERM);
    MUST(semget(IPC_PRIVATE, 1, IPC_CREAT | 0600) < 0 && errno == EPERM);
    MUST(msgget(IPC_PRIVATE, IPC_CREAT | 0600) < 0 && errno == EPERM);
    MUST(syscall(SYS_mq_open, "falaj", O_CREAT | O_RDWR, 0600, NULL) < 0 && errno == EPERM);
    MUST(syscall(SYS_mq_unlink, "falaj") < 0 && errno == EPERM);
    MUST(kill(getpid(), 0) == 0 && getrlimit(RLIMIT_NOFILE, &own) == 0);        /* oneself */
    MUST(sched_getaffinity(0, sizeof cpus, &cpus) == 0 && sched_setaffinity(0, sizeof cpus, &cpus) == 0);
    char dummy;
    MUST(accept(listener, NULL, NULL) < 0 && errno == EAGAIN);                  /* a listener of before answers still */
    MUST(recv(unix_socket, &dummy, 1, MSG_DONTWAIT) < 0 && errno != EPERM);
}

static void reaches_as_nobody(void)
{
    reaches(true);
}

/* falaj dev as an ordinary user: agent, siblings and child share one account. */
static void reaches_as_the_agents_user(void)
{
    reaches(false);
}

static void ordinary(void)
{
    uid_t uid;
    gid_t gid;
    if (sandbox_nobody(&uid, &gid))
        MUST(setgid(gid) == 0 && setuid(uid) == 0);
    other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    pid_t child = fork();
    if (child == 0) {
        reaches_as_the_agents_user();
        _exit(0);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child);
    kill(other, SIGKILL);
    MUST(waitpid(other, NULL, 0) == other);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

static void test_nobody_else_is_reached(void **state)
{
    (void)state;
    int64_t peak;
    unix_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(unix_socket >= 0 && listener >= 0);
    assert_int_equal(listen(listener, 1), 0);
    other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    void (*const ways[])(void) = { reaches_as_nobody, ordinary };
    for (size_t i = geteuid() == 0 ? 0 : 1; i < 2; i++) {       /* as root both; an ordinary user only as itself */
        struct cage *c = NULL;
        int status = in_cage(&c, (int64_t)256 << 20, ways[i], &peak);
        if (status)
            fail_msg("line %d (modulo 256) let a child through, status %x", WEXITSTATUS(status), status);
        cage_free(c);
    }
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    close(unix_socket);
    close(listener);
}

static void test_calls_are_denied(void **state)
{
    (void)state;
    struct cage *c = NULL;
    int64_t peak;
    int status = in_cage(&c, (int64_t)256 << 20, denied, &peak);
    assert_int_equal(status, 0);
    cage_free(c);
    status = in_cage(&c, (int64_t)256 << 20, keeps_its_memory, &peak);
    assert_int_equal(status, 0);
    cage_free(c);
}

static const char *stand_ins;           /* a folder with nodes of two cards and of their driver */

static bool opens(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", stand_ins, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void sees_its_card(uint64_t nodes)
{
    struct err e = { 0 };
    char library[128];
    const struct sandbox s = { .files = 64, .gpu_nodes = nodes, .library = library, .dev = stand_ins };
    snprintf(library, sizeof library, "%s/library", stand_ins);
    MUST(chdir("/") == 0);
    MUST(mkdir("/tmp/falaj-cage-work", 0700) == 0 || errno == EEXIST);
    MUST(chdir("/tmp/falaj-cage-work") == 0);
    MUST(sandbox_enter(&s, &e) == ERR_OK);
    MUST(!opens("nvidia0") && opens("nvidia1") == (nodes == 2) && opens("nvidiactl") == (nodes == 2));
    MUST(!opens("other"));
    int named = open(library, O_RDONLY | O_CLOEXEC);
    MUST((named >= 0) == (nodes == 2) && !opens("library"));
    int cache = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);         /* by which libraries of a card are found */
    MUST((cache >= 0) == (nodes == 2) && (cache >= 0 || errno == EACCES || errno == ENOENT));
    _exit(0);
}

static void has_the_second(void)
{
    sees_its_card(2);
}

static void has_none(void)
{
    sees_its_card(0);
}

/* A lease opens its own card's node and the driver's, another's not; one without a card opens none. */
static void test_the_nodes_of_its_card(void **state)
{
    (void)state;
    static const char *const nodes[] = { "nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "other", "library" };
    static char dir[] = "/tmp/falaj-dev-XXXXXX";
    char path[128];
    int64_t peak;
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1) {
        print_message("this kernel has no Landlock: nothing to see\n");
        return;
    }
    stand_ins = mkdtemp(dir);
    assert_non_null(stand_ins);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, nodes[i]);
        int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
        assert_true(fd >= 0);
        close(fd);
    }
    void (*const ways[])(void) = { has_the_second, has_none };
    for (size_t i = 0; i < 2; i++) {
        struct cage *c = NULL;
        int status = in_cage(&c, (int64_t)256 << 20, ways[i], &peak);
        if (status)
            fail_msg("line %d (modulo 256), status %x", WEXITSTATUS(status), status);
        cage_free(c);
    }
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, nodes[i]);
        unlink(path);
    }
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_memory_bomb_is_told_by_counter), cmocka_unit_test(test_plain_kill_is_not_oom),
                                        cmocka_unit_test(test_fork_bomb_is_bounded), cmocka_unit_test(test_calls_are_denied),
                                        cmocka_unit_test(test_nobody_else_is_reached),
                                        cmocka_unit_test(test_the_nodes_of_its_card) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
