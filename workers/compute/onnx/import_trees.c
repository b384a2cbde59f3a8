/* SPDX-License-Identifier: Apache-2.0 */
/* import_trees.c - ensembles of trees of ai.onnx.ml as the tensors of kernels/trees.h.
 *
 * A file lists the nodes of all trees, known by the pair (tree, node). Each tree is written anew from its root, every node before
 * its children, since ours stand so. Ours go left when x <= threshold: x < v is x <= the number below v, and where a mode asks
 * for more than v the sides change places. A leaf of a tree of ours adds to one output, so a tree whose leaves add to several
 * is written once for each. Source: onnx/defs/traditionalml, TreeEnsembleRegressor and TreeEnsembleClassifier. */
#include "workers/compute/kernels/trees.h"
#include "workers/compute/onnx/import_int.h"

#include <math.h>
#include <stdlib.h>

enum { OUTPUTS_MAX = 4096, NONE = -1 };

struct key {
    int64_t tree, id;
    size_t at;                          /* in the lists */
};

struct ensemble {
    struct import *x;
    const struct onnx_attr *trees, *ids, *columns, *yes, *no, *values, *modes, *missing;
    size_t count, tree_count, outputs;
    bool is_two;                        /* classes, by one output */
    struct key *keys;                   /* ascending */
    size_t *root;                       /* by tree, in their order: where it is listed */
    size_t *leaf;                       /* by weight: the node it is of */
    unsigned char *state;               /* by node */
    double share;                       /* a leaf counts so much: one, or one of all trees */
    /* what is written */
    float *nodes, *roots;
    size_t node_count, root_count, nodes_max, roots_max;
};

static int compare(const void *a, const void *b)
{
    const struct key *p = a, *q = b;
    return p->tree != q->tree ? (p->tree < q->tree ? -1 : 1) : p->id != q->id ? (p->id < q->id ? -1 : 1) : 0;
}

static enum errc no_memory(struct import *x)
{
    return FAIL(x->e, LIMIT, "the trees do not fit in memory");
}

static const struct key *find(const struct ensemble *s, int64_t tree, int64_t id)
{
    const struct key wanted = { tree, id, 0 };
    return bsearch(&wanted, s->keys, s->count, sizeof wanted, compare);
}

enum list_kind { INTS, FLOATS, STRINGS };

/* Members of that kind: an attribute may hold others beside them, which are not read. */
static enum errc list_of(struct import *x, const char *name, enum list_kind kind, size_t n, const struct onnx_attr **ret)
{
    static const char *const kinds[] = { "whole numbers", "numbers", "words" };
    const struct onnx_attr *t = onnx_attr_find(x->node, name);
    const size_t has = !t ? 0 : kind == INTS ? t->int_count : kind == FLOATS ? t->float_count : t->string_count;
    *ret = t;
    return has == n ? ERR_OK : FAIL(x->e, BAD_DATA, "%s has %zu %s, where there are %zu nodes or weights", name, has, kinds[kind],
                                    n);
}

static enum errc read_lists(struct ensemble *s)
{
    struct import *x = s->x;
    s->trees = onnx_attr_find(x->node, "nodes_treeids");
    s->count = s->trees ? s->trees->int_count : 0;
    if (!s->count || s->count > TREE_NODES_MAX)
        return FAIL(x->e, BAD_DATA, "nodes_treeids has %zu members; 1 to %d nodes can be", s->count, TREE_NODES_MAX);
    TRY(list_of(x, "nodes_nodeids", INTS, s->count, &s->ids));
    TRY(list_of(x, "nodes_featureids", INTS, s->count, &s->columns));
    TRY(list_of(x, "nodes_truenodeids", INTS, s->count, &s->yes));
    TRY(list_of(x, "nodes_falsenodeids", INTS, s->count, &s->no));
    TRY(list_of(x, "nodes_values", FLOATS, s->count, &s->values));
    TRY(list_of(x, "nodes_modes", STRINGS, s->count, &s->modes));
    return onnx_attr_find(x->node, "nodes_missing_value_tracks_true")
           ? list_of(x, "nodes_missing_value_tracks_true", INTS, s->count, &s->missing) : ERR_OK;
}

static bool is_leaf(const struct ensemble *s, size_t at)
{
    return str_eq_c(s->modes->strings[at], "LEAF");
}

