/* SPDX-License-Identifier: Apache-2.0 */
/* test_lt_call.c - operations as cuBLASLt's products: shapes of 1 and odd ones, strides, transposes, bias, sums that are added
 * to, batches; and what it is not asked for. */
#include "lt_kit.h"


struct shape {
    size_t m, n, k, pad, front;
    unsigned flags;
    enum elem factors, out;
};

static size_t at_of(const struct tensor *t, size_t row, size_t col)
{
    return t->offset_bytes / elem_bytes(t->type) + row * t->stride[0] + col;
}

/* fp64 of the same numbers, over all of the buffer: what lies between the rows must not change. */
static void check(struct backend_ctx *c, const struct shape *s, const struct tensor t[4], const double *before)
{
    size_t n[4], left = 0;
    double *of[4];
    for (int i = 0; i < 4; i++)
        of[i] = kit_numbers(c, &t[i], &n[i]);
    double *want = malloc(n[3] * sizeof *want);
    assert_non_null(want);
    memcpy(want, before, n[3] * sizeof *want);
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            double v = s->flags & OP_ACCUMULATE ? before[at_of(&t[3], i, j)] : 0;
            for (size_t k = 0; k < s->k; k++)
                v += of[0][s->flags & MM_TRANS_A ? at_of(&t[0], k, i) : at_of(&t[0], i, k)]
                     * of[1][s->flags & MM_TRANS_B ? at_of(&t[1], j, k) : at_of(&t[1], k, j)];
            want[at_of(&t[3], i, j)] = v + (s->flags & MM_BIAS ? of[2][at_of(&t[2], 0, j)] : 0);
        }
    double most = s->out == ELEM_BF16 ? 0x1p-7 : 1e-5;
    for (size_t i = 0; i < n[3]; i++)
        left += fabs(of[3][i] - want[i]) > most * (1 + fabs(want[i]));
    if (left)
        fail_msg("%zu of %zu numbers of %zu x %zu over %zu, flags %u, are wrong", left, n[3], s->m, s->n, s->k, s->flags);
    for (int i = 0; i < 4; i++)
        free(of[i]);
    free(want);
}

/* One product; the runs of the library that it took. */
static int multiply(struct backend_ctx *c, const struct shape *s)
{
    bool ta = s->flags & MM_TRANS_A, tb = s->flags & MM_TRANS_B;
    const size_t a_cols = ta ? s->m : s->k, b_cols = tb ? s->k : s->n;
    const struct tensor t[4] = {
        kit_matrix(c, s->factors, ta ? s->k : s->m, a_cols, a_cols + s->pad, s->front, 1),
        kit_matrix(c, s->factors, tb ? s->n : s->k, b_cols, b_cols + s->pad, s->front, 2),
        kit_matrix(c, ELEM_F32, 1, s->n, 0, s->front, 3), kit_matrix(c, s->out, s->m, s->n, s->n + s->pad, s->front, 4) };
    size_t n;
    double *before = kit_numbers(c, &t[3], &n);
    const struct op_call o = { .attr.flags = s->flags, .in = { &t[0], &t[1], s->flags & MM_BIAS ? &t[2] : NULL },
                               .out = { &t[3] } };
    int runs = emu_lt.runs;
    (s->factors == ELEM_BF16 ? cuda_matmul_narrow : cuda_matmul)(c, &o);
    runs = emu_lt.runs - runs;
    if (runs)
        check(c, s, t, before);
    kit_quiet();
    free(before);
    for (int i = 0; i < 4; i++)
        kit_drop(c, &t[i]);
    return runs;
}

static void test_shapes(void **st)
{
    (void)st;
    static const size_t sizes[][3] = { { 1, 1, 1 }, { 1, 17, 5 }, { 33, 1, 8 }, { 7, 3, 64 }, { 64, 64, 64 }, { 65, 31, 33 } };
    static const unsigned flags[] = { 0, MM_BIAS, OP_ACCUMULATE, OP_ACCUMULATE | MM_BIAS };
    static const enum elem types[][2] = { { ELEM_BF16, ELEM_F32 }, { ELEM_BF16, ELEM_BF16 }, { ELEM_F32, ELEM_F32 } };
    emu_lt_reset();
    struct backend_ctx *c = kit_lt(true);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int turned = 0; turned < 4; turned++)
            for (int f = 0; f < 4; f++)
                for (int y = 0; y < 3; y++) {
                    size_t pad = (i + (size_t)f) % 3, front = (i + (size_t)y) % 2;
                    struct shape s = { sizes[i][0], sizes[i][1], sizes[i][2], pad, front,
                                       flags[f] | (turned & 1 ? MM_TRANS_A : 0) | (turned & 2 ? MM_TRANS_B : 0), types[y][0],
                                       types[y][1] };
                    bool is_own = s.out == ELEM_BF16 && (s.flags & OP_ACCUMULATE);
                    if (!is_own)
                        assert_int_equal(multiply(c, &s), 1);
                }
    assert_null(backend_cuda_emu.library->news(c));
    kit_close(c);
}

