/* SPDX-License-Identifier: Apache-2.0 */
/* tune.c - trials, their table, and the choice. */
#include "workers/compute/train/tune.h"
#include "workers/compute/pool.h"
#include "workers/compute/train/cursor.h"
#include "workers/compute/train/joules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2, CUTS = 4, WAYS_MAX = 20, BATCH_MOST = 65536, ACCUMULATE_MOST = 4096, SHARE = 4 };
static const double WORTH = 1.02, WORTH_MORE = 1.01;    /* less is noise: alone, and added to others */

struct tuner {
    struct arena *arena;
    const struct train_task *task;
    const struct train_observer *obs;
    const struct tune_way *plain;
    struct train_tuning_row *rows;      /* TRAIN_TUNING_ROWS_MAX of them */
    size_t count;
    double *took;                       /* of a trial: milliseconds by step */
    int64_t last_us, steps;
    int64_t until_us;                   /* of max_seconds; 0: any time */
    struct joules joules;
    double until_joules;                /* of max_joules */
    bool was_stopped, is_late;
};

struct str tune_text(struct arena *a, const struct tune_way *w)
{
    return str_fmt(a, "%s %lld %lld", w->is_bf16 ? "bf16" : "fp32", (long long)w->batch_size, (long long)w->accumulate);
}

bool tune_parse(struct str text, struct tune_way *w)
{
    struct str precision, batch, accumulate;
    if (!str_cut(text, ' ', &precision, &text) || !str_cut(text, ' ', &batch, &accumulate))
        return false;
    w->is_bf16 = str_eq_c(precision, "bf16");
    return (w->is_bf16 || str_eq_c(precision, "fp32")) && str_to_i64(batch, 1, BATCH_MOST, &w->batch_size)
           && str_to_i64(accumulate, 1, ACCUMULATE_MOST, &w->accumulate);
}

/* The task as that way runs it. *spec and *pool outlive it. */
static enum errc set_up(const struct train_task *from, const struct tune_way *w, struct train_job *spec, struct pool **pool,
                        struct train_task *ret, struct err *e)
{
    *spec = *from->spec;
    spec->batch_size = w->batch_size;
    spec->accumulate = w->accumulate;
    spec->ranks = w->ranks;
    spec->precision = w->is_bf16 ? TRAIN_BF16 : TRAIN_FP32;
    *pool = NULL;
    if (w->threads > 1)
        TRY(pool_new(w->threads, pool, e));
    *ret = *from;
    ret->spec = spec;
    ret->pool = *pool;
    ret->prefetches = w->prefetches;
    ret->launches_each = w->launches_each;
    return ERR_OK;
}

static void on_step(void *ctx, const struct train_step *s)
{
    struct tuner *t = ctx;
    int64_t now = clock_mono_us(t->task->clock);
    if (s->step > WARM_UP && t->steps < t->task->spec->tune_steps)
        t->took[t->steps++] = (double)(now - t->last_us) * 1e-3;
    t->last_us = now;
}

