/* SPDX-License-Identifier: Apache-2.0 */
/* nd_int.h - operations on tensors of any rank, for one number type: include with REAL, FN(name) and the functions that
 * nd_fn.def names defined. No include guard on purpose: ref.c includes it twice. nd_walk_int.h comes first.
 *
 * Each number of a result depends on its own inputs alone, or is one sum in a fixed order: the bits do not depend on batch or
 * threads. Sums of REDUCE run in fp64. */
#define NUMBERS(t) ((REAL *)(t)->ptr)
#define CUT(x, low, high) ((x) > (low) ? (x) < (high) ? (x) : (REAL)(high) : (REAL)(low))
#define CLAMP01(x) ((x) < 0 ? (REAL)0 : (x) > 1 ? (REAL)1 : (x))

/* y of n numbers of x, which are xs apart. */
static void FN(unary_run)(unsigned fn, const REAL *x, size_t xs, REAL *y, size_t n, REAL a, REAL b)
{
    (void)a, (void)b;
    switch (fn) {
#define UNARY(NAME, name, expr)                 \
    case UNARY_##NAME:                          \
        if (xs == 1)                            \
            for (size_t j = 0; j < n; j++) {    \
                REAL v = x[j];                  \
                y[j] = expr;                    \
            }                                   \
        else                                    \
            for (size_t j = 0; j < n; j++) {    \
                REAL v = x[j * xs];             \
                y[j] = expr;                    \
            }                                   \
        break;
#include "workers/compute/kernels/nd_fn.def"
#undef UNARY
    default: ASSERT(fn < UNARY_COUNT);
    }
}

static void FN(binary_run)(unsigned fn, const REAL *x, size_t xs, const REAL *z, size_t zs, REAL *y, size_t n)
{
#define LOOP(at_v, at_u, expr)                  \
    for (size_t j = 0; j < n; j++) {            \
        REAL v = x[at_v], u = z[at_u];          \
        y[j] = expr;                            \
    }
    switch (fn) {
#define BINARY(NAME, name, expr)                \
    case BINARY_##NAME:                         \
        if (xs == 1 && zs == 1)                 \
            LOOP(j, j, expr)                    \
        else if (xs == 1 && zs == 0)            \
            LOOP(j, 0, expr)                    \
        else if (xs == 0 && zs == 1)            \
            LOOP(0, j, expr)                    \
        else                                    \
            LOOP(j * xs, j * zs, expr)          \
        break;
#include "workers/compute/kernels/nd_fn.def"
#undef BINARY
    default: ASSERT(fn < BINARY_COUNT);
    }
#undef LOOP
}

static void FN(walk_unary)(const void *arg, const struct cells *at)
{
    const struct nd_walk *w = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        size_t from[ND_OPERANDS];
        nd_offsets(w, i, from);
        FN(unary_run)(w->fn, (const REAL *)w->in[0] + from[0] + at->c0 * w->step[0], w->step[0],
                      (REAL *)w->out + i * w->cols + at->c0, at->c1 - at->c0, (REAL)w->alpha, (REAL)w->gamma);
    }
}

static void FN(walk_binary)(const void *arg, const struct cells *at)
{
    const struct nd_walk *w = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        size_t from[ND_OPERANDS];
        nd_offsets(w, i, from);
        FN(binary_run)(w->fn, (const REAL *)w->in[0] + from[0] + at->c0 * w->step[0], w->step[0],
                       (const REAL *)w->in[1] + from[1] + at->c0 * w->step[1], w->step[1], (REAL *)w->out + i * w->cols + at->c0,
                       at->c1 - at->c0);
    }
}

static void FN(walk_select)(const void *arg, const struct cells *at)
{
    const struct nd_walk *w = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        size_t from[ND_OPERANDS];
        nd_offsets(w, i, from);
        const REAL *is = (const REAL *)w->in[0] + from[0], *x = (const REAL *)w->in[1] + from[1];
        const REAL *z = (const REAL *)w->in[2] + from[2];
        REAL *y = (REAL *)w->out + i * w->cols;
        for (size_t j = at->c0; j < at->c1; j++)
            y[j] = is[j * w->step[0]] != 0 ? x[j * w->step[1]] : z[j * w->step[2]];
    }
}

