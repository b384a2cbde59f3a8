/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions: scope isolation on reused connections, queue and commit semantics, the SQLSTATE map, statement lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/db/pgerr.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "tests/db/harness.h"

#include <pthread.h>
#include <string.h>

struct note {
    int64_t id;
    struct str body;
};
SCHEMA_OF(note, "A row of a tenant", FIELD(note, id, 0), FIELD(note, body, 0));

static const struct stmt note_add = { .name = "note_add", .params = "uis", .card = CARD_NONE, .sql =
    "INSERT INTO note (tenant_id, id, body) VALUES ($1, $2, $3)" };
static const struct stmt note_set = { .name = "note_set", .params = "is", .card = CARD_NONE, .sql =
    "UPDATE note SET body = $2 WHERE id = $1" };
static const struct stmt note_set_one = { .name = "note_set_one", .params = "is", .card = CARD_ONE, .sql =
    "UPDATE note SET body = $2 WHERE id = $1" };
static const struct stmt note_get = { .name = "note_get", .params = "i", .row = &note_schema, .card = CARD_ONE, .sql =
    "SELECT id, body FROM note WHERE id = $1" };
static const struct stmt notes_all = { .name = "notes_all", .row = &note_schema, .card = CARD_MANY, .sql =
    "SELECT id, body FROM note ORDER BY id" };
static const struct stmt raise_it = { .name = "raise_it", .params = "s", .card = CARD_NONE, .sql = "SELECT raise_it($1)" };
static const struct stmt sleep_it = { .name = "sleep_it", .params = "f", .card = CARD_NONE, .sql = "SELECT pg_sleep($1)" };
static const struct stmt child_add = { .name = "child_add", .params = "i", .card = CARD_NONE, .sql = "INSERT INTO child VALUES ($1)" };
static const struct stmt parent_del = { .name = "parent_del", .params = "i", .card = CARD_NONE, .sql = "DELETE FROM parent WHERE id = $1" };
static const struct stmt *const list[] = { &note_add, &note_set, &note_set_one, &note_get, &notes_all, &raise_it, &sleep_it, &child_add,
                                           &parent_del, NULL };
static const struct stmt *const *const lists[] = { list, NULL };

