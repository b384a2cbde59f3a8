/* SPDX-License-Identifier: Apache-2.0 */
/* tier_kit.h - the product of one tier over its plain tile operations: 200 random shapes against fp64, and bit by bit
 * against the tier where the machine has it. Included after cmocka.h with MR, NR, QR, QN and TIER defined; the other halves of a
 * backend are the reference's. */
#include <stdlib.h>
#include <string.h>

#include "workers/compute/kernels/tile_plain_int.h"
#include "workers/compute/kernels/net_int.h"
#include "workers/compute/kernels/gemm_int.h"
#include "workers/compute/kernels/conv_int.h"
#include "workers/compute/kernels/depthwise_int.h"
#include "workers/compute/kernels/call_int.h"
#define PAIR_COLS_PLAIN
#include "workers/compute/kernels/dot_plain_int.h"
#include "workers/compute/kernels/q8_int.h"
#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/selftest_int.h"
#include "workers/compute/pool.h"

static uint64_t state = 11;

static size_t below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

static void fill(float *p, double *wide, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (float)below(1 << 20) / (1 << 19) - 1;
        wide[i] = (double)p[i];
    }
}

/* Odd sizes, one, and what passes a block of rows, a step of depth and a group of panels. */
static size_t some_size(size_t block)
{
    switch (below(5)) {
    case 0: return 1;
    case 1: return block + below(5);
    case 2: return 2 * block - below(3);
    default: return 1 + below(block);
    }
}

struct tier_run {
    struct backend_ctx *ctx, *ref, *real, *real_many;   /* plain tiles, fp64, the tier alone and with three threads; or NULL */
};

static void one_shape(const struct tier_run *r, size_t m, size_t n, size_t k, unsigned flags)
{
    enum { MOST = 300 * 500 };
    static float a[MOST], b[MOST], bias[500], before[MOST], y[MOST], z[MOST];
    static double a64[MOST], b64[MOST], bias64[500], y64[MOST];
    size_t pad = below(3);
    bool ta = flags & MM_TRANS_A, tb = flags & MM_TRANS_B;
    struct mat A = { ELEM_F32, ta ? k : m, ta ? m : k, (ta ? m : k) + pad, NULL, 0, a }, A64 = A;
    struct mat B = { ELEM_F32, tb ? n : k, tb ? k : n, (tb ? k : n) + pad, NULL, 0, b }, B64 = B;
    struct mat Y = { ELEM_F32, m, n, n + pad, NULL, 0, y }, Z = Y, Y64 = Y, S = mat_host(bias, ELEM_F32, 1, n), S64 = S;
    size_t out = m * (n + pad);
    double diff = 0, norm = 0;
    assert_true(A.rows * A.stride <= MOST && B.rows * B.stride <= MOST && out <= MOST && n <= 500);
    A64.type = B64.type = Y64.type = S64.type = ELEM_F64;
    A64.ptr = a64, B64.ptr = b64, Y64.ptr = y64, S64.ptr = bias64, Z.ptr = z;
    fill(a, a64, A.rows * A.stride);
    fill(b, b64, B.rows * B.stride);
    fill(bias, bias64, n);
    fill(before, y64, out);
    memcpy(y, before, out * sizeof *y);
    matmul(r->ctx, flags, &A, &B, flags & MM_BIAS ? &S : NULL, &Y);
    call_matmul(&backend_ref, r->ref, flags, &A64, &B64, &S64, &Y64);
    for (size_t i = 0; i < out; i++) {      /* the padding must be untouched, too */
        diff += ((double)y[i] - y64[i]) * ((double)y[i] - y64[i]);
        norm += y64[i] * y64[i];
    }
    if (!(sqrt(diff) <= 1e-5 * sqrt(norm)))
        fail_msg("%zux%zux%zu flags %u: %g", m, n, k, flags, sqrt(diff / norm));
    for (int i = 0; r->real && i < 2; i++) {
        memcpy(z, before, out * sizeof *z);
        call_matmul(&TIER, i ? r->real_many : r->real, flags, &A, &B, &S, &Z);
        assert_memory_equal(y, z, out * sizeof *y);
    }
}

