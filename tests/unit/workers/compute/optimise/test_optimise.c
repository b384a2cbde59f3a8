/* SPDX-License-Identifier: Apache-2.0 */
/* test_optimise.c - networks made smaller: what changes in the graph, in bytes and in the answers, on each backend. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../onnx/onnx_kit.h"
#include "workers/compute/optimise/optimise.h"

enum { COLS = 48, HIDDEN = 64, CLASSES = 5, ROWS = 600, ARENA = 64 << 20 };

static float x[ROWS * COLS], w1[COLS * HIDDEN], w2[HIDDEN * CLASSES], wc[8 * 3 * 9], y[ROWS * CLASSES];
static int32_t label[ROWS];

static void fill(float *p, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        p[i] = (float)(int32_t)(seed >> 32) / 2147483648.0f;
    }
}

/* pixels [-1, 48] -> as an image 3x4x4, a convolution with a bias, Relu -> 128 numbers -> classes. */
static struct buf net(bool has_conv)
{
    struct buf g = BUF(KIT_BYTES), attrs = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, COLS));
    if (has_conv) {
        KIT_I64(&g, "image", ((int64_t[]){ -1, 3, 4, 4 }), 4);
        KIT_F32(&g, "wc", wc, 8, 3, 3, 3);
        kit_ints(&attrs, "pads", (int64_t[]){ 1, 1, 0, 0 }, 4);
        kit_ints(&attrs, "strides", (int64_t[]){ 1, 1 }, 2);
        kit_node(&g, "Reshape", "x,image", "i", NULL);
        kit_node(&g, "Conv", "i,wc", "c", &attrs);
        kit_node(&g, "Relu", "c", "r", NULL);
        kit_node(&g, "Flatten", "r", "f", NULL);
        kit_tensor(&g, 5, "w1", ONNX_FLOAT, KIT_DIMS(72, 32), w1, 72 * 32 * sizeof *w1);
    } else {
        KIT_F32(&g, "w1", w1, COLS, HIDDEN);
    }
    kit_node(&g, "MatMul", has_conv ? "f,w1" : "x,w1", "h", NULL);
    kit_node(&g, "Relu", "h", "hr", NULL);
    kit_tensor(&g, 5, "w2", ONNX_FLOAT, KIT_DIMS(has_conv ? 32 : HIDDEN, CLASSES), w2,
               (has_conv ? 32 : HIDDEN) * CLASSES * sizeof *w2);
    kit_node(&g, "MatMul", "hr,w2", "scores", NULL);
    kit_output(&g, "scores");
    return g;
}

