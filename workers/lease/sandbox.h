/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h - the limits a lease's child runs under: a control group, resource limits, an account without rights, and a filter of
 * system calls.
 *
 * Two halves. The agent makes a cage (control group: v2 where it controls memory, else v1 memory + pids + cpu, with
 * cpuacct where it is mounted, else resource limits alone) and the forked child joins it before exec. The child itself, still
 * running only our code, gives up what is left with sandbox_enter before it reads a byte that a tenant made.
 * Out of memory is told by the group's counter, not by the signal; without a group by the peak of resident memory.
 * Calling order: cage_new -> fork { cage_join } -> … waitpid -> cage_oom_kills -> cage_kill -> cage_free.
 * Errors: IO. Sources: Linux Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst, seccomp(2), landlock(7). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/base/err.h"

enum cage_kind { CAGE_RLIMITS, CAGE_CGROUP1, CAGE_CGROUP2 };

struct cage;

struct cage_limits {
    int64_t memory_bytes;
    int64_t pids;
    int64_t cpu_milli;              /* thousandths of a processor; 0: no limit */
};

/* name: one path component, unique on this machine. */
MUST_CHECK enum errc cage_new(const char *name, const struct cage_limits *limits, struct cage **ret, struct err *e);
enum cage_kind cage_kind(const struct cage *c);
bool cage_join(const struct cage *c);           /* in the forked child: no allocation, no lock */
int64_t cage_oom_kills(const struct cage *c);   /* so far; 0 without a group */
/* Microseconds of processor time that all in it took; false: it does not say. */
bool cage_cpu_us(const struct cage *c, int64_t *ret);
/* The same of the folder that counts it: a group of v2 (cpu.stat, usage_usec) or of v1's cpuacct (cpuacct.usage, ns). */
bool cage_cpu_us_in(enum cage_kind kind, const char *dir, int64_t *ret);
/* Did it end for want of memory? status of waitpid, peak in bytes of resident memory. */
bool cage_is_oom(const struct cage *c, int status, int64_t peak_bytes);
void cage_kill(struct cage *c, pid_t group);    /* everything in it */
void cage_free(struct cage *c);                 /* all its processes have ended; NULL is fine */
void cage_freep(struct cage **c);

struct sandbox {
    int64_t memory_bytes;           /* > 0: limit data as well (no control group) */
    int64_t files;                  /* open descriptors */
    int64_t uid, gid;               /* change to this account; 0: stay who we are */
    int parent;                     /* die with this process; 0: not */
    uint64_t gpu_nodes;             /* GPUs, bit m for <dev>/nvidia<m>: they and what the driver has for all may be opened */
    const char *library;            /* of a card, may be read where it is a path; NULL: none */
    const char *engine;             /* a library that may be opened inside, by this path, and cpuinfo; NULL: none */
    const char *dev;                /* NULL: /dev; tests: a folder of stand-ins */
};
/* Descriptors open before stay usable. Irreversible; applies to all threads of the process. */
MUST_CHECK enum errc sandbox_enter(const struct sandbox *s, struct err *e);
/* Its first and its last steps alone, for who puts something else between them (box.h): limits, no new privileges and the
 * account; and to die with the agent, undumpable, which changing the account or its namespace has undone. */
MUST_CHECK enum errc sandbox_begin(const struct sandbox *s, struct err *e);
MUST_CHECK enum errc sandbox_tie(const struct sandbox *s, struct err *e);
/* For a child that is given connected sockets: connect(2) does nothing and says EINPROGRESS, so that no socket is disconnected and
 * connected elsewhere (libcurl asks it again, looks for the outcome and finds the connection there is). For good; after
 * sandbox_begin. */
MUST_CHECK enum errc sandbox_keep_peers(struct err *e);
/* The account nobody: false when there is none or we are not root. */
bool sandbox_nobody(uid_t *ret_uid, gid_t *ret_gid);
