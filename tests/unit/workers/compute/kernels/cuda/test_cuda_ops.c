/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_ops.c - the GPU kernels, run on the processor, against the fp64 reference: every operation that the backend has, at
 * awkward sizes, with the same bits whatever the order of blocks, warps and threads. */
#include "emu_kit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/selftest_int.h"

static void test_selftest(void **st)
{
    (void)st;
    struct err e;
    for (int descends = 0; descends < 2; descends++) {
        emu_set_descending(descends);
        size_t before = emu_launches();
        if (backend_selftest(&backend_cuda_emu, &e) != ERR_OK)
            fail_msg("%s", e.msg);
        assert_true(emu_launches() - before > 100);
        kit_quiet();
    }
    emu_set_descending(false);
}

/* Sizes past a warp, a block of keys, a tile of products; one of everything; groups of heads; a stride that leaves pixels
 * over. */
static void test_nets_in_both_orders(void **st)
{
    (void)st;
    static const struct net_size sizes[] = {
        { .n = 2, .t = 130, .heads = 2, .kv_heads = 1, .d = 4, .side = 9, .window = 3, .stride = 2, .pad = 1, .in = 33, .out = 65,
          .groups = 3 },
        { .n = 1, .t = 1, .heads = 1, .kv_heads = 1, .d = 2, .side = 1, .window = 1, .stride = 1, .pad = 0, .in = 3, .out = 1,
          .groups = 1 },
        { .n = 3, .t = 17, .heads = 4, .kv_heads = 2, .d = 6, .side = 6, .window = 2, .stride = 2, .pad = 1, .in = 8, .out = 3,
          .groups = 4 },
        { .n = 1, .t = 5, .heads = 1, .kv_heads = 1, .d = 130, .side = 5, .window = 5, .stride = 1, .pad = 2, .in = 3, .out = 5,
          .groups = 1 },
        { .n = 1, .t = 37, .heads = 1, .kv_heads = 1, .d = 4, .side = 2, .window = 1, .stride = 1, .pad = 0, .in = 264, .out = 8,
          .groups = 2 },
    };
    struct backend_ctx *c = kit_emu(), *ref;
    struct net_case k[NET_CASES_MAX];
    struct err e;
    size_t ran = 0, ran_narrow = 0;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++)
        for (size_t j = 0, n = (i % 2 ? narrow_cases : net_cases)(&sizes[i / 2], k); j < n; j++) {
            uint64_t hash[2];
            if (!net_case_runs(&backend_cuda_emu, &k[j]))
                continue;
            for (int descends = 0; descends < 2; descends++) {
                emu_set_descending(descends);
                if (net_check(&backend_cuda_emu, c, ref, &k[j], i * 64 + j + 1, 1e-5, &hash[descends], &e) != ERR_OK)
                    fail_msg("size %zu: %s (%s)", i / 2, e.msg, emu_report());
                kit_quiet();
            }
            emu_set_descending(false);
            if (hash[0] != hash[1])
                fail_msg("size %zu: %s has other bits in the other order", i / 2, op_name(k[j].op));
            *(i % 2 ? &ran_narrow : &ran) += 1;
        }
    assert_int_equal(ran, 27 * sizeof sizes / sizeof *sizes);      /* all of the table but the two of DEPTHWISE */
    assert_int_equal(ran_narrow, 39 * sizeof sizes / sizeof *sizes);
    backend_ref.close(ref);
    kit_close(c);
}

static float *numbers(size_t n, uint64_t seed)
{
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)((double)(int64_t)(seed >> 11) / (double)(1ll << 52) - 1);
    }
    return x;
}

