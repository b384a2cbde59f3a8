/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - what all families share around their builder: loss, update, data in and answers out (parameters: net_params.c). */
#include "workers/compute/train/net.h"
#include "workers/compute/train/comm.h"
#include "workers/compute/train/family.h"
#include "workers/compute/train/served.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARENA_BYTES = 256 << 20, LARGE_FROM = 1 << 20 };       /* the latter: smaller regions lie among others */

const char *net_name(struct net *n, const char *fmt, ...)
{
    char text[NET_NAME_BYTES];
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ASSERT(len >= 0 && len < NET_NAME_BYTES);
    return arena_strndup(n->arena, text, (size_t)len);
}

int net_input(struct net *n, struct shape shape)
{
    return n->x = n->served ? served_input(n, shape) : graph_input(n->g, "x", shape);
}

int net_dropout(struct net *n, int x)
{
    if (n->spec.job->dropout <= 0 || n->spec.is_serving)
        return x;
    const struct op_attr attr = { .rate = n->spec.job->dropout, .stream = (uint64_t)++n->streams };
    return graph_op(n->g, OP_DROPOUT, &attr, GRAPH_INS(x, graph_step(n->g)));
}

/* The optimiser on those of the numbers first … end-1 of the parameters that are updated here. */
static void add_update(struct net *n, size_t first, size_t end, double decay)
{
    struct graph *g = n->g;
    const struct train_job *s = n->spec.job;
    size_t after = n->shard_from + n->shard_count;
    first = first > n->shard_from ? first : n->shard_from;
    end = end < after ? end : after;
    if (first >= end)
        return;
    size_t count = end - first, at = first - n->shard_from;
    int w = graph_view(g, REGION_PARAMS, first, count), grad = graph_view(g, REGION_GRADS, first, count);
    int moment = graph_view(g, REGION_M, at, count), step = graph_step(g);
    if (s->optimizer == TRAIN_ADAMW) {
        const struct op_attr a = { .beta1 = TRAIN_BETA1, .beta2 = TRAIN_BETA2, .eps = 1e-8, .weight_decay = decay };
        graph_op(g, OP_ADAMW, &a, GRAPH_INS(w, grad, moment, graph_view(g, REGION_V, at, count), step));
    } else {
        const struct op_attr a = { .momentum = TRAIN_MOMENTUM, .weight_decay = decay };
        graph_op(g, OP_SGD, &a, GRAPH_INS(w, grad, moment, step));
    }
}

static void set_shard(struct net *n, size_t all)
{
    int ranks = n->spec.ranks ? n->spec.ranks : 1;
    size_t piece = comm_piece(all, ranks), from = piece * (size_t)n->spec.rank;
    n->shard_from = ranks == 1 ? 0 : from < all ? from : all;
    n->shard_count = ranks == 1 ? all : all - n->shard_from < piece ? all - n->shard_from : piece;
}

/* Of gradients that are cut among ranks the norm is made outside (engine_step.c): its parts, and the value that it is put to. */
static int add_norm_parts(struct net *n)
{
    struct graph *g = n->g;
    const size_t from[] = { n->split_from, 0, n->split_end }, end[] = { n->split_end, n->split_from, g->param_count };
    g->phase = PHASE_NORM;
    for (int i = 0; i < 3; i++) {
        n->norm_parts[i] = from[i] == end[i] ? VALUE_NONE
                                             : graph_op1(g, OP_SUMSQ, graph_view(g, REGION_GRADS, from[i], end[i] - from[i]));
        graph_output(g, n->norm_parts[i], "norm");
    }
    g->phase = PHASE_UPDATE;
    return graph_input(g, "norm2", (struct shape){ ELEM_F64, 1, { DIM(1) } });
}

