/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - PostgreSQL's own programs and tar as children: fed by a pipe, read by a pipe, their complaint in our error.
 *
 * Invariants: no password stands in an argument, where every account of the machine could read it: the words of a connection
 * come to libpq as a service file in memory. What a child writes to standard error is kept, its end is in the error's detail.
 * Calling order: child_start -> write to in | read from out -> child_wait, exactly once. One thread.
 * Errors: INVALID (words of a connection), IO (no process), UNAVAILABLE (it ended badly). */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include "core/base/arena.h"
#include "core/base/err.h"

/* Who acts: as root, children and connections may be another account's. */
struct account {
    bool is_set;
    uid_t uid;
    gid_t gid;
};
/* The account of that name; unset where we are not root, or the name is "". NOT_FOUND: there is none. */
MUST_CHECK enum errc account_find(const char *name, struct account *ret, struct err *e);
/* For what looks at the caller's account (sockets): everything between is done as it. Not nested. */
void account_enter(const struct account *a);
void account_leave(const struct account *a);

struct child {
    pid_t pid;
    int in, out;                /* -1: none */
    int complaint;              /* a file in memory */
    const char *name;
};
struct child_opts {
    const char *words;          /* of a connection, "host=… dbname=…"; NULL: none */
    bool has_in, has_out;
    struct account account;
};
MUST_CHECK enum errc child_start(struct arena *a, const char *const *argv, const struct child_opts *o, struct child *ret,
                                 struct err *e);
/* Closes the pipes, waits. */
MUST_CHECK enum errc child_wait(struct child *c, struct err *e);
/* Ends it: SIGINT, which PostgreSQL's server takes for a fast end, then waits. */
void child_stop(struct child *c);
/* Start and wait, without pipes. */
MUST_CHECK enum errc child_run(struct arena *a, const char *const *argv, const struct child_opts *o, struct err *e);
/* All of it, or IO. */
MUST_CHECK enum errc write_all(int fd, const void *p, size_t n, struct err *e);
