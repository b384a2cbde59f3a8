/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - the step loop: gather, forward, loss, backward, update; evaluate at the end of each epoch.
 *
 * A step boundary is the only place where a run is observed, stopped or saved, so a checkpoint never holds half a step. The last
 * batch of an epoch may be short; its rows weigh 1/rows like any other's batch. */
#include "workers/compute/train/engine_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "workers/compute/train/gbdt.h"
#include "workers/compute/train/ranks.h"
#include "workers/compute/train/split.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SKIPS_MOST = 3, ROLLBACKS = 2 };

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

/* Back to the last checkpoint with half the rate. What it cannot go back from ends the run. */
static enum errc roll_back(struct engine *g, struct err *e)
{
    const struct cursor now = g->at;
    bool found = false;
    if (now.rollbacks < ROLLBACKS && g->has_store)
        TRY(engine_restore(g, &found, e));
    if (!found)
        return FAIL(e, UNPROCESSABLE,
                    "the loss is no longer a number at step %lld: %lld step(s) were left out and %lld time(s) half the "
                    "rate tried from a checkpoint; try a smaller lr", (long long)now.step, (long long)now.skipped,
                        (long long)now.rollbacks);
    g->at.rollbacks = now.rollbacks + 1;
    g->at.seconds = now.seconds;                /* until this process began; its own count on */
    g->at.skipped = now.skipped;
    g->at.factor = now.factor / 2;
    g->at.in_a_row = 0;
    say(g, "the loss is no longer a number at step %lld: back to step %lld with half the rate", (long long)now.step,
        (long long)g->at.step);
    return ERR_OK;
}

/* The first steps of a process are warm-up: what grows, has grown after them. */
static enum errc watch_begins(struct engine *g, struct err *e)
{
    enum { WARM_UP = 2 };
    int64_t past = g->at.step - g->profiled_from, want = g->job->spec->profile_steps;
    if (g->job->peaks && want && past == WARM_UP && !g->profile.times)
        TRY(profile_begin(&g->profile, g->net, e));
    if (g->profile.times)
        profile_step_begins(&g->profile);
    return ERR_OK;
}

static void watch_ends(struct engine *g, int64_t fetch_us, struct train_profile *ret)
{
    if (!g->profile.times)
        return;
    profile_step_ends(&g->profile);
    g->profile.fetch_us += fetch_us;
    if (g->profile.steps == g->job->spec->profile_steps)
        profile_end(&g->profile, g->arena, g->job->peaks, ret);
}

static enum errc one_step(struct engine *g, struct err *e)
{
    const struct train_job *s = g->job->spec;
    size_t left = g->job->data->train_count - (size_t)g->at.taken, most = (size_t)s->batch_size * (size_t)s->accumulate;
    size_t n = left < most ? left : most, items = n * g->net->items;
    struct step_scalars step = engine_scalars(g);
    double loss;
    int64_t fetched_us = g->fetch_us;
    TRY(watch_begins(g, e));
    TRY(engine_batches(g, n, &step, &loss, e));
    fetched_us = g->fetch_us - fetched_us;
    watch_ends(g, fetched_us, &g->profiled);
    bool is_good = isfinite(loss) && isfinite(g->at.grad_norm);
    g->at.step++;
    g->at.taken += (int64_t)n;
    g->at.in_a_row = is_good ? 0 : g->at.in_a_row + 1;
    g->at.skipped += !is_good;
    if (is_good) {
        g->at.items += (int64_t)items;
        g->at.loss_sum += loss;
    }
    if (g->obs->on_step)
        g->obs->on_step(g->obs->ctx, &(struct train_step){ g->at.step, g->total_steps, g->at.epoch + 1, loss / (double)items,
                                                           step.lr,
                                                           g->at.grad_norm, g->at.skipped, (int64_t)items,
                                                           (double)fetched_us * 1e-6, (double)n * net_flops(g->net) });
    return g->at.in_a_row >= SKIPS_MOST ? roll_back(g, e) : ERR_OK;
}

static double seconds_since(const struct engine *g, int64_t began_us)
{
    return (double)(clock_mono_us(g->job->clock) - began_us) * 1e-6;
}

/* At rank 0. */
static enum errc keep_best(struct engine *g, struct err *e)
{
    float *whole;
    if (engine_is_split(g)) {
        TRY(engine_collect(g, REGION_PARAMS, &whole, e));
        if (whole)
            memcpy(g->best, whole, 4 * g->net->whole);
    } else if (g->best) {
        g->job->backend->get(g->ctx, QUEUE_COMPUTE, run_region(g->net->run, REGION_PARAMS), 0, g->best, 4 * g->net->whole);
        TRY(g->job->backend->sync(g->ctx, e));
    }
    return ERR_OK;
}

