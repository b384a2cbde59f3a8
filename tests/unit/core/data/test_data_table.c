/* SPDX-License-Identifier: Apache-2.0 */
/* test_data_table.c - columns by their role, the same out of CSV and out of an array: a class, a number, flags or none; ignored
 * columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "table_kit.h"

static const char CSV[] = "id,a,topic_x,b,topic_y\n17,1.5,0,2,1\n18,-3,1,4,1\n";

static void test_roles(void **st)
{
    (void)st;
    static const struct str ignored_csv[] = { { "id", 2 } }, ignored_npy[] = { { "0", 1 } };
    struct data_table t[2];
    struct err e;
    const struct data_schema flags = { .label = STR("topic_*"), .target = TARGET_FLAGS, .ignored = { (void *)ignored_csv, 1 } };
    assert_int_equal(data_formats[DATA_CSV].read(arena, str_c(CSV), &flags, &t[0], &e), ERR_OK);
    assert_true(t[0].rows == 2 && t[0].cols == 2 && t[0].target_count == 2 && t[0].classes == 2);
    assert_memory_equal(t[0].x, ((float[]){ 1.5f, 2, -3, 4 }), 16);
    assert_memory_equal(t[0].targets, ((float[]){ 0, 1, 1, 1 }), 16);
    assert_memory_equal(t[0].labels, ((int32_t[]){ 0, 0 }), 8);
    const struct data_schema number[] = { { .label = STR("b"), .target = TARGET_NUMBER, .ignored = { (void *)ignored_csv, 1 } },
                                          { .label = STR("3"), .target = TARGET_NUMBER, .ignored = { (void *)ignored_npy, 1 } } };
    assert_int_equal(data_formats[DATA_CSV].read(arena, str_c(CSV), &number[0], &t[0], &e), ERR_OK);
    assert_int_equal(data_formats[DATA_NPY].read(arena, cells(CELLS, 2, 5), &number[1], &t[1], &e), ERR_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(t[i].rows == 2 && t[i].cols == 3 && t[i].target_count == 1 && t[i].classes == 0);
        assert_memory_equal(t[i].x, ((float[]){ 1.5f, 0, 1, -3, 1, 1 }), 24);
        assert_memory_equal(t[i].targets, ((float[]){ 2, 4 }), 8);
    }
    assert_string_equal(t[0].names[1].ptr, "topic_x");
    assert_true(str_eq(t[1].names[2], STR("4")));
}

/* Rows that are only to be answered: what is not ignored is a feature, in both formats, and no name of a label is asked for. */
static void test_no_label(void **st)
{
    (void)st;
    static const struct str ignored_csv[] = { { "id", 2 } }, ignored_npy[] = { { "0", 1 } };
    const struct data_schema none[] = { { .label = STR("label"), .target = TARGET_NONE, .ignored = { (void *)ignored_csv, 1 } },
                                        { .target = TARGET_NONE, .ignored = { (void *)ignored_npy, 1 } } };
    struct data_table t[2];
    struct data_found found;
    struct err e;
    assert_int_equal(data_formats[DATA_CSV].read(arena, str_c(CSV), &none[0], &t[0], &e), ERR_OK);
    assert_int_equal(data_formats[DATA_NPY].read(arena, cells(CELLS, 2, 5), &none[1], &t[1], &e), ERR_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(t[i].rows == 2 && t[i].cols == 4 && t[i].target_count == 0 && t[i].classes == 0);
        assert_memory_equal(t[i].x, ((float[]){ 1.5f, 0, 2, 1, -3, 1, 4, 1 }), 32);
    }
    assert_int_equal(data_check(arena, DATA_CSV, &none[0], str_c(CSV), &found, &e), ERR_OK);
    assert_true(found.rows == 2 && found.columns == 4 && found.classes == 0);
    refused(DATA_CSV, STR("id\n1\n"), none[0], "there is no feature column");
}

static void test_refusals(void **st)
{
    (void)st;
    static const struct str unknown[] = { { "none", 4 } }, label[] = { { "a", 1 } };
    const struct data_schema flags = { .label = STR("topic_*"), .target = TARGET_FLAGS };
    refused(DATA_CSV, STR("a,topic_x\n1,2\n"), flags, "row 2, column 2 (topic_x): the flag 2 is neither 0 nor 1");
    refused(DATA_CSV, STR("a,b\n1,2\n"), flags, "row 1: there is no label column \"topic_*\"");
    refused(DATA_CSV, STR("a,b\n1,2\n"), (struct data_schema){ .label = STR("a"), .ignored = { (void *)unknown, 1 } },
            "row 1: there is no column \"none\" to ignore");
    refused(DATA_CSV, STR("a,b\n1,2\n"), (struct data_schema){ .label = STR("a"), .ignored = { (void *)label, 1 } },
            "is named twice");
    refused(DATA_CSV, STR("a,b\n1,2\n"), (struct data_schema){ .label = STR("*x"), .target = TARGET_FLAGS }, "topic_*");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_roles), cmocka_unit_test(test_no_label),
                                        cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, make, drop);
}
