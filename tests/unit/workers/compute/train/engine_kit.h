/* SPDX-License-Identifier: Apache-2.0 */
/* engine_kit.h - the digits, and whole runs of the engine on them, which may be told to stop. A program includes it once. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_kit.h"
#include "store_kit.h"

static struct str digits;
static const struct data_schema schema = { .label = { "label", 5 }, .classes = 10 };

static inline int load_digits(void **st)
{
    (void)st;
    FILE *f = fopen("datasets/digits/digits.csv", "re");
    if (!f)
        return -1;
    char *p = malloc(1 << 20);
    digits = str_n(p, fread(p, 1, 1 << 20, f));
    fclose(f);
    return 0;
}

static inline int drop_digits(void **st)
{
    (void)st;
    free((void *)(uintptr_t)digits.ptr);
    return 0;
}

struct stopper {
    int64_t at, seen, epochs;
    double last_loss;
};

static inline void on_step(void *ctx, const struct train_step *s)
{
    struct stopper *p = ctx;
    p->seen = s->step;
    p->last_loss = s->loss;
}

static inline void on_epoch(void *ctx, const struct train_epoch *ep)
{
    struct stopper *p = ctx;
    p->epochs++;
    assert_true(ep->epoch > 0 && ep->train_loss >= 0 && ep->samples_per_s >= 0);
}

static inline bool should_stop(void *ctx)
{
    struct stopper *p = ctx;
    return p->at && p->seen == p->at;
}

static bool kit_begins_anew;

static inline void run_on(const char *digest, const struct train_job *s, const struct backend *be, const struct ckpt_store *store,
                   int64_t stop_at,
                   struct train_result *r, struct err *e, enum errc want)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    struct train_data d;
    struct stopper p = { .at = stop_at };
    const struct train_observer o = { &p, on_step, on_epoch, NULL, should_stop };
    assert_int_equal(train_data_rows(a, digits, &schema, s, &d, e), ERR_OK);
    struct train_task job = { .spec = s, .data = &d, .backend = be, .clock = &clock_system, .dataset_digest = str_c(digest),
                             .store = store, .checkpoint_every_steps = store ? 17 : 0,
                             .begins_anew = kit_begins_anew };
    enum errc rc = train_run(a, &job, &o, r, e);
    if (rc != want)
        fail_msg("%d: %s (%s)", rc, e->msg, e->detail);
}

static inline void run_once(const struct train_job *s, const struct backend *be, const struct ckpt_store *store, int64_t stop_at,
                     struct train_result *r,
                     struct err *e, enum errc want)
{
    run_on("sha256:test", s, be, store, stop_at, r, e, want);
}

/* The parameters after so many epochs of one full batch each. */
static inline size_t params_after(int64_t epochs, double lr, const struct backend *be, float *out, size_t max)
{
    struct err e;
    struct train_job s = kit_spec();
    struct train_result r;
    struct st_file f;
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    size_t n = 0;
    s.epochs = epochs;
    s.batch_size = 65536;
    s.learning_rate = lr;
    s.weight_decay = 0;
    s.schedule = TRAIN_CONST;
    run_once(&s, be, NULL, 0, &r, &e, ERR_OK);
    assert_int_equal(r.steps, epochs);
    assert_int_equal(st_parse(a, r.model.ptr, r.model.len, &f, &e), ERR_OK);
    for (int layer = 0; layer < 2; layer++) {
        char name[32];
        const float *p;
        size_t rows = layer ? 10 : 128, cols = layer ? 128 : 64;
        snprintf(name, sizeof name, "mlp.%d.weight", layer);
        assert_int_equal(st_f32(&f, name, rows, cols, &p, &e), ERR_OK);
        assert_true(n + rows * cols <= max);
        memcpy(out + n, p, rows * cols * sizeof *p);
        n += rows * cols;
    }
    train_result_release(&r);
    return n;
}