static struct pg_harness *pg;
static struct db_pool *pool;
static struct arena *arena;
static struct uuid tenant_a, tenant_b;
static struct err e;

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    tenant_a = uuid_v7(1);
    tenant_b = uuid_v7(2);
    pg_harness_exec(pg, NULL,
                    "CREATE ROLE app LOGIN;"
                    "CREATE TABLE note (tenant_id uuid NOT NULL, id bigint PRIMARY KEY CHECK (id > 0), body text NOT NULL);"
                    "ALTER TABLE note ENABLE ROW LEVEL SECURITY; ALTER TABLE note FORCE ROW LEVEL SECURITY;"
                    "CREATE POLICY t ON note USING (tenant_id = current_setting('app.tenant')::uuid);"
                    "CREATE TABLE parent (id bigint PRIMARY KEY); INSERT INTO parent VALUES (1);"
                    "CREATE TABLE child (parent bigint REFERENCES parent); INSERT INTO child VALUES (1);"
                    "GRANT ALL ON note, parent, child TO app;"
                    "CREATE FUNCTION raise_it(code text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
                    " RAISE EXCEPTION 'the limit is 3' USING ERRCODE = code, COLUMN = '/gpus'; END $$");
    pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = 1, .lists = lists,
                                               .statement_timeout_ms = 300, .checkout_timeout_ms = 200 });
    if (db_pool_check(pool, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    db_pool_free(pool);
    pg_harness_free(pg);
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    arena = arena_new(1 << 20);
    pg_harness_exec(pg, NULL, "TRUNCATE note");
    return 0;
}

static int done(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct db_tx *begin(struct uuid tenant, unsigned flags)
{
    struct db_tx *tx = NULL;
    if (db_begin(pool, SCOPE_TENANT(tenant), flags, arena, &tx, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    return tx;
}

static void commit(struct db_tx *tx)
{
    if (db_commit(tx, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
}

static size_t count(struct uuid tenant)
{
    struct slice rows;
    struct db_tx *tx = begin(tenant, TX_READ_ONLY);
    if (db_many(tx, &notes_all, NO_ARGS, &rows, 100, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    commit(tx);
    return rows.n;
}

static void test_scope_isolates_on_one_connection(void **state)
{
    (void)state;
    struct db_tx *tx = begin(tenant_a, 0);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_TEXT("secret a")), true);
    commit(tx);
    tx = begin(tenant_b, 0);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_b), A_I64(2), A_TEXT("secret b")), true);
    commit(tx);
    for (int i = 0; i < 10; i++) {      /* one connection, read-only commits left unread in between */
        struct note n;
        tx = begin(i % 2 ? tenant_a : tenant_b, TX_READ_ONLY);
        if (db_one(tx, &note_get, ARGS(A_I64(i % 2 ? 2 : 1)), &n, &e) != ERR_NOT_FOUND)
            fail_msg("%d: %s %s", i, e.msg, e.detail);
        assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(i % 2 ? 1 : 2)), &n, &e), ERR_OK);
        assert_true(str_eq_c(n.body, i % 2 ? "secret a" : "secret b"));
        i % 3 ? commit(tx) : db_rollback(tx);
    }
    assert_int_equal(count(tenant_a), 1);
    /* Another tenant's row can neither be written nor changed. */
    tx = begin(tenant_a, 0);
    db_queue(tx, &note_set, ARGS(A_I64(2), A_TEXT("mine now")), true);
    assert_int_equal(db_commit(tx, &e), ERR_CONFLICT);
    tx = begin(tenant_a, 0);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_b), A_I64(3), A_TEXT("forged")), false);
    assert_int_not_equal(db_commit(tx, &e), ERR_OK);
    assert_int_equal(count(tenant_b), 1);
    /* Without a tenant the policy fails closed, also on a connection that had one before. */
    struct slice rows;
    assert_int_equal(db_begin(pool, SCOPE_SYSTEM, 0, arena, &tx, &e), ERR_OK);
    assert_int_not_equal(db_many(tx, &notes_all, NO_ARGS, &rows, 10, &e), ERR_OK);
    db_rollback(tx);
    struct db_pool_stats st;
    db_pool_stats(pool, &st);
    assert_int_equal(st.connects, 1);
}

static void test_error_in_queue_undoes_all(void **state)
{
    (void)state;
    struct db_tx *tx = begin(tenant_a, 0);
    struct note n;
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_TEXT("x")), false);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_TEXT("again")), false);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(2), A_TEXT("y")), false);
    assert_int_equal(db_commit(tx, &e), ERR_EXISTS);
    assert_non_null(strstr(e.detail, "23505"));
    assert_int_equal(count(tenant_a), 0);
    tx = begin(tenant_a, 0);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(-1), A_TEXT("x")), false);
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_INVALID);
    assert_true(db_is_failed(tx));
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_INVALID);
    assert_int_equal(db_commit(tx, &e), ERR_INVALID);
    /* A rollback behind an error that nobody has read yet leaves the connection clean. */
    tx = begin(tenant_a, 0);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(-1), A_TEXT("x")), false);
    db_rollback(tx);
    assert_int_equal(count(tenant_a), 0);
}

static void test_must_affect(void **state)
{
    (void)state;
    struct db_tx *tx = begin(tenant_a, 0);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_TEXT("x")), true);
    db_queue(tx, &note_set, ARGS(A_I64(9), A_TEXT("absent")), true);
    assert_int_equal(db_commit(tx, &e), ERR_CONFLICT);
    assert_int_equal(count(tenant_a), 0);
    tx = begin(tenant_a, 0);
    db_queue(tx, &note_set, ARGS(A_I64(9), A_TEXT("absent")), false);
    commit(tx);
    tx = begin(tenant_a, 0);
    int64_t rows = -1;
    assert_int_equal(db_exec(tx, &note_set, ARGS(A_I64(9), A_TEXT("absent")), &rows, &e), ERR_OK);
    assert_int_equal(rows, 0);
    assert_int_equal(db_exec(tx, &note_set_one, ARGS(A_I64(9), A_TEXT("absent")), NULL, &e), ERR_NOT_FOUND);
    assert_int_equal(db_statements(tx), 2);
    commit(tx);
}

