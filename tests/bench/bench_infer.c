/* SPDX-License-Identifier: Apache-2.0 */
/* bench_infer.c - serving time of two perceptrons: mlp784 (784-512-256-10) and digits (64-128-10).
 *
 * Median time of one call per backend and batch, from rows in memory to probabilities and labels, and the time to load. */
#include "core/base/cleanup.h"
#include "core/data/safetensors.h"
#include "workers/compute/infer/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 31 };

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

static void make_model(struct buf *out, const size_t *width, size_t layers)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct st_tensor t[16];
    struct err e;
    size_t n = 0;
    for (size_t i = 0; i < layers; i++) {
        float *w = arena_alloc(a, width[i] * width[i + 1] * 4), *b = arena_alloc(a, width[i + 1] * 4);
        for (size_t j = 0; j < width[i] * width[i + 1]; j++)
            w[j] = (float)(rand() % 2001 - 1000) * 1e-4f;
        t[n++] = (struct st_tensor){ str_fmt(a, "mlp.%zu.weight", i), ST_F32, 2, { width[i + 1], width[i] }, (const void *)w,
                                     width[i] * width[i + 1] * 4 };
        t[n++] = (struct st_tensor){ str_fmt(a, "mlp.%zu.bias", i), ST_F32, 1, { width[i + 1] }, (const void *)b, width[i + 1] * 4 };
    }
    struct st_pair meta[] = { { STR("family"), STR("mlp") }, { STR("activation"), STR("relu") } };
    if (st_write(out, t, n, meta, 2, &e) != ERR_OK)
        abort();
    arena_free(a);
}

static void bench_model(const char *name, const size_t *width, size_t layers, const struct backend *be)
{
    static const size_t batches[] = { 1, 32, 256 };
    CLEANUP(buf_releasep) struct buf file = BUF((size_t)64 << 20);
    struct infer_model *m;
    struct infer_session *s;
    struct err e;
    make_model(&file, width, layers);
    double t = now();
    if (infer_model_load(be, NULL, file.ptr, file.len, &m, &e) != ERR_OK || infer_session_new(m, &s, &e) != ERR_OK)
        abort();
    printf("%-8s %-7s load %6.0f us", name, be->name, (now() - t) * 1e6);
    float *x = malloc(256 * width[0] * 4), *p = malloc(256 * width[layers] * 4);
    int32_t label[256];
    for (size_t i = 0; i < 256 * width[0]; i++)
        x[i] = (float)(rand() % 1000) * 1e-3f;
    for (size_t b = 0; b < 3; b++) {
        double times[RUNS];
        int reps = be->rank == 0 ? 1 : (int)(400 / batches[b]) + 1;
        for (int r = 0; r < RUNS; r++) {
            t = now();
            for (int k = 0; k < reps; k++)
                if (infer_run(s, &(struct infer_io){ .in = { x }, .out = { p, label } }, batches[b], &e) != ERR_OK)
                    abort();
            times[r] = (now() - t) / reps;
        }
        qsort(times, RUNS, sizeof *times, cmp);
        printf("   b%zu %8.2f us (%.0f rows/s)", batches[b], times[RUNS / 2] * 1e6, (double)batches[b] / times[RUNS / 2]);
    }
    printf("\n");
    free(x);
    free(p);
    infer_session_free(s);
    infer_model_free(m);
}

int main(void)
{
    static const size_t mlp784[] = { 784, 512, 256, 10 }, digits[] = { 64, 128, 10 };
    struct hw hw;
    hw_read(&hw);
    for (const struct backend *const *b = backend_list(); *b; b++) {
        if (!(*b)->probe(&hw))
            continue;
        bench_model("mlp784", mlp784, 3, *b);
        bench_model("digits", digits, 2, *b);
    }
    return 0;
}
