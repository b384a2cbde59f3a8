/* SPDX-License-Identifier: Apache-2.0 */
/* engine_state.c - a run to and from a checkpoint: master weights, moments of the optimiser, the best model so far, and the
 * cursor.
 *
 * `run` is a digest of everything that decides the outcome; a checkpoint with another one belongs to another run. A run is only
 * changed by a checkpoint that is whole and its own: what is refused halfway is followed by another one or by the run's end. */
#include "workers/compute/train/engine_int.h"
#include "workers/compute/train/ckpt.h"
#include "workers/compute/train/family.h"
#include "core/base/cleanup.h"

/* The optimiser's state; SGD has the first alone. */
static const enum region moment[] = { REGION_M, REGION_V };
static const char *const moment_name[] = { "exp_avg.", "exp_avg_sq." };
enum { MOMENTS = sizeof moment / sizeof *moment };

static struct str run_digest(struct engine *g)
{
    const struct train_job *s = g->job->spec;
    CLEANUP(buf_releasep) struct buf b = BUF(8192);
    buf_printf(&b, "4 %d %zu", s->family, s->hidden.n);
    for (size_t i = 0; i < s->hidden.n; i++)
        buf_printf(&b, " %lld", (long long)((const int64_t *)s->hidden.items)[i]);
    buf_printf(&b, " %lld %lld %d %a %a %a %d %lld %lld %a %lld", (long long)s->epochs, (long long)s->batch_size, s->optimizer,
               s->learning_rate, TRAIN_MOMENTUM, s->weight_decay, s->schedule, (long long)s->warmup_steps, (long long)s->seed,
                   s->holdout,
               (long long)s->early_stop_patience);
    const struct slice *const lists[] = { &s->image, &s->channels, &s->blocks };
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            buf_printf(&b, "%s%zu", i ? "," : ";", job_list(lists[k], i));
    buf_printf(&b, " %d %lld %lld %lld %lld %lld %d%d%d %lld %lld %lld %lld %lld %a %a", s->residual, (long long)s->layers,
               (long long)s->width, (long long)s->heads, (long long)s->kv_heads, (long long)s->context, s->rms_norm, s->rotary,
                   s->gated,
               (long long)s->accumulate, (long long)s->max_steps, (long long)s->max_items, (long long)s->max_seconds,
               (long long)s->eval_every, s->clip_norm, s->dropout);
    buf_printf(&b, " %d %zu %zu %zu %s %s ", s->objective, g->job->data->train_count + g->job->data->holdout_count,
               g->job->data->shape.inputs,
               g->job->data->shape.outputs, g->job->backend->name, FALAJ_VERSION);
    buf_add_c(&b, g->net->spec.is_bf16 ? "bf16 " : "");
    buf_add_str(&b, g->job->dataset_digest);
    if (g->job->start) {
        buf_add_char(&b, ' ');
        buf_add_str(&b, g->job->start_digest);
    }
    if (g->job->taught) {
        buf_printf(&b, " %a %a ", s->teacher_share, s->temperature);
        buf_add_str(&b, g->job->teacher_digest);
    }
    return str_fmt(g->arena, "%016llx", (unsigned long long)str_hash(buf_str(&b)));
}

size_t engine_params(const struct engine *g)
{
    return g->net->numbers;
}

/* One set of numbers as tensors, named prefix + the net's. On a backend whose memory the host cannot see this is where they come
 * down. */
static enum errc add_tensors(struct engine *g, struct arena *a, const struct buffer *from, const float *here, const char *prefix,
                             struct st_tensor *t, size_t *n, struct err *e)
{
    float *host = NULL;
    if (from) {
        host = arena_try(a, 4 * engine_params(g));
        if (!host)
            return FAIL(e, LIMIT, "a checkpoint does not fit in the memory of this job");
        g->job->backend->get(g->ctx, QUEUE_COMPUTE, from, 0, host, 4 * engine_params(g));
        TRY(g->job->backend->sync(g->ctx, e));
    }
    TRY(model_file_tensors(a, g->net, from ? host : here, prefix, t + *n, e));
    *n += g->net->tensor_count;
    return ERR_OK;
}