static void add_learning(struct net *n)
{
    static const enum op loss[] = { [NET_CLASSES] = OP_SOFTMAX_XENT, [NET_REGRESSION] = OP_MSE, [NET_LABELS] = OP_SIGMOID_XENT };
    struct graph *g = n->g;
    bool has_classes = n->spec.shape.goal == NET_CLASSES;
    struct shape numbers = { n->spec.type, 2, { DIM_ROWS(1), DIM(n->spec.shape.outputs) } };
    struct shape classes = { ELEM_I32, 1, { DIM_ROWS(n->items) } };
    n->target = graph_input(g, "labels", has_classes ? classes : numbers);
    g->phase = PHASE_EVAL;
    if (has_classes)
        n->best = graph_op1(g, OP_ARGMAX, n->logits);
    else
        graph_output(g, n->logits, "logits");       /* is read, so the loss may not write its gradient over it */
    g->phase = PHASE_FORWARD;
    if (!uuid_is_nil(n->spec.job->teacher)) {
        const struct op_attr taught = { .alpha = n->spec.job->teacher_share, .gamma = n->spec.job->temperature };
        ASSERT(has_classes && n->items == 1);
        n->soft = graph_input(g, "soft", numbers);
        n->loss = graph_op(g, OP_SOFTMAX_TAUGHT, &taught, GRAPH_INS(n->logits, n->target, n->soft, graph_step(g)));
    } else {
        n->loss = graph_op(g, loss[n->spec.shape.goal], &(struct op_attr){ 0 }, GRAPH_INS(n->logits, n->target, graph_step(g)));
    }
    graph_output(g, n->best, "best");
    graph_output(g, n->loss, "loss");
    g->block = 0;
    graph_backward(g, n->loss);
    if (n->spec.recomputes)
        graph_recompute(g);
    g->phase = PHASE_UPDATE;
    if (!n->spec.has_update)
        return;
    n->norm2 = net_tensor_ranks(n) > 1 ? add_norm_parts(n)
                                       : graph_op1(g, OP_SUMSQ, graph_view(g, REGION_GRADS, 0, g->param_count));
    graph_output(g, n->norm2, "norm2");
    graph_op2(g, OP_CLIP, n->norm2, graph_step(g));
    set_shard(n, g->param_count);
    add_update(n, 0, n->decayed, n->spec.job->weight_decay);
    add_update(n, n->decayed, g->param_count, 0);
}

/* A training goes over all of its memory in every step, over gradients of weights by columns, where each number is on another
 * page: large ones from the first touch on. Whole pages around each region, so that neighbours share a large one; refused, it is
 * as before. */
static void ask_large_pages(struct net *n)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < REGION_COUNT && (n->be->properties & BE_HOST_MEMORY) && !n->spec.is_serving; i++) {
        const struct buffer *b = run_region(n->run, (enum region)i);
        if (!b || b->size_bytes < LARGE_FROM)
            continue;
        uintptr_t from = (uintptr_t)b->ptr / page * page, end = ((uintptr_t)b->ptr + b->size_bytes + page - 1) / page * page;
        (void)madvise((void *)from, end - from, MADV_HUGEPAGE);
    }
}

static enum errc make(struct net *n, struct err *e)
{
    const struct net_spec *s = &n->spec;
    const struct family *f = family_of(s->job->family);
    n->g = graph_new(s->type, f->nodes(s) * 5 + NET_NODES_MORE);
    f->build(n, n->g);
    if (s->is_serving)
        graph_output(n->g, n->logits, "logits");
    else
        add_learning(n);
    n->numbers = n->g->param_count;
    if (s->is_bf16 && !s->is_serving)
        graph_bf16(n->g);
    if (s->is_bf16 && !s->is_serving && (n->be->properties & BE_NARROW))
        graph_narrow(n->g);
    const struct plan_options o = { s->max_rows, s->max_bytes };
    TRY(plan_new(n->g, n->be, n->ctx, &o, &n->plan, e));
    TRY(run_new(n->plan, n->ctx, &n->run, e));
    ask_large_pages(n);
    if (s->launches_each)
        run_launch_each(n->run);
    return net_tensor_ranks(n) > 1 ? run_ranks_begin(n->run, s->over, e) : ERR_OK;
}

bool net_is_bf16(const struct train_job *job, const struct backend *be)
{
    return job->precision == TRAIN_BF16 || (job->precision == TRAIN_AUTO && (be->properties & BE_FAST_BF16));
}

enum errc net_new(const struct backend *be, struct backend_ctx *ctx, const struct net_spec *spec, struct net **ret, struct err *e)
{
    ASSERT(spec->max_rows >= 1);
    struct arena *a = arena_new(ARENA_BYTES);
    struct net *n = ARENA_NEW(a, struct net);
    *n = (struct net){ .be = be, .ctx = ctx, .spec = *spec, .arena = a, .items = 1, .x = VALUE_NONE, .target = VALUE_NONE,
                       .logits = VALUE_NONE, .best = VALUE_NONE, .loss = VALUE_NONE, .norm2 = VALUE_NONE, .soft = VALUE_NONE };
    n->tensors = ARENA_ARRAY(a, struct net_tensor, NET_PARAMS_MAX);
    n->firsts = ARENA_ARRAY(a, struct net_first, NET_PARAMS_MAX);
    n->cuts = ARENA_ARRAY(a, struct net_cut, NET_PARAMS_MAX * NET_PARTS_MAX);
    enum errc rc = make(n, e);
    if (rc != ERR_OK) {
        net_free(n);
        return rc;
    }
    *ret = n;
    return ERR_OK;
}

