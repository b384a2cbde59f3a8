/* SPDX-License-Identifier: Apache-2.0 */
/* tx.c - transactions over the pipeline of one connection. Statements are only put in libpq's buffer until someone needs an answer;
 * pump() then sends a sync and reads every answer up to it, so that outside pump nothing is owed but what was queued. After an error
 * the server skips everything up to the sync, a COMMIT in that group included: a half-done transaction cannot commit. */
#include "core/db/tx.h"
#include "core/base/assert.h"
#include "core/base/fault.h"
#include "core/db/pool_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct hook {
    void (*fn)(void *ctx);
    void *ctx;
    struct hook *next;
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
};

enum errc db_begin(struct db_pool *pool, struct db_scope scope, unsigned flags, struct arena *arena, struct db_tx **ret, struct err *e)
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
    *ret = tx;
    return ERR_OK;
}

/* The error of the transaction, which is its first one. */
static enum errc repeat_failure(struct db_tx *tx, struct err *e)
{
    if (e)
        *e = tx->failure;
    return tx->failure.code;
}

static void cut_wire(struct db_tx *tx)
{
    shutdown(PQsocket(tx->conn->pg), SHUT_RDWR);
}

static void send_own(struct db_tx *tx, int slot, const struct arg *args, int nargs)
{
    struct err e;
    ASSERT(conn_send(tx->conn, slot, args, nargs, false, false, &e) == ERR_OK);
}

/* An array as PostgreSQL writes it; empty text: no limit. */
static struct str projects_text(struct db_tx *tx)
{
    const struct db_scope *s = &tx->scope;
    if (!s->project_count)
        return STR("");
    char *text = arena_alloc(tx->arena, s->project_count * UUID_TEXT + 2), *at = text;
    *at++ = '{';
    for (size_t i = 0; i < s->project_count; i++) {
        uuid_text(s->projects[i], at);
        at += UUID_TEXT - 1;
        *at++ = i + 1 < s->project_count ? ',' : '}';
    }
    return str_n(text, (size_t)(at - text));
}

static void start(struct db_tx *tx)
{
    ASSERT(!tx->is_committed);
    ASSERT(!tx->is_single || tx->statements == 0);
    if (tx->is_begun || tx->is_single)
        return;
    tx->is_begun = true;
    send_own(tx, tx->is_read_only ? SLOT_BEGIN_RO : SLOT_BEGIN, NO_ARGS);
    if (tx->scope.kind == SCOPE_KIND_TENANT) {
        char text[UUID_TEXT];
        uuid_text(tx->scope.tenant_id, text);
        send_own(tx, SLOT_SCOPE, ARGS(A_TEXT(text), A_STR(projects_text(tx))));
    }
}

static int64_t affected(const PGresult *res)
{
    return strtoll(PQcmdTuples((PGresult *)(uintptr_t)res), NULL, 10);
}

static void fail_from(struct db_tx *tx, const PGresult *res, const char *stmt_name)
{
    if (tx->is_failed)
        return;
    tx->is_failed = true;
    pg_fail(&tx->failure, tx->conn->pg, res, stmt_name);
    const char *state = res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL;
    if (state && strcmp(state, "25006") == 0 && !tx->is_read_only) {
        /* The server has become a standby: another one is primary, a new connection finds it. */
        tx->conn->is_broken = true;
        FAIL(&tx->failure, UNAVAILABLE, "the database is changing over");
    }
}

/* One answer of this transaction; true when *res is kept as the target's. */
static bool take_answer(struct db_tx *tx, const struct note *n, PGresult *res)
{
    const char *name = n->kind == NOTE_SYNC ? "sync" : tx->conn->stmts[n->slot]->name;
    switch (PQresultStatus(res)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        break;
    case PGRES_PIPELINE_SYNC:
    case PGRES_PIPELINE_ABORTED:
        return false;
    case PGRES_FATAL_ERROR:
        fail_from(tx, res, name);
        return false;
    default:
        tx->is_failed = tx->conn->is_broken = true;
        FAIL(&tx->failure, INTERNAL, "a statement gave an answer of the wrong kind");
        err_note(&tx->failure, "statement %s", name);
        return false;
    }
    if (n->kind == NOTE_QUERY && n->must_affect && affected(res) == 0 && !tx->is_failed) {
        tx->is_failed = true;
        FAIL(&tx->failure, CONFLICT, "the object has changed meanwhile");
        err_note(&tx->failure, "statement %s affected no row", name);
    }
    return n->is_target;
}

