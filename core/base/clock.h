/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - time by injection: code that needs the time takes a struct clock, so that tests can turn it.
 *
 * wall_us: microseconds since 1970-01-01 UTC. mono_us: never goes back, origin unknown; for timeouts.
 * Leases never use this clock: there only PostgreSQL's counts. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"

struct timestamp {
    int64_t us;          /* since 1970-01-01 UTC; 0 is "none" */
};

struct clock {
    int64_t (*wall_us)(void *ctx);
    int64_t (*mono_us)(void *ctx);
    void *ctx;
};

extern const struct clock clock_system;

static inline int64_t clock_wall_us(const struct clock *c) { return c->wall_us(c->ctx); }
static inline int64_t clock_mono_us(const struct clock *c) { return c->mono_us(c->ctx); }

enum { TIME_TEXT = 32 };
/* RFC 3339 UTC with milliseconds: 2026-11-21T01:02:03.004Z. Returns the length. */
size_t time_text(int64_t us, char out[TIME_TEXT]);
/* RFC 3339 with any offset, years 0001 to 9999 in UTC; decimals beyond the sixth are dropped. */
bool time_parse(struct str s, int64_t *ret_us);
/* So many calendar months later (months >= 0, years 1 to 9999), in UTC: the same day and time of that month, or its last day
 * where it has no such day (31 January and one month: 28 or 29 February). */
int64_t time_add_months(int64_t us, int months);