/* A row of a product has the same bits alone and in any batch, and with rows wider than they are. */
static void test_batch_invariant(void **st)
{
    (void)st;
    enum { M = 67, N = 70, K = 37, WIDE = K + 3 };
    struct backend_ctx *c = kit_emu();
    float *x = numbers(M * WIDE, 1), *w = numbers(N * K, 2), *bias = numbers(N, 3), *y = numbers(M * N, 4), *z = numbers(N, 5);
    struct mat X = { ELEM_F32, M, K, WIDE, NULL, 0, x }, W = mat_host(w, ELEM_F32, N, K), B = mat_host(bias, ELEM_F32, 1, N);
    struct mat Y = mat_host(y, ELEM_F32, M, N), Z = mat_host(z, ELEM_F32, 1, N);
    for (unsigned flags = MM_TRANS_B | MM_BIAS | MM_RELU, half = 0; half < 2; half++, flags |= OP_BF16) {
        call_matmul(&backend_cuda_emu, c, flags, &X, &W, &B, &Y);
        for (size_t i = 0; i < M; i += 11) {
            struct mat one = mat_host(x + i * WIDE, ELEM_F32, 1, K);
            call_matmul(&backend_cuda_emu, c, flags, &one, &W, &B, &Z);
            assert_memory_equal(z, y + i * N, N * sizeof *z);
        }
    }
    free(x), free(w), free(bias), free(y), free(z);
    kit_close(c);
}

/* Tokens that come often add up in their order; rows of the table that no token names become 0, or stay when added to. */
static void embedding(size_t V, size_t T, size_t C)
{
    struct backend_ctx *c = kit_emu(), *ref;
    struct err e;
    float *dy = numbers(T * C, 1), *got = numbers(V * C, 2), *want = numbers(V * C, 2), *rows = numbers(T * C, 1);
    float *same = numbers(T * C, 1);
    int32_t *token = malloc(T * sizeof *token);
    for (size_t i = 0; i < T; i++)
        token[i] = (int32_t)(i * i % (V - 2));      /* the last two never come */
    struct mat K = mat_host(token, ELEM_I32, T, 1), D = mat_host(dy, ELEM_F32, T, C), G = mat_host(got, ELEM_F32, V, C);
    struct mat W = mat_host(want, ELEM_F32, V, C), R = mat_host(rows, ELEM_F32, T, C), S = mat_host(same, ELEM_F32, T, C);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (unsigned flags = 0; flags <= OP_ACCUMULATE; flags += OP_ACCUMULATE) {
        struct op_attr attr = { .n = V, .flags = flags };
        struct tensor k = tensor_at(NULL, 0, ELEM_I32, 1, (size_t[]){ T }), d = tensor_of(&D);
        struct tensor g = tensor_of(&G), w = tensor_of(&W);
        k.ptr = token;
        call_kernel(&backend_cuda_emu, c, OP_EMBED_BWD, &(struct op_call){ attr, { &k, &d }, { &g } });
        call_kernel(&backend_ref, ref, OP_EMBED_BWD, &(struct op_call){ attr, { &k, &d }, { &w } });
        assert_memory_equal(got, want, V * C * sizeof *got);
    }
    call_op(&backend_cuda_emu, c, OP_EMBED, &(struct op_attr){ 0 }, CALL_INS(&G, &K), CALL_INS(&R));
    call_op(&backend_ref, ref, OP_EMBED, &(struct op_attr){ 0 }, CALL_INS(&W, &K), CALL_INS(&S));
    assert_memory_equal(rows, same, T * C * sizeof *rows);
    free(dy), free(got), free(want), free(rows), free(same), free(token);
    backend_ref.close(ref);
    kit_close(c);
}

/* Also of more rows than a block has, of more tokens than a chunk, and four numbers an access. */
static void test_embedding(void **st)
{
    (void)st;
    embedding(7, 150, 5);
    embedding(40, 4100, 8);
}

/* The draws are those of every backend; off outside training. */
static void test_dropout(void **st)
{
    (void)st;
    enum { N = 1030 };
    struct backend_ctx *c = kit_emu(), *ref;
    struct err e;
    float *x = numbers(N, 9), got[N], want[N];
    struct step_scalars at = { .seed = 7, .counter = 3, .is_training = 1 };
    const struct op_attr attr = { .rate = 0.25, .stream = 1 };
    struct mat X = mat_host(x, ELEM_F32, 1, N), S = mat_host(&at, ELEM_U8, 1, sizeof at), G = mat_host(got, ELEM_F32, 1, N);
    struct mat W = mat_host(want, ELEM_F32, 1, N);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (; at.is_training < 2; at.is_training -= 1) {
        call_op(&backend_cuda_emu, c, OP_DROPOUT, &attr, CALL_INS(&X, &S), CALL_INS(&G));
        call_op(&backend_ref, ref, OP_DROPOUT, &attr, CALL_INS(&X, &S), CALL_INS(&W));
        assert_memory_equal(got, want, sizeof got);
        if (!at.is_training)
            break;
    }
    free(x);
    backend_ref.close(ref);
    kit_close(c);
}

