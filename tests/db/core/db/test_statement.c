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

/* Asks are answered with whatever comes next, told in any order, and lost with their transaction. */
static void test_asks(void **state)
{
    (void)state;
    struct note n;
    struct slice rows;
    bool found;
    struct db_tx *tx = begin(tenant_a, 0);
    for (int64_t i = 1; i <= 3; i++)
        db_queue(tx, &note_add, ARGS(A_UUID(tenant_a), A_I64(i), A_STR(str_fmt(arena, "n%d", (int)i))), false);
    struct db_ask *second = db_ask(tx, &note_get, ARGS(A_I64(2)));
    db_queue(tx, &note_set, ARGS(A_I64(3), A_TEXT("late")), false);
    struct db_ask *all = db_ask(tx, &notes_all, NO_ARGS), *none = db_ask(tx, &note_get, ARGS(A_I64(9)));
    assert_int_equal(db_one(tx, &note_get, ARGS(A_I64(1)), &n, &e), ERR_OK);
    assert_true(str_eq_c(n.body, "n1"));
    assert_int_equal(db_told_maybe(tx, none, &n, &found, &e), ERR_OK);
    assert_false(found);
    assert_int_equal(db_told_many(tx, all, &rows, 10, &e), ERR_OK);
    assert_int_equal(rows.n, 3);
    assert_true(str_eq_c(((const struct note *)rows.items)[2].body, "late"));
    assert_int_equal(db_told_maybe(tx, second, &n, &found, &e), ERR_OK);
    assert_true(found && n.id == 2);
    /* Nothing else was sent: telling sends it. What is not told is let go. */
    struct db_ask *alone = db_ask(tx, &note_get, ARGS(A_I64(3)));
    (void)db_ask(tx, &notes_all, NO_ARGS);
    assert_int_equal(db_told_maybe(tx, alone, &n, &found, &e), ERR_OK);
    assert_int_equal(n.id, 3);
    assert_int_equal(db_told_many(tx, db_ask(tx, &notes_all, NO_ARGS), &rows, 2, &e), ERR_LIMIT);
    commit(tx);
    /* An error of anything in the group is each ask's. */
    tx = begin(tenant_a, 0);
    struct db_ask *before = db_ask(tx, &note_get, ARGS(A_I64(1)));
    db_queue(tx, &raise_it, ARGS(A_TEXT("FJ429")), false);
    struct db_ask *behind = db_ask(tx, &note_get, ARGS(A_I64(2)));
    assert_int_equal(db_told_maybe(tx, behind, &n, &found, &e), ERR_QUOTA);
    assert_int_equal(db_told_maybe(tx, before, &n, &found, &e), ERR_QUOTA);
    db_rollback(tx);
    /* A part that is undone takes its asks with it; the next ones get their own answers. */
    tx = begin(tenant_a, 0);
    assert_int_equal(db_mark(tx, &e), ERR_OK);
    db_queue(tx, &raise_it, ARGS(A_TEXT("FJ429")), false);
    (void)db_ask(tx, &note_get, ARGS(A_I64(1)));
    assert_int_equal(db_back_to_mark(tx, &e), ERR_OK);
    assert_int_equal(db_told_maybe(tx, db_ask(tx, &note_get, ARGS(A_I64(2))), &n, &found, &e), ERR_OK);
    assert_true(found && n.id == 2);
    (void)db_ask(tx, &note_get, ARGS(A_I64(1)));        /* rolled back before it was sent */
    db_rollback(tx);
    assert_int_equal(count(tenant_a), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_must_affect), TEST(test_error_map), TEST(test_asks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
