/* SPDX-License-Identifier: Apache-2.0 */
/* bench_products.c - fp32 products of every tier against this machine's peak and against OpenBLAS and oneDNN, where Debian's
 * libopenblas0-pthread and libdnnl2 are installed (opened at run time).
 *
 * Peak: chains of fused multiply-adds that stay in registers, of the widest vectors that the processor has. All take turns
 * within each round, so that a moving clock and neighbours hit all alike; the figure is the best of the rounds. One thread
 * is timed by its own processor time, several by the clock of the wall, which on a busy machine says little. Then products of
 * whole numbers by tier, quantising included, beside the same product in fp32 by the best tier.
 * Usage: bench_products [THREADS] */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workers/compute/kernels/call.h"
#include "workers/compute/pool.h"

enum { ROUNDS = 40, SIDES_MAX = 8 };

static int threads = 1;

static double now(void)
{
    struct timespec t;
    clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define PEAK_STEPS 20000
/* Twelve chains of vectors of n floats. */
#define PEAK(name, n, isa)                                                                          \
    typedef float name##_v __attribute__((vector_size(n * 4), aligned(4)));                         \
    __attribute__((target(isa), noinline)) static float name(float x)                               \
    {                                                                                               \
        name##_v sum[12], m = { 0 };                                                                \
        m += x;                                                                                     \
        _Pragma("GCC unroll 12") for (int i = 0; i < 12; i++)                                       \
            sum[i] = m + (float)i;                                                                  \
        for (int s = 0; s < PEAK_STEPS; s++)                                                        \
            _Pragma("GCC unroll 12") for (int i = 0; i < 12; i++) {                                                          \
                sum[i] = sum[i] * m + m;                                                            \
                __asm__ volatile("" : "+v"(sum[i]));                                                \
            }                                                                                       \
        _Pragma("GCC unroll 12") for (int i = 1; i < 12; i++)                                       \
            sum[0] += sum[i];                                                                       \
        return sum[0][0];                                                                           \
    }
#if defined(__x86_64__)
PEAK(peak256, 8, "avx2,fma")
PEAK(peak512, 16, "avx512f")
#endif

typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef int (*dnnl_sgemm_fn)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t, float,
                             float *, int64_t);

struct side {
    const char *name;
    const struct backend *be;
    struct backend_ctx *ctx;
    struct buffer *packed;
    sgemm_fn blas;
    dnnl_sgemm_fn dnnl;
};

static struct side sides[SIDES_MAX];
static int side_count;

static const struct product {
    const char *what;
    unsigned flags;
    size_t m, n, k;
    bool is_packed;
} products[] = {
    { "forward 64x512x784", MM_TRANS_B, 64, 512, 784, false },   { "backward w 512x784x64", MM_TRANS_A, 512, 784, 64, false },
    { "square 512", 0, 512, 512, 512, false },                   { "square 1024", 0, 1024, 1024, 1024, false },
    { "gpt qkv 256x768x256", MM_TRANS_B, 256, 768, 256, false }, { "gpt fc 1024x1024x256", MM_TRANS_B, 1024, 1024, 256, false },
    { "served 32x512x784", MM_TRANS_B, 32, 512, 784, true },     { "served 1x4096x4096", MM_TRANS_B, 1, 4096, 4096, true },
};

static void run(const struct side *s, const struct product *p, float *a, float *b, float *c)
{
    bool ta = p->flags & MM_TRANS_A, tb = p->flags & MM_TRANS_B;
    size_t lda = ta ? p->m : p->k, ldb = tb ? p->k : p->n;
    if (s->blas) {
        int row_major = 101, plain = 111, turned = 112;
        int m = (int)p->m, n = (int)p->n, k = (int)p->k;
        s->blas(row_major, ta ? turned : plain, tb ? turned : plain, m, n, k, 1, a, (int)lda, b, (int)ldb, 0, c, n);
    } else if (s->dnnl) {
        int64_t m = (int64_t)p->m, n = (int64_t)p->n, k = (int64_t)p->k;
        s->dnnl(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, (int64_t)lda, b, (int64_t)ldb, 0, c, n);
    } else {
        struct mat A = mat_host(a, ELEM_F32, ta ? p->k : p->m, lda), B = mat_host(b, ELEM_F32, tb ? p->n : p->k, ldb);
        struct mat C = mat_host(c, ELEM_F32, p->m, p->n);
        if (p->is_packed)
            call_matmul_packed(s->be, s->ctx, 0, &A, s->packed, p->n, p->k, NULL, &C);
        else
            call_matmul(s->be, s->ctx, p->flags, &A, &B, NULL, &C);
    }
}

