/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_conv.c - convolutions of every kind against sums in fp64, on each backend; the batch norm behind one; pooling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"

enum { NUMBERS = 4096 };

struct conv_case {
    int64_t in, out, groups, high, wide, kernel[2], stride, dilation[2], pads[4];   /* pads: top, left, bottom, right */
};
static const struct conv_case cases[] = {
    { 3, 4, 1, 6, 5, { 3, 3 }, 1, { 1, 1 }, { 1, 1, 1, 1 } }, { 3, 4, 1, 7, 5, { 3, 3 }, 2, { 1, 1 }, { 1, 1, 1, 1 } },
    { 2, 5, 1, 6, 6, { 3, 2 }, 1, { 1, 1 }, { 0, 1, 2, 0 } }, { 2, 3, 1, 8, 7, { 2, 3 }, 2, { 2, 1 }, { 1, 0, 0, 2 } },
    { 4, 6, 2, 5, 5, { 3, 3 }, 1, { 1, 1 }, { 1, 1, 1, 1 } }, { 20, 20, 20, 4, 3, { 3, 3 }, 1, { 1, 1 }, { 1, 1, 1, 1 } },
    { 6, 12, 6, 4, 4, { 1, 1 }, 1, { 1, 1 }, { 0, 0, 0, 0 } }, { 7, 7, 7, 6, 5, { 3, 3 }, 2, { 2, 2 }, { 2, 2, 2, 2 } },
    { 40, 20, 20, 3, 4, { 3, 3 }, 1, { 1, 1 }, { 0, 1, 1, 0 } }, { 1, 1, 1, 1, 1, { 5, 5 }, 1, { 1, 1 }, { 2, 2, 2, 2 } },
    { 3, 8, 1, 5, 5, { 1, 1 }, 2, { 1, 1 }, { 0, 0, 0, 0 } }, { 5, 2, 1, 3, 9, { 1, 7 }, 1, { 1, 1 }, { 0, 3, 0, 3 } },
};

static void fill(float *p, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        p[i] = (float)(int32_t)(seed >> 32) / 2147483648.0f;
    }
}

static int64_t side(const struct conv_case *c, int d)
{
    int64_t size = (d ? c->wide : c->high) + c->pads[d] + c->pads[d + 2];
    return (size - (c->kernel[d] - 1) * c->dilation[d] - 1) / c->stride + 1;
}

static double reference(const struct conv_case *c, const float *x, const float *w, int64_t o, int64_t oy, int64_t ox)
{
    int64_t per = c->in / c->groups, group = o / (c->out / c->groups);
    double sum = 0;
    for (int64_t i = 0; i < per; i++)
        for (int64_t ky = 0; ky < c->kernel[0]; ky++)
            for (int64_t kx = 0; kx < c->kernel[1]; kx++) {
                int64_t y = oy * c->stride - c->pads[0] + ky * c->dilation[0];
                int64_t z = ox * c->stride - c->pads[1] + kx * c->dilation[1];
                if (y >= 0 && y < c->high && z >= 0 && z < c->wide)
                    sum += (double)x[((group * per + i) * c->high + y) * c->wide + z]
                           * (double)w[((o * per + i) * c->kernel[0] + ky) * c->kernel[1] + kx];
            }
    return sum;
}

static void add_conv(struct buf *g, const struct conv_case *c, const char *in, const char *out)
{
    struct buf attrs = BUF(KIT_BYTES);
    kit_ints(&attrs, "pads", c->pads, 4);
    kit_ints(&attrs, "strides", (int64_t[]){ c->stride, c->stride }, 2);
    kit_ints(&attrs, "dilations", c->dilation, 2);
    kit_int(&attrs, "group", c->groups);
    kit_node(g, "Conv", in, out, &attrs);
}

struct numbers {
    float x[NUMBERS], w[NUMBERS], bias[64], norm[4][64];
};

/* x -> Conv [-> BatchNormalization] -> Relu -> + itself: y */
static struct buf net(const struct conv_case *c, const struct numbers *n, bool has_norm)
{
    struct buf g = BUF(KIT_BYTES);
    int64_t per = c->in / c->groups, wdim[] = { c->out, per, c->kernel[0], c->kernel[1] };
    static const char *const names[] = { "scale", "shift", "mean", "var" };
    kit_input(&g, "x", KIT_DIMS(-1, c->in, c->high, c->wide));
    kit_tensor(&g, 5, "w", ONNX_FLOAT, wdim, 4, n->w, (size_t)(c->out * per * c->kernel[0] * c->kernel[1]) * 4);
    kit_tensor(&g, 5, "b", ONNX_FLOAT, &c->out, 1, n->bias, (size_t)c->out * 4);
    for (int i = 0; i < 4 && has_norm; i++)
        kit_tensor(&g, 5, names[i], ONNX_FLOAT, &c->out, 1, n->norm[i], (size_t)c->out * 4);
    add_conv(&g, c, "x,w,b", "c");
    if (has_norm)
        kit_node(&g, "BatchNormalization", "c,scale,shift,mean,var", "d", NULL);
    kit_node(&g, "Relu", has_norm ? "d" : "c", "r", NULL);
    kit_node(&g, "Add", "r,r", "y", NULL);
    kit_output(&g, "y");
    return g;
}

