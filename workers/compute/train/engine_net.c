/* SPDX-License-Identifier: Apache-2.0 */
/* engine_net.c - the net of a run in the memory that it may have: results are kept as long as there is room for them, where the
 * job leaves that open, and who is refused is told what would do. */
#include "workers/compute/train/engine_int.h"

/* What lies beside the plan, and may not be more with it than there is. */
static size_t beside(const struct engine *g)
{
    return engine_sum_bytes(g) + engine_room_beside(g);
}

/* The largest half, quarter … of the batch that fits; 0: not even one row does. */
static size_t rows_that_fit(struct engine *g, struct net_spec spec)
{
    struct err why = { 0 };
    size_t more = 1;                    /* sums of gradients: accumulate doubles */
    for (spec.max_rows /= 2; spec.max_rows; spec.max_rows /= 2, more++) {
        bool fits = net_new(g->job->backend, g->ctx, &spec, &g->net, &why) == ERR_OK
                    && plan_bytes(g->net->plan) + beside(g) + 4 * more * engine_params(g) <= spec.max_bytes;
        net_free(g->net);
        g->net = NULL;
        if (fits)
            return spec.max_rows;
    }
    return 0;
}

/* Who is refused for memory is told what would do: a smaller batch, and the batches that make the same step. */
static enum errc tell_what_fits(struct engine *g, const struct net_spec *spec, const struct err *why, struct err *e)
{
    size_t fits = rows_that_fit(g, *spec);
    if (!fits)
        return FAIL(e, LIMIT, "%s; with one row, too: fewer parameters or more memory are needed", why->msg);
    return FAIL(e, LIMIT, "%s; batch_size %zu fits, and accumulate %zu makes the same steps of it", why->msg, fits,
                (size_t)g->job->spec->accumulate * ((spec->max_rows + fits - 1) / fits));
}

static enum errc check_beside(const struct engine *g, size_t max_bytes, struct err *e)
{
    const size_t plan = plan_bytes(g->net->plan);
    if (plan + beside(g) <= max_bytes)
        return ERR_OK;
    if (engine_room_beside(g))
        return FAIL(e, LIMIT, "the plan of %zu MiB, %zu MiB for sums of gradients and %zu MiB that the card's operations hold "
                    "are more than the %zu MiB that may be used", plan >> 20, engine_sum_bytes(g) >> 20,
                    engine_room_beside(g) >> 20, max_bytes >> 20);
    return FAIL(e, LIMIT, "the plan of %zu MiB and %zu MiB for sums of gradients over batches and ranks are more than the "
                "%zu MiB that may be used; an odd accumulate and fewer ranks need less", plan >> 20,
                engine_sum_bytes(g) >> 20, max_bytes >> 20);
}

/* The net, and whether it fits with what lies beside its plan. ERR_LIMIT: there may be a net. */
static enum errc try_net(struct engine *g, const struct net_spec *spec, struct err *e)
{
    TRY(net_new(g->job->backend, g->ctx, spec, &g->net, e));
    return check_beside(g, spec->max_bytes, e);
}

/* Ranks that share layers add up again what they make again, so all of them do or none, whatever room each has. */
static enum errc ask_all(const struct engine *g, bool *recomputes, struct err *e)
{
    bool each[COMM_RANKS_MAX] = { false };
    if (!engine_is_split(g))
        return ERR_OK;
    each[g->comm->rank] = *recomputes;
    TRY(g->comm->ops->all_gather(g->comm, "room", each, sizeof *each * (size_t)g->comm->size, sizeof *each, e));
    for (int r = 0; r < g->comm->size; r++)
        *recomputes = *recomputes || each[r];
    return ERR_OK;
}

enum errc engine_make_net(struct engine *g, struct net_spec spec, struct err *e)
{
    struct err why = { 0 };
    spec.max_bytes = engine_room_most(g, spec.max_bytes);
    int recompute = g->job->spec->recompute;
    bool has_blocks = g->job->spec->family == TRAIN_CNN || g->job->spec->family == TRAIN_GPT;
    spec.recomputes = has_blocks && recompute == TRAIN_RECOMPUTE_ON;
    enum errc rc = try_net(g, &spec, &why);
    bool does_not_fit = rc == ERR_LIMIT;
    if ((rc == ERR_OK || does_not_fit) && has_blocks && recompute == TRAIN_RECOMPUTE_AUTO) {
        TRY(ask_all(g, &does_not_fit, e));
        if (does_not_fit) {
            net_free(g->net);
            g->net = NULL;
            spec.recomputes = true;
            rc = try_net(g, &spec, &why);
        }
    }
    if (rc == ERR_LIMIT && (!g->net || engine_room_beside(g))) {
        net_free(g->net);
        g->net = NULL;
        return tell_what_fits(g, &spec, &why, e);
    }
    if (rc != ERR_OK)
        *e = why;
    return rc;
}
