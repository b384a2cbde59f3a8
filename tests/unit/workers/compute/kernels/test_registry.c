/* SPDX-License-Identifier: Apache-2.0 */
/* test_registry.c - every backend × shape table against the fp64 reference; bits equal across variants and across batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/kernels/call.h"
#include "workers/compute/pool.h"

static uint64_t state = 7;

static float rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(int64_t)(state >> 11) / (double)(1ll << 52) - 1);
}

static float *random_f32(size_t n)
{
    float *p = aligned_alloc(64, (n * 4 + 127) / 64 * 64);
    for (size_t i = 0; i < n; i++)
        p[i] = rnd();
    return p;
}

static double *widen(const float *p, size_t n)
{
    double *d = malloc(n * sizeof *d + 8);
    for (size_t i = 0; i < n; i++)
        d[i] = (double)p[i];
    return d;
}

static double rel(const float *got, const double *want, size_t n)
{
    double diff = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)got[i] - want[i];
        diff += d * d;
        norm += want[i] * want[i];
    }
    return sqrt(diff) / (sqrt(norm) + 1e-300);
}

static const struct { size_t m, n, k; } shapes[] = {
    { 1, 1, 1 },   { 1, 10, 64 },  { 1, 512, 784 }, { 1, 31, 5 },   { 1, 97, 191 }, { 2, 33, 193 },  { 3, 1, 17 },   { 5, 10, 128 },
    { 6, 16, 16 }, { 7, 15, 192 }, { 8, 32, 384 },  { 9, 65, 385 }, { 32, 256, 512 }, { 64, 10, 256 }, { 64, 128, 64 }, { 97, 101, 103 },
    { 128, 64, 64 }, { 200, 300, 1000 }, { 13, 257, 1 },
    { 101, 1050, 35 },          /* blocks of a transposed left factor that serve 256 columns (gemm_int.h) */
};

enum { BACKENDS_MAX = 8 };
struct opened { const struct backend *be; struct backend_ctx *c; };

/* The reference in fp64 is the slow part under the sanitizers: it is asked once, and every backend is compared with it. */
static void check_shape(const struct opened *all, size_t n_all, struct backend_ctx *ref, size_t m, size_t n, size_t k, unsigned flags)
{
    size_t pad = 3;     /* strides wider than the rows */
    bool ta = flags & MM_TRANS_A, tb = flags & MM_TRANS_B;
    size_t ar = ta ? k : m, ac = ta ? m : k, br = tb ? n : k, bc = tb ? k : n, out_n = m * (n + pad);
    float *a = random_f32(ar * (ac + pad)), *b = random_f32(br * (bc + pad)), *bias = random_f32(n), *before = random_f32(out_n), *out = random_f32(out_n);
    double *a64 = widen(a, ar * (ac + pad)), *b64 = widen(b, br * (bc + pad)), *bias64 = widen(bias, n), *out64 = widen(before, out_n);
    struct mat A = { ELEM_F32, ar, ac, ac + pad, NULL, 0, a }, B = { ELEM_F32, br, bc, bc + pad, NULL, 0, b };
    struct mat O = { ELEM_F32, m, n, n + pad, NULL, 0, out }, S = mat_host(bias, ELEM_F32, 1, n);
    struct mat A64 = A, B64 = B, O64 = O, S64 = S;
    A64.type = B64.type = O64.type = S64.type = ELEM_F64;
    A64.ptr = a64, B64.ptr = b64, O64.ptr = out64, S64.ptr = bias64;
    call_matmul(&backend_ref, ref, flags, &A64, &B64, &S64, &O64);
    for (const struct opened *it = all; it < all + n_all; it++) {
        memcpy(out, before, out_n * sizeof *out);
        call_matmul(it->be, it->c, flags, &A, &B, &S, &O);
        double r = rel(out, out64, out_n);          /* the padding must be untouched, too */
        if (r > 2e-6 * sqrt((double)k) && r > 1e-6)
            fail_msg("%s %zux%zux%zu flags %u: %g", it->be->name, m, n, k, flags, r);
    }
    free(a), free(b), free(bias), free(before), free(out), free(a64), free(b64), free(bias64), free(out64);
}