/* A bias in fp32 beside a result in bf16, where the library takes it as it is: nothing is cast. */
static void test_wide_bias(void **st)
{
    (void)st;
    const struct shape s = { 9, 16, 24, 0, 0, MM_TRANS_B | MM_BIAS, ELEM_BF16, ELEM_BF16 };
    for (int takes = 0; takes < 2; takes++) {
        emu_lt_reset();
        emu_lt.takes_wide_bias = takes;
        struct backend_ctx *c = kit_lt(false);
        size_t launches = emu_launches();
        assert_int_equal(multiply(c, &s), 1);
        assert_int_equal(emu_launches() - launches, takes ? 1 : 2);
        assert_int_equal(emu_lt.asks, takes ? 1 : 2);
        kit_close(c);
    }
}

static void test_not_asked(void **st)
{
    (void)st;
    emu_lt_reset();
    struct backend_ctx *c = kit_lt(true);
    const struct shape own[] = { { 8, 8, 8, 0, 0, MM_RELU, ELEM_F32, ELEM_F32 }, { 8, 8, 8, 0, 0, OP_BF16, ELEM_F32, ELEM_F32 } };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_int_equal(multiply(c, &own[i]), 0);
    assert_int_equal(emu_lt.asks, 0);
    kit_close(c);
}

static void test_batches(void **st)
{
    (void)st;
    enum { N = 6, M = 5, J = 7, K = 9 };
    for (int tb = 0; tb < 2; tb++) {
        emu_lt_reset();
        struct backend_ctx *c = kit_lt(true);
        struct tensor t[] = { kit_matrix(c, ELEM_F32, N * M, K, 0, 0, 1), kit_matrix(c, ELEM_F32, N * J, K, 0, 0, 2),
                              kit_matrix(c, ELEM_F32, N * M, J, 0, 0, 3) };
        const size_t dims[3][4] = { { 2, 3, M, K }, { 2, 3, tb ? J : K, tb ? K : J }, { 2, 3, M, J } };
        size_t n[3];
        double *of[3];
        for (int i = 0; i < 3; i++)
            t[i] = tensor_at(t[i].buf, 0, ELEM_F32, 4, dims[i]);
        const struct op_call o = { .attr.flags = tb ? MM_TRANS_B : 0, .in = { &t[0], &t[1] }, .out = { &t[2] } };
        cuda_bmm(c, &o);
        assert_int_equal(emu_lt.runs, 1);
        for (int i = 0; i < 3; i++)
            of[i] = kit_numbers(c, &t[i], &n[i]);
        for (size_t b = 0; b < N; b++)
            for (size_t i = 0; i < M; i++)
                for (size_t j = 0; j < J; j++) {
                    double v = 0;
                    for (size_t k = 0; k < K; k++)
                        v += of[0][(b * M + i) * K + k] * of[1][b * J * K + (tb ? j * K + k : k * J + j)];
                    assert_true(fabs(v - of[2][(b * M + i) * J + j]) < 1e-5 * (1 + fabs(v)));
                }
        for (int i = 0; i < 3; i++) {
            free(of[i]);
            kit_drop(c, &t[i]);
        }
        kit_close(c);
    }
}