/* All nodes by their pairs, and the root of each tree: the one that no node leads to. */
static enum errc index_nodes(struct ensemble *s)
{
    struct import *x = s->x;
    s->keys = arena_try(x->a, s->count * sizeof *s->keys);
    s->state = arena_try(x->a, s->count);
    s->root = arena_try(x->a, s->count * sizeof *s->root);
    if (!s->keys || !s->state || !s->root)
        return no_memory(x);
    for (size_t i = 0; i < s->count; i++)
        s->keys[i] = (struct key){ s->trees->ints[i], s->ids->ints[i], i };
    qsort(s->keys, s->count, sizeof *s->keys, compare);
    for (size_t i = 1; i < s->count; i++)
        if (!compare(&s->keys[i - 1], &s->keys[i]))
            return FAIL(x->e, BAD_DATA, "node %ld of tree %ld is there twice", (long)s->keys[i].id, (long)s->keys[i].tree);
    for (size_t i = 0; i < s->count; i++)
        for (int side = 0; side < 2 && !is_leaf(s, i); side++) {
            const struct key *k = find(s, s->trees->ints[i], (side ? s->no : s->yes)->ints[i]);
            if (!k || s->state[k->at]++)
                return FAIL(x->e, BAD_DATA, "node %ld of tree %ld leads to a node that is not there, or has a parent already",
                            (long)s->ids->ints[i], (long)s->trees->ints[i]);
        }
    for (size_t i = 0; i < s->count; i++) {
        const struct key *k = &s->keys[i];
        if (!i || k->tree != k[-1].tree)
            s->root[s->tree_count++] = s->count;
        if (s->state[k->at])
            continue;
        if (s->root[s->tree_count - 1] != s->count)
            return FAIL(x->e, BAD_DATA, "tree %ld has two roots", (long)k->tree);
        s->root[s->tree_count - 1] = k->at;
    }
    for (size_t i = 0; i < s->tree_count; i++)
        if (s->root[i] == s->count)
            return FAIL(x->e, BAD_DATA, "tree %zu, counted from 0, has no root", i);
    return ERR_OK;
}

/* Row of a node: all but its children. *ret_swaps: what the file's "true" leads to is on the right. */
static enum errc write_node(struct ensemble *s, size_t at, float value, float *row, bool *ret_swaps)
{
    const struct str mode = s->modes->strings[at];
    const float v = (float)s->values->floats[at];
    const bool tracks = s->missing && s->missing->ints[at];
    const bool is_less = str_eq_c(mode, "BRANCH_LT"), is_more = str_eq_c(mode, "BRANCH_GT");
    const bool is_least = str_eq_c(mode, "BRANCH_GTE");
    memset(row, 0, TREE_FIELDS * sizeof *row);
    row[TREE_SET] = NONE;
    *ret_swaps = is_more || is_least;
    if (is_leaf(s, at)) {
        row[TREE_COLUMN] = NONE;
        row[TREE_THRESHOLD] = value;
        return ERR_OK;
    }
    if (!is_less && !*ret_swaps && !str_eq_c(mode, "BRANCH_LEQ"))
        return UNSUPPORTED(s->x, "a node of mode %.*s; BRANCH_LEQ, LT, GT and GTE are", (int)(mode.len < 20 ? mode.len : 20),
                           mode.ptr);
    if (s->columns->ints[at] < 0 || s->columns->ints[at] >= TREE_NODES_MAX)
        return FAIL(s->x->e, BAD_DATA, "a node reads column %ld", (long)s->columns->ints[at]);
    row[TREE_COLUMN] = (float)s->columns->ints[at];
    row[TREE_THRESHOLD] = is_less || is_least ? nextafterf(v, -INFINITY) : v;
    row[TREE_MISSING] = tracks != *ret_swaps;
    return ERR_OK;
}

struct due {
    size_t at, parent;
    int side;
};

