/* SPDX-License-Identifier: Apache-2.0 */
/* test_data_rows.c - every row on one side, classes keep their share, mean and scale from training rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "../../train_kit.h"
#include "workers/compute/train/data_rows.h"

static void test_split_and_scale(void **st)
{
    (void)st;
    struct err e;
    struct train_data d, again;
    struct train_job s = kit_spec();
    const struct data_schema schema = { .label = STR("y"), .classes = 3 };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf text = BUF(1 << 16);
    buf_add_c(&text, "v,k,y\n");
    for (int i = 0; i < 100; i++)
        buf_printf(&text, "%d,7,%d\n", i, i < 60 ? 0 : i < 99 ? 1 : 2);
    assert_int_equal(train_data_rows(a, buf_str(&text), &schema, &s, &d, &e), ERR_OK);
    int held[3] = { 0 };
    unsigned char seen[100] = { 0 };
    for (size_t i = 0; i < d.holdout_count; i++) {
        held[d.table.labels[d.holdout[i]]]++;
        seen[d.holdout[i]]++;
    }
    for (size_t i = 0; i < d.train_count; i++)
        seen[d.train[i]]++;
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    assert_true(held[0] == 12 && held[1] == 8 && held[2] == 0);     /* a class of one row stays in training */
    double sum = 0, square = 0;
    for (size_t i = 0; i < d.train_count; i++) {
        float row[2];
        train_data_row(&d, d.train[i], row);
        sum += (double)row[0];
        square += (double)row[0] * (double)row[0];
        assert_true(row[1] == 0);
    }
    assert_true(fabs(sum) < 1e-3 && fabs(square / (double)d.train_count - 1) < 1e-5);
    assert_true(d.columns.scale[1] == 1);
    s.seed = 5;
    assert_int_equal(train_data_rows(a, buf_str(&text), &schema, &s, &again, &e), ERR_OK);
    assert_memory_not_equal(d.holdout, again.holdout, d.holdout_count * sizeof *d.holdout);
    s.holdout = 0;
    assert_int_equal(train_data_rows(a, buf_str(&text), &schema, &s, &again, &e), ERR_OK);
    assert_int_equal(again.train_count, 100);
    s.holdout = 0.5;
    assert_int_equal(train_data_rows(a, STR("v,y\n1,1\n"), &schema, &s, &again, &e), ERR_BAD_DATA);
}

/* Whatever share is held out, each class of more than one row is on both sides: one that is never trained is never answered. */
static void test_each_class_is_on_both_sides(void **st)
{
    (void)st;
    const double shares[] = { 0.01, 0.5, 0.9, 0.99 };
    const struct data_schema schema = { .label = STR("y"), .classes = 3 };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct err e;
        struct train_data d;
        struct train_job s = kit_spec();
        int held[3] = { 0 }, trained[3] = { 0 };
        s.holdout = shares[i];
        assert_int_equal(train_data_rows(a, STR("v,y\n1,0\n2,0\n3,1\n4,1\n5,1\n6,2\n"), &schema, &s, &d, &e), ERR_OK);
        for (size_t k = 0; k < d.holdout_count; k++)
            held[d.table.labels[d.holdout[k]]]++;
        for (size_t k = 0; k < d.train_count; k++)
            trained[d.table.labels[d.train[k]]]++;
        assert_true(held[0] == 1 && trained[0] == 1 && held[1] >= 1 && trained[1] >= 1 && held[2] == 0 && trained[2] == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_and_scale),
        cmocka_unit_test(test_each_class_is_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
