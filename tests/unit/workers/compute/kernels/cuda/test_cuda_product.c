/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_product.c - products of bf16 tensors by strips, run on the processor: each way that factors can lie, edges inside
 * a tile, every end, the depth cut and not, against sums in fp64; the same bits in both orders of threads and in any batch. */
#include "emu_kit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/kernels/call.h"
#include "workers/compute/rng.h"

struct shape {
    size_t m, n, k, more;       /* more: numbers behind each row that belong to nobody */
};

static uint16_t *halves(size_t n, uint64_t seed)
{
    uint16_t *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = bf16_of((float)philox_normal(seed, 0, i));
    return x;
}

struct product {
    struct shape s;
    unsigned flags;
    bool is_narrow;
    uint16_t *a, *b;
    float *bias, *before;
    size_t a_stride, b_stride;
};

static struct product product_new(struct shape s, unsigned flags, bool is_narrow)
{
    struct product p = { .s = s, .flags = flags, .is_narrow = is_narrow };
    p.a_stride = (flags & MM_TRANS_A ? s.m : s.k) + s.more;
    p.b_stride = (flags & MM_TRANS_B ? s.k : s.n) + s.more;
    p.a = halves((flags & MM_TRANS_A ? s.k : s.m) * p.a_stride, 1);
    p.b = halves((flags & MM_TRANS_B ? s.n : s.k) * p.b_stride, 2);
    p.bias = malloc(s.n * sizeof(float));
    p.before = malloc(s.m * s.n * sizeof(float));
    for (size_t i = 0; i < s.n; i++)
        p.bias[i] = (float)philox_normal(3, 0, i);
    for (size_t i = 0; i < s.m * s.n; i++)
        p.before[i] = (float)philox_normal(4, 0, i);
    return p;
}

static void product_free(struct product *p)
{
    free(p->a), free(p->b), free(p->bias), free(p->before);
}

/* Of rows from `row` on, on the card; a and the result have `rows`. */
static void multiply(struct backend_ctx *c, const struct product *p, size_t row, size_t rows, void *out)
{
    bool ta = p->flags & MM_TRANS_A, tb = p->flags & MM_TRANS_B;
    const struct mat a = { ELEM_BF16, ta ? p->s.k : rows, ta ? rows : p->s.k, p->a_stride, NULL, 0,
                           p->a + (ta ? row : row * p->a_stride) };
    const struct mat b = { ELEM_BF16, tb ? p->s.n : p->s.k, tb ? p->s.k : p->s.n, p->b_stride, NULL, 0, p->b };
    struct mat bias = mat_host(p->bias, ELEM_F32, 1, p->s.n);
    struct mat y = mat_host(out, p->is_narrow ? ELEM_BF16 : ELEM_F32, rows, p->s.n);
    if (p->flags & OP_ACCUMULATE)
        memcpy(out, p->before + row * p->s.n, rows * p->s.n * sizeof(float));
    else
        memset(out, 0xff, rows * p->s.n * elem_bytes(y.type));
    call_matmul(&backend_cuda_emu, c, p->flags, &a, &b, &bias, &y);
    kit_quiet();
}

static double want_of(const struct product *p, size_t i, size_t j)
{
    double sum = p->flags & OP_ACCUMULATE ? (double)p->before[i * p->s.n + j] : 0;
    for (size_t k = 0; k < p->s.k; k++)
        sum += (double)bf16_to_f32(p->a[p->flags & MM_TRANS_A ? k * p->a_stride + i : i * p->a_stride + k])
               * (double)bf16_to_f32(p->b[p->flags & MM_TRANS_B ? j * p->b_stride + k : k * p->b_stride + j]);
    sum += p->flags & MM_BIAS ? (double)p->bias[j] : 0;
    return p->flags & MM_RELU && sum < 0 ? 0 : sum;
}

static void check(struct backend_ctx *c, struct shape s, unsigned flags, bool is_narrow, size_t launches)
{
    struct product p = product_new(s, flags, is_narrow);
    size_t bytes = s.m * s.n * (is_narrow ? 2 : 4), before;
    void *got[2] = { malloc(bytes), malloc(bytes) };
    for (int descends = 0; descends < 2; descends++) {
        emu_set_descending(descends);
        before = emu_launches();
        multiply(c, &p, 0, s.m, got[descends]);
        assert_int_equal(emu_launches() - before, launches);
    }
    emu_set_descending(false);
    assert_memory_equal(got[0], got[1], bytes);
    for (size_t i = 0; i < s.m; i++)
        for (size_t j = 0; j < s.n; j++) {
            double want = want_of(&p, i, j), x = is_narrow ? (double)bf16_to_f32(((uint16_t *)got[0])[i * s.n + j])
                                                           : (double)((float *)got[0])[i * s.n + j];
            if (!(fabs(x - want) <= 1e-5 * sqrt((double)s.k) + (is_narrow ? 4e-3 * fabs(want) : 0)))
                fail_msg("%zu x %zu over %zu, flags %x%s: [%zu, %zu] is %g and not %g", s.m, s.n, s.k, flags,
                         is_narrow ? ", bf16" : "", i, j, x, want);
        }
    free(got[0]), free(got[1]);
    product_free(&p);
}

