/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt.c - the rounds: sample, gradients, a tree for each score, evaluation.
 *
 * Trees of one round are independent: with four scores and more they grow beside each other, each on one thread; with fewer the
 * work inside a tree is shared. Neither changes a bit. The end of a round is the only place where a run is observed, stopped or
 * saved. */
#include "workers/compute/train/gbdt_int.h"
#include "core/base/cleanup.h"
#include "workers/compute/pool.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/shuffle.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { STREAM_ROWS = 0x4752, SCORES_BESIDE = 4 };
static const uint64_t COLUMN_SALT = 0x67626474636f6c73u;

static PRINTF_LIKE(2, 3) void say(const struct gbdt *g, const char *fmt, ...)
{
    char line[256];
    if (!g->obs->on_log)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    g->obs->on_log(g->obs->ctx, line);
}

/* Which rows and columns this round's trees see: functions of (seed, round, row) and (seed, round, score). */
static void draw(struct gbdt *g)
{
    const struct train_job *s = g->job->spec;
    const struct train_data *d = g->job->data;
    size_t cols = d->table.cols, take = (size_t)ceil(s->column_share * (double)cols);
    g->sample_count = g->left_count = 0;
    for (size_t i = 0; s->row_share < 1 && i < d->train_count; i++) {
        double u = (double)philox((uint64_t)s->seed, STREAM_ROWS + (uint64_t)g->at.round, d->train[i]).v[0] * 0x1p-32;
        if (u < s->row_share)
            g->sample[g->sample_count++] = d->train[i];
        else
            g->left_out[g->left_count++] = d->train[i];
    }
    if (!g->sample_count)       /* all of them; a share that drew none is drawn from no row at all */
        g->left_count = 0;
    if (!g->columns)
        return;
    memset(g->columns, 0, g->loss.scores * cols);
    for (size_t k = 0; k < g->loss.scores; k++) {
        uint64_t tree = (uint64_t)g->at.round * g->loss.scores + k;
        for (size_t i = 0; i < take; i++)
            g->columns[k * cols + shuffle_at((uint64_t)s->seed ^ COLUMN_SALT, tree, cols, i)] = 1;
    }
}

static void grow_lane(void *arg, size_t lane)
{
    struct gbdt *g = arg;
    const struct train_data *d = g->job->data;
    for (size_t k = lane; k < g->loss.scores; k += g->lanes) {
        const struct gbdt_sample sample = { g->sample_count ? g->sample : d->train,
                                            g->sample_count ? g->sample_count : d->train_count,
                                            g->columns ? g->columns + k * d->table.cols : NULL };
        gbdt_grow(g->growers[lane], &sample, g->loss.gradient + k * g->loss.rows, &g->loss.scale[k], g->loss.unit, &g->trees[k],
                  g->loss.score + k * g->loss.rows);
    }
}

static enum errc one_round(struct gbdt *g, struct err *e)
{
    const struct train_data *d = g->job->data;
    size_t before = g->model.tree_count;
    draw(g);
    gbdt_gradients(&g->loss);
    pool_run(g->lanes > 1 ? g->job->pool : NULL, g->lanes, grow_lane, g);
    for (size_t k = 0; k < g->loss.scores; k++)
        TRY(gbdt_model_add(&g->model, &g->trees[k], k, e));
    gbdt_model_apply(&g->model, &g->loss, g->left_out, g->left_count, before, g->model.tree_count);
    gbdt_model_apply(&g->model, &g->loss, d->holdout, d->holdout_count, before, g->model.tree_count);
    g->at.round++;
    return ERR_OK;
}

static double seconds_since(const struct gbdt *g, int64_t began_us)
{
    return (double)(clock_mono_us(g->job->clock) - began_us) * 1e-6;
}

