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

#include <stdio.h>
#include <string.h>

/* The optimiser's state; SGD has the first alone. */
static const enum region moment[] = { REGION_M, REGION_V };
static const char *const moment_name[] = { "exp_avg.", "exp_avg_sq." };
enum { MOMENTS = sizeof moment / sizeof *moment };

static int moments_of(const struct engine *g)
{
    return g->job->spec->optimizer == TRAIN_ADAMW ? MOMENTS : 1;
}

static struct str run_digest(struct engine *g)
{
    const struct train_job *s = g->job->spec;
    CLEANUP(buf_releasep) struct buf b = BUF(8192);
    buf_printf(&b, "5 %d %zu", s->family, s->hidden.n);
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
    if (s->max_joules)
        buf_printf(&b, "%lld J ", (long long)s->max_joules);
    if (s->tensor_ranks > 1)            /* their number cuts sums; that of ranks that share batches does not */
        buf_printf(&b, "%lld T ", (long long)s->tensor_ranks);
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

/* One set of numbers as tensors, named prefix + the net's. */
static enum errc add_tensors(struct engine *g, struct arena *a, const float *numbers, const char *prefix, struct st_tensor *t,
                             size_t *n, struct err *e)
{
    TRY(model_file_tensors(a, g->net, numbers, prefix, t + *n, e));
    *n += g->net->tensor_count;
    return ERR_OK;
}

/* Ranks that share layers have a part of every region each. */
static enum errc collect_parts(struct engine *g, enum region region, float **ret, struct err *e)
{
    const struct net *n = g->net;
    size_t own = 4 * n->numbers, size = (size_t)g->comm->size;
    g->job->backend->get(g->ctx, QUEUE_COMPUTE, run_region(n->run, region), 0, g->here + (size_t)g->comm->rank * n->numbers, own);
    TRY(g->job->backend->sync(g->ctx, e));
    TRY(g->comm->ops->gather(g->comm, "parts", g->here, own * size, own, e));
    *ret = g->comm->rank ? NULL : g->whole;
    for (size_t r = 0; r < size && *ret; r++)
        net_give(n, (int)r, g->here + r * n->numbers, *ret);
    return ERR_OK;
}

/* Moments of ranks that share batches lie in pieces, one on each. */
static enum errc bring(struct engine *g, struct arena *a, enum region region, float **ret, struct err *e)
{
    const struct net *n = g->net;
    bool is_piece = g->comm && region != REGION_PARAMS;
    size_t from = is_piece ? n->shard_from : 0, count = is_piece ? n->shard_count : n->numbers;
    if (engine_is_split(g))
        return collect_parts(g, region, ret, e);
    float *host = comm_rank(g->comm) ? g->host : arena_try(a, 4 * n->numbers);
    if (!host)
        return FAIL(e, LIMIT, "a checkpoint does not fit in the memory of this job");
    if (count)
        g->job->backend->get(g->ctx, QUEUE_COMPUTE, run_region(n->run, region), 0, host + from, 4 * count);
    TRY(g->job->backend->sync(g->ctx, e));
    if (is_piece)
        TRY(g->comm->ops->gather(g->comm, "moments", host, 4 * n->numbers, 4 * comm_piece(n->numbers, g->comm->size), e));
    *ret = host;
    return ERR_OK;
}

enum errc engine_collect(struct engine *g, enum region region, float **ret, struct err *e)
{
    *ret = NULL;
    if (comm_rank(g->comm) && !engine_is_split(g))
        return ERR_OK;                  /* all have them: rank 0 reads its own */
    return bring(g, g->arena, region, ret, e);
}

/* A checkpoint has several regions at once, and ranks that share layers collect each of them in the same place. */
static float *own_copy(const struct engine *g, struct arena *a, float *host)
{
    size_t bytes = 4 * g->net->whole;
    return engine_is_split(g) && host ? memcpy(arena_alloc(a, bytes), host, bytes) : host;
}

enum errc engine_save(struct engine *g, bool wait, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 44);       /* turned tensors and texts die here */
    CLEANUP(buf_releasep) struct buf file = BUF((size_t)LEASE_CHECKPOINT_MAX);
    struct st_tensor *t = ARENA_ARRAY(a, struct st_tensor, (3 + MOMENTS) * g->net->tensor_count + 1);
    struct st_pair pairs[CKPT_PAIRS_MAX];
    struct cursor at = g->at;
    size_t n = 0;
    float *host;
    at.seconds += (double)(clock_mono_us(g->job->clock) - g->began_us) * 1e-6;
    at.joules = joules_taken(&g->joules);
    TRY(bring(g, a, REGION_PARAMS, &host, e));
    host = own_copy(g, a, host);
    if (host)
        TRY(add_tensors(g, a, host, "", t, &n, e));
    for (int i = 0; i < moments_of(g); i++) {
        TRY(bring(g, a, moment[i], &host, e));
        host = own_copy(g, a, host);
        if (host)
            TRY(add_tensors(g, a, host, moment_name[i], t, &n, e));
    }
    if (comm_rank(g->comm))
        return ERR_OK;
    if (g->best && at.best.epoch > 0)
        TRY(add_tensors(g, a, g->best, "best.", t, &n, e));
    size_t count = cursor_pairs(a, &at, pairs);
    if (g->job->tuned.len)
        pairs[count++] = (struct st_pair){ STR("tuned"), g->job->tuned };
    struct str ways = engine_library_ways(g, a);
    if (ways.len)
        pairs[count++] = (struct st_pair){ STR("products"), ways };
    TRY(ckpt_write(&file, run_digest(g), g->at.step, t, n, pairs, count, e));
    return g->job->store->save(g->job->store->ctx, g->at.step, &file, wait, e);
}

