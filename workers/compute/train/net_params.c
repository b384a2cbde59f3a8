/* SPDX-License-Identifier: Apache-2.0 */
/* net_params.c - the tables of a net's parameters: names in the file, places here and in the whole model, first values.
 *
 * The whole model is what one rank would have; its numbers stand in the order of declaration. A rank that shares layers with
 * others has runs of them (net_cut), and first values are the whole model's, whoever has them. */
#include "workers/compute/rng.h"
#include "workers/compute/train/net.h"
#include "workers/compute/train/served.h"

#include <string.h>

static void add_tensor(struct net *n, const char *name, enum net_layout layout, unsigned rank, const size_t *dim, size_t at)
{
    ASSERT(n->tensor_count < NET_PARAMS_MAX && strlen(name) < NET_NAME_BYTES);
    struct net_tensor *t = &n->tensors[n->tensor_count++];
    *t = (struct net_tensor){ .rank = rank, .at = at, .count = 1, .layout = layout };
    memcpy(t->name, name, strlen(name));
    for (unsigned i = 0; i < rank; i++) {
        t->dim[i] = dim[i];
        t->count *= dim[i];
    }
    if (layout == NET_TURNED)
        t->dim[0] = dim[1], t->dim[1] = dim[0];
    if (layout == NET_WINDOW)
        t->dim[1] = dim[3], t->dim[2] = dim[1], t->dim[3] = dim[2];
}

static void add_cut(struct net *n, const struct net_cut *c)
{
    ASSERT(n->cut_count < NET_PARAMS_MAX * NET_PARTS_MAX);
    n->cuts[n->cut_count++] = *c;
}

/* The parameter's numbers, from `here` and `whole` on, and its shape here into dim. */
static void cut(struct net *n, size_t here, unsigned rank, size_t *dim)
{
    const struct net_split *s = &n->split;
    size_t ranks = (size_t)net_tensor_ranks(n), cols = rank > 1 ? dim[1] : 1, rows = 0, from = 0;
    struct net_cut c = { .first = n->first_count, .here = here, .whole = n->whole, .count = 1 };
    if (ranks == 1 || (!s->parts && !s->by_columns)) {
        c.run = 1;
        for (unsigned i = 0; i < rank; i++)
            c.run *= dim[i];
        add_cut(n, &c);
        return;
    }
    if (s->by_columns) {
        c.run = c.step = c.here_pitch = cols / ranks;
        c.whole_pitch = cols;
        c.count = dim[0];
        dim[1] = cols / ranks;
        add_cut(n, &c);
    }
    for (size_t p = 0; p < s->parts; from += s->rows[p++]) {
        c.run = c.step = s->rows[p] / ranks * cols;
        c.here = here + rows * cols;
        c.whole = n->whole + from * cols;
        rows += s->rows[p] / ranks;
        add_cut(n, &c);
    }
    if (s->parts)
        dim[0] = rows;
}

static void note_split(struct net *n, size_t from)
{
    ASSERT(n->split_from == n->split_end || n->split_end == from);      /* cut parameters lie side by side */
    if (n->split_from == n->split_end)
        n->split_from = from;
    n->split_end = n->g->param_count;
}

static int add_param(struct net *n, const char *name, enum net_layout layout, unsigned rank, const size_t *dim, bool is_flat)
{
    struct dim d[4] = { { 1, false } };
    size_t here = n->g->param_count, count = 1, whole = 1, own[4];
    if (n->served && !name)
        return served_parts(n, dim[0]);
    if (n->served) {
        int value = served_param(n, layout, is_flat);
        add_tensor(n, name, layout, rank, dim, here);
        return value;
    }
    memcpy(own, dim, rank * sizeof *own);
    cut(n, here, rank, own);
    for (unsigned i = 0; i < rank; i++) {
        whole *= dim[i];
        count *= own[i];
        d[is_flat ? 0 : i] = DIM(is_flat ? count : own[i]);
    }
    int id = graph_param(n->g, name ? name : "parts", is_flat ? 1 : rank, d);
    if (id != VALUE_NONE && name)
        add_tensor(n, name, layout, rank, dim, n->whole);
    if (count != whole)
        note_split(n, here);
    n->split = (struct net_split){ .parts = 0 };
    n->last_whole = n->whole;
    n->whole += whole;
    return id;
}

