/* SPDX-License-Identifier: Apache-2.0 */
/* statement.c - one statement of a transaction and its rows. */
#include "core/db/tx_int.h"
#include "core/base/assert.h"
#include "core/base/fault.h"

#include <string.h>

/* Runs one statement and gives its result, to be cleared. */
static enum errc run(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, PGresult **ret, int *ret_slot,
                     struct err *e)
{
    ASSERT(tx && tx->conn);
    if (tx->is_failed)
        return tx_repeat_failure(tx, e);
    if (!conn_has_room(tx->conn) || (tx->is_last && tx->is_count_owed))
        TRY(tx_pump(tx, NULL, e));
    if (FAULT("statement_lost"))
        tx_cut_wire(tx);
    tx_start(tx);
    struct err why;
    *ret_slot = pool_slot(tx->pool, st);
    if (conn_send(tx->conn, *ret_slot, args, nargs, (struct note){ .is_target = true }, &why) != ERR_OK)
        return tx_fail(tx, &why, e);
    tx->statements++;
    *ret = NULL;
    if (!tx->is_last) {
        TRY(tx_pump(tx, ret, e));
    } else {
        tx_send_commit(tx);
        TRY(tx_settle_commit(tx, tx_pump(tx, ret, e), e));
        tx->is_committed = true;
    }
    ASSERT(*ret);
    return ERR_OK;
}

/* One row into the zeroed struct at `item`. */
static enum errc decode_row(struct db_tx *tx, const struct stmt *st, int slot, const PGresult *res, size_t i, void *item,
                            struct err *e)
{
    struct err why;
    const struct row_map *map = tx->conn->maps[slot];
    if (!map)
        FAIL(&why, INTERNAL, "the database's schema is not the one this program was built for");
    if (map && row_decode(map, res, (int)i, item, tx->arena, &why) == ERR_OK)
        return ERR_OK;
    err_note(&why, "statement %s", st->name);
    return tx_fail(tx, &why, e);
}

/* All rows of the result into a new array in the arena. */
static enum errc decode_rows(struct db_tx *tx, const struct stmt *st, int slot, const PGresult *res, void **ret, struct err *e)
{
    size_t n = (size_t)PQntuples(res), size = st->row->size;
    char *items = arena_try(tx->arena, n * size);
    if (!items)
        return FAIL(e, LIMIT, "the answer is larger than one call may use");
    for (size_t i = 0; i < n; i++)
        TRY(decode_row(tx, st, slot, res, i, items + i * size, e));
    *ret = items;
    return ERR_OK;
}

static enum errc no_row(const struct stmt *st, struct err *e)
{
    FAIL(e, NOT_FOUND, "there is no such object");
    return err_note(e, "statement %s", st->name);
}

/* At most one row of the result, which is cleared. */
static enum errc take_maybe(struct db_tx *tx, const struct stmt *st, int slot, PGresult *res, void *ret, bool *ret_found,
                            struct err *e)
{
    int n = PQntuples(res);
    void *item = NULL;
    enum errc rc = ERR_OK;
    if (n > 1) {
        struct err why;
        FAIL(&why, INTERNAL, "a statement that gives one row gave %d", n);
        err_note(&why, "statement %s", st->name);
        rc = tx_fail(tx, &why, e);
    } else if (n == 1) {
        rc = decode_rows(tx, st, slot, res, &item, e);
    }
    PQclear(res);
    if (rc != ERR_OK)
        return rc;
    if (item)
        memcpy(ret, item, st->row->size);
    *ret_found = item;
    return ERR_OK;
}

enum errc db_maybe(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *ret, bool *ret_found,
                   struct err *e)
{
    ASSERT(st->row && (st->card == CARD_ONE || st->card == CARD_MAYBE));
    PGresult *res;
    int slot;
    TRY(run(tx, st, args, nargs, &res, &slot, e));
    return take_maybe(tx, st, slot, res, ret, ret_found, e);
}

enum errc db_one(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *ret, struct err *e)
{
    bool is_found = false;
    TRY(db_maybe(tx, st, args, nargs, ret, &is_found, e));
    return is_found ? ERR_OK : no_row(st, e);
}

/* All rows of the result, which is cleared. */
static enum errc take_many(struct db_tx *tx, const struct stmt *st, int slot, PGresult *res, void *slice, size_t limit,
                           struct err *e)
{
    size_t n = (size_t)PQntuples(res);
    void *items = NULL;
    enum errc rc = n > limit ? FAIL(e, LIMIT, "more than %zu rows", limit) : n ? decode_rows(tx, st, slot, res, &items, e)
        : ERR_OK;
    PQclear(res);
    if (rc == ERR_OK)
        memcpy(slice, &(struct slice){ items, n }, sizeof(struct slice));
    return rc;
}

