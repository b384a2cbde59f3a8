/* SPDX-License-Identifier: Apache-2.0 */
/* lease_report_int.h - what the rooms of a report share: the attempts it names as they are after the items judged so far, and
 * what it will write. Memory: the arena of the work. */
#pragma once
#include "scheduler/engine/lease_move.h"
#include "scheduler/engine/lease_wish.h"
#include "scheduler/engine/node.h"

/* One attempt of the batch as it is after the items judged so far. */
struct track {
    const struct held *h;           /* NULL: this node holds no such attempt */
    struct uuid tenant_id, attempt_id;
    struct str state;
    bool live, is_taken_here, is_started_here, is_renewed;
    bool is_over;                   /* of a rank behind the first: what it said ended the attempt for all */
    int64_t held_ms;                /* with is_taken_here */
    bool has_cpu_mj, has_gpu_mj;    /* of a rank behind the first: what it has taken, as of its last word */
    int64_t cpu_mj, gpu_mj;
    int job_state;
    int start;                      /* index of its step in starts; -1: none */
};

struct report {
    struct work *w;
    const struct node *node;
    int64_t lease_ms;
    struct track *tracks;
    size_t ntracks;
    uint32_t *table;                /* open addressing: index + 1 of a track */
    size_t mask;
    struct attempt_step *takes, *starts, *ends;
    struct audit_event *start_events, *end_events;
    size_t ntakes, nstarts, nends;
    bool *is_spoiled;               /* by item: a success whose outputs are not there */
    struct str *spoiled_why;
    bool *leaves_out;               /* by item: a success that keeps its model alone (lease_outputs.c) */
    struct slice wishes;            /* struct wish, of the jobs of attempts that do not succeed here */
};

/* The track of an attempt; NULL where the batch does not name it and is_new_ok is false. */
struct track *report_track(struct report *r, struct uuid tenant, struct uuid attempt, bool is_new_ok);

/* The same for a rank behind the first: it starts and ends by itself, and what goes wrong with it ends the attempt for all. */
bool report_judge_member(struct report *r, struct track *t, const struct lease_item *it, size_t i, bool *ret_new);
/* The item's event is the end of the attempt; false: it cannot end so now. */
bool report_end(struct report *r, struct track *t, const struct lease_item *it, size_t i);
/* Queued, before what ends attempts: where ranks behind the first are. */
void report_write_members(struct report *r);

/* Queued: since when what those that go on hold is not used (lease_idle.c). */
void report_write_idle(struct report *r, const struct lease_item *items, const bool *is_taken, size_t n);
/* Which successes name outputs that are not there whole, or that do not fit into the tenant's quota (lease_outputs.c). */
enum errc report_check_outputs(struct report *r, const struct lease_item *items, size_t n, struct err *e) MUST_CHECK;
/* Queued: the outputs of the successes that were taken are committed. */
void report_write_outputs(struct report *r, const struct lease_item *items, const bool *is_taken, size_t n);
