/* SPDX-License-Identifier: Apache-2.0 */
/* engine_step.c - the batches of one step, their gradients' sum, and the update: alone or as one of several ranks.
 *
 * The gradient of a step has one order of sums, whatever the number of ranks. The step's `accumulate` places for batches are cut
 * into lanes, as many as the largest power of two that divides them, COMM_RANKS_MAX at most. In a lane gradients add up one after
 * the other (OP_ACCUMULATE); lanes are leaves of a binary tree. A rank computes a block of lanes, which is a node of that tree,
 * and comm_sum adds the nodes above it. Alone, a counter in binary keeps the nodes that wait for their right sides: at most three
 * sets of gradients more, none where accumulate is odd.
 * ZeRO-1 (Rajbhandari et al. 2020): every rank has all parameters and gradients, and of the optimiser's state its piece alone; it
 * updates that piece, and pieces of parameters go to all. The whole gradient goes to all, too, although each needs only its
 * piece: its norm is then one sum in one order (SUMSQ) on every rank, the same bits as alone. */
#include "workers/compute/train/engine_int.h"
#include "workers/compute/train/shuffle.h"

#include <math.h>

int engine_lanes(int64_t accumulate)
{
    int lanes = 1;
    while (lanes < COMM_RANKS_MAX && accumulate % (2 * lanes) == 0)
        lanes *= 2;
    return lanes;
}

/* out = x, or out += x, over all gradients. */
static void copy(struct engine *g, struct buffer *from, struct buffer *to, unsigned flags)
{
    size_t count = engine_params(g);
    struct tensor x = tensor_at(from, 0, ELEM_F32, 1, &count), out = tensor_at(to, 0, ELEM_F32, 1, &count);
    const struct op_call call = { .attr.flags = flags, .in = { &x }, .out = { &out } };
    (*g->job->backend->kernels)[OP_COPY][ELEM_F32](g->ctx, &call);
}

/* A lane is summed up in the net's gradients. is_end: it is the last of this rank, and what waits joins it. */
static void end_lane(struct engine *g, bool is_end)
{
    struct lanes *l = &g->lanes;
    struct buffer *grads = run_region(g->net->run, REGION_GRADS);
    int level = 0;
    for (; l->count && (is_end || l->kept[l->count - 1].level == level); l->count--) {
        level = l->kept[l->count - 1].level + 1;
        copy(g, l->kept[l->count - 1].sum, grads, OP_ACCUMULATE);
    }
    if (is_end)
        return;
    copy(g, grads, l->kept[l->count].sum, 0);
    l->kept[l->count++].level = level;
}

static void get(struct engine *g, enum region from, size_t at, size_t count, float *to)
{
    if (count)
        g->job->backend->get(g->ctx, QUEUE_COMPUTE, run_region(g->net->run, from), at * sizeof *to, to, count * sizeof *to);
}

static void put(struct engine *g, enum region to, size_t at, size_t count, const float *from)
{
    if (count)
        g->job->backend->put(g->ctx, QUEUE_COMPUTE, run_region(g->net->run, to), at * sizeof *from, from, count * sizeof *from);
}

/* NULL: numbers go through the process's memory. */
static const struct comm_cards *cards_of(const struct engine *g)
{
    const struct comm_cards *k = g->comm->ops->cards;
    return k && k->is_joined(g->comm) ? k : NULL;
}

static enum errc reduce_on_cards(struct engine *g, const struct comm_cards *k, int present, struct err *e)
{
    size_t n = engine_params(g), piece = comm_piece(n, g->comm->size);
    struct buffer *grads = run_region(g->net->run, REGION_GRADS);
    TRY(k->reduce_scatter(g->comm, "gradients", grads, n, piece, present, e));
    return k->all_gather(g->comm, "gradients", grads, n, piece, e);
}

static enum errc reduce_here(struct engine *g, int present, struct err *e)
{
    size_t n = engine_params(g);
    get(g, REGION_GRADS, 0, n, g->host);
    TRY(g->job->backend->sync(g->ctx, e));
    TRY(comm_all_reduce(g->comm, "gradients", g->host, n, present, e));
    put(g, REGION_GRADS, 0, n, g->host);
    return ERR_OK;
}