/* Clipping, and a gradient that is no number: the step changes nothing. */
static void test_clip_and_skip(void **st)
{
    (void)st;
    enum { N = 5 };
    struct backend_ctx *c = kit_emu();
    float w[N] = { 1, 2, 3, 4, 5 }, g[N] = { 3, 0, 4, 0, 0 }, m[N] = { 0 }, v[N] = { 0 }, before[N];
    double sum = 0;
    struct step_scalars at = { .lr = 0.1, .correction1 = 0.1, .correction2 = 0.1, .clip_norm = 1, .grad_scale = 1,
                               .loss_scale = 1 };
    struct mat W = mat_host(w, ELEM_F32, 1, N), G = mat_host(g, ELEM_F32, 1, N), M = mat_host(m, ELEM_F32, 1, N);
    struct mat V = mat_host(v, ELEM_F32, 1, N), S = mat_host(&sum, ELEM_F64, 1, 1), A = mat_host(&at, ELEM_U8, 1, sizeof at);
    const struct op_attr adam = { .beta1 = 0.9, .beta2 = 0.9, .eps = 1e-8 };
    for (int turn = 0; turn < 2; turn++) {
        memcpy(before, w, sizeof w);
        call_unary(&backend_cuda_emu, c, OP_SUMSQ, &G, &S);
        call_op(&backend_cuda_emu, c, OP_CLIP, &(struct op_attr){ 0 }, CALL_INS(&S, &A), NULL, 0);
        call_op(&backend_cuda_emu, c, OP_ADAMW, &adam, CALL_INS(&W, &G, &M, &V, &A), NULL, 0);
        if (!turn) {
            assert_true(sum == 25 && fabs(at.grad_scale - 0.2) < 1e-12);
            assert_true(w[0] < 1 && w[2] < 3 && w[1] == 2);
            assert_true(fabsf(m[2] - 0.08f) < 1e-6f);
        } else {
            assert_true(isnan(at.grad_scale));
            assert_memory_equal(w, before, sizeof w);
        }
        g[1] = (float)NAN;
    }
    kit_close(c);
}

/* There, and back, bit by bit: ties to even, a NaN stays one. */
static void test_cast(void **st)
{
    (void)st;
    enum { N = 6 };
    struct backend_ctx *c = kit_emu();
    float x[N] = { 1, 1.00390625f, 1.01171875f, -3.3895314e38f, (float)INFINITY, (float)NAN }, y[N];
    uint16_t b[N];
    struct mat X = mat_host(x, ELEM_F32, 1, N), Y = mat_host(y, ELEM_F32, 1, N), B = mat_host(b, ELEM_BF16, 1, N);
    call_op(&backend_cuda_emu, c, OP_CAST, &(struct op_attr){ .n = ELEM_BF16 }, CALL_INS(&X), CALL_INS(&B));
    call_op(&backend_cuda_emu, c, OP_CAST, &(struct op_attr){ .n = ELEM_F32 }, CALL_INS(&B), CALL_INS(&Y));
    for (int i = 0; i < N; i++) {
        assert_int_equal(b[i], bf16_of(x[i]));
        assert_true(i == N - 1 ? isnan(y[i]) : y[i] == bf16_to_f32(b[i]));
    }
    kit_close(c);
}

