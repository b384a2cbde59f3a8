/* SPDX-License-Identifier: Apache-2.0 */
/* changes.h - which single change of a waiting job, or of what is granted to its tenant, would let the next plan start it.
 *
 * Each change is tried by the planner itself (ahead_starts_now) with all that waits and runs beside it; of a number the least
 * change is looked for by halving, so at most about a hundred plans are made. Two changes at once are not tried. The answers
 * stand in the order of how little they ask: of the job's own order first, then of where it runs, then of how much it gets,
 * last what others must grant. Pure. Memory: the arena. */
#pragma once
#include "scheduler/plan/ahead.h"

enum change_what { CHANGE_CLASS, CHANGE_PRIORITY, CHANGE_ZONE, CHANGE_POOL, CHANGE_GPU_MODELS, CHANGE_MEMORY, CHANGE_CPU,
                   CHANGE_GPUS,
    CHANGE_SLOTS, CHANGE_QUOTA_GPUS, CHANGE_QUOTA_SLOTS, CHANGE_RULE, CHANGES };
extern const char *const change_names[];        /* NULL-ended, by enum change_what; those of the job are named as its fields */
enum { CHANGE_WORDS_MAX = 64 };                 /* classes, pools, rules that are tried, at most of each */

struct change {
    int what;
    struct str from, to;                /* as texts; numbers as digits */
    struct str zone, pool, flavor;      /* where it would start */
};

/* What may be chosen instead. */
struct change_room {
    const struct change_class { struct str name; int64_t value; } *classes;
    size_t nclasses;
    struct slice zones;                 /* struct str: where the judge lets it run when it is pinned to none */
    int64_t best_priority;              /* of its tenant's other waiting jobs of its class, at most 1000 */
};

/* The job does not start in the next plan as it is. Returns how many changes there are in `ret`, CHANGES at most. */
size_t changes_find(const struct ahead_in *in, size_t job, const struct change_room *room, struct arena *a,
                    struct change ret[CHANGES]);
