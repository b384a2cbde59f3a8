/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_onnx.c - a model file that carries an ONNX model comes back to the byte, piece by piece as well; others are refused.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "core/base/cleanup.h"
#include "core/data/model_mlp.h"
#include "core/data/model_onnx.h"

static const struct model_sig sig = { .inputs = { { STR("x"), STR("FP32"), 2, { -1, 3 } } },
                                      .outputs = { { STR("y"), STR("FP32"), 2, { -1, 2 } } }, .input_count = 1,
                                      .output_count = 1 };

static void test_there_and_back(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 22);
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    const struct st_pair more = { STR(MODEL_ONNX_UNSUPPORTED), STR("node 3") };
    struct model_sig *back = ARENA_NEW(a, struct model_sig);
    struct st_file f;
    struct err e;
    assert_int_equal(model_onnx_write(a, STR("\x08\x07onnx\xff\x80\x7f\xc0"), &sig, &more, 1, &b, &e), ERR_OK);
    assert_int_equal(st_parse(a, b.ptr, b.len, &f, &e), ERR_OK);
    assert_true(model_onnx_is(&f));
    assert_int_equal(model_onnx_check(a, &f, back, &e), ERR_OK);
    assert_true(str_eq(model_onnx_bytes(&f), STR("\x08\x07onnx\xff\x80\x7f\xc0")));
    assert_true(back->input_count == 1 && str_eq_c(back->outputs[0].name, "y"));
    assert_true(str_eq_c(st_meta(&f, MODEL_ONNX_UNSUPPORTED), "node 3"));
    for (size_t piece = 1; piece < 9; piece += 3) {
        struct model_stream s = { .arena = a, .size_bytes = b.len };
        struct model_mlp none;
        for (size_t at = 0; at < b.len; at += piece)
            assert_int_equal(model_stream_add(&s, b.ptr + at, b.len - at < piece ? b.len - at : piece, &e), ERR_OK);
        assert_int_equal(model_stream_end(&s, &none, &e), ERR_OK);
        assert_true(s.inputs == 3 && s.outputs == 2);
        model_stream_release(&s);
    }
}

static void test_refused(void **st)
{
#define X(name, shape) "{\"name\":\"" name "\",\"datatype\":\"FP32\",\"shape\":[" shape "]}"
    (void)st;
    static const struct { const char *format, *signature, *tensor; enum st_dtype dtype; uint32_t rank; } rows[] = {
        { "falaj-onnx-2", NULL, "onnx", ST_U8, 1 }, { MODEL_ONNX_FORMAT, "{}", "onnx", ST_U8, 1 },
        { MODEL_ONNX_FORMAT, NULL, "other", ST_U8, 1 }, { MODEL_ONNX_FORMAT, NULL, "onnx", ST_I8, 1 },
        { MODEL_ONNX_FORMAT, NULL, "onnx", ST_U8, 2 },
        { MODEL_ONNX_FORMAT, "{\"inputs\":[" X("x", "-1,3") "," X("z", "3") "],\"outputs\":[" X("y", "-1,2") "]}", "onnx",
          ST_U8, 1 },
        { MODEL_ONNX_FORMAT, "{\"inputs\":[" X("x", "-1,3") "],\"outputs\":[" X("y", "2") "]}", "onnx", ST_U8, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(1 << 22);
        CLEANUP(buf_releasep) struct buf signature = BUF(1 << 16);
        assert_true(model_sig_write(&signature, &sig));
        struct st_pair meta[] = { { STR("family"), STR("onnx") }, { STR("onnx_format"), str_c(rows[i].format) },
                                  { STR("signature"), rows[i].signature ? str_c(rows[i].signature) : buf_str(&signature) } };
        struct st_tensor t = { .name = str_c(rows[i].tensor), .dtype = rows[i].dtype, .rank = rows[i].rank, .shape = { 4, 1 },
                               .size_bytes = 4 };
        const struct st_file f = { .tensors = &t, .tensor_count = 1, .meta = meta, .meta_count = 3 };
        struct model_sig back;
        struct err e;
        assert_int_equal(model_onnx_check(a, &f, &back, &e), ERR_BAD_DATA);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
