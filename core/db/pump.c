/* SPDX-License-Identifier: Apache-2.0 */
/* pump.c - what a transaction sends and what comes back. Statements are only put in libpq's buffer until someone needs an answer;
 * tx_pump() then sends a sync and reads every answer up to it, so that outside of it nothing is owed but what was queued. After
 * an error the server skips everything up to the sync, a COMMIT in that group included: a half-done transaction cannot commit. */
#include "core/db/tx_int.h"
#include "core/base/assert.h"
#include "core/base/fault.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The error of the transaction, which is its first one. */
enum errc tx_repeat_failure(struct db_tx *tx, struct err *e)
{
    if (e)
        *e = tx->failure;
    return tx->failure.code;
}

enum errc tx_fail(struct db_tx *tx, const struct err *why, struct err *e)
{
    if (!tx->is_failed) {
        tx->is_failed = true;
        tx->failure = *why;
    }
    return tx_repeat_failure(tx, e);
}

void tx_cut_wire(struct db_tx *tx)
{
    shutdown(PQsocket(tx->conn->pg), SHUT_RDWR);
}

void tx_send_own(struct db_tx *tx, int slot, const struct arg *args, int nargs)
{
    struct err e;
    ASSERT(conn_send(tx->conn, slot, args, nargs, (struct note){ 0 }, &e) == ERR_OK);
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

void tx_start(struct db_tx *tx)
{
    ASSERT(!tx->is_committed);
    ASSERT(!tx->is_single || tx->statements == 0);
    if (tx->is_begun || tx->is_single)
        return;
    tx->is_begun = true;
    tx_send_own(tx, tx->is_read_only ? SLOT_BEGIN_RO : SLOT_BEGIN, NO_ARGS);
    if (tx->scope.kind == SCOPE_KIND_TENANT) {
        char text[UUID_TEXT];
        uuid_text(tx->scope.tenant_id, text);
        tx_send_own(tx, SLOT_SCOPE, ARGS(A_TEXT(text), A_STR(projects_text(tx))));
    }
}

int64_t tx_affected(const PGresult *res)
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

/* Answers come in the order of the asks. */
static void keep_told(struct db_tx *tx, PGresult *res)
{
    struct db_ask *a = tx->asks;
    while (a->res || a->is_told)
        a = a->next;
    a->res = res;
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
    if (n->kind == NOTE_QUERY && n->must_affect && tx_affected(res) == 0 && !tx->is_failed) {
        tx->is_failed = true;
        FAIL(&tx->failure, CONFLICT, "the object has changed meanwhile");
        err_note(&tx->failure, "statement %s affected no row", name);
    }
    return n->is_target || n->is_asked;
}

/* The COMMIT or ROLLBACK of an earlier transaction must have worked: a connection that is still inside it is of no use. */
static bool is_good_ending(const struct note *n, const PGresult *res)
{
    bool is_ending = n->kind == NOTE_QUERY && (n->slot == SLOT_COMMIT || n->slot == SLOT_ROLLBACK);
    return !is_ending || PQresultStatus(res) == PGRES_COMMAND_OK;
}

/* Sends what waits and reads every answer owed. *ret_res (may be NULL): the target's result. */
enum errc tx_pump(struct db_tx *tx, PGresult **ret_res, struct err *e)
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
        if (is_old) {
            c->is_broken = !is_good_ending(&n, res);
        } else if (take_answer(tx, &n, res)) {
            if (n.is_asked) {
                keep_told(tx, res);
                res = NULL;
            } else if (ret_res) {
                *ret_res = res;
                res = NULL;
            }
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
    return tx_repeat_failure(tx, e);
}

/* What was promised of a lost connection is not known, once COMMIT has been sent. */
enum errc tx_settle_commit(struct db_tx *tx, enum errc rc, struct err *e)
{
    if (rc == ERR_OK || !tx->conn->is_broken)
        return rc;
    FAIL(&tx->failure, UNAVAILABLE, "the connection to the database was lost");
    err_note(&tx->failure, "commit outcome unknown");
    return tx_repeat_failure(tx, e);
}

void tx_send_commit(struct db_tx *tx)
{
    if (FAULT("commit_lost"))
        tx_cut_wire(tx);
    tx_send_own(tx, SLOT_COMMIT, NO_ARGS);
    if (FAULT("commit_reply_lost")) {
        conn_sync(tx->conn);
        pg_wait(tx->conn->pg, tx->conn->wait_us);
        tx->conn->is_broken = true;
    }
}
