/* SPDX-License-Identifier: Apache-2.0 */
/* test_ort_model.c - a model behind the engine: numbers of every type that is taken, rows put and taken in parts, and what comes
 * out held against the signature at each call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ort_kit.h"

static void test_session_is_quiet(void **st)
{
    (void)st;
    struct kit_engine k = { 0 };
    struct fake_ort_told *told = kit_told();
    told->pairs[0] = 0;
    struct infer_model *m = kit_odd(&k, "Twice", ONNX_FLOAT, KIT_DIMS(-1, 3));
    assert_int_equal(told->threads, 1);
    assert_int_equal(told->branches, 1);
    assert_int_equal(told->level, 99);
    assert_non_null(strstr(told->pairs, "session.load_model_format=ONNX;session.use_env_allocators=1;"));
    assert_string_equal(infer_model_info(m)->engine, "ONNX Runtime 1.0-fake");
    infer_model_free(m);
    ort_free(k.ort);
    assert_int_equal(told->alive, 0);
}

/* 5 rows in slices of what the model takes at once, twice each. */
static void test_rows(void **st)
{
    (void)st;
    struct kit_engine k = { 0 };
    struct infer_session *s;
    struct err e;
    float x[15], y[15] = { 0 }, two[6];
    struct infer_model *m = kit_odd(&k, "Twice", ONNX_FLOAT, KIT_DIMS(-1, 3));
    assert_true(infer_model_info(m)->has_rows && infer_model_info(m)->max_rows == INFER_ROWS);
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    for (int i = 0; i < 15; i++)
        x[i] = (float)i;
    assert_int_equal(infer_run(s, &(struct infer_io){ .in = { x }, .out = { y } }, 5, &e), ERR_OK);
    for (int i = 0; i < 15; i++)
        assert_true(y[i] == 2 * x[i]);
    infer_put(s, 0, &(struct infer_io){ .in = { x } }, 1);
    infer_put(s, 1, &(struct infer_io){ .in = { x + 9 } }, 2);
    assert_int_equal(infer_compute(s, 3, &e), ERR_OK);
    infer_take(s, 1, 2, &(struct infer_io){ .out = { two } });
    assert_true(two[0] == 18 && two[5] == 28);
    infer_session_free(s);
    infer_model_free(m);
    ort_free(k.ort);
    assert_int_equal(kit_told()->alive, 0);
}

static void test_types(void **st)
{
    (void)st;
    static const float real[3] = { 3, -1.4f, 300 };
    static const int32_t whole[3] = { 3, -7, 1 << 30 };
    static const struct { int type; bool is_whole; float want[3]; } rows[] = {
        { ONNX_FLOAT, false, { 6, -2.8f, 600 } }, { ONNX_DOUBLE, false, { 6, -2.8f, 600 } }, { ONNX_UINT8, false, { 6, 0, 510 } },
        { ONNX_INT8, false, { 6, -2, 254 } }, { ONNX_BOOL, false, { 2, 2, 2 } }, { ONNX_INT64, true, { 6, -14, 2147483648.f } },
        { ONNX_INT32, true, { 6, -14, 2147483648.f } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit_engine k = { 0 };
        struct infer_session *s;
        struct err e;
        float y[3];
        struct infer_model *m = kit_odd(&k, "Twice", rows[i].type, KIT_DIMS(-1, 3));
        assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
        const void *x = rows[i].is_whole ? (const void *)whole : (const void *)real;
        assert_int_equal(infer_run(s, &(struct infer_io){ .in = { x }, .out = { y } }, 1, &e), ERR_OK);
        for (int n = 0; n < 3; n++)
            if (y[n] != rows[i].want[n])
                fail_msg("type %d, number %d: %g, not %g", rows[i].type, n, (double)y[n], (double)rows[i].want[n]);
        infer_session_free(s);
        infer_model_free(m);
        ort_free(k.ort);
    }
}

/* What a call may not give: other numbers of the same model go on. */
static void test_calls_that_do_not_fit(void **st)
{
    (void)st;
    static const struct { const char *op, *why; } rows[] = {
        { "Growing", "output \"y\" has another shape or type" },
        { "Counted", "output \"y\": number 0, 1099511627776, is beyond 32" },
        { "Angry", "ONNX Runtime: a call: a number is beyond 100" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit_engine k = { 0 };
        struct infer_session *s;
        struct err e;
        const float much[2] = { 101, 1 }, few[2] = { 3, 1 };
        float y[2];
        struct infer_model *m = kit_odd(&k, rows[i].op, ONNX_FLOAT, KIT_DIMS(-1, 2));
        assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
        assert_int_equal(infer_run(s, &(struct infer_io){ .in = { much }, .out = { y } }, 1, &e), ERR_UNPROCESSABLE);
        assert_non_null(strstr(e.msg, rows[i].why));
        assert_int_equal(infer_run(s, &(struct infer_io){ .in = { few }, .out = { y } }, 1, &e), ERR_OK);
        infer_session_free(s);
        infer_model_free(m);
        ort_free(k.ort);
        assert_int_equal(kit_told()->alive, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_session_is_quiet), cmocka_unit_test(test_rows),
                                        cmocka_unit_test(test_types), cmocka_unit_test(test_calls_that_do_not_fit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