static void find_sides(struct pool *pool, const struct hw *hw)
{
    struct err e;
    for (const struct backend *const *be = backend_list(); *be; be++)
        if ((*be)->rank > 0 && (*be)->probe(hw) && (*be)->open(*be, pool, &sides[side_count].ctx, &e) == ERR_OK) {
            sides[side_count].be = *be;
            sides[side_count++].name = (*be)->name;
        }
    char text[12];
    snprintf(text, sizeof text, "%d", threads);
    setenv("OPENBLAS_NUM_THREADS", text, 1);
    setenv("OMP_NUM_THREADS", text, 1);
    void *blas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL), *dnnl = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    sides[side_count].blas = blas ? (sgemm_fn)dlsym(blas, "cblas_sgemm") : NULL;
    if (sides[side_count].blas)
        sides[side_count++].name = "OpenBLAS";
    sides[side_count].dnnl = dnnl ? (dnnl_sgemm_fn)dlsym(dnnl, "dnnl_sgemm") : NULL;
    if (sides[side_count].dnnl)
        sides[side_count++].name = "oneDNN";
}

/* GFLOP/s of one core in registers, now. */
static double peak(const struct hw *hw)
{
#if defined(__x86_64__)
    volatile float sink;
    double t = now();
    sink = hw->has_avx512f ? peak512(1e-3f) : peak256(1e-3f);
    (void)sink;
    return 2.0 * 12 * PEAK_STEPS * (hw->has_avx512f ? 16 : 8) / (now() - t) * 1e-9;
#else
    (void)hw;
    return 0;
#endif
}

static void one_product(const struct product *p, const struct hw *hw, float *a, float *b, float *c)
{
    double best[SIDES_MAX] = { 0 }, top = 0, flop = 2.0 * (double)p->m * (double)p->n * (double)p->k;
    int reps = (int)(2e7 / flop) + 1;
    struct mat w = mat_host(b, ELEM_F32, p->n, p->k);
    for (int i = 0; i < side_count && p->is_packed; i++)
        sides[i].packed = sides[i].be ? call_pack(sides[i].be, sides[i].ctx, &w) : NULL;
    for (int r = 0; r < ROUNDS; r++) {
        double at = peak(hw);
        top = at > top ? at : top;
        for (int i = 0; i < side_count; i++) {
            double t = now();
            for (int k = 0; k < reps; k++)
                run(&sides[i], p, a, b, c);
            double rate = flop * reps / (now() - t) * 1e-9;
            best[i] = rate > best[i] ? rate : best[i];
        }
    }
    printf("%-24s %6.1f", p->what, top * threads);
    for (int i = 0; i < side_count; i++)
        printf("   %6.1f (%3.0f %%)", best[i], top > 0 ? 100 * best[i] / top / threads : 0);
    printf("\n");
    for (int i = 0; i < side_count && p->is_packed; i++)
        if (sides[i].packed)
            sides[i].be->free(sides[i].ctx, sides[i].packed);
}

