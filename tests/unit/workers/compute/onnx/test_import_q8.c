/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_q8.c - QuantizeLinear and DequantizeLinear from ONNX: the specification's examples, pairs around a convolution and
 * QLinearConv against the same computed in fp32 with every value quantised, and that those become products of bytes. */
#include "q8_kit.h"

static void test_single_operators(void **st)
{
    (void)st;
    struct buf g = kit_one_node("QuantizeLinear", "x,s,z", NULL, KIT_DIMS(6));
    one_f32(&g, "s", 2);
    one_u8(&g, "z", 128);
    KIT_EXPECT(&g, 17, ((const float[]){ 0, 2, 3, 1000, -254, -1000 }), 1, 128, 129, 130, 255, 1, 0);
    g = kit_one_node("QuantizeLinear", "x,s,z", NULL, KIT_DIMS(5));
    one_f32(&g, "s", 0.5f);
    one_i8(&g, "z", -3);
    KIT_EXPECT(&g, 17, ((const float[]){ 0, 1, -1000, 1000, 0.2f }), 1, -3, -1, -128, 127, -3);
    struct buf axis = BUF(64);
    kit_int(&axis, "axis", 1);
    g = kit_one_node("QuantizeLinear", "x,s,z", &axis, KIT_DIMS(-1, 3));
    KIT_F32(&g, "s", ((float[]){ 2, 4, 5 }), 3);
    KIT_U8(&g, "z", ((uint8_t[]){ 84, 24, 196 }), 3);
    KIT_EXPECT(&g, 17, ((const float[]){ -162, -100, 232, 10, -20, -50 }), 2, 3, 0, 242, 89, 19, 186);
    g = kit_one_node("DequantizeLinear", "x,s,z", NULL, KIT_DIMS(4));
    one_f32(&g, "s", 2);
    one_u8(&g, "z", 128);
    KIT_EXPECT(&g, 17, ((const float[]){ 0, 3, 128, 255 }), 1, -256, -250, 0, 254);
}

/* x -> Q -> DQ -> Conv with weights DQ by output, a bias of whole numbers -> Relu -> Q -> DQ: y */
static struct buf pairs(const int8_t *w, const float *scale, const float *bias, bool is_qlinear)
{
    struct buf g = BUF(KIT_BYTES), attrs = BUF(KIT_BYTES), axis = BUF(64);
    int32_t whole[5];
    kit_input(&g, "x", KIT_DIMS(-1, 3, 5, 4));
    kit_tensor(&g, 5, "w", ONNX_INT8, KIT_DIMS(5, 3, 3, 2), w, 90);
    kit_tensor(&g, 5, "ws", ONNX_FLOAT, KIT_DIMS(5), scale, 20);
    KIT_I8(&g, "wz", ((int8_t[5]){ 0 }), 5);
    kit_tensor(&g, 5, "b", ONNX_FLOAT, KIT_DIMS(5), bias, 20);
    for (int i = 0; i < 5; i++)
        whole[i] = (int32_t)lrintf(bias[i] / 0.01f / scale[i]);
    kit_tensor(&g, 5, "bi", ONNX_INT32, KIT_DIMS(5), whole, 20);
    one_f32(&g, "xs", 0.01f), one_i8(&g, "xz", 5), one_f32(&g, "ys", 0.02f), one_i8(&g, "yz", -128);
    kit_ints(&attrs, "pads", (int64_t[]){ 1, 0, 1, 1 }, 4);
    kit_int(&axis, "axis", 0);
    kit_node(&g, "QuantizeLinear", "x,xs,xz", "xq", NULL);
    if (is_qlinear) {
        kit_node(&g, "QLinearConv", "xq,xs,xz,w,ws,wz,ys,yz,bi", "yq", &attrs);
    } else {
        kit_node(&g, "DequantizeLinear", "xq,xs,xz", "xd", NULL);
        kit_node(&g, "DequantizeLinear", "w,ws,wz", "wd", &axis);
        kit_node(&g, "Conv", "xd,wd,b", "c", &attrs);
        kit_node(&g, "Relu", "c", "r", NULL);
        kit_node(&g, "QuantizeLinear", "r,ys,yz", "yq", NULL);
    }
    if (is_qlinear)
        buf_release(&axis);
    kit_node(&g, "DequantizeLinear", "yq,ys,yz", "y", NULL);
    kit_output(&g, "y");
    return g;
}

