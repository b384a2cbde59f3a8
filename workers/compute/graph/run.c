/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - calls made ready once: a run walks over them, and only a batch of another size changes the shapes in them. */
#include "workers/compute/graph/run.h"
#include "core/base/clock.h"
#include "workers/compute/graph/plan_int.h"
#include "workers/compute/kernels/capturing.h"

#include <stdlib.h>
#include <string.h>

struct ready {                  /* a node that will be called */
    kernel_fn kernel;
    enum phase phase;
    bool can_accumulate;        /* it writes gradients */
    int later;                  /* output that is asked for in a backward run only; -1: none */
    struct op_call call;
    const struct node *node;
};

struct capture {                /* one way of asking */
    size_t rows;                /* 0: nobody has */
    unsigned phases;
    bool accumulate;
    struct captured *what;      /* NULL: asked for once, which runs by itself, so that scratch memory has grown */
};

struct run {
    const struct plan *plan;
    const struct backend *be;
    struct backend_ctx *ctx;
    size_t rows;                /* of the shapes in `tensors` */
    struct buffer *region[REGION_COUNT];
    struct tensor *tensors;     /* by value */
    struct ready *ready;
    int ready_count;
    struct event *is_put, *is_done;
    bool has_put;               /* since the last run_exec */
    bool launches_each;
    struct capture captures[CAPTURES_MAX];
    struct run_times *times;    /* NULL: nobody asked */
    struct err late;            /* the first failure of a watched operation, or over ranks, that run_sync has not told yet */
    struct run_ranks over;
    void *summed;               /* in host memory: the largest of what is added up over ranks */
};

static struct tensor tensor_of_value(const struct run *r, int v, size_t rows)
{
    const struct value *at = &r->plan->graph->values[v];
    if (at->region == REGION_CONST)
        return plan_tensor(at, rows, r->plan->consts[v], 0);
    bool is_placed = at->region == REGION_ARENA;
    return plan_tensor(at, rows, r->region[at->region], is_placed ? r->plan->places[v].offset_bytes : at->offset_bytes);
}

static void set_rows(struct run *r, size_t rows)
{
    const struct graph *g = r->plan->graph;
    if (rows == r->rows)
        return;
    r->rows = rows;
    for (int v = 0; v < g->value_count; v++)
        for (unsigned d = 0; d < g->values[v].shape.rank; d++)
            if (g->values[v].shape.dim[d].is_batched)
                r->tensors[v] = tensor_of_value(r, v, rows);
}

static bool is_backward_only(const struct graph *g, int value)
{
    for (int i = 0; i < g->node_count; i++)
        for (int k = 0; k < OP_INPUTS_MAX && !g->nodes[i].is_gone; k++)
            if (g->nodes[i].in[k] == value && g->nodes[i].phase != PHASE_BACKWARD)
                return false;
    return !g->values[value].is_output;
}

static struct ready make_ready(struct run *r, const struct node *n)
{
    const struct graph *g = r->plan->graph;
    const struct op_row *row = op_row(n->op);
    struct ready c = { .phase = n->phase, .later = -1, .call.attr = n->attr, .node = n };
    c.kernel = (*r->be->kernels)[n->op][in_shape(g, n, (int)row->key)->type];
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        c.call.in[i] = n->in[i] == VALUE_NONE ? NULL : &r->tensors[n->in[i]];
    for (int i = 0; i < OP_OUTPUTS_MAX; i++) {
        if (n->out[i] == VALUE_NONE)
            continue;
        c.call.out[i] = &r->tensors[n->out[i]];
        c.can_accumulate = c.can_accumulate || g->values[n->out[i]].region == REGION_GRADS;
    }
    int last = (int)row->outs - 1;
    if ((row->flags & OP_LATER) && n->phase != PHASE_BACKWARD && n->out[last] != VALUE_NONE
        && is_backward_only(g, n->out[last]))
        c.later = last;
    return c;
}

static enum errc regions_alloc(struct run *r, struct err *e)
{
    const struct plan *p = r->plan;
    const struct graph *g = p->graph;
    for (int i = 0; i < REGION_COUNT; i++) {
        if (i == REGION_CONST || !p->region_bytes[i])
            continue;
        r->region[i] = r->be->alloc(r->ctx, p->region_bytes[i]);
        if (!r->region[i])
            return FAIL(e, LIMIT, "no memory for %zu bytes of a model of %zu parameters", p->region_bytes[i], g->param_count);
        if (i == REGION_ARENA && r->be->forget)
            r->be->forget(r->ctx, r->region[i]);
    }
    r->is_put = r->be->event_new(r->ctx);
    r->is_done = r->be->event_new(r->ctx);
    r->tensors = calloc((size_t)g->value_count + 1, sizeof *r->tensors);
    r->ready = calloc((size_t)g->node_count + 1, sizeof *r->ready);
    if (!r->is_put || !r->is_done || !r->tensors || !r->ready)
        return FAIL(e, LIMIT, "no memory for a run of %d nodes", g->node_count);
    for (int v = 0; v < g->value_count; v++)
        r->tensors[v] = tensor_of_value(r, v, p->max_rows);
    r->rows = p->max_rows;
    for (int i = 0; i < g->node_count; i++)
        if (!g->nodes[i].is_gone && !(op_row(g->nodes[i].op)->flags & OP_VIEW))
            r->ready[r->ready_count++] = make_ready(r, &g->nodes[i]);
    r->be->record(r->ctx, QUEUE_COMPUTE, r->is_done);
    return ERR_OK;
}

