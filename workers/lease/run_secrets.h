/* SPDX-License-Identifier: Apache-2.0 */
/* run_secrets.h - the secrets that a program's job names: opened by its watcher, given as variables or files, kept out of its
 * log.
 *
 * Files lie in BOX_SECRETS of the scratch, which is memory, with mode 0400, and are the program's to read alone. Variables go
 * by the words of bwrap (box.c), so they stand in no list of processes and no file. What the job's log says of them is names.
 * Memory: values lie in the lease's arena until run_secrets_close wipes them. Errors: UNPROCESSABLE (a secret that is gone, or
 * whose value cannot be a variable), and those of child.h. */
#pragma once
#include "core/wire/type_run.h"
#include "workers/lease/child.h"
#include "workers/lease/mask.h"

struct run_secrets {
    struct str env[RUN_SECRETS_MAX];        /* NAME=VALUE */
    size_t nenv;
    struct str values[RUN_SECRETS_MAX];
    size_t n;
    struct mask *mask;                      /* NULL: there are none */
};

/* root: the scratch of the box. */
MUST_CHECK enum errc run_secrets_open(struct child *c, const struct run_job *job, int root, struct run_secrets *ret,
    struct err *e);
/* The one value of a kind that starts no program with it, whose place is this; in the lease's arena, the caller's to wipe. */
MUST_CHECK enum errc run_secret_value(struct child *c, const char *place, struct str *ret, struct err *e);
void run_secrets_close(struct run_secrets *s);
/* Is this input of the lease one of them? */
bool run_secret_is(const struct lease_input *about);
