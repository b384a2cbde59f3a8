/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_model.c - trees in three growing lists; a tree's sets are numbered anew when it is added. */
#include "workers/compute/train/gbdt_model.h"
#include "core/base/cleanup.h"
#include "workers/compute/infer/graph_file.h"
#include "workers/compute/kernels/nd.h"
#include "workers/compute/pool.h"

#include <math.h>
#include <string.h>

enum { ROWS_PER_TASK = 1024 };

enum errc gbdt_model_new(struct arena *a, const struct gbdt_loss *l, struct gbdt_model *ret, struct err *e)
{
    bool is_two = l->data->shape.goal == NET_CLASSES && !l->is_softmax;
    struct gbdt_model m = { .scores = l->scores, .outputs = l->scores + is_two, .first_output = is_two,
                            .nodes = BUF(MODEL_BYTES_MAX), .roots = BUF(MODEL_BYTES_MAX), .sets = BUF(MODEL_BYTES_MAX) };
    m.base = arena_try(a, m.outputs * sizeof *m.base);
    if (!m.base)
        return FAIL(e, LIMIT, "the model does not fit in the memory of this job");
    m.base[0] = 0;
    memcpy(m.base + m.first_output, l->base, l->scores * sizeof *m.base);
    *ret = m;
    return ERR_OK;
}

void gbdt_model_release(struct gbdt_model *m)
{
    buf_release(&m->nodes);
    buf_release(&m->roots);
    buf_release(&m->sets);
}

enum errc gbdt_model_add(struct gbdt_model *m, const struct gbdt_tree *t, size_t score, struct err *e)
{
    float root[TREE_ROOT_FIELDS] = { (float)m->node_count, (float)(m->first_output + score) };
    for (size_t i = 0; i < t->node_count; i++)
        if (t->nodes[i * TREE_FIELDS + TREE_SET] >= 0)
            t->nodes[i * TREE_FIELDS + TREE_SET] += (float)m->set_count;
    if (m->node_count + t->node_count > TREE_NODES_MAX
        || !buf_add(&m->nodes, t->nodes, t->node_count * TREE_FIELDS * sizeof *t->nodes)
        || !buf_add(&m->roots, root, sizeof root)
        || !buf_add(&m->sets, t->sets, t->set_count * TREE_SET_NUMBERS * sizeof *t->sets))
        return FAIL(e, LIMIT, "the model has grown beyond %d bytes or %d nodes after %zu trees; fewer trees or leaves fit",
                    MODEL_BYTES_MAX, TREE_NODES_MAX, m->tree_count);
    m->node_count += t->node_count;
    m->set_count += t->set_count;
    m->tree_count++;
    return ERR_OK;
}

static const float *nodes_of(const struct gbdt_model *m)
{
    return (const float *)(const void *)m->nodes.ptr;
}

static const float *roots_of(const struct gbdt_model *m)
{
    return (const float *)(const void *)m->roots.ptr;
}

static const float *sets_of(const struct gbdt_model *m)
{
    return (const float *)(const void *)m->sets.ptr;
}

void gbdt_model_cut(struct gbdt_model *m, size_t trees)
{
    if (trees >= m->tree_count)
        return;
    const float *nodes = nodes_of(m);
    m->node_count = (size_t)roots_of(m)[trees * TREE_ROOT_FIELDS];
    m->tree_count = trees;
    m->set_count = 0;
    for (size_t i = 0; i < m->node_count; i++)
        if (nodes[i * TREE_FIELDS + TREE_SET] >= 0)
            m->set_count = (size_t)nodes[i * TREE_FIELDS + TREE_SET] + 1;      /* they ascend */
    m->nodes.len = m->node_count * TREE_FIELDS * sizeof(float);
    m->roots.len = trees * TREE_ROOT_FIELDS * sizeof(float);
    m->sets.len = m->set_count * TREE_SET_NUMBERS * sizeof(float);
}

struct applying {
    const struct gbdt_model *m;
    struct gbdt_loss *l;
    const uint32_t *rows;
    size_t n, from, end;
};

