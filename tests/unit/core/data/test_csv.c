/* SPDX-License-Identifier: Apache-2.0 */
/* test_csv.c - what is accepted, and that every refusal names row and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/cleanup.h"
#include "core/data/csv.h"

static const struct data_schema schema = { .label = { "label", 5 }, .classes = 3 };

/* However the text is cut, its verdict and words are the same. */
static void check_pieces(const char *text, enum errc want, const struct data_table *table, const struct err *why)
{
    static const size_t steps[] = { 1, 2, 3, 7, 64, 100000 };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
        struct csv_checker *c;
        struct data_table t;
        struct err e;
        size_t len = strlen(text);
        assert_int_equal(csv_checker_new(a, &schema, &c, &e), ERR_OK);
        enum errc rc = ERR_OK;
        for (size_t at = 0; at < len && rc == ERR_OK; at += steps[i])
            rc = csv_checker_add(c, text + at, len - at < steps[i] ? len - at : steps[i], &e);
        if (rc == ERR_OK)
            rc = csv_checker_end(c, &t, &e);
        assert_int_equal(rc, want);
        if (rc != ERR_OK)
            assert_string_equal(e.msg, why->msg);
        else
            assert_true(t.rows == table->rows && t.cols == table->cols && t.classes == table->classes);
    }
}

static void refuse(const char *text, const char *part)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct data_table t, u;
    struct err e = { 0 }, f = { 0 };
    enum errc rc = csv_check(a, str_c(text), &schema, &t, &e);
    assert_int_equal(csv_read(a, str_c(text), &schema, &u, &f), rc);
    check_pieces(text, rc, &t, &e);
    if (rc != ERR_BAD_DATA || !strstr(e.msg, part))
        fail_msg("\"%s\": %d \"%s\", wanted \"%s\"", text, rc, e.msg, part);
    assert_string_equal(e.msg, f.msg);
}

static void test_refused(void **st)
{
    (void)st;
    refuse("", "empty");
    refuse("a,label\n", "no data row");
    refuse("a,b\n1,2\n", "no label column \"label\"");
    refuse("label\n1\n", "no feature column");
    refuse("a,a,label\n1,2,0\n", "two columns are named \"a\"");
    refuse("a,,label\n1,2,0\n", "row 1, column 2: a column name");
    refuse("a,b,label\n1,2,0\n3,0\n", "row 3 has 2 columns, the header has 3");
    refuse("a,b,label\n1,2,0,9\n", "row 2 has more columns than the 3");
    refuse("a,b,label\n1,2,0\n\n", "row 3 has 1 columns");
    refuse("a,b,label\n1,x,0\n", "row 2, column 2 (b): \"x\" is not a finite number");
    refuse("a,b,label\n1,xاااااااااااااااااااااا,0\n", "row 2, column 2 (b): \"xااااااااااااااااااا\" is not a finite number");   /* no half of a letter */
    refuse("a,b,label\n1,,0\n", "row 2, column 2 (b): the field is empty");
    refuse("a,b,label\n1,nan,0\n", "row 2, column 2 (b)");
    refuse("a,b,label\n1,inf,0\n", "row 2, column 2 (b)");
    refuse("a,b,label\n1,0x10,0\n", "row 2, column 2 (b)");
    refuse("a,b,label\n1, 2,0\n", "row 2, column 2 (b)");
    refuse("a,b,label\n1,1e39,0\n", "row 2, column 2 (b): 1e+39 is too large");
    refuse("a,b,label\n1,1e999,0\n", "row 2, column 2 (b)");
    refuse("a,b,label\n1,2,3\n", "row 2, column 3 (label): the label 3 is not an integer of 0 to 2");
    refuse("a,b,label\n1,2,-1\n", "row 2, column 3 (label)");
    refuse("a,b,label\n1,2,0.5\n", "row 2, column 3 (label)");
    refuse("a,b,label\n1,\"2,0\n", "row 2, column 2: the quote is never closed");
    refuse("a,b,label\n1,\"2\"3,0\n", "row 2, column 2: after a field");
    refuse("a,b,label\n1,2\"3,0\n", "row 2, column 2: after a field");
    refuse("a,b,label\r1,2,0\r", "row 1, column 3: after a field");
}

