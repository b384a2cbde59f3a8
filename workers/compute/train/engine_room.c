/* SPDX-License-Identifier: Apache-2.0 */
/* engine_room.c - memory of a card that a run takes beside its plan: a library's workspace, gathered windows and scratch memory
 * of operations.
 *
 * The workspace is there before a net is planned, so it is counted. What operations ask for is known when they ask: the first
 * step does, before anything has been learnt. Where the card then refuses, the error says what was asked for, and the batch that
 * fits beside it: first as if a smaller batch asked for as much, then, where none does, for its part of it. */
#include "workers/compute/train/engine_int.h"
#include "workers/compute/kernels/cards.h"

static bool memory_of(const struct engine *g, struct card_memory *ret)
{
    const struct card_ops *cards = backend_cards(g->job->backend);
    *ret = (struct card_memory){ 0 };
    if (cards)
        cards->memory(g->ctx, ret);
    return cards && ret->total_bytes;
}

size_t engine_room_beside(const struct engine *g)
{
    struct card_memory m;
    return memory_of(g, &m) ? m.library_bytes + m.windows_bytes + m.scratch_bytes : 0;
}

size_t engine_room_most(const struct engine *g, size_t most)
{
    struct card_memory m;
    if (!memory_of(g, &m))
        return most;
    const size_t there = m.free_bytes + engine_room_beside(g);
    return there < most ? there : most;
}

/* Halves of the batch whose plan leaves `beside` bytes; 0: none. part: in proportion to its rows. */
static size_t rows_beside(struct engine *g, struct net_spec spec, size_t there, size_t beside, bool is_part)
{
    const size_t rows = spec.max_rows;
    size_t sums = 1;                    /* of gradients, more of them with each doubling of accumulate */
    struct err why = { 0 };
    struct net *n;
    for (spec.max_rows /= 2; spec.max_rows; spec.max_rows /= 2, sums++) {
        if (net_new(g->job->backend, g->ctx, &spec, &n, &why) != ERR_OK)
            continue;
        const size_t needed = plan_bytes(n->plan) + 4 * n->numbers * sums
                              + (is_part ? beside / rows * spec.max_rows + 1 : beside);
        net_free(n);
        if (needed <= there)
            return spec.max_rows;
    }
    return 0;
}

enum errc engine_room_tell(struct engine *g, struct err *e)
{
    struct card_memory m;
    const struct err why = *e;
    if (!g->net || g->comm || !memory_of(g, &m) || !m.refused_bytes)
        return e->code;
    const struct net_spec spec = g->net->spec;
    const size_t kept = m.refused_is_windows ? m.scratch_bytes : m.windows_bytes, beside = m.refused_bytes + kept;
    const size_t there = m.free_bytes + m.scratch_bytes + m.windows_bytes + plan_bytes(g->net->plan);
    net_free(g->net);
    g->net = NULL;
    size_t fits = rows_beside(g, spec, there, beside, false);
    fits = fits ? fits : rows_beside(g, spec, there, beside, true);
    if (!fits)
        return FAIL(e, LIMIT, "%.180s; with one row, too", why.msg);
    return FAIL(e, LIMIT, "%.150s; batch_size %zu fits, and accumulate %zu makes the same steps of it", why.msg, fits,
                (size_t)g->job->spec->accumulate * ((spec.max_rows + fits - 1) / fits));
}