void net_first(struct net *n, int value, double deviation)
{
    if (value == VALUE_NONE)
        return;
    ASSERT(n->first_count < NET_PARAMS_MAX);
    n->firsts[n->first_count] = (struct net_first){ .at = n->last_whole, .count = n->whole - n->last_whole,
                                                    .deviation = deviation, .stream = n->first_count };
    n->first_count++;
}

int net_weight(struct net *n, const char *name, enum net_layout layout, unsigned rank, const size_t *dim, double deviation)
{
    ASSERT(n->decayed == n->g->param_count || n->g->err.code != ERR_OK);
    int id = add_param(n, name, layout, rank, dim, false);
    n->decayed = n->g->param_count;
    net_first(n, id, deviation);
    return id;
}

int net_vector(struct net *n, const char *name, unsigned rank, const size_t *dim, double fill)
{
    int id = add_param(n, name, NET_AS_IS, rank, dim, true);
    net_first(n, id, 0);
    if (id != VALUE_NONE)
        n->firsts[n->first_count - 1].fill = fill;
    return id;
}

void net_part(struct net *n, int value, size_t from_row, size_t rows, const char *name)
{
    if (value == VALUE_NONE)
        return;
    const struct value *v = &n->g->values[value];
    size_t cols = v->shape.dim[1].n, dim[] = { rows, cols };
    if (n->served)
        add_tensor(n, name, NET_AS_IS, 2, dim, 0);
    if (n->served)
        return;
    ASSERT(v->shape.rank == 2 && (from_row + rows) * cols <= n->whole - n->last_whole);
    add_tensor(n, name, NET_AS_IS, 2, dim, n->last_whole + from_row * cols);
}

/* Numbers whole … whole + count - 1 of the whole model, to where they lie here. */
static void init_run(struct net *n, uint64_t seed, const struct net_first *p, size_t whole, size_t here, size_t count)
{
    enum { PIECE = 256 };
    struct buffer *params = run_region(n->run, REGION_PARAMS);
    size_t size = elem_bytes(n->spec.type), from = whole - p->at;
    float f[PIECE];
    double d[PIECE];
    for (size_t at = 0, some; at < count; at += some) {
        some = count - at < PIECE ? count - at : PIECE;
        for (size_t j = 0; j < some; j++) {
            f[j] = (float)(p->deviation > 0 ? p->deviation * philox_normal(seed, p->stream, from + at + j) : p->fill);
            d[j] = (double)f[j];            /* both types start from the same values */
        }
        const void *src = n->spec.type == ELEM_F64 ? (const void *)d : (const void *)f;
        n->be->put(n->ctx, QUEUE_COMPUTE, params, (here + at) * size, src, some * size);
    }
}

void net_init(struct net *n, uint64_t seed)
{
    for (size_t i = 0; i < n->cut_count; i++) {
        const struct net_cut *c = &n->cuts[i];
        for (size_t k = 0; k < c->count; k++)
            init_run(n, seed, &n->firsts[c->first], c->whole + (size_t)n->spec.tensor_rank * c->step + k * c->whole_pitch,
                     c->here + k * c->here_pitch, c->run);
    }
}

void net_take(const struct net *n, int rank, const float *whole, float *here)
{
    for (const struct net_cut *c = n->cuts; c < n->cuts + n->cut_count; c++)
        for (size_t k = 0; k < c->count; k++)
            memcpy(here + c->here + k * c->here_pitch, whole + c->whole + (size_t)rank * c->step + k * c->whole_pitch,
                   c->run * sizeof *here);
}

void net_give(const struct net *n, int rank, const float *here, float *whole)
{
    for (const struct net_cut *c = n->cuts; c < n->cuts + n->cut_count; c++)
        for (size_t k = 0; k < c->count; k++)
            memcpy(whole + c->whole + (size_t)rank * c->step + k * c->whole_pitch, here + c->here + k * c->here_pitch,
                   c->run * sizeof *here);
}
