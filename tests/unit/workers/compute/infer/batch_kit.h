/* SPDX-License-Identifier: Apache-2.0 */
/* batch_kit.h - a perceptron trained on the digits, to be served: `train` makes it, once for a program. */
#pragma once
#include "tests/lib/wait.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../train_kit.h"
#include "workers/compute/infer/batch.h"
#include "workers/compute/train/data_rows.h"
#include "workers/compute/train/engine.h"

enum { CLASSES = 10, INPUTS = 64 };

static struct arena *arena;
static struct train_data data;
static struct train_result trained;
static const struct backend *be;

static inline int train(int64_t epochs)
{
    struct err e;
    struct hw hw;
    FILE *f = fopen("datasets/digits/digits.csv", "re");
    if (!f)
        return -1;
    arena = arena_new(256 << 20);
    char *p = arena_alloc(arena, 1 << 20);
    struct str text = str_n(p, fread(p, 1, 1 << 20, f));
    fclose(f);
    hw_read(&hw);
    static struct train_job spec;
    spec = kit_spec();
    spec.epochs = epochs;
    spec.learning_rate = 3e-3;
    const struct data_schema schema = { .label = STR("label"), .classes = CLASSES };
    struct train_task job = { .spec = &spec, .data = &data, .clock = &clock_system, .dataset_digest = STR("d") };
    if (backend_choose("auto", &hw, NULL, NULL, &be, &e) || train_data_rows(arena, text, &schema, &spec, &data, &e))
        return -1;
    job.backend = be;
    return train_run(arena, &job, NULL, &trained, &e) == ERR_OK ? 0 : -1;
}

static inline int teardown(void **st)
{
    (void)st;
    train_result_release(&trained);
    arena_free(arena);
    return 0;
}

static inline struct infer_io io_of(const float *x, float *probabilities, int32_t *labels)
{
    return (struct infer_io){ .in = { x }, .out = { probabilities, labels } };
}

static inline struct infer_model *load(const struct backend *b)
{
    struct infer_model *m;
    struct err e = { 0 };
    if (infer_model_load(b, NULL, trained.model.ptr, trained.model.len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return m;
}

/* Requests that `note` answered, and those that it saw refused as too late. */
static atomic_int answered, late;

static inline void note(struct infer_request *r, enum errc rc)
{
    (void)r;
    atomic_fetch_add(rc == ERR_DEADLINE ? &late : &answered, 1);
}
