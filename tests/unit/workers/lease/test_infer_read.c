/* SPDX-License-Identifier: Apache-2.0 */
/* test_infer_read.c - requests against a signature: JSON, binary tensors, and what each refusal says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "infer_kit.h"

static struct infer_model *model;
static struct arena *arena;

static int begin(void **st)
{
    (void)st;
    model = kit_model_of_two();
    arena = arena_new((size_t)64 << 20);
    return 0;
}

static int end(void **st)
{
    (void)st;
    infer_model_free(model);
    arena_free(arena);
    return 0;
}

#define X "{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[[1,2],[3,4]]}"
#define IDS "{\"name\":\"ids\",\"datatype\":\"INT64\",\"shape\":[2],\"data\":[0,2]}"
#define BODY(inputs, more) "{\"id\":\"a\",\"inputs\":[" inputs "]" more "}"

static void test_json_in_any_order_of_inputs(void **st)
{
    (void)st;
    struct infer_call c = kit_call(model, arena);
    struct err e = { 0 };
    assert_int_equal(infer_read(&c, STR_NULL, STR(BODY(IDS "," X, "")), &e), ERR_OK);
    const float *x = c.io.in[0];
    const int32_t *ids = c.io.in[1];
    assert_true(c.rows == 2 && x[0] == 1 && x[3] == 4 && ids[0] == 0 && ids[1] == 2 && str_eq_c(c.id, "a"));
    assert_true(c.is_wanted[0] && c.is_wanted[1] && c.is_wanted[2] && !c.is_binary[0] && c.io.out[2]);
    c = kit_call(model, arena);
    assert_int_equal(infer_read(&c, STR_NULL, STR(BODY(X "," IDS,
                               ",\"outputs\":[{\"name\":\"best\",\"parameters\":{\"binary_data\":true}}]")), &e), ERR_OK);
    assert_true(!c.is_wanted[0] && c.is_wanted[1] && c.is_binary[1] && !c.io.out[0]);
}

static void test_binary_tensors(void **st)
{
    (void)st;
    static const char json[] =
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1,2],\"parameters\":{\"binary_data_size\":8}},"
               "{\"name\":\"ids\",\"datatype\":\"INT64\",\"shape\":[1],\"parameters\":{\"binary_data_size\":8}}]}";
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    struct infer_call c = kit_call(model, arena);
    struct err e = { 0 };
    const float x[2] = { 0.25f, -3 };
    const int64_t id = 2;
    buf_add_c(&b, json);
    buf_add(&b, x, sizeof x);
    buf_add(&b, &id, sizeof id);
    struct str length = str_fmt(arena, "%zu", strlen(json));
    assert_int_equal(infer_read(&c, length, buf_str(&b), &e), ERR_OK);
    assert_memory_equal(c.io.in[0], x, sizeof x);
    assert_int_equal(*(const int32_t *)c.io.in[1], 2);
    c = kit_call(model, arena);
    assert_int_equal(infer_read(&c, length, str_n(b.ptr, b.len - 1), &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "inputs[1]: binary_data_size is 8 and 7 bytes are left; its shape needs 8"));
    c = kit_call(model, arena);
    buf_add_char(&b, 'x');
    assert_int_equal(infer_read(&c, length, buf_str(&b), &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "1 bytes behind the JSON belong to no input"));
    c = kit_call(model, arena);
    assert_int_equal(infer_read(&c, STR("9999"), buf_str(&b), &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "is no number of bytes within the body's"));
}

static void refused(const char *body, const char *why)
{
    struct infer_call c = kit_call(model, arena);
    struct err e = { 0 };
    assert_int_equal(infer_read(&c, STR_NULL, str_c(body), &e), ERR_INVALID);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
}

static void test_refusals_tell_what_the_model_takes(void **st)
{
    (void)st;
    refused(BODY(X, ""), "inputs: 1 are given; the model takes " KIT_MODEL_TAKES);
    refused(BODY(X "," X, ""), "inputs[1]: there is no input \"x\", or it is given twice; the model takes " KIT_MODEL_TAKES);
    refused("{\"inputs\":[" IDS ",{\"name\":\"z\"}]}", "inputs[1]: there is no input \"z\"");
    refused("{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP64\"}," IDS "]}",
            "inputs[0].datatype: \"x\" is FP32, not \"FP64\"; the model takes " KIT_MODEL_TAKES);
    refused(BODY("{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2,3],\"data\":[]}," IDS, ""),
            "inputs[0].shape: [2,3] does not fit; the model takes " KIT_MODEL_TAKES);
    refused(BODY("{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}," IDS, ""),
            "inputs[1].shape: [2] does not fit");
    refused(BODY("{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[0,2],\"data\":[]}," IDS, ""), "inputs[0].shape: [0,2]");
    refused(BODY("{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[99999999,2],\"data\":[]}," IDS, ""), "1 to 16384 rows");
    refused(BODY("{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1]}", "") , "inputs: 1 are given");
    refused(BODY(X ",{\"name\":\"ids\",\"datatype\":\"INT64\",\"shape\":[2],\"data\":[0,3]}", ""),
            "inputs[1]: number 1, 3, is not among the 0 to 2");
    refused(BODY(X ",{\"name\":\"ids\",\"datatype\":\"INT64\",\"shape\":[2],\"data\":[-1,0]}", ""), "number 0, -1, is not among");
    refused(BODY(X ",{\"name\":\"ids\",\"datatype\":\"INT64\",\"shape\":[2],\"data\":[0,1.5]}", ""), "one that is not whole");
    refused(BODY(X "," IDS, ",\"outputs\":[{\"name\":\"worst\"}]"),
            "outputs: there is no \"worst\"; the model gives sum FP32[-1,2], best INT64[-1]");
}

static void test_limits_of_the_caller(void **st)
{
    (void)st;
    struct infer_call c = kit_call(model, arena);
    struct err e = { 0 };
    struct str body = STR(BODY(X "," IDS, ",\"parameters\":{\"timeout\":250,\"priority\":7}"));
    assert_int_equal(infer_read(&c, STR_NULL, body, &e), ERR_OK);
    assert_true(c.timeout_us == 250 && c.priority == 7);
    c = kit_call(model, arena);
    assert_int_equal(infer_read(&c, STR_NULL, STR(BODY(X "," IDS, "")), &e), ERR_OK);
    assert_true(c.timeout_us == 0 && c.priority == 0);
    refused(BODY(X "," IDS, ",\"parameters\":{\"timeout\":-1}"), "parameters.timeout: a whole number of microseconds");
    refused(BODY(X "," IDS, ",\"parameters\":{\"timeout\":\"1s\"}"), "parameters.timeout: a whole number of microseconds");
    refused(BODY(X "," IDS, ",\"parameters\":{\"priority\":101}"), "parameters.priority: a whole number of 1 (first) to 100");
    refused(BODY(X "," IDS, ",\"parameters\":{\"priority\":true}"), "parameters.priority: a whole number of 1 (first) to 100");
}

static void words_are(const struct infer_call *c, const float *want)
{
    for (size_t i = 0; i < 4; i++) {
        float v = ((const float *)c->io.in[1])[i];
        assert_true(want[i] < 0 ? isnan(v) : v == want[i]);
    }
}

#define CATEGORIES "{\"name\":\"categories\",\"datatype\":\"BYTES\",\"shape\":[2,2],"

/* A word becomes its column's code; what has none, and what is missing, is NaN. */
static void test_words_and_missing_numbers(void **st)
{
    (void)st;
    struct infer_model *m = kit_model_of_words("[[\"red\",\"blue\"],[\"north\"]]");
    struct infer_call c = kit_call(m, arena);
    struct err e = { 0 };
    assert_non_null(m);
    assert_null(kit_model_of_words("[[\"red\"]]"));
    const char *json = "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[[1,null],[3,4.5]]},"
                       CATEGORIES "\"data\":[[\"blue\",\"north\"],[\"north\",null]]}]}";
    assert_int_equal(infer_read(&c, STR_NULL, str_c(json), &e), ERR_OK);
    const float *x = c.io.in[0];
    assert_true(x[0] == 1 && isnan(x[1]) && x[2] == 3 && x[3] == 4.5f);
    words_are(&c, (float[]){ 1, 0, -1, -1 });
    static const char head[] = "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[1,2,3,4]},"
                               CATEGORIES "\"parameters\":{\"binary_data_size\":29}}]}";
    static const char tail[] = "\3\0\0\0red\5\0\0\0south\0\0\0\0\5\0\0\0north";
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    buf_add_c(&b, head);
    buf_add(&b, tail, sizeof tail - 1);
    struct str length = str_fmt(arena, "%zu", sizeof head - 1);
    c = kit_call(m, arena);
    if (infer_read(&c, length, buf_str(&b), &e) != ERR_OK)
        fail_msg("%s", e.msg);
    words_are(&c, (float[]){ 0, -1, -1, 0 });
    c = kit_call(m, arena);
    assert_int_equal(infer_read(&c, length, str_n(b.ptr, b.len - 1), &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "inputs[1]: binary_data_size is 29 and 28 bytes are left; word 0 of 4 goes on behind them"));
    c = kit_call(m, arena);
    b.ptr[b.len - 9] = 4;
    assert_int_equal(infer_read(&c, length, buf_str(&b), &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "binary_data_size is 29; its 4 words have 28 bytes"));
    c = kit_call(m, arena);
    json = "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[1,2,3,4]},"
           CATEGORIES "\"data\":[\"red\",1,\"red\",\"red\"]}]}";
    assert_int_equal(infer_read(&c, STR_NULL, str_c(json), &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "inputs[1].data: shape says 4 words, data has 1 or something that is no text"));
    infer_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_json_in_any_order_of_inputs, begin, end),
        cmocka_unit_test_setup_teardown(test_binary_tensors, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals_tell_what_the_model_takes, begin, end),
        cmocka_unit_test_setup_teardown(test_limits_of_the_caller, begin, end),
        cmocka_unit_test_setup_teardown(test_words_and_missing_numbers, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