static struct buf model_of(bool has_conv)
{
    struct buf g = net(has_conv), file = BUF(KIT_BYTES);
    struct err e = { 0 };
    if (kit_convert(&g, 17, &file, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return file;
}

/* Rows are labelled as the model does, so that it is right for all of them. */
static void label_rows(const struct buf *file)
{
    struct infer_model *m;
    struct infer_session *s;
    struct err e;
    assert_int_equal(infer_model_load(&backend_ref, NULL, file->ptr, file->len, &m, &e), ERR_OK);
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_run(s, &(struct infer_io){ .in = { x }, .out = { y } }, ROWS, &e), ERR_OK);
    for (size_t r = 0; r < ROWS; r++) {
        label[r] = 0;
        for (int k = 1; k < CLASSES; k++)
            label[r] = y[r * CLASSES + (size_t)k] > y[r * CLASSES + (size_t)label[r]] ? k : label[r];
    }
    infer_session_free(s);
    infer_model_free(m);
}

static enum errc run(const struct backend *be, const struct buf *model, struct optimise_task t, struct buf *file,
                     struct optimise_report *r, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    const struct data_table table = { .rows = ROWS, .cols = COLS, .classes = CLASSES, .x = x, .labels = label };
    t.backend = be;
    t.model = buf_str(model);
    t.table = t.table ? t.table : &table;
    t.calibration_rows = t.calibration_rows ? t.calibration_rows : 512;
    t.parent = STR("mdl_x@3");
    *e = (struct err){ 0 };
    return optimise_run(a, &t, file, r, e);
}

static bool has_text(const struct buf *file, const char *text)
{
    for (size_t i = 0; i + strlen(text) <= file->len; i++)
        if (!memcmp(file->ptr + i, text, strlen(text)))
            return true;
    return false;
}

static void test_every_form(void **st)
{
    (void)st;
    struct hw hw;
    hw_read(&hw);
    fill(x, ROWS * COLS, 1), fill(w1, COLS * HIDDEN, 2), fill(w2, HIDDEN * CLASSES, 3), fill(wc, 8 * 27, 4);
    for (int has_conv = 0; has_conv < 2; has_conv++) {
        CLEANUP(buf_releasep) struct buf model = model_of(has_conv);
        label_rows(&model);
        for (const struct backend *const *be = backend_list(); *be; be++)
            for (int form = 0; form < 4 && (*be)->probe(&hw); form++) {
                CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
                struct optimise_report r;
                struct err e;
                struct optimise_task t = { .precision = form == 3 ? OPTIMISE_BF16 : OPTIMISE_INT8,
                                           .rule = (enum range_rule)(form % 3), .percentile = 99.99 };
                if (run(*be, &model, t, &file, &r, &e) != ERR_OK)
                    fail_msg("%s, form %d: %s", (*be)->name, form, e.msg);
                assert_true(r.accuracy_before == 1 && r.accuracy_after == r.agreement);
                if (!(r.accuracy_after >= (form == 3 ? 0.98 : 0.93)))
                    fail_msg("%s, conv %d, form %d: %g of the rows", (*be)->name, has_conv, form, r.accuracy_after);
                assert_int_equal(r.changed, 2 + has_conv);
                assert_int_equal(r.calibration_rows, form == 3 ? 0 : ROWS / 4);
                assert_int_equal(r.evaluation_rows, ROWS - ROWS / 4);
                assert_int_equal(r.bytes_after, file.len);
                assert_true(r.bytes_after < r.bytes_before && r.latency_us_before > 0 && r.latency_us_after > 0);
                assert_true(form == 3 || r.memory_after < r.memory_before / 2);
                assert_true(has_text(&file, form == 3 ? "cast" : "qmatmul") && has_text(&file, "mdl_x@3"));
                assert_int_equal(has_text(&file, "qconv2d"), has_conv && form != 3);
            }
    }
}

/* Ranges that are far too small cost accuracy, which the report says; what was made smaller has nothing left to change. */
static void test_report_and_refusals(void **st)
{
    (void)st;
    CLEANUP(buf_releasep) struct buf model = model_of(false), file = BUF(KIT_BYTES), again = BUF(KIT_BYTES);
    struct optimise_report r;
    struct err e;
    label_rows(&model);
    const struct optimise_task bad = { .rule = RANGE_PERCENTILE, .percentile = 50, .calibration_rows = 3 };
    assert_int_equal(run(&backend_ref, &model, bad, &file, &r, &e), ERR_OK);
    assert_int_equal(r.calibration_rows, 3);
    assert_true(r.accuracy_after < 0.9);
    assert_int_equal(run(&backend_ref, &file, (struct optimise_task){ 0 }, &again, &r, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "no product or convolution by constant weights"));
    const struct data_table narrow = { .rows = ROWS, .cols = COLS - 1, .classes = CLASSES, .x = x, .labels = label };
    assert_int_equal(run(&backend_ref, &model, (struct optimise_task){ .table = &narrow }, &again, &r, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "expected one input of 47 numbers a row"));
    const struct data_table numbers = { .rows = ROWS, .cols = COLS, .x = x, .targets = y, .target_count = 1 };
    assert_int_equal(run(&backend_ref, &model, (struct optimise_task){ .table = &numbers }, &again, &r, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "the label of the data set is no class"));
    const struct data_table single = { .rows = 1, .cols = COLS, .classes = CLASSES, .x = x, .labels = label };
    assert_int_equal(run(&backend_ref, &model, (struct optimise_task){ .table = &single }, &again, &r, &e), ERR_BAD_DATA);
    model.len /= 2;
    assert_int_equal(run(&backend_ref, &model, (struct optimise_task){ 0 }, &again, &r, &e), ERR_BAD_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_form), cmocka_unit_test(test_report_and_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
