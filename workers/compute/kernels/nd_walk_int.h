/* SPDX-License-Identifier: Apache-2.0 */
/* nd_walk_int.h - how the operations on tensors of any rank walk: over the result in its order, and over each operand by
 * strides, 0 where it is repeated. Neighbouring dimensions that all operands step through alike become one, so that most walks
 * have one long inner loop. */
#pragma once
#include "workers/compute/kernels/cpu_int.h"
#include "workers/compute/kernels/nd.h"

#include <math.h>
#include <string.h>

enum { ND_OPERANDS = 3, TURN_RUN = 16 /* a line of the cache */, TURN_NUMBERS = 4096 /* of a block that is turned */ };

struct nd_inner {               /* what one result of a reduction reads: `cols` numbers `step` apart, in `rank` loops */
    unsigned rank;
    size_t dim[TENSOR_DIMS_MAX], stride[TENSOR_DIMS_MAX], at[TENSOR_DIMS_MAX], cols, step, count;
};

struct nd_walk {
    unsigned fn, rank, operands;        /* rank: of the outer loops, after nd_walk_end */
    double alpha, gamma;
    const void *in[ND_OPERANDS];
    void *out;
    size_t dim[TENSOR_DIMS_MAX], stride[ND_OPERANDS][TENSOR_DIMS_MAX];      /* by dimension of the result */
    size_t rows, cols, step[ND_OPERANDS];       /* inner loop: cols numbers, step apart */
    struct nd_inner inner;
};

static inline struct nd_walk nd_walk_begin(const struct op_call *o)
{
    const struct tensor *y = o->out[0];
    struct nd_walk w = { .fn = o->attr.fn, .rank = y->rank, .operands = 1, .alpha = o->attr.alpha, .gamma = o->attr.gamma,
                         .out = y->ptr };
    memcpy(w.dim, y->dim, sizeof w.dim);
    for (int i = 0; i < ND_OPERANDS && o->in[i]; i++)
        w.in[i] = o->in[i]->ptr;
    return w;
}

static inline bool nd_is_one(const struct nd_walk *w, unsigned d, unsigned next)
{
    bool all = true;
    for (unsigned i = 0; i < w->operands; i++)
        all = all && w->stride[i][d] == w->stride[i][next] * w->dim[next];
    return all;
}

/* Drops dimensions of 1, joins neighbours, and makes the last one the inner loop. */
static inline void nd_walk_end(struct nd_walk *w)
{
    unsigned n = 0;
    for (unsigned d = 0; d < w->rank; d++) {
        if (w->dim[d] == 1)
            continue;
        w->dim[n] = w->dim[d];
        for (unsigned i = 0; i < w->operands; i++)
            w->stride[i][n] = w->stride[i][d];
        if (n && nd_is_one(w, n - 1, n)) {
            w->dim[n - 1] *= w->dim[n];
            for (unsigned i = 0; i < w->operands; i++)
                w->stride[i][n - 1] = w->stride[i][n];
        } else {
            n++;
        }
    }
    w->cols = n ? w->dim[n - 1] : 1;
    for (unsigned i = 0; i < w->operands; i++)
        w->step[i] = n ? w->stride[i][n - 1] : 1;
    w->rank = n ? n - 1 : 0;
    w->rows = 1;
    for (unsigned d = 0; d < w->rank; d++)
        w->rows *= w->dim[d];
}

/* Operands aligned at their last dimension and repeated where they have 1 or nothing. */
static inline struct nd_walk nd_walk_of(const struct op_call *o, unsigned operands)
{
    struct nd_walk w = nd_walk_begin(o);
    w.operands = operands;
    for (unsigned i = 0; i < operands; i++) {
        const struct tensor *x = o->in[i];
        ASSERT(x->rank <= w.rank);
        for (unsigned d = 0, gap = w.rank - x->rank; d < x->rank; d++) {
            ASSERT(x->dim[d] == 1 || x->dim[d] == w.dim[d + gap]);
            w.stride[i][d + gap] = x->dim[d] == 1 ? 0 : x->stride[d];
        }
    }
    nd_walk_end(&w);
    return w;
}

/* Where row `row` of the walk begins in each operand. */
static inline void nd_offsets(const struct nd_walk *w, size_t row, size_t ret[ND_OPERANDS])
{
    for (unsigned i = 0; i < w->operands; i++)
        ret[i] = 0;
    for (unsigned d = w->rank; d-- > 0; row /= w->dim[d])
        for (unsigned i = 0; i < w->operands; i++)
            ret[i] += row % w->dim[d] * w->stride[i][d];
}

static inline struct nd_inner nd_inner_of(const struct tensor *x, size_t axes)
{
    struct nd_inner r = { .cols = 1, .count = 1, .step = 1 };
    for (unsigned d = 0; d < x->rank; d++)
        if (axes >> d & 1) {
            r.dim[r.rank] = x->dim[d];
            r.stride[r.rank++] = x->stride[d];
            r.count *= x->dim[d];
        }
    if (r.rank) {
        r.rank--;
        r.cols = r.dim[r.rank];
        r.step = r.stride[r.rank];
    }
    return r;
}

/* The next run of numbers, or NULL behind the last one. */
static inline const void *nd_next(struct nd_inner *r, const void *from, size_t width)
{
    size_t offset = 0;
    unsigned d = r->rank;
    while (d-- > 0) {
        if (++r->at[d] < r->dim[d])
            break;
        r->at[d] = 0;
    }
    if (d >= r->rank)           /* all loops are through, or there are none */
        return NULL;
    for (unsigned i = 0; i < r->rank; i++)
        offset += r->at[i] * r->stride[i];
    return (const char *)from + offset * width;
}
