/* SPDX-License-Identifier: Apache-2.0 */
/* bench_tune.c - what tuning gains over the defaults of a spec: bench_tune mlp|cnn|cnn64|gpt STEPS [EPOCHS]. The digits, or a
 * shard made of this repository's changelog; batch_size 32 as by default.
 * Without EPOCHS: precision auto, batches free; prints the table of effects as lines of JSON, the last one with milliseconds of
 * a step before and after. With EPOCHS: two whole jobs, from data to model file. The default spec (fp32, untuned) and the same
 * with precision auto and tune_steps, trials and all; a line of JSON for each with its seconds by the wall and of processors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/data/tokens.h"
#include "workers/compute/hw.h"
#include "workers/compute/pool.h"
#include "workers/compute/train/data_rows.h"
#include "workers/compute/train/data_tokens.h"
#include "workers/compute/train/tune.h"

#define LIST(...) { (int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) }
enum { FILE_MAX = 1 << 21 };

static struct str file(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "re");
    char *p = arena_alloc(a, FILE_MAX);
    size_t n = f ? fread(p, 1, FILE_MAX, f) : 0;
    if (f)
        fclose(f);
    return str_n(p, n);
}

static enum errc data(struct arena *a, const struct train_job *s, struct train_data *ret, struct err *e)
{
    static const struct data_schema schema = { .label = { "label", 5 }, .classes = 10 };
    if (s->family != TRAIN_GPT)
        return train_data_rows(a, file(a, "datasets/digits/digits.csv"), &schema, s, ret, e);
    struct str text = file(a, "CHANGELOG.md");
    char *p = arena_alloc(a, TOKENS_HEADER + 2 * text.len);
    for (size_t i = 0; i < text.len; i++) {
        p[TOKENS_HEADER + 2 * i] = text.ptr[i];
        p[TOKENS_HEADER + 2 * i + 1] = 0;
    }
    const struct token_shard shard = { (unsigned char *)p + TOKENS_HEADER, 2, 256, text.len, 1 };
    token_shard_header(&shard, (unsigned char *)p);
    return train_data_tokens(a, str_n(p, TOKENS_HEADER + 2 * text.len), s, ret, e);
}

static int usage(void)
{
    return fprintf(stderr, "usage: bench_tune mlp|cnn|cnn64|gpt STEPS [EPOCHS]\n"), 2;
}

static void print_table(const char *name, const struct tuned *t)
{
    const struct train_tuning_row *rows = t->table.rows.items;
    for (size_t i = 0; i < t->table.rows.n; i++)
        printf("{\"setting\": \"%.*s\", \"value\": \"%.*s\", \"ms\": %.4f, \"gain\": %.3f, \"chosen\": %s}\n",
               STR_ARG(rows[i].setting), STR_ARG(rows[i].value), rows[i].ms, rows[i].gain, rows[i].chosen ? "true" : "false");
    printf("{\"family\": \"%s\", \"ms_before\": %.4f, \"ms_after\": %.4f, \"gain\": %.3f, \"bits_kept\": %s}\n", name,
           t->table.ms_before, t->table.ms_after, t->table.ms_before / t->table.ms_after, t->table.bits_kept ? "true" : "false");
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* From data to model file; a spec whose precision is auto is tuned first. */
static enum errc whole_job(struct arena *a, const struct train_task *task, int cores, const char *name, struct err *e)
{
    const struct train_observer silent = { 0 };
    double wall = seconds(CLOCK_MONOTONIC), work = seconds(CLOCK_PROCESS_CPUTIME_ID), trials = 0;
    bool is_tuned = task->spec->precision == TRAIN_AUTO;
    struct train_result r;
    struct tuned t = { .spec = *task->spec, .task = *task };
    if (is_tuned) {
        TRY(tune(a, task, cores, true, &silent, &t, e));
        trials = seconds(CLOCK_PROCESS_CPUTIME_ID) - work;
    } else {
        if (cores > 1)
            TRY(pool_new(cores, &t.pool, e));
        t.task.pool = t.pool;
    }
    enum errc rc = train_run(a, &t.task, &silent, &r, e);
    tuned_release(&t);
    if (rc != ERR_OK)
        return rc;
    printf("{\"net\": \"%s\", \"spec\": \"%s\", \"wall\": %.3f, \"work\": %.3f, \"work_of_trials\": %.3f, \"steps\": %lld, "
           "\"precision\": \"%s\", \"held_out\": %.4f, \"loss\": %.4f}\n", name, is_tuned ? "tuned" : "default",
           seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - work, trials, (long long)r.steps,
           r.is_bf16 ? "bf16" : "fp32", r.holdout_accuracy, r.holdout_loss);
    train_result_release(&r);
    return ERR_OK;
}

static int both_jobs(struct arena *a, struct train_job *s, struct train_task *task, int cores, const char *name)
{
    struct err e = { 0 };
    s->tune_batches = false;
    for (int is_tuned = 0; is_tuned <= 1; is_tuned++) {
        s->precision = is_tuned ? TRAIN_AUTO : TRAIN_FP32;
        if (whole_job(a, task, cores, name, &e) != ERR_OK)
            return fprintf(stderr, "%s\n", e.msg), 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "mlp", "cnn", "cnn64", "gpt" };
    struct train_job jobs[] = {
        { .family = TRAIN_MLP, .hidden = LIST(64, 32) },
        { .family = TRAIN_CNN, .image = LIST(8, 8, 1), .channels = LIST(16, 32, 64), .blocks = LIST(1) },
        { .family = TRAIN_CNN, .image = LIST(8, 8, 1), .channels = LIST(64, 128, 256), .blocks = LIST(1), .residual = true },
        { .family = TRAIN_GPT, .layers = 4, .width = 128, .heads = 4, .context = 128, .classes = 256 },
    };
    size_t which = 0;
    struct arena *a = arena_new((size_t)1 << 36);
    struct train_data d;
    struct tuned t = { 0 };
    struct hw hw;
    struct err e = { 0 };
    const struct backend *be;
    while (argc > 2 && which < sizeof jobs / sizeof *jobs && strcmp(argv[1], names[which]))
        which++;
    if (argc < 3 || which == sizeof jobs / sizeof *jobs)
        return usage();
    struct train_job *s = &jobs[which];
    s->batch_size = 32;
    s->accumulate = s->ranks = 1;
    s->epochs = argc > 3 ? atoi(argv[3]) : 1000;
    s->learning_rate = 0.003;
    s->holdout = 0.2;
    s->seed = 1;
    s->precision = TRAIN_AUTO;
    s->tune_steps = atoi(argv[2]);
    s->tune_batches = true;
    hw_read(&hw);
    if (backend_choose("auto", &hw, NULL, NULL, &be, &e) != ERR_OK || data(a, s, &d, &e) != ERR_OK)
        return fprintf(stderr, "%s\n", e.msg), 1;
    struct train_task task = { .spec = s, .data = &d, .backend = be, .clock = &clock_system };
    const struct train_observer silent = { 0 };
    if (argc > 3)
        return both_jobs(a, s, &task, hw.cores, argv[1]);
    if (tune(a, &task, hw.cores, true, &silent, &t, &e) != ERR_OK)
        return fprintf(stderr, "%s\n", e.msg), 1;
    print_table(argv[1], &t);
    tuned_release(&t);
    arena_free(a);
    return 0;
}
