/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - the step loop: gather, forward, loss, backward, update; evaluate at the end of each epoch.
 *
 * A step boundary is the only place where a run is observed, stopped or saved, so a checkpoint never holds half a step. The last
 * batch of an epoch may be short; its rows weigh 1/rows like any other's batch. */
#include "workers/compute/train/engine_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "workers/compute/kernels/call.h"
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

static void update(struct engine *g, double lr)
{
    const struct train_job *s = g->job->spec;
    const struct backend *be = g->job->backend;
    size_t begin[2] = { 0, g->mlp->weight_count }, count[2] = { g->mlp->weight_count, g->mlp->bias_count };
    double t = (double)(g->at.step + 1);
    for (int part = 0; part < 2; part++) {      /* weights with decay, biases without */
        struct mat w = mat_at(g->mlp->params, 4 * begin[part], ELEM_F32, 1, count[part]);
        struct mat grad = mat_at(g->mlp->grads, 4 * begin[part], ELEM_F32, 1, count[part]);
        struct mat m = mat_at(g->m, 4 * begin[part], ELEM_F32, 1, count[part]);
        struct mat v = mat_at(g->v, 4 * begin[part], ELEM_F32, 1, count[part]);
        double decay = part == 0 ? s->weight_decay : 0;
        if (s->optimizer == TRAIN_ADAMW) {
            const struct call_step a = { { .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = decay },
                                         { .lr = lr, .correction1 = 1 - pow(0.9, t), .correction2 = 1 - pow(0.999, t),
                                           .grad_scale = 1 } };
            call_adamw(be, g->ctx, &a, &w, &grad, &m, &v);
        } else {
            const struct call_step a = { { .momentum = TRAIN_MOMENTUM, .weight_decay = decay }, { .lr = lr, .grad_scale = 1 } };
            call_sgd(be, g->ctx, &a, &w, &grad, &m);
        }
    }
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
    double lr = train_rate(s, g->at.step, g->total_steps), loss;
    mlp_forward(g->mlp, n);
    mlp_loss(g->mlp, n, true, &loss);
    mlp_backward(g->mlp, n);
    update(g, lr);
    TRY(g->job->backend->sync(g->ctx, e));
    if (!isfinite(loss))
        return FAIL(e, UNPROCESSABLE, "the loss is no longer a number at step %lld; try a smaller lr", (long long)g->at.step + 1);
    g->at.step++;
    g->at.taken += (int64_t)n;
    g->at.loss_sum += loss;
    if (g->obs->on_step)
        g->obs->on_step(g->obs->ctx, &(struct train_step){ g->at.step, g->total_steps, g->at.epoch + 1, loss / (double)n, lr });
    return ERR_OK;
}

static enum errc evaluate(struct engine *g, double *ret_loss, double *ret_accuracy, struct err *e)
{
    const struct train_data *d = g->job->data;
    const struct backend *be = g->job->backend;
    double sum = 0;
    size_t right = 0;
    struct buffer *out = be->alloc(g->ctx, g->mlp->max_rows * sizeof(int32_t));
    if (!out)
        return FAIL(e, LIMIT, "no memory to evaluate");
    enum errc rc = ERR_OK;
    for (size_t at = 0; at < d->holdout_count && rc == ERR_OK; at += g->mlp->max_rows) {
        size_t left = d->holdout_count - at, n = left < g->mlp->max_rows ? left : g->mlp->max_rows;
        double loss;
        gather(g, d->holdout + at, n);
        mlp_forward(g->mlp, n);
        struct mat logits = mlp_logits(g->mlp, n), best = mat_at(out, 0, ELEM_I32, n, 1);
        mlp_loss(g->mlp, n, false, &loss);
        call_unary(be, g->ctx, OP_ARGMAX, &logits, &best);
        be->get(g->ctx, QUEUE_COMPUTE, out, 0, g->picked, n * sizeof *g->picked);
        rc = be->sync(g->ctx, e);
        sum += loss;
        for (size_t i = 0; i < n; i++)
            right += g->picked[i] == g->labels[i];
    }
    be->free(g->ctx, out);
    *ret_loss = sum / (double)d->holdout_count;
    *ret_accuracy = (double)right / (double)d->holdout_count;
    return rc;
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
        g->job->backend->get(g->ctx, QUEUE_COMPUTE, g->mlp->params, 0, g->best, 4 * engine_params(g));
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
        job->backend->get(g->ctx, QUEUE_COMPUTE, g->mlp->params, 0, params, 4 * engine_params(g));
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
    TRY(mlp_new(job->backend, g->ctx, ELEM_F32, width, layers, rows, max_bytes / 2, &g->mlp, e));
    size_t bytes = 4 * engine_params(g);
    if (4 * engine_params(g) * 4 > max_bytes)
        return FAIL(e, LIMIT, "a model of %zu parameters does not fit in %zu MiB", engine_params(g), max_bytes >> 20);
    g->m = job->backend->alloc(g->ctx, bytes);
    g->v = job->backend->alloc(g->ctx, bytes);
    g->x = arena_try(g->arena, rows * cols * sizeof *g->x);
    g->labels = arena_try(g->arena, rows * sizeof *g->labels);
    g->picked = arena_try(g->arena, rows * sizeof *g->picked);
    g->rows = arena_try(g->arena, rows * sizeof *g->rows);
    if (s->early_stop_patience > 0)
        g->best = arena_try(g->arena, bytes);
    if (!g->m || !g->v || !g->x || !g->labels || !g->picked || !g->rows || (s->early_stop_patience > 0 && !g->best))
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
    job->backend->free(g.ctx, g.m);
    job->backend->free(g.ctx, g.v);
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
