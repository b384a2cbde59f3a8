/* SPDX-License-Identifier: Apache-2.0 */
/* test_selftest_q8.c - products of whole numbers: every variant of this machine × 200 random shapes against the exact answer,
 * written down here once more and without packing, bit by bit, with one thread and with three. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "each_kit.h"
#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/selftest_int.h"

enum { ROOM = 1 << 17, SHAPES = 200 };

static float x[ROOM], scale[512], bias[512], add[ROOM], want[ROOM], got[ROOM];
static int8_t w[ROOM];
static int turned;              /* convolutions that went Winograd's way, too (q8_wino_int.h) */

static float unit(void)
{
    return (float)below(1 << 20) / (1 << 19) - 1;
}

/* One in eight rows of weights has only the ends of the range, and one in eight of x is at its largest: where a sum of two
 * products in 16 bits would saturate. */
static void fill(size_t xs, size_t ws, size_t columns, size_t outs)
{
    bool is_extreme = below(8) == 0;
    for (size_t i = 0; i < xs; i++)
        x[i] = is_extreme ? 4 : unit() * 1.5f;
    for (size_t i = 0; i < ws; i++)
        w[i] = (int8_t)(is_extreme ? (below(9) ? 127 : -128) : (int)below(256) - 128);
    for (size_t i = 0; i < columns; i++) {
        scale[i] = (float)(1 + below(1000)) / 7e4f;
        bias[i] = unit();
    }
    for (size_t i = 0; i < outs; i++)
        add[i] = unit();
}

struct range { float scale; int zero; };

static struct range range_of(const struct op_attr *a, const float *p, size_t n)
{
    float min = 0, max = 0;
    if (a->alpha > 0)
        return (struct range){ (float)a->alpha, (int)a->gamma };
    for (size_t i = 0; i < n; i++) {
        min = p[i] < min ? p[i] : min;
        max = p[i] > max ? p[i] : max;
    }
    float step = (max - min) / 255;
    return step >= FLT_MIN ? (struct range){ step, (int)fminf(rintf(-min / step), 255) } : (struct range){ 1, 0 };
}

static int byte_of(struct range r, float v)
{
    float t = rintf(v * (1 / r.scale)) + (float)r.zero;
    return t < 0 ? 0 : t > 255 ? 255 : (int)t;
}

static float finish(const struct op_attr *a, struct range r, int64_t sum, size_t column, size_t at)
{
    assert_true(sum >= INT32_MIN && sum <= INT32_MAX);
    float factor = r.scale * scale[column], y = (float)(int32_t)sum * factor;
    volatile float stored = y;              /* rounded here, whatever the compiler would rather join */
    y = stored;
    if (a->flags & MM_BIAS)
        y += bias[column];
    if (a->flags & CONV_ADD)
        y += add[at];
    return a->flags & MM_RELU && !(y > 0) ? 0 : y;
}

static struct op_attr some_attr(void)
{
    struct op_attr a = { .flags = (below(2) ? MM_BIAS : 0) | (below(2) ? MM_RELU : 0) };
    if (below(3)) {
        a.alpha = (double)(1 + below(400)) / 2e4;
        a.gamma = (double)below(256);
    }
    return a;
}

static size_t some_size(size_t block)
{
    switch (below(4)) {
    case 0: return 1 + below(3);
    case 1: return block + below(5);
    default: return 1 + below(block);
    }
}

