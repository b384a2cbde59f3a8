/* SPDX-License-Identifier: Apache-2.0 */
/* test_batch_table.c - rows of tables through models: every row of every block is its own answer, in both forms of the result;
 * words are the model's, not the table's; what does not fit is refused with its row and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/data/data_format.h"
#include "core/data/npy.h"
#include "infer_kit.h"
#include "workers/lease/batch_table.h"

enum { TEXT_MAX = 1 << 24, ROWS = 2 * BATCH_ROWS + 77 };
static struct infer_model *model;
static struct arena *arena;

static int begin(void **st)
{
    (void)st;
    model = kit_model_of_two();
    arena = arena_new((size_t)1 << 30);
    return 0;
}

static int end(void **st)
{
    (void)st;
    infer_model_free(model);
    arena_free(arena);
    return 0;
}

static const struct data_table *table_of(const char *csv, const struct data_schema *s)
{
    struct data_table *t = ARENA_NEW(arena, struct data_table);
    struct err e = { 0 };
    if (data_formats[DATA_CSV].read(arena, str_c(csv), s, t, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return t;
}

static const struct data_schema NO_LABEL = { .target = TARGET_NONE };

/* Everything that comes out. NULL: refused, with e. */
static struct batch_table *pass(const struct infer_model *m, const struct data_table *t, const char *keep, int result,
                                struct buf *out, struct err *e)
{
    struct str name = str_c(keep ? keep : "");
    struct batch_table *b = NULL;
    *out = BUF(TEXT_MAX);
    *e = (struct err){ 0 };
    enum errc rc = batch_table_new(arena, m, t, (struct slice){ &name, keep != NULL }, result, 2, false, 0, &b, e);
    if (rc == ERR_OK)
        batch_table_head(b, out);
    while (rc == ERR_OK && b->done < t->rows)
        rc = batch_table_rows(b, out, e);
    batch_table_free(b);
    return rc == ERR_OK ? b : NULL;
}

/* ids 0, 1, 2 add (0,0), (10,20), (1,-1). */
static void expect_row(size_t r, double v[5])
{
    static const double add[3][2] = { { 0, 0 }, { 10, 20 }, { 1, -1 } };
    v[0] = (double)r * 0.25 + add[r % 3][0];
    v[1] = -(double)r + add[r % 3][1];
    v[2] = v[1] > v[0];
    v[3] = v[0] > 5;
    v[4] = v[1] > 5;
}

static const struct data_table *many(void)
{
    struct buf csv = BUF(TEXT_MAX);
    buf_add_c(&csv, "a,b,id\n");
    for (size_t r = 0; r < ROWS; r++)
        buf_printf(&csv, "%.2f,%ld,%zu\n", (double)r * 0.25, -(long)r, r % 3);
    buf_add_char(&csv, '\0');
    const struct data_table *t = table_of(csv.ptr, &NO_LABEL);
    buf_release(&csv);
    return t;
}

static void test_every_row_of_every_block(void **st)
{
    (void)st;
    struct err e;
    CLEANUP(buf_releasep) struct buf out = BUF(0);
    struct str rest, line;
    assert_non_null(pass(model, many(), NULL, BATCH_CSV, &out, &e));
    assert_true(str_cut(buf_str(&out), '\n', &line, &rest));
    assert_true(str_eq_c(line, "sum_0,sum_1,best,is_big_0,is_big_1"));
    for (size_t r = 0; r < ROWS; r++) {
        double v[5];
        expect_row(r, v);
        assert_true(str_cut(rest, '\n', &line, &rest));
        struct str want = str_fmt(arena, "%.9g,%.9g,%.0f,%.0f,%.0f", v[0], v[1], v[2], v[3], v[4]);
        if (!str_eq(line, want))
            fail_msg("row %zu is %.*s, not %.*s", r, STR_ARG(line), STR_ARG(want));
    }
    assert_int_equal(rest.len, 0);
}

static void test_an_array_has_the_same_numbers(void **st)
{
    (void)st;
    struct err e;
    struct npy a;
    CLEANUP(buf_releasep) struct buf all = BUF(0), sums = BUF(0);
    assert_non_null(pass(model, many(), NULL, BATCH_NPY, &all, &e));
    assert_int_equal(npy_parse(buf_str(&all), &a, &e), ERR_OK);
    assert_true(a.rank == 2 && a.dim[0] == ROWS && a.dim[1] == 5 && a.width == 8);
    for (size_t i = 0; i < ROWS * 5; i++) {
        double v[5];
        expect_row(i / 5, v);
        assert_true(npy_real(&a, i) == v[i % 5]);
    }
    assert_non_null(pass(model, many(), "sum", BATCH_NPY, &sums, &e));
    assert_int_equal(npy_parse(buf_str(&sums), &a, &e), ERR_OK);
    assert_true(a.dim[1] == 2 && a.width == 4 && npy_real(&a, 2) == 10.25);
}

static void test_words_are_the_models(void **st)
{
    (void)st;
    static const struct str words[] = { { "colour", 6 }, { "where", 5 } };
    const struct data_schema s = { .target = TARGET_NONE, .categories = { (void *)words, 2 }, .has_missing = true };
    struct infer_model *m = kit_model_of_words("[[\"red\",\"blue\"],[\"north\"]]");
    struct err e;
    CLEANUP(buf_releasep) struct buf out = BUF(0);
    const struct data_table *t = table_of("colour,p,q,where\nblue,1,,north\ngreen,2,3,\nred,4,5,south\n", &s);
    assert_non_null(pass(m, t, NULL, BATCH_CSV, &out, &e));
    buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, "y_0,y_1,y_2,y_3\n1,,1,0\n2,3,,\n4,5,0,\n");
    infer_model_free(m);
}

static void test_what_does_not_fit_is_refused(void **st)
{
    (void)st;
    static const struct { const char *csv, *keep, *why; } rows[] = {
        { "a,b\n1,2\n", NULL, "has 2 columns of numbers and 0 of words; the model takes 3 and 0: " KIT_MODEL_TAKES },
        { "a,b,id\n1,2,0\n1,2,3\n", NULL, "row 2, column \"id\": 3 is no whole number of 0 to 2, which \"ids\" takes" },
        { "a,b,id\n1,2,0.5\n", NULL, "row 1, column \"id\": 0.5 is no whole number" },
        { "a,b,id\n1,2,-1\n", NULL, "row 1, column \"id\": -1 is no whole number" },
        { "a,b,id\n1,2,0\n", "other", "there is no output \"other\"; the model gives sum FP32[-1,2]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e;
        CLEANUP(buf_releasep) struct buf out = BUF(0);
        if (pass(model, table_of(rows[i].csv, &NO_LABEL), rows[i].keep, BATCH_CSV, &out, &e) || !strstr(e.msg, rows[i].why))
            fail_msg("%zu: \"%s\" does not say \"%s\"", i, e.msg, rows[i].why);
    }
    const struct data_schema empty = { .target = TARGET_NONE, .has_missing = true };
    CLEANUP(buf_releasep) struct buf out = BUF(0);
    struct err e;
    assert_null(pass(model, table_of("a,b,id\n1,,0\n", &empty), NULL, BATCH_CSV, &out, &e));
    assert_non_null(strstr(e.msg, "row 1, column \"b\" is empty, and the model takes no missing values"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_row_of_every_block),
                                        cmocka_unit_test(test_an_array_has_the_same_numbers),
                                        cmocka_unit_test(test_words_are_the_models),
                                        cmocka_unit_test(test_what_does_not_fit_is_refused) };
    return cmocka_run_group_tests(tests, begin, end);
}