static void each_backend(void (*fn)(const struct backend *, struct backend_ctx *, struct backend_ctx *))
{
    struct hw hw;
    struct err e;
    struct backend_ctx *ref, *c;
    hw_read(&hw);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (const struct backend *const *b = backend_list(); *b; b++) {
        if (!(*b)->probe(&hw))
            continue;
        assert_int_equal((*b)->open(*b, NULL, &c, &e), ERR_OK);
        fn(*b, c, ref);
        (*b)->close(c);
    }
    backend_ref.close(ref);
}

static void test_matmul(void **st)
{
    (void)st;
    struct hw hw;
    struct err e;
    struct backend_ctx *ref;
    struct opened all[BACKENDS_MAX];
    size_t n_all = 0;
    hw_read(&hw);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (const struct backend *const *b = backend_list(); *b; b++)
        if ((*b)->probe(&hw)) {
            assert_true(n_all < BACKENDS_MAX);
            all[n_all].be = *b;
            assert_int_equal((*b)->open(*b, NULL, &all[n_all++].c, &e), ERR_OK);
        }
    assert_true(n_all > 0);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned flags = 0; flags < 32; flags += flags < 8 ? 1 : 5)
            check_shape(all, n_all, ref, shapes[s].m, shapes[s].n, shapes[s].k, flags);
    for (size_t i = 0; i < n_all; i++)
        all[i].be->close(all[i].c);
    backend_ref.close(ref);
}

/* A row has the same bits alone and in any batch, packed or not. */
static void batch_one(const struct backend *be, struct backend_ctx *c, struct backend_ctx *ref)
{
    (void)ref;
    enum { M = 37, N = 130, K = 401 };
    float *x = random_f32(M * K), *w = random_f32(N * K), *bias = random_f32(N), *y = random_f32(M * N), *z = random_f32(N);
    struct mat X = mat_host(x, ELEM_F32, M, K), W = mat_host(w, ELEM_F32, N, K), S = mat_host(bias, ELEM_F32, 1, N);
    struct mat Y = mat_host(y, ELEM_F32, M, N), Z = mat_host(z, ELEM_F32, 1, N);
    struct buffer *p = call_pack(be, c, &W);
    assert_non_null(p);
    call_matmul(be, c, MM_TRANS_B | MM_BIAS | MM_RELU, &X, &W, &S, &Y);
    for (size_t i = 0; i < M; i++) {
        struct mat xi = mat_host(x + i * K, ELEM_F32, 1, K);
        call_matmul_packed(be, c, MM_BIAS | MM_RELU, &xi, p, N, K, &S, &Z);
        assert_memory_equal(z, y + i * N, N * sizeof *z);
    }
    be->free(c, p);
    free(x), free(w), free(bias), free(y), free(z);
}

static void test_batch_invariant(void **st)
{
    (void)st;
    each_backend(batch_one);
}

