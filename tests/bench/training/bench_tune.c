/* SPDX-License-Identifier: Apache-2.0 */
/* bench_tune.c - what tuning gains over the defaults of a spec: bench_tune mlp|cnn|gpt STEPS. The digits, or a shard made of this
 * repository's changelog; batch_size 32 as by default, precision auto, batches free. Prints the table of effects as lines of
 * JSON, the last one with milliseconds of a step before and after. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/tokens.h"
#include "workers/compute/hw.h"
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

int main(int argc, char **argv)
{
    struct train_job jobs[] = {
        { .family = TRAIN_MLP, .hidden = LIST(64, 32) },
        { .family = TRAIN_CNN, .image = LIST(8, 8, 1), .channels = LIST(16, 32, 64), .blocks = LIST(1) },
        { .family = TRAIN_GPT, .layers = 4, .width = 128, .heads = 4, .context = 128, .classes = 256 },
    };
    int which = argc < 3 ? -1 : !strcmp(argv[1], "mlp") ? 0 : !strcmp(argv[1], "cnn") ? 1 : !strcmp(argv[1], "gpt") ? 2 : -1;
    struct arena *a = arena_new((size_t)1 << 32);
    struct train_data d;
    struct tuned t = { 0 };
    struct hw hw;
    struct err e = { 0 };
    const struct backend *be;
    if (which < 0)
        return fprintf(stderr, "usage: bench_tune mlp|cnn|gpt STEPS\n"), 2;
    struct train_job *s = &jobs[which];
    s->batch_size = 32;
    s->accumulate = s->ranks = 1;
    s->epochs = 1000;
    s->learning_rate = 0.003;
    s->holdout = 0.2;
    s->seed = 1;
    s->precision = TRAIN_AUTO;
    s->tune_steps = atoi(argv[2]);
    s->tune_batches = true;
    hw_read(&hw);
    if (backend_choose("auto", &hw, NULL, NULL, &be, &e) != ERR_OK || data(a, s, &d, &e) != ERR_OK)
        return fprintf(stderr, "%s\n", e.msg), 1;
    const struct train_task task = { .spec = s, .data = &d, .backend = be, .clock = &clock_system };
    const struct train_observer silent = { 0 };
    if (tune(a, &task, hw.cores, true, &silent, &t, &e) != ERR_OK)
        return fprintf(stderr, "%s\n", e.msg), 1;
    const struct train_tuning_row *rows = t.table.rows.items;
    for (size_t i = 0; i < t.table.rows.n; i++)
        printf("{\"setting\": \"%.*s\", \"value\": \"%.*s\", \"ms\": %.4f, \"gain\": %.3f, \"chosen\": %s}\n",
               STR_ARG(rows[i].setting), STR_ARG(rows[i].value), rows[i].ms, rows[i].gain, rows[i].chosen ? "true" : "false");
    printf("{\"family\": \"%s\", \"ms_before\": %.4f, \"ms_after\": %.4f, \"gain\": %.3f, \"bits_kept\": %s}\n", argv[1],
           t.table.ms_before, t.table.ms_after, t.table.ms_before / t.table.ms_after, t.table.bits_kept ? "true" : "false");
    tuned_release(&t);
    arena_free(a);
    return 0;
}
