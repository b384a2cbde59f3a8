/* SPDX-License-Identifier: Apache-2.0 */
/* engine_state.c - a run to and from a checkpoint: model.safetensors (master weights), optim.safetensors (m, v, best), state.json.
 *
 * Doubles travel as the hexadecimal of their bits, so that nothing is lost. `run` is a hash over everything that decides the
 * outcome; a checkpoint with another one belongs to another run. */
#include "workers/compute/train/engine_int.h"
#include "workers/compute/train/ckpt.h"
#include "workers/compute/train/family.h"
#include "core/base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>

/* The optimiser's state; SGD has the first alone. */
static const enum region moment[] = { REGION_M, REGION_V };
static const char *const moment_name[] = { "optim.m", "optim.v" };
static const char *const names[] = { "model.safetensors", "optim.safetensors" };

static struct str run_hash(struct engine *g)
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
    buf_add_str(&b, g->job->dataset_digest);
    return str_fmt(g->arena, "%016llx", (unsigned long long)str_hash(buf_str(&b)));
}

static struct str bits_text(struct engine *g, double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return str_fmt(g->arena, "%016llx", (unsigned long long)u);
}

static bool bits_parse(struct str s, double *ret)
{
    unsigned char b[8];
    uint64_t u = 0;
    if (!hex_decode(s, b, 8))
        return false;
    for (int i = 0; i < 8; i++)
        u = u << 8 | b[i];
    memcpy(ret, &u, sizeof u);
    return true;
}

static struct str int_text(struct engine *g, int64_t v)
{
    return str_fmt(g->arena, "%lld", (long long)v);
}

static size_t state_pairs(struct engine *g, struct st_pair out[CKPT_STATE_MAX])
{
    const struct cursor *c = &g->at;
    struct st_pair p[] = {
        { STR("run"), run_hash(g) },
        { STR("step"), int_text(g, c->step) },
        { STR("epoch"), int_text(g, c->epoch) },
        { STR("taken"), int_text(g, c->taken) },
        { STR("rounds"), int_text(g, c->rounds) },
        { STR("items"), int_text(g, c->items) },
        { STR("loss_sum"), bits_text(g, c->loss_sum) },
        { STR("skipped"), int_text(g, c->skipped) },
        { STR("in_a_row"), int_text(g, c->in_a_row) },
        { STR("rollbacks"), int_text(g, c->rollbacks) },
        { STR("factor"), bits_text(g, c->factor) },
        { STR("seconds"), bits_text(g, c->seconds + (double)(clock_mono_us(g->job->clock) - g->began_us) * 1e-6) },
        { STR("bad_epochs"), int_text(g, c->bad_epochs) },
        { STR("last_epoch"), int_text(g, c->last.epoch) },
        { STR("last_train_loss"), bits_text(g, c->last.train_loss) },
        { STR("last_holdout_loss"), bits_text(g, c->last.holdout_loss) },
        { STR("last_holdout_accuracy"), bits_text(g, c->last.holdout_accuracy) },
        { STR("best_epoch"), int_text(g, c->best.epoch) },
        { STR("best_train_loss"), bits_text(g, c->best.train_loss) },
        { STR("best_holdout_loss"), bits_text(g, c->best.holdout_loss) },
        { STR("best_holdout_accuracy"), bits_text(g, c->best.holdout_accuracy) },
    };
    memcpy(out, p, sizeof p);
    return sizeof p / sizeof *p;
}

static bool parse_state(const struct ckpt *k, struct cursor *c)
{
#define GET(key) st_pair_get(k->state, k->state_count, key)
#define INT(key, ret) str_to_i64(GET(key), 0, INT64_MAX, (ret))
    return INT("step", &c->step) && INT("epoch", &c->epoch) && INT("taken", &c->taken) && bits_parse(GET("loss_sum"),
        &c->loss_sum)
           && INT("rounds", &c->rounds) && INT("items", &c->items) && INT("skipped", &c->skipped) && INT("in_a_row", &c->in_a_row)
           && INT("rollbacks", &c->rollbacks) && bits_parse(GET("factor"), &c->factor) && bits_parse(GET("seconds"), &c->seconds)
           && INT("bad_epochs", &c->bad_epochs) && INT("last_epoch", &c->last.epoch)
           && bits_parse(GET("last_train_loss"), &c->last.train_loss) && bits_parse(GET("last_holdout_loss"),
               &c->last.holdout_loss)
           && bits_parse(GET("last_holdout_accuracy"), &c->last.holdout_accuracy) && INT("best_epoch", &c->best.epoch)
           && bits_parse(GET("best_train_loss"), &c->best.train_loss) && bits_parse(GET("best_holdout_loss"),
               &c->best.holdout_loss)
           && bits_parse(GET("best_holdout_accuracy"), &c->best.holdout_accuracy);
#undef INT
#undef GET
}

