/* SPDX-License-Identifier: Apache-2.0 */
/* test_infer_answer.c - the same numbers as JSON and as bytes, of every datatype. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "infer_kit.h"

/* The answer of the model of two; returns the length of its JSON when bytes follow it, otherwise 0. */
static size_t ask(bool binary, struct buf *ret)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
    struct infer_model *m = kit_model_of_two();
    struct infer_call c = kit_call(m, a);
    struct err e = { 0 };
    struct infer_session *s;
    size_t json;
    struct str body = str_fmt(a,
              "{\"parameters\":{\"binary_data_output\":%s},\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2,2],"
                              "\"data\":[1,2,3,4]},{\"name\":\"ids\",\"datatype\":\"INT64\",\"shape\":[2],\"data\":[1,2]}]}",
                              binary ? "true" : "false");
    if (infer_read(&c, STR_NULL, body, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_run(s, &c.io, c.rows, &e), ERR_OK);
    infer_session_free(s);
    assert_int_equal(infer_answer(&c, ret, &json, &e), ERR_OK);
    infer_model_free(m);
    return json;
}

static void test_json(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    assert_int_equal(ask(false, &b), 0);
    assert_string_equal(b.ptr,
        "{\"model_name\":\"two\",\"model_version\":\"3\",\"outputs\":[{\"name\":\"sum\",\"datatype\":\"FP32\",\"shape\":[2,2],"
                               "\"data\":[11,22,4,3]},{\"name\":\"best\",\"datatype\":\"INT64\",\"shape\":[2],\"data\":[1,0]},"
                               "{\"name\":\"is_big\",\"datatype\":\"BOOL\",\"shape\":[2,2],\"data\":[true,true,false,false]}]}");
}

static void test_binary(void **st)
{
    (void)st;
    static const char want[] =
        "{\"model_name\":\"two\",\"model_version\":\"3\",\"outputs\":[{\"name\":\"sum\",\"datatype\":\"FP32\",\"shape\":[2,2],"
               "\"parameters\":{\"binary_data_size\":16}},{\"name\":\"best\",\"datatype\":\"INT64\",\"shape\":[2],"
               "\"parameters\":{\"binary_data_size\":16}},{\"name\":\"is_big\",\"datatype\":\"BOOL\",\"shape\":[2,2],"
                               "\"parameters\":{\"binary_data_size\":4}}]}";
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    size_t json = ask(true, &b);
    assert_int_equal(json, sizeof want - 1);
    assert_memory_equal(b.ptr, want, json);
    assert_int_equal(b.len, json + 36);
    assert_memory_equal(b.ptr + json, ((const float[]){ 11, 22, 4, 3 }), 16);
    assert_memory_equal(b.ptr + json + 16, ((const int64_t[]){ 1, 0 }), 16);
    assert_memory_equal(b.ptr + json + 32, "\1\1\0\0", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_json), cmocka_unit_test(test_binary) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