/* Products, sums and updates that are large enough to be split have the same bits with 1, 2, 3 and 5 threads. */
static void test_any_number_of_threads(void **st)
{
    (void)st;
    enum { M = 200, N = 300, K = 100, P = 1 << 18 };
    struct hw hw;
    struct err e;
    hw_read(&hw);
    float *a = random_f32(M * K), *b = random_f32(N * K), *big = random_f32(P);
    int32_t label[M];
    for (int i = 0; i < M; i++)
        label[i] = i * 7 % N;
    for (const struct backend *const *it = backend_list(); *it; it++) {
        const struct backend *be = *it;
        if (!be->probe(&hw))
            continue;
        assert_true((be->properties & BE_SAME_BITS) && (be->properties & BE_DETERMINISTIC));
        float *want = NULL;
        for (int threads = 1; threads <= 5; threads += threads < 3 ? 1 : 2) {
            struct pool *pool;
            struct backend_ctx *c;
            assert_int_equal(pool_new(threads, &pool, &e), ERR_OK);
            assert_int_equal(be->open(be, pool, &c, &e), ERR_OK);
            float *y = calloc(2 * M * N + N + 3 * P + 8, sizeof *y), *w = y + 2 * M * N + N + 8, *m = w + P, *v = m + P;
            struct mat A = mat_host(a, ELEM_F32, M, K), B = mat_host(b, ELEM_F32, N, K), Y = mat_host(y, ELEM_F32, M, N);
            struct mat D = mat_host(y + M * N, ELEM_F32, M, N), S = mat_host(y + 2 * M * N, ELEM_F32, 1, N);
            struct mat L = mat_host(label, ELEM_I32, M, 1), G = mat_host(big, ELEM_F32, 1, P), W = mat_host(w, ELEM_F32, 1, P);
            struct mat Mm = mat_host(m, ELEM_F32, 1, P), V = mat_host(v, ELEM_F32, 1, P);
            const struct call_step step = { { .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8 },
                                            { .lr = 0.1, .correction1 = 0.1, .correction2 = 0.001, .grad_scale = 1 } };
            call_matmul(be, c, MM_TRANS_B, &A, &B, NULL, &Y);
            double loss[2] = { call_loss(be, c, OP_SOFTMAX_XENT, &Y, &L, &D), call_sumsq(be, c, &G) };
            memcpy(y + 2 * M * N + N, loss, sizeof loss);
            call_unary(be, c, OP_COLSUM, &D, &S);
            call_adamw(be, c, &step, &W, &G, &Mm, &V);
            if (want)
                assert_memory_equal(want, y, (2 * M * N + N + 3 * P + 8) * sizeof *y);
            if (threads == 1)
                want = y;
            else
                free(y);
            be->close(c);
            pool_free(pool);
        }
        free(want);
    }
    free(a), free(b), free(big);
}

/* Tokens that come often, once and never; a table that is added to. */
static void embed_one(const struct backend *be, struct backend_ctx *c, struct backend_ctx *ref)
{
    (void)ref;
    enum { TOKENS = 50, WORDS = 9, COLS = 70 };
    int32_t token[TOKENS];
    float *table = random_f32(WORDS * COLS), *rows = random_f32(TOKENS * COLS), want[COLS];
    for (int i = 0; i < TOKENS; i++)
        token[i] = i % 3 ? 4 : i % WORDS;
    token[7] = 8;
    struct mat T = mat_host(table, ELEM_F32, WORDS, COLS), I = mat_host(token, ELEM_I32, TOKENS, 1);
    struct mat R = mat_host(rows, ELEM_F32, TOKENS, COLS);
    call_binary(be, c, OP_EMBED, &T, &I, &R);
    for (int i = 0; i < TOKENS; i++)
        assert_memory_equal(rows + i * COLS, table + token[i] * COLS, COLS * sizeof *rows);
    for (int is_added = 0; is_added < 2; is_added++) {
        memcpy(want, table + 4 * COLS, sizeof want);
        for (int j = 0; j < COLS; j++)
            want[j] = is_added ? want[j] : 0;
        for (int i = 0; i < TOKENS; i++)
            for (int j = 0; j < COLS && token[i] == 4; j++)
                want[j] += rows[i * COLS + j];
        struct tensor in[2] = { tensor_of(&I), tensor_of(&R) }, out = tensor_of(&T);
        const struct op_call call = { { .flags = is_added ? OP_ACCUMULATE : 0 }, { &in[0], &in[1] }, { &out } };
        (*be->kernels)[OP_EMBED_BWD][ELEM_F32](c, &call);
        assert_memory_equal(want, table + 4 * COLS, sizeof want);
        assert_true(table[5 * COLS] == 0 || is_added);
    }
    free(table), free(rows);
}

static void test_embed(void **st)
{
    (void)st;
    each_backend(embed_one);
}