static void test_long_queue(void **state)
{
    (void)state;
    struct db_tx *tx = begin(tenant_a, 0);
    for (int i = 1; i <= 5000; i++)
        db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(i), A_TEXT("x")), true);
    struct note n;
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(5000)), &n, &e), ERR_OK);
    commit(tx);
}

static void bump(void *ctx)
{
    /* The connection is free again: a hook may open a transaction on the pool's only connection. */
    assert_int_equal(count(tenant_a), 1);
    ++*(int *)ctx;
}

static void test_after_commit(void **state)
{
    (void)state;
    int runs = 0;
    struct db_tx *tx = begin(tenant_a, 0);
    db_after_commit(tx, bump, &runs);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(-1), A_TEXT("x")), false);
    assert_int_equal(db_commit(tx, &e), ERR_INVALID);
    tx = begin(tenant_a, 0);
    db_after_commit(tx, bump, &runs);
    db_rollback(tx);
    assert_int_equal(runs, 0);
    tx = begin(tenant_a, 0);
    db_after_commit(tx, bump, &runs);
    db_after_commit(tx, bump, &runs);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_TEXT("x")), false);
    commit(tx);
    assert_int_equal(runs, 2);
    CLEANUP(db_rollbackp) struct db_tx *forgotten = begin(tenant_a, 0);
    assert_false(db_is_failed(forgotten));
}

static enum errc fails_with(const struct stmt *st, const struct arg *args, int n)
{
    struct db_tx *tx = begin(tenant_a, 0);
    enum errc rc = db_exec(tx, st, args, n, NULL, &e);
    db_rollback(tx);
    return rc;
}

static void test_error_map(void **state)
{
    (void)state;
    assert_int_equal(fails_with(&raise_it, ARGS(A_TEXT("FJ429"))), ERR_QUOTA);
    assert_string_equal(e.msg, "the limit is 3");
    assert_string_equal(e.field, "/gpus");
    assert_int_equal(fails_with(&raise_it, ARGS(A_TEXT("FJ404"))), ERR_NOT_FOUND);
    assert_int_equal(fails_with(&raise_it, ARGS(A_TEXT("FJ409"))), ERR_CONFLICT);
    assert_int_equal(fails_with(&raise_it, ARGS(A_TEXT("FJ422"))), ERR_UNPROCESSABLE);
    assert_int_equal(fails_with(&raise_it, ARGS(A_TEXT("40001"))), ERR_RETRY);
    assert_null(strstr(e.msg, "limit is 3"));
    assert_int_equal(fails_with(&raise_it, ARGS(A_TEXT("P0001"))), ERR_INTERNAL);
    assert_int_equal(fails_with(&child_add, ARGS(A_I64(7))), ERR_NOT_FOUND);
    assert_int_equal(fails_with(&parent_del, ARGS(A_I64(1))), ERR_CONFLICT);
    assert_int_equal(fails_with(&sleep_it, ARGS(A_F64(5))), ERR_DEADLINE);
    assert_int_equal(fails_with(&note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_STR(STR("\xff")))), ERR_INVALID);
    assert_int_equal(pgerr_code("40P01", NULL), ERR_RETRY);
    assert_int_equal(pgerr_code("57P03", NULL), ERR_UNAVAILABLE);
    assert_int_equal(pgerr_code(NULL, NULL), ERR_UNAVAILABLE);
}

