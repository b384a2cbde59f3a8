/* SPDX-License-Identifier: Apache-2.0 */
/* sentinel_int.h - what Sentinels say: where the master of a name is, and when it is another one. Only for core/redis.
 * Source: Redis' documentation of Sentinel, "Guidelines for clients". */
#pragma once
#include "core/redis/link_int.h"
#include "core/redis/place_int.h"

struct sentinel_watch {
    struct redis_link *link;            /* subscribed; NULL: none */
    char master[REDIS_PLACE_MAX];       /* what was said last; empty: nothing yet */
    int64_t heard_us, asked_us;         /* asked_us 0: no answer is owed */
};

/* Asks one Sentinel after the other for the master; *w is then subscribed to the one that knew it. UNAVAILABLE: none knew it,
 * with what the last one said. */
MUST_CHECK enum errc sentinel_find(const struct redis_address *a, struct sentinel_watch *w, struct err *e);
enum sentinel_news { SENTINEL_QUIET, SENTINEL_SWITCHED, SENTINEL_LOST };
/* Reads what has come, without waiting. LOST: nothing is heard of this Sentinel any more. */
enum sentinel_news sentinel_hear(const struct redis_address *a, struct sentinel_watch *w);
void sentinel_leave(struct sentinel_watch *w);
/* AUTH on a link; without a password nothing is asked. */
MUST_CHECK enum errc redis_login(struct redis_link *l, const char *user, const char *password, const char *password_file,
                                 struct err *e);
