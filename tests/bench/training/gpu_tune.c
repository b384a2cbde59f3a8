/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_tune.c - whole training runs on the card: what the tuner gains over a spec's defaults (bf16, batches of 8 rows launched
 * operation by operation), and the share of a step that waits for data. Tokens are bytes of this repository's own documents. */
#include "core/data/tokens.h"
#include "tests/bench/training/gpu_kit.h"
#include "workers/compute/train/data_tokens.h"
#include "workers/compute/train/tune.h"

#if defined(EMULATED)
enum { ALPHABET = 32, WORDS = 32, TRIAL_STEPS = 1, WATCHED = 1, AFTER = 2, FREE = 1 };
#else
enum { ALPHABET = 256, WORDS = 50304, TRIAL_STEPS = 10, WATCHED = 10, AFTER = 6, FREE = 11 };
#endif

struct job {
    struct arena *arena;
    struct train_job spec;
    struct train_data data;
    struct train_task task;
};

static void set_up(struct job *j, int64_t batch, int64_t accumulate, int words)
{
    size_t n;
    char *text = bench_text(&n);
    *j = (struct job){ .arena = arena_new((size_t)1 << 36),
                       .spec = { .family = TRAIN_GPT, .layers = (int64_t)arg[0], .width = (int64_t)arg[1],
                                 .heads = (int64_t)arg[2], .context = (int64_t)arg[3], .classes = words, .batch_size = batch,
                                 .accumulate = accumulate, .ranks = 1, .epochs = 1000, .learning_rate = 0.0003, .holdout = 0.2,
                                 .seed = 1, .clip_norm = 1, .precision = TRAIN_BF16 } };
    unsigned char *p = arena_alloc(j->arena, TOKENS_HEADER + 2 * n);
    for (size_t i = 0; i < n; i++) {
        p[TOKENS_HEADER + 2 * i] = (unsigned char)text[i] % ALPHABET;
        p[TOKENS_HEADER + 2 * i + 1] = 0;
    }
    const struct token_shard shard = { p + TOKENS_HEADER, 2, (uint32_t)words, n, 1 };
    token_shard_header(&shard, p);
    free(text);
    if (train_data_tokens(j->arena, str_n((char *)p, TOKENS_HEADER + 2 * n), &j->spec, &j->data, &failure) != ERR_OK)
        stop("tune");
    j->task = (struct train_task){ .spec = &j->spec, .data = &j->data, .backend = &gpu, .clock = &clock_system,
                                   .memory_max_bytes = (size_t)1 << 36 };
#if defined(HAS_LIBRARY) && !defined(EMULATED)
    j->task.library = "auto";
#endif
}

/* arg: layers, width, heads, tokens; rows of a batch, batches of a step. */
void stage_tune(void)
{
    struct job j;
    struct tuned t = { 0 };
    const struct train_observer silent = { 0 };
    double plain = 0;
    set_up(&j, (int64_t)arg[4], (int64_t)arg[5], ALPHABET);
    j.spec.tune_steps = TRIAL_STEPS;
    j.spec.tune_batches = true;
    if (tune(j.arena, &j.task, 1, false, &silent, &t, &failure) != ERR_OK)
        stop("tune");
    const struct train_tuning_row *rows = t.table.rows.items;
    for (size_t i = 0; i < t.table.rows.n; i++) {
        if (str_eq_c(rows[i].setting, "graph"))
            plain = rows[i].ms;
        printf("{\"stage\": \"tune\", \"setting\": \"%.*s\", \"value\": \"%.*s\", \"ms\": %.3f, \"gain\": %.3f, "
               "\"chosen\": %s}\n", STR_ARG(rows[i].setting), STR_ARG(rows[i].value), rows[i].ms, rows[i].gain,
               rows[i].chosen ? "true" : "false");
    }
    printf("{\"stage\": \"tune\", \"of\": \"gpt %zux%zu T=%zu\", \"default_ms\": %.3f, \"tuned_ms\": %.3f, \"gain\": %.3f, "
           "\"reached\": %s}\n", arg[0], arg[1], arg[3], plain, t.table.ms_after, plain / t.table.ms_after,
           plain >= 1.3 * t.table.ms_after ? "true" : "false");
    tuned_release(&t);
    arena_free(j.arena);
}

struct watch {
    double last, took[FREE];
    int64_t n;
};

static void on_step(void *with, const struct train_step *step)
{
    struct watch *w = with;
    double at = now();
    if (step->step > WATCHED + AFTER && w->n < FREE)
        w->took[w->n++] = at - w->last;
    w->last = at;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* arg: as gpt's. A run's own steps: some whose operations are watched, each run to its end, for the wait; then captured ones, for
 * the time of a step. Peaks must be given, and show in no figure. */
void stage_data(void)
{
    struct job j;
    struct train_result r;
    struct peaks peaks = { 1, 1 };
    struct watch w = { 0 };
    const struct train_observer o = { .ctx = &w, .on_step = on_step };
    set_up(&j, (int64_t)arg[4], 1, WORDS);
    j.spec.profile_steps = WATCHED;
    j.spec.max_steps = WATCHED + AFTER + FREE;
    j.task.is_trial = j.task.prefetches = true;
    j.task.peaks = &peaks;
    if (train_run(j.arena, &j.task, &o, &r, &failure) != ERR_OK)
        stop("data");
    qsort(w.took, (size_t)w.n, sizeof *w.took, by_size);
    double wait = r.profile.ms * r.profile.data_wait, ms = w.n ? 1e3 * w.took[w.n / 2] : 0;
    printf("{\"stage\": \"data\", \"rows\": %zu, \"ms\": %.3f, \"wait_ms\": %.4f, \"share\": %.5f, \"profiled_ms\": %.3f}\n",
           arg[4], ms, wait, ms > 0 ? wait / ms : 0, r.profile.ms);
    train_result_release(&r);
    arena_free(j.arena);
}