/* The COMMIT or ROLLBACK of an earlier transaction must have worked: a connection that is still inside it is of no use. */
static bool is_good_ending(const struct note *n, const PGresult *res)
{
    bool is_ending = n->kind == NOTE_QUERY && (n->slot == SLOT_COMMIT || n->slot == SLOT_ROLLBACK);
    return !is_ending || PQresultStatus(res) == PGRES_COMMAND_OK;
}

/* Sends what waits and reads every answer owed. *ret_res (may be NULL): the target's result. */
static enum errc pump(struct db_tx *tx, PGresult **ret_res, struct err *e)
{
    struct db_conn *c = tx->conn;
    conn_sync(c);
    while (c->count || c->is_broken) {
        struct note n;
        PGresult *res;
        bool is_old = false, ok = conn_next(c, &n, &res, &is_old);
        if (!ok) {
            fail_from(tx, res && PQresultStatus(res) == PGRES_FATAL_ERROR ? res : NULL, NULL);
            PQclear(res);
            break;
        }
        if (is_old)
            c->is_broken = !is_good_ending(&n, res);
        else if (take_answer(tx, &n, res) && ret_res) {
            *ret_res = res;
            res = NULL;
        }
        PQclear(res);
    }
    tx->is_count_owed = false;
    if (!tx->is_failed)
        return ERR_OK;
    if (ret_res) {
        PQclear(*ret_res);
        *ret_res = NULL;
    }
    return repeat_failure(tx, e);
}

static enum errc fail_tx(struct db_tx *tx, const struct err *why, struct err *e)
{
    if (!tx->is_failed) {
        tx->is_failed = true;
        tx->failure = *why;
    }
    return repeat_failure(tx, e);
}

/* What was promised of a lost connection is not known, once COMMIT has been sent. */
static enum errc settle_commit(struct db_tx *tx, enum errc rc, struct err *e)
{
    if (rc == ERR_OK || !tx->conn->is_broken)
        return rc;
    FAIL(&tx->failure, UNAVAILABLE, "the connection to the database was lost");
    err_note(&tx->failure, "commit outcome unknown");
    return repeat_failure(tx, e);
}

static void send_commit(struct db_tx *tx)
{
    if (FAULT("commit_lost"))
        cut_wire(tx);
    send_own(tx, SLOT_COMMIT, NO_ARGS);
    if (FAULT("commit_reply_lost")) {
        conn_sync(tx->conn);
        pg_wait(tx->conn->pg, tx->conn->wait_us);
        tx->conn->is_broken = true;
    }
}

/* Runs one statement and gives its result, to be cleared. */
static enum errc run(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, PGresult **ret, int *ret_slot,
                     struct err *e)
{
    ASSERT(tx && tx->conn);
    if (tx->is_failed)
        return repeat_failure(tx, e);
    if (!conn_has_room(tx->conn) || (tx->is_last && tx->is_count_owed))
        TRY(pump(tx, NULL, e));
    if (FAULT("statement_lost"))
        cut_wire(tx);
    start(tx);
    struct err why;
    *ret_slot = pool_slot(tx->pool, st);
    if (conn_send(tx->conn, *ret_slot, args, nargs, false, true, &why) != ERR_OK)
        return fail_tx(tx, &why, e);
    tx->statements++;
    *ret = NULL;
    if (!tx->is_last) {
        TRY(pump(tx, ret, e));
    } else {
        send_commit(tx);
        TRY(settle_commit(tx, pump(tx, ret, e), e));
        tx->is_committed = true;
    }
    ASSERT(*ret);
    return ERR_OK;
}

