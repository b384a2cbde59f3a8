/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.h - a memory of the largest machine of each zone and pool, so that a submission needs no read to know its chances.
 *
 * At most two seconds old: whoever finds it stale refreshes it, one caller at a time; meanwhile the others use the old one.
 * Made in main, reached through w->app->capacity; NULL there: nothing is known and everything is accepted. Any thread. */
#pragma once
#include "core/base/work.h"

struct stmt;
struct capacity_cache;

struct capacity_cache *capacity_cache_new(void);
void capacity_cache_free(struct capacity_cache *c);

struct capacity_answer {
    bool known;                         /* there is a machine in one of the zones with this pool */
    bool fits;                          /* one of them has as much */
    int64_t most_slots, most_gpus;      /* of any one machine there */
    bool any_gpu;                       /* a machine of any pool in those zones has one */
};
enum errc capacity_ask(struct work *w, const struct str *zones, size_t nzones, struct str pool, int64_t slots, int64_t gpus,
                       struct capacity_answer *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const capacity_stmts[];