/* One tree with these values of its leaves, by node. */
static enum errc write_tree(struct ensemble *s, size_t root, size_t output, const float *value, struct due *stack)
{
    size_t n = 0, first = s->node_count;
    if (s->root_count == s->roots_max)
        return FAIL(s->x->e, LIMIT, "there are more than %zu trees by output", s->roots_max);
    s->roots[s->root_count * TREE_ROOT_FIELDS] = (float)first;
    s->roots[s->root_count++ * TREE_ROOT_FIELDS + 1] = (float)output;
    stack[n++] = (struct due){ root, 0, NONE };
    while (n) {
        const struct due d = stack[--n];
        bool swaps;
        if (s->node_count == s->nodes_max)
            return FAIL(s->x->e, LIMIT, "there are more than %zu nodes by output", s->nodes_max);
        const size_t row = s->node_count++;
        TRY(write_node(s, d.at, value[d.at], s->nodes + row * TREE_FIELDS, &swaps));
        if (d.side != NONE)
            s->nodes[d.parent * TREE_FIELDS + (size_t)d.side] = (float)(row - first);
        for (int right = 1; right >= 0 && !is_leaf(s, d.at); right--) {
            const struct onnx_attr *to = (right != 0) == swaps ? s->yes : s->no;
            stack[n++] = (struct due){ find(s, s->trees->ints[d.at], to->ints[d.at])->at, row, right ? TREE_RIGHT : TREE_LEFT };
        }
    }
    return ERR_OK;
}

struct weights {
    const struct onnx_attr *trees, *ids, *outputs, *weights;
    size_t count;
};

static enum errc read_weights(struct ensemble *s, bool is_class, struct weights *w)
{
    struct import *x = s->x;
    const struct onnx_attr *first = onnx_attr_find(x->node, is_class ? "class_treeids" : "target_treeids");
    w->count = first ? first->int_count : 0;
    if (!w->count)
        return FAIL(x->e, BAD_DATA, "no leaf has a weight");
    TRY(list_of(x, is_class ? "class_treeids" : "target_treeids", INTS, w->count, &w->trees));
    TRY(list_of(x, is_class ? "class_nodeids" : "target_nodeids", INTS, w->count, &w->ids));
    TRY(list_of(x, is_class ? "class_ids" : "target_ids", INTS, w->count, &w->outputs));
    TRY(list_of(x, is_class ? "class_weights" : "target_weights", FLOATS, w->count, &w->weights));
    s->leaf = arena_try(x->a, w->count * sizeof *s->leaf);
    if (!s->leaf)
        return no_memory(x);
    for (size_t i = 0; i < w->count; i++) {
        const struct key *k = find(s, w->trees->ints[i], w->ids->ints[i]);
        if (!k || !is_leaf(s, k->at) || w->outputs->ints[i] < 0 || (size_t)w->outputs->ints[i] >= s->outputs)
            return FAIL(x->e, BAD_DATA,
                        "weight %zu is of node %ld of tree %ld and output %ld; expected a leaf and one of %zu outputs", i,
                        (long)w->ids->ints[i], (long)w->trees->ints[i], (long)w->outputs->ints[i], s->outputs);
        s->leaf[i] = k->at;
    }
    return ERR_OK;
}

/* The trees of output k, of those that have a weight for it. */
static enum errc write_output(struct ensemble *s, const struct weights *w, size_t k, float *value, struct due *stack)
{
    memset(value, 0, s->count * sizeof *value);
    memset(s->state, 0, s->count);
    bool any = false;
    for (size_t i = 0; i < w->count; i++)
        if ((size_t)w->outputs->ints[i] == k) {
            value[s->leaf[i]] += (float)(w->weights->floats[i] * s->share);
            s->state[s->leaf[i]] = 1;
            any = true;
        }
    for (size_t t = 0, at = 0; t < s->tree_count; t++) {
        bool has = false;
        const int64_t tree = s->trees->ints[s->root[t]];
        const size_t from = at, first = s->node_count;
        for (; at < s->count && s->keys[at].tree == tree; at++)
            has = has || s->state[s->keys[at].at];
        if (!any || !has)
            continue;
        TRY(write_tree(s, s->root[t], k, value, stack));
        if (s->node_count - first != at - from)
            return FAIL(s->x->e, BAD_DATA, "tree %ld has nodes in a circle, to which its root does not lead", (long)tree);
    }
    return ERR_OK;
}

static enum errc write_all(struct ensemble *s, const struct weights *w)
{
    struct import *x = s->x;
    size_t spread = s->outputs < TREE_NODES_MAX / s->count ? s->outputs : TREE_NODES_MAX / s->count;
    s->nodes_max = s->count * spread;
    s->roots_max = s->tree_count * spread;
    s->nodes = arena_try(x->a, s->nodes_max * TREE_FIELDS * sizeof *s->nodes);
    s->roots = arena_try(x->a, s->roots_max * TREE_ROOT_FIELDS * sizeof *s->roots);
    float *value = arena_try(x->a, s->count * sizeof *value);
    struct due *stack = arena_try(x->a, (s->count + 2) * sizeof *stack);
    if (!s->nodes || !s->roots || !value || !stack)
        return no_memory(x);
    for (size_t k = 0; k < s->outputs; k++)
        TRY(write_output(s, w, k, value, stack));
    return ERR_OK;
}

