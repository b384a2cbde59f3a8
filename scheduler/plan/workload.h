/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - which GPU jobs come, learned from those that came: the popularity of what is asked, and futures drawn from it.
 *
 * A type is an ask (resource.h) that is asked for a GPU; each arrival counts for its type. At the arrival WORKLOAD_FIRST, and
 * whenever the arrivals
 * have grown by three tenths (doubled, from WORKLOAD_SLOW on), WORKLOAD_FUTURES futures of WORKLOAD_STEPS arrivals each are
 * drawn in proportion
 * to the counts. Draws of one step are spread evenly over the cumulative counts and then dealt to the futures by chance, so that
 * few futures
 * stand for the distribution well. The seed is fixed: the same arrivals give the same futures.
 * Past WORKLOAD_TYPES_MAX types a new one is not learned. No clock, integers only; memory of its own, given back by
 * workload_free. */
#pragma once
#include <stddef.h>
#include "scheduler/plan/random.h"
#include "scheduler/plan/resource.h"

enum { WORKLOAD_FUTURES = 32, WORKLOAD_STEPS = 60, WORKLOAD_FIRST = 8, WORKLOAD_SLOW = 512, WORKLOAD_TYPES_MAX = 4096 };

struct workload_type {
    struct ask ask;
    int64_t arrivals;
};

struct workload;

struct workload *workload_new(void);
void workload_free(struct workload *w);

/* One more of that ask came. Asks without a GPU are not learned. */
void workload_arrive(struct workload *w, const struct ask *a);
/* Draws futures now, whatever the count. */
void workload_draw(struct workload *w);
/* Rises with each drawing; 0: nothing drawn yet. What was computed from an older one is stale. */
uint32_t workload_epoch(const struct workload *w);

/* The types as they were when futures were last drawn. */
const struct workload_type *workload_types(const struct workload *w, size_t *n);
/* Futures as they were drawn, as indexes into the types. */
typedef uint16_t workload_futures[WORKLOAD_FUTURES][WORKLOAD_STEPS];
const workload_futures *workload_drawn(const struct workload *w);

/* All of it as numbers, so that it can be written down and made again: what is made of a state goes on exactly as its
 * original. */
struct workload_state {
    struct workload_type *types;        /* in the order of their first coming; arrivals: until now */
    int64_t *drawn_arrivals;            /* of the first ndrawn types, when futures were last drawn */
    size_t ntypes, ndrawn;
    int64_t arrivals, next;             /* of all types; futures are drawn at so many */
    uint32_t epoch;
    uint64_t random;
    workload_futures drawn;
};
/* Borrowed until the next arrival, but for what lies in the arena. */
struct arena;
void workload_save(const struct workload *w, struct arena *a, struct workload_state *ret);
/* NULL: no workload has such a state (an ask that is not valid or stands twice, a future of a type that is not there). */
struct workload *workload_load(const struct workload_state *s);

/* The drawn futures of one group, made for playing (futures.h), with the room of a cache: NULL or stale ones are made anew. */
struct futures;
const struct futures *workload_futures_of(const struct workload *w, unsigned group);