static void apply_task(void *arg, size_t task)
{
    const struct applying *p = arg;
    const struct data_table *t = &p->l->data->table;
    size_t from = task * ROWS_PER_TASK, end = p->n - from < ROWS_PER_TASK ? p->n : from + ROWS_PER_TASK;
    for (size_t tree = p->from; tree < p->end; tree++) {
        const float *root = roots_of(p->m) + tree * TREE_ROOT_FIELDS;
        const float *nodes = nodes_of(p->m) + (size_t)root[0] * TREE_FIELDS;
        float *score = p->l->score + ((size_t)root[1] - p->m->first_output) * p->l->rows;
        for (size_t i = from; i < end; i++)
            score[p->rows[i]] += tree_leaf(nodes, sets_of(p->m), t->x + p->rows[i] * t->cols);
    }
}

void gbdt_model_apply(const struct gbdt_model *m, struct gbdt_loss *l, const uint32_t *rows, size_t n, size_t from, size_t end)
{
    struct applying p = { m, l, rows, n, from, end };
    pool_run(l->pool, (n + ROWS_PER_TASK - 1) / ROWS_PER_TASK, apply_task, &p);
}

void gbdt_model_importance(const struct gbdt_model *m, size_t cols, double *ret)
{
    double all = 0;
    memset(ret, 0, cols * sizeof *ret);
    for (size_t i = 0; i < m->node_count; i++) {
        const float *n = nodes_of(m) + i * TREE_FIELDS;
        if (n[TREE_COLUMN] < 0)
            continue;
        ret[(size_t)n[TREE_COLUMN]] += (double)n[TREE_GAIN];
        all += (double)n[TREE_GAIN];
    }
    for (size_t c = 0; c < cols && all > 0; c++)
        ret[c] /= all;
}

/* --- the file --- */

static struct st_tensor tensor(const char *name, size_t rows, size_t cols, const void *data)
{
    return (struct st_tensor){ .name = str_c(name), .dtype = ST_F32, .rank = cols ? 2 : 1, .shape = { rows, cols }, .data = data,
                               .size_bytes = rows * (cols ? cols : 1) * sizeof(float) };
}

static size_t tensors_of(const struct gbdt_model *m, struct st_tensor t[4])
{
    t[0] = tensor("trees.nodes", m->node_count, TREE_FIELDS, m->nodes.ptr);
    t[1] = tensor("trees.roots", m->tree_count, TREE_ROOT_FIELDS, m->roots.ptr);
    t[2] = tensor("trees.base", m->outputs, 0, (const void *)m->base);
    t[3] = tensor("trees.sets", m->set_count, TREE_SET_NUMBERS, m->sets.ptr);
    return m->set_count ? 4 : 3;
}

static int constant(struct arena *a, struct graph *g, const struct st_tensor *t)
{
    struct shape s = { .type = ELEM_F32, .rank = t->rank };
    for (unsigned d = 0; d < t->rank; d++)
        s.dim[d] = DIM(t->shape[d]);
    return graph_const(g, arena_strndup(a, t->name.ptr, t->name.len), s, t->data);
}

/* Classes: how likely each is, and the likeliest. A number as it is, flags as how likely each is. */
static void answer(struct graph *g, int y, const struct train_data *d, int64_t outputs, struct model_sig *sig)
{
    const struct op_attr sigmoid = { .fn = UNARY_SIGMOID };
    bool is_class = d->shape.goal == NET_CLASSES, is_number = d->shape.goal == NET_REGRESSION;
    int likely = is_class ? graph_op1(g, OP_SOFTMAX, y) : is_number ? y : graph_op(g, OP_UNARY, &sigmoid, &y, 1);
    graph_output(g, likely, is_number ? "value" : "probabilities");
    if (is_class)
        graph_output(g, graph_op1(g, OP_ARGMAX, y), "label");
    *sig = (struct model_sig){ .outputs = { { is_number ? STR("value") : STR("probabilities"), STR("FP32"), 2, { -1, outputs } },
                                            { STR("label"), STR("INT64"), 1, { -1 } } },
                               .output_count = is_class ? 2 : 1 };
    columns_sig(&d->columns, sig);
}

static enum errc graph_pairs(struct arena *a, const struct gbdt_model *m, const struct train_data *d, struct st_pair *ret,
                             struct err *e)
{
    enum { NODES = 16 };
    struct st_tensor t[4];
    struct model_sig *sig = ARENA_NEW(a, struct model_sig);
    struct graph *g = graph_new(ELEM_F32, NODES);
    size_t n = tensors_of(m, t);
    int in[OP_INPUTS_MAX], x = columns_inputs_of(g, &d->columns);
    for (size_t i = 0; i < n; i++)
        in[i] = constant(a, g, &t[i]);
    answer(g, graph_op2(g, OP_TREES, x, graph_op(g, OP_TREES_PACK, &(struct op_attr){ 0 }, in, n)), d, (int64_t)m->outputs, sig);
    enum errc rc = graph_file_pairs(a, g, sig, ret, e);
    graph_free(g);
    return rc;
}

