/* SPDX-License-Identifier: Apache-2.0 */
/* isolation_kit.h - two real serving children of one agent: what the kernel keeps between them when the filter of system calls
 * is not there.
 *
 * An attacker who has a child's account, and none of the filter, is made by this test: it may do all that the account may. Where
 * this machine permits no accounts or no network namespace, what the documents promise instead is looked for: the filter is there
 * in every case. */
#pragma once
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

static inline void status_of(pid_t pid, const char *name, char *ret, size_t cap)
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
static inline long account_of(pid_t pid, const char *which)
{
    char text[256];
    long a, b, c, d;
    status_of(pid, which, text, sizeof text);
    assert_int_equal(sscanf(text, "%ld %ld %ld %ld", &a, &b, &c, &d), 4);
    assert_true(a == b && b == c && c == d);
    return a;
}

static inline ino_t network_of(pid_t pid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)pid);
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static inline int interfaces_of(pid_t pid)
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
static inline void attack(pid_t victim, const char *dir, uid_t account)
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

static inline void lease_dir(const struct serve_zone *z, const struct serve_child *c, char *ret, size_t cap)
{
    char hex[UUID_HEX];
    hex_encode(c->attempt.b, 16, hex);
    snprintf(ret, cap, "%s/lease-%s", z->dir, hex);
}

static inline void is_refused(const struct serve_zone *z, const struct serve_child *by, const struct serve_child *to)
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

static inline void accounts_are_apart(const struct serve_zone *z, const struct serve_child *a, const struct serve_child *b)
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

static inline void networks_are_empty(const struct isolation *i, const struct serve_child *a, const struct serve_child *b)
{
    if (isolation_net(i) == ISOLATION_NET_NONE) {
        assert_int_equal(network_of(a->pid), network_of(getpid()));
        return;
    }
    assert_int_not_equal(network_of(a->pid), network_of(getpid()));
    assert_int_not_equal(network_of(a->pid), network_of(b->pid));
    assert_int_equal(interfaces_of(a->pid), 1);             /* lo, which is down */
}

/* What the leases' accounts owned is gone with them. */
static inline bool has_lease_dirs(const char *dir)
{
    DIR *d = opendir(dir);
    bool found = false;
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        found = found || strncmp(entry->d_name, "lease-", 6) == 0;
    closedir(d);
    return found;
}

/* enter: what the agent does before it starts leases; NULL: nothing. */
static inline void two_leases_are_apart(void (*enter)(struct serve_zone *z))
{
    struct serve_zone z;
    struct serve_child a, b;
    char text[256];
    serve_zone_init(&z);
    if (enter)
        enter(&z);
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
    assert_false(has_lease_dirs(z.dir));
    if (enter)
        assert_int_equal(unlink(z.program), 0);             /* its copy */
    isolation_free(i);
    serve_zone_release(&z);
}