enum errc run_new(const struct plan *p, struct backend_ctx *ctx, struct run **ret, struct err *e)
{
    struct run *r = calloc(1, sizeof *r);
    ASSERT(r);
    *r = (struct run){ .plan = p, .be = p->be, .ctx = ctx };
    enum errc rc = regions_alloc(r, e);
    if (rc != ERR_OK) {
        run_free(r);
        return rc;
    }
    *ret = r;
    return ERR_OK;
}

void run_free(struct run *r)
{
    if (!r)
        return;
    run_watch_end(r);
    for (int i = 0; i < CAPTURES_MAX && r->be->capturing; i++)
        r->be->capturing->free(r->ctx, r->captures[i].what);
    for (int i = 0; i < REGION_COUNT; i++)
        r->be->free(r->ctx, r->region[i]);
    r->be->event_free(r->ctx, r->is_put);
    r->be->event_free(r->ctx, r->is_done);
    free(r->summed);
    free(r->tensors);
    free(r->ready);
    free(r);
}

struct buffer *run_region(struct run *r, enum region region)
{
    return r->region[region];
}

/* Where rows begin, and their bytes: the batch is the first dimension of what is put and got. */
static size_t span(const struct run *r, int value, size_t at, size_t rows, size_t *ret_bytes)
{
    const struct value *v = &r->plan->graph->values[value];
    size_t row = shape_bytes(&v->shape, 1), most = v->shape.dim[0].is_batched ? r->plan->max_rows : 1;
    ASSERT(at <= most && rows <= most - at);
    *ret_bytes = rows * row;
    return at * row;
}

void run_put(struct run *r, int value, size_t at, size_t rows, const void *src)
{
    size_t bytes, from = span(r, value, at, rows, &bytes);
    const struct tensor *t = &r->tensors[value];
    if (!r->has_put)
        r->be->wait(r->ctx, QUEUE_COPY, r->is_done);
    r->has_put = true;
    r->be->put(r->ctx, QUEUE_COPY, t->buf, t->offset_bytes + from, src, bytes);
}

void run_put_step(struct run *r, const struct step_scalars *s)
{
    if (!r->has_put)
        r->be->wait(r->ctx, QUEUE_COPY, r->is_done);
    r->has_put = true;
    r->be->put(r->ctx, QUEUE_COPY, r->region[REGION_STEP], 0, s, sizeof *s);
}

static void note_time(struct run *r, const struct ready *c, int64_t spent_us)
{
    struct run_time *t = &r->times->of[c - r->ready];
    t->spent_us += spent_us;
    t->calls++;
    t->rows += (int64_t)r->rows;
    for (int i = 0; i < OP_INPUTS_MAX + OP_OUTPUTS_MAX; i++) {
        const struct tensor *x = i < OP_INPUTS_MAX ? c->call.in[i] : c->call.out[i - OP_INPUTS_MAX];
        t->bytes += x ? (double)tensor_count(x) * (double)elem_bytes(x->type) : 0;
    }
}

static void sum_over_ranks(struct run *r, const struct op_call *o)
{
    const struct tensor *x = o->in[0], *out = o->out[0];
    size_t n = tensor_count(x), bytes = n * elem_bytes(x->type);
    struct err e;
    ASSERT(r->summed);
    if (r->late.code != ERR_OK)
        return;
    r->be->get(r->ctx, QUEUE_COMPUTE, x->buf, x->offset_bytes, r->summed, bytes);
    if (r->be->sync(r->ctx, &e) != ERR_OK || r->over.sum(r->over.ctx, r->summed, x->type, n, &e) != ERR_OK) {
        r->late = e;
        return;
    }
    r->be->put(r->ctx, QUEUE_COMPUTE, out->buf, out->offset_bytes, r->summed, bytes);
    if (!(r->be->properties & BE_HOST_MEMORY) && r->be->sync(r->ctx, &e) != ERR_OK)     /* the room is written again */
        r->late = e;
}

static void make(struct run *r, const struct ready *c, const struct op_call *o)
{
    if (c->node->over == OVER_SUM)
        sum_over_ranks(r, o);
    else
        c->kernel(r->ctx, o);
}