static bool should_stop(void *ctx)
{
    struct tuner *t = ctx;
    t->was_stopped = t->was_stopped || (t->obs->should_stop && t->obs->should_stop(t->obs->ctx));
    t->is_late = t->is_late || (t->until_us && t->last_us >= t->until_us) || joules_are_spent(&t->joules, t->until_joules);
    return t->was_stopped || t->is_late;
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* The step at the lower quartile, in milliseconds: what other work on the machine adds to some is left out, a wait for data that
 * every fourth step has is not. */
static enum errc run_trial(struct tuner *t, const struct tune_way *w, double *ret_ms, struct err *e)
{
    struct train_job spec;
    struct train_task task;
    struct train_result r = { 0 };
    struct pool *pool;
    struct arena *a = arena_new((size_t)1 << 44);
    const struct train_observer o = { .ctx = t, .on_step = on_step, .should_stop = should_stop };
    enum errc rc = set_up(t->task, w, &spec, &pool, &task, e);
    t->steps = 0;
    task.is_trial = true;
    task.store = NULL;
    task.peaks = NULL;
    spec.max_steps = t->task->spec->tune_steps + WARM_UP;
    spec.max_items = spec.max_seconds = spec.max_joules = 0;
    spec.early_stop_patience = 0;
    if (rc == ERR_OK && (rc = train_run(a, &task, &o, &r, e)) == ERR_OK)
        train_result_release(&r);
    pool_free(pool);
    arena_free(a);
    if (rc == ERR_OK && !t->steps && !t->was_stopped && !t->is_late)
        rc = FAIL(e, UNPROCESSABLE, "the epochs make no more than %d steps, which is the warm-up", WARM_UP);
    if (rc != ERR_OK || t->was_stopped || t->is_late)
        return rc;
    qsort(t->took, (size_t)t->steps, sizeof *t->took, by_size);
    *ret_ms = t->took[t->steps / 4];
    return ERR_OK;
}

static PRINTF_LIKE(2, 3) void say(const struct tuner *t, const char *fmt, ...)
{
    char line[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (t->obs->on_log)
        t->obs->on_log(t->obs->ctx, line);
}

/* A trial and its row. ms 0: it could not run, or was stopped. */
static double try_way(struct tuner *t, const char *setting, struct str value, const struct tune_way *w)
{
    struct err e = { 0 };
    double ms = 0;
    if (t->was_stopped || t->is_late || t->count == TRAIN_TUNING_ROWS_MAX)
        return 0;
    struct train_tuning_row *row = &t->rows[t->count++];
    *row = (struct train_tuning_row){ .setting = str_c(setting), .value = value };
    if (run_trial(t, w, &ms, &e) != ERR_OK) {
        row->why = str_dup(t->arena, str_c(e.msg));
        say(t, "tuning: %s %.*s cannot be tried: %s", setting, STR_ARG(value), e.msg);
        return 0;
    }
    if (t->was_stopped || t->is_late) {
        t->count--;
        if (t->is_late)
            say(t, "tuning: a quarter of what is left of max_seconds or max_joules is used up: no more is tried");
        return 0;
    }
    row->ms = ms;
    row->gain = t->rows[0].ms > 0 ? t->rows[0].ms / ms : 1;
    say(t, "tuning: %s %.*s: %.3f ms a step, %.2f times the defaults", setting, STR_ARG(value), ms, row->gain);
    return ms;
}

/* A way that differs from the plain one in one thing. */
struct effect {
    const char *setting;
    struct str value;
    struct tune_way way;
    double gain;
    struct train_tuning_row *row;
};

struct effects {
    struct effect of[WAYS_MAX];
    size_t n;
};

static struct tune_way *add(struct effects *s, const struct tune_way *plain, const char *setting, struct str value)
{
    ASSERT(s->n < WAYS_MAX);
    struct effect *x = &s->of[s->n++];
    *x = (struct effect){ setting, value, *plain, 0, NULL };
    return &x->way;
}

static struct str number(struct arena *a, int64_t n)
{
    return str_fmt(a, "%lld", (long long)n);
}

static void add_cuts(struct effects *s, struct arena *a, const struct tune_way *plain)
{
    const int64_t batch = plain->batch_size, accumulate = plain->accumulate;
    for (int64_t k = 2, n = 0; n < CUTS / 2 && batch % k == 0 && accumulate * k <= ACCUMULATE_MOST; k *= 2, n++) {
        struct tune_way *w = add(s, plain, "batches", str_fmt(a, "%lld of %lld rows", (long long)(plain->accumulate * k),
                                                              (long long)(plain->batch_size / k)));
        w->batch_size /= k;
        w->accumulate *= k;
    }
    for (int64_t k = 2, n = 0; n < CUTS && accumulate % k == 0 && batch * k <= BATCH_MOST; k *= 2, n++) {
        struct tune_way *w = add(s, plain, "batches", str_fmt(a, "%lld of %lld rows", (long long)(plain->accumulate / k),
                                                              (long long)(plain->batch_size * k)));
        w->batch_size *= k;
        w->accumulate /= k;
    }
}

/* What is free in this job, each alone. bound: a checkpoint has decided what shows in bits. */
static void list_effects(struct effects *s, const struct tuner *t, int cores, bool ranks_are_free, bool is_bound)
{
    const struct tune_way *plain = t->plain;
    const struct train_job *j = t->task->spec;
    bool is_device = t->task->backend->properties & BE_DEVICE;
    if (j->precision == TRAIN_AUTO && !is_bound && (t->task->backend->properties & BE_BF16))
        add(s, plain, "precision", STR("bf16"))->is_bf16 = true;
    for (int n = 1; n < cores && !is_device; n *= 2)
        add(s, plain, "threads", number(t->arena, n))->threads = n;
    for (int64_t n = 1; n <= TRAIN_RANKS_MAX && n <= cores && ranks_are_free && !is_device; n *= 2)
        if (n != plain->ranks && plain->accumulate % n == 0)
            add(s, plain, "ranks", number(t->arena, n))->ranks = n;
    add(s, plain, "prefetch", STR("true"))->prefetches = true;
    if (t->task->backend->capturing)
        add(s, plain, "graph", STR("false"))->launches_each = true;
    if (j->tune_batches && !is_bound)
        add_cuts(s, t->arena, plain);
}

static bool is_same(const struct tune_way *a, const struct tune_way *b)
{
    return a->threads == b->threads && a->ranks == b->ranks && a->batch_size == b->batch_size && a->accumulate == b->accumulate
           && a->prefetches == b->prefetches && a->is_bf16 == b->is_bf16 && a->launches_each == b->launches_each;
}

static int by_gain(const void *x, const void *y)
{
    const struct effect *a = x, *b = y;
    return a->gain > b->gain ? -1 : a->gain < b->gain;
}

/* What `more` changes of the plain way, on top of w. false: they do not go together, or it changes nothing. */
static bool join(const struct tune_way *plain, const struct tune_way *more, struct tune_way *w)
{
    const struct tune_way before = *w;
    if (more->threads != plain->threads)
        w->threads = w->threads == plain->threads ? more->threads : w->threads;
    if (more->ranks != plain->ranks)
        w->ranks = w->ranks == plain->ranks ? more->ranks : w->ranks;
    if (more->batch_size != plain->batch_size && w->batch_size == plain->batch_size) {
        w->batch_size = more->batch_size;
        w->accumulate = more->accumulate;
    }
    w->prefetches |= more->prefetches;
    w->is_bf16 |= more->is_bf16;
    w->launches_each |= more->launches_each;
    return w->accumulate % w->ranks == 0 && !is_same(&before, w);
}

static struct str way_text(struct arena *a, const struct tune_way *plain, const struct tune_way *w)
{
    return str_fmt(a, "%s%d threads, %lld rank(s)%s%s, %lld of %lld rows", w->is_bf16 != plain->is_bf16 ? "bf16, " : "",
                   w->threads, (long long)w->ranks, w->prefetches ? ", prefetch" : "", w->launches_each ? ", no graph" : "",
                   (long long)w->accumulate, (long long)w->batch_size);
}

/* The best alone, then the next ones on top of it. */
static struct tune_way choose(struct tuner *t, struct effects *s)
{
    struct tune_way best = *t->plain;
    double ms = t->rows[0].ms;
    struct train_tuning_row *chosen = &t->rows[0];
    qsort(s->of, s->n, sizeof *s->of, by_gain);
    for (size_t i = 0; i < s->n && s->of[i].gain >= WORTH && !t->was_stopped; i++) {
        struct tune_way w = best;
        if (!join(t->plain, &s->of[i].way, &w))
            continue;
        bool is_alone = chosen == &t->rows[0];
        double now = is_alone ? s->of[i].row->ms : try_way(t, "together", way_text(t->arena, t->plain, &w), &w);
        if (now <= 0 || now * WORTH_MORE > ms)
            continue;
        best = w;
        ms = now;
        chosen = is_alone ? s->of[i].row : &t->rows[t->count - 1];
    }
    if (t->was_stopped)
        return *t->plain;
    chosen->chosen = true;
    return best;
}

struct bound {
    struct tune_way way;                /* batch_size 0: none */
    double seconds, joules;             /* worked and taken so far */
};

/* A checkpoint's "tuned", of the newest that can be read, and its time. */
static enum errc take_bound(void *ctx, struct arena *a, const struct ckpt *k, struct err *e)
{
    struct bound *b = ctx;
    struct cursor at;
    (void)a, (void)e;
    if (!tune_parse(st_meta(&k->file, "tuned"), &b->way))
        b->way.batch_size = 0;
    bool is_read = cursor_read(k, &at, &(struct err){ 0 }) == ERR_OK;
    b->seconds = is_read ? at.seconds : 0;
    b->joules = is_read ? at.joules : 0;
    return ERR_OK;
}

static bool find_bound(const struct train_task *task, const struct tune_way *plain, struct bound *ret)
{
    struct err e;
    bool found = false;
    *ret = (struct bound){ .way = *plain };
    const struct ckpt_taker taker = { .ctx = ret, .take = take_bound };
    if (!task->store || ckpt_restore(task->store, &taker, &found, &e) != ERR_OK || !found) {
        *ret = (struct bound){ .way = *plain };         /* one that cannot be read is the run's to tell of */
        return false;
    }
    found = ret->way.batch_size > 0;
    ret->way = found ? ret->way : *plain;
    return found;
}

/* When trials end, so that most of a budget of time is left for the run; 0: it has none. */
static int64_t trials_until(const struct train_job *s, int64_t began_us, double worked)
{
    double left = (double)s->max_seconds - worked;
    return s->max_seconds ? began_us + (int64_t)((left > 0 ? left : 0) * 1e6 / SHARE) : 0;
}

enum errc tune(struct arena *a, const struct train_task *task, int cores, bool ranks_are_free, const struct train_observer *obs,
               struct tuned *ret, struct err *e)
{
    const struct train_job *s = task->spec;
    struct tune_way plain = { .threads = cores, .ranks = s->ranks > 1 ? s->ranks : 1, .batch_size = s->batch_size,
                              .accumulate = s->accumulate, .is_bf16 = s->precision == TRAIN_BF16 };
    struct bound before;
    bool is_bound = find_bound(task, &plain, &before);
    plain = before.way;
    if (plain.accumulate % plain.ranks)         /* cut by an attempt with fewer ranks */
        plain.ranks = 1;
    int64_t began = clock_mono_us(task->clock);
    struct tuner t = { .arena = a, .task = task, .obs = obs, .plain = &plain,
                       .until_us = trials_until(s, began, before.seconds),
                       .until_joules = before.joules + ((double)s->max_joules - before.joules) / SHARE,
                       .rows = ARENA_ARRAY(a, struct train_tuning_row, TRAIN_TUNING_ROWS_MAX),
                       .took = ARENA_ARRAY(a, double, (size_t)s->tune_steps + 1) };
    struct effects effects = { .n = 0 };
    TRY(joules_begin(&t.joules, task, before.joules, e));
    list_effects(&effects, &t, cores, ranks_are_free, is_bound);
    double ms = try_way(&t, "defaults", way_text(a, &plain, &plain), &plain);
    for (size_t i = 0; i < effects.n && ms > 0; i++) {
        struct effect *x = &effects.of[i];
        size_t row = t.count;
        double took = try_way(&t, x->setting, x->value, &x->way);
        x->gain = took > 0 ? ms / took : 0;
        x->row = &t.rows[row];
    }
    struct tune_way way = ms > 0 ? choose(&t, &effects) : plain;
    if ((t.was_stopped || (t.is_late && ms <= 0)) && !is_bound)
        way.is_bf16 = net_is_bf16(s, task->backend);
    *ret = (struct tuned){ .way = way, .was_stopped = t.was_stopped };
    TRY(set_up(task, &way, &ret->spec, &ret->pool, &ret->task, e));
    ret->task.spec = &ret->spec;
    ret->task.tuned = tune_text(a, &way);
    ret->task.tuned_seconds = (double)(clock_mono_us(task->clock) - began) * 1e-6;
    bool keeps = way.is_bf16 == net_is_bf16(s, task->backend) && way.batch_size == s->batch_size;
    double after = ms;
    for (size_t i = 0; i < t.count; i++)
        after = t.rows[i].chosen ? t.rows[i].ms : after;
    ret->table = (struct train_tuning){ .steps = s->tune_steps, .seconds = ret->task.tuned_seconds,
                                        .ms_before = ms, .ms_after = after, .bits_kept = keeps, .rows = { t.rows, t.count } };
    return ERR_OK;
}

void tuned_release(struct tuned *t)
{
    pool_free(t->pool);
    t->pool = NULL;
}