static void test_ways(void **st)
{
    (void)st;
    static const unsigned ways[] = { 0, MM_TRANS_A, MM_TRANS_B, MM_TRANS_A | MM_TRANS_B };
    static const struct shape shapes[] = { { 136, 136, 72, 8 }, { 8, 16, 264, 0 }, { 200, 40, 8, 0 } };
    struct backend_ctx *c = kit_emu();
    for (size_t w = 0; w < 4; w++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int narrow = i == 1; narrow < (i == 2 ? 1 : 2); narrow++)
                check(c, shapes[i], ways[w] | (i ? MM_BIAS | MM_RELU : narrow ? MM_BIAS : OP_ACCUMULATE), narrow, 1);
    kit_close(c);
}

/* Extents that are no memory's: any number of rows of a, and of b; results that no 16 bytes hold. */
static void test_edges(void **st)
{
    (void)st;
    struct backend_ctx *c = kit_emu();
    for (int narrow = 0; narrow < 2; narrow++) {
        check(c, (struct shape){ 1, 8, 136, 0 }, MM_TRANS_B | MM_BIAS, narrow, 1);
        check(c, (struct shape){ 131, 67, 40, 0 }, MM_TRANS_B | MM_BIAS | MM_RELU, narrow, 1);
        check(c, (struct shape){ 129, 8, 24, 0 }, narrow ? MM_RELU : OP_ACCUMULATE | MM_BIAS, narrow, 1);
        check(c, (struct shape){ 8, 129, 200, 0 }, MM_TRANS_A | MM_TRANS_B, narrow, 1);
    }
    check(c, (struct shape){ 7, 9, 20, 0 }, MM_TRANS_B, false, 1);         /* by the simple kernel */
    check(c, (struct shape){ 12, 8, 16, 4 }, 0, true, 1);
    kit_close(c);
}

/* A weight's gradient: small, over many rows, cut into parts; then their sum. */
static void test_cut(void **st)
{
    (void)st;
    struct backend_ctx *c = kit_emu();
    check(c, (struct shape){ 136, 24, 1096, 0 }, MM_TRANS_A, false, 2);
    check(c, (struct shape){ 8, 136, 1600, 0 }, MM_TRANS_A | OP_ACCUMULATE | MM_BIAS | MM_RELU, false, 2);
    check(c, (struct shape){ 8, 16, 1600, 0 }, MM_TRANS_A | MM_BIAS, true, 2);
    check(c, (struct shape){ 8, 16, 1016, 0 }, MM_TRANS_A, false, 1);      /* too short */
    check(c, (struct shape){ 8, 16, 1600, 0 }, MM_TRANS_B, false, 1);
    kit_close(c);
}

/* A row alone has the bits that it has among others. */
static void test_batch_invariant(void **st)
{
    (void)st;
    struct backend_ctx *c = kit_emu();
    for (unsigned flags = 0; flags <= MM_TRANS_B; flags += MM_TRANS_B) {
        struct product p = product_new((struct shape){ 150, 72, 584, 0 }, flags | MM_BIAS, false);
        float *all = malloc(p.s.m * p.s.n * sizeof *all), one[72];
        multiply(c, &p, 0, p.s.m, all);
        for (size_t i = 1; i < p.s.m; i += 74) {
            multiply(c, &p, i, 1, one);
            assert_memory_equal(one, all + i * p.s.n, sizeof one);
        }
        free(all);
        product_free(&p);
    }
    kit_close(c);
}

static void test_batches(void **st)
{
    (void)st;
    enum { BATCH = 3, M = 24, N = 40, K = 72 };
    struct backend_ctx *c = kit_emu();
    uint16_t *a = halves(BATCH * M * K, 1), *b = halves(BATCH * N * K, 2), *y = malloc(BATCH * M * N * sizeof *y);
    for (unsigned flags = 0; flags <= MM_TRANS_B; flags += MM_TRANS_B) {
        struct tensor ta = tensor_at(NULL, 0, ELEM_BF16, 3, (size_t[]){ BATCH, M, K });
        struct tensor tb = tensor_at(NULL, 0, ELEM_BF16, 3, flags ? (size_t[]){ BATCH, N, K } : (size_t[]){ BATCH, K, N });
        struct tensor ty = tensor_at(NULL, 0, ELEM_BF16, 3, (size_t[]){ BATCH, M, N });
        ta.ptr = a, tb.ptr = b, ty.ptr = y;
        call_kernel(&backend_cuda_emu, c, OP_BMM, &(struct op_call){ { .flags = flags }, { &ta, &tb }, { &ty } });
        kit_quiet();
        for (size_t i = 0; i < BATCH * M * N; i++) {
            size_t at = i / (M * N), row = i / N % M, col = i % N;
            double want = 0;
            for (size_t k = 0; k < K; k++)
                want += (double)bf16_to_f32(a[(at * M + row) * K + k])
                        * (double)bf16_to_f32(b[at * N * K + (flags ? col * K + k : k * N + col)]);
            assert_true(fabs((double)bf16_to_f32(y[i]) - want) <= 1e-4 + 4e-3 * fabs(want));
        }
    }
    free(a), free(b), free(y);
    kit_close(c);
}