/* Figures of the rounds since the last evaluation; *ret_stop: patience is at its end. */
static enum errc evaluate(struct gbdt *g, int64_t *began_us, int64_t *since, bool *ret_stop, struct err *e)
{
    const struct train_job *s = g->job->spec;
    const struct train_data *d = g->job->data;
    struct gbdt_cursor *c = &g->at;
    double seconds = seconds_since(g, *began_us), rows = (double)d->train_count * (double)(c->round - *since);
    struct train_epoch ep = { .epoch = c->rounds + 1, .step = c->round, .lr = s->learning_rate, .grad_norm = (double)NAN,
                              .holdout_loss = (double)NAN, .holdout_accuracy = (double)NAN,
                              .samples_per_s = seconds > 0 ? rows / seconds : (double)NAN };
    ep.train_loss = gbdt_judge(&g->loss, d->train, d->train_count).loss;
    if (!isfinite(ep.train_loss))
        return FAIL(e, UNPROCESSABLE, "the loss is no longer a number after %lld rounds; try a smaller learning_rate",
                    (long long)c->round);
    if (d->holdout_count) {
        struct gbdt_judged j = gbdt_judge(&g->loss, d->holdout, d->holdout_count);
        ep.holdout_loss = j.loss;
        ep.holdout_accuracy = j.accuracy;
    }
    bool is_better = c->best.epoch == 0 || ep.holdout_loss < c->best.holdout_loss;
    c->bad_rounds = is_better ? 0 : c->bad_rounds + 1;
    if (is_better)
        c->best = ep;
    c->last = ep;
    c->rounds++;
    if (g->obs->on_epoch)
        g->obs->on_epoch(g->obs->ctx, &ep);
    say(g, "round %lld: loss %.4f, hold-out loss %.4f, hold-out accuracy %.4f, %.0f rows/s, %zu nodes", (long long)c->round,
        ep.train_loss, ep.holdout_loss, ep.holdout_accuracy, ep.samples_per_s, g->model.node_count);
    *ret_stop = s->early_stop_patience > 0 && c->bad_rounds >= s->early_stop_patience;
    *began_us = clock_mono_us(g->job->clock);
    *since = c->round;
    return ERR_OK;
}

/* Rounds that the budget leaves. */
static int64_t rounds_of(const struct train_job *s, size_t rows)
{
    int64_t n = s->trees, items = s->max_items > 0 ? (s->max_items + (int64_t)rows - 1) / (int64_t)rows : n;
    n = s->max_steps > 0 && s->max_steps < n ? s->max_steps : n;
    return items < n ? items : n;
}

/* After a round that was not the last: a checkpoint when one is due, or when the run is told to stop. */
static enum errc pause_here(struct gbdt *g, bool *ret_stop, struct err *e)
{
    const struct train_task *job = g->job;
    *ret_stop = g->obs->should_stop && g->obs->should_stop(g->obs->ctx);
    g->is_due |= job->checkpoint_every_steps > 0 && g->at.round % job->checkpoint_every_steps == 0;
    if (job->store && (*ret_stop || (g->is_due && job->store->is_ready(job->store->ctx)))) {
        TRY(gbdt_save(g, *ret_stop, e));
        g->is_due = false;
    }
    return ERR_OK;
}

