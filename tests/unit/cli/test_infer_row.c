/* SPDX-License-Identifier: Apache-2.0 */
/* test_infer_row.c - a row of numbers and words as a request: by place, by name, and what is told of cells that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/infer_row.h"
#include "core/base/cleanup.h"

static const char mixed[] =
    "{\"inputs\":[{\"name\":\"input\",\"datatype\":\"FP32\",\"shape\":[-1,2],\"parameters\":{\"columns\":[\"size\",\"age\"]}},"
    "{\"name\":\"categories\",\"datatype\":\"BYTES\",\"shape\":[-1,1],\"parameters\":{\"columns\":[\"colour\"]}}]}";
static const char digits[] = "{\"inputs\":[{\"name\":\"input\",\"datatype\":\"FP32\",\"shape\":[-1,3]}]}";
static const char tokens[] = "{\"inputs\":[{\"name\":\"tokens\",\"datatype\":\"INT64\",\"shape\":[-1,2]}]}";

/* want: what stands in the request, or in the error. */
static void row(const char *meta, const char *text, bool is_good, const char *want)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4 << 20);
    const struct jval *v = NULL;
    struct str got = STR_NULL;
    struct err e = { 0 };
    assert_int_equal(jval_parse(a, str_c(meta), 0, &v, &e), ERR_OK);
    enum errc rc = infer_row(a, str_c(text), v, NULL, &got, &e);
    const char *said = rc == ERR_OK ? got.ptr : e.msg;
    if ((rc == ERR_OK) != is_good || (rc != ERR_OK && rc != ERR_INVALID) || !strstr(said, want))
        fail_msg("%s gives %s", text, said);
}

static void test_by_place(void **st)
{
    (void)st;
    row(digits, "1, 2.5,-3e2", true,
        "{\"inputs\":[{\"name\":\"input\",\"shape\":[1,3],\"datatype\":\"FP32\",\"data\":[1,2.5,-3e2]}]}");
    row(mixed, "0.5,30,red", true,
        "\"data\":[0.5,30]},{\"name\":\"categories\",\"shape\":[1,1],\"datatype\":\"BYTES\",\"data\":[\"red\"]}");
    row(mixed, "0.5,,\"dark, \"\"blue\"\"\"", true, "[0.5,null]},{\"name\":\"categories\",\"shape\":[1,1],\"datatype\":\"BYTES\","
        "\"data\":[\"dark, \\\"blue\\\"\"]");
    row(mixed, ",,", true, "\"data\":[null]");
    row(mixed, ",,\"\"", true, "\"data\":[\"\"]");
    row(tokens, "7,9", true, "\"datatype\":\"INT64\",\"data\":[7,9]");
}

static void test_by_name(void **st)
{
    (void)st;
    row(mixed, "colour=red,size=0.5", true,
        "\"data\":[0.5,null]},{\"name\":\"categories\",\"shape\":[1,1],\"datatype\":\"BYTES\","
        "\"data\":[\"red\"]");
    row(mixed, "colour=\"a,b=c\"", true, "\"data\":[\"a,b=c\"]");
    row(mixed, "size=0.5,30", false, "'30' names no column; the first cell does, so each must be NAME=VALUE");
    row(mixed, "size=1,size=2", false, "the column size is given twice");
    row(mixed, "size=small", false, "'small' is no number, which the model takes as size");
    row(mixed, "1,2,a=b", true, "\"data\":[\"a=b\"]");         /* a word, not a name */
}

static void test_what_is_wrong_is_told(void **st)
{
    (void)st;
    row(digits, "1,2", false, "the model takes 3 values in a row; 2 are given");
    row(mixed, "colr=red", false, "'colr' names no column; the model's 3 are size, ");
    row(mixed, "red,30,1", false, "'red' is no number, which the model takes as size");
    row(mixed, "1,2,\"red", false, "a quote is open to the end of the row");
    row(digits, "1,2,\xff", false, "the row is not UTF-8");
    row("{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,99999999]}]}", "1", false,
        "give its request as a file");
    row("{\"inputs\":[]}", "1", false, "give its request as a file");
}

static void test_named_input_needs_no_model(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(4 << 20);
    struct str got;
    struct err e = { 0 };
    assert_int_equal(infer_row(a, STR("1,2"), NULL, "pixels", &got, &e), ERR_OK);
    assert_string_equal(got.ptr, "{\"inputs\":[{\"name\":\"pixels\",\"shape\":[1,2],\"datatype\":\"FP32\",\"data\":[1,2]}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_by_place), cmocka_unit_test(test_by_name),
                                        cmocka_unit_test(test_what_is_wrong_is_told),
                                        cmocka_unit_test(test_named_input_needs_no_model) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