static void FN(unary)(struct backend_ctx *c, const struct op_call *o)
{
    struct nd_walk w = nd_walk_of(o, 1);
    cpu_cells(c, w.rows, w.cols, false, 8, FN(walk_unary), &w);
}

static void FN(binary)(struct backend_ctx *c, const struct op_call *o)
{
    struct nd_walk w = nd_walk_of(o, 2);
    cpu_cells(c, w.rows, w.cols, false, w.fn == BINARY_POW ? 30 : 1, FN(walk_binary), &w);
}

static void FN(select)(struct backend_ctx *c, const struct op_call *o)
{
    struct nd_walk w = nd_walk_of(o, 3);
    cpu_cells(c, w.rows, w.cols, false, 1, FN(walk_select), &w);
}

/* A transposition whose operand has neighbours along the rows, as an image by channels becomes one by pixels: column by column in
 * blocks that stay in L1, so that reads run on. Row by row each run of `cols` numbers would cost its offsets anew. */
static void FN(walk_turn)(const void *arg, const struct cells *at)
{
    const struct nd_walk *w = arg;
    size_t along = w->dim[w->rank - 1], most = TURN_NUMBERS / w->cols > TURN_RUN ? TURN_NUMBERS / w->cols : TURN_RUN, run;
    for (size_t i = at->r0; i < at->r1; i += run) {
        size_t from[ND_OPERANDS], left = along - i % along;
        run = left < at->r1 - i ? left : at->r1 - i;
        run = run < most ? run : most;
        nd_offsets(w, i, from);
        const REAL *x = (const REAL *)w->in[0] + from[0];
        REAL *y = (REAL *)w->out + i * w->cols;
        for (size_t j = at->c0; j < at->c1; j++)
            for (size_t r = 0; r < run; r++)
                y[r * w->cols + j] = x[r + j * w->step[0]];
    }
}

/* out[i0,i1…] = x[…] where dimension d of the result is dimension at[d] of x. */
static void FN(transpose)(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0];
    struct nd_walk w = nd_walk_begin(o);
    for (unsigned d = 0; d < x->rank; d++)
        w.stride[0][d] = x->stride[o->attr.at[d]];
    nd_walk_end(&w);
    bool is_turn = w.rank > 0 && w.stride[0][w.rank - 1] == 1;
    cpu_cells(c, w.rows, w.cols, false, 2, is_turn ? FN(walk_turn) : FN(walk_unary), &w);
}

/* len[d] numbers of dimension d from at[d] on, step[d] apart. */
static void FN(slice)(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0];
    struct nd_walk w = nd_walk_begin(o);
    const REAL *from = w.in[0];
    for (unsigned d = 0; d < x->rank; d++) {
        ASSERT(o->out[0]->dim[d] == 0 || o->attr.at[d] + (o->out[0]->dim[d] - 1) * o->attr.step[d] < x->dim[d]);
        from += o->attr.at[d] * x->stride[d];
        w.stride[0][d] = o->attr.step[d] * x->stride[d];
    }
    w.in[0] = from;
    nd_walk_end(&w);
    cpu_cells(c, w.rows, w.cols, false, 2, FN(walk_unary), &w);
}

static void FN(concat)(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *y = o->out[0];
    unsigned axis = (unsigned)o->attr.axes;
    size_t rows = 1, at = 0, row = axis ? y->stride[axis - 1] : y->dim[0] * y->stride[0];
    (void)c;
    for (unsigned d = 0; d < axis; d++)
        rows *= y->dim[d];
    for (int k = 0; k < OP_INPUTS_MAX && o->in[k]; k++) {
        size_t n = o->in[k]->dim[axis] * o->in[k]->stride[axis];
        for (size_t i = 0; i < rows; i++)
            memcpy(NUMBERS(y) + i * row + at, NUMBERS(o->in[k]) + i * n, n * sizeof(REAL));
        at += n;
    }
}