static void expect_case(const struct conv_case *c, bool has_norm, const struct backend *be)
{
    static struct numbers n;
    float got[KIT_OUT];
    fill(n.x, NUMBERS, 1);
    fill(n.w, NUMBERS, 2);
    fill(n.bias, 64, 3);
    for (int i = 0; i < 4; i++)
        fill(n.norm[i], 64, 4 + (uint64_t)i);
    for (int i = 0; i < 64; i++)
        n.norm[3][i] = fabsf(n.norm[3][i]) + 0.5f;
    struct buf g = net(c, &n, has_norm);
    assert_int_equal(kit_run_on(be, &g, 17, n.x, 1, got), c->out * side(c, 0) * side(c, 1));
    for (int64_t o = 0, at = 0; o < c->out; o++)
        for (int64_t y = 0; y < side(c, 0); y++)
            for (int64_t x = 0; x < side(c, 1); x++, at++) {
                double want = reference(c, n.x, n.w, o, y, x) + (double)n.bias[o];
                if (has_norm)
                    want = (want - (double)n.norm[2][o]) / sqrt((double)n.norm[3][o] + 1e-5) * (double)n.norm[0][o]
                           + (double)n.norm[1][o];
                want = want > 0 ? 2 * want : 0;
                if (!(fabs((double)got[at] - want) <= 1e-4 * (1 + fabs(want))))
                    fail_msg("%s, case %zu: number %ld is %g, not %g", be->name, (size_t)(c - cases), (long)at, (double)got[at],
                             want);
            }
}

static void test_every_kind_of_convolution(void **st)
{
    (void)st;
    struct hw hw;
    hw_read(&hw);
    for (const struct backend *const *at = backend_list(); *at; at++) {
        const struct backend *be;
        struct err e;
        if (backend_choose((*at)->name, &hw, NULL, NULL, &be, &e) != ERR_OK)
            continue;                   /* a tier that this machine lacks */
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            expect_case(&cases[i], false, be);
            expect_case(&cases[i], true, be);
        }
    }
}

static void test_pooling(void **st)
{
    (void)st;
    struct buf attrs = BUF(KIT_BYTES), more = BUF(KIT_BYTES);
    kit_ints(&attrs, "kernel_shape", (int64_t[]){ 2, 2 }, 2);
    kit_ints(&attrs, "strides", (int64_t[]){ 2, 2 }, 2);
    buf_add_str(&more, buf_str(&attrs));
    const float x[] = { 1, 2, -3, 4, 5, -6, 7, 8, -1, -2, -3, -4, -5, -6, -7, -8 };
    struct buf g = kit_one_node("MaxPool", "x", &attrs, KIT_DIMS(-1, 2, 2, 4));
    KIT_EXPECT(&g, 17, x, 1, 5, 8, -1, -3);
    g = kit_one_node("AveragePool", "x", &more, KIT_DIMS(-1, 2, 2, 4));
    KIT_EXPECT(&g, 17, x, 1, 0.5f, 4, -3.5f, -5.5f);
}

static void test_what_is_refused(void **st)
{
    (void)st;
    struct buf attrs = BUF(KIT_BYTES);
    const float w[9] = { 0 };
    kit_ints(&attrs, "strides", (int64_t[]){ 1, 2 }, 2);
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 1, 4, 4));
    KIT_F32(&g, "w", w, 1, 1, 3, 3);
    kit_node(&g, "Conv", "x,w", "y", &attrs);
    kit_output(&g, "y");
    kit_refused(&g, 17, ERR_UNPROCESSABLE, "node 0 \"the node\" (Conv): two strides, 1 and 2");
    g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 2, 4, 4));
    KIT_F32(&g, "w", w, 1, 1, 3, 3);
    kit_node(&g, "Conv", "x,w", "y", NULL);
    kit_output(&g, "y");
    kit_refused(&g, 17, ERR_BAD_DATA, "do not fit an image with 2 channels");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_kind_of_convolution), cmocka_unit_test(test_pooling),
                                        cmocka_unit_test(test_what_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
