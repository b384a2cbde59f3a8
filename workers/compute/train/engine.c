/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - the step loop: gather, forward, loss, backward, update; evaluate at the end of each epoch.
 *
 * A step boundary is the only place where a run is observed, stopped or saved, so a checkpoint never holds half a step. The last
 * batch of an epoch may be short; its rows weigh 1/rows like any other's batch. */
#include "workers/compute/train/engine_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "workers/compute/train/shuffle.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static PRINTF_LIKE(2, 3) void say(const struct engine *g, const char *fmt, ...)
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

static void gather(struct engine *g, const uint32_t *rows, size_t n)
{
    const struct train_data *d = g->job->data;
    for (size_t i = 0; i < n; i++) {
        train_data_row(d, rows[i], g->x + i * d->table.cols);
        g->labels[i] = d->table.labels[rows[i]];
    }
    mlp_put_batch(g->mlp, g->x, g->labels, n);
}

/* What a step changes: rate and AdamW's corrections of step t = 1, 2, … */
static struct step_scalars scalars(const struct engine *g)
{
    double t = (double)(g->at.step + 1);
    return (struct step_scalars){
        .lr = train_rate(g->job->spec, g->at.step, g->total_steps),
        .correction1 = 1 - pow(TRAIN_BETA1, t), .correction2 = 1 - pow(TRAIN_BETA2, t), .grad_scale = 1, .loss_scale = 1,
        .seed = (uint64_t)g->job->spec->seed, .counter = (uint64_t)g->at.step,
    };
}

static enum errc one_step(struct engine *g, struct err *e)
{
    const struct train_data *d = g->job->data;
    const struct train_job *s = g->job->spec;
    size_t left = d->train_count - (size_t)g->at.taken, n = left < (size_t)s->batch_size ? left : (size_t)s->batch_size;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = shuffle_at((uint64_t)s->seed, (uint64_t)g->at.epoch, d->train_count, (uint64_t)g->at.taken + i);
        g->rows[i] = d->train[at];
    }
    gather(g, g->rows, n);
    const struct step_scalars step = scalars(g);
    double loss;
    mlp_exec(g->mlp, n, PHASE_FORWARD | PHASE_BACKWARD | PHASE_UPDATE, &step);
    TRY(mlp_loss(g->mlp, &loss, e));
    if (!isfinite(loss))
        return FAIL(e, UNPROCESSABLE, "the loss is no longer a number at step %lld; try a smaller lr", (long long)g->at.step + 1);
    g->at.step++;
    g->at.taken += (int64_t)n;
    g->at.loss_sum += loss;
    if (g->obs->on_step)
        g->obs->on_step(g->obs->ctx, &(struct train_step){ g->at.step, g->total_steps, g->at.epoch + 1, loss / (double)n,
                                                           step.lr });
    return ERR_OK;
}

static enum errc evaluate(struct engine *g, double *ret_loss, double *ret_accuracy, struct err *e)
{
    const struct train_data *d = g->job->data;
    const struct step_scalars step = scalars(g);
    double sum = 0;
    size_t right = 0;
    for (size_t at = 0; at < d->holdout_count; at += g->mlp->max_rows) {
        size_t left = d->holdout_count - at, n = left < g->mlp->max_rows ? left : g->mlp->max_rows;
        double loss;
        gather(g, d->holdout + at, n);
        mlp_exec(g->mlp, n, PHASE_FORWARD | PHASE_EVAL, &step);
        mlp_best(g->mlp, g->picked, n);
        TRY(mlp_loss(g->mlp, &loss, e));
        sum += loss;
        for (size_t i = 0; i < n; i++)
            right += g->picked[i] == g->labels[i];
    }
    *ret_loss = sum / (double)d->holdout_count;
    *ret_accuracy = (double)right / (double)d->holdout_count;
    return ERR_OK;
}

