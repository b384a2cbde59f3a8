/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_spec.c - the schemas of job specs are sound and the rules between fields hold at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "core/wire/job_spec.h"

static struct err e;

static void schemas_are_sound(void **state)
{
    (void)state;
    assert_int_equal(schema_check_table(&noop_job_schema, &e), ERR_OK);
    assert_int_equal(schema_check_table(&train_job_schema, &e), ERR_OK);
    assert_int_equal(schema_check_table(&serve_job_schema, &e), ERR_OK);
}

static struct train_job good(int64_t *widths, size_t n)
{
    return (struct train_job){ .hidden = { widths, n }, .learning_rate = 0.003, .weight_decay = 0.0001, .holdout = 0.2 };
}

static void the_edges_of_the_shares(void **state)
{
    (void)state;
    struct train_job t = good(NULL, 0);
    assert_int_equal(train_job_check(&t, &e), ERR_OK);
    static const struct { double lr, wd, holdout; const char *field; } rows[] = {
        { 0, 0, 0.2, "/spec/learning_rate" }, { -1, 0, 0.2, "/spec/learning_rate" }, { 10.0001, 0, 0.2, "/spec/learning_rate" },
        { NAN, 0, 0.2, "/spec/learning_rate" }, { INFINITY, 0, 0.2, "/spec/learning_rate" },
        { 10, -0.1, 0.2, "/spec/weight_decay" }, { 10, 1.01, 0.2, "/spec/weight_decay" }, { 10, NAN, 0.2, "/spec/weight_decay" },
        { 10, 1, 0, "/spec/holdout" }, { 10, 1, 0.0099, "/spec/holdout" }, { 10, 1, 0.91, "/spec/holdout" }, { 10, 1, NAN, "/spec/holdout" },
        { 10, 0, 0.01, NULL }, { 1e-9, 1, 0.9, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        t.learning_rate = rows[i].lr;
        t.weight_decay = rows[i].wd;
        t.holdout = rows[i].holdout;
        enum errc rc = train_job_check(&t, &e);
        if (rc != (rows[i].field ? ERR_INVALID : ERR_OK) || (rows[i].field && strcmp(e.field, rows[i].field)))
            fail_msg("row %zu: %s at %s", i, err_row(rc)->name, e.field);
    }
}

static void the_widths_of_the_layers(void **state)
{
    (void)state;
    int64_t widths[] = { 1, 8192, 64 };
    struct train_job t = good(widths, 3);
    assert_int_equal(train_job_check(&t, &e), ERR_OK);
    static const int64_t bad[] = { 0, -1, 8193, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        widths[2] = bad[i];
        assert_int_equal(train_job_check(&t, &e), ERR_INVALID);
        assert_string_equal(e.field, "/spec/hidden/2");
    }
}

static void enums_have_their_names(void **state)
{
    (void)state;
    assert_string_equal(job_family_names[TRAIN_MLP], "mlp");
    assert_string_equal(job_optimizer_names[TRAIN_SGD], "sgd");
    assert_string_equal(job_schedule_names[TRAIN_LINEAR], "linear");
    assert_null(job_schedule_names[TRAIN_LINEAR + 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(schemas_are_sound), cmocka_unit_test(the_edges_of_the_shares),
                                        cmocka_unit_test(the_widths_of_the_layers), cmocka_unit_test(enums_have_their_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