/* The gradients of all ranks, and the losses of their batches, to all. present: ranks that had a batch. */
static enum errc reduce(struct engine *g, int present, size_t each, struct err *e)
{
    struct comm *c = g->comm;
    const struct comm_cards *k = cards_of(g);
    size_t slot = sizeof *g->losses;
    TRY(k ? reduce_on_cards(g, k, present, e) : reduce_here(g, present, e));
    return c->ops->all_gather(c, "losses", g->losses, (size_t)c->size * each * slot, each * slot, e);
}

/* What this rank has updated to all, and theirs to it. */
static enum errc spread(struct engine *g, struct err *e)
{
    const struct net *n = g->net;
    const struct comm_cards *k = cards_of(g);
    size_t piece = comm_piece(n->numbers, g->comm->size), after = n->shard_from + n->shard_count;
    if (k)
        return k->all_gather(g->comm, "parameters", run_region(n->run, REGION_PARAMS), n->numbers, piece, e);
    get(g, REGION_PARAMS, n->shard_from, n->shard_count, g->host + n->shard_from);
    TRY(g->job->backend->sync(g->ctx, e));
    TRY(g->comm->ops->all_gather(g->comm, "parameters", g->host, n->numbers * sizeof *g->host, piece * sizeof *g->host, e));
    put(g, REGION_PARAMS, 0, n->shard_from, g->host);
    put(g, REGION_PARAMS, after, n->numbers - after, g->host + after);
    return ERR_OK;
}

/* The squared norm of a gradient that is cut among the ranks: of each its own part, in their order, and once what all have
 * alike. */
static enum errc put_norm(struct engine *g, const struct step_scalars *at, struct err *e)
{
    struct net *n = g->net;
    double part[3] = { 0 }, of[COMM_RANKS_MAX] = { 0 }, sum = 0;
    size_t all = (size_t)g->comm->size * sizeof *of;
    net_exec(n, 1, PHASE_NORM, false, at);
    for (int i = 0; i < 3; i++)
        if (n->norm_parts[i] != VALUE_NONE)
            run_get(n->run, n->norm_parts[i], 0, 1, &part[i]);
    TRY(run_sync(n->run, e));
    of[g->comm->rank] = part[0];
    TRY(g->comm->ops->all_gather(g->comm, "norm", of, all, sizeof *of, e));
    for (int r = 0; r < g->comm->size; r++)
        sum += of[r];
    sum += part[1] + part[2];
    run_put(n->run, n->norm2, 0, 1, &sum);
    return run_sync(n->run, e);
}

/* The update behind a sum that the net did not make by itself. */
static enum errc update(struct engine *g, const struct step_scalars *at, size_t used, size_t each, struct err *e)
{
    int64_t began = clock_mono_us(g->job->clock);
    if (engine_data_ranks(g) > 1)
        TRY(reduce(g, (int)((used + each - 1) / each), each, e));
    if (engine_is_split(g))
        TRY(put_norm(g, at, e));
    g->comm_us += clock_mono_us(g->job->clock) - began;
    net_exec(g->net, 1, PHASE_UPDATE, false, at);
    run_get(g->net->run, g->net->norm2, 0, 1, &g->at.grad_norm);
    TRY(run_sync(g->net->run, e));
    began = clock_mono_us(g->job->clock);
    if (engine_data_ranks(g) > 1)
        TRY(spread(g, e));
    g->comm_us += clock_mono_us(g->job->clock) - began;
    return ERR_OK;
}

/* Row numbers of the n rows from place `from` of an epoch on. */
static void order(const struct engine *g, int64_t epoch, size_t from, size_t n, uint32_t *ret)
{
    const struct train_data *d = g->job->data;
    for (size_t i = 0; i < n; i++)
        ret[i] = d->train[shuffle_at((uint64_t)g->job->spec->seed, (uint64_t)epoch, d->train_count, (uint64_t)from + i)];
}

