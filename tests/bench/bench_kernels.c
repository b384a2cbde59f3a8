/* SPDX-License-Identifier: Apache-2.0 */
/* bench_kernels.c - the rate of every backend on this machine, interleaved so that a moving clock hits all alike.
 *
 * Prints GFLOP/s of the products of training (64 rows: forward, both backward forms) and of serving (batch 1 and 32, packed), and
 * the time of AdamW and softmax. Median of many runs. Numbers, never pass or fail. */
#include "workers/compute/kernels/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 15 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int cmp(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct work_item {
    const char *name;
    unsigned flags;
    size_t m, n, k;
    int kind;       /* 0 matmul, 1 packed, 2 adamw, 3 softmax */
};

static const struct work_item items[] = {
    { "forward    64x512x784", MM_TRANS_B | MM_BIAS | MM_RELU, 64, 512, 784, 0 },
    { "backward x 64x784x512", 0, 64, 784, 512, 0 },
    { "backward w 512x784x64", MM_TRANS_A, 512, 784, 64, 0 },
    { "square     512", 0, 512, 512, 512, 0 },
    { "packed   1x512x784", MM_BIAS | MM_RELU, 1, 512, 784, 1 },
    { "packed  32x512x784", MM_BIAS | MM_RELU, 32, 512, 784, 1 },
    { "packed   1x4096x4096", MM_BIAS | MM_RELU, 1, 4096, 4096, 1 },
    { "adamw 1M numbers", 0, 1, 1 << 20, 1, 2 },
    { "softmax 256x1000", 0, 256, 1000, 1, 3 },
};

static double time_one(const struct backend *be, struct backend_ctx *c, const struct work_item *w, float *p[4], struct buffer *pk)
{
    struct mat a = mat_host(p[0], ELEM_F32, w->flags & MM_TRANS_A ? w->k : w->m, w->flags & MM_TRANS_A ? w->m : w->k);
    struct mat b = mat_host(p[1], ELEM_F32, w->flags & MM_TRANS_B ? w->n : w->k, w->flags & MM_TRANS_B ? w->k : w->n);
    struct mat bias = mat_host(p[2], ELEM_F32, 1, w->n), out = mat_host(p[3], ELEM_F32, w->m, w->n);
    struct mat v[4];
    const struct call_step s = { { .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01 },
                                 { .lr = 1e-9, .correction1 = 0.5, .correction2 = 0.5, .grad_scale = 1 } };
    for (int i = 0; i < 4; i++)
        v[i] = mat_host(p[i], ELEM_F32, w->m, w->n);
    double flop = 2.0 * (double)w->m * (double)w->n * (double)w->k;
    int reps = be->rank == 0 ? 1 : (int)(2e8 / flop) + 1;
    reps = reps > 200 ? 200 : reps;
    double t = now();
    for (int r = 0; r < reps; r++) {
        if (w->kind == 0)
            call_matmul(be, c, w->flags, &a, &b, &bias, &out);
        else if (w->kind == 1)
            call_matmul_packed(be, c, w->flags, &a, pk, w->n, w->k, &bias, &out);
        else if (w->kind == 2)
            call_adamw(be, c, &s, &v[0], &v[1], &v[2], &v[3]);
        else
            call_unary(be, c, OP_SOFTMAX, &v[0], &v[3]);
    }
    return (now() - t) / reps;
}

int main(void)
{
    struct hw hw;
    struct err e;
    hw_read(&hw);
    printf("%s, %d core(s)\n%-26s", hw.cpu_model, hw.cores, "");
    enum { N = 8 };
    const struct backend *be[N];
    struct backend_ctx *ctx[N];
    int n = 0;
    for (const struct backend *const *b = backend_list(); *b && n < N; b++)
        if ((*b)->probe(&hw) && (*b)->open(*b, NULL, &ctx[n], &e) == ERR_OK) {
            be[n++] = *b;
            printf("%22s", (*b)->name);
        }
    printf("\n");
    float *p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = aligned_alloc(64, (size_t)4096 * 4096 * 4);
        for (size_t j = 0; j < (size_t)4096 * 4096; j++)
            p[i][j] = (float)(rand() % 1000) * 1e-3f + 1e-4f;
    }
    for (size_t w = 0; w < sizeof items / sizeof *items; w++) {
        double t[N][RUNS];
        struct buffer *pk[N];
        printf("%-26s", items[w].name);
        for (int i = 0; i < n; i++)
            if (items[w].kind == 1) {
                struct mat wm = mat_host(p[1], ELEM_F32, items[w].n, items[w].k);
                pk[i] = call_pack(be[i], ctx[i], &wm);
            }
        for (int r = 0; r < RUNS; r++)
            for (int i = 0; i < n; i++)
                t[i][r] = time_one(be[i], ctx[i], &items[w], p, pk[i]);
        for (int i = 0; i < n; i++) {
            qsort(t[i], RUNS, sizeof t[i][0], cmp);
            double s = t[i][RUNS / 2], flop = 2.0 * (double)items[w].m * (double)items[w].n * (double)items[w].k;
            if (items[w].kind < 2)
                printf("%9.1f us %5.1f GF", s * 1e6, flop / s * 1e-9);
            else
                printf("%19.1f us", s * 1e6);
            if (items[w].kind == 1)
                be[i]->free(ctx[i], pk[i]);
        }
        printf("\n");
    }
    for (int i = 0; i < n; i++)
        be[i]->close(ctx[i]);
    for (int i = 0; i < 4; i++)
        free(p[i]);
    return 0;
}
