/* SPDX-License-Identifier: Apache-2.0 */
/* bench_gbdt.c - the time of boosting over a table in .npy whose last column is the label:
 * bench_gbdt FILE class|number TREES THREADS. Prints one line of JSON with seconds (of the wall; with one thread of the
 * processor), hold-out loss and accuracy (of numbers R²) and the held-out rows, so that another library can
 * learn from the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workers/compute/pool.h"
#include "workers/compute/train/data_rows.h"
#include "workers/compute/train/engine.h"

enum { HEAD = 10 };             /* bytes of .npy before the text of its header */

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct str whole_file(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f || fseek(f, 0, SEEK_END))
        perror(path), exit(1);
    size_t n = (size_t)ftell(f);
    char *p = arena_alloc(a, n + 1);
    rewind(f);
    struct str text = str_n(p, fread(p, 1, n, f));
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new((size_t)8 << 30);
    struct train_data d;
    struct train_result r;
    struct pool *pool;
    struct err e = { 0 };
    char label[32];
    if (argc != 5)
        return fprintf(stderr, "usage: bench_gbdt FILE class|number TREES THREADS\n"), 2;
    bool is_number = !strcmp(argv[2], "number");
    struct str bytes = whole_file(a, argv[1]);
    const char *dims = bytes.len > HEAD ? strstr(bytes.ptr + HEAD, "'shape': (") : NULL;
    snprintf(label, sizeof label, "%ld", dims ? atol(strchr(dims, ',') + 1) - 1 : 0);
    struct train_job s = { .family = TRAIN_GBDT, .objective = is_number ? TRAIN_REGRESSION : TRAIN_CLASSIFICATION,
                           .format = DATA_NPY, .trees = atoi(argv[3]), .leaves = 31, .leaf_rows = 20, .bins = 255,
                           .row_share = 1, .column_share = 1,
                           .learning_rate = 0.1, .seed = 1, .holdout = 0.2, .eval_every = atoi(argv[3]) };
    const struct data_schema schema = { .label = str_c(label), .target = is_number ? TARGET_NUMBER : TARGET_CLASS };
    if (train_data_rows(a, bytes, &schema, &s, &d, &e) != ERR_OK || pool_new(atoi(argv[4]), &pool, &e) != ERR_OK)
        return fprintf(stderr, "%s\n", e.msg), 1;
    const struct train_task task = { .spec = &s, .data = &d, .pool = pool, .clock = &clock_system, .dataset_digest = STR("bench"),
                                     .memory_max_bytes = (size_t)4 << 30 };
    clockid_t clock = atoi(argv[4]) == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    double began = now(clock);
    if (train_run(a, &task, NULL, &r, &e) != ERR_OK)
        return fprintf(stderr, "%s\n", e.msg), 1;
    printf("{\"seconds\": %.4f, \"loss\": %.6f, \"accuracy\": %.6f, \"nodes\": %zu, \"holdout\": [", now(clock) - began,
           r.holdout_loss, r.holdout_accuracy, r.parameters);
    for (size_t i = 0; i < r.holdout_count; i++)
        printf("%s%u", i ? "," : "", r.holdout_indices[i]);
    printf("]}\n");
    train_result_release(&r);
    pool_free(pool);
    arena_free(a);
    return 0;
}