static struct st_tensor flat(const char *name, const void *data, size_t n)
{
    return (struct st_tensor){ .name = str_c(name), .dtype = ST_F32, .rank = 1, .shape = { n }, .data = data,
        .size_bytes = 4 * n };
}

size_t engine_params(const struct engine *g)
{
    return g->net->numbers;
}

/* m, v and best as one file. On a backend whose memory the host cannot see this is where they come down. */
static enum errc optimiser_file(struct engine *g, float *host, struct buf *out, struct err *e)
{
    size_t n = engine_params(g), count = 0;
    struct st_tensor t[3];
    for (int i = 0; i < 2; i++) {
        const struct buffer *state = run_region(g->net->run, moment[i]);
        if (!state)
            continue;
        g->job->backend->get(g->ctx, QUEUE_COMPUTE, state, 0, host + (size_t)i * n, 4 * n);
        TRY(g->job->backend->sync(g->ctx, e));
        t[count++] = flat(moment_name[i], host + (size_t)i * n, n);
    }
    if (g->best)
        t[count++] = flat("best", g->best, n);
    return st_write(out, t, count, NULL, 0, e);
}

static enum errc save(struct engine *g, struct err *e)
{
    size_t n = engine_params(g);
    CLEANUP(buf_releasep) struct buf model = BUF(MODEL_BYTES_MAX), optim = BUF(4 * (size_t)MODEL_BYTES_MAX),
        host = BUF(4 * (size_t)MODEL_BYTES_MAX);
    if (!buf_reserve(&host, 8 * n))
        return FAIL(e, LIMIT, "the checkpoint does not fit in memory");
    float *scratch = (float *)(void *)host.ptr;
    struct model_about about = { g->at.last.holdout_accuracy, g->job->spec->seed, g->job->dataset_digest };
    g->job->backend->get(g->ctx, QUEUE_COMPUTE, run_region(g->net->run, REGION_PARAMS), 0, scratch, 4 * n);
    TRY(g->job->backend->sync(g->ctx, e));
    TRY(model_file_write(g->arena, g->net, scratch, g->job->data, &about, &model, e));
    TRY(optimiser_file(g, scratch, &optim, e));
    struct st_pair state[CKPT_STATE_MAX];
    size_t count = state_pairs(g, state);
    const struct ckpt_file files[] = { { names[0], buf_str(&model) }, { names[1], buf_str(&optim) } };
    return ckpt_save(g->job->vault, g->job->checkpoint_dir, g->at.step, files, 2, state, count, e);
}

enum errc engine_save(struct engine *g, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)2 << 30);       /* a long run saves often: its texts and turned tensors die here */
    struct engine view = *g;
    view.arena = a;
    return save(&view, e);
}

static enum errc restore_params(struct engine *g, const struct st_file *f, struct err *e)
{
    CLEANUP(buf_releasep) struct buf host = BUF(4 * (size_t)MODEL_BYTES_MAX);
    if (!buf_reserve(&host, 4 * engine_params(g)))
        return FAIL(e, LIMIT, "the checkpoint does not fit in memory");
    float *params = (float *)(void *)host.ptr;
    TRY(model_file_read(f, g->net, params, e));
    g->job->backend->put(g->ctx, QUEUE_COMPUTE, run_region(g->net->run, REGION_PARAMS), 0, params, 4 * engine_params(g));
    return ERR_OK;
}

enum errc engine_restore(struct engine *g, bool *ret_found, struct err *e)
{
    struct ckpt k;
    struct st_file f;
    struct cursor c = { 0 };
    const float *p;
    size_t n = engine_params(g);
    TRY(ckpt_load(g->job->vault, g->arena, g->job->checkpoint_dir, names, 2, &k, e));
    *ret_found = k.step >= 0;
    if (k.step < 0)
        return ERR_OK;
    if (!str_eq(st_pair_get(k.state, k.state_count, "run"), run_hash(g)))
        return FAIL(e, CONFLICT, "the checkpoint at step %lld belongs to another specification, data set, backend or version",
                    (long long)k.step);
    if (!parse_state(&k, &c) || c.step != k.step)
        return FAIL(e, DAMAGED, "the checkpoint's state cannot be read");
    TRY(st_parse(g->arena, k.files[0].ptr, k.files[0].len, &f, e));
    TRY(restore_params(g, &f, e));
    TRY(st_parse(g->arena, k.files[1].ptr, k.files[1].len, &f, e));
    for (int i = 0; i < 2; i++)
        if (run_region(g->net->run, moment[i])) {
            TRY(st_f32(&f, moment_name[i], n, 0, &p, e));
            g->job->backend->put(g->ctx, QUEUE_COMPUTE, run_region(g->net->run, moment[i]), 0, p, 4 * n);
        }
    if (c.best.epoch > 0 && g->best) {
        TRY(st_f32(&f, "best", n, 0, &p, e));
        memcpy(g->best, p, 4 * n);
    }
    g->at = c;
    return ERR_OK;
}
