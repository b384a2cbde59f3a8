/* SPDX-License-Identifier: Apache-2.0 */
/* test_isolation.c - two real serving children of one agent: what the kernel keeps between them when the filter of system calls
 * is not there.
 *
 * An attacker who has a child's account, and none of the filter, is made by this test: it may do all that the account may. Where
 * this machine permits no accounts or no network namespace, what the documents promise instead is looked for: the filter is there
 * in every case. */
#include "serve_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { BASE = 1900000000, COUNT = 65536 };

static void status_of(pid_t pid, const char *name, char *ret, size_t cap)
{
    char path[64], line[256];
    size_t n = strlen(name);
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    *ret = '\0';
    while (fgets(line, sizeof line, f))
        if (strncmp(line, name, n) == 0)
            snprintf(ret, cap, "%s", line + n);
    fclose(f);
}

/* All four of real, effective, saved and file system. */
static long account_of(pid_t pid, const char *which)
{
    char text[256];
    long a, b, c, d;
    status_of(pid, which, text, sizeof text);
    assert_int_equal(sscanf(text, "%ld %ld %ld %ld", &a, &b, &c, &d), 4);
    assert_true(a == b && b == c && c == d);
    return a;
}

static ino_t network_of(pid_t pid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)pid);
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static int interfaces_of(pid_t pid)
{
    char path[64], line[512];
    int n = -2;                         /* two lines of heads */
    snprintf(path, sizeof path, "/proc/%ld/net/dev", (long)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n++;
    fclose(f);
    return n;
}

#define MUST(cond) do { if (!(cond)) _exit(__LINE__ & 0xff ? __LINE__ & 0xff : 1); } while (0)

/* As the account of one lease, without its sandbox, against the child of another. */
static void attack(pid_t victim, const char *dir, uid_t account)
{
    char path[400], byte;
    struct rlimit r = { 1, 1 };
    struct iovec v = { &byte, 1 };
    MUST(setgroups(0, NULL) == 0 && setresgid(account, account, account) == 0 && setresuid(account, account, account) == 0);
    MUST(kill(victim, 0) < 0 && errno == EPERM);
    MUST(kill(victim, SIGSTOP) < 0 && errno == EPERM);
    MUST(prlimit(victim, RLIMIT_CPU, &r, NULL) < 0 && errno == EPERM);
    MUST(setpriority(PRIO_PROCESS, (id_t)victim, 19) < 0 && errno == EPERM);
    MUST(ptrace(PTRACE_ATTACH, victim, 0, 0) < 0 && errno == EPERM);
    MUST(process_vm_readv(victim, &v, 1, &v, 1, 0) < 0 && errno == EPERM);
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)victim);
    MUST(open(path, O_RDONLY) < 0 && (errno == EACCES || errno == EPERM));
    snprintf(path, sizeof path, "/proc/%ld/fd/3", (long)victim);
    MUST(open(path, O_RDONLY) < 0 && (errno == EACCES || errno == EPERM));
    MUST(open(dir, O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES);
    MUST(chmod(dir, 0777) < 0 && errno == EPERM);
    _exit(0);
}

static void lease_dir(const struct serve_zone *z, const struct serve_child *c, char *ret, size_t cap)
{
    char hex[UUID_HEX];
    hex_encode(c->attempt.b, 16, hex);
    snprintf(ret, cap, "%s/lease-%s", z->dir, hex);
}

static void is_refused(const struct serve_zone *z, const struct serve_child *by, const struct serve_child *to)
{
    char dir[400];
    int status;
    uid_t account = (uid_t)account_of(by->pid, "Uid:");
    lease_dir(z, to, dir, sizeof dir);
    pid_t pid = fork();
    if (pid == 0)
        attack(to->pid, dir, account);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status)
        fail_msg("line %d (modulo 256) let an account reach another lease, status %x", WEXITSTATUS(status), status);
}