/* One row into the zeroed struct at `item`. */
static enum errc decode_row(struct db_tx *tx, const struct stmt *st, int slot, const PGresult *res, size_t i, void *item, struct err *e)
{
    struct err why;
    const struct row_map *map = tx->conn->maps[slot];
    if (!map)
        FAIL(&why, INTERNAL, "the database's schema is not the one this program was built for");
    if (map && row_decode(map, res, (int)i, item, tx->arena, &why) == ERR_OK)
        return ERR_OK;
    err_note(&why, "statement %s", st->name);
    return fail_tx(tx, &why, e);
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

enum errc db_maybe(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *ret, bool *ret_found, struct err *e)
{
    ASSERT(st->row && (st->card == CARD_ONE || st->card == CARD_MAYBE));
    PGresult *res;
    int slot;
    TRY(run(tx, st, args, nargs, &res, &slot, e));
    int n = PQntuples(res);
    void *item = NULL;
    enum errc rc = ERR_OK;
    if (n > 1) {
        struct err why;
        FAIL(&why, INTERNAL, "a statement that gives one row gave %d", n);
        err_note(&why, "statement %s", st->name);
        rc = fail_tx(tx, &why, e);
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

enum errc db_one(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *ret, struct err *e)
{
    bool is_found = false;
    TRY(db_maybe(tx, st, args, nargs, ret, &is_found, e));
    return is_found ? ERR_OK : no_row(st, e);
}

enum errc db_many(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *slice, size_t limit, struct err *e)
{
    ASSERT(st->row && st->card == CARD_MANY);
    PGresult *res;
    int slot;
    TRY(run(tx, st, args, nargs, &res, &slot, e));
    size_t n = (size_t)PQntuples(res);
    void *items = NULL;
    enum errc rc = n > limit ? FAIL(e, LIMIT, "more than %zu rows", limit) : n ? decode_rows(tx, st, slot, res, &items, e) : ERR_OK;
    PQclear(res);
    if (rc == ERR_OK)
        memcpy(slice, &(struct slice){ items, n }, sizeof(struct slice));
    return rc;
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
    int64_t n = affected(res);
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
    if (tx->is_failed || (!conn_has_room(tx->conn) && pump(tx, NULL, &why) != ERR_OK))
        return;
    tx->is_writing = true;
    tx->only_read = false;
    start(tx);
    if (conn_send(tx->conn, pool_slot(tx->pool, st), args, nargs, must_affect, false, &why) != ERR_OK)
        (void)fail_tx(tx, &why, NULL);
    tx->statements++;
    if (must_affect)
        tx->is_count_owed = true;
}

/* The connection goes back, whatever its state; a broken one is dropped there. */
static void let_go(struct db_tx *tx)
{
    atomic_fetch_add_explicit(&tx->pool->transactions, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tx->pool->statements, tx->statements, memory_order_relaxed);
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
        send_own(tx, SLOT_ROLLBACK, NO_ARGS);
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
        TRY(pump(tx, NULL, e));
    send_commit(tx);
    return settle_commit(tx, pump(tx, NULL, e), e);
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
        rc = repeat_failure(tx, e);
    } else if (tx->is_begun && !tx->is_committed) {
        if ((tx->is_read_only || tx->only_read) && conn_is_synced(tx->conn)) {
            send_own(tx, SLOT_COMMIT, NO_ARGS);
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
        return repeat_failure(tx, e);
    start(tx);
    send_own(tx, SLOT_MARK, NO_ARGS);
    tx->hooks_mark = tx->hooks_end;
    return pump(tx, NULL, e);
}

enum errc db_back_to_mark(struct db_tx *tx, struct err *e)
{
    ASSERT(tx && tx->conn && tx->hooks_mark);
    struct err ignored;
    if (!tx->is_failed && !conn_is_synced(tx->conn))
        (void)pump(tx, NULL, &ignored);         /* what is queued belongs to the part: its failure is undone with it */
    if (tx->conn->is_broken)
        return repeat_failure(tx, e);
    tx->is_failed = false;
    *tx->hooks_mark = NULL;
    tx->hooks_end = tx->hooks_mark;
    send_own(tx, SLOT_BACK_TO_MARK, NO_ARGS);
    return pump(tx, NULL, e);
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
