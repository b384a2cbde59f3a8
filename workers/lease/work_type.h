/* SPDX-License-Identifier: Apache-2.0 */
/* work_type.h - how a kind of job runs: one constant per row of job_type.def, in type_<name>.c.
 *
 * A kind runs in the agent itself (take) or in a child of its own (run), inside the sandbox from its first line on. A kind that
 * listens (job_listens) finds its listener in the child, says itself when it is ready, and is given certificates. A kind that
 * this program does not know runs in a child that says so. */
#pragma once
#include "core/wire/job_type.h"
#include "core/wire/lease_wire.h"

struct book;
struct timers;
struct child;
struct config;

struct work_type {
    /* In the agent, without a child; it must not block. NULL: in a child. */
    void (*take)(struct book *b, struct timers *t, struct arena *a, const struct lease_grant *g);
    enum errc (*run)(struct child *c, struct err *e);
    bool starts_programs;           /* run gets no sandbox: it opens a box (box.h) in its place,
        before it reads a tenant's byte */
    int pids;                       /* processes and threads that it may have; 0: the usual number */
    bool takes_engine;              /* it computes models, those of another engine too (child_engine.h) */
    bool gives_datasets;            /* what it gives by name are archives for data sets, no artifacts */
    /* Its child has no network and asks for connections: may it have this one? (dial.h) NULL: it asks for none. */
    enum errc (*dial)(const struct lease_grant *g, const struct config *cfg, struct arena *a, struct str place, int *ret,
                      struct err *e);
    bool keeps_checkpoint;          /* it has a keeper (keeper.h), by which the next attempt goes on where this one was */
};

#define JOB_TYPE(NAME, name, ...) extern const struct work_type work_type_##name;
#include "core/wire/job_type.def"
#undef JOB_TYPE

/* Never NULL. */
const struct work_type *work_type_of(struct str kind);
