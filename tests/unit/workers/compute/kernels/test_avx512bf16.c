/* SPDX-License-Identifier: Apache-2.0 */
/* test_avx512bf16.c - products of pairs over the plain form of pair_micro, on any machine: against fp64 over the same rounded
 * factors, and bit by bit against the tier where the machine has it; what the other tiers make of OP_BF16 by rounding first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "workers/compute/kernels/tile_int.h"

#pragma GCC diagnostic ignored "-Wunused-function"      /* of a tier only its products are here */
#define PAIRS
#define ROUNDED(c, o, kernel) ((void)0)
#define MR AVX512_MR
#define NR AVX512_NR
#define DEPTH_LANES AVX512_DEPTH_LANES
#include "workers/compute/kernels/tile_plain_int.h"
#include "workers/compute/kernels/net_int.h"
#include "workers/compute/kernels/gemm_int.h"
#include "workers/compute/kernels/conv_int.h"
#include "workers/compute/kernels/call_int.h"
#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/selftest_int.h"

static void k_matmul(struct backend_ctx *c, const struct op_call *o)
{
    struct mat a = in_mat(o, 0), b = in_mat(o, 1), out = mat_of(o->out[0]), room;
    matmul(c, o->attr.flags, &a, &b, maybe(o->in[2], &room), &out);
}

#include "workers/compute/kernels/pairs_int.h"
#include "each_kit.h"

static kernel_table kernels = { KERNELS_PRODUCTS(ELEM_F32, PAIR_KERNEL, PAIR_KERNEL) };
static const struct backend plain = { .name = "plain pairs", .properties = BE_HOST_MEMORY | BE_BF16, .kernels = &kernels };
static const struct backend *tier;          /* NULL: this machine has none */

static void fill(float *p, double *wide, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (float)below(1 << 20) / (1 << 19) - 1;
        wide[i] = (double)p[i];
    }
}

static size_t some_size(size_t block)
{
    return below(4) ? 1 + below(block) : below(2) ? block + below(5) : 1;
}

static void one_shape(struct backend_ctx *ctx, struct backend_ctx *ref, struct backend_ctx *real, struct backend_ctx *many)
{
    enum { MOST = 300 * 500 };
    static float a[MOST], b[MOST], bias[500], before[MOST], y[MOST], z[MOST];
    static double a64[MOST], b64[MOST], bias64[500], y64[MOST];
    size_t m = some_size(MC), n = some_size(2 * NR), k = some_size(2 * KC), pad = below(3);
    unsigned flags = (unsigned)below(32) | OP_BF16;
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
    call_matmul(&plain, ctx, flags, &A, &B, &S, &Y);
    call_matmul(&backend_ref, ref, flags, &A64, &B64, &S64, &Y64);
    for (size_t i = 0; i < out; i++) {
        diff += ((double)y[i] - y64[i]) * ((double)y[i] - y64[i]);
        norm += y64[i] * y64[i];
    }
    if (!(sqrt(diff) <= 1e-5 * sqrt(norm)))
        fail_msg("%zux%zux%zu flags %u: %g", m, n, k, flags, sqrt(diff / norm));
    for (int i = 0; tier && i < 2; i++) {
        memcpy(z, before, out * sizeof *z);
        call_matmul(tier, i ? many : real, flags, &A, &B, &S, &Z);
        for (size_t at = 0; at < out; at++)
            if (memcmp(&z[at], &y[at], sizeof *z))
                fail_msg("%zux%zux%zu flags %u: number %zu is %a by the tier, %a by its plain form", m, n, k, flags, at,
                         (double)z[at], (double)y[at]);
    }
}

