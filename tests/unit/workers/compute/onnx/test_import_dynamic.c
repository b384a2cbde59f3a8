/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_dynamic.c - scales that are found at run time: DynamicQuantizeLinear's example, and a product of what it made
 * against the same from fp32. */
#include "q8_kit.h"

static void test_the_example(void **st)
{
    (void)st;
    struct buf g = kit_one_node("DynamicQuantizeLinear", "x", NULL, KIT_DIMS(6));
    KIT_EXPECT(&g, 17, ((const float[]){ 0, 2, -3, -2.5f, 1.34f, 0.5f }), 1, 153, 255, 0, 26, 221, 179);
}

/* What onnxruntime's dynamic quantisation writes, and the static pair around Gemm. */
static void test_products(void **st)
{
    (void)st;
    static const float x[] = { 0.5f, -1, 0.25f, 2, 1, 0.125f, -0.75f, 3 };
    static const int8_t w[] = { 10, -20, 30, 127, -128, 5, 6, 7, 8, -9, 11, 64 };      /* [4, 3] */
    static const float ws[] = { 0.01f, 0.02f, 0.005f };
    for (int is_static = 0; is_static < 2; is_static++) {
        struct buf g = BUF(KIT_BYTES), to = BUF(64), axis = BUF(64);
        float got[KIT_OUT];
        kit_input(&g, "x", KIT_DIMS(-1, 4));
        kit_tensor(&g, 5, "w", ONNX_INT8, KIT_DIMS(4, 3), w, sizeof w);
        kit_tensor(&g, 5, "ws", ONNX_FLOAT, KIT_DIMS(3), ws, sizeof ws);
        KIT_I8(&g, "wz", ((int8_t[3]){ 0 }), 3);
        KIT_F32(&g, "b", ((float[]){ 1, 2, 3 }), 3);
        kit_int(&to, "to", ONNX_FLOAT);
        kit_int(&axis, "axis", 1);
        if (is_static) {
            one_f32(&g, "xs", 0.02f), one_u8(&g, "xz", 60);
            kit_node(&g, "QuantizeLinear", "x,xs,xz", "xq", NULL);
            kit_node(&g, "DequantizeLinear", "xq,xs,xz", "xd", NULL);
            kit_node(&g, "DequantizeLinear", "w,ws,wz", "wd", &axis);
            kit_node(&g, "Gemm", "xd,wd,b", "y", NULL);
            buf_release(&to);
        } else {
            kit_node(&g, "DynamicQuantizeLinear", "x", "xq,xs,xz", NULL);
            kit_node(&g, "MatMulInteger", "xq,w,xz,wz", "p", NULL);
            kit_node(&g, "Mul", "xs,ws", "s", NULL);
            kit_node(&g, "Cast", "p", "f", &to);
            kit_node(&g, "Mul", "f,s", "m", NULL);
            kit_node(&g, "Add", "m,b", "y", NULL);
            buf_release(&axis);
        }
        kit_output(&g, "y");
        struct buf twice = BUF(KIT_BYTES);
        buf_add(&twice, g.ptr, g.len);
        assert_int_equal(count_op(&twice, "qmatmul"), 1);
        assert_int_equal(kit_run_on(&backend_ref, &g, 17, x, 2, got), 6);
        for (int i = 0; i < 6; i++) {
            double want = i % 3 + 1;
            for (int k = 0; k < 4; k++)
                want += (double)x[i / 3 * 4 + k] * w[k * 3 + i % 3] * (double)ws[i % 3];
            if (!(fabs((double)got[i] - want) <= 0.05))
                fail_msg("form %d, number %d is %g, not %g", is_static, i, (double)got[i], want);
        }
    }
}

/* Rows of one item share a range, and where nothing is batched all rows do: as ONNX Runtime computes a call of one item. What a
 * row of hundredths becomes beside one of tens shows which. */
static void test_items(void **st)
{
    (void)st;
    static const float x[2][2][4] = { { { 0.01f, -0.02f, 0.03f, 0.015f }, { 10, -20, 5, 12 } },
                                      { { 1, 2, 3, -4 }, { 0.3f, 0.02f, -0.1f, 0.07f } } };
    static const int8_t w[] = { 10, -20, 30, 127, -128, 5, 6, 7, 8, -9, 11, 64 };      /* [4, 3] */
    for (int is_batched = 0; is_batched < 2; is_batched++) {
        struct buf g = BUF(KIT_BYTES), to = BUF(64);
        float got[KIT_OUT];
        if (is_batched)
            kit_input(&g, "x", KIT_DIMS(-1, 2, 4));
        else
            kit_input(&g, "x", KIT_DIMS(2, 4));
        kit_tensor(&g, 5, "w", ONNX_INT8, KIT_DIMS(4, 3), w, sizeof w);
        one_f32(&g, "ws", 0.5f), one_i8(&g, "wz", 0);
        kit_int(&to, "to", ONNX_FLOAT);
        kit_node(&g, "DynamicQuantizeLinear", "x", "xq,xs,xz", NULL);
        kit_node(&g, "MatMulInteger", "xq,w,xz,wz", "p", NULL);
        kit_node(&g, "Mul", "xs,ws", "s", NULL);
        kit_node(&g, "Cast", "p", "f", &to);
        kit_node(&g, "Mul", "f,s", "y", NULL);
        kit_output(&g, "y");
        struct buf twice = BUF(KIT_BYTES);
        buf_add(&twice, g.ptr, g.len);
        assert_int_equal(count_op(&twice, "qmatmul"), 1);
        size_t items = is_batched ? 2 : 1;
        assert_int_equal(kit_run_on(&backend_ref, &g, 17, x[0][0], items, got), items * 6);
        for (size_t i = 0; i < items * 6; i++) {
            const float (*item)[4] = x[i / 6];
            float min = 0, max = 0;
            for (int k = 0; k < 8; k++) {
                min = fminf(min, item[k / 4][k % 4]);
                max = fmaxf(max, item[k / 4][k % 4]);
            }
            float scale = (max - min) / 255, want = 0;
            for (int k = 0; k < 4; k++)
                want += rintf(item[i / 3 % 2][k] / scale) * (float)w[k * 3 + (int)i % 3];
            want *= scale * 0.5f;
            if (!(fabsf(got[i] - want) <= 1e-4f * (1 + fabsf(want))))
                fail_msg("batched %d, number %zu is %g, not %g", is_batched, i, (double)got[i], (double)want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_example), cmocka_unit_test(test_products),
                                        cmocka_unit_test(test_items) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