enum errc db_many(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *slice, size_t limit,
                  struct err *e)
{
    ASSERT(st->row && st->card == CARD_MANY);
    PGresult *res;
    int slot;
    TRY(run(tx, st, args, nargs, &res, &slot, e));
    return take_many(tx, st, slot, res, slice, limit, e);
}

struct db_ask *db_ask(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs)
{
    ASSERT(tx && tx->conn && st->row && !tx->is_last);
    struct err why;
    struct db_ask *a = ARENA_NEW(tx->arena, struct db_ask);
    *a = (struct db_ask){ .st = st, .slot = pool_slot(tx->pool, st) };
    if (tx->is_failed || (!conn_has_room(tx->conn) && tx_pump(tx, NULL, &why) != ERR_OK))
        return a;
    tx_start(tx);
    if (conn_send(tx->conn, a->slot, args, nargs, (struct note){ .is_asked = true }, &why) != ERR_OK) {
        (void)tx_fail(tx, &why, NULL);
        return a;
    }
    tx->statements++;
    *tx->asks_end = a;
    tx->asks_end = &a->next;
    return a;
}

/* The result of the ask, for its reader to clear. */
static enum errc told(struct db_tx *tx, struct db_ask *a, PGresult **ret, struct err *e)
{
    ASSERT(tx && tx->conn && !a->is_told);
    if (tx->is_failed)
        return tx_repeat_failure(tx, e);
    if (!a->res)
        TRY(tx_pump(tx, NULL, e));
    ASSERT(a->res);
    a->is_told = true;
    *ret = a->res;
    return ERR_OK;
}

enum errc db_told_maybe(struct db_tx *tx, struct db_ask *a, void *ret, bool *ret_found, struct err *e)
{
    ASSERT(a->st->card == CARD_ONE || a->st->card == CARD_MAYBE);
    PGresult *res;
    TRY(told(tx, a, &res, e));
    return take_maybe(tx, a->st, a->slot, res, ret, ret_found, e);
}

enum errc db_told_many(struct db_tx *tx, struct db_ask *a, void *slice, size_t limit, struct err *e)
{
    ASSERT(a->st->card == CARD_MANY);
    PGresult *res;
    TRY(told(tx, a, &res, e));
    return take_many(tx, a->st, a->slot, res, slice, limit, e);
}

enum errc db_each(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, size_t limit,
                  void (*row)(void *ctx, const void *item), void *ctx, struct err *e)
{
    ASSERT(st->row && st->card == CARD_MANY);
    PGresult *res;
    int slot;
    TRY(run(tx, st, args, nargs, &res, &slot, e));
    size_t n = (size_t)PQntuples(res), size = st->row->size;
    void *item = arena_alloc(tx->arena, size);
    enum errc rc = n > limit ? FAIL(e, LIMIT, "more than %zu rows", limit) : ERR_OK;
    for (size_t i = 0; i < n && rc == ERR_OK; i++) {
        memset(item, 0, size);
        if ((rc = decode_row(tx, st, slot, res, i, item, e)) == ERR_OK)
            row(ctx, item);
    }
    PQclear(res);
    return rc;
}

enum errc db_exec(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, int64_t *ret_rows, struct err *e)
{
    PGresult *res;
    int slot;
    tx->is_writing = true;
    tx->only_read = false;
    TRY(run(tx, st, args, nargs, &res, &slot, e));
    int64_t n = tx_affected(res);
    PQclear(res);
    if (n == 0 && st->card == CARD_ONE)
        return no_row(st, e);
    if (ret_rows)
        *ret_rows = n;
    return ERR_OK;
}

void db_queue(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, bool must_affect)
{
    ASSERT(tx && tx->conn);
    struct err why;
    if (tx->is_failed || (!conn_has_room(tx->conn) && tx_pump(tx, NULL, &why) != ERR_OK))
        return;
    tx->is_writing = true;
    tx->only_read = false;
    tx_start(tx);
    if (conn_send(tx->conn, pool_slot(tx->pool, st), args, nargs, (struct note){ .must_affect = must_affect }, &why) != ERR_OK)
        (void)tx_fail(tx, &why, NULL);
    tx->statements++;
    if (must_affect)
        tx->is_count_owed = true;
}