/* Numbers of the whole model to where they lie here: of moments the piece of this rank, of shared layers its part. */
static void place(struct engine *g, enum region region, const float *host)
{
    const struct net *n = g->net;
    size_t from = region == REGION_PARAMS ? 0 : n->shard_from, count = region == REGION_PARAMS ? n->numbers : n->shard_count;
    if (engine_is_split(g)) {
        net_take(n, g->comm->rank, host, g->here);
        host = g->here;
    }
    if (count)
        g->job->backend->put(g->ctx, QUEUE_COMPUTE, run_region(n->run, region), 0, host + from, 4 * count);
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
    float *host = arena_try(g->arena, 4 * g->net->whole);
    if (!host)
        return FAIL(e, LIMIT, "the model to begin with does not fit in the memory of this job");
    if (model_file_start(f, g->net, g->job->data, host, &why) != ERR_OK)
        return FAIL(e, UNPROCESSABLE, "start_from: %s", why.msg);
    place(g, REGION_PARAMS, host);
    return g->job->backend->sync(g->ctx, e);
}

/* Sets of numbers of a checkpoint: parameters, then moments. Ranks get them when it is known to be whole. */
enum { SETS_MAX = 1 + MOMENTS };
struct taking {
    struct engine *g;
    struct arena *arena;                /* of ranks */
    float *set[SETS_MAX];               /* of ranks */
    struct str ways;                    /* of ranks: of the products (engine_library.c) */
};

static enum region set_region(int i)
{
    return i ? moment[i - 1] : REGION_PARAMS;
}

