/* SPDX-License-Identifier: Apache-2.0 */
/* machines.h - what a scheduler knows of machines from plan to plan, so that a plan reads those that changed and not all.
 *
 * Each row has a version that rises with every change of a fact (migrations/0226), and an older one never takes the place of a
 * newer one, so rows may come twice, late or out of order. What is read is "changed since the horizon": the oldest transaction
 * that was under way when was last read, so whoever had not committed by then is in the next answer. It is read in the
 * plan's own transaction, so a plan knows what it would have read, and a mirror is never old. Machines that are gone raise
 * residency_revision, and another revision forgets all; so does another database than before (mirror_epoch, ADR 0151), which
 * may lack the last changes of the one before. All the time slices are compared with the database (machines_same); what differs
 * without a change of its version is told, and all is read again.
 *
 * Calling order: machines_new -> (machines_asked -> machines_read)* (one thread) -> machines_free. NULL: everything is read each
 * time.
 * Memory: its own; texts that a snapshot got live until the next machines_read. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/snapshot.h"

struct machines;
struct stmt;

enum { MACHINES_MAX = 1000000, MACHINES_SLICE = 256, MACHINES_WINDOWS = 1000000 };
/* How often any reservation has changed. */
#define RESERVATION_REVISION "(SELECT revision FROM reservation_revision WHERE id = 1)"
/* Of which database a read is (ADR 0151): the cluster and timeline, which are the same as long as a session of the server lives
 * and are asked once in each (migrations/functions/mirror_epoch.sql), and the file of the table job, which is not. */
#define MIRROR_EPOCH                                                                                                         \
    "coalesce(nullif(current_setting('falaj.mirror_epoch', true), ''), mirror_epoch()) || '/' ||\n"                         \
    "       pg_relation_filenode('public.job'::regclass)::text"

/* A machine as the database has it. */
struct machine_fact {
    struct uuid node_id;
    struct str zone, pool, flavor, gpu_model, build, engines;
    int64_t slots, gpus, cpu_milli, memory_bytes, version;
    bool gpu_shared, programs, gangs, gang_programs, once, is_ready;
};

/* What was read so far: for tests and figures. */
struct machines_count { int64_t loads, changed, compared, differing; };

struct machines *machines_new(void);
void machines_free(struct machines *m);         /* NULL is fine */
void machines_forget(struct machines *m);       /* NULL is fine */
/* In any order, as often as may be. */
void machines_apply(struct machines *m, const struct machine_fact *f, size_t n);
/* The rows of all machines behind `after` in the order of ids, up to the last of them or, is_last, to the end: the same are
 * known. Newer versions were applied before. */
bool machines_same(const struct machines *m, const struct machine_fact *f, size_t n, struct uuid after, bool is_last);
struct machines_count machines_counted(const struct machines *m);

/* Machines that are READY into s->nodes, in the order of their ids, with what live attempts hold of them; and s->revision,
 * s->reserved and its number. ret_held: struct tenant_hold in the order of ids. compares: one slice too. Asked first (db_ask), so
 * that it is read in the same wait as what is asked for next to it. Without holds only what changed of machines is read, and s
 * and ret_held stay as they are. */
struct tenant_hold { struct uuid tenant_id; int64_t slots, gpus; };
struct machines_ask;
struct machines_ask *machines_asked(struct work *w, bool holds);
enum errc machines_read(struct work *w, struct machines_ask *a, bool compares, struct snapshot *s, struct slice *ret_held,
                        struct err *e) MUST_CHECK;

/* The windows of machines alone, read anew in this transaction into s->reserved; the rows are w->arena's. */
enum errc machines_windows(struct work *w, int64_t revision, struct snapshot *s, struct err *e) MUST_CHECK;

extern const struct stmt *const machines_stmts[];