static enum errc loop(struct gbdt *g, enum train_end *ret, struct err *e)
{
    const struct train_job *s = g->job->spec;
    int64_t began_us = g->began_us, total = rounds_of(s, g->job->data->train_count);
    int64_t since = g->at.round, every = s->eval_every > 0 ? s->eval_every : 1;
    bool is_over = s->early_stop_patience > 0 && g->at.bad_rounds >= s->early_stop_patience, stop = false;
    *ret = is_over ? TRAIN_EARLY_STOPPED : TRAIN_DONE;
    while (!is_over && g->at.round < total) {
        bool has_lost_patience = false;
        TRY(one_round(g, e));
        bool is_late = s->max_seconds > 0 && g->at.seconds + seconds_since(g, g->began_us) >= (double)s->max_seconds;
        bool is_spent = joules_are_spent(&g->joules, (double)s->max_joules);
        if (is_spent)
            joules_say(&g->joules, g->obs);
        is_late |= is_spent;
        if (g->at.round % every == 0 || is_late || g->at.round == total)
            TRY(evaluate(g, &began_us, &since, &has_lost_patience, e));
        if (g->obs->on_step)
            g->obs->on_step(g->obs->ctx, &(struct train_step){ g->at.round, total, g->at.rounds, g->at.last.train_loss,
                                                               s->learning_rate, (double)NAN, 0,
                                                               (int64_t)g->job->data->train_count, 0, 0 });
        is_over = is_late || has_lost_patience;
        if (has_lost_patience)
            *ret = TRAIN_EARLY_STOPPED;
        if (!is_over && g->at.round < total)
            TRY(pause_here(g, &stop, e));
        if (stop) {
            say(g, "stopped after round %lld", (long long)g->at.round);
            *ret = TRAIN_PREEMPTED;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

static void say_importance(const struct gbdt *g)
{
    enum { SHOWN = 5 };
    const struct data_table *t = &g->job->data->table;
    double *share = arena_try(g->arena, t->cols * sizeof *share);
    if (!share)
        return;
    gbdt_model_importance(&g->model, t->cols, share);
    for (int i = 0; i < SHOWN; i++) {
        size_t best = 0;
        for (size_t c = 1; c < t->cols; c++)
            best = share[c] > share[best] ? c : best;
        if (share[best] <= 0)
            return;
        say(g, "column %.*s makes %.1f %% of the gain", (int)(t->names[best].len < 64 ? t->names[best].len : 64),
            t->names[best].ptr, 100 * share[best]);
        share[best] = 0;
    }
}

static enum errc finish(struct gbdt *g, struct train_result *r, struct err *e)
{
    const struct train_task *job = g->job;
    bool use_best = job->spec->early_stop_patience > 0 && g->at.best.epoch > 0;
    const struct train_epoch *ep = use_best ? &g->at.best : &g->at.last;
    r->epochs = g->at.rounds;
    r->steps = g->at.round;
    r->train_loss = ep->train_loss;
    r->holdout_loss = ep->epoch ? ep->holdout_loss : (double)NAN;
    r->holdout_accuracy = ep->epoch ? ep->holdout_accuracy : (double)NAN;
    r->holdout_count = job->data->holdout_count;
    r->holdout_indices = job->data->holdout;
    if (use_best)
        gbdt_model_cut(&g->model, (size_t)g->at.best.step * g->loss.scores);
    r->parameters = g->model.node_count;
    if (r->end == TRAIN_PREEMPTED)
        return ERR_OK;
    say_importance(g);
    const struct model_about about = { r->holdout_accuracy, job->spec->seed, job->dataset_digest };
    return gbdt_model_write(g->arena, &g->model, job->spec, job->data, &about, &r->model, e);
}

static enum errc make_lanes(struct gbdt *g, const struct gbdt_limits *l, struct err *e)
{
    const struct train_task *job = g->job;
    size_t n = job->data->train_count, threads = (size_t)pool_threads(job->pool), nodes = 2 * l->leaves;
    size_t most = job->memory_max_bytes ? job->memory_max_bytes : MODEL_BYTES_MAX, one = gbdt_grower_bytes(&g->bins, l, n);
    g->lanes = g->loss.scores < SCORES_BESIDE ? 1 : g->loss.scores < threads ? g->loss.scores : threads;
    while (g->lanes > 1 && one > most / g->lanes)
        g->lanes--;
    if (one > most)
        return FAIL(e, LIMIT, "a tree of %zu leaves over %zu rows and %zu columns needs %zu bytes; %zu may be used. Fewer leaves "
                    "or bins need less", l->leaves, n, g->bins.cols, one, most);
    g->growers = ARENA_ARRAY(g->arena, struct gbdt_grower *, g->lanes);
    g->trees = ARENA_ARRAY(g->arena, struct gbdt_tree, g->loss.scores);
    for (size_t i = 0; i < g->lanes; i++)
        TRY(gbdt_grower_new(g->arena, g->lanes > 1 ? NULL : job->pool, &g->bins, l, n, &g->growers[i], e));
    for (size_t k = 0; k < g->loss.scores; k++) {
        g->trees[k].nodes = arena_try(g->arena, nodes * TREE_FIELDS * sizeof(float));
        g->trees[k].sets = arena_try(g->arena, l->leaves * TREE_SET_NUMBERS * sizeof(float));
        if (!g->trees[k].nodes || !g->trees[k].sets)
            return FAIL(e, LIMIT, "trees of %zu leaves do not fit in the memory of this job", l->leaves);
    }
    return ERR_OK;
}

static enum errc setup(struct gbdt *g, struct err *e)
{
    const struct train_task *job = g->job;
    const struct train_job *s = job->spec;
    const struct train_data *d = job->data;
    int32_t *codes = ARENA_ARRAY(g->arena, int32_t, d->table.cols);
    for (size_t i = 0; i < d->columns.categories; i++)
        codes[d->columns.numbers + i] = (int32_t)d->columns.words[i].n;
    const struct gbdt_table table = { d->table.x, d->table.rows, d->table.cols, d->train, d->train_count, codes };
    const struct gbdt_limits limits = { (size_t)s->leaves, (size_t)s->depth, (size_t)s->leaf_rows, s->l2, s->learning_rate };
    TRY(gbdt_bins_make(g->arena, job->pool, &table, (size_t)s->bins, (uint64_t)s->seed, &g->bins, e));
    TRY(gbdt_loss_new(g->arena, job->pool, d, &g->loss, e));
    TRY(gbdt_model_new(g->arena, &g->loss, &g->model, e));
    TRY(make_lanes(g, &limits, e));
    if (s->row_share < 1) {
        g->sample = arena_try(g->arena, d->train_count * sizeof *g->sample);
        g->left_out = arena_try(g->arena, d->train_count * sizeof *g->left_out);
    }
    if (s->column_share < 1)
        g->columns = arena_try(g->arena, g->loss.scores * d->table.cols);
    if ((s->row_share < 1 && (!g->sample || !g->left_out)) || (s->column_share < 1 && !g->columns))
        return FAIL(e, LIMIT, "the sample of %zu rows does not fit in the memory of this job", d->train_count);
    return ERR_OK;
}

static enum errc run(struct gbdt *g, struct train_result *r, struct err *e)
{
    bool is_resumed = false;
    const struct train_data *d = g->job->data;
    TRY(setup(g, e));
    if (g->job->store)
        TRY(gbdt_restore(g, &is_resumed, e));
    r->resumed_at_step = is_resumed ? g->at.round : -1;
    say(g, "%zu training rows, %zu hold-out rows, %zu columns in %zu bins, %zu tree(s) a round, %zu beside each other%s",
        d->train_count, d->holdout_count, g->bins.cols, g->bins.cells - g->bins.cols, g->loss.scores, g->lanes,
        is_resumed ? ", resumed" : "");
    TRY(joules_begin(&g->joules, g->job, g->at.joules, e));
    g->began_us = clock_mono_us(g->job->clock);
    TRY(loop(g, &r->end, e));
    return finish(g, r, e);
}

enum errc gbdt_run(struct arena *a, const struct train_task *job, const struct train_observer *obs, struct train_result *ret,
                   struct err *e)
{
    static const struct train_observer silent = { 0 };
    struct gbdt g = { .arena = a, .job = job, .obs = obs ? obs : &silent };
    struct train_result r = { .model = BUF(MODEL_BYTES_MAX) };
    enum errc rc = run(&g, &r, e);
    gbdt_model_release(&g.model);
    if (rc != ERR_OK)
        train_result_release(&r);
    else
        *ret = r;
    return rc;
}