/* What a backend lacks is refused by its name, and a queue that waits for what nobody does says so. */
static void test_refusals(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct backend_ctx *c;
    assert_int_equal(backend_require(&backend_ref, OP_MATMUL, ELEM_F64, &e), ERR_OK);
    assert_int_equal(backend_require(&backend_ref, OP_SOFTMAX, ELEM_U8, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "backend ref has no softmax for u8");
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &c, &e), ERR_OK);
    struct event *ev = backend_ref.event_new(c);
    backend_ref.wait(c, QUEUE_COMPUTE, ev);
    assert_int_equal(backend_ref.sync(c, &e), ERR_INTERNAL);
    assert_int_equal(backend_ref.sync(c, &e), ERR_OK);
    backend_ref.record(c, QUEUE_COPY, ev);
    backend_ref.wait(c, QUEUE_COMPUTE, ev);
    assert_int_equal(backend_ref.sync(c, &e), ERR_OK);
    backend_ref.event_free(c, ev);
    backend_ref.close(c);
}

static void test_bf16(void **st)
{
    (void)st;
    assert_int_equal(bf16_of(1.0f), 0x3f80);
    assert_int_equal(bf16_of(1.00390625f), 0x3f80);         /* half way: to even */
    assert_int_equal(bf16_of(1.01171875f), 0x3f82);
    assert_int_equal(bf16_of(3.4e38f), 0x7f80);             /* past the largest */
    assert_true(isnan(bf16_to_f32(bf16_of(NAN))) && isinf(bf16_to_f32(bf16_of(-INFINITY))));
    for (int i = 0; i < 10000; i++) {
        float x = rnd() * 100, y = bf16_to_f32(bf16_of(x));
        assert_true(fabsf(y - x) <= fabsf(x) / 256);
        assert_true(bf16_of(y) == bf16_of(x));
    }
}

static void test_vector_variants_agree(void **st)
{
    (void)st;
#if defined(__x86_64__)
    struct hw hw;
    struct err e;
    hw_read(&hw);
    if (!backend_avx2.probe(&hw) || !backend_avx512.probe(&hw)) {
        const struct backend *be;
        print_message("note: this processor has not both vector units; what it lacks is refused\n");
        assert_int_equal(backend_choose("avx512", &hw, NULL, NULL, &be, &e), ERR_UNAVAILABLE);
        return;
    }
    struct backend_ctx *c2, *c5;
    assert_int_equal(backend_avx2.open(&backend_avx2, NULL, &c2, &e), ERR_OK);
    assert_int_equal(backend_avx512.open(&backend_avx512, NULL, &c5, &e), ERR_OK);
    enum { M = 61, N = 77, K = 500 };
    float *a = random_f32(M * K), *b = random_f32(N * K), *o = random_f32(M * N), *p = random_f32(M * N);
    struct mat A = mat_host(a, ELEM_F32, M, K), B = mat_host(b, ELEM_F32, N, K), O = mat_host(o, ELEM_F32, M, N);
    struct mat P = mat_host(p, ELEM_F32, M, N);
    call_matmul(&backend_avx2, c2, MM_TRANS_B, &A, &B, NULL, &O);
    call_matmul(&backend_avx512, c5, MM_TRANS_B, &A, &B, NULL, &P);
    assert_memory_equal(o, p, M * N * sizeof *o);
    struct mat s = mat_host(a, ELEM_F32, 1, N), t = mat_host(b, ELEM_F32, 1, N);
    call_unary(&backend_avx2, c2, OP_COLSUM, &O, &s);
    call_unary(&backend_avx512, c5, OP_COLSUM, &P, &t);
    assert_memory_equal(a, b, N * sizeof *a);
    free(a), free(b), free(o), free(p);
    backend_avx2.close(c2);
    backend_avx512.close(c5);
#endif
}