/* As weights lie in a file, and packed as a plan packs them. */
static void check(const struct backend *be, struct backend_ctx *c, struct op_call call, size_t slices, size_t depth, size_t outs)
{
    enum op packed_op = call.in[1]->rank == 4 ? OP_QCONV2D_PACKED : OP_QMATMUL_PACKED;
    enum op op = call.in[1]->rank == 4 ? OP_QCONV2D : OP_QMATMUL;
    memset(got, 0xff, outs * sizeof *got);
    (*be->kernels)[op][ELEM_F32](c, &call);
    assert_memory_equal(got, want, outs * sizeof *got);
    struct tensor weights = *call.in[1];
    struct op_call pack = { .attr = call.attr, .in = { &weights } };
    pack.attr.n = weights.dim[0];
    pack.attr.k = slices * depth;
    pack.attr.window[0] = op == OP_QCONV2D ? weights.dim[1] : 0;
    pack.attr.window[1] = op == OP_QCONV2D ? weights.dim[2] : 0;
    size_t bytes = be->pack_q8_bytes(pack.attr.n, slices, depth);
    struct buffer *room = be->alloc(c, bytes);
    struct tensor packed = tensor_at(room, 0, ELEM_U8, 1, &bytes);
    pack.out[0] = &packed;
    (*be->kernels)[OP_QPACK][ELEM_I8](c, &pack);
    call.attr = pack.attr;
    call.in[1] = &packed;
    memset(got, 0xff, outs * sizeof *got);
    (*be->kernels)[packed_op][ELEM_F32](c, &call);
    assert_memory_equal(got, want, outs * sizeof *got);
    be->free(c, room);
    if (op != OP_QCONV2D || !be->q8_windows_bytes)
        return;
    bytes = be->q8_windows_bytes(&pack.attr, call.in[0]->dim[1], call.in[0]->dim[2]);
    if (!bytes)
        return;
    packed = tensor_at(room = be->alloc(c, bytes), 0, ELEM_U8, 1, &bytes);
    (*be->kernels)[OP_QWINO_PACK][ELEM_I8](c, &pack);
    memset(got, 0xff, outs * sizeof *got);
    (*be->kernels)[OP_QCONV2D_WINO][ELEM_F32](c, &call);
    assert_memory_equal(got, want, outs * sizeof *got);
    be->free(c, room);
    turned++;
}

static struct tensor tensor(void *p, enum elem type, unsigned rank, const size_t *dim)
{
    struct tensor t = tensor_at(NULL, 0, type, rank, dim);
    t.ptr = p;
    return t;
}

static void products(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    (void)ref;
    for (int i = 0; i < SHAPES / 2; i++) {
        size_t m = some_size(100), n = some_size(130), k = some_size(300), step = k + below(3), each = 1;
        struct op_attr a = some_attr();
        if (!(a.alpha > 0) && below(2)) {               /* items of so many rows, whose range they share */
            a.flags |= Q8_ITEM;
            each = 1 + below(5);
            m = (m + each - 1) / each * each;
            step = k;
        }
        fill(m * step, n * k, n, 0);
        for (size_t r = 0; r < m; r++) {
            struct range range = range_of(&a, x + r / each * each * step, each * k);
            for (size_t j = 0; j < n; j++) {
                int64_t sum = 0;
                for (size_t d = 0; d < k; d++)
                    sum += (int64_t)(byte_of(range, x[r * step + d]) - range.zero) * w[j * k + d];
                want[r * n + j] = finish(&a, range, sum, j, 0);
            }
        }
        struct tensor X = tensor(x, ELEM_F32, 3, (size_t[]){ m / each, each, k }), W = tensor(w, ELEM_I8, 2, (size_t[]){ n, k });
        struct tensor S = tensor(scale, ELEM_F32, 1, &n), B = tensor(bias, ELEM_F32, 1, &n);
        struct tensor Y = tensor(got, ELEM_F32, 2, (size_t[]){ m, n });
        X.stride[0] = each * step;
        X.stride[1] = step;
        const struct op_call call = { a, { &X, &W, &S, &B }, { &Y } };
        check(be, alone, call, 1, k, m * n);
        check(be, many, call, 1, k, m * n);
    }
}

