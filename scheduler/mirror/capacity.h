/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.h - a memory of what machines there are, alike ones once, so that a submission needs no read to know its chances; and
 * of what engines could lend (engine_shapes): machines as large as is asked, and as those were that they lent lately in all that
 * nobody can ask for.
 *
 * At most two seconds old: whoever finds it stale refreshes it, one caller at a time; meanwhile the others use the old one.
 * Made in main, reached through w->app->capacity; NULL there: nothing is known and everything is accepted. Any thread. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/snapshot.h"

struct stmt;
struct capacity_cache;

struct capacity_cache *capacity_cache_new(void);
void capacity_cache_free(struct capacity_cache *c);

struct capacity_answer {
    bool known;                         /* a machine, or an engine that may lend one, is in one of the zones with this pool */
    bool fits;                          /* one of them could hold the job when nothing runs there */
    bool any_gpu;                       /* a machine of any pool in those zones has one */
    int lacks;                          /* enum miss_what: the first thing that the nearest machine lacks; known and not fits */
    struct str miss;                    /* what it lacks, in words */
};
enum errc capacity_ask(struct work *w, const struct str *zones, size_t nzones, const struct snap_job *j,
                       struct capacity_answer *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const capacity_stmts[];
