/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - a cycle of the planner as bytes: all that it was made from, and what came of it.
 *
 * A file (tables.h) has two parts, inputs and plan, and where somebody might be sent away two more, holders and evictions.
 * The order in which tables stand in each is that of record.c. The bytes of plan and evictions are canonical: the same
 * decisions give the same bytes, so that a replay compares bytes.
 * Writing: recorder_new -> (record_inputs, [the plan], record_plan, [record_holders, [the choice], record_evictions],
 * record_take)*.
 * Inputs are to be written before they are planned with, since a plan uses its snapshot up. What is written is borrowed only
 * during the call. One thread. Reading: record_read; all memory is the arena's. */
#pragma once
#include "scheduler/plan/workload.h"
#include "scheduler/replay/rows.h"

struct recorder;

/* bytes_max: a cycle that needs more is not recorded: record_take gives nothing. */
struct recorder *recorder_new(size_t bytes_max);
void recorder_free(struct recorder *r);         /* NULL is fine */

void recorder_begin(struct recorder *r);        /* an empty file, for a part alone; record_inputs does so itself */
/* head: number, made_at_us, kind, batch and version are the caller's. s: linked and judged, before placement_plan, with its
 * claims and workload. Scratch memory: a. */
void record_inputs(struct recorder *r, const struct cycle_head *head, const struct snapshot *s, struct arena *a);
void record_plan(struct recorder *r, const struct snapshot *s, const struct plan *p, struct arena *a);
/* Before preempt_plan, and after it. claims: those that it left. */
void record_holders(struct recorder *r, struct holders h, int64_t now_us);
void record_evictions(struct recorder *r, const struct snapshot *s, const struct plan *p, struct holders h,
                      const struct preemption *x, const struct claims *claims, struct arena *a);
/* The file without its checksums (tables_seal), which the caller owns; empty: it was too large. */
struct buf record_take(struct recorder *r);

/* A recorded cycle, ready to be planned again. */
struct cycle {
    struct cycle_head head;
    struct snapshot s;                  /* its claims and workload too */
    bool has_choice;                    /* holders and evictions are there */
    struct holders holders;
    int64_t now_us;
    struct str plan, evictions;         /* the bytes of these parts */
    size_t plan_at, evictions_at;       /* and where they stand in the file */
};
/* Errors: INVALID, LIMIT, as tables.h. */
MUST_CHECK enum errc record_read(struct str path, struct str bytes, struct arena *a, struct cycle *ret, struct err *e);

/* What a plan, or a choice, said. */
struct told { struct slice outcome, places, seats, waits; };
struct told_choice { struct slice evictions, making, claims; };
/* bytes: of that part. */
MUST_CHECK enum errc record_told(struct str path, struct str bytes, struct arena *a, struct told *ret, struct err *e);
MUST_CHECK enum errc record_told_choice(struct str path, struct str bytes, struct arena *a, struct told_choice *ret,
        struct err *e);