static void convolutions(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    (void)ref;
    turned = 0;
    for (int i = 0; i < SHAPES / 2; i++) {
        size_t win = 1 + below(3), high = win + below(9), wide = win + below(12), in = 1 + below(24), out = 1 + below(70);
        struct op_attr a = some_attr();
        a.stride = 1 + below(2);
        if (i % 4 == 3)         /* whole vectors of channels, and windows of 3 x 3 */
            win = 3, in = 16 * (1 + below(2)), out = 16 * (1 + below(4)), a.stride = 1;
        high = high < win ? win : high, wide = wide < win ? win : wide;
        size_t count = 1 + below(2), image = high * wide * in;
        a.pad = below(win);
        a.flags |= below(2) ? CONV_ADD : 0;
        size_t oh = (high + 2 * a.pad - win) / a.stride + 1, ow = (wide + 2 * a.pad - win) / a.stride + 1;
        size_t outs = count * oh * ow * out;
        fill(count * image, out * win * win * in, out, outs);
        for (size_t at = 0; at < outs; at++) {
            size_t o = at % out, ox = at / out % ow, oy = at / out / ow % oh, n = at / out / ow / oh;
            struct range range = range_of(&a, x + n * image, image);
            int64_t sum = 0;
            for (size_t d = 0; d < win * win * in; d++) {
                size_t y = oy * a.stride + d / in / win, z = ox * a.stride + d / in % win;
                if (y < a.pad || z < a.pad || y - a.pad >= high || z - a.pad >= wide)
                    continue;
                float v = x[n * image + ((y - a.pad) * wide + z - a.pad) * in + d % in];
                sum += (int64_t)(byte_of(range, v) - range.zero) * w[o * win * win * in + d];
            }
            want[at] = finish(&a, range, sum, o, at);
        }
        struct tensor X = tensor(x, ELEM_F32, 4, (size_t[]){ count, high, wide, in });
        struct tensor W = tensor(w, ELEM_I8, 4, (size_t[]){ out, win, win, in });
        struct tensor S = tensor(scale, ELEM_F32, 1, &out), B = tensor(bias, ELEM_F32, 1, &out);
        struct tensor Y = tensor(got, ELEM_F32, 4, (size_t[]){ count, oh, ow, out }), A = Y;
        A.ptr = add;
        const struct op_call call = { a, { &X, &W, &S, &B, a.flags & CONV_ADD ? &A : NULL }, { &Y } };
        check(be, alone, call, win, win * in, outs);
        check(be, many, call, win, win * in, outs);
    }
    assert_true(!be->q8_windows_bytes || turned >= SHAPES / 8);
}

static void test_products(void **st)
{
    (void)st;
    kit_each(3, products);
}

static void test_convolutions(void **st)
{
    (void)st;
    kit_each(3, convolutions);
}

/* The deepest sum that is exact, all at their ends; a row that is no number, infinite or all 0 gives something and no more. */
static void deepest(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    (void)many, (void)ref;
    size_t k = Q8_DEPTH_MAX, n = 1;
    const struct op_attr a = { .alpha = 1, .gamma = 0 };
    for (size_t i = 0; i < k; i++)
        x[i] = 255, w[i] = -128;
    scale[0] = 1;
    struct tensor X = tensor(x, ELEM_F32, 2, (size_t[]){ 1, k }), W = tensor(w, ELEM_I8, 2, (size_t[]){ 1, k });
    struct tensor S = tensor(scale, ELEM_F32, 1, &n), Y = tensor(got, ELEM_F32, 2, (size_t[]){ 1, 1 });
    struct op_call call = { a, { &X, &W, &S }, { &Y } };
    (*be->kernels)[OP_QMATMUL][ELEM_F32](alone, &call);
    assert_true(got[0] == (float)(-128ll * 255 * Q8_DEPTH_MAX));
    call.attr.alpha = 0;
    for (int i = 0; i < 3; i++) {
        for (size_t j = 0; j < k; j++)
            x[j] = i == 0 ? 0 : i == 1 ? INFINITY : NAN;
        got[0] = -7;
        (*be->kernels)[OP_QMATMUL][ELEM_F32](alone, &call);
        assert_true(i != 0 || got[0] == 0);
        assert_true(got[0] != -7);
    }
}

static void test_ends(void **st)
{
    (void)st;
    kit_each(1, deepest);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_products), cmocka_unit_test(test_convolutions),
                                        cmocka_unit_test(test_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