static double cut(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

static void test_convolutions(void **st)
{
    (void)st;
    int8_t w[90];
    float x[60], scale[5], bias[5], got[KIT_OUT];
    uint64_t seed = 3;
    for (int i = 0; i < 90; i++)
        w[i] = (int8_t)((seed = seed * 6364136223846793005u + 1) >> 56);
    for (int i = 0; i < 60; i++)
        x[i] = (float)((int)((seed = seed * 6364136223846793005u + 1) >> 56) - 128) * 0.011f;
    for (int i = 0; i < 5; i++)
        scale[i] = 0.002f + 0.001f * (float)i, bias[i] = 0.1f * (float)i - 0.2f;
    for (int is_qlinear = 0; is_qlinear < 2; is_qlinear++) {
        struct buf g = pairs(w, scale, bias, is_qlinear);
        assert_int_equal(count_op(&g, "qconv2d"), 1);
        g = pairs(w, scale, bias, is_qlinear);
        assert_int_equal(count_op(&g, "conv2d"), 0);
        g = pairs(w, scale, bias, is_qlinear);
        assert_int_equal(kit_run_on(&backend_ref, &g, 17, x, 1, got), 100);
        for (int at = 0; at < 100; at++) {
            int o = at / 20, oy = at / 4 % 5, ox = at % 4;
            double sum = 0;
            for (int k = 0; k < 18; k++) {
                int y = oy - 1 + k / 2 % 3, z = ox + k % 2;
                if (y < 0 || y >= 5 || z >= 4)
                    continue;
                sum += (cut(rint((double)x[k / 6 * 20 + y * 4 + z] / 0.01) + 5, -128, 127) - 5) * w[o * 18 + k];
            }
            double value = sum * 0.01 * (double)scale[o] + (double)bias[o];
            double want = (cut(rint((value < 0 && !is_qlinear ? 0 : value) / 0.02) - 128, -128, 127) + 128) * 0.02;
            if (!(fabs((double)got[at] - want) <= 0.0201))      /* a step: the bias is rounded, or a sum lies in the middle */
                fail_msg("form %d, number %d is %g, not %g", is_qlinear, at, (double)got[at], want);
        }
    }
}

static void test_refusals(void **st)
{
    (void)st;
    struct buf g = kit_one_node("QuantizeLinear", "x,s,z", NULL, KIT_DIMS(-1, 3));
    one_f32(&g, "s", 0);
    one_u8(&g, "z", 1);
    kit_refused(&g, 17, ERR_BAD_DATA, "scale 0 is 0; expected a number above 0");
    g = kit_one_node("QuantizeLinear", "x,x,z", NULL, KIT_DIMS(-1, 3));
    one_u8(&g, "z", 1);
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "a scale or zero point that is computed");
    g = kit_one_node("QuantizeLinear", "x,s,z", NULL, KIT_DIMS(-1, 3));
    KIT_F32(&g, "s", ((float[]){ 1, 2 }), 2);
    KIT_U8(&g, "z", ((uint8_t[]){ 1, 2 }), 2);
    kit_refused(&g, 17, ERR_BAD_DATA, "2 scales for dimension 1");
    g = kit_one_node("QuantizeLinear", "x,s,z", NULL, KIT_DIMS(-1, 3));
    one_f32(&g, "s", 1);
    KIT_I64(&g, "z", ((int64_t[]){ 1 }), 1);
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "whole numbers of type INT64");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_single_operators), cmocka_unit_test(test_convolutions),
                                       cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