static void test_accepted(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct data_table t;
    struct err e;
    const char *text = "\xEF\xBB\xBF\"we \"\"x\"\"\",label,\"b\r\nc\"\r\n1.5,2,-2e-1\r\n\"3\",0,.5";
    assert_int_equal(csv_read(a, str_c(text), &schema, &t, &e), ERR_OK);
    check_pieces(text, ERR_OK, &t, &e);
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.cols, 2);
    assert_int_equal(t.classes, 3);
    assert_true(str_eq_c(t.names[0], "we \"x\"") && str_eq_c(t.names[1], "b\r\nc"));
    assert_true(t.x[0] == 1.5f && t.x[1] == -0.2f && t.x[2] == 3 && t.x[3] == 0.5f);
    assert_true(t.labels[0] == 2 && t.labels[1] == 0);
    const struct str pick[] = { STR("c"), STR("a") };
    struct data_schema s = { .label = STR("y"), .features = pick, .feature_count = 2 };
    assert_int_equal(csv_read(a, str_c("a,b,y,c\n1,junk,4,2\n"), &s, &t, &e), ERR_OK);
    assert_true(t.cols == 2 && t.x[0] == 2 && t.x[1] == 1 && t.classes == 5);
    s.feature_count = 1;
    const struct str none[] = { STR("zz") };
    s.features = none;
    assert_int_equal(csv_read(a, str_c("a,y\n1,0\n"), &s, &t, &e), ERR_BAD_DATA);
}

/* Memory that a sender drives ends in LIMIT, not in an abort. */
static void test_limits(void **st)
{
    (void)st;
    struct data_table t;
    struct err e;
    CLEANUP(buf_releasep) struct buf wide = BUF(4 << 20), tall = BUF(4 << 20);
    for (int i = 0; i <= TABLE_COLUMNS_MAX; i++)
        buf_printf(&wide, "c%d,", i);
    buf_add_c(&wide, "label\n");
    CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
    assert_int_equal(csv_check(a, buf_str(&wide), &schema, &t, &e), ERR_LIMIT);
    CLEANUP(arena_freep) struct arena *small = arena_new(2048);
    assert_int_equal(csv_check(small, buf_str(&wide), &schema, &t, &e), ERR_LIMIT);
    buf_add_c(&tall, "a,b,label\n");
    for (int i = 0; i < 10000; i++)
        buf_add_c(&tall, "1,2,0\n");
    CLEANUP(arena_freep) struct arena *medium = arena_new(50000);
    assert_int_equal(csv_check(medium, buf_str(&tall), &schema, &t, &e), ERR_OK);
    assert_int_equal(t.rows, 10000);
    assert_int_equal(csv_read(medium, buf_str(&tall), &schema, &t, &e), ERR_LIMIT);
}

static void test_long_rows(void **st)
{
    (void)st;
    struct csv_checker *c;
    struct data_table t;
    struct err e;
    CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
    CLEANUP(buf_releasep) struct buf zeros = BUF(2 * (size_t)CSV_RECORD_MAX), rows = BUF(16 << 20);
    buf_add_c(&zeros, "a,label\n0.");
    while (zeros.len <= CSV_RECORD_MAX)
        buf_add_c(&zeros, "0000000000000000");
    assert_int_equal(csv_checker_new(a, &schema, &c, &e), ERR_OK);
    assert_int_equal(csv_checker_add(c, zeros.ptr, zeros.len, &e), ERR_BAD_DATA);   /* a row that ends early is told before its length */
    assert_int_equal(csv_checker_new(a, &schema, &c, &e), ERR_OK);
    buf_add_c(&zeros, ",1");
    while (zeros.len <= CSV_RECORD_MAX + 100)
        buf_add_c(&zeros, ".0");
    assert_true(csv_checker_add(c, zeros.ptr, zeros.len, &e) != ERR_OK);
    /* More than is ever held at once, with a quoted line end here and there. */
    buf_add_c(&rows, "a,\"b\nc\",label\n");
    size_t n = 0;
    for (; rows.len < 2 * (size_t)CSV_RECORD_MAX; n++)
        buf_add_c(&rows, "1.5,\"-2e3\",2\r\n");
    assert_int_equal(csv_checker_new(a, &schema, &c, &e), ERR_OK);
    assert_int_equal(csv_checker_add(c, rows.ptr, rows.len, &e), ERR_OK);
    assert_int_equal(csv_checker_end(c, &t, &e), ERR_OK);
    assert_int_equal(t.rows, n);
    assert_int_equal(t.cols, 2);
}

