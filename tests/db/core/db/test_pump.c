/* SPDX-License-Identifier: Apache-2.0 */
/* test_pump.c - statements that wait, what fails among them, and a COMMIT that travels along. */
#include "tests/db/core/db/tx_kit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_error_in_queue_undoes_all), TEST(test_long_queue), TEST(test_last_statement_commits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