/* Close the epoch; *ret_stop: patience is at its end. */
static enum errc end_epoch(struct engine *g, int64_t began_us, bool *ret_stop, struct err *e)
{
    struct cursor *c = &g->at;
    double seconds = (double)(clock_mono_us(g->job->clock) - began_us) * 1e-6;
    struct train_epoch ep = { .epoch = c->epoch + 1, .train_loss = c->loss_sum / (double)g->job->data->train_count,
                              .holdout_loss = (double)NAN, .holdout_accuracy = (double)NAN,
                              .samples_per_s = seconds > 0 ? (double)c->taken / seconds : 0 };
    if (g->job->data->holdout_count)
        TRY(evaluate(g, &ep.holdout_loss, &ep.holdout_accuracy, e));
    bool is_better = c->best.epoch == 0 || ep.holdout_accuracy > c->best.holdout_accuracy
                     || (ep.holdout_accuracy == c->best.holdout_accuracy && ep.holdout_loss < c->best.holdout_loss);
    c->bad_epochs = is_better ? 0 : c->bad_epochs + 1;
    if (is_better && g->best) {
        g->job->backend->get(g->ctx, QUEUE_COMPUTE, run_region(g->mlp->run, REGION_PARAMS), 0, g->best, 4 * engine_params(g));
        TRY(g->job->backend->sync(g->ctx, e));
    }
    if (is_better)
        c->best = ep;
    c->last = ep;
    c->epoch++;
    c->taken = 0;
    c->loss_sum = 0;
    if (g->obs->on_epoch)
        g->obs->on_epoch(g->obs->ctx, &ep);
    say(g, "epoch %lld: loss %.4f, hold-out loss %.4f, hold-out accuracy %.4f, %.0f rows/s", (long long)ep.epoch, ep.train_loss,
        ep.holdout_loss, ep.holdout_accuracy, ep.samples_per_s);
    *ret_stop = g->job->spec->early_stop_patience > 0 && c->bad_epochs >= g->job->spec->early_stop_patience;
    return ERR_OK;
}

static enum errc loop(struct engine *g, enum train_end *ret, struct err *e)
{
    const struct train_task *job = g->job;
    int64_t began_us = clock_mono_us(job->clock);
    bool is_over = job->spec->early_stop_patience > 0 && g->at.bad_epochs >= job->spec->early_stop_patience;
    while (!is_over && g->at.epoch < job->spec->epochs) {
        TRY(one_step(g, e));
        if ((size_t)g->at.taken == job->data->train_count) {
            TRY(end_epoch(g, began_us, &is_over, e));
            began_us = clock_mono_us(job->clock);
        }
        bool is_last = is_over || g->at.epoch == job->spec->epochs;
        bool stop = !is_last && g->obs->should_stop && g->obs->should_stop(g->obs->ctx);
        bool is_due = job->checkpoint_every_steps > 0 && g->at.step % job->checkpoint_every_steps == 0 && !is_last;
        if (job->checkpoint_dir && (stop || is_due)) {
            TRY(engine_save(g, e));
            say(g, "checkpoint written at step %lld", (long long)g->at.step);
        }
        if (stop) {
            say(g, "stopped after step %lld", (long long)g->at.step);
            *ret = TRAIN_PREEMPTED;
            return ERR_OK;
        }
    }
    *ret = is_over ? TRAIN_EARLY_STOPPED : TRAIN_DONE;
    return ERR_OK;
}

static enum errc finish(struct engine *g, struct train_result *r, struct err *e)
{
    const struct train_task *job = g->job;
    bool use_best = g->best && g->at.best.epoch > 0;
    const struct train_epoch *ep = use_best ? &g->at.best : &g->at.last;
    r->epochs = g->at.epoch;
    r->steps = g->at.step;
    r->train_loss = ep->train_loss;
    r->holdout_loss = ep->epoch ? ep->holdout_loss : (double)NAN;
    r->holdout_accuracy = ep->epoch ? ep->holdout_accuracy : (double)NAN;
    r->parameters = engine_params(g);
    r->holdout_count = job->data->holdout_count;
    r->holdout_indices = job->data->holdout;
    if (r->end == TRAIN_PREEMPTED)
        return ERR_OK;
    float *params = g->best;
    if (!use_best) {
        params = arena_try(g->arena, 4 * engine_params(g));
        if (!params)
            return FAIL(e, LIMIT, "the model does not fit in the memory of this job");
        job->backend->get(g->ctx, QUEUE_COMPUTE, run_region(g->mlp->run, REGION_PARAMS), 0, params, 4 * engine_params(g));
        TRY(job->backend->sync(g->ctx, e));
    }
    const struct model_about about = { r->holdout_accuracy, job->spec->seed, job->dataset_digest };
    return model_file_write(g->arena, g->mlp, params, job->data, &about, &r->model, e);
}

