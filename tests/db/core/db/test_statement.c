/* SPDX-License-Identifier: Apache-2.0 */
/* test_statement.c - rows that were affected or not, and the SQLSTATE map. */
#include "tests/db/core/db/tx_kit.h"
#include "core/db/pgerr.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_must_affect), TEST(test_error_map),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
