/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - a fixed number of PostgreSQL connections, and the statements they know. One of the few headers of the libpq door.
 *
 * Connections are opened when first needed, prepare a statement when they first run it, and are dropped when they break: after an
 * outage the pool recovers by itself (reconnect pauses grow from 50 ms to 2 s; in between callers get UNAVAILABLE at once).
 * No session state is ever SET after connecting, so a pooled connection carries nothing from one tenant to the next.
 * Invariants: a connection is used by one transaction at a time; every statement run stands in `lists`.
 * Calling order: db_pool_new -> db_pool_check (at start) -> db_begin … (tx.h) from any thread -> db_pool_free, with no open tx.
 * Errors: UNAVAILABLE (PostgreSQL gone, or no connection free in time), INTERNAL (statement or role check failed). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/err.h"
#include "core/db/stmt.h"

struct db_pool;

/* What the pool's role may be in spite of the rule that it is none of these. Zero is the rule. */
enum { DB_ALLOW_SUPERUSER = 1, DB_ALLOW_BYPASSRLS = 2, DB_ALLOW_OWNER = 4 };

struct db_pool_opts {
    const char *conninfo;                       /* libpq keyword=value or URI */
    int size;                                   /* connections kept; 0: 4 */
    const char *app_name;                       /* shows in pg_stat_activity */
    unsigned role_allow;                        /* DB_ALLOW_*; checked by db_pool_check */
    const struct stmt *const *const *lists;     /* NULL-terminated array of NULL-terminated arrays */
    int64_t statement_timeout_ms;               /* 0: 10 000 */
    bool is_batch;                              /* its statements take arrays and go by keys: one plan does for all arguments, and
                                                 * indexes are walked, which clears them of what has ended */
    int64_t checkout_timeout_ms;                /* wait for a free connection at most this; 0: 2 000 */
};

struct db_pool_stats {
    int size, open, busy, waiting;
    int64_t checkouts, connects, broken, transactions, statements;
};

/* Opens nothing yet: the daemon starts even when PostgreSQL does not. */
struct db_pool *db_pool_new(const struct db_pool_opts *opts);
void db_pool_free(struct db_pool *p);
void db_pool_freep(struct db_pool **p);         /* for CLEANUP */

/* Prepares every statement and compares PostgreSQL's description with its params and row schema; refuses a role that is superuser,
 * bypasses row-level security or owns a table; refuses a server older than 15. Each refusal says which and why. */
MUST_CHECK enum errc db_pool_check(struct db_pool *p, struct err *e);
/* One round trip; for /readyz. */
MUST_CHECK enum errc db_pool_ping(struct db_pool *p, struct err *e);
void db_pool_stats(struct db_pool *p, struct db_pool_stats *ret);
