/* SPDX-License-Identifier: Apache-2.0 */
/* test_wino.c - windows of 3 × 3 of served models (wino_packed_int.h): every variant of this machine that has them × 200 random
 * shapes with every end, against the direct form in fp64; the same bits for three threads, of an image in any batch, and
 * whatever memory held before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "each_kit.h"
#include "workers/compute/kernels/selftest_int.h"

enum { SHAPES = 200, ROOM = 3 * 14 * 14 * 64, WEIGHTS = 9 * 64 * 64 };

static float x[ROOM], nans[ROOM], w[WEIGHTS], bias[64], add[ROOM], got[ROOM], again[ROOM];
static double x64[ROOM], w64[WEIGHTS], bias64[64], add64[ROOM], want[ROOM];

static void fill(float *p, double *wide, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (float)below(1 << 20) / (1 << 19) - 1;
        wide[i] = (double)p[i];
    }
}

static struct tensor tensor(void *p, enum elem type, unsigned rank, const size_t *dim)
{
    struct tensor t = tensor_at(NULL, 0, type, rank, dim);
    t.ptr = p;
    return t;
}

struct shape_of_one {
    size_t n, high, wide, in, out, oh, ow;
    struct op_attr attr;
};

/* Around tiles of four; some that are mostly outside, or have no whole vectors, which no variant may take. */
static struct shape_of_one some_shape(void)
{
    static const size_t channels[] = { 8, 16, 24, 32, 48, 64 };
    struct shape_of_one s = { .n = 1 + below(3), .high = 3 + below(11), .wide = 3 + below(11), .in = channels[below(6)],
                              .out = channels[below(6)] };
    s.attr = (struct op_attr){ .stride = 1, .pad = below(3), .window = { 3, 3 }, .n = s.out, .k = 9 * s.in,
                               .flags = (below(2) ? MM_BIAS : 0) | (below(2) ? CONV_ADD : 0) | (below(2) ? MM_RELU : 0) };
    s.oh = s.high + 2 * s.attr.pad - 2, s.ow = s.wide + 2 * s.attr.pad - 2;
    while (s.n * s.oh * s.ow * 64 > ROOM)
        s.n--;
    return s;
}

/* n images from `at` on. */
static void run(const struct backend *be, struct backend_ctx *c, const struct shape_of_one *s, struct tensor *packed, float *from,
                size_t at, size_t n, float *to)
{
    const size_t dim[] = { n, s->high, s->wide, s->in }, made[] = { n, s->oh, s->ow, s->out };
    struct tensor X = tensor(from + at * s->high * s->wide * s->in, ELEM_F32, 4, dim), Y = tensor(to, ELEM_F32, 4, made), A = Y;
    struct tensor B = tensor(bias, ELEM_F32, 1, &s->out);
    A.ptr = add + at * s->oh * s->ow * s->out;
    const struct op_call call = { s->attr, { &X, packed, s->attr.flags & MM_BIAS ? &B : NULL,
                                             s->attr.flags & CONV_ADD ? &A : NULL }, { &Y } };
    (*be->kernels)[OP_CONV2D_WINO][ELEM_F32](c, &call);
}

static void in_fp64(struct backend_ctx *ref, const struct shape_of_one *s)
{
    struct tensor X = tensor(x64, ELEM_F64, 4, (size_t[]){ s->n, s->high, s->wide, s->in });
    struct tensor W = tensor(w64, ELEM_F64, 4, (size_t[]){ s->out, 3, 3, s->in }), B = tensor(bias64, ELEM_F64, 1, &s->out);
    struct tensor Y = tensor(want, ELEM_F64, 4, (size_t[]){ s->n, s->oh, s->ow, s->out }), A = Y;
    A.ptr = add64;
    const struct op_call call = { s->attr, { &X, &W, s->attr.flags & MM_BIAS ? &B : NULL,
                                             s->attr.flags & CONV_ADD ? &A : NULL }, { &Y } };
    (*backend_ref.kernels)[OP_CONV2D][ELEM_F64](ref, &call);
}