/* One result of REDUCE: over the numbers of x from `from` on that r says. */
static REAL FN(reduce_one)(unsigned fn, const REAL *from, const struct nd_inner *r)
{
    double sum = fn == REDUCE_PROD ? 1 : 0;
    REAL top = *from;
    struct nd_inner it = *r;
    if (fn == REDUCE_MAX || fn == REDUCE_MIN || fn == REDUCE_LOG_SUM_EXP)
        for (const REAL *x = from; x; x = (const REAL *)nd_next(&it, from, sizeof *from))
            for (size_t j = 0; j < r->cols; j++) {
                REAL v = x[j * r->step];
                top = (fn == REDUCE_MIN ? v < top : v > top) ? v : top;
            }
    if (fn == REDUCE_MAX || fn == REDUCE_MIN)
        return top;
    it = *r;
    for (const REAL *x = from; x; x = (const REAL *)nd_next(&it, from, sizeof *from))
        for (size_t j = 0; j < r->cols; j++) {
            double v = (double)x[j * r->step];
            switch (fn) {
            case REDUCE_PROD: sum *= v; break;
            case REDUCE_L1: sum += fabs(v); break;
            case REDUCE_L2: case REDUCE_SUM_SQUARE: sum += v * v; break;
            case REDUCE_LOG_SUM_EXP: sum += exp(v - (double)top); break;
            default: sum += v; break;
            }
        }
    if (fn == REDUCE_MEAN)
        return (REAL)(sum / (double)r->count);
    if (fn == REDUCE_LOG_SUM_EXP)
        return top + (REAL)log(sum);
    return (REAL)(fn == REDUCE_L2 ? sqrt(sum) : sum);
}

static void FN(walk_reduce)(const void *arg, const struct cells *at)
{
    const struct nd_walk *w = arg;
    for (size_t i = at->r0; i < at->r1; i++) {
        size_t from[ND_OPERANDS];
        nd_offsets(w, i, from);
        for (size_t j = at->c0; j < at->c1; j++)
            ((REAL *)w->out)[i * w->cols + j] = FN(reduce_one)(w->fn, (const REAL *)w->in[0] + from[0] + j * w->step[0],
                                                               &w->inner);
    }
}

/* The dimensions whose bits are set in attr.axes become 1. */
static void FN(reduce)(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *x = o->in[0];
    struct nd_walk w = nd_walk_begin(o);
    for (unsigned d = 0; d < x->rank; d++)
        w.stride[0][d] = o->attr.axes >> d & 1 ? 0 : x->stride[d];
    w.inner = nd_inner_of(x, o->attr.axes);
    nd_walk_end(&w);
    cpu_cells(c, w.rows, w.cols, false, 2 * (double)w.inner.count, FN(walk_reduce), &w);
}

/* One product for each matrix; a and b agree in all dimensions but their last two. */
static void FN(bmm)(struct backend_ctx *c, const struct op_call *o)
{
    const struct tensor *a = o->in[0], *b = o->in[1], *y = o->out[0];
    unsigned r = y->rank;
    size_t count = 1, a_size = a->dim[r - 2] * a->dim[r - 1], b_size = b->dim[r - 2] * b->dim[r - 1];
    size_t y_size = y->dim[r - 2] * y->dim[r - 1];
    for (unsigned d = 0; d + 2 < r; d++)
        count *= y->dim[d];
    for (size_t i = 0; i < count; i++) {
        struct mat am = mat_host(NUMBERS(a) + i * a_size, a->type, a->dim[r - 2], a->dim[r - 1]);
        struct mat bm = mat_host(NUMBERS(b) + i * b_size, b->type, b->dim[r - 2], b->dim[r - 1]);
        struct mat ym = mat_host(NUMBERS(y) + i * y_size, y->type, y->dim[r - 2], y->dim[r - 1]);
        matmul(c, o->attr.flags & MM_TRANS_B, &am, &bm, NULL, &ym);
    }
}
#undef NUMBERS
#undef CUT
#undef CLAMP01
#undef REAL
#undef FN
#undef EXP
#undef LOG
#undef SQRT
#undef TANH
#undef ERF
#undef POW
#undef ABS
#undef FLOOR
#undef CEIL
#undef ROUND
#undef SIN
#undef COS
