/* SPDX-License-Identifier: Apache-2.0 */
/* test_direct.c - a model made smaller without rows: it answers nearly the same, by bytes of less, and what has nothing to be
 * made smaller is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../onnx/onnx_kit.h"
#include "workers/compute/optimise/optimise.h"
#include "workers/compute/rng.h"

enum { IN = 96, OUT = 64, ROWS = 5 };

/* y = relu(x · w); without a product: y = relu(x). */
static void make(struct buf *file, bool has_product)
{
    static float w[IN * OUT];
    struct buf g = BUF(KIT_BYTES);
    struct err e = { 0 };
    *file = BUF(KIT_BYTES);
    for (size_t i = 0; i < IN * OUT; i++)
        w[i] = (float)philox_normal(1, 2, i);
    kit_input(&g, "x", KIT_DIMS(-1, IN));
    kit_tensor(&g, 5, "w", ONNX_FLOAT, KIT_DIMS(IN, OUT), w, sizeof w);
    if (has_product)
        kit_node(&g, "MatMul", "x,w", "h", NULL);
    kit_node(&g, "Relu", has_product ? "h" : "x", "y", NULL);
    kit_output(&g, "y");
    assert_int_equal(kit_convert(&g, 17, file, &e), ERR_OK);
}

static void answer(const struct buf *file, const float *x, float *y)
{
    struct infer_model *m;
    struct infer_session *s;
    struct err e = { 0 };
    if (infer_model_load(&backend_ref, NULL, file->ptr, file->len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_run(s, &(struct infer_io){ .in = { x }, .out = { y } }, ROWS, &e), ERR_OK);
    infer_session_free(s);
    infer_model_free(m);
}

static void nearly_the_same_by_less(void **st)
{
    (void)st;
    static const double most[] = { [OPTIMISE_INT8] = 2e-2, [OPTIMISE_BF16] = 5e-3 };
    static float x[ROWS * IN], want[ROWS * OUT], got[ROWS * OUT];
    CLEANUP(buf_releasep) struct buf file = BUF(0);
    make(&file, true);
    for (size_t i = 0; i < ROWS * IN; i++)
        x[i] = (float)philox_normal(3, 4, i) * (i / IN ? 1 : 100);     /* a row has its own range */
    answer(&file, x, want);
    for (int p = OPTIMISE_INT8; p <= OPTIMISE_BF16; p++) {
        CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
        CLEANUP(buf_releasep) struct buf small = BUF(KIT_BYTES);
        struct err e = { 0 };
        if (optimise_direct(a, buf_str(&file), (enum optimise_precision)p, &small, &e) != ERR_OK)
            fail_msg("%s", e.msg);
        assert_true(small.len < file.len * (p == OPTIMISE_INT8 ? 5 : 7) / 10);
        answer(&small, x, got);
        for (size_t r = 0; r < ROWS; r++) {
            double apart = 0, all = 0;
            for (size_t i = r * OUT; i < (r + 1) * OUT; i++) {
                apart += (double)(got[i] - want[i]) * (double)(got[i] - want[i]);
                all += (double)want[i] * (double)want[i];
            }
            assert_true(apart > 0 && sqrt(apart / all) < most[p]);
        }
    }
}

static void nothing_to_make_smaller(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    CLEANUP(buf_releasep) struct buf file = BUF(0), small = BUF(KIT_BYTES);
    struct err e = { 0 };
    make(&file, false);
    assert_int_equal(optimise_direct(a, buf_str(&file), OPTIMISE_BF16, &small, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "no product or convolution"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nearly_the_same_by_less), cmocka_unit_test(nothing_to_make_smaller) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
