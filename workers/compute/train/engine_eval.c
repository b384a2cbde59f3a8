/* SPDX-License-Identifier: Apache-2.0 */
/* engine_eval.c - batches to the net, and how well it answers what it has not seen: the share of right classes or flags; of
 * numbers
 * the share of their variance that it explains, R² = 1 - Σ(y - f)² / Σ(y - mean)². */
#include "workers/compute/train/engine_int.h"

#include "workers/compute/kernels/cards.h"

#include <math.h>
#include <string.h>

/* Memory that the card reads by itself, where there is some: a batch is changed only after the sync of the step that took it. */
static void *batch_room(struct engine *g, size_t size_bytes)
{
    void *at = g->pinned_count < PINNED_MAX ? backend_host_alloc(g->job->backend, g->ctx, size_bytes) : NULL;
    if (!at)
        return arena_try(g->arena, size_bytes);
    g->pinned[g->pinned_count++] = at;
    return at;
}

bool engine_batch(struct engine *g, size_t rows, size_t answers, struct prefetch_batch *ret)
{
    const struct net_shape *shape = &g->job->data->shape;
    ret->x = batch_room(g, rows * shape->inputs * sizeof(float));
    ret->target = batch_room(g, rows * g->net->items * answers * sizeof(int32_t));
    ret->soft = g->job->taught ? batch_room(g, rows * shape->outputs * sizeof *ret->soft) : NULL;
    return ret->x && ret->target && (ret->soft || !g->job->taught);
}

void engine_batches_release(struct engine *g)
{
    for (int i = 0; i < g->pinned_count; i++)
        backend_cards(g->job->backend)->host_free(g->ctx, g->pinned[i]);
}

void engine_gather(struct engine *g, const uint32_t *rows, size_t n)
{
    int64_t began = clock_mono_us(g->job->clock);
    size_t classes = g->job->data->shape.outputs;
    struct prefetch_batch b = { g->x, g->target, g->soft };
    bool is_there = g->prefetch && prefetch_take(g->prefetch, rows, n, &b);
    g->x = b.x;
    g->target = b.target;
    g->soft = b.soft;
    if (!is_there)
        g->job->data->fetch(g->job->data, rows, n, g->x, g->target);
    for (size_t i = 0; g->soft && !is_there && i < n; i++)
        memcpy(g->soft + i * classes, g->job->taught + rows[i] * classes, classes * sizeof *g->soft);
    g->fetch_us += clock_mono_us(g->job->clock) - began;
    net_put(g->net, g->x, g->target, n);
    if (g->soft)
        net_put_soft(g->net, g->soft, n);
}

/* What a step changes: rate and AdamW's corrections of step t = 1, 2, … */
struct step_scalars engine_scalars(const struct engine *g)
{
    const struct train_job *s = g->job->spec;
    double t = (double)(g->at.step + 1);
    return (struct step_scalars){
        .lr = train_rate(s, g->at.step, g->total_steps) * g->at.factor, .clip_norm = s->clip_norm,
        .correction1 = 1 - pow(TRAIN_BETA1, t), .correction2 = 1 - pow(TRAIN_BETA2, t), .grad_scale = 1, .loss_scale = 1,
        .seed = (uint64_t)s->seed, .counter = (uint64_t)g->at.step * (uint64_t)s->accumulate,
    };
}

static void add_classes(struct score *s, const int32_t *picked, const int32_t *target, size_t n)
{
    size_t right = 0;
    for (size_t i = 0; i < n; i++)
        right += picked[i] == target[i];
    s->right += (double)right;
    s->answers += (double)n;
}

static void add_flags(struct score *s, const float *logit, const float *target, size_t n)
{
    size_t right = 0;
    for (size_t i = 0; i < n; i++)
        right += (logit[i] > 0) == (target[i] > 0.5f);
    s->right += (double)right;
    s->answers += (double)n;
}

static void add_numbers(struct score *s, const float *f, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double off = (double)y[i] - (double)f[i];
        s->sum += (double)y[i];
        s->squares += (double)y[i] * (double)y[i];
        s->off += off * off;
    }
    s->answers += (double)n;
}

static double score_of(const struct score *s, enum net_goal goal)
{
    double n = s->answers, variance = s->squares - s->sum * s->sum / n;
    if (goal != NET_REGRESSION)
        return s->right / n;
    return variance > 0 ? 1 - s->off / variance : s->off > 0 ? 0 : 1;
}

size_t engine_eval_batches(const struct engine *g)
{
    size_t most = g->net->spec.max_rows;
    return (g->job->data->holdout_count + most - 1) / most;
}

static enum errc score_batch(struct engine *g, size_t batch, struct score *s, struct err *e)
{
    const struct train_data *d = g->job->data;
    const struct step_scalars step = engine_scalars(g);
    size_t most = g->net->spec.max_rows, at = batch * most, left = d->holdout_count - at, n = left < most ? left : most;
    *s = (struct score){ 0 };
    engine_gather(g, d->holdout + at, n);
    net_exec(g->net, n, PHASE_FORWARD | PHASE_EVAL, false, &step);
    if (d->shape.goal == NET_CLASSES)
        net_best(g->net, g->picked, n);
    else
        net_answers(g->net, g->picked, n);
    TRY(net_loss(g->net, &s->loss, e));
    if (d->shape.goal == NET_CLASSES)
        add_classes(s, g->picked, g->target, n * g->net->items);
    else
        (d->shape.goal == NET_LABELS ? add_flags : add_numbers)(s, g->picked, g->target, n * d->shape.outputs);
    return ERR_OK;
}

/* Ranks share the batches; all of them are added in their order by each. */
enum errc engine_evaluate(struct engine *g, double *ret_loss, double *ret_accuracy, struct err *e)
{
    const struct train_data *d = g->job->data;
    size_t count = engine_eval_batches(g), size = (size_t)engine_data_ranks(g), each = (count + size - 1) / size;
    size_t from = (size_t)engine_data_rank(g) * each, end = from + each < count ? from + each : count, item = sizeof *g->scores;
    struct score all = { 0 };
    for (size_t i = from; i < end; i++)
        TRY(score_batch(g, i, &g->scores[i], e));
    if (size > 1)
        TRY(g->comm->ops->all_gather(g->comm, "scores", g->scores, count * item, each * item, e));
    for (size_t i = 0; i < count; i++) {
        const struct score *s = &g->scores[i];
        all.loss += s->loss;
        all.right += s->right;
        all.answers += s->answers;
        all.sum += s->sum;
        all.squares += s->squares;
        all.off += s->off;
    }
    *ret_loss = all.loss / ((double)d->holdout_count * (double)g->net->items);
    *ret_accuracy = score_of(&all, d->shape.goal);
    return ERR_OK;
}