static void test_tile_operations(void **st)
{
    (void)st;
    struct backend_ctx *ctx, *ref, *real = NULL, *many = NULL;
    struct pool *pool;
    struct hw hw;
    struct err e;
    hw_read(&hw);
    assert_int_equal(pool_new(3, &pool, &e), ERR_OK);
    assert_int_equal(backend_ref.open(&backend_ref, pool, &ctx, &e), ERR_OK);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    if (TIER.probe(&hw)) {
        assert_int_equal(TIER.open(&TIER, NULL, &real, &e), ERR_OK);
        assert_int_equal(TIER.open(&TIER, pool, &many, &e), ERR_OK);
    }
    const struct tier_run r = { ctx, ref, real, many };
    for (int i = 0; i < 200; i++) {
        size_t m = some_size(MC), n = some_size(2 * NR), k = some_size(KC);
        one_shape(&r, m, n, k, (unsigned)below(32));
    }
    for (size_t i = 0; i < 24; i++)     /* few rows by a large w: x becomes panels */
        one_shape(&r, (i % 3 + 1) * NR - i / 3 % 4, MC + 300 - i, KC + i,
                  (unsigned)below(2) * MM_BIAS + (unsigned)below(2) * MM_RELU + MM_TRANS_B);
    if (!real)
        print_message("this machine has no %s: plain form against fp64 alone\n", TIER.name);
    struct backend_ctx *all[] = { ctx, ref, real, many };
    for (int i = 0; i < 4; i++)
        cpu_close(all[i]);
    pool_free(pool);
}

/* A packed product has the bits of the plain one, row by row and for one row alone. */
static void test_packed(void **st)
{
    (void)st;
    enum { M = 9, N = 5 * NR + 3, K = KC + 9 };
    static float x[M * K], w[N * K], y[M * N], z[M * N];
    static double wide[N * K];
    struct backend_ctx *c;
    struct err e;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &c, &e), ERR_OK);
    fill(x, wide, M * K);
    fill(w, wide, N * K);
    struct buffer *p = cpu_alloc(c, pack_bytes(N, K));
    struct mat X = mat_host(x, ELEM_F32, M, K), W = mat_host(w, ELEM_F32, N, K), Y = mat_host(y, ELEM_F32, M, N);
    struct mat P = mat_at(p, 0, ELEM_U8, 1, p->size_bytes);
    pack(c, &W, &P);
    matmul(c, MM_TRANS_B, &X, &W, NULL, &Y);
    for (size_t i = 0; i < M; i++) {
        struct mat xi = mat_host(x + i * K, ELEM_F32, 1, K), zi = mat_host(z + i * N, ELEM_F32, 1, N);
        matmul_packed(c, 0, &xi, &P, N, K, NULL, &zi);
    }
    assert_memory_equal(y, z, sizeof y);
    cpu_free(c, p);
    cpu_close(c);
}

/* Convolutions over plain tiles: random images and windows against fp64, and the bits of the tier where there is one. */
static void test_convolutions(void **st)
{
    (void)st;
    static kernel_table kernels = { [OP_CONV2D][ELEM_F32] = k_conv2d, [OP_DEPTHWISE][ELEM_F32] = k_depthwise,
                                    [OP_CONV2D_PACKED][ELEM_F32] = k_conv2d_packed,
                                    [OP_CONV2D_BWD_X][ELEM_F32] = k_conv2d_bwd_x, [OP_CONV2D_BWD_W][ELEM_F32] = k_conv2d_bwd_w };
    const struct backend plain = { .name = "plain tiles", .properties = BE_HOST_MEMORY, .kernels = &kernels };
    struct backend_ctx *ctx, *ref, *real = NULL;
    struct net_case k[NET_CASES_MAX];
    struct hw hw;
    struct err e;
    hw_read(&hw);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ctx, &e), ERR_OK);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    if (TIER.probe(&hw))
        assert_int_equal(TIER.open(&TIER, NULL, &real, &e), ERR_OK);
    for (int i = 0; i < 40; i++) {
        struct net_size s = { .n = 1 + below(2), .t = 1, .heads = 1, .kv_heads = 1, .d = 1, .groups = 1, .window = 1 + below(4),
                              .stride = 1 + below(2), .in = 1 + below(i % 4 ? 9 : 34), .out = 1 + below(i % 4 ? NR + 3 :
                                  2 * NR) };
        s.pad = below(s.window);
        s.side = s.window + below(i % 4 ? 2 * MR : 4);
        if (i % 10 == 9)        /* what Winograd's products take, at stride 1 and 2 */
            s.window = 3, s.pad = 1, s.stride = 1 + i / 10 % 2, s.in = NR * (1 + below(2)), s.out = NR * (1 + below(2)),
            s.side = 7 * s.stride + below(2);
        for (size_t j = 0, n = net_cases(&s, k); j < n; j++) {
            uint64_t hash[2], seed = (uint64_t)i * 64 + j + 1;
            if (!kernels[k[j].op][ELEM_F32])
                continue;
            if (net_check(&plain, ctx, ref, &k[j], seed, 1e-5, &hash[0], &e) != ERR_OK)
                fail_msg("size %d: %s", i, e.msg);
            if (real && net_check(&TIER, real, ref, &k[j], seed, 1e-5, &hash[1], &e) != ERR_OK)
                fail_msg("size %d: %s", i, e.msg);
            if (real && hash[0] != hash[1])
                fail_msg("size %d: %s has other bits than its plain form", i, op_name(k[j].op));
        }
    }
    struct backend_ctx *all[] = { ctx, ref, real };
    for (int i = 0; i < 3; i++)
        cpu_close(all[i]);
}