/* x · wᵀ with packed weights of bytes, x quantised by a scale of the node. */
static void whole_numbers(const struct product *p, float *a, float *b, float *c)
{
    double best[SIDES_MAX] = { 0 }, fp32 = 0, flop = 2.0 * (double)p->m * (double)p->n * (double)p->k;
    int reps = (int)(2e7 / flop) + 1;
    int8_t *w = (int8_t *)(void *)b;
    struct tensor x = tensor_at(NULL, 0, ELEM_F32, 2, (size_t[]){ p->m, p->k }), scale = tensor_at(NULL, 0, ELEM_F32, 1, &p->n);
    struct tensor y = tensor_at(NULL, 0, ELEM_F32, 2, (size_t[]){ p->m, p->n }), weights = tensor_at(NULL, 0, ELEM_I8, 2,
        (size_t[]){ p->n, p->k });
    x.ptr = a, scale.ptr = a, y.ptr = c, weights.ptr = w;
    const struct op_attr attr = { .alpha = 0.01, .gamma = 128, .n = p->n, .k = p->k };
    const struct op_call pack = { attr, { &weights }, { NULL } };
    struct mat fw = mat_host(b, ELEM_F32, p->n, p->k), fx = mat_host(a, ELEM_F32, p->m, p->k);
    struct mat fy = mat_host(c, ELEM_F32, p->m, p->n);
    struct buffer *room[SIDES_MAX] = { 0 }, *wide = call_pack(sides[0].be, sides[0].ctx, &fw);
    struct tensor packed[SIDES_MAX];
    for (int i = 0; i < side_count && sides[i].be; i++) {
        size_t bytes = sides[i].be->pack_q8_bytes(p->n, 1, p->k);
        struct op_call call = pack;
        room[i] = sides[i].be->alloc(sides[i].ctx, bytes);
        packed[i] = tensor_at(room[i], 0, ELEM_U8, 1, &bytes);
        call.out[0] = &packed[i];
        (*sides[i].be->kernels)[OP_QPACK][ELEM_I8](sides[i].ctx, &call);
    }
    for (int r = 0; r < ROUNDS; r++) {
        double t = now();
        for (int k = 0; k < reps; k++)
            call_matmul_packed(sides[0].be, sides[0].ctx, 0, &fx, wide, p->n, p->k, NULL, &fy);
        double rate = flop * reps / (now() - t) * 1e-9;
        fp32 = rate > fp32 ? rate : fp32;
        for (int i = 0; i < side_count && sides[i].be; i++) {
            const struct op_call call = { attr, { &x, &packed[i], &scale }, { &y } };
            t = now();
            for (int k = 0; k < reps; k++)
                (*sides[i].be->kernels)[OP_QMATMUL_PACKED][ELEM_F32](sides[i].ctx, &call);
            rate = flop * reps / (now() - t) * 1e-9;
            best[i] = rate > best[i] ? rate : best[i];
        }
    }
    printf("int8 %-19s %6.1f", p->what, fp32);
    for (int i = 0; i < side_count && sides[i].be; i++) {
        printf("   %6.1f (%4.1f x)", best[i], best[i] / fp32);
        sides[i].be->free(sides[i].ctx, room[i]);
    }
    printf("\n");
    sides[0].be->free(sides[0].ctx, wide);
}

int main(int argc, char **argv)
{
    struct hw hw;
    struct err e;
    struct pool *pool = NULL;
    threads = argc > 1 ? atoi(argv[1]) : 1;
    hw_read(&hw);
    if (threads < 1 || pool_new(threads, &pool, &e) != ERR_OK)
        return 2;
    find_sides(pool, &hw);
    printf("%s, %d thread(s); GFLOP/s, in brackets of the peak\n%-24s %6s", hw.cpu_model, threads, "", "peak");
    for (int i = 0; i < side_count; i++)
        printf("   %14s", sides[i].name);
    printf("\n");
    float *m[3];
    for (int i = 0; i < 3; i++) {
        m[i] = aligned_alloc(64, (size_t)4096 * 4096 * 4);
        for (size_t j = 0; j < (size_t)4096 * 4096; j++)
            m[i][j] = (float)(rand() % 2000) * 1e-3f - 1;
    }
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        one_product(&products[i], &hw, m[0], m[1], m[2]);
    printf("%-24s %6s   in brackets: times fp32\n", "", "fp32");
    for (size_t i = 0; i < sizeof products / sizeof *products && side_count && sides[0].be; i++)
        if (products[i].flags == MM_TRANS_B)
            whole_numbers(&products[i], m[0], m[1], m[2]);
    for (int i = 0; i < 3; i++)
        free(m[i]);
    for (int i = 0; i < side_count; i++)
        if (sides[i].ctx)
            sides[i].be->close(sides[i].ctx);
    pool_free(pool);
    return 0;
}