/* Close the time since the last evaluation; *ret_stop: patience is at its end. */
static enum errc end_round(struct engine *g, int64_t began_us, bool *ret_stop, struct err *e)
{
    struct cursor *c = &g->at;
    double seconds = seconds_since(g, began_us), rate = seconds > 0 ? (double)c->items / seconds : 0;
    struct train_epoch ep = { .epoch = c->rounds + 1, .train_loss = c->items ? c->loss_sum / (double)c->items : (double)NAN,
                              .holdout_loss = (double)NAN, .holdout_accuracy = (double)NAN, .samples_per_s = rate,
                              .lr = c->step ? train_rate(g->job->spec, c->step - 1, g->total_steps) * c->factor : 0,
                              .grad_norm = c->grad_norm, .flops_per_s = rate / (double)g->net->items * net_flops(g->net),
                              .step = c->step, .skipped = c->skipped };
    if (g->job->data->holdout_count)
        TRY(engine_evaluate(g, &ep.holdout_loss, &ep.holdout_accuracy, e));
    bool is_better = c->best.epoch == 0 || ep.holdout_accuracy > c->best.holdout_accuracy
                     || (ep.holdout_accuracy == c->best.holdout_accuracy && ep.holdout_loss < c->best.holdout_loss);
    c->bad_epochs = is_better ? 0 : c->bad_epochs + 1;
    if (is_better && g->job->spec->early_stop_patience > 0)
        TRY(keep_best(g, e));
    if (is_better)
        c->best = ep;
    c->last = ep;
    c->rounds++;
    c->items = 0;
    c->loss_sum = 0;
    if (g->obs->on_epoch)
        g->obs->on_epoch(g->obs->ctx, &ep);
    say(g, "epoch %lld: loss %.4f, hold-out loss %.4f, hold-out accuracy %.4f, %.0f %s/s, %.1f GFLOP/s", (long long)ep.epoch,
        ep.train_loss,
        ep.holdout_loss, ep.holdout_accuracy, ep.samples_per_s, g->net->items > 1 ? "tokens" : "rows", ep.flops_per_s * 1e-9);
    *ret_stop = g->job->spec->early_stop_patience > 0 && c->bad_epochs >= g->job->spec->early_stop_patience;
    return ERR_OK;
}

/* What clocks, callers and stores say differs from rank to rank: the first one's word goes. */
static enum errc rank0_says(struct engine *g, bool *what, size_t n, struct err *e)
{
    return g->comm ? g->comm->ops->broadcast(g->comm, "orders", what, n * sizeof *what, e) : ERR_OK;
}

/* The last step of an epoch, of a round, of the run, or of the seconds and joules that it may take. */
static enum errc end_step(struct engine *g, int64_t *began_us, bool *ret_over, enum train_end *ret_end, struct err *e)
{
    const struct train_job *s = g->job->spec;
    bool is_epoch = (size_t)g->at.taken == g->job->data->train_count,
        is_round = s->eval_every ? g->at.step % s->eval_every == 0 : is_epoch;
    bool is_late = s->max_seconds > 0 && g->at.seconds + seconds_since(g, g->began_us) >= (double)s->max_seconds;
    bool has_lost_patience = false, is_spent = false;
    TRY(joules_are_spent_by_all(&g->joules, g->comm, (double)s->max_joules, &is_spent, e));
    if (is_spent)
        joules_say(&g->joules, g->obs);
    is_late |= is_spent;
    if (s->max_seconds > 0 || s->max_joules > 0)
        TRY(rank0_says(g, &is_late, 1, e));
    if (is_epoch) {
        g->at.epoch++;
        g->at.taken = 0;
    }
    if ((is_round || is_late || g->at.step == g->total_steps) && !g->job->is_trial) {
        TRY(end_round(g, *began_us, &has_lost_patience, e));
        *began_us = clock_mono_us(g->job->clock);
    }
    if (has_lost_patience)
        *ret_end = TRAIN_EARLY_STOPPED;
    *ret_over = is_late || has_lost_patience || g->at.step >= g->total_steps;
    return ERR_OK;
}