/* Behind `slot` of this step's `rows`: its next batch here, or the first of the next step. */
static void fetch_ahead(struct engine *g, size_t slot, size_t rows, size_t first, size_t each)
{
    const struct train_job *s = g->job->spec;
    size_t batch = (size_t)s->batch_size, all = g->job->data->train_count, taken = (size_t)g->at.taken;
    int64_t epoch = g->at.epoch;
    if (slot + 1 == first + each || (slot + 1) * batch >= rows) {
        bool is_end = taken + rows == all;
        taken = is_end ? 0 : taken + rows;
        epoch += is_end;
        rows = all - taken < batch * (size_t)s->accumulate ? all - taken : batch * (size_t)s->accumulate;
        slot = first;
    } else {
        slot++;
    }
    size_t from = slot * batch, n = from >= rows ? 0 : rows - from < batch ? rows - from : batch;
    order(g, epoch, taken + from, n, g->next);
    prefetch_ask(g->prefetch, g->next, n);
}

enum errc engine_batches(struct engine *g, size_t rows, struct step_scalars *at, double *ret_loss, struct err *e)
{
    const struct train_job *s = g->job->spec;
    size_t batch = (size_t)s->batch_size, each = (size_t)s->accumulate / (size_t)engine_data_ranks(g);
    size_t first = (size_t)engine_data_rank(g) * each, used = (rows + batch - 1) / batch;
    size_t lane = (size_t)(s->accumulate / engine_lanes(s->accumulate));
    bool is_one = !g->comm && lane == (size_t)s->accumulate;        /* one chain: the update goes with its last batch */
    const uint64_t counter = at->counter;
    at->is_training = 1;
    *ret_loss = 0;
    for (size_t slot = first; slot < first + each && slot < used; slot++) {
        size_t from = slot * batch, n = rows - from < batch ? rows - from : batch;
        bool is_last = slot + 1 == used || slot + 1 == first + each;
        order(g, g->at.epoch, (size_t)g->at.taken + from, n, g->rows);
        engine_gather(g, g->rows, n);
        if (g->prefetch)
            fetch_ahead(g, slot, rows, first, each);
        at->counter = counter + slot;
        at->loss_scale = (double)n / (double)rows;
        net_exec(g->net, n, PHASE_FORWARD | PHASE_BACKWARD | (is_one && is_last ? PHASE_UPDATE : 0), slot % lane != 0, at);
        if (is_one && is_last)
            run_get(g->net->run, g->net->norm2, 0, 1, &g->at.grad_norm);
        TRY(net_loss(g->net, &g->losses[slot], e));
        if (!is_one && (is_last || (slot + 1) % lane == 0))
            end_lane(g, is_last);
    }
    if (!is_one)
        TRY(update(g, at, used, each, e));
    for (size_t slot = 0; slot < used; slot++)
        *ret_loss += g->losses[slot];
    g->at.grad_norm = sqrt(g->at.grad_norm);
    engine_library_tell(g);
    return ERR_OK;
}

size_t engine_sum_bytes(const struct engine *g)
{
    int lanes = engine_lanes(g->job->spec->accumulate) / engine_data_ranks(g), kept = 0;
    for (; lanes > 1; lanes /= 2)
        kept++;
    size_t exchanged = engine_is_split(g) ? (size_t)g->comm->size * engine_params(g) + g->net->whole
                                          : g->comm ? engine_params(g) : 0;
    return 4 * ((size_t)kept * engine_params(g) + exchanged);
}

enum errc engine_sums(struct engine *g, struct err *e)
{
    size_t numbers = engine_params(g), kept = (size_t)engine_lanes(g->job->spec->accumulate) / (size_t)engine_data_ranks(g);
    bool is_there = true;
    for (size_t i = 0; kept > 1 && is_there; i++, kept /= 2)
        is_there = (g->lanes.kept[i].sum = g->job->backend->alloc(g->ctx, 4 * numbers)) != NULL;
    if (g->comm && !engine_is_split(g))
        is_there = is_there && (g->host = arena_try(g->arena, 4 * numbers)) != NULL;
    if (engine_is_split(g))
        is_there = is_there && (g->here = arena_try(g->arena, 4 * numbers * (size_t)g->comm->size)) != NULL
                   && (g->whole = arena_try(g->arena, 4 * g->net->whole)) != NULL;
    g->losses = arena_try(g->arena, (size_t)g->job->spec->accumulate * sizeof *g->losses);
    return is_there && g->losses ? ERR_OK : FAIL(e, LIMIT, "the sums of gradients do not fit in the memory of this job");
}

void engine_sums_release(struct engine *g)
{
    for (int i = 0; i < LANES_KEPT_MAX; i++)
        g->job->backend->free(g->ctx, g->lanes.kept[i].sum);
}
