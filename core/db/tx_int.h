/* SPDX-License-Identifier: Apache-2.0 */
/* tx_int.h - a transaction as tx.c (its begin and end), statement.c (its statements) and pump.c (its wire) see it; only for
 * core/db. */
#pragma once
#include "core/db/pool_int.h"
#include "core/db/tx.h"

struct hook {
    void (*fn)(void *ctx);
    void *ctx;
    struct hook *next;
};

struct db_ask {
    const struct stmt *st;
    int slot;
    PGresult *res;              /* NULL: not answered yet */
    bool is_told;               /* the result was handed on, or will never come */
    struct db_ask *next;        /* in the order in which they were sent */
};

struct db_tx {
    struct db_pool *pool;
    struct db_conn *conn;       /* NULL: the transaction has ended */
    struct arena *arena;
    struct db_scope scope;
    bool is_read_only, is_single, is_begun, is_failed, is_count_owed;      /* is_count_owed: a must_affect is not yet answered */
    bool ends, is_last, is_committed;       /* is_last: COMMIT goes with the next statement */
    bool is_writing, only_read;             /* is_writing: statements without rows were run */
    struct err failure;
    int statements;
    struct hook *hooks, **hooks_end, **hooks_mark;
    struct db_ask *asks, **asks_end;
};

/* pump.c. Sends what waits and reads every answer owed. *ret_res (may be NULL): the target's result. */
enum errc tx_pump(struct db_tx *tx, PGresult **ret_res, struct err *e);
/* BEGIN and the scope, before the first statement. */
void tx_start(struct db_tx *tx);
/* One of the pool's own statements; sent with what comes next. */
void tx_send_own(struct db_tx *tx, int slot, const struct arg *args, int nargs);
void tx_send_commit(struct db_tx *tx);
/* rc, unless the connection was lost with it: then nobody knows whether the COMMIT arrived. */
enum errc tx_settle_commit(struct db_tx *tx, enum errc rc, struct err *e);
/* The error of the transaction, which is its first one; tx_fail: and *why is it, if there was none. */
enum errc tx_repeat_failure(struct db_tx *tx, struct err *e);
enum errc tx_fail(struct db_tx *tx, const struct err *why, struct err *e);
int64_t tx_affected(const PGresult *res);
/* For faults: the connection is lost now. */
void tx_cut_wire(struct db_tx *tx);
