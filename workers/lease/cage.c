/* SPDX-License-Identifier: Apache-2.0 */
/* cage.c - the agent's half of the sandbox: a control group per lease, below the agent's own.
 *
 * v2 is used where the agent's group controls memory (a delegated group, cage_delegate.h), v1 where the three controllers are mounted and writable.
 * v1 counts processor time in a controller of its own, cpuacct; that group limits nothing and may be missing.
 * What cannot be made falls back, down to resource limits alone; cage_kind says what it became. */
#include "workers/lease/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/str.h"
#include "workers/lease/cage_delegate.h"

enum { CONTROLLERS = 3, CPUACCT = CONTROLLERS, GROUPS, PATH_ROOM = 512, CPU_PERIOD_US = 100000, REMOVE_TRIES = 50 };
static const char *const controllers[GROUPS] = { "memory", "pids", "cpu", [CPUACCT] = "cpuacct" };

struct cage {
    enum cage_kind kind;
    struct cage_limits limits;
    char dir[GROUPS][PATH_ROOM];            /* v2: the first only */
    int procs_fd[GROUPS];
    int ndirs;
};

static bool file_read(const char *dir, const char *name, char *out, size_t cap)
{
    char path[PATH_ROOM + 64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, cap - 1);
    out[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

static bool file_write(const char *dir, const char *name, int64_t value)
{
    char path[PATH_ROOM + 64], text[32];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int n = snprintf(text, sizeof text, "%ld", (long)value);
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, (size_t)n) == n;
}

static bool group_make(struct cage *c, int i, const char *base, const char *name)
{
    int n = snprintf(c->dir[i], PATH_ROOM, "%s/falaj-%s", base, name);
    if (n >= PATH_ROOM || (mkdir(c->dir[i], 0755) != 0 && errno != EEXIST))
        return false;
    c->ndirs = i + 1;
    char path[PATH_ROOM + 16];
    snprintf(path, sizeof path, "%s/cgroup.procs", c->dir[i]);
    c->procs_fd[i] = open(path, O_WRONLY | O_CLOEXEC);
    return c->procs_fd[i] >= 0;
}

static void groups_remove_from(struct cage *c, int first)
{
    for (int i = first; i < c->ndirs; i++) {
        fd_closep(&c->procs_fd[i]);
        for (int try = 0; rmdir(c->dir[i]) != 0 && errno == EBUSY && try < REMOVE_TRIES; try++)
            nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    }
    c->ndirs = c->ndirs < first ? c->ndirs : first;
}

static void groups_remove(struct cage *c)
{
    groups_remove_from(c, 0);
}

static bool make_v2(struct cage *c, const char *name)
{
    char base[PATH_ROOM] = "/sys/fs/cgroup", own[PATH_ROOM / 2], list[512];
    if (!file_read(base, "cgroup.controllers", list, sizeof list) || !cage_own_base(NULL, own, sizeof own))
        return false;
    snprintf(base, sizeof base, "/sys/fs/cgroup%s", own);
    if (!file_read(base, "cgroup.subtree_control", list, sizeof list) || !strstr(list, "memory"))
        return false;
    if (!group_make(c, 0, base, name) || !file_write(c->dir[0], "memory.max", c->limits.memory_bytes))
        return false;
    file_write(c->dir[0], "memory.swap.max", 0);
    file_write(c->dir[0], "pids.max", c->limits.pids);
    if (c->limits.cpu_milli)
        file_write(c->dir[0], "cpu.max", c->limits.cpu_milli * (CPU_PERIOD_US / 1000));
    c->kind = CAGE_CGROUP2;
    return true;
}

static bool group_make_v1(struct cage *c, int i, const char *name)
{
    char base[PATH_ROOM], own[PATH_ROOM / 2];
    if (!cage_own_base(controllers[i], own, sizeof own))
        return false;
    snprintf(base, sizeof base, "/sys/fs/cgroup/%s%s", controllers[i], own);
    if (group_make(c, i, base, name))
        return true;
    snprintf(base, sizeof base, "/sys/fs/cgroup/%s", controllers[i]);         /* inside a container the path is the host's */
    return group_make(c, i, base, name);
}

static bool make_v1(struct cage *c, const char *name)
{
    for (int i = 0; i < CONTROLLERS; i++)
        if (!group_make_v1(c, i, name))
            return false;
    if (!file_write(c->dir[0], "memory.limit_in_bytes", c->limits.memory_bytes))
        return false;
    file_write(c->dir[0], "memory.memsw.limit_in_bytes", c->limits.memory_bytes);
    file_write(c->dir[1], "pids.max", c->limits.pids);
    if (c->limits.cpu_milli)
        file_write(c->dir[2], "cpu.cfs_quota_us", c->limits.cpu_milli * (CPU_PERIOD_US / 1000));
    if (!group_make_v1(c, CPUACCT, name))
        groups_remove_from(c, CPUACCT);
    c->kind = CAGE_CGROUP1;
    return true;
}

enum errc cage_new(const char *name, const struct cage_limits *limits, struct cage **ret, struct err *e)
{
    if (strchr(name, '/') || strlen(name) > 100)
        return FAIL(e, INVALID, "a cage's name is one path component");
    struct cage *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->limits = *limits;
    for (int i = 0; i < GROUPS; i++)
        c->procs_fd[i] = -1;
    if (!make_v2(c, name)) {
        groups_remove(c);
        if (!make_v1(c, name)) {
            groups_remove(c);
            c->kind = CAGE_RLIMITS;
        }
    }
    *ret = c;
    return ERR_OK;
}

enum cage_kind cage_kind(const struct cage *c)
{
    return c->kind;
}

bool cage_join(const struct cage *c)
{
    for (int i = 0; i < c->ndirs; i++)
        if (write(c->procs_fd[i], "0", 1) != 1 && i != CPUACCT)
            return false;
    return true;
}

int64_t cage_oom_kills(const struct cage *c)
{
    char text[512];
    if (c->kind == CAGE_RLIMITS || !file_read(c->dir[0], c->kind == CAGE_CGROUP2 ? "memory.events" : "memory.oom_control", text, sizeof text))
        return 0;
    const char *at = strstr(text, "\noom_kill ");
    return at ? strtol(at + strlen("\noom_kill "), NULL, 10) : 0;
}

bool cage_cpu_us_in(enum cage_kind kind, const char *dir, int64_t *ret)
{
    char text[512], *end;
    const char *at = text;
    const bool is_v2 = kind == CAGE_CGROUP2;
    if (kind == CAGE_RLIMITS || !file_read(dir, is_v2 ? "cpu.stat" : "cpuacct.usage", text, sizeof text))
        return false;
    if (is_v2) {
        at = strstr(text, "usage_usec ");
        at = at ? at + strlen("usage_usec ") : "";
    }
    const long long n = strtoll(at, &end, 10);
    if (end == at)
        return false;
    *ret = is_v2 ? n : n / 1000;        /* v1 counts nanoseconds */
    return true;
}

bool cage_cpu_us(const struct cage *c, int64_t *ret)
{
    const bool is_v2 = c->kind == CAGE_CGROUP2;
    return (is_v2 || c->ndirs > CPUACCT) && cage_cpu_us_in(c->kind, c->dir[is_v2 ? 0 : CPUACCT], ret);
}

bool cage_is_oom(const struct cage *c, int status, int64_t peak_bytes)
{
    if (c->kind != CAGE_RLIMITS)
        return cage_oom_kills(c) > 0;
    return WIFSIGNALED(status) && peak_bytes > c->limits.memory_bytes / 10 * 8;
}

void cage_kill(struct cage *c, pid_t group)
{
    if (group > 0)
        kill(-group, SIGKILL);
    for (int i = 0; i < c->ndirs; i++) {
        char text[4096];
        if (!file_read(c->dir[i], "cgroup.procs", text, sizeof text))
            continue;
        for (char *at = text, *end; *at; at = *end ? end + 1 : end) {
            long pid = strtol(at, &end, 10);
            if (end == at)
                break;
            if (pid > 1)
                kill((pid_t)pid, SIGKILL);
        }
    }
}

void cage_free(struct cage *c)
{
    if (c)
        groups_remove(c);
    free(c);
}

void cage_freep(struct cage **c)
{
    cage_free(*c);
    *c = NULL;
}
