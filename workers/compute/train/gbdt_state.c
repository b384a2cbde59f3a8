/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_state.c - a run to and from a checkpoint: the trees so far, and where it stands. Scores are not kept: the
 * trees are added again in their order, which gives the same bits. Reals travel as hexadecimal text, so that nothing is lost. */
#include "workers/compute/train/gbdt_int.h"
#include "core/base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>

/* All that decides the outcome; the backend and the threads do not. */
static struct str run_digest(struct gbdt *g)
{
    const struct train_job *s = g->job->spec;
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    buf_printf(&b, "1 %d %d %lld %lld %lld %lld %lld %a %a %a %a %lld %a %lld %lld %lld %lld %lld %zu %zu %zu %s ", s->family,
               s->objective, (long long)s->trees, (long long)s->leaves, (long long)s->depth, (long long)s->leaf_rows,
               (long long)s->bins, s->l2, s->learning_rate, s->row_share, s->column_share, (long long)s->seed, s->holdout,
               (long long)s->early_stop_patience, (long long)s->eval_every, (long long)s->max_steps, (long long)s->max_items,
               (long long)s->max_seconds, g->job->data->table.rows, g->job->data->table.cols, g->job->data->shape.outputs,
               FALAJ_VERSION);
    if (s->max_joules)
        buf_printf(&b, "%lld J ", (long long)s->max_joules);
    buf_add_str(&b, g->job->dataset_digest);
    return str_fmt(g->arena, "%016llx", (unsigned long long)str_hash(buf_str(&b)));
}

/* Members of the state, and where they lie. */
static const struct member {
    const char *name;
    bool is_real;
    size_t at;
    bool may_lack;                          /* a checkpoint of a release before has it not: 0 */
} members[] = {
#define INT(name, member) { name, false, offsetof(struct gbdt_cursor, member), false },
#define REAL(name, member) { name, true, offsetof(struct gbdt_cursor, member), false },
    INT("rounds", rounds) INT("bad_rounds", bad_rounds) REAL("seconds", seconds)
    { "joules", true, offsetof(struct gbdt_cursor, joules), true },
    INT("last_epoch", last.epoch) REAL("last_train_loss", last.train_loss) REAL("last_holdout_loss", last.holdout_loss)
    REAL("last_holdout_accuracy", last.holdout_accuracy) INT("best_epoch", best.epoch) INT("best_step", best.step)
    REAL("best_train_loss", best.train_loss) REAL("best_holdout_loss", best.holdout_loss)
    REAL("best_holdout_accuracy", best.holdout_accuracy)
#undef INT
#undef REAL
};
enum { MEMBERS = sizeof members / sizeof *members };

static void *place(struct gbdt_cursor *c, const struct member *m)
{
    return (char *)c + m->at;
}

enum errc gbdt_save(struct gbdt *g, bool wait, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);       /* a long run saves often */
    CLEANUP(buf_releasep) struct buf model = BUF(MODEL_BYTES_MAX);
    CLEANUP(buf_releasep) struct buf file = BUF((size_t)LEASE_CHECKPOINT_MAX);
    struct st_file f;
    const struct model_about about = { g->at.last.holdout_accuracy, g->job->spec->seed, g->job->dataset_digest };
    struct gbdt_cursor now = g->at;
    struct st_pair state[MEMBERS];
    now.seconds += (double)(clock_mono_us(g->job->clock) - g->began_us) * 1e-6;
    now.joules = joules_taken(&g->joules);
    for (size_t i = 0; i < MEMBERS; i++)
        state[i] = (struct st_pair){ str_c(members[i].name),
            members[i].is_real ? str_fmt(a, "%a", *(double *)place(&now, &members[i]))
                               : str_fmt(a, "%lld", (long long)*(int64_t *)place(&now, &members[i])) };
    TRY(gbdt_model_write(a, &g->model, g->job->spec, g->job->data, &about, &model, e));
    TRY(st_parse(a, model.ptr, model.len, &f, e));
    TRY(ckpt_write(&file, run_digest(g), g->at.round, f.tensors, f.tensor_count, state, MEMBERS, e));
    return g->job->store->save(g->job->store->ctx, g->at.round, &file, wait, e);
}

static bool parse(const struct ckpt *k, struct gbdt_cursor *c)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        struct str text = st_meta(&k->file, members[i].name);
        char room[64], *end;
        if (!text.ptr && members[i].may_lack)
            continue;
        if (!text.len || text.len >= sizeof room)
            return false;
        if (!members[i].is_real) {
            if (!str_to_i64(text, 0, INT64_MAX, place(c, &members[i])))
                return false;
            continue;
        }
        memcpy(room, text.ptr, text.len);
        room[text.len] = 0;
        *(double *)place(c, &members[i]) = strtod(room, &end);
        if (*end)
            return false;
    }
    return true;
}

static enum errc take(void *ctx, struct arena *a, const struct ckpt *k, struct err *e)
{
    (void)a;
    struct gbdt *g = ctx;
    struct gbdt_cursor c = { .round = k->step };
    const struct train_data *d = g->job->data;
    if (!str_eq(k->run, run_digest(g)))
        return FAIL(e, CONFLICT, "the checkpoint at step %lld belongs to another specification, data set or version",
                    (long long)k->step);
    if (!parse(k, &c))
        return FAIL(e, DAMAGED, "the checkpoint's state cannot be read");
    TRY(gbdt_model_read(&g->model, &k->file, d->table.cols, e));
    if (g->model.tree_count != (size_t)c.round * g->loss.scores)
        return FAIL(e, DAMAGED, "the checkpoint at step %lld has %zu trees", (long long)k->step, g->model.tree_count);
    gbdt_model_apply(&g->model, &g->loss, d->train, d->train_count, 0, g->model.tree_count);
    gbdt_model_apply(&g->model, &g->loss, d->holdout, d->holdout_count, 0, g->model.tree_count);
    g->at = c;
    return ERR_OK;
}

static void on_line(void *ctx, const char *line)
{
    const struct gbdt *g = ctx;
    if (g->obs->on_log)
        g->obs->on_log(g->obs->ctx, line);
}

enum errc gbdt_restore(struct gbdt *g, bool *ret_found, struct err *e)
{
    const struct ckpt_taker t = { g, take, on_line };
    return ckpt_restore(g->job->store, &t, ret_found, e);
}
