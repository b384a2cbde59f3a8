/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_math.c - what computes: products, biases, single numbers, on every backend alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

static const float x[4] = { 0.5f, -1, 2, 4 };

static void test_single_numbers(void **st)
{
    (void)st;
    static const struct { const char *op; float want[4]; } rows[] = {
        { "Neg", { -0.5f, 1, -2, -4 } },           { "Relu", { 0.5f, 0, 2, 4 } },
        { "Sigmoid", { 0.62245935f, 0.26894143f, 0.8807971f, 0.98201376f } }, { "Tanh", { 0.46211717f, -0.7615942f, 0.9640276f,
                                                                                          0.9993293f } },
        { "Erf", { 0.5204999f, -0.8427008f, 0.9953223f, 1 } },                 { "Softplus", { 0.974077f, 0.3132617f, 2.126928f,
                                                                                               4.01815f } },
        { "LeakyRelu", { 0.5f, -0.01f, 2, 4 } },   { "Elu", { 0.5f, -0.63212055f, 2, 4 } },
        { "HardSigmoid", { 0.6f, 0.3f, 0.9f, 1 } }, { "HardSwish", { 0.29166667f, -0.33333334f, 1.6666666f, 4 } },
        { "Floor", { 0, -1, 2, 4 } },              { "Round", { 0, -1, 2, 4 } },
        { "Softmax", { 0.81757447f, 0.18242552f, 0.11920292f, 0.880797f } },   { "LogSoftmax", { -0.2014133f, -1.7014133f,
                                                                                                 -2.126928f, -0.126928f } },
    };
    struct hw hw;
    hw_read(&hw);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const struct backend *const *be = backend_list(); *be; be++) {
            float got[KIT_OUT];
            struct buf g = kit_one_node(rows[i].op, "x", NULL, KIT_DIMS(-1, 2));
            if (!(*be)->probe(&hw)) {
                buf_release(&g);
                continue;
            }
            assert_int_equal(kit_run_on(*be, &g, 17, x, 2, got), 4);
            for (int k = 0; k < 4; k++)
                if (fabsf(got[k] - rows[i].want[k]) > 2e-6f * (1 + fabsf(got[k])))
                    fail_msg("%s on %s: number %d is %g, not %g", rows[i].op, (*be)->name, k, (double)got[k],
                             (double)rows[i].want[k]);
        }
}

static void test_products_and_biases(void **st)
{
    (void)st;
    const float w[4] = { 1, 2, 3, 4 }, bias[2] = { 1, -1 };
    struct buf g = BUF(KIT_BYTES), attrs = BUF(256);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    KIT_F32(&g, "w", w, 2, 2);
    KIT_F32(&g, "b", bias, 2);
    kit_node(&g, "MatMul", "x,w", "h", NULL);
    kit_node(&g, "Add", "b,h", "y", NULL);              /* the bias first, as exporters write it for three dimensions */
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 2, -1.5f, -4, 15, 19);
    g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    KIT_F32(&g, "w", w, 2, 2);
    KIT_F32(&g, "b", bias, 2);
    kit_real(&attrs, "alpha", 2);
    kit_real(&attrs, "beta", 10);
    kit_node(&g, "Gemm", "x,w,b", "y", &attrs);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 2, 5, -16, 38, 30);
}

static void test_numbers_are_repeated_as_numpy_does(void **st)
{
    (void)st;
    const float column[1] = { 3 }, row[2] = { 1, 10 };
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    KIT_F32(&g, "c", column, 1, 1);
    KIT_F32(&g, "r", row, 2);
    kit_node(&g, "Mul", "x,c", "m", NULL);
    kit_node(&g, "Div", "m,r", "d", NULL);
    kit_node(&g, "Greater", "d,x", "t", NULL);
    kit_node(&g, "Where", "t,d,x", "y", NULL);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 2, 1.5f, -0.3f, 6, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_numbers), cmocka_unit_test(test_products_and_biases),
        cmocka_unit_test(test_numbers_are_repeated_as_numpy_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
