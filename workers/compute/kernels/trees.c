/* SPDX-License-Identifier: Apache-2.0 */
/* trees.c - proof, packing and walking. A packed tree is numbered breadth first: children lie side by side, so a step is
 * left + (x > threshold). A leaf has itself on the left and +inf as threshold: it can be walked any number of times. */
#include "workers/compute/kernels/trees.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "workers/compute/kernels/cpu_int.h"
#include "workers/compute/kernels/net_int.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, ROWS_PER_TASK = 64, ROUND = 4, ARENA_SPARE = 65536 };
enum { FLAG_MISSING_RIGHT = 1, FLAG_SET = 2 };

struct node {
    float threshold;
    uint32_t column, left, flags;       /* flags >> 2: the set */
};
struct root {
    uint32_t first, output, steps, has_sets;
};
struct packed {
    size_t nodes, trees, outputs, sets;
    /* behind it: nodes, roots, sets of 8 u32, values of leaves by node, base */
};

static bool is_whole(float v, float least, float most)
{
    return v >= least && v <= most && v == floorf(v);
}

static enum errc check_roots(const struct tree_tensors *t, struct err *e)
{
    if (t->node_count > TREE_NODES_MAX || t->node_count < t->tree_count || !t->tree_count || !t->outputs)
        return FAIL(e, BAD_DATA, "%zu nodes of %zu trees for %zu outputs: expected a node for each tree and at most %d nodes",
                    t->node_count, t->tree_count, t->outputs, TREE_NODES_MAX);
    for (size_t i = 0; i < t->tree_count; i++) {
        const float *r = t->roots + i * TREE_ROOT_FIELDS;
        bool follows = i ? r[0] > r[-TREE_ROOT_FIELDS] : r[0] == 0;
        if (!is_whole(r[0], 0, (float)(t->node_count - 1)) || !follows)
            return FAIL(e, BAD_DATA, "tree %zu: its first node is %g; trees begin at 0 and ascend to %zu", i, (double)r[0],
                        t->node_count - 1);
        if (!is_whole(r[1], 0, (float)(t->outputs - 1)))
            return FAIL(e, BAD_DATA, "tree %zu: its output is %g of %zu", i, (double)r[1], t->outputs);
    }
    for (size_t k = 0; k < t->outputs; k++)
        if (!isfinite(t->base[k]))
            return FAIL(e, BAD_DATA, "output %zu begins with a value that is no finite number", k);
    for (size_t i = 0; i < t->set_count * TREE_SET_NUMBERS; i++)
        if (!is_whole(t->sets[i], 0, 65535))
            return FAIL(e, BAD_DATA, "set %zu: %g is no number of 16 bits", i / TREE_SET_NUMBERS, (double)t->sets[i]);
    return ERR_OK;
}

/* has_parent: of the nodes of this tree. */
static enum errc check_node(const struct tree_tensors *t, size_t first, size_t count, size_t i, size_t cols,
                            unsigned char *has_parent, struct err *e)
{
    const float *n = t->nodes + (first + i) * TREE_FIELDS;
    if (!isfinite(n[TREE_THRESHOLD]))
        return FAIL(e, BAD_DATA, "node %zu: its threshold is no finite number", first + i);
    if (i && !has_parent[i])
        return FAIL(e, BAD_DATA, "node %zu: no node before it leads to it", first + i);
    if (n[TREE_COLUMN] == -1)
        return ERR_OK;
    if (!is_whole(n[TREE_COLUMN], 0, (float)cols - 1))
        return FAIL(e, BAD_DATA, "node %zu: its column is %g of %zu", first + i, (double)n[TREE_COLUMN], cols);
    if (n[TREE_MISSING] != 0 && n[TREE_MISSING] != 1)
        return FAIL(e, BAD_DATA, "node %zu: missing values go %g; 1 is left, 0 right", first + i, (double)n[TREE_MISSING]);
    if (!is_whole(n[TREE_SET], -1, (float)t->set_count - 1))
        return FAIL(e, BAD_DATA, "node %zu: its set is %g of %zu", first + i, (double)n[TREE_SET], t->set_count);
    for (int side = TREE_LEFT; side <= TREE_RIGHT; side++) {
        if (!is_whole(n[side], (float)(i + 1), (float)count - 1) || has_parent[(size_t)n[side]])
            return FAIL(e, BAD_DATA, "node %zu: its child %g is not behind it in its tree of %zu nodes, or another's, too",
                        first + i, (double)n[side], count);
        has_parent[(size_t)n[side]] = 1;
    }
    return ERR_OK;
}

static size_t tree_end(const struct tree_tensors *t, size_t tree)
{
    return tree + 1 < t->tree_count ? (size_t)t->roots[(tree + 1) * TREE_ROOT_FIELDS] : t->node_count;
}