static void accounts_are_apart(const struct serve_zone *z, const struct serve_child *a, const struct serve_child *b)
{
    long first = account_of(a->pid, "Uid:"), second = account_of(b->pid, "Uid:");
    if (geteuid() != 0) {               /* documented: one account for all, and the filter between them */
        assert_int_equal(first, second);
        return;
    }
    struct isolation *probe = isolation_new(z->cfg);
    uid_t uid;
    assert_true(isolation_take(probe, &uid));
    isolation_give(probe, uid);
    isolation_free(probe);
    if (!uid) {                         /* documented: a namespace that has no such accounts; nobody for all */
        assert_int_equal(first, second);
        assert_int_not_equal(first, 0);
        return;
    }
    assert_in_range(first, BASE, BASE + COUNT - 1);
    assert_in_range(second, BASE, BASE + COUNT - 1);
    assert_int_not_equal(first, second);
    assert_int_equal(account_of(a->pid, "Gid:"), first);
    is_refused(z, a, b);
    is_refused(z, b, a);
}

static void networks_are_empty(const struct isolation *i, const struct serve_child *a, const struct serve_child *b)
{
    if (isolation_net(i) == ISOLATION_NET_NONE) {
        assert_int_equal(network_of(a->pid), network_of(getpid()));
        return;
    }
    assert_int_not_equal(network_of(a->pid), network_of(getpid()));
    assert_int_not_equal(network_of(a->pid), network_of(b->pid));
    assert_int_equal(interfaces_of(a->pid), 1);             /* lo, which is down */
}

static void two_leases_of_one_agent_are_apart(void **state)
{
    (void)state;
    struct serve_zone z;
    struct serve_child a, b;
    char text[256];
    serve_zone_init(&z);
    assert_int_equal(chmod(z.dir, 0711), 0);                /* so that nothing but the lease's own directory is in the way */
    struct isolation *i = isolation_new(z.cfg);
    serve_start(&z, i, 1, &a);
    serve_start(&z, i, 2, &b);
    assert_string_not_equal(a.endpoint, "");
    assert_string_not_equal(b.endpoint, "");
    assert_int_equal(serve_ask_once(&z, "api", a.endpoint, a.attempt), 200);        /* reached, without any network of its own */
    assert_int_equal(serve_ask_once(&z, "api", b.endpoint, b.attempt), 200);
    accounts_are_apart(&z, &a, &b);
    networks_are_empty(i, &a, &b);
    status_of(a.pid, "Seccomp:", text, sizeof text);
    assert_int_equal(strtol(text, NULL, 10), 2);
    status_of(a.pid, "NoNewPrivs:", text, sizeof text);
    assert_int_equal(strtol(text, NULL, 10), 1);
    status_of(a.pid, "CapEff:", text, sizeof text);
    assert_int_equal(strtoull(text, NULL, 16), 0);
    serve_stop(&a, NULL);
    serve_stop(&b, NULL);
    isolation_free(i);
    serve_zone_release(&z);
}

static void an_account_is_one_lease_s_at_a_time(void **state)
{
    (void)state;
    enum { FEW = 4096 };
    struct err e;
    struct config *cfg = config_new_default();
    static uid_t taken[FEW];
    uid_t more;
    assert_int_equal(config_set(cfg, "worker.uid_count", "4096", &e), ERR_OK);
    struct isolation *i = isolation_new(cfg);
    assert_true(isolation_take(i, &taken[0]));
    if (!taken[0]) {
        assert_true(isolation_take(i, &more) && more == 0);
    } else {
        static bool seen[FEW];
        for (int n = 1; n < FEW; n++)
            assert_true(isolation_take(i, &taken[n]));
        for (int n = 0; n < FEW; n++) {
            assert_in_range(taken[n], BASE, BASE + FEW - 1);
            assert_false(seen[taken[n] - BASE]);
            seen[taken[n] - BASE] = true;
        }
        assert_false(isolation_take(i, &more));
        isolation_give(i, taken[7]);
        assert_true(isolation_take(i, &more) && more == taken[7]);
    }
    isolation_free(i);
    config_free(cfg);
}

static void without_a_range_all_are_nobody(void **state)
{
    (void)state;
    struct err e;
    struct config *cfg = config_new_default();
    uid_t uid = 1;
    assert_int_equal(config_set(cfg, "worker.uid_base", "0", &e), ERR_OK);
    struct isolation *i = isolation_new(cfg);
    assert_true(isolation_take(i, &uid) && uid == 0);
    isolation_give(i, uid);
    isolation_free(i);
    config_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(two_leases_of_one_agent_are_apart),
                                        cmocka_unit_test(an_account_is_one_lease_s_at_a_time),
                                        cmocka_unit_test(without_a_range_all_are_nobody) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