static void one_convolution(int i, struct backend_ctx *ctx, struct backend_ctx *ref, struct backend_ctx *real)
{
    struct net_case k[NET_CASES_MAX];
    struct err e;
    struct net_size s = { .n = 1 + below(2), .t = 1, .heads = 1, .kv_heads = 1, .d = 1, .groups = 1, .window = 1 + below(4),
                          .stride = 1 + below(2), .in = 1 + below(i % 4 ? 9 : 34), .out = 1 + below(i % 4 ? NR + 3 : 2 * NR) };
    s.pad = below(s.window);
    s.side = s.window + below(i % 4 ? 2 * MR : 4);
    for (size_t j = 0, n = net_cases(&s, k); j < n; j++) {
        uint64_t hash[2], seed = (uint64_t)i * 64 + j + 1;
        if (!(k[j].attr.flags & OP_BF16))
            continue;
        if (net_check(&plain, ctx, ref, &k[j], seed, 1e-5, &hash[0], &e) != ERR_OK)
            fail_msg("size %d: %s", i, e.msg);
        if (tier && net_check(tier, real, ref, &k[j], seed, 1e-5, &hash[1], &e) != ERR_OK)
            fail_msg("size %d: %s", i, e.msg);
        if (tier && hash[0] != hash[1])
            fail_msg("size %d: %s has other bits than its plain form", i, op_name(k[j].op));
    }
}

static void test_pairs(void **st)
{
    (void)st;
    struct pool *pool;
    struct hw hw;
    struct err e;
    hw_read(&hw);
#if defined(__x86_64__)
    tier = backend_avx512bf16.probe(&hw) ? &backend_avx512bf16 : NULL;
#endif
    assert_int_equal(pool_new(3, &pool, &e), ERR_OK);
    struct backend_ctx *ctx = kit_open(&backend_ref, pool), *ref = kit_open(&backend_ref, NULL);
    struct backend_ctx *real = tier ? kit_open(tier, NULL) : NULL, *many = tier ? kit_open(tier, pool) : NULL;
    for (int i = 0; i < 150; i++)
        one_shape(ctx, ref, real, many);
    for (int i = 0; i < 40; i++)
        one_convolution(i, ctx, ref, real);
    if (!tier)
        print_message("this machine has no avx512bf16: plain form against fp64 alone\n");
    struct backend_ctx *all[] = { ctx, ref, real, many };
    for (int i = 0; i < 4; i++)
        cpu_close(all[i]);
    pool_free(pool);
}

/* Every backend here: OP_BF16 is the product of rounded factors, not of the factors. */
static void rounds(const struct backend *be, struct backend_ctx *alone, struct backend_ctx *many, struct backend_ctx *ref)
{
    enum { M = 5, N = 7, K = 9 };
    float a[M * K], b[N * K], y[2][M * N];
    double a64[M * K], b64[N * K], want[M * N];
    struct mat A = mat_host(a, ELEM_F32, M, K), B = mat_host(b, ELEM_F32, N, K), W = mat_host(want, ELEM_F64, M, N);
    struct mat A64 = mat_host(a64, ELEM_F64, M, K), B64 = mat_host(b64, ELEM_F64, N, K);
    double off[2] = { 0 };
    fill(a, a64, M * K);
    fill(b, b64, N * K);
    for (size_t i = 0; i < M * K; i++)
        a64[i] = (double)bf16_to_f32(bf16_of(a[i]));
    for (size_t i = 0; i < N * K; i++)
        b64[i] = (double)bf16_to_f32(bf16_of(b[i]));
    call_matmul(&backend_ref, ref, MM_TRANS_B, &A64, &B64, NULL, &W);
    for (int i = 0; i < 2; i++) {
        struct mat Y = mat_host(y[i], ELEM_F32, M, N);
        assert_true(be->properties & BE_BF16);
        call_matmul(be, i ? many : alone, MM_TRANS_B | (i ? 0 : OP_BF16), &A, &B, NULL, &Y);
        for (size_t j = 0; j < M * N; j++)
            off[i] += fabs((double)y[i][j] - want[j]);
    }
    if (!(off[0] < 1e-4 && off[1] > 1e-2))
        fail_msg("%s: off the product of rounded factors by %g, without OP_BF16 by %g", be->name, off[0], off[1]);
}

static void test_every_backend_rounds(void **st)
{
    (void)st;
    kit_each(2, rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pairs), cmocka_unit_test(test_every_backend_rounds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
