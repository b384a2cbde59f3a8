/* SPDX-License-Identifier: Apache-2.0 */
/* rate.h - token buckets by key: a key earns per_s tokens each second up to burst, and a call costs tokens.
 *
 * The bucket in this process always decides. Redis is a shared hint: the tokens taken here are added there (INCRBY + EXPIRE, in the
 * background, ten times a second), and what other nodes took is taken from the local bucket too. Without Redis the local bucket decides
 * alone: never unlimited.
 * Memory is bounded by max_keys: when full, a key whose bucket is full again makes room, else the one longest unused.
 * Calling order: rate_limiter_new -> rate_take* from any thread -> rate_limiter_free, before its redis_client. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/clock.h"
#include "core/base/str.h"

struct redis_client;
struct rate_limiter;

struct rate_rule {
    double per_s;           /* > 0 */
    int64_t burst;          /* >= 1 */
};

struct rate_result {
    bool allowed;
    int64_t limit;          /* burst */
    int64_t remaining;      /* whole tokens left */
    int64_t reset_s;        /* refused: until the call would be allowed; allowed: until the bucket is full; rounded up */
};

/* redis may be NULL. max_keys 0: 100 000. */
struct rate_limiter *rate_limiter_new(const struct clock *clock, struct redis_client *redis, size_t max_keys);
void rate_limiter_free(struct rate_limiter *l);
void rate_limiter_freep(struct rate_limiter **l);

/* How many processes share the limits (1 at first): while Redis cannot be reached each grants its part of them only. */
void rate_limiter_share(struct rate_limiter *l, int64_t processes);

/* A key has one rule; keys longer than 128 bytes are shortened by a hash. cost <= 0 only looks. */
bool rate_take(struct rate_limiter *l, struct str key, struct rate_rule rule, int64_t cost, struct rate_result *ret);
/* For what is known only afterwards: takes the cost whatever is left, down to one burst of debt, during which rate_take
 * refuses. */
void rate_charge(struct rate_limiter *l, struct str key, struct rate_rule rule, int64_t cost);