static enum errc take(void *ctx, struct arena *a, const struct ckpt *k, struct err *e)
{
    struct taking *t = ctx;
    struct engine *g = t->g;
    struct cursor c = { 0 };
    float *host = NULL;
    if (!str_eq(k->run, run_digest(g)))
        return FAIL(e, CONFLICT, "the checkpoint at step %lld belongs to another specification, data set, backend or version",
                    (long long)k->step);
    TRY(cursor_read(k, &c, e));
    if ((uint64_t)c.taken >= g->job->data->train_count || c.step > g->total_steps)
        return FAIL(e, DAMAGED, "the checkpoint stands behind row %lld of %zu, at step %lld of %lld", (long long)c.taken,
                    g->job->data->train_count, (long long)c.step, (long long)g->total_steps);
    for (int i = 0; i <= moments_of(g); i++) {
        host = g->comm ? t->set[i] : host ? host : arena_try(a, 4 * g->net->whole);
        if (!host && (!g->comm || !(host = t->set[i] = arena_try(t->arena, 4 * g->net->whole))))
            return FAIL(e, LIMIT, "a checkpoint does not fit in the memory of this job");
        TRY(model_file_read(&k->file, g->net, i ? moment_name[i - 1] : "", host, e));
        if (g->comm)
            continue;
        place(g, set_region(i), host);
        TRY(g->job->backend->sync(g->ctx, e));
    }
    if (g->best && c.best.epoch > 0)
        TRY(model_file_read(&k->file, g->net, "best.", g->best, e));
    const struct str ways = st_meta(&k->file, "products");
    if (g->comm)
        t->ways = str_dup(t->arena, ways);
    else
        engine_library_bind(g, ways);
    g->at = c;
    g->is_due = false;
    return ERR_OK;
}

static void on_line(void *ctx, const char *line)
{
    const struct engine *g = ((const struct taking *)ctx)->g;
    if (g->obs->on_log)
        g->obs->on_log(g->obs->ctx, line);
}

/* The same ways on each rank: a sum that one of them cuts otherwise would be no one's model. */
static enum errc share_ways(struct engine *g, const struct taking *t, struct err *e)
{
    size_t n = g->comm->rank ? 0 : t->ways.len;
    TRY(g->comm->ops->broadcast(g->comm, "count of ways", &n, sizeof n, e));
    if (n > WAYS_TEXT_MAX)
        return FAIL(e, DAMAGED, "rank 0 took up %zu bytes of ways of products; %d are the most", n, (int)WAYS_TEXT_MAX);
    char *text = arena_alloc(t->arena, n + 1);
    if (!g->comm->rank && n)
        memcpy(text, t->ways.ptr, n);
    if (n)
        TRY(g->comm->ops->broadcast(g->comm, "ways", text, n, e));
    engine_library_bind(g, str_n(text, n));
    return ERR_OK;
}

/* What rank 0 took up to all ranks. */
static enum errc share(struct engine *g, const struct taking *t, bool *found, struct err *e)
{
    const struct comm_ops *o = g->comm->ops;
    TRY(o->broadcast(g->comm, "checkpoint", found, sizeof *found, e));
    if (!*found)
        return ERR_OK;
    TRY(o->broadcast(g->comm, "place", &g->at, sizeof g->at, e));
    g->is_due = false;
    TRY(share_ways(g, t, e));
    for (int i = 0; i <= moments_of(g); i++) {
        float *host = !g->comm->rank ? t->set[i] : engine_is_split(g) ? g->whole : g->host;
        TRY(o->broadcast(g->comm, i ? moment_name[i - 1] : "parameters", host, 4 * g->net->whole, e));
        place(g, set_region(i), host);
        TRY(g->job->backend->sync(g->ctx, e));
    }
    return ERR_OK;
}

/* On rank 0. */
static enum errc read_newest(struct engine *g, struct taking *t, bool *ret_found, struct err *e)
{
    const struct ckpt_taker taker = { t, take, on_line };
    char line[400];
    enum errc rc = ckpt_restore(g->job->store, &taker, ret_found, e);
    if (rc != ERR_CONFLICT || !g->job->begins_anew)
        return rc;
    snprintf(line, sizeof line, "%s; starting anew", e->msg);
    on_line(t, line);
    err_clear(e);
    *ret_found = false;
    return ERR_OK;
}

enum errc engine_restore(struct engine *g, bool *ret_found, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 44);
    struct taking t = { .g = g, .arena = a };
    *ret_found = false;
    if (!comm_rank(g->comm))
        TRY(read_newest(g, &t, ret_found, e));
    return g->comm ? share(g, &t, ret_found, e) : ERR_OK;
}
