/* SPDX-License-Identifier: Apache-2.0 */
/* test_selftest_net.c - every backend at random sizes of attention, images and norms against the fp64 reference, with the same
 * bits for one
 * thread and for three. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "../../../../lib/share.h"
#include "each_kit.h"
#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/selftest_int.h"

/* Around the blocks of 48 queries, panels of 16 and 32 columns, one of everything. */
static struct net_size some_size(int i)
{
    static const size_t tokens[] = { 1, 2, 47, 48, 49, 97, 130 }, depth[] = { 1, 2, 15, 16, 33, 64 }, window[] = { 1, 2, 3, 5 };
    struct net_size s = { .n = 1 + below(3), .kv_heads = 1 + below(2), .d = depth[below(6)], .window = window[below(4)],
                          .stride = 1 + below(2) };
    s.heads = s.kv_heads * (1 + below(2));
    s.t = tokens[(size_t)i % 7];
    s.pad = below(s.window);
    s.side = s.window + below(9);
    s.groups = 1 + below(4);
    s.in = s.groups * (1 + below(20));
    s.out = 1 + below(40);
    return s;
}

static struct tensor host_image(float *p, size_t n, size_t h, size_t w, size_t c)
{
    struct tensor t = tensor_at(NULL, 0, ELEM_F32, 4, (size_t[]){ n, h, w, c });
    t.ptr = p;
    return t;
}

static void random_sizes(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    struct net_case k[NET_CASES_MAX];
    struct err e;
    const int sizes = share_of("random sizes of a backend", 7, 14);     /* each number of tokens once */
    for (int i = 0; i < sizes; i++) {
        struct net_size s = some_size(i);
        for (size_t j = 0, n = net_cases(&s, k); j < n; j++) {
            uint64_t hash[2], seed = (uint64_t)i * 64 + j + 1;
            if (net_check(be, alone, ref, &k[j], seed, 1e-5, &hash[0], &e) != ERR_OK
                || net_check(be, many, ref, &k[j], seed, 1e-5, &hash[1], &e) != ERR_OK)
                fail_msg("size %d: %s", i, e.msg);
            if (hash[0] != hash[1])
                fail_msg("size %d: %s of %s has other bits with three threads", i, op_name(k[j].op), be->name);
        }
    }
}

static void test_random_sizes(void **st)
{
    (void)st;
    kit_each(3, random_sizes);
}

/* Windows of 3 × 3 over whole vectors of channels (wino_int.h, at stride 2 wino_stride_int.h): sizes around their tiles of 4 × 4
 * results and chunks of 96, each operation within the bound of all, with the same bits for three threads, and an image with the
 * same bits in any batch. */
static void square_windows(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    static const size_t side[] = { 4, 7, 8, 13 }, side_at_two[] = { 7, 13, 16, 29 }, channels[] = { 16, 32, 48 };
    struct net_case k[NET_CASES_MAX];
    struct err e;
    for (int i = 0; i < 10; i++) {
        struct net_size s = { .n = i % 4 == 3 ? 7 : 1 + below(2), .t = 1, .heads = 1, .kv_heads = 1, .d = 1, .groups = 4,
                              .window = 3, .stride = 1 + i / 5, .pad = i % 4 ? 1 : below(3), .side = side[i % 4],
                              .in = channels[below(3)], .out = channels[below(3)] };
        if (i >= 5)             /* whole panels of every tier */
            s.side = side_at_two[i % 4], s.pad = 1, s.in = i % 4 ? 32 : 64, s.out = i % 2 ? 32 : 64;
        for (size_t j = 0, n = net_cases(&s, k); j < n; j++) {
            uint64_t hash[2], seed = (uint64_t)i * 64 + j + 1;
            if (k[j].op != OP_CONV2D && k[j].op != OP_CONV2D_BWD_X && k[j].op != OP_CONV2D_BWD_W)
                continue;
            if (i >= 5 && k[j].attr.flags & (MM_BIAS | OP_BF16))        /* these go another way */
                continue;
            if (i == 7 && k[j].op != OP_CONV2D_BWD_W)   /* more than a chunk: any_batch has the other two */
                continue;
            if (net_check(be, alone, ref, &k[j], seed, 1e-5, &hash[0], &e) != ERR_OK
                || net_check(be, many, ref, &k[j], seed, 1e-5, &hash[1], &e) != ERR_OK)
                fail_msg("size %d: %s", i, e.msg);
            if (hash[0] != hash[1])
                fail_msg("size %d: %s of %s has other bits with three threads", i, op_name(k[j].op), be->name);
        }
    }
}

