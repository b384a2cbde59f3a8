/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_rows.c - what is done to the same rows becomes one pass over memory, for devices, where memory is the limit: an addition
 * to the residual stream and the norm behind it; the backward form of a norm with the sums for its parameters, what it is added
 * to, the sum for the bias before it and its copy in bf16; GELU's with the sum for its bias.
 *
 * A merged node stands where its last necessary part stood, so all that it reads is there; what else it takes in came after, and
 * is made earlier. Only sums that set a gradient join, not those that add to one in some order. Shapes and values stay what they
 * were: only who makes them changes. */
#include "workers/compute/graph/plan_int.h"

enum { SCALE, SHIFT, BIAS, COPY, DX };          /* outputs of NORM_ADD_BWD */

/* The node of that operation and phase that reads `value` as its first input; NULL: none. */
static struct node *reader_of(struct graph *g, const struct node *n, enum op op, int value)
{
    for (int i = 0; i < g->node_count; i++)
        if (!g->nodes[i].is_gone && g->nodes[i].op == op && g->nodes[i].in[0] == value && g->nodes[i].phase == n->phase)
            return &g->nodes[i];
    return NULL;
}

/* A sum that sets a parameter's gradient. */
static bool is_setting(const struct graph *g, const struct node *n)
{
    return n && g->values[n->out[0]].region == REGION_GRADS && !(n->attr.flags & OP_ACCUMULATE);
}

static bool is_wide(const struct graph *g, int value)
{
    return value != VALUE_NONE && g->values[value].shape.type == ELEM_F32;
}

/* n makes `value` now, as output k. */
static void take(struct graph *g, struct node *n, int k, int value)
{
    n->out[k] = value;
    g->values[value].node = (int)(n - g->nodes);
    g->values[value].out = k;
}

static void take_result(struct graph *g, struct node *n, int k, struct node *from)
{
    take(g, n, k, from->out[0]);
    from->is_gone = true;
}

static struct node *maker_of(struct graph *g, int value)
{
    return value == VALUE_NONE || g->values[value].node == VALUE_NONE ? NULL : &g->nodes[g->values[value].node];
}

static bool is_before(struct graph *g, int value, const struct node *n)
{
    const struct node *m = maker_of(g, value);
    return !m || m < n;
}

static void fuse_add_norm(struct graph *g, struct node *norm)
{
    struct node *add = maker_of(g, norm->in[0]);
    bool is_rms = norm->op == OP_RMSNORM;
    int shift = is_rms ? VALUE_NONE : norm->in[2];
    if (!add || add->op != OP_ADD || add->is_gone || add->phase != norm->phase || add->is_again != norm->is_again
        || !is_before(g, norm->in[1], add) || !is_before(g, shift, add) || !is_wide(g, add->out[0]))
        return;
    bool is_turned = !is_wide(g, add->in[0]);
    int x = add->in[is_turned], y = add->in[!is_turned], sum = add->out[0];
    if (!is_wide(g, x))
        return;
    add->op = OP_ADD_NORM;
    add->attr = norm->attr;
    add->attr.flags = is_rms ? NORM_RMS : 0;
    add->in[0] = x, add->in[1] = y, add->in[2] = norm->in[1], add->in[3] = shift;
    take_result(g, add, 0, norm);
    take(g, add, 1, sum);
}

/* The addition that alone reads what n makes. */
static struct node *only_add(struct graph *g, const struct node *n)
{
    int dx = n->out[0], count = 0;
    struct node *add = NULL;
    for (int i = 0; i < g->node_count && !g->values[dx].is_output; i++)
        for (int k = 0; k < OP_INPUTS_MAX && !g->nodes[i].is_gone; k++)
            if (g->nodes[i].in[k] == dx) {
                count++;
                add = &g->nodes[i];
            }
    bool is_found = count == 1 && add->op == OP_ADD && add->phase == n->phase && is_wide(g, add->out[0]);
    return is_found && is_wide(g, add->in[add->in[0] == dx]) ? add : NULL;
}

static void fuse_norm_bwd(struct graph *g, struct node *n)
{
    struct node old = *n, *scale = reader_of(g, n, OP_NORM_SCALE_BWD, n->in[0]), *shift = reader_of(g, n, OP_COLSUM, n->in[2]);
    struct node *add = only_add(g, n), *at = add ? add : n;
    if (!is_wide(g, n->out[0]) || !is_setting(g, scale) || scale->in[1] != n->in[2])
        return;
    int more = add ? add->in[add->in[0] == old.out[0]] : VALUE_NONE, dx = at->out[0];
    *at = (struct node){ .op = OP_NORM_ADD_BWD, .phase = old.phase, .block = old.block, .attr = old.attr,
                         .is_again = old.is_again };
    at->attr.flags = old.op == OP_RMSNORM_BWD ? NORM_RMS : 0;
    for (int k = 0; k < OP_INPUTS_MAX; k++)
        at->in[k] = k < 3 ? old.in[k] : k == 3 ? more : VALUE_NONE;
    for (int k = 0; k < OP_OUTPUTS_MAX; k++)
        at->out[k] = VALUE_NONE;
    n->is_gone = at != n;
    take_result(g, at, SCALE, scale);
    if (is_setting(g, shift))
        take_result(g, at, SHIFT, shift);
    take(g, at, DX, dx);
    struct node *cast = reader_of(g, at, OP_CAST, dx), *bias = reader_of(g, at, OP_COLSUM, dx);
    if (cast && cast > at && g->values[cast->out[0]].shape.type == ELEM_BF16)
        take_result(g, at, COPY, cast);
    if (!is_setting(g, bias) && at->out[COPY] != VALUE_NONE)
        bias = reader_of(g, at, OP_COLSUM, at->out[COPY]);
    if (is_setting(g, bias) && bias > at)
        take_result(g, at, BIAS, bias);
}

static void fuse_gelu_bwd(struct graph *g, struct node *n)
{
    struct node *sum = reader_of(g, n, OP_COLSUM, n->out[0]);
    int dx = n->out[0];
    if (!is_setting(g, sum))
        return;
    n->op = OP_GELU_BWD_SUM;
    take_result(g, n, 0, sum);
    take(g, n, 1, dx);
}

void plan_fuse_rows(struct graph *g, const struct backend *be)
{
    if (!(be->properties & BE_DEVICE))
        return;
    for (int i = 0; i < g->node_count; i++) {
        struct node *n = &g->nodes[i];
        if (n->is_gone)
            continue;
        bool is_norm = n->op == OP_LAYERNORM || n->op == OP_RMSNORM;
        bool is_back = n->op == OP_LAYERNORM_BWD || n->op == OP_RMSNORM_BWD;
        if (is_norm && backend_can(be, OP_ADD_NORM, ELEM_F32))
            fuse_add_norm(g, n);
        else if (is_back && backend_can(be, OP_NORM_ADD_BWD, ELEM_F32))
            fuse_norm_bwd(g, n);
        else if (n->op == OP_GELU_BWD && backend_can(be, OP_GELU_BWD_SUM, in_shape(g, n, 0)->type))
            fuse_gelu_bwd(g, n);
    }
}