static void test_read_only_and_busy(void **state)
{
    (void)state;
    struct db_tx *tx = begin(tenant_a, TX_READ_ONLY), *second;
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_TEXT("x")), false);
    assert_int_equal(db_begin(pool, SCOPE_SYSTEM, 0, arena, &second, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "busy"));
    assert_int_equal(db_commit(tx, &e), ERR_INTERNAL);
    assert_int_equal(count(tenant_a), 0);
}

struct crowd {
    struct db_pool *p;
    struct uuid tenant;
    int64_t id;
    int wrong;
};

static void *crowd_main(void *arg)
{
    struct crowd *c = arg;
    struct err why;
    for (int i = 0; i < 150; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
        struct db_tx *tx;
        struct slice rows = { 0 };
        if (db_begin(c->p, SCOPE_TENANT(c->tenant), i % 2 ? TX_READ_ONLY : 0, a, &tx, &why) != ERR_OK) {
            c->wrong++;
            continue;
        }
        if (i % 2 == 0)
            db_queue(tx, &note_set, ARGS(A_I64(c->id), A_TEXT("z")), true);
        if (db_many(tx, &notes_all, NO_ARGS, &rows, 10, &why) != ERR_OK || rows.n != 1 || ((struct note *)rows.items)->id != c->id)
            c->wrong++;
        if (i % 5 == 0)
            db_rollback(tx);
        else if (db_commit(tx, &why) != ERR_OK)
            c->wrong++;
    }
    return NULL;
}

static void test_many_threads_few_connections(void **state)
{
    (void)state;
    struct db_pool *p = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = 3, .lists = lists });
    struct crowd crowds[8];
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
        crowds[i] = (struct crowd){ p, uuid_v7(100 + i), 100 + i, 0 };
        struct db_tx *tx = begin(crowds[i].tenant, 0);
        db_queue(tx, &note_add, ARGS(A_UUID(crowds[i].tenant), A_I64(crowds[i].id), A_TEXT("x")), true);
        commit(tx);
    }
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, crowd_main, &crowds[i]);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(crowds[i].wrong, 0);
    }
    struct db_pool_stats st;
    db_pool_stats(p, &st);
    assert_true(st.connects <= 3 && st.broken == 0 && st.busy == 0 && st.transactions == 8 * 150);
    db_pool_free(p);
}

/* COMMIT travels with the last statement: a rollback after it undoes nothing, and what fails on the way commits nothing. */
static void test_last_statement_commits(void **state)
{
    (void)state;
    struct note n;
    struct db_tx *tx = begin(tenant_a, TX_ENDS);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_TEXT("x")), true);
    db_last(tx);
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_OK);
    assert_true(str_eq_c(n.body, "x"));
    db_rollback(tx);
    assert_int_equal(count(tenant_a), 1);
    tx = begin(tenant_a, TX_ENDS);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(2), A_TEXT("y")), false);
    db_last(tx);
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(2)), &n, &e), ERR_OK);
    commit(tx);
    assert_int_equal(count(tenant_a), 2);
    /* A count that is owed is seen first; an error in what is queued; a last word where nobody said that the act ends. */
    tx = begin(tenant_a, TX_ENDS);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(3), A_TEXT("z")), false);
    db_queue(tx, &note_set, ARGS(A_I64(99), A_TEXT("z")), true);
    db_last(tx);
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_CONFLICT);
    assert_int_equal(db_commit(tx, &e), ERR_CONFLICT);
    tx = begin(tenant_a, TX_ENDS);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(3), A_TEXT("z")), false);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(-1), A_TEXT("z")), false);
    db_last(tx);
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_INVALID);
    db_rollback(tx);
    tx = begin(tenant_a, 0);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(3), A_TEXT("z")), false);
    db_last(tx);
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_OK);
    db_rollback(tx);
    assert_int_equal(count(tenant_a), 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_scope_isolates_on_one_connection), TEST(test_error_in_queue_undoes_all), TEST(test_must_affect), TEST(test_long_queue),
        TEST(test_after_commit), TEST(test_error_map), TEST(test_read_only_and_busy), TEST(test_many_threads_few_connections),
        TEST(test_last_statement_commits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