/* On a card whose blocks have too little shared memory the simple kernel makes them. */
static void test_small_card(void **st)
{
    (void)st;
    emu_set_shared(64 << 10);
    struct backend_ctx *c = kit_emu();
    check(c, (struct shape){ 24, 16, 72, 0 }, MM_TRANS_B | MM_BIAS, true, 1);
    kit_close(c);
    emu_set_shared(0);
}

/* Of fp32 tensors, by wide tiles and by the simple kernel: the same bits, in each way, with edges and every end. */
static void test_wide(void **st)
{
    (void)st;
    enum { M = 136, N = 260, K = 36 };
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    struct err e;
    static float x[M * N], y[2][M * N];
    struct buffer *a = be->alloc(c, M * K * sizeof *x), *b = be->alloc(c, N * K * sizeof *x);
    struct buffer *bias = be->alloc(c, N * sizeof(float));
    struct buffer *out = be->alloc(c, sizeof y[0]);
    for (size_t i = 0; i < M * N; i++)
        x[i] = (float)philox_normal(5, 0, i);
    be->put(c, QUEUE_COMPUTE, a, 0, x, M * K * sizeof *x);
    be->put(c, QUEUE_COMPUTE, b, 0, x + 7, N * K * sizeof *x);
    be->put(c, QUEUE_COMPUTE, bias, 0, x, N * sizeof *x);
    for (int way = 0; way < 8; way++) {
        bool ta = way & 1, tb = way & 2, ends = way & 4;
        struct tensor A = tensor_at(a, 0, ELEM_F32, 2, (size_t[]){ M, K }), B = tensor_at(b, 0, ELEM_F32, 2, (size_t[]){ N, K });
        struct tensor Y = tensor_at(out, 0, ELEM_F32, 2, (size_t[]){ M, N });
        struct tensor V = tensor_at(bias, 0, ELEM_F32, 1, (size_t[]){ N });
        const struct product_args p = { a->handle, b->handle, ends ? bias->handle : NULL, out->handle, M, N, K, ta ? 1 : K,
                                        ta ? M : 1, tb ? 1 : N, tb ? K : 1, N, 1, 0, 0, 0, ends, ends };
        for (int wide = 0; wide < 2; wide++) {
            be->put(c, QUEUE_COMPUTE, out, 0, x, sizeof x);
            cuda_begin(c, OP_MATMUL, &(struct op_call){ { .flags = ends ? OP_ACCUMULATE : 0 }, { &A, &B, &V }, { &Y } });
            cuda_launch(c, wide ? KERNEL_product_wide : KERNEL_product, wide ? 2 : 3, wide ? 3 : 5, 1, &p);
            cuda_end(c);
            be->get(c, QUEUE_COMPUTE, out, 0, y[wide], sizeof y[0]);
            if (be->sync(c, &e) != ERR_OK)
                fail_msg("%s", e.msg);
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
    }
    be->free(c, a), be->free(c, b), be->free(c, bias), be->free(c, out);
    kit_close(c);
}

/* Through the operation: enough tiles, and rows that no four numbers fill. */
static void test_wide_or_not(void **st)
{
    (void)st;
    enum { M = 1270, N = 1270 };
    struct backend_ctx *c = kit_emu();
    float *x = malloc(M * 8 * sizeof *x), *y = malloc(M * N * sizeof *y);
    for (size_t i = 0; i < M * 8; i++)
        x[i] = (float)philox_normal(6, 0, i);
    for (size_t k = 3; k <= 4; k++) {
        struct mat A = mat_host(x, ELEM_F32, M, k), B = mat_host(x, ELEM_F32, N, k), Y = mat_host(y, ELEM_F32, M, N);
        call_matmul(&backend_cuda_emu, c, MM_TRANS_B, &A, &B, NULL, &Y);
        kit_quiet();
        for (size_t i = 0; i < M; i += 13)
            for (size_t j = 0; j < N; j++) {
                float want = 0;
                for (size_t d = 0; d < k; d++)
                    want = fmaf(x[i * k + d], x[j * k + d], want);
                assert_true(y[i * N + j] == want);
            }
    }
    free(x), free(y);
    kit_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ways),    cmocka_unit_test(test_edges),
                                        cmocka_unit_test(test_cut),     cmocka_unit_test(test_batch_invariant),
                                        cmocka_unit_test(test_batches), cmocka_unit_test(test_small_card),
                                        cmocka_unit_test(test_wide),    cmocka_unit_test(test_wide_or_not) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
