/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_q8_op.c - operators on whole numbers from ONNX: the specification's examples, and QLinearMatMul against the same
 * computed by hand. */
#include "q8_kit.h"

static void test_integer_operators(void **st)
{
    (void)st;
    struct buf g = kit_one_node("MatMulInteger", "x,w,z", NULL, KIT_DIMS(4, 3));
    KIT_U8(&g, "w", ((uint8_t[]){ 1, 4, 2, 5, 3, 6 }), 3, 2);
    one_u8(&g, "z", 12);
    KIT_EXPECT(&g, 17, ((const float[]){ 11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0 }), 1, -38, -83, -44, -98, -50, -113, -56, -128);
    g = kit_one_node("ConvInteger", "x,w,z", NULL, KIT_DIMS(1, 1, 3, 3));
    KIT_U8(&g, "w", ((uint8_t[]){ 1, 1, 1, 1 }), 1, 1, 2, 2);
    one_u8(&g, "z", 1);
    KIT_EXPECT(&g, 17, ((const float[]){ 2, 3, 4, 5, 6, 7, 8, 9, 10 }), 1, 12, 16, 24, 28);
}

static struct buf qlinear_matmul(bool is_signed)
{
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(2, 4));
    one_f32(&g, "xs", 0.0066f), one_u8(&g, "xz", 113), one_f32(&g, "ys", 0.0107f), one_u8(&g, "yz", 118);
    one_f32(&g, "ws", 0.00705f), one_u8(&g, "wz", 114);
    if (is_signed)                          /* fits around 0, so it is a product of bytes */
        KIT_U8(&g, "w", ((uint8_t[]){ 152, 51, 241, 60, 26, 241, 0, 127, 240, 127, 241, 241 }), 4, 3);
    else
        KIT_U8(&g, "w", ((uint8_t[]){ 152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247 }), 4, 3);
    kit_node(&g, "QLinearMatMul", "x,xs,xz,w,ws,wz,ys,yz", "y", NULL);
    kit_output(&g, "y");
    return g;
}

static void test_qlinear_matmul(void **st)
{
    (void)st;
    static const float x[] = { 208, 236, 0, 238, 3, 214, 255, 29 };
    struct buf g = qlinear_matmul(false);
    KIT_EXPECT(&g, 17, x, 1, 168, 115, 255, 1, 66, 151);
    g = qlinear_matmul(true);
    assert_int_equal(count_op(&g, "qmatmul"), 1);
    g = qlinear_matmul(false);
    assert_int_equal(count_op(&g, "qmatmul"), 0);
    g = qlinear_matmul(true);
    float got[KIT_OUT];
    assert_int_equal(kit_run_on(&backend_ref, &g, 17, x, 1, got), 6);
    static const int w[4][3] = { { 152, 51, 241 }, { 60, 26, 241 }, { 0, 127, 240 }, { 127, 241, 241 } };
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int k = 0; k < 4; k++)
            sum += ((double)x[i / 3 * 4 + k] - 113) * (w[k][i % 3] - 114);
        double want = rint(sum * 0.0066 * 0.00705 / 0.0107) + 118;
        assert_true((double)got[i] == (want < 0 ? 0 : want > 255 ? 255 : want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_integer_operators), cmocka_unit_test(test_qlinear_matmul) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