static void one_shape(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref,
                      const struct shape_of_one *s, size_t bytes)
{
    const size_t each = s->oh * s->ow * s->out, all = s->n * each;
    double diff = 0, norm = 0;
    struct buffer *room = be->alloc(alone, bytes);
    struct tensor packed = tensor_at(room, 0, ELEM_U8, 1, &bytes);
    struct tensor W = tensor(w, ELEM_F32, 4, (size_t[]){ s->out, 3, 3, s->in });
    const struct op_call pack = { s->attr, { &W }, { &packed } };
    memset(packed.ptr, 0xff, bytes);
    (*be->kernels)[OP_WINO_PACK][ELEM_F32](alone, &pack);
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        assert_false(isnan(((const float *)packed.ptr)[i]));            /* written whole */
    run(be, alone, s, &packed, nans, 0, s->n, got);                     /* scratch and results full of NaN */
    run(be, many, s, &packed, nans, 0, s->n, again);
    run(be, alone, s, &packed, x, 0, s->n, got);
    in_fp64(ref, s);
    for (size_t i = 0; i < all; i++) {
        diff += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        norm += want[i] * want[i];
    }
    if (!(sqrt(diff) <= 1e-5 * sqrt(norm)))
        fail_msg("%s: %zux%zux%zux%zu to %zu, pad %zu, flags %u: %g", be->name, s->n, s->high, s->wide, s->in, s->out,
                 s->attr.pad, s->attr.flags, sqrt(diff / norm));
    run(be, many, s, &packed, x, 0, s->n, again);
    assert_memory_equal(again, got, all * sizeof *got);
    for (size_t i = 0; i < s->n; i++) {
        run(be, alone, s, &packed, x, i, 1, again);
        assert_memory_equal(again, got + i * each, each * sizeof *got);
    }
    be->free(alone, room);
}

static void random_shapes(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    int taken = 0;
    if (!be->windows_bytes)
        return;
    for (size_t i = 0; i < ROOM; i++)
        nans[i] = NAN;
    for (int i = 0; i < SHAPES; i++) {
        const struct shape_of_one s = some_shape();
        size_t bytes = be->windows_bytes(&s.attr, s.high, s.wide);
        fill(x, x64, s.n * s.high * s.wide * s.in);
        fill(w, w64, s.out * 9 * s.in);
        fill(bias, bias64, s.out);
        fill(add, add64, s.n * s.oh * s.ow * s.out);
        if (bytes)
            one_shape(be, alone, many, ref, &s, bytes);
        taken += bytes > 0;
    }
    assert_in_range(taken, SHAPES / 10, SHAPES - 1);
}

static void test_random_shapes(void **st)
{
    (void)st;
    kit_each(3, random_shapes);
}

/* Another stride, window, type of channels or a layer whose turned weights are large goes the direct way. */
static void refused(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    (void)many;
    const struct op_attr good = { .stride = 1, .pad = 1, .window = { 3, 3 }, .n = 32, .k = 9 * 32 };
    if (!be->windows_bytes)
        return;
    assert_int_not_equal(be->windows_bytes(&good, 8, 8), 0);
    assert_int_equal(be->windows_bytes(&good, 5, 5), 0);        /* four tiles of 16 for 25 results */
    struct op_attr a = good;
    a.stride = 2;
    assert_int_equal(be->windows_bytes(&a, 8, 8), 0);
    a = good, a.window[0] = 1, a.k = 3 * 32;
    assert_int_equal(be->windows_bytes(&a, 8, 8), 0);
    a = good, a.k = 9 * 20;
    assert_int_equal(be->windows_bytes(&a, 8, 8), 0);
    a = good, a.n = 512, a.k = 9 * 512;
    assert_int_equal(be->windows_bytes(&a, 8, 8), 0);
    /* Asked for all the same, a self-test says so: outputs that nobody wrote are no wrong result. */
    const struct net_shape image = { 4, { 1, 5, 5, 32 } };
    const struct net_case k = { OP_CONV2D_WINO, good, { image, { 4, { 32, 3, 3, 32 } } }, { image } };
    struct err e;
    assert_int_equal(net_check(be, alone, ref, &k, 1, 1e-5, NULL, &e), ERR_INTERNAL);
    assert_non_null(strstr(e.msg, "no weights of conv2d_wino for 5 x 5"));
}

static void test_what_goes_the_direct_way(void **st)
{
    (void)st;
    kit_each(1, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_shapes), cmocka_unit_test(test_what_goes_the_direct_way) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