static enum errc loop(struct engine *g, enum train_end *ret, struct err *e)
{
    const struct train_task *job = g->job;
    int64_t began_us = g->began_us;
    bool is_over = job->spec->early_stop_patience > 0 && g->at.bad_epochs >= job->spec->early_stop_patience;
    *ret = is_over ? TRAIN_EARLY_STOPPED : TRAIN_DONE;
    is_over = is_over || g->at.step >= g->total_steps;
    while (!is_over) {
        TRY(one_step(g, e));
        TRY(end_step(g, &began_us, &is_over, ret, e));
        g->is_due |= job->checkpoint_every_steps > 0 && g->at.step % job->checkpoint_every_steps == 0;
        bool may_save = g->is_due && !is_over && !g->at.in_a_row;
        enum { STOP, SAVE, ORDERS };
        bool orders[ORDERS] = { [STOP] = !is_over && g->obs->should_stop && g->obs->should_stop(g->obs->ctx) };
        orders[SAVE] = job->store && (orders[STOP] || (may_save && job->store->is_ready(job->store->ctx)));
        TRY(rank0_says(g, orders, ORDERS, e));
        if (orders[SAVE]) {
            TRY(engine_save(g, orders[STOP], e));
            g->is_due = false;
        }
        if (orders[STOP]) {
            say(g, "stopped after step %lld", (long long)g->at.step);
            *ret = TRAIN_PREEMPTED;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

static enum errc finish(struct engine *g, struct train_result *r, struct err *e)
{
    const struct train_task *job = g->job;
    bool use_best = g->best && g->at.best.epoch > 0;
    const struct train_epoch *ep = use_best ? &g->at.best : &g->at.last;
    r->epochs = g->at.rounds;
    r->steps = g->at.step;
    r->skipped = g->at.skipped;
    r->items = (g->at.epoch * (int64_t)g->job->data->train_count + g->at.taken) * (int64_t)g->net->items;
    r->train_loss = ep->train_loss;
    r->holdout_loss = ep->epoch ? ep->holdout_loss : (double)NAN;
    r->holdout_accuracy = ep->epoch ? ep->holdout_accuracy : (double)NAN;
    r->parameters = g->net->whole;
    r->is_bf16 = g->net->spec.is_bf16;
    if (g->profile.times)               /* the run was shorter than its profile */
        profile_end(&g->profile, g->arena, job->peaks, &g->profiled);
    r->profile = g->profiled;
    r->holdout_count = job->data->holdout_count;
    r->holdout_indices = job->data->holdout;
    if (r->end == TRAIN_PREEMPTED || job->is_trial)
        return ERR_OK;
    float *params = g->best;
    if (!(job->spec->early_stop_patience > 0 && g->at.best.epoch > 0))      /* the same on every rank */
        TRY(engine_collect(g, REGION_PARAMS, &params, e));
    if (comm_rank(g->comm))
        return ERR_OK;
    const struct model_about about = { r->holdout_accuracy, job->spec->seed, job->dataset_digest };
    return model_file_write(g->arena, g->net, params, job->data, &about, &r->model, e);
}

/* What the epochs make, cut by the budget. */
static int64_t total_steps(const struct engine *g)
{
    const struct train_job *s = g->job->spec;
    size_t rows = (size_t)s->batch_size * (size_t)s->accumulate, items = rows * g->net->items;
    int64_t steps = (int64_t)((g->job->data->train_count + rows - 1) / rows) * s->epochs;
    if (s->max_steps > 0 && s->max_steps < steps)
        steps = s->max_steps;
    if (s->max_items > 0 && (s->max_items + (int64_t)items - 1) / (int64_t)items < steps)
        steps = (s->max_items + (int64_t)items - 1) / (int64_t)items;
    return steps;
}

static enum errc setup(struct engine *g, struct err *e)
{
    const struct train_task *job = g->job;
    const struct train_job *s = job->spec;
    size_t rows = (size_t)s->batch_size;
    size_t max_bytes = job->memory_max_bytes ? job->memory_max_bytes : MODEL_BYTES_MAX;
    ASSERT(s->accumulate >= 1);
    g->over = (struct run_ranks){ g->comm, split_sum };
    rows = rows < job->data->train_count ? rows : job->data->train_count;
    const struct net_spec spec = { ELEM_F32, s, job->data->shape, rows, max_bytes, .has_update = true,
                                   .is_bf16 = net_is_bf16(s, job->backend), .rank = engine_data_rank(g),
                                   .ranks = engine_data_ranks(g), .launches_each = job->launches_each,
                                   .tensor_rank = engine_is_split(g) ? g->comm->rank : 0,
                                   .tensor_ranks = engine_is_split(g) ? g->comm->size : 0, .over = &g->over };
    TRY(engine_make_net(g, spec, e));
    TRY(engine_sums(g, e));
    size_t bytes = 4 * g->net->whole, items = rows * g->net->items;
    size_t answers = job->data->shape.goal == NET_CLASSES ? 1 : job->data->shape.outputs;
    struct prefetch_batch first = { 0 }, ahead = { 0 };
    bool has_room = engine_batch(g, rows, answers, &first) && (!job->prefetches || engine_batch(g, rows, answers, &ahead));
    g->x = first.x;
    g->target = first.target;
    g->soft = first.soft;
    g->picked = arena_try(g->arena, items * answers * sizeof(int32_t));
    g->rows = arena_try(g->arena, rows * sizeof *g->rows);
    g->next = arena_try(g->arena, rows * sizeof *g->next);
    bool keeps_best = s->early_stop_patience > 0 && !comm_rank(g->comm);
    if (keeps_best)
        g->best = arena_try(g->arena, bytes);
    g->scores = arena_try(g->arena, (engine_eval_batches(g) + 1) * sizeof *g->scores);
    if (!has_room || !g->picked || !g->rows || !g->next || !g->scores || (keeps_best && !g->best))
        return FAIL(e, LIMIT, "the training state does not fit in the memory of this job");
    if (job->prefetches)
        TRY(prefetch_new(g->arena, job->data, job->taught, rows, ahead, &g->prefetch, e));
    g->total_steps = total_steps(g);
    net_init(g->net, (uint64_t)s->seed);
    return job->start ? engine_start(g, e) : ERR_OK;
}

static enum errc run(struct engine *g, struct train_result *r, struct err *e)
{
    bool is_resumed = false;
    TRY(setup(g, e));
    g->has_store = g->job->store != NULL;
    TRY(rank0_says(g, &g->has_store, 1, e));
    if (g->has_store)
        TRY(engine_restore(g, &is_resumed, e));
    r->resumed_at_step = is_resumed ? g->at.step : -1;
    say(g, "%zu parameters, %zu training rows, %zu hold-out rows, %zu MiB planned%s, backend %s in %s%s",
        g->net->whole,
        g->job->data->train_count,
        g->job->data->holdout_count, plan_bytes(g->net->plan) >> 20, g->net->spec.recomputes ? " (recomputing)" : "",
        g->job->backend->name,
        g->net->spec.is_bf16 ? "bf16" : "fp32", is_resumed ? ", resumed" : "");
    if (!comm_rank(g->comm) || g->job->is_machine)
        TRY(joules_begin(&g->joules, g->job, comm_rank(g->comm) ? 0 : g->at.joules, e));
    g->at.seconds += g->job->tuned_seconds;
    g->began_us = clock_mono_us(g->job->clock);
    g->profiled_from = g->at.step;
    TRY(loop(g, &r->end, e));
    return finish(g, r, e);
}

enum errc train_run(struct arena *a, const struct train_task *job, const struct train_observer *obs, struct train_result *ret,
                    struct err *e)
{
    static const struct train_observer silent = { 0 };
    if (job->spec->family == TRAIN_GBDT)
        return gbdt_run(a, job, obs, ret, e);
    if (!job->comm && (job->spec->ranks > 1 || job->spec->tensor_ranks > 1))
        return ranks_run(a, job, obs, ret, e);
    struct engine g = { .arena = a, .job = job, .obs = obs ? obs : &silent, .at.factor = 1, .comm = job->comm };
    struct train_result r = { .model = BUF(MODEL_BYTES_MAX) };
    const struct comm_cards *cards = job->comm ? job->comm->ops->cards : NULL;
    TRY(job->backend->open(job->backend, job->pool, &g.ctx, e));
    engine_library_use(&g);
    enum errc rc = cards ? cards->join(job->comm, job->backend, g.ctx, e) : ERR_OK;
    if (rc == ERR_OK && cards)
        say(&g, "%s", cards->about(job->comm));
    if (rc == ERR_OK)
        rc = run(&g, &r, e);
    if (rc == ERR_LIMIT)
        rc = engine_room_tell(&g, e);
    prefetch_free(g.prefetch);
    engine_batches_release(&g);
    engine_sums_release(&g);
    net_free(g.net);
    if (cards)
        cards->leave(job->comm);
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
