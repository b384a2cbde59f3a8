/* SPDX-License-Identifier: Apache-2.0 */
/* tx.c - a transaction from its begin to its end: the connection it holds, its mark, and what runs after its commit. */
#include "core/db/tx_int.h"
#include "core/base/assert.h"

enum errc db_begin(struct db_pool *pool, struct db_scope scope, unsigned flags, struct arena *arena, struct db_tx **ret,
                   struct err *e)
{
    ASSERT(pool && arena);
    struct db_conn *conn;
    TRY(pool_take(pool, &conn, e));
    struct db_tx *tx = ARENA_NEW(arena, struct db_tx);
    tx->pool = pool;
    tx->conn = conn;
    tx->arena = arena;
    tx->scope = scope;
    tx->is_read_only = flags & TX_READ_ONLY;
    tx->is_single = flags & TX_SINGLE;
    tx->ends = flags & TX_ENDS;
    ASSERT(!tx->is_single || scope.kind == SCOPE_KIND_SYSTEM);
    tx->hooks_end = &tx->hooks;
    tx->asks_end = &tx->asks;
    *ret = tx;
    return ERR_OK;
}

/* The connection goes back, whatever its state; a broken one is dropped there. */
static void let_go(struct db_tx *tx)
{
    atomic_fetch_add_explicit(&tx->pool->transactions, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tx->pool->statements, tx->statements, memory_order_relaxed);
    for (struct db_ask *a = tx->asks; a; a = a->next)
        if (!a->is_told)
            PQclear(a->res);
    tx->asks = NULL;
    pool_give(tx->pool, tx->conn);
    tx->conn = NULL;
}

void db_rollback(struct db_tx *tx)
{
    if (!tx || !tx->conn)
        return;
    if (tx->is_begun && !tx->is_committed && !tx->conn->is_broken) {
        if (!conn_is_synced(tx->conn))
            conn_sync(tx->conn);            /* an error in what is queued must not skip the ROLLBACK */
        tx_send_own(tx, SLOT_ROLLBACK, NO_ARGS);
        conn_sync(tx->conn);
    }
    let_go(tx);
}

void db_rollbackp(struct db_tx **tx)
{
    db_rollback(*tx);
    *tx = NULL;
}

/* COMMIT and its answer. */
static enum errc commit_and_wait(struct db_tx *tx, struct err *e)
{
    if (tx->is_count_owed)
        TRY(tx_pump(tx, NULL, e));
    tx_send_commit(tx);
    return tx_settle_commit(tx, tx_pump(tx, NULL, e), e);
}

void db_last(struct db_tx *tx)
{
    tx->is_last = tx->ends;
}

void db_only_read(struct db_tx *tx)
{
    tx->only_read = !tx->is_writing;
}

enum errc db_commit(struct db_tx *tx, struct err *e)
{
    ASSERT(tx && tx->conn);
    enum errc rc = ERR_OK;
    if (tx->is_failed) {
        rc = tx_repeat_failure(tx, e);
    } else if (tx->is_begun && !tx->is_committed) {
        if ((tx->is_read_only || tx->only_read) && conn_is_synced(tx->conn)) {
            tx_send_own(tx, SLOT_COMMIT, NO_ARGS);
            conn_sync(tx->conn);            /* the next user of the connection reads the answers */
        } else {
            rc = commit_and_wait(tx, e);
        }
    }
    if (rc != ERR_OK) {
        db_rollback(tx);
        return rc;
    }
    let_go(tx);
    for (struct hook *h = tx->hooks; h; h = h->next)
        h->fn(h->ctx);
    return ERR_OK;
}

enum errc db_mark(struct db_tx *tx, struct err *e)
{
    ASSERT(tx && tx->conn);
    if (tx->is_failed)
        return tx_repeat_failure(tx, e);
    tx_start(tx);
    tx_send_own(tx, SLOT_MARK, NO_ARGS);
    tx->hooks_mark = tx->hooks_end;
    return tx_pump(tx, NULL, e);
}

enum errc db_back_to_mark(struct db_tx *tx, struct err *e)
{
    ASSERT(tx && tx->conn && tx->hooks_mark);
    struct err ignored;
    if (!tx->is_failed && !conn_is_synced(tx->conn))
        (void)tx_pump(tx, NULL, &ignored);         /* what is queued belongs to the part: its failure is undone with it */
    if (tx->conn->is_broken)
        return tx_repeat_failure(tx, e);
    tx->is_failed = false;
    for (struct db_ask *a = tx->asks; a; a = a->next)
        a->is_told |= !a->res;          /* asked in the part that is undone */
    *tx->hooks_mark = NULL;
    tx->hooks_end = tx->hooks_mark;
    tx_send_own(tx, SLOT_BACK_TO_MARK, NO_ARGS);
    return tx_pump(tx, NULL, e);
}

void db_after_commit(struct db_tx *tx, void (*fn)(void *ctx), void *ctx)
{
    struct hook *h = ARENA_NEW(tx->arena, struct hook);
    *h = (struct hook){ fn, ctx, NULL };
    *tx->hooks_end = h;
    tx->hooks_end = &h->next;
}

int db_statements(const struct db_tx *tx)
{
    return tx->statements;
}

bool db_is_failed(const struct db_tx *tx)
{
    return tx->is_failed;
}

bool db_is_read_only(const struct db_tx *tx)
{
    return tx->is_read_only;
}

struct db_scope db_scope_of(const struct db_tx *tx)
{
    return tx->scope;
}

struct arena *db_arena(const struct db_tx *tx)
{
    return tx->arena;
}