/* A NaN anywhere in a row must reach the loss, or a run that has diverged goes on; an infinite gap must not. */
static void nan_one(const struct backend *be, struct backend_ctx *c, struct backend_ctx *ref)
{
    (void)ref;
    float x[3] = { 0, NAN, 1 }, far[3] = { 1e30f, -1e30f, 0 }, y[3];
    int32_t label = 0;
    double loss = 0;
    struct mat X = mat_host(x, ELEM_F32, 1, 3), F = mat_host(far, ELEM_F32, 1, 3), Y = mat_host(y, ELEM_F32, 1, 3);
    struct mat L = mat_host(&label, ELEM_I32, 1, 1);
    loss = call_loss(be, c, OP_SOFTMAX_XENT, &X, &L, &Y);
    assert_true(isnan(loss));
    loss = call_loss(be, c, OP_SOFTMAX_XENT, &F, &L, &Y);
    assert_true(loss == 0);
    call_unary(be, c, OP_SOFTMAX, &F, &Y);
    assert_true(y[0] == 1 && y[1] == 0 && y[2] == 0);
}

static void test_nan_and_far(void **st)
{
    (void)st;
    each_backend(nan_one);
}

static void selftest_one(const struct backend *be, struct backend_ctx *c, struct backend_ctx *ref)
{
    (void)c, (void)ref;
    struct err e = { 0 };
    if (backend_selftest(be, &e) != ERR_OK)
        fail_msg("%s", e.msg);
}

static void wrong_colsum(struct backend_ctx *c, const struct op_call *o)
{
    (*backend_ref.kernels)[OP_COLSUM][ELEM_F32](c, o);
    ((float *)o->out[0]->ptr)[0] += 0.01f;
}

static void test_selftest(void **st)
{
    (void)st;
    struct err e;
    each_backend(selftest_one);
    static kernel_fn kernels[OP_COUNT][ELEM_COUNT];
    struct backend broken = backend_ref;
    memcpy(kernels, *backend_ref.kernels, sizeof kernels);
    kernels[OP_COLSUM][ELEM_F32] = wrong_colsum;
    broken.kernels = (kernel_table *)&kernels;
    assert_int_equal(backend_selftest(&broken, &e), ERR_INTERNAL);
    assert_non_null(strstr(e.msg, "colsum"));
}

static void test_choice(void **st)
{
    (void)st;
    struct hw hw, bare = { .cores = 1 };
    struct err e;
    const struct backend *be;
    hw_read(&hw);
    assert_true(hw.cores >= 1 && hw.memory_bytes > 0);
    assert_int_equal(backend_choose("auto", &bare, NULL, NULL, &be, &e), ERR_OK);
    assert_string_equal(be->name, "ref");
    assert_int_equal(backend_choose("ref", &hw, NULL, NULL, &be, &e), ERR_OK);
    assert_string_equal(be->name, "ref");
    assert_int_equal(backend_choose("avx512", &bare, NULL, NULL, &be, &e), ERR_UNAVAILABLE);
    assert_int_equal(backend_choose("fpga", &hw, NULL, NULL, &be, &e), ERR_INVALID);
    assert_int_equal(backend_choose(NULL, &hw, NULL, NULL, &be, &e), ERR_OK);
    for (const struct backend *const *b = backend_list(); *b; b++)
        if ((*b)->probe(&hw))
            assert_true((*b)->rank <= be->rank);
    assert_true(hw_parse_cpu_max("max 100000") == 0 && hw_parse_cpu_max("150000 100000\n") == 1.5);
    assert_true(hw_cores(8, 1.5) == 2 && hw_cores(8, 0) == 8 && hw_cores(2, 16) == 2 && hw_cores(0, 0.1) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_selftest),
        cmocka_unit_test(test_matmul),            cmocka_unit_test(test_batch_invariant),
        cmocka_unit_test(test_vector_variants_agree), cmocka_unit_test(test_choice),
        cmocka_unit_test(test_nan_and_far), cmocka_unit_test(test_any_number_of_threads), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bf16), cmocka_unit_test(test_embed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