static enum errc make_graph(struct ensemble *s, int *ret)
{
    struct import *x = s->x;
    int in[3], v;
    const struct onnx_attr *given = onnx_attr_find(x->node, "base_values");
    float *base = arena_try(x->a, s->outputs * sizeof *base);
    if (!base)
        return no_memory(x);
    if (given && given->float_count != s->outputs)
        return UNSUPPORTED(x, "base_values has %zu numbers for %zu outputs", given->float_count, s->outputs);
    for (size_t k = 0; given && k < s->outputs; k++)
        base[k] = (float)given->floats[k];
    in[0] = graph_const(x->g, "", (struct shape){ ELEM_F32, 2, { DIM(s->node_count), DIM(TREE_FIELDS) } }, s->nodes);
    in[1] = graph_const(x->g, "", (struct shape){ ELEM_F32, 2, { DIM(s->root_count), DIM(TREE_ROOT_FIELDS) } }, s->roots);
    in[2] = graph_const(x->g, "", (struct shape){ ELEM_F32, 1, { DIM(s->outputs) } }, base);
    TRY(import_value(x, 0, &v));
    int both[2] = { v, graph_op(x->g, OP_TREES_PACK, &(struct op_attr){ 0 }, in, 3) };
    TRY(graph_check(x->g, x->e));
    return step_op(x, OP_TREES, &(struct op_attr){ 0 }, both, 2, ret);
}

static bool word_is(const struct import *x, const char *attr, const char *word)
{
    const struct onnx_attr *t = onnx_attr_find(x->node, attr);
    return t && t->has_s && str_eq_c(t->s, word);
}

/* Two classes by weights of one: a file names the first then. */
static enum errc is_first_alone(const struct ensemble *s)
{
    const struct onnx_attr *ids = onnx_attr_find(s->x->node, "class_ids");
    for (size_t i = 0; ids && i < ids->int_count; i++)
        if (ids->ints[i])
            return UNSUPPORTED(s->x, "two classes with weights of both, or of the second");
    return ERR_OK;
}

static enum errc count_outputs(struct ensemble *s, bool is_class)
{
    struct import *x = s->x;
    int64_t n = import_attr(x, "n_targets", 1);
    if (is_class)
        TRY(import_class_count(x, "classlabels_int64s", &n));
    s->is_two = is_class && n == 2;
    if (s->is_two) {
        TRY(is_first_alone(s));
        n = 1;
    }
    if (n < 1 || n > OUTPUTS_MAX)
        return FAIL(x->e, LIMIT, "%ld outputs; 1 to %d can be", (long)n, OUTPUTS_MAX);
    s->outputs = (size_t)n;
    return ERR_OK;
}

HANDLER(trees)
{
    struct ensemble s = { .x = x, .share = 1 };
    struct weights w;
    int v, label;
    const bool is_class = arg_ != 0, is_mean = word_is(x, "aggregate_function", "AVERAGE");
    if (onnx_attr_find(x->node, "aggregate_function") && !is_mean && !word_is(x, "aggregate_function", "SUM"))
        return UNSUPPORTED(x, "an aggregate_function other than SUM and AVERAGE");
    TRY(count_outputs(&s, is_class));
    TRY(read_lists(&s));
    TRY(index_nodes(&s));
    s.share = is_mean ? 1.0 / (double)s.tree_count : 1;
    TRY(read_weights(&s, is_class, &w));
    TRY(write_all(&s, &w));
    TRY(make_graph(&s, &v));
    if (!is_class) {
        TRY(import_post(x, v, &v));
        return import_set(x, 0, v);
    }
    if (s.is_two) {
        bool is_share = true;           /* no weight is below 0 */
        for (size_t i = 0; i < w.count && is_share; i++)
            is_share = w.weights->floats[i] >= 0;
        return import_two_classes(x, v, is_share ? 0.5f : 0, is_share);
    }
    TRY(step_op(x, OP_ARGMAX, &(struct op_attr){ 0 }, &v, 1, &label));
    TRY(import_set(x, 0, label));
    TRY(import_post(x, v, &v));
    return import_set(x, 1, v);
}