static double gelu_of(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/* GELU with its argument and its gradient by the library's ends where those may be, else by the product and the cells: the same
 * numbers. width: 24 lies as the library wants it, 23 does not. */
static void test_gelu(void **st)
{
    (void)st;
    enum { M = 9, K = 16, MOST = M * 24 };
    static const struct { size_t width; uint64_t refused, slow; bool has_x, is_one; } cases[] = {
        { 24, 0, 0, true, true },  { 24, LT_END_GELU_AUX_BIAS, 0, true, false }, { 23, 0, 0, true, false },
        { 24, 0, 0, false, true }, { 24, 0, LT_END_GELU_AUX_BIAS, true, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        emu_lt_reset();
        emu_lt.refused_end = cases[i].refused;
        emu_lt.slow_end = cases[i].slow;
        struct backend_ctx *c = kit_lt(true);
        const size_t n = cases[i].width;
        const struct tensor t[] = { kit_matrix(c, ELEM_BF16, M, K, 0, 0, 1),   kit_matrix(c, ELEM_BF16, n, K, 0, 0, 2),
                                    kit_matrix(c, ELEM_F32, 1, n, 0, 0, 3),    kit_matrix(c, ELEM_BF16, M, n, 0, 0, 4),
                                    kit_matrix(c, ELEM_BF16, M, n, 0, 0, 5),   kit_matrix(c, ELEM_BF16, K, n, 0, 0, 6),
                                    kit_matrix(c, ELEM_BF16, M, n, 0, 0, 7) };
        struct tensor bias = tensor_at(t[2].buf, 0, ELEM_F32, 1, &n);
        size_t count;
        double *of[7];
        const struct op_call f = { .attr.flags = MM_TRANS_B | MM_BIAS, .in = { &t[0], &t[1], &bias },
                                   .out = { &t[3], cases[i].has_x ? &t[4] : NULL } };
        cuda_matmul_gelu(c, &f);
        size_t launches = emu_launches();
        cuda_matmul_gelu(c, &f);                        /* the cast of the bias, the product, and where it must be a pass */
        assert_int_equal(emu_launches() - launches, cases[i].is_one ? 2 : 3);
        const struct op_call g = { .in = { &t[0], &t[5], &t[4] }, .out = { &t[6] } };
        cuda_matmul_gelu_bwd(c, &g);
        for (int k = 0; k < 7; k++)
            of[k] = kit_numbers(c, &t[k], &count);
        for (size_t r = 0; r < M; r++)
            for (size_t j = 0; j < n; j++) {
                double v = of[2][j], d = 0, x = of[4][r * n + j], h = 1e-4;
                for (size_t k = 0; k < K; k++) {
                    v += of[0][r * K + k] * of[1][j * K + k];
                    d += of[0][r * K + k] * of[5][k * n + j];
                }
                d *= (gelu_of(x + h) - gelu_of(x - h)) / (2 * h);
                assert_true(fabs(of[3][r * n + j] - gelu_of(v)) < 0.02 * (1 + fabs(v)));
                assert_true(!cases[i].has_x || fabs(x - v) <= 0x1p-8 * fabs(v) + 1e-6);
                assert_true(fabs(of[6][r * n + j] - d) < 0.02 * (1 + fabs(d)));
            }
        for (int k = 0; k < 7; k++) {
            free(of[k]);
            kit_drop(c, &t[k]);
        }
        kit_close(c);
    }
}

/* A weight's gradient and its bias's, set by one product; added to, or with a library that does not do it, by two passes. */
static void test_sum(void **st)
{
    (void)st;
    enum { T = 40, M = 12, N = 16 };
    static const struct { uint64_t refused, slow; bool adds; size_t launches; } cases[] = {
        { 0, 0, false, 1 }, { LT_END_BGRADB, 0, false, 3 }, { 0, LT_END_BGRADB, false, 3 }, { 0, 0, true, 3 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        emu_lt_reset();
        emu_lt.refused_end = cases[i].refused;
        emu_lt.slow_end = cases[i].slow;
        struct backend_ctx *c = kit_lt(true);
        const struct tensor t[] = { kit_matrix(c, ELEM_BF16, T, M, 0, 0, 1), kit_matrix(c, ELEM_BF16, T, N, 0, 0, 2),
                                    kit_matrix(c, ELEM_F32, M, N, 0, 0, 3), kit_matrix(c, ELEM_F32, 1, M, 0, 0, 4) };
        struct tensor sum = tensor_at(t[3].buf, 0, ELEM_F32, 1, (size_t[]){ M });
        const struct op_call o = { .attr.flags = MM_TRANS_A | (cases[i].adds ? OP_ACCUMULATE : 0), .in = { &t[0], &t[1] },
                                   .out = { &t[2], &sum } };
        size_t n;
        cuda_matmul_sum(c, &o);
        double *before[] = { kit_numbers(c, &t[2], &n), kit_numbers(c, &t[3], &n) }, *of[4];
        size_t launches = emu_launches();
        cuda_matmul_sum(c, &o);
        assert_int_equal(emu_launches() - launches, cases[i].launches);
        for (int k = 0; k < 4; k++)
            of[k] = kit_numbers(c, &t[k], &n);
        for (size_t r = 0; r < M; r++) {
            double s = cases[i].adds ? before[1][r] : 0;
            for (size_t j = 0; j < N; j++) {
                double v = cases[i].adds ? before[0][r * N + j] : 0;
                for (size_t k = 0; k < T; k++)
                    v += of[0][k * M + r] * of[1][k * N + j];
                assert_true(fabs(v - of[2][r * N + j]) < 1e-4 * (1 + fabs(v)));
            }
            for (size_t k = 0; k < T; k++)
                s += of[0][k * M + r];
            assert_true(fabs(s - of[3][r]) < 1e-4 * (1 + fabs(s)));
        }
        for (int k = 0; k < 4; k++) {
            free(of[k]);
            kit_drop(c, &t[k]);
        }
        free(before[0]), free(before[1]);
        kit_quiet();
        kit_close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shapes), cmocka_unit_test(test_wide_bias),
                                        cmocka_unit_test(test_not_asked), cmocka_unit_test(test_batches),
                                        cmocka_unit_test(test_gelu), cmocka_unit_test(test_sum) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