static enum errc setup(struct engine *g, size_t *width, struct err *e)
{
    const struct train_task *job = g->job;
    const struct train_job *s = job->spec;
    size_t rows = (size_t)s->batch_size, layers = s->hidden.n + 1, cols = job->data->table.cols;
    size_t max_bytes = job->memory_max_bytes ? job->memory_max_bytes : MODEL_BYTES_MAX;
    ASSERT(s->hidden.n <= TRAIN_HIDDEN_MAX);
    rows = rows < job->data->train_count ? rows : job->data->train_count;
    width[0] = cols;
    for (size_t i = 0; i < s->hidden.n; i++)
        width[i + 1] = (size_t)((const int64_t *)s->hidden.items)[i];
    width[layers] = (size_t)job->data->table.classes;
    const struct mlp_spec spec = { ELEM_F32, width, layers, rows, max_bytes, s };
    TRY(mlp_new(job->backend, g->ctx, &spec, &g->mlp, e));
    size_t bytes = 4 * engine_params(g);
    g->x = arena_try(g->arena, rows * cols * sizeof *g->x);
    g->labels = arena_try(g->arena, rows * sizeof *g->labels);
    g->picked = arena_try(g->arena, rows * sizeof *g->picked);
    g->rows = arena_try(g->arena, rows * sizeof *g->rows);
    if (s->early_stop_patience > 0)
        g->best = arena_try(g->arena, bytes);
    if (!g->x || !g->labels || !g->picked || !g->rows || (s->early_stop_patience > 0 && !g->best))
        return FAIL(e, LIMIT, "the training state does not fit in the memory of this job");
    g->total_steps = (int64_t)((job->data->train_count + (size_t)s->batch_size - 1) / (size_t)s->batch_size) * s->epochs;
    mlp_init(g->mlp, (uint64_t)s->seed);
    return ERR_OK;
}

static enum errc run(struct engine *g, struct train_result *r, struct err *e)
{
    size_t width[MLP_LAYERS_MAX + 1];
    bool is_resumed = false;
    TRY(setup(g, width, e));
    if (g->job->checkpoint_dir)
        TRY(engine_restore(g, &is_resumed, e));
    r->resumed_at_step = is_resumed ? g->at.step : -1;
    say(g, "%zu parameters, %zu training rows, %zu hold-out rows, backend %s%s", engine_params(g), g->job->data->train_count,
        g->job->data->holdout_count, g->job->backend->name, is_resumed ? ", resumed" : "");
    TRY(loop(g, &r->end, e));
    return finish(g, r, e);
}

enum errc train_run(struct arena *a, const struct train_task *job, const struct train_observer *obs, struct train_result *ret,
                    struct err *e)
{
    static const struct train_observer silent = { 0 };
    struct engine g = { .arena = a, .job = job, .obs = obs ? obs : &silent };
    struct train_result r = { .model = BUF(MODEL_BYTES_MAX) };
    TRY(job->backend->open(job->backend, job->pool, &g.ctx, e));
    enum errc rc = run(&g, &r, e);
    mlp_free(g.mlp);
    job->backend->close(g.ctx);
    if (rc != ERR_OK)
        train_result_release(&r);
    else
        *ret = r;
    return rc;
}

void train_result_release(struct train_result *r)
{
    buf_release(&r->model);
}
