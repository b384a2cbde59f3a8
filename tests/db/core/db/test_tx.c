/* SPDX-License-Identifier: Apache-2.0 */
/* test_tx.c - transactions: scope isolation on reused connections, what runs after a commit, many threads on few connections. */
#include "tests/db/core/db/tx_kit.h"
#include "tests/lib/wait.h"
#include <pthread.h>
#include <stdlib.h>

enum { PATIENCE_MS = 150000 };          /* a busy machine is no fault: no limit of the pool's own is looked at */

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
        if (db_many(tx, &notes_all, NO_ARGS, &rows, 10, &why) != ERR_OK || rows.n != 1
            || ((struct note *)rows.items)->id != c->id)
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
    struct db_pool *p = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = 3,
                                                           .lists = lists, .checkout_timeout_ms = PATIENCE_MS,
                                                           .statement_timeout_ms = PATIENCE_MS });
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

/* A rollback behind a statement that the sockets do not hold: nobody sends the rest, so the server must not be left waiting for
 * it with the transaction's locks. */
static void test_rollback_of_what_is_not_sent(void **state)
{
    (void)state;
    enum { LARGE = 16 << 20 };
    char *large = malloc(LARGE);
    struct note n;
    struct db_tx *tx;
    assert_non_null(large);
    memset(large, 'x', LARGE);
    struct db_pool *p = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = 1,
                                                           .lists = lists, .statement_timeout_ms = PATIENCE_MS });
    assert_int_equal(db_begin(p, SCOPE_TENANT(tenant_a), 0, arena, &tx, &e), ERR_OK);
    db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(1), A_TEXT("x")), true);
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_OK);
    db_queue(tx, &note_set, ARGS(A_I64(1), A_TEXT("y")), true);
    db_queue(tx, &note_set, ARGS(A_I64(1), A_STR(str_n(large, LARGE))), true);
    db_rollback(tx);
    WAIT_WHILE(pg_harness_number(pg, NULL, "SELECT count(*) FROM pg_locks WHERE relation = 'note'::regclass"
                                           " AND pid <> pg_backend_pid()"));
    assert_int_equal(db_begin(p, SCOPE_TENANT(tenant_a), TX_READ_ONLY, arena, &tx, &e), ERR_OK);
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_NOT_FOUND);
    db_rollback(tx);
    db_pool_free(p);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_scope_isolates_on_one_connection), TEST(test_after_commit),
        TEST(test_read_only_and_busy), TEST(test_rollback_of_what_is_not_sent),
        TEST(test_many_threads_few_connections),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