static void call(struct run *r, const struct ready *c, const struct op_call *o)
{
    struct err e;
    if (!r->times || r->times->is_resting) {
        make(r, c, o);
        return;
    }
    int64_t began = clock_mono_us(&clock_system);
    make(r, c, o);
    if (r->be->sync(r->ctx, &e) != ERR_OK && r->late.code == ERR_OK)
        r->late = e;                            /* a backend tells it once: kept for run_sync */
    note_time(r, c, clock_mono_us(&clock_system) - began);
}

static void call_all(struct run *r, unsigned phases, bool accumulate)
{
    for (struct ready *c = r->ready, *end = c + r->ready_count; c < end; c++) {
        if (!(c->phase & phases))
            continue;
        if ((accumulate && c->can_accumulate) || (c->later >= 0 && !(phases & PHASE_BACKWARD))) {
            struct op_call changed = c->call;
            if (accumulate && c->can_accumulate)
                changed.attr.flags |= OP_ACCUMULATE;
            if (c->later >= 0 && !(phases & PHASE_BACKWARD))
                changed.out[c->later] = NULL;
            call(r, c, &changed);
            continue;
        }
        call(r, c, &c->call);
    }
}

void run_launch_each(struct run *r)
{
    r->launches_each = true;
}

enum errc run_ranks_begin(struct run *r, const struct run_ranks *of, struct err *e)
{
    size_t most = 0, bytes;
    for (const struct ready *c = r->ready, *end = c + r->ready_count; c < end; c++) {
        const struct tensor *x = c->call.in[0];
        bytes = c->node->over == OVER_SUM ? tensor_count(x) * elem_bytes(x->type) : 0;      /* of the largest batch so far */
        most = bytes > most ? bytes : most;
    }
    r->over = *of;
    r->launches_each = true;
    r->summed = malloc(most + 1);
    return r->summed ? ERR_OK : FAIL(e, LIMIT, "no memory for %zu bytes that are added up over ranks", most);
}

/* false: nothing has run. */
static bool run_captured(struct run *r, size_t rows, unsigned phases, bool accumulate)
{
    if (!r->be->capturing || r->launches_each || r->times)
        return false;
    struct capture *c = r->captures, *end = c + CAPTURES_MAX;
    while (c < end && c->rows && (c->rows != rows || c->phases != phases || c->accumulate != accumulate))
        c++;
    if (c == end)
        return false;
    if (!c->rows) {
        *c = (struct capture){ rows, phases, accumulate, NULL };
        return false;
    }
    if (c->what && r->be->capturing->replay(r->ctx, c->what))
        return true;
    r->be->capturing->free(r->ctx, c->what);
    c->what = NULL;
    if (!r->be->capturing->begin(r->ctx))
        return false;
    call_all(r, phases, accumulate);
    c->what = r->be->capturing->end(r->ctx);
    return c->what && r->be->capturing->replay(r->ctx, c->what);
}

void run_exec(struct run *r, size_t rows, unsigned phases, bool accumulate)
{
    ASSERT(rows >= 1 && rows <= r->plan->max_rows);
    set_rows(r, rows);
    if (r->has_put) {
        r->be->record(r->ctx, QUEUE_COPY, r->is_put);
        r->be->wait(r->ctx, QUEUE_COMPUTE, r->is_put);
        r->has_put = false;
    }
    if (!run_captured(r, rows, phases, accumulate))
        call_all(r, phases, accumulate);
    r->be->record(r->ctx, QUEUE_COMPUTE, r->is_done);
}

struct run_times *run_watch_begin(struct run *r)
{
    run_watch_end(r);
    struct run_times *t = calloc(1, sizeof *t);
    if (t)
        t->of = calloc((size_t)r->ready_count + 1, sizeof *t->of);
    if (!t || !t->of) {
        free(t);
        return NULL;
    }
    t->count = r->ready_count;
    for (int i = 0; i < r->ready_count; i++)
        t->of[i].node = r->ready[i].node;
    return r->times = t;
}

void run_watch_end(struct run *r)
{
    if (r->times)
        free(r->times->of);
    free(r->times);
    r->times = NULL;
}

void run_get(struct run *r, int value, size_t at, size_t rows, void *dst)
{
    size_t bytes, from = span(r, value, at, rows, &bytes);
    const struct tensor *t = &r->tensors[value];
    r->be->get(r->ctx, QUEUE_COMPUTE, t->buf, t->offset_bytes + from, dst, bytes);
}

enum errc run_sync(struct run *r, struct err *e)
{
    enum errc rc = r->be->sync(r->ctx, e);
    const struct err late = r->late;
    r->late = (struct err){ 0 };
    if (late.code == ERR_OK)
        return rc;
    *e = late;
    return late.code;
}