enum errc gbdt_model_write(struct arena *a, struct gbdt_model *m, const struct train_job *s, const struct train_data *d,
                           const struct model_about *about, struct buf *out, struct err *e)
{
    struct st_tensor t[4];
    CLEANUP(buf_releasep) struct buf features = BUF(ST_HEADER_MAX / 2);
    if (!st_write_strings(&features, d->table.names, d->table.cols))
        return FAIL(e, LIMIT, "the names of the columns are too long for a model file");
    struct st_pair meta[16 + COLUMNS_PAIRS_MAX + GRAPH_FILE_PAIRS] = {
        { STR("family"), str_c(job_family_names[s->family]) },
        { STR("format"), STR("pt") },
        { STR("objective"), str_c(job_objective_names[s->objective]) },
        { STR("classes"), str_fmt(a, "%zu", d->shape.outputs) },
        { STR("inputs"), str_fmt(a, "%zu", d->table.cols) },
        { STR("trees"), str_fmt(a, "%zu", m->tree_count) },
        { STR("holdout_accuracy"), isnan(about->holdout_accuracy) ? STR("") : str_fmt(a, "%.6f", about->holdout_accuracy) },
        { STR("seed"), str_fmt(a, "%lld", (long long)about->seed) },
        { STR("dataset"), about->dataset_digest.ptr ? about->dataset_digest : STR("") },
        { STR("features"), buf_str(&features) },
        { STR("falaj"), STR(FALAJ_VERSION) },
    };
    size_t count = 0, more;
    while (meta[count].key.ptr)
        count++;
    TRY(columns_pairs(a, &d->columns, meta + count, &more, e));
    count += more;
    TRY(graph_pairs(a, m, d, meta + count, e));
    return st_write(out, t, tensors_of(m, t), meta, count + GRAPH_FILE_PAIRS, e);
}

static enum errc rows_of(const struct st_file *f, const char *name, uint64_t cols, const struct st_tensor **ret, struct err *e)
{
    const struct st_tensor *t = st_find(f, str_c(name));
    if (!t)
        return FAIL(e, BAD_DATA, "the file has no tensor %s", name);
    return st_f32_shape(f, name, t->shape[0], cols, ret, e);
}

enum errc gbdt_model_read(struct gbdt_model *m, const struct st_file *f, size_t cols, struct err *e)
{
    const struct st_tensor *nodes, *roots, *base, *sets = NULL;
    TRY(rows_of(f, "trees.nodes", TREE_FIELDS, &nodes, e));
    TRY(rows_of(f, "trees.roots", TREE_ROOT_FIELDS, &roots, e));
    TRY(st_f32_shape(f, "trees.base", m->outputs, 0, &base, e));
    if (st_find(f, STR("trees.sets")))
        TRY(rows_of(f, "trees.sets", TREE_SET_NUMBERS, &sets, e));
    const struct tree_tensors t = { (const void *)nodes->data, (const void *)roots->data, (const void *)base->data,
                                    sets ? (const void *)sets->data : NULL, nodes->shape[0], roots->shape[0], m->outputs,
                                    sets ? sets->shape[0] : 0 };
    TRY(trees_check(&t, cols, e));
    buf_clear(&m->nodes);               /* of a checkpoint that was refused before this one */
    buf_clear(&m->roots);
    buf_clear(&m->sets);
    if (!buf_add(&m->nodes, nodes->data, nodes->size_bytes) || !buf_add(&m->roots, roots->data, roots->size_bytes)
        || (sets && !buf_add(&m->sets, sets->data, sets->size_bytes)))
        return FAIL(e, LIMIT, "the checkpoint does not fit in memory");
    m->node_count = t.node_count;
    m->tree_count = t.tree_count;
    m->set_count = t.set_count;
    return m->tree_count % m->scores ? FAIL(e, DAMAGED, "the checkpoint ends within a round") : ERR_OK;
}