/* A loss of logits in bf16: its gradient is bf16 too, in a place of its own or over the logits. */
static void narrow_loss(int cols)
{
    enum { ROWS = 5, MOST = ROWS * 1064 };
    const size_t N = ROWS * (size_t)cols, COLS = (size_t)cols;
    struct backend_ctx *c = kit_emu(), *ref;
    struct err e;
    float *x = numbers(N, 4);
    static uint16_t half[MOST], got[MOST];
    static double wide[MOST], want[MOST];
    double loss, want_loss, off = 0, norm = 0;
    int32_t label[ROWS] = { 0, (int32_t)COLS - 1, 7, 150, 64 }, best[ROWS], want_best[ROWS];
    for (size_t i = 0; i < N; i++)
        wide[i] = (double)bf16_to_f32(half[i] = bf16_of(3 * x[i]));
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    struct mat H = mat_host(half, ELEM_BF16, ROWS, COLS), G = mat_host(got, ELEM_BF16, ROWS, COLS);
    struct mat W = mat_host(wide, ELEM_F64, ROWS, COLS), D = mat_host(want, ELEM_F64, ROWS, COLS);
    struct mat L = mat_host(label, ELEM_I32, ROWS, 1), A = mat_host(best, ELEM_I32, ROWS, 1);
    struct mat B = mat_host(want_best, ELEM_I32, ROWS, 1);
    loss = call_loss(&backend_cuda_emu, c, OP_SOFTMAX_XENT, &H, &L, &G);
    want_loss = call_loss(&backend_ref, ref, OP_SOFTMAX_XENT, &W, &L, &D);
    for (size_t i = 0; i < N; i++) {
        off += pow((double)bf16_to_f32(got[i]) - want[i], 2);
        norm += want[i] * want[i];
    }
    assert_true(off < 1.6e-5 * norm && fabs(loss - want_loss) < 1e-5 * want_loss);
    call_unary(&backend_cuda_emu, c, OP_ARGMAX, &H, &A);
    call_unary(&backend_ref, ref, OP_ARGMAX, &W, &B);
    assert_memory_equal(best, want_best, sizeof best);
    struct buffer *room = backend_cuda_emu.alloc(c, N * sizeof *half), *sum = backend_cuda_emu.alloc(c, sizeof loss);
    struct buffer *labels = backend_cuda_emu.alloc(c, sizeof label);
    struct tensor t = tensor_at(room, 0, ELEM_BF16, 2, (size_t[]){ ROWS, COLS }), s = tensor_at(sum, 0, ELEM_F64, 1,
                                                                                              (size_t[]){ 1 });
    struct tensor l = tensor_at(labels, 0, ELEM_I32, 1, (size_t[]){ ROWS });
    backend_cuda_emu.put(c, QUEUE_COMPUTE, room, 0, half, N * sizeof *half);
    backend_cuda_emu.put(c, QUEUE_COMPUTE, labels, 0, label, sizeof label);
    (*backend_cuda_emu.kernels)[OP_SOFTMAX_XENT][ELEM_BF16](c, &(struct op_call){ .in = { &t, &l }, .out = { &s, &t } });
    backend_cuda_emu.get(c, QUEUE_COMPUTE, room, 0, half, N * sizeof *half);
    assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_OK);
    assert_memory_equal(half, got, N * sizeof *half);
    backend_cuda_emu.free(c, room), backend_cuda_emu.free(c, sum), backend_cuda_emu.free(c, labels);
    free(x);
    backend_ref.close(ref);
    kit_close(c);
}

/* One by one; and held in shared memory, the last eights with fewer threads than there are. */
static void test_narrow_loss(void **st)
{
    (void)st;
    narrow_loss(301);
    narrow_loss(1064);
}

/* What this backend lacks is refused by name before anything runs. */
static void test_lacking(void **st)
{
    (void)st;
    struct err e;
    assert_int_equal(backend_require(&backend_cuda_emu, OP_TREES, ELEM_F32, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "backend cuda-emu has no trees for f32");
    assert_int_equal(backend_require(&backend_cuda_emu, OP_MATMUL, ELEM_F64, &e), ERR_UNPROCESSABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selftest),   cmocka_unit_test(test_nets_in_both_orders), cmocka_unit_test(test_batch_invariant),
        cmocka_unit_test(test_embedding),  cmocka_unit_test(test_dropout),             cmocka_unit_test(test_clip_and_skip),
        cmocka_unit_test(test_cast),       cmocka_unit_test(test_lacking),
        cmocka_unit_test(test_narrow_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
