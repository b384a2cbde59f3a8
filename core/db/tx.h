/* SPDX-License-Identifier: Apache-2.0 */
/* tx.h - the transaction of a unit of work. It always names its tenant, and it is the only way to run a statement.
 *
 * The scope of a tenant is the transaction-local settings app.tenant and app.projects, which row-level security reads; db_begin is the
 * only place that sets them. The system scope sets nothing: what it may see is up to the pool's role.
 * Round trips: BEGIN and the scope travel with the first statement, queued statements with the next one, COMMIT with what is queued.
 * A read-only commit is not waited for. A transaction that ran no statement costs nothing.
 * Invariants: after an error of a statement the whole transaction is lost: later calls repeat that error, db_commit rolls back and
 * returns it. Only NOT_FOUND for want of a row and LIMIT for too many rows leave it usable.
 * Calling order: db_begin -> (db_one | db_maybe | db_many | db_exec | db_queue | db_ask, db_told_*)* -> db_commit or
 * db_rollback.
 * Memory: the transaction and all results live in the arena given to db_begin, which must outlive the transaction.
 * Errors: NOT_FOUND (CARD_ONE without row), CONFLICT (db_queue that must affect), EXISTS, INVALID, RETRY (serialization, deadlock),
 * DEADLINE (statement timeout), UNAVAILABLE (connection lost; at commit with detail "commit outcome unknown"), LIMIT, and what our own
 * SQL functions raise (pgerr.h). One thread at a time; one transaction holds one connection: do not nest. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/work.h"
#include "core/db/arg.h"
#include "core/db/stmt.h"

struct db_pool;
struct db_tx;

struct db_scope {
    enum db_scope_kind { SCOPE_KIND_TENANT, SCOPE_KIND_SYSTEM } kind;
    struct uuid tenant_id;
    const struct uuid *projects;            /* of the tenant: rows of other projects and of none are not there; NULL: the whole tenant */
    size_t project_count;
};
#define SCOPE_TENANT(id) ((struct db_scope){ .kind = SCOPE_KIND_TENANT, .tenant_id = (id) })
#define SCOPE_PROJECTS(id, projects_, n) ((struct db_scope){ SCOPE_KIND_TENANT, (id), (projects_), (n) })
#define SCOPE_SYSTEM ((struct db_scope){ .kind = SCOPE_KIND_SYSTEM })
/* The scope of a unit of work: its tenant, and of it what its caller may act on. */
static inline struct db_scope scope_of(const struct work *w)
{
    return SCOPE_PROJECTS(w->tenant_id, w->projects.items, w->projects.n);
}

/* TX_SINGLE: the transaction is its one statement, which commits by itself in one round trip. Nothing names a tenant then (scope must be
 * SCOPE_SYSTEM): for SECURITY DEFINER functions that take the tenants as arguments. A second statement is a bug. */
/* TX_ENDS: the act says by db_last which of its statements is the last, and COMMIT travels with that one: a round trip less. Who
 * opened the transaction must do nothing in it afterwards. */
enum { TX_READ_ONLY = 1, TX_SINGLE = 2, TX_ENDS = 4 };

MUST_CHECK enum errc db_begin(struct db_pool *pool, struct db_scope scope, unsigned flags, struct arena *arena, struct db_tx **ret,
                              struct err *e);
/* ret: a struct of the statement's row schema; written only on success, members without a column are zero. */
MUST_CHECK enum errc db_one(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *ret, struct err *e);
MUST_CHECK enum errc db_maybe(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *ret, bool *ret_found,
                              struct err *e);
/* slice: points to any struct that begins { T *items; size_t n; … }. More than limit rows is LIMIT: the SQL has its own LIMIT $n. */
MUST_CHECK enum errc db_many(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, void *slice, size_t limit,
                             struct err *e);
/* For rows that are not kept: each is decoded in turn into one struct, which `row` is given and must not keep. A statement of numbers,
 * ids and times alone, whose rows need no memory of their own. More than limit rows is LIMIT, before the first is given. */
MUST_CHECK enum errc db_each(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, size_t limit,
                             void (*row)(void *ctx, const void *item), void *ctx, struct err *e);
/* For statements without rows; ret_rows (may be NULL) is how many were affected. */
MUST_CHECK enum errc db_exec(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, int64_t *ret_rows,
                             struct err *e);
/* A read whose rows are wanted later: it is sent with what comes next, so that reads which do not need each other's answers wait
 * once. The caller's db_told_* sends it where nothing has; each ask is told at most once, in any order. An error is that of the
 * transaction. */
struct db_ask;
struct db_ask *db_ask(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs);
MUST_CHECK enum errc db_told_maybe(struct db_tx *tx, struct db_ask *ask, void *ret, bool *ret_found, struct err *e);
MUST_CHECK enum errc db_told_many(struct db_tx *tx, struct db_ask *ask, void *slice, size_t limit, struct err *e);
/* Sent with the next statement or with COMMIT; its error surfaces there. must_affect: touching no row is CONFLICT, and then a commit
 * costs one round trip more, because the count must be seen before COMMIT is sent. Rows that it returns are ignored. */
void db_queue(struct db_tx *tx, const struct stmt *st, const struct arg *args, int nargs, bool must_affect);

/* The next statement, of those that give rows, is the last that the act has: with TX_ENDS it commits, and what fails of either
 * fails it. Another statement after it is a bug. Without TX_ENDS nothing. */
void db_last(struct db_tx *tx);
/* The caller's statements so far have only read, though the transaction might have written: like that of one that is read-only,
 * its COMMIT is not waited for. Has no effect when statements without rows were run, which write. */
void db_only_read(struct db_tx *tx);

/* Either of them ends the transaction and gives the connection back; after that only db_rollback (no effect) may be called. */
MUST_CHECK enum errc db_commit(struct db_tx *tx, struct err *e);
void db_rollback(struct db_tx *tx);                     /* NULL is fine */
void db_rollbackp(struct db_tx **tx);                   /* for CLEANUP: rolls back unless committed */
/* A part that may fail without losing what came before it: db_mark, then the part, then db_back_to_mark if it failed, which undoes the
 * part, forgets its failure and its after-commit functions. One mark at a time. Fails when the connection is lost. */
MUST_CHECK enum errc db_mark(struct db_tx *tx, struct err *e);
MUST_CHECK enum errc db_back_to_mark(struct db_tx *tx, struct err *e);
/* fn runs after a successful commit, when the connection has been given back, in the order of registration. */
void db_after_commit(struct db_tx *tx, void (*fn)(void *ctx), void *ctx);

int db_statements(const struct db_tx *tx);              /* statements run so far, BEGIN and COMMIT not counted */
bool db_is_failed(const struct db_tx *tx);
bool db_is_read_only(const struct db_tx *tx);
struct db_scope db_scope_of(const struct db_tx *tx);
struct arena *db_arena(const struct db_tx *tx);