/* Four images of x are 100 tiles at either stride. */
static void any_batch_at(const struct backend *be, struct backend_ctx *alone, size_t stride, size_t side, size_t out)
{
    enum { N = 4, SIDE = 38, C = 32, OUT = 48, COARSE = 19 };
    static float x[N * SIDE * SIDE * C], w[OUT * 9 * C], y[N * COARSE * COARSE * OUT], one[COARSE * COARSE * OUT];
    static float dx[N * SIDE * SIDE * C], back[SIDE * SIDE * C];
    const struct op_attr attr = { .stride = stride, .pad = 1, .window = { 3, 3 } };
    const size_t coarse = (side - 1) / stride + 1, each = side * side * C, made = coarse * coarse * out;
    assert_true(side <= SIDE && coarse <= COARSE && out <= OUT);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)below(1 << 20) / (1 << 19) - 1;
    for (size_t i = 0; i < sizeof w / sizeof *w; i++)
        w[i] = (float)below(1 << 20) / (1 << 22);
    const struct tensor W = host_image(w, out, 3, 3, C);
    for (size_t i = 0; i <= N; i++) {           /* all, then each alone */
        const size_t n = i ? 1 : N, at = i ? i - 1 : 0;
        const struct tensor X = host_image(x + at * each, n, side, side, C), Y = host_image(i ? one : y, n, coarse, coarse, out);
        const struct tensor dX = host_image(i ? back : dx, n, side, side, C);
        const struct tensor dY = host_image(y + at * made, n, coarse, coarse, out);
        const struct op_call forward = { .attr = attr, .in = { &X, &W }, .out = { &Y } };
        const struct op_call backward = { .attr = attr, .in = { &W, &dY }, .out = { &dX } };
        (*be->kernels)[OP_CONV2D][ELEM_F32](alone, &forward);
        (*be->kernels)[OP_CONV2D_BWD_X][ELEM_F32](alone, &backward);
        if (i)
            assert_memory_equal(one, y + at * made, made * sizeof *y);
        if (i)
            assert_memory_equal(back, dx + at * each, each * sizeof *dx);
    }
}

static void any_batch(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    (void)many, (void)ref;
    any_batch_at(be, alone, 1, 18, 48);
    any_batch_at(be, alone, 2, 38, 32);
}

static void test_square_windows(void **st)
{
    (void)st;
    kit_each(3, square_windows);
    kit_each(3, any_batch);
}

/* Dropout keeps about its share, has the same draws for the same counter and others for the next, and is off outside training. */
static void test_dropout(void **st)
{
    (void)st;
    enum { N = 100000 };
    static float x[N], y[N], z[N];
    bool has_first = false;
    struct step_scalars at = { .seed = 7, .counter = 3, .is_training = 1 };
    struct backend_ctx *c;
    struct hw hw;
    struct err e;
    hw_read(&hw);
    for (int i = 0; i < N; i++)
        x[i] = 1;
    struct mat X = mat_host(x, ELEM_F32, 1, N), Y = mat_host(y, ELEM_F32, 1, N), S = mat_host(&at, ELEM_U8, 1, sizeof at);
    for (const struct backend *const *it = backend_list(); *it; it++) {
        const struct op_attr attr = { .rate = 0.25, .stream = 1 };
        size_t gone = 0, same = 0;
        if (!(*it)->probe(&hw))
            continue;
        assert_int_equal((*it)->open(*it, NULL, &c, &e), ERR_OK);
        at.counter = 3, at.is_training = 1;
        call_op(*it, c, OP_DROPOUT, &attr, CALL_INS(&X, &S), CALL_INS(&Y));
        for (int i = 0; i < N; i++) {
            gone += y[i] == 0;
            assert_true(y[i] == 0 || fabsf(y[i] - 4 / 3.0f) < 1e-6f);
        }
        assert_true(gone > N / 4 - 3 * 137 && gone < N / 4 + 3 * 137);     /* three deviations of a binomial */
        if (!has_first)
            memcpy(z, y, sizeof z);
        has_first = true;
        assert_memory_equal(z, y, sizeof z);
        at.counter = 4;
        call_op(*it, c, OP_DROPOUT, &attr, CALL_INS(&X, &S), CALL_INS(&Y));
        for (int i = 0; i < N; i++)
            same += (y[i] == 0) == (z[i] == 0);
        assert_true(same < N * 7 / 10);
        at.is_training = 0;
        call_op(*it, c, OP_DROPOUT, &attr, CALL_INS(&X, &S), CALL_INS(&Y));
        assert_memory_equal(x, y, sizeof x);
        (*it)->close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_sizes), cmocka_unit_test(test_square_windows),
                                        cmocka_unit_test(test_dropout) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