enum errc trees_check(const struct tree_tensors *t, size_t cols, struct err *e)
{
    TRY(check_roots(t, e));
    CLEANUP(arena_freep) struct arena *a = arena_new(t->node_count + ARENA_SPARE);
    unsigned char *has_parent = arena_try(a, t->node_count);
    if (!has_parent)
        return FAIL(e, LIMIT, "no memory to check %zu nodes", t->node_count);
    enum errc rc = ERR_OK;
    for (size_t i = 0; i < t->tree_count && rc == ERR_OK; i++) {
        size_t first = (size_t)t->roots[i * TREE_ROOT_FIELDS], count = tree_end(t, i) - first;
        memset(has_parent, 0, count);
        for (size_t k = 0; k < count && rc == ERR_OK; k++)
            rc = check_node(t, first, count, k, cols, has_parent, e);
    }
    return rc;
}

static bool is_code(float v)
{
    return v >= 0 && v < TREE_CODES && v == floorf(v);
}

float tree_leaf(const float *nodes, const float *sets, const float *x)
{
    const float *n = nodes;
    while (n[TREE_COLUMN] >= 0) {
        float v = x[(size_t)n[TREE_COLUMN]];
        bool left = n[TREE_MISSING] != 0;
        if (n[TREE_SET] < 0 && !isnan(v)) {
            left = v <= n[TREE_THRESHOLD];
        } else if (n[TREE_SET] >= 0 && is_code(v)) {
            size_t code = (size_t)v;
            left = (unsigned)sets[(size_t)n[TREE_SET] * TREE_SET_NUMBERS + code / 16] >> code % 16 & 1;
        }
        n = nodes + (size_t)n[left ? TREE_LEFT : TREE_RIGHT] * TREE_FIELDS;
    }
    return n[TREE_THRESHOLD];
}

/* --- the packed form --- */

size_t trees_packed_bytes(size_t nodes, size_t trees, size_t outputs, size_t sets)
{
    return sizeof(struct packed) + nodes * sizeof(struct node) + trees * sizeof(struct root) + sets * TREE_CODES / 8
           + (nodes + outputs) * sizeof(float);
}

struct parts {
    struct packed *head;
    struct node *nodes;
    struct root *roots;
    uint32_t *sets;
    float *values, *base;
};

static struct parts parts_of(void *buffer, const struct packed *sizes)
{
    struct parts p = { .head = buffer };
    p.nodes = (struct node *)(void *)(p.head + 1);
    p.roots = (struct root *)(void *)(p.nodes + sizes->nodes);
    p.sets = (uint32_t *)(void *)(p.roots + sizes->trees);
    p.values = (float *)(void *)(p.sets + sizes->sets * TREE_CODES / 32);
    p.base = p.values + sizes->nodes;
    return p;
}

/* The nodes of one tree from `at` on, breadth first; from[i]: the row that place i takes. Its depth. */
static uint32_t pack_tree(const struct parts *p, const float *rows, uint32_t at, uint32_t *from, uint32_t *has_sets)
{
    uint32_t next = 1, depth = 0, level_end = 1;
    from[0] = 0;
    for (uint32_t i = 0; i < next; i++) {
        const float *n = rows + (size_t)from[i] * TREE_FIELDS;
        struct node *to = &p->nodes[at + i];
        if (i == level_end) {
            depth++;
            level_end = next;
        }
        if (n[TREE_COLUMN] < 0) {
            *to = (struct node){ INFINITY, 0, at + i, 0 };
            p->values[at + i] = n[TREE_THRESHOLD];
            continue;
        }
        *to = (struct node){ n[TREE_THRESHOLD], (uint32_t)n[TREE_COLUMN], at + next,
                             n[TREE_MISSING] != 0 ? 0 : FLAG_MISSING_RIGHT };
        if (n[TREE_SET] >= 0) {
            to->flags |= FLAG_SET | (uint32_t)n[TREE_SET] << 2;
            *has_sets = 1;
        }
        from[next++] = (uint32_t)n[TREE_LEFT];
        from[next++] = (uint32_t)n[TREE_RIGHT];
    }
    return depth;
}

static struct tree_tensors tensors_of(const struct op_call *o)
{
    struct tree_tensors t = { .nodes = o->in[0]->ptr, .roots = o->in[1]->ptr, .base = o->in[2]->ptr,
                              .node_count = o->in[0]->dim[0], .tree_count = o->in[1]->dim[0], .outputs = o->in[2]->dim[0] };
    if (o->in[3]) {
        t.sets = o->in[3]->ptr;
        t.set_count = o->in[3]->dim[0];
    }
    return t;
}