/* Winograd's windows of served models over plain tiles: the bits of the tier. What they are near to is test_wino.c's. */
static void test_windows(void **st)
{
    (void)st;
    enum { SIDE = 7, C = 2 * NR };             /* tiles cut at both edges */
    static float x[2 * SIDE * SIDE * C], w[C * 9 * C], bias[C], got[2][2 * SIDE * SIDE * C];
    static double wide[(2 * SIDE * SIDE + 9 * C) * C];
    static kernel_table kernels = { KERNELS_WINO };
    struct hw hw;
    struct err e;
    hw_read(&hw);
    if (!TIER.probe(&hw))
        return;
    fill(x, wide, sizeof x / sizeof *x);
    fill(w, wide, sizeof w / sizeof *w);
    fill(bias, wide, C);
    const struct op_attr attr = { .stride = 1, .pad = 1, .window = { 3, 3 }, .n = C, .k = 9 * C, .flags = MM_BIAS | MM_RELU };
    size_t bytes = windows_bytes(&attr, SIDE, SIDE);
    assert_true(bytes > 0);
    assert_int_equal(bytes, TIER.windows_bytes(&attr, SIDE, SIDE));
    for (int i = 0; i < 2; i++) {
        struct backend_ctx *c;
        assert_int_equal((i ? &TIER : &backend_ref)->open(i ? &TIER : &backend_ref, NULL, &c, &e), ERR_OK);
        struct buffer *room = cpu_alloc(c, bytes);
        struct tensor X = tensor_at(NULL, 0, ELEM_F32, 4, (size_t[]){ 2, SIDE, SIDE, C }), Y = X;
        struct tensor W = tensor_at(NULL, 0, ELEM_F32, 4, (size_t[]){ C, 3, 3, C }), B = tensor_at(NULL, 0, ELEM_F32, 1, &attr.n);
        struct tensor P = tensor_at(room, 0, ELEM_U8, 1, &bytes);
        X.ptr = x, W.ptr = w, Y.ptr = got[i], B.ptr = bias;
        const struct op_call pack = { attr, { &W }, { &P } }, call = { attr, { &X, &P, &B }, { &Y } };
        (i ? *TIER.kernels : kernels)[OP_WINO_PACK][ELEM_F32](c, &pack);
        (i ? *TIER.kernels : kernels)[OP_CONV2D_WINO][ELEM_F32](c, &call);
        cpu_free(c, room);
        cpu_close(c);
    }
    assert_memory_equal(got[0], got[1], sizeof got[0]);
}

/* Products of whole numbers over a plain tile of this tier's size: the bits of the reference. */
static void test_whole_numbers(void **st)
{
    (void)st;
    static kernel_table kernels = { KERNELS_Q8, KERNELS_QW };
    const struct backend plain = { .name = "plain tiles", .properties = BE_HOST_MEMORY, .kernels = &kernels, .alloc = cpu_alloc,
                                   .free = cpu_free, .pack_q8_bytes = q8_pack_bytes, .q8_windows_bytes = q8_windows_bytes };
    struct backend_ctx *ctx, *ref;
    struct err e;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ctx, &e), ERR_OK);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    if (q8_selftest(&plain, ctx, ref, NULL, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    cpu_close(ctx);
    cpu_close(ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_tile_operations), cmocka_unit_test(test_packed),
                                        cmocka_unit_test(test_convolutions), cmocka_unit_test(test_windows),
                                        cmocka_unit_test(test_whole_numbers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
