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

/* One node from x to y with attributes; want: 4 numbers, of x as two rows of two. */
static void expect_op(const char *op, struct buf *attrs, int opset, const float *in, const float *want)
{
    struct buf g = kit_one_node(op, "x", attrs, KIT_DIMS(-1, 2));
    kit_expect(&g, opset, in, 2, want, 4);
}

static void test_attributes_of_single_numbers(void **st)
{
    (void)st;
    struct buf a = BUF(256);
    kit_real(&a, "alpha", 0.5f);
    expect_op("LeakyRelu", &a, 17, x, (const float[]){ 0.5f, -0.5f, 2, 4 });
    a = BUF(256);
    kit_real(&a, "alpha", 0.1f);
    kit_real(&a, "beta", 0.25f);
    expect_op("HardSigmoid", &a, 17, x, (const float[]){ 0.3f, 0.15f, 0.45f, 0.65f });
    expect_op("Selu", NULL, 17, x, (const float[]){ 0.52535f, -1.1113307f, 2.101402f, 4.202804f });
    expect_op("Gelu", NULL, 20, x, (const float[]){ 0.3457312f, -0.1586553f, 1.9544997f, 3.9998733f });
    a = BUF(256);
    struct buf how = BUF(64);
    pb_add_text(&how, 1, "approximate");
    pb_add_text(&how, 4, "tanh");
    pb_add_message(&a, 5, &how);
    expect_op("Gelu", &a, 20, x, (const float[]){ 0.345714f, -0.158808f, 1.9545977f, 3.99993f });
    a = BUF(256);
    kit_real(&a, "min", 0);
    kit_real(&a, "max", 3);
    expect_op("Clip", &a, 10, x, (const float[]){ 0.5f, 0, 2, 3 });
}

/* Bounds and exponents as inputs; the special cases compute what the general one would. */
static void test_known_bounds_and_exponents(void **st)
{
    (void)st;
    const float in[4] = { 0.25f, 1, 4, 9 }, low[1] = { 1 }, high[1] = { 5 };
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    kit_tensor(&g, 5, "low", ONNX_FLOAT, NULL, 0, low, sizeof low);
    kit_tensor(&g, 5, "high", ONNX_FLOAT, NULL, 0, high, sizeof high);
    kit_node(&g, "Clip", "x,low,high", "y", NULL);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, in, 2, 1, 1, 4, 5);
    const struct { float power, want[4]; } rows[] = {
        { 2, { 0.0625f, 1, 16, 81 } }, { 0.5f, { 0.5f, 1, 2, 3 } }, { 3, { 0.015625f, 1, 64, 729 } },
        { -1, { 4, 1, 0.25f, 0.1111111f } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        g = BUF(KIT_BYTES);
        kit_input(&g, "x", KIT_DIMS(-1, 2));
        kit_tensor(&g, 5, "p", ONNX_FLOAT, NULL, 0, &rows[i].power, sizeof rows[i].power);
        kit_node(&g, "Pow", "x,p", "y", NULL);
        kit_output(&g, "y");
        kit_expect(&g, 17, in, 2, rows[i].want, 4);
    }
}

/* x · max(x, 0)ᵀ and with other factors: both sides are known only when the model is called. */
static void test_products_of_what_is_computed(void **st)
{
    (void)st;
    const float bias[2] = { 1, -1 };
    struct buf g = BUF(KIT_BYTES), attrs = BUF(256);
    kit_input(&g, "x", KIT_DIMS(2, 2));
    KIT_F32(&g, "b", bias, 2);
    kit_node(&g, "Relu", "x", "r", NULL);               /* [[0.5, 0], [2, 4]] */
    kit_int(&attrs, "transB", 1);
    kit_real(&attrs, "alpha", 2);
    kit_real(&attrs, "beta", 3);
    kit_node(&g, "Gemm", "x,r,b", "y", &attrs);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, 3.5f, -9, 5, 37);
    g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(2, 2));
    kit_node(&g, "Relu", "x", "r", NULL);
    kit_node(&g, "Gemm", "x,r", "p", NULL);
    kit_node(&g, "MatMul", "x,r", "m", NULL);
    kit_node(&g, "Add", "p,m", "y", NULL);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, -3.5f, -8, 18, 32);
    g = BUF(KIT_BYTES), attrs = BUF(256);
    kit_input(&g, "x", KIT_DIMS(2, 2));
    KIT_F32(&g, "b", bias, 2);
    kit_node(&g, "Relu", "x", "r", NULL);
    kit_real(&attrs, "alpha", 0);
    kit_node(&g, "Gemm", "x,r,b", "y", &attrs);         /* nothing of the product is left */
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 1, 1, -1, 1, -1);
    g = BUF(KIT_BYTES), attrs = BUF(256);
    kit_input(&g, "x", KIT_DIMS(2, 2));
    kit_int(&attrs, "transA", 1);
    kit_node(&g, "Gemm", "x,x", "y", &attrs);
    kit_output(&g, "y");
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "transA 1");
}

/* Sums of many, the least and the greatest of many, and truth that is computed with. */
static void test_many_inputs_and_truth(void **st)
{
    (void)st;
    const float two[1] = { 2 };
    const struct { const char *op; float want[4]; } rows[] = {
        { "Sum", { 1.5f, 3, 6, 10 } }, { "Max", { 2, 2, 2, 4 } }, { "Min", { -0.5f, -1, -2, -4 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf g = BUF(KIT_BYTES);
        kit_input(&g, "x", KIT_DIMS(-1, 2));
        KIT_F32(&g, "two", two, 1);
        kit_node(&g, i ? "Neg" : "Abs", "x", "n", NULL);
        kit_node(&g, rows[i].op, i ? "x,two,n" : "x,n,two", "y", NULL);
        kit_output(&g, "y");
        kit_expect(&g, 17, x, 2, i ? rows[i].want : (const float[]){ 3, 2, 6, 10 }, 4);
    }
    struct buf g = BUF(KIT_BYTES), to = BUF(64);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    KIT_F32(&g, "two", two, 1);
    kit_node(&g, "GreaterOrEqual", "x,two", "a", NULL);
    kit_node(&g, "LessOrEqual", "x,two", "b", NULL);
    kit_node(&g, "Xor", "a,b", "c", NULL);              /* all but 2 itself */
    kit_node(&g, "Not", "c", "d", NULL);
    kit_int(&to, "to", ONNX_FLOAT);
    kit_node(&g, "Cast", "d", "y", &to);
    kit_output(&g, "y");
    KIT_EXPECT(&g, 17, x, 2, 0, 0, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_numbers), cmocka_unit_test(test_products_and_biases),
        cmocka_unit_test(test_numbers_are_repeated_as_numpy_does), cmocka_unit_test(test_attributes_of_single_numbers),
        cmocka_unit_test(test_known_bounds_and_exponents), cmocka_unit_test(test_products_of_what_is_computed),
        cmocka_unit_test(test_many_inputs_and_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
