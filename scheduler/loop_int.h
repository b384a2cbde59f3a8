/* SPDX-License-Identifier: Apache-2.0 */
/* loop_int.h - what the loop's files share: its planning, what ends in its turns, and its other duties. */
#pragma once
#include "scheduler/loop.h"

enum { REAP_LIMIT = 2000 };             /* jobs in one transaction */

/* What a round of planning left. */
struct plan_outcome {
    int64_t admitted;
    bool more;                          /* what was not read may fit */
    bool has_room;                      /* for a slot, on some machine */
    bool loads;                         /* not all that waits is kept yet */
    bool is_told;                       /* it was a full round, and the next is of it */
    struct slice busy;                  /* struct grow_wait: who waits for room, or may, and where */
};

static inline struct work loop_work(const struct app *app, struct arena *a)
{
    return (struct work){ .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
}

/* loop_plan.c. After an error *ret says that there is room and nothing more. */
enum errc loop_plan(const struct app *app, struct arena *a, bool is_full, struct plan_outcome *ret, struct err *e) MUST_CHECK;
/* After a full round, which knows who waits: one job may start again on more machines. */
enum errc loop_grow(const struct app *app, struct arena *a, const struct plan_outcome *o, struct err *e) MUST_CHECK;
/* loop_stand.c: a scheduler that does not lead keeps what a leader keeps of waiting jobs and machines, so that it can plan at
 * once. */
struct standing { int64_t read_us, compare_us, load_us, machines_us; bool is_told; };
/* Asked again and again: reads what changed, once a second; and all of it, in parts, where it knows nothing. */
void loop_stand_by(const struct app *app, struct arena *a, struct standing *s);
/* A new term begins. */
void loop_lead(const struct app *app);
void loop_wake_nodes(const struct app *app, struct slice nodes_told);   /* struct uuid */