void net_free(struct net *n)
{
    if (!n)
        return;
    run_free(n->run);
    plan_free(n->plan);
    arena_free(n->arena);
}

void net_freep(struct net **n)
{
    net_free(*n);
    *n = NULL;
}

void net_put(struct net *n, const void *x, const void *target, size_t rows)
{
    if (target)
        run_put(n->run, n->target, 0, rows, target);
    run_put(n->run, n->x, 0, rows, x);
}

void net_put_soft(struct net *n, const float *soft, size_t rows)
{
    run_put(n->run, n->soft, 0, rows, soft);
}

void net_exec(struct net *n, size_t rows, unsigned phases, bool accumulate, const struct step_scalars *at)
{
    if (run_region(n->run, REGION_STEP))
        run_put_step(n->run, at);
    run_exec(n->run, rows, phases, accumulate);
}

enum errc net_loss(struct net *n, double *loss_sum, struct err *e)
{
    run_get(n->run, n->loss, 0, 1, loss_sum);
    return run_sync(n->run, e);
}

void net_answers(struct net *n, float *ret, size_t rows)
{
    run_get(n->run, n->logits, 0, rows, ret);
}

void net_best(struct net *n, int32_t *ret, size_t rows)
{
    run_get(n->run, n->best, 0, rows, ret);
}

/* A result of m numbers, each a chain of k multiplications. */
double net_node_flops(const struct net *n, const struct node *o, size_t rows)
{
    const struct graph *g = n->g;
    const struct shape *x = &g->values[o->in[0]].shape, *w = o->in[1] == VALUE_NONE ? NULL : &g->values[o->in[1]].shape;
    double out = o->out[0] == VALUE_NONE ? 0 : (double)shape_count(&g->values[o->out[0]].shape, rows), pairs;
    switch (o->op) {
    case OP_MATMUL:
    case OP_MATMUL_GELU:
    case OP_MATMUL_GELU_BWD:
    case OP_MATMUL_SUM:
        return 2 * out * (double)shape_count(x, rows) / (double)(o->attr.flags & MM_TRANS_A ? x->dim[x->rank - 1].n
                          : shape_count(x, rows) / x->dim[x->rank - 1].n);
    case OP_CONV2D:
        return 2 * out * (double)(shape_count(w, 1) / w->dim[0].n);
    case OP_CONV2D_BWD_X:       /* as many as forward: each number of dy by each weight of its channel */
        return 2 * (double)shape_count(w, rows) * (double)(shape_count(x, 1) / x->dim[0].n);
    case OP_CONV2D_BWD_W:
        return 2 * out * (double)shape_count(w, rows) / (double)w->dim[3].n;
    case OP_ATTENTION:
    case OP_ATTENTION_BWD:      /* scores and values: two products; backward four, the scores made again not counted */
        pairs = (double)shape_count(x, rows) / (double)(o->attr.heads + 2 * o->attr.kv_heads) * (double)o->attr.heads;
        pairs *= (double)x->dim[1].n;
        return (o->op == OP_ATTENTION ? 4 : 8) * pairs / (o->attr.flags & ATTN_CAUSAL ? 2 : 1);
    default:
        return 0;
    }
}

/* Whether all ranks that share a layer make a part each. */
static bool is_shared(const struct net *n, const struct node *o)
{
    size_t size = elem_bytes(n->spec.type);
    if (o->op == OP_ATTENTION || o->op == OP_ATTENTION_BWD)
        return true;
    for (int i = 0; i < OP_INPUTS_MAX + OP_OUTPUTS_MAX; i++) {
        int v = i < OP_INPUTS_MAX ? o->in[i] : o->out[i - OP_INPUTS_MAX];
        const struct value *x = v == VALUE_NONE ? NULL : &n->g->values[v];
        size_t bytes = x && x->region == REGION_NARROW ? sizeof(uint16_t) : size;
        if (x && (x->region == REGION_PARAMS || x->region == REGION_GRADS || x->region == REGION_NARROW)
            && x->offset_bytes / bytes >= n->split_from && x->offset_bytes / bytes < n->split_end)
            return true;
    }
    return false;
}

double net_flops(const struct net *n)
{
    double sum = 0;
    int ranks = net_tensor_ranks(n);
    for (int i = 0; i < n->g->node_count; i++) {
        const struct node *o = &n->g->nodes[i];
        if (!o->is_gone && !o->is_again && o->phase != PHASE_EVAL)
            sum += net_node_flops(n, o, n->spec.max_rows) * (ranks > 1 && is_shared(n, o) ? ranks : 1);
    }
    return sum / (double)n->spec.max_rows;
}
