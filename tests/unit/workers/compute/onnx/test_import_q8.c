/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_q8.c - whole numbers of eight bits from ONNX: the specification's examples, pairs around products and convolutions
 * against the same computed in fp32 with every value quantised, and that those become products of bytes and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "onnx_kit.h"

#define KIT_U8(graph, name, data, ...) kit_tensor(graph, 5, name, ONNX_UINT8, KIT_DIMS(__VA_ARGS__), data, sizeof(data))
#define KIT_I8(graph, name, data, ...) kit_tensor(graph, 5, name, ONNX_INT8, KIT_DIMS(__VA_ARGS__), data, sizeof(data))

static void one_f32(struct buf *g, const char *name, float v)
{
    kit_tensor(g, 5, name, ONNX_FLOAT, NULL, 0, &v, sizeof v);
}

static void one_u8(struct buf *g, const char *name, uint8_t v)
{
    kit_tensor(g, 5, name, ONNX_UINT8, NULL, 0, &v, 1);
}

static void one_i8(struct buf *g, const char *name, int8_t v)
{
    kit_tensor(g, 5, name, ONNX_INT8, NULL, 0, &v, 1);
}

/* How often the graph of the file has an operation. */
static int count_op(struct buf *graph, const char *op)
{
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    char want[40];
    struct err e = { 0 };
    int n = 0;
    snprintf(want, sizeof want, "\\\"op\\\":\\\"%s\\\"", op);
    if (kit_convert(graph, 17, &file, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    for (size_t i = 0; i + strlen(want) <= file.len; i++)
        n += !memcmp(file.ptr + i, want, strlen(want));
    return n;
}

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
    g = kit_one_node("DynamicQuantizeLinear", "x", NULL, KIT_DIMS(6));
    KIT_EXPECT(&g, 17, ((const float[]){ 0, 2, -3, -2.5f, 1.34f, 0.5f }), 1, 153, 255, 0, 26, 221, 179);
    g = kit_one_node("MatMulInteger", "x,w,z", NULL, KIT_DIMS(4, 3));
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_operators), cmocka_unit_test(test_qlinear_matmul), cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_products), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