static struct str some_names[] = { { "colour", 6 }, { "where", 5 } };
static const struct data_schema mixed = { .label = { "label", 5 }, .categories = { some_names, 2 }, .has_missing = true };

static void refuse_mixed(const char *text, const char *part)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct data_table t;
    struct err e = { 0 };
    if (csv_check(a, str_c(text), &mixed, &t, &e) == ERR_OK || !strstr(e.msg, part))
        fail_msg("\"%s\": \"%s\", wanted \"%s\"", text, e.msg, part);
}

/* Numbers first, then categories; words by the order in which they came, an empty cell of either NaN. */
static void test_words_and_missing(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct data_table t;
    struct err e = { 0 };
    const char *text = "colour,a,where,b,label\nred,1,7,2,0\n\"light, blue\",,8,3,1\n,4,7,,0\nred,5,\"\",6,1\n";
    static const float want[] = { 1, 2, 0, 0, NAN, 3, 1, 1, 4, NAN, NAN, 0, 5, 6, 0, NAN };
    assert_int_equal(csv_read(a, str_c(text), &mixed, &t, &e), ERR_OK);
    assert_true(t.rows == 4 && t.cols == 4 && t.category_count == 2 && t.word_count == 4 && t.words[0].n == 2);
    assert_true(str_eq_c(t.names[0], "a") && str_eq_c(t.names[2], "colour") && str_eq_c(t.names[3], "where"));
    assert_true(str_eq_c(t.words[0].items[1], "light, blue") && str_eq_c(t.words[1].items[0], "7"));
    for (size_t i = 0; i < 16; i++)
        assert_true(isnan(want[i]) ? isnan(t.x[i]) : t.x[i] == want[i]);
    refuse_mixed("colour,a,where,label\nred,x,7,0\n", "row 2, column 2 (a): \"x\" is not a finite number");
    refuse_mixed("colour,a,where,label\nred,1,7,\n", "row 2, column 4 (label): the field is empty");
    refuse_mixed("colour,a,where,label\nre\td,1,7,0\n",
                 "row 2, column 1 (colour): a word of a category has no control characters");
    refuse_mixed("colour,a,label\nred,1,0\n", "row 1: there is no column \"where\" of categories");
    refuse("a,label\n,1\n", "row 2, column 1 (a): the field is empty; a data set with missing_values takes it");
    struct data_schema twice = mixed;
    twice.label = STR("colour");
    assert_int_equal(csv_check(a, str_c(text), &twice, &t, &e), ERR_INVALID);
}

static void test_most_words(void **st)
{
    (void)st;
    for (size_t over = 0; over < 2; over++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
        CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
        struct data_table t;
        struct err e = { 0 };
        buf_add_c(&b, "colour,where,label\n");
        for (size_t i = 0; i < TABLE_WORDS_MAX / 2; i++)
            buf_printf(&b, "a%zu,b%zu,%zu\n", i, i, i % 2);
        if (over)
            buf_add_c(&b, "a0,c,0\n");
        assert_int_equal(csv_check(a, buf_str(&b), &mixed, &t, &e), over ? ERR_LIMIT : ERR_OK);
        if (over)
            assert_non_null(strstr(e.msg, "row 8194, column 2 (where): the table has more than the"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_accepted), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_long_rows), cmocka_unit_test(test_words_and_missing), cmocka_unit_test(test_most_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
