/* SPDX-License-Identifier: Apache-2.0 */
/* test_data_format.c - a format by its name and by how a file begins; in pieces of any size a content is judged as in one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "table_kit.h"

static void test_pieces(void **st)
{
    (void)st;
    struct str whole = cells(CELLS, 2, 5);
    const struct data_schema schema = { .label = STR("4"), .classes = 2 };
    for (size_t step = 1; step < whole.len; step += 3) {
        struct data_checker c;
        struct data_found found;
        struct err e = { 0 };
        assert_int_equal(data_checker_new(arena, DATA_NPY, &schema, whole.len, &c, &e), ERR_OK);
        for (size_t at = 0; at < whole.len; at += step)
            assert_int_equal(data_checker_add(&c, whole.ptr + at, whole.len - at < step ? whole.len - at : step, &e), ERR_OK);
        assert_int_equal(data_checker_add(&c, "x", 1, &e), ERR_BAD_DATA);
        assert_int_equal(data_checker_end(&c, &found, &e), ERR_OK);
        assert_true(found.rows == 2 && found.columns == 4 && found.classes == 2);
    }
}

/* Nothing but the worker that converts it reads a model. */
static void test_a_model_is_taken_as_it_is(void **st)
{
    (void)st;
    struct data_found found = { 1, 1, 1 };
    struct err e = { 0 };
    assert_int_equal(data_check(arena, DATA_ONNX, &(struct data_schema){ .classes = 2 }, STR("a,b\n1"), &found, &e), ERR_OK);
    assert_true(!found.rows && !found.columns && !found.classes);
    assert_int_equal(data_check(arena, DATA_ONNX, &(struct data_schema){ .classes = 2 }, STR(""), &found, &e), ERR_BAD_DATA);
}

static void test_formats(void **st)
{
    (void)st;
    assert_int_equal(data_format_guess(cells(CELLS, 2, 5)), DATA_NPY);
    assert_int_equal(data_format_guess(STR("FTOK")), DATA_TOKENS);
    assert_int_equal(data_format_guess(STR("a,b\n")), DATA_CSV);
    char tar[512] = "index.json";
    memcpy(tar + 257, "ustar", 5);
    assert_int_equal(data_format_guess(str_n(tar, sizeof tar)), DATA_OCI);
    assert_int_equal(data_format_guess(str_n(tar, 261)), DATA_CSV);
    assert_int_equal(data_format_guess(STR("\x08\x0a\x12\x07")), DATA_ONNX);
    for (int i = 0; i < DATA_FORMATS; i++)
        assert_int_equal(data_format_of(str_c(data_format_names[i])), i);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pieces), cmocka_unit_test(test_formats),
                                        cmocka_unit_test(test_a_model_is_taken_as_it_is) };
    return cmocka_run_group_tests(tests, make, drop);
}