void kernel_trees_pack(struct backend_ctx *c, const struct op_call *o)
{
    const struct tree_tensors t = tensors_of(o);
    const struct packed sizes = { t.node_count, t.tree_count, t.outputs, t.set_count };
    ASSERT(tensor_count(o->out[0]) >= trees_packed_bytes(sizes.nodes, sizes.trees, sizes.outputs, sizes.sets));
    struct parts p = parts_of(o->out[0]->ptr, &sizes);
    uint32_t *from = cpu_scratch(c, t.node_count * sizeof *from);
    *p.head = sizes;
    memset(p.values, 0, t.node_count * sizeof *p.values);
    memset(p.sets, 0, t.set_count * TREE_CODES / 8);
    for (size_t i = 0; i < t.set_count * TREE_SET_NUMBERS; i++)
        p.sets[i / 2] |= (uint32_t)t.sets[i] << i % 2 * 16;
    memcpy(p.base, t.base, t.outputs * sizeof *p.base);
    for (size_t i = 0; i < t.tree_count; i++) {
        uint32_t first = (uint32_t)t.roots[i * TREE_ROOT_FIELDS], has_sets = 0;
        uint32_t steps = pack_tree(&p, t.nodes + (size_t)first * TREE_FIELDS, first, from, &has_sets);
        p.roots[i] = (struct root){ first, (uint32_t)t.roots[i * TREE_ROOT_FIELDS + 1], steps, has_sets };
    }
}

/* --- walking --- */

#define STEP_PLAIN(v, n) ((v) > (n)->threshold)
#define STEP_MISSING(v, n) (((v) > (n)->threshold) | (((v) != (v)) & (n)->flags))

/* Eight rows of a tree without sets, `steps` steps each; a round after which nobody has moved is the last. */
#define WALK(name, STEP)                                                                                                     \
    static void name(const struct node *nodes, uint32_t steps, const float *x, size_t stride, uint32_t at[LANES])            \
    {                                                                                                                        \
        for (uint32_t s = 0; s < steps; s += ROUND) {                                                                        \
            uint32_t moved = 0;                                                                                              \
            for (uint32_t k = 0; k < ROUND; k++)                                                                             \
                for (size_t r = 0; r < LANES; r++) {                                                                         \
                    const struct node *n = &nodes[at[r]];                                                                    \
                    float v = x[r * stride + n->column];                                                                     \
                    uint32_t to = n->left + (uint32_t)STEP(v, n);                                                            \
                    moved |= k + 1 == ROUND ? to ^ at[r] : 0;                                                                \
                    at[r] = to;                                                                                              \
                }                                                                                                            \
            if (!moved)                                                                                                      \
                return;                                                                                                      \
        }                                                                                                                    \
    }
WALK(walk_plain, STEP_PLAIN)
WALK(walk_missing, STEP_MISSING)

static uint32_t walk_one(const struct parts *p, const struct root *root, const float *x)
{
    uint32_t at = root->first;
    for (uint32_t s = 0; s < root->steps; s++) {
        const struct node *n = &p->nodes[at];
        float v = x[n->column];
        uint32_t right = (uint32_t)STEP_MISSING(v, n) & 1;
        if (n->flags & FLAG_SET) {
            const uint32_t *set = p->sets + (size_t)(n->flags >> 2) * (TREE_CODES / 32);
            right = is_code(v) ? ~(set[(size_t)v / 32] >> (size_t)v % 32) & 1 : n->flags & FLAG_MISSING_RIGHT;
        }
        at = n->left + right;
    }
    return at;
}

struct walk {
    struct parts parts;
    const float *x;
    float *out;
    size_t rows, cols;
};

static bool has_missing(const float *x, size_t n)
{
    unsigned is = 0;
    for (size_t i = 0; i < n; i++)
        is |= x[i] != x[i];
    return is;
}

static void walk_task(void *arg, size_t task)
{
    const struct walk *w = arg;
    const struct packed *h = w->parts.head;
    size_t from = task * ROWS_PER_TASK, rows = w->rows - from < ROWS_PER_TASK ? w->rows - from : ROWS_PER_TASK;
    const float *x = w->x + from * w->cols;
    float *out = w->out + from * h->outputs;
    bool missing = has_missing(x, rows * w->cols);
    memset(out, 0, rows * h->outputs * sizeof *out);
    for (size_t t = 0; t < h->trees; t++) {
        const struct root *root = &w->parts.roots[t];
        size_t r = 0;
        for (; !root->has_sets && r + LANES <= rows; r += LANES) {
            uint32_t at[LANES];
            for (size_t i = 0; i < LANES; i++)
                at[i] = root->first;
            (missing ? walk_missing : walk_plain)(w->parts.nodes, root->steps, x + r * w->cols, w->cols, at);
            for (size_t i = 0; i < LANES; i++)
                out[(r + i) * h->outputs + root->output] += w->parts.values[at[i]];
        }
        for (; r < rows; r++)
            out[r * h->outputs + root->output] += w->parts.values[walk_one(&w->parts, root, x + r * w->cols)];
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < h->outputs; k++)
            out[r * h->outputs + k] += w->parts.base[k];
}

void kernel_trees(struct backend_ctx *c, const struct op_call *o)
{
    struct mat x = mat_of(o->in[0]), out = mat_of(o->out[0]);
    const struct packed *h = o->in[1]->ptr;
    ASSERT(x.stride == x.cols && out.stride == out.cols && out.cols == h->outputs && out.rows == x.rows);
    struct walk w = { parts_of(o->in[1]->ptr, h), x.ptr, out.ptr, x.rows, x.cols };
    cpu_split(c, (x.rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, (double)x.rows * (double)h->trees * 32, walk_task, &w);
}
