/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c - rows are counted by what they mean, and as JSON they are a document whatever was seen. */
#include "tests/unit/backup/fixture.h"
#include "backup/report.h"
#include "core/json/jsonvalue.h"

static void rows_are_counted_and_are_json(void **state)
{
    (void)state;
    struct report r = { .as_json = true, .rows = BUF(1 << 16) };
    const struct jval *v;
    report_row(&r, REPORT_OK, "one", "%d \"quoted\"\n", 1);
    report_row(&r, REPORT_WARN, "two", "x");
    report_row(&r, REPORT_SKIP, "three", "x");
    FAIL(&e, DAMAGED, "it is cut");
    err_note(&e, "at byte 7");
    report_err(&r, REPORT_FAIL, "four", &e);
    assert_int_equal(r.warnings, 2);
    assert_int_equal(r.failures, 1);
    OK(jval_parse(fx_arena, str_fmt(fx_arena, "[%s]", r.rows.ptr), 0, &v, &e));
    assert_int_equal(jval_len(v), 4);
    assert_true(str_eq_c(jval_str(jval_get(jval_at(v, 0), "seen")), "1 \"quoted\"\n"));
    assert_true(str_eq_c(jval_str(jval_get(jval_at(v, 3), "seen")), "it is cut at byte 7"));
    assert_true(str_eq_c(jval_str(jval_get(jval_at(v, 2), "result")), "skip"));
    buf_release(&r.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows_are_counted_and_are_json) };
    return cmocka_run_group_tests_name("backup_report", tests, fx_setup, fx_teardown);
}