enum errc engine_save(struct engine *g, bool wait, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 44);       /* turned tensors and texts die here */
    CLEANUP(buf_releasep) struct buf file = BUF((size_t)LEASE_CHECKPOINT_MAX);
    struct st_tensor *t = ARENA_ARRAY(a, struct st_tensor, (3 + MOMENTS) * g->net->tensor_count + 1);
    struct st_pair pairs[CKPT_PAIRS_MAX];
    struct cursor at = g->at;
    size_t n = 0;
    at.seconds += (double)(clock_mono_us(g->job->clock) - g->began_us) * 1e-6;
    TRY(add_tensors(g, a, run_region(g->net->run, REGION_PARAMS), NULL, "", t, &n, e));
    for (int i = 0; i < MOMENTS; i++)
        if (run_region(g->net->run, moment[i]))
            TRY(add_tensors(g, a, run_region(g->net->run, moment[i]), NULL, moment_name[i], t, &n, e));
    if (g->best && at.best.epoch > 0)
        TRY(add_tensors(g, a, NULL, g->best, "best.", t, &n, e));
    size_t count = cursor_pairs(a, &at, pairs);
    TRY(ckpt_write(&file, run_digest(g), g->at.step, t, n, pairs, count, e));
    return g->job->store->save(g->job->store->ctx, g->at.step, &file, wait, e);
}

static enum errc put_tensors(struct engine *g, const struct st_file *f, const char *prefix, float *host, struct buffer *to,
                             struct err *e)
{
    TRY(model_file_read(f, g->net, prefix, host, e));
    if (to) {
        g->job->backend->put(g->ctx, QUEUE_COMPUTE, to, 0, host, 4 * engine_params(g));
        TRY(g->job->backend->sync(g->ctx, e));
    }
    return ERR_OK;
}

enum errc engine_start(struct engine *g, struct err *e)
{
    const struct st_file *f = g->job->start;
    struct str family = st_meta(f, "family");
    const char *own = job_family_names[g->job->spec->family];
    struct err why = { 0 };
    if (!str_eq_c(family, own))
        return FAIL(e, UNPROCESSABLE, "start_from: the model is of the family %.*s; this job trains %s",
                    (int)(family.len < 16 ? family.len : 16), family.ptr ? family.ptr : "", own);
    float *host = arena_try(g->arena, 4 * engine_params(g));
    if (!host)
        return FAIL(e, LIMIT, "the model to begin with does not fit in the memory of this job");
    if (model_file_start(f, g->net, g->job->data, host, &why) != ERR_OK)
        return FAIL(e, UNPROCESSABLE, "start_from: %s", why.msg);
    g->job->backend->put(g->ctx, QUEUE_COMPUTE, run_region(g->net->run, REGION_PARAMS), 0, host, 4 * engine_params(g));
    return g->job->backend->sync(g->ctx, e);
}

static enum errc take(void *ctx, struct arena *a, const struct ckpt *k, struct err *e)
{
    struct engine *g = ctx;
    struct cursor c = { 0 };
    if (!str_eq(k->run, run_digest(g)))
        return FAIL(e, CONFLICT, "the checkpoint at step %lld belongs to another specification, data set, backend or version",
                    (long long)k->step);
    TRY(cursor_read(k, &c, e));
    if ((uint64_t)c.taken >= g->job->data->train_count || c.step > g->total_steps)
        return FAIL(e, DAMAGED, "the checkpoint stands behind row %lld of %zu, at step %lld of %lld", (long long)c.taken,
                    g->job->data->train_count, (long long)c.step, (long long)g->total_steps);
    float *host = arena_try(a, 4 * engine_params(g));
    if (!host)
        return FAIL(e, LIMIT, "a checkpoint does not fit in the memory of this job");
    TRY(put_tensors(g, &k->file, "", host, run_region(g->net->run, REGION_PARAMS), e));
    for (int i = 0; i < MOMENTS; i++)
        if (run_region(g->net->run, moment[i]))
            TRY(put_tensors(g, &k->file, moment_name[i], host, run_region(g->net->run, moment[i]), e));
    if (g->best && c.best.epoch > 0)
        TRY(put_tensors(g, &k->file, "best.", g->best, NULL, e));
    g->at = c;
    g->is_due = false;
    return ERR_OK;
}

static void on_line(void *ctx, const char *line)
{
    const struct engine *g = ctx;
    if (g->obs->on_log)
        g->obs->on_log(g->obs->ctx, line);
}

enum errc engine_restore(struct engine *g, bool *ret_found, struct err *e)
{
    const struct ckpt_taker t = { g, take, on_line };
    return ckpt_restore(g->job->store, &t, ret_found, e);
}
