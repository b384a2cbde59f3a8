/* SPDX-License-Identifier: Apache-2.0 */
/* run_kit.h - a whole training run on two threads of the best backend, and the files it reads. Included after cmocka.h. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../train_kit.h"
#include "core/base/cleanup.h"
#include "workers/compute/pool.h"
#include "workers/compute/train/data_rows.h"
#include "workers/compute/train/engine.h"

#define LIST(...) { (int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) }

static inline const struct backend *kit_backend(void)
{
    struct hw hw;
    struct err e;
    const struct backend *be;
    hw_read(&hw);
    assert_int_equal(backend_choose("auto", &hw, NULL, NULL, &be, &e), ERR_OK);
    return be;
}
/* A file of the repository, in the arena. */
static inline struct str kit_file(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s is not there", path);
    char *p = arena_alloc(a, 1 << 20);
    struct str text = str_n(p, fread(p, 1, 1 << 20, f));
    fclose(f);
    return text;
}
static inline void kit_log(void *ctx, const char *line)
{
    (void)ctx;
    print_message("%s\n", line);
}
/* store NULL: no checkpoints; every: steps between them. */
static inline enum errc kit_run_in(struct arena *a, const struct train_job *s, const struct train_data *d,
                                   const struct ckpt_store *store,
                                   int64_t every,
                                   const struct train_observer *obs, struct train_result *r, struct err *e)
{
    struct pool *pool;
    assert_int_equal(pool_new(2, &pool, e), ERR_OK);
    const struct train_task job = { .spec = s, .data = d, .backend = kit_backend(), .pool = pool, .clock = &clock_system,
                                    .dataset_digest = STR("sha256:kit"), .store = store, .checkpoint_every_steps = every };
    enum errc rc = train_run(a, &job, obs, r, e);
    pool_free(pool);
    return rc;
}
static inline void kit_train(struct arena *a, const struct train_job *s, const struct train_data *d, struct train_result *r)
{
    static const struct train_observer o = { .on_log = kit_log };
    struct err e = { 0 };
    if (kit_run_in(a, s, d, NULL, 0, &o, r, &e) != ERR_OK)
        fail_msg("%s (%s)", e.msg, e.detail);
}
static inline struct train_data kit_digits(struct arena *a, const struct train_job *s)
{
    static const struct data_schema schema = { .label = { "label", 5 }, .classes = 10 };
    struct train_data d;
    struct err e = { 0 };
    if (train_data_rows(a, kit_file(a, "datasets/digits/digits.csv"), &schema, s, &d, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return d;
}
