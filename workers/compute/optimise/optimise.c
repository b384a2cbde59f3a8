/* SPDX-License-Identifier: Apache-2.0 */
/* optimise.c - the steps in their order: ranges are seen on one plan of the graph, the graph is changed on another reading of the
 * file, and what was written is loaded again as it will be served. */
#include "workers/compute/optimise/optimise.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "workers/compute/graph/run.h"
#include "workers/compute/infer/graph_file.h"
#include "workers/compute/infer/model_graph.h"
#include "workers/compute/optimise/sites.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 32, ONE_IN = 4, ROUNDS = 7, CALLS_MAX = 200, EVALUATION_MAX = 20000 };
static const int64_t ROUND_US = 5000;

struct bench {
    const struct optimise_task *t;
    struct arena *a;
    struct st_file file;
    struct model_sig *sig;
    size_t step;                /* a row of the table in every `step` calibrates */
    int output;                 /* that gives the class */
    bool is_label;
};

/* --- what the model takes and gives --- */

static enum errc find_output(struct bench *b, struct err *e)
{
    const struct model_sig *s = b->sig;
    int label = sig_find(s->outputs, s->output_count, STR("label"));
    b->is_label = label >= 0 && s->outputs[label].rank == 1 && infer_is_whole(&s->outputs[label]);
    b->output = b->is_label ? label : -1;
    for (size_t i = 0; i < s->output_count && !b->is_label; i++)
        if (s->outputs[i].rank == 2 && sig_has_rows(&s->outputs[i]) && !infer_is_whole(&s->outputs[i])) {
            if (b->output >= 0)
                return FAIL(e, UNPROCESSABLE, "the model has several outputs with numbers for classes, and none named label");
            b->output = (int)i;
        }
    return b->output >= 0 ? ERR_OK : FAIL(e, UNPROCESSABLE, "the model has no output that gives a class");
}

static enum errc check_model(struct bench *b, struct err *e)
{
    const struct sig_tensor *in = b->sig->inputs;
    size_t cols = b->t->table->cols;
    if (b->t->table->target_count || !b->t->table->labels)
        return FAIL(e, UNPROCESSABLE, "the label of the data set is no class; a drop in accuracy is measured on classes");
    if (b->sig->input_count != 1 || !sig_has_rows(in) || infer_is_whole(in) || sig_count(in, 1) != cols)
        return FAIL(e, UNPROCESSABLE, "the model takes other rows than the data set has: expected one input of %zu numbers a row",
                    cols);
    if (b->t->table->rows < 2)
        return FAIL(e, BAD_DATA, "%zu rows are too few to calibrate with some and to judge by others", b->t->table->rows);
    return find_output(b, e);
}

/* --- ranges --- */

static bool is_calibration(const struct bench *b, size_t row)
{
    return row % b->step == 0 && row / b->step < b->t->calibration_rows;
}

struct seen {
    struct run *run;
    const struct plan *plan;
    const struct site *sites;
    size_t count;
    struct range *ranges;
    float *room;
};

static void see_batch(struct seen *s, size_t rows, bool is_second)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct value *v = &s->plan->graph->values[s->sites[i].value];
        size_t n = v->shape.dim[0].is_batched ? rows : 1;
        run_get(s->run, s->sites[i].value, 0, n, s->room);
        (is_second ? range_count : range_see)(&s->ranges[i], s->room, shape_count(&v->shape, rows));
    }
}

static enum errc see_rows(const struct bench *b, struct seen *s, bool is_second, size_t *ret_rows, struct err *e)
{
    const struct data_table *t = b->t->table;
    int input = plan_find(s->plan, b->sig->inputs[0].name.ptr);
    float *x = arena_try(b->a, BATCH * t->cols * sizeof *x);
    size_t n = 0;
    *ret_rows = 0;
    if (!x)
        return FAIL(e, LIMIT, "a batch of %d rows does not fit in the memory of this job", BATCH);
    for (size_t r = 0; r < t->rows; r++) {
        if (is_calibration(b, r))
            memcpy(x + n++ * t->cols, t->x + r * t->cols, t->cols * sizeof *x);
        if (!n || (n < BATCH && r + 1 < t->rows))
            continue;
        run_put(s->run, input, 0, n, x);
        run_exec(s->run, n, PHASE_FORWARD, false);
        TRY(run_sync(s->run, e));
        see_batch(s, n, is_second);
        *ret_rows += n;
        n = 0;
    }
    return ERR_OK;
}

static enum errc see_all(const struct bench *b, struct seen *s, size_t *ret_rows, struct err *e)
{
    size_t most = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t n = shape_count(&s->plan->graph->values[s->sites[i].value].shape, BATCH);
        most = n > most ? n : most;
    }
    s->room = arena_try(b->a, (most + 1) * sizeof *s->room);
    if (!s->room)
        return FAIL(e, LIMIT, "%zu numbers of a batch do not fit in the memory of this job", most);
    TRY(see_rows(b, s, false, ret_rows, e));
    return b->t->rule == RANGE_MINMAX ? ERR_OK : see_rows(b, s, true, ret_rows, e);
}

/* The graph is the plan's from here on. What comes into a site must outlive its reader: it becomes an output. */
static enum errc calibrate(const struct bench *b, struct backend_ctx *c, struct graph *g, const struct site *sites, size_t count,
                           struct range *ranges, size_t *ret_rows, struct err *e)
{
    struct plan *p = NULL;
    struct seen s = { .sites = sites, .count = count, .ranges = ranges };
    for (size_t i = 0; i < count; i++)
        if (!g->values[sites[i].value].is_input && !g->values[sites[i].value].is_output)
            graph_output(g, sites[i].value, str_z(b->a, str_fmt(b->a, "\x01%zu", i)));
    TRY(plan_new(g, b->t->backend, c, &(struct plan_options){ .max_rows = BATCH }, &p, e));
    s.plan = p;
    enum errc rc = run_new(p, c, &s.run, e);
    if (rc == ERR_OK)
        rc = see_all(b, &s, ret_rows, e);
    run_free(s.run);
    plan_free(p);
    return rc;
}

static enum errc ranges_of(const struct bench *b, const struct site *sites, size_t count, struct range *ranges, size_t *ret_rows,
                           struct err *e)
{
    struct backend_ctx *c = NULL;
    struct graph *g;
    struct model_sig *sig = ARENA_NEW(b->a, struct model_sig);
    TRY(model_graph_open(b->a, &b->file, sig, &g, e));
    enum errc rc = b->t->backend->open(b->t->backend, b->t->pool, &c, e);
    if (rc != ERR_OK) {
        graph_free(g);
        return rc;
    }
    rc = calibrate(b, c, g, sites, count, ranges, ret_rows, e);
    b->t->backend->close(c);
    return rc;
}

/* --- the change --- */

static enum errc change(const struct bench *b, struct graph *g, struct optimise_report *ret, struct err *e)
{
    struct site *sites = ARENA_ARRAY(b->a, struct site, g->node_count + 1);
    size_t n = sites_find(g, sites);
    ret->changed = n;
    if (!n)
        return FAIL(e, UNPROCESSABLE, "the model has no product or convolution by constant weights of f32");
    if (b->t->precision == OPTIMISE_BF16)
        return sites_to_bf16(g, b->a, sites, n, e);
    struct range *ranges = arena_try(b->a, n * sizeof *ranges);
    if (!ranges)
        return FAIL(e, LIMIT, "the ranges of %zu values do not fit in the memory of this job", n);
    TRY(ranges_of(b, sites, n, ranges, &ret->calibration_rows, e));
    for (size_t i = 0; i < n; i++) {
        float min, max;
        range_pick(&ranges[i], b->t->rule, b->t->percentile, &min, &max);
        TRY(site_to_bytes(g, b->a, &sites[i], min, max, e));
    }
    return ERR_OK;
}

static enum errc write_changed(const struct bench *b, struct buf *file, struct optimise_report *ret, struct err *e)
{
    CLEANUP(graph_freep) struct graph *g = NULL;
    struct str features = st_meta(&b->file, "features");
    TRY(model_graph_open(b->a, &b->file, b->sig, &g, e));
    TRY(change(b, g, ret, e));
    const struct st_pair meta[] = {
        { STR("source"), STR("a job of ours") },
        { STR("precision"), b->t->precision == OPTIMISE_INT8 ? STR("int8") : STR("bf16") },
        { STR("parent"), b->t->parent },
        { STR("falaj"), STR(FALAJ_VERSION) },
        { STR("features"), features },
    };
    return graph_file_write(b->a, g, b->sig, meta, sizeof meta / sizeof *meta - (features.ptr ? 0 : 1), file, e);
}

/* --- before and after --- */

struct side {
    struct infer_model *model;
    struct infer_session *session;
    struct infer_io io;
    float *out;
    double us[ROUNDS];
};

static void side_release(struct side *s)
{
    infer_session_free(s->session);
    infer_model_free(s->model);
}

static enum errc side_open(const struct bench *b, struct str bytes, struct side *s, struct err *e)
{
    TRY(infer_model_load(b->t->backend, b->t->pool, bytes.ptr, bytes.len, &s->model, e));
    TRY(infer_session_new(s->model, &s->session, e));
    s->out = arena_try(b->a, (sig_count(&b->sig->outputs[b->output], BATCH) + 1) * sizeof *s->out);
    s->io.out[b->output] = s->out;
    return s->out ? ERR_OK : FAIL(e, LIMIT, "a batch of answers does not fit in the memory of this job");
}

static int class_of(const struct bench *b, const struct side *s, size_t row)
{
    if (b->is_label)
        return ((const int32_t *)(const void *)s->out)[row];
    size_t n = sig_count(&b->sig->outputs[b->output], 1), best = 0;
    for (size_t i = 1; i < n; i++)
        best = s->out[row * n + i] > s->out[row * n + best] ? i : best;
    return (int)best;
}

static enum errc judge(const struct bench *b, struct side *two, struct optimise_report *ret, struct err *e)
{
    const struct data_table *t = b->t->table;
    size_t right[2] = { 0 }, same = 0, n = 0, rows[BATCH];
    float *x = arena_try(b->a, BATCH * t->cols * sizeof *x);
    if (!x)
        return FAIL(e, LIMIT, "a batch of %d rows does not fit in the memory of this job", BATCH);
    for (size_t r = 0; r < t->rows && ret->evaluation_rows < EVALUATION_MAX; r++) {
        if (!is_calibration(b, r)) {
            memcpy(x + n * t->cols, t->x + r * t->cols, t->cols * sizeof *x);
            rows[n++] = r;
        }
        if (!n || (n < BATCH && r + 1 < t->rows))
            continue;
        for (int i = 0; i < 2; i++) {
            two[i].io.in[0] = x;
            TRY(infer_run(two[i].session, &two[i].io, n, e));
        }
        for (size_t k = 0; k < n; k++) {
            int class[2] = { class_of(b, &two[0], k), class_of(b, &two[1], k) };
            right[0] += class[0] == t->labels[rows[k]];
            right[1] += class[1] == t->labels[rows[k]];
            same += class[0] == class[1];
        }
        ret->evaluation_rows += n;
        n = 0;
    }
    ret->accuracy_before = (double)right[0] / (double)ret->evaluation_rows;
    ret->accuracy_after = (double)right[1] / (double)ret->evaluation_rows;
    ret->agreement = (double)same / (double)ret->evaluation_rows;
    return ERR_OK;
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* Single rows, both models in turns, so that a moving clock and neighbours hit both alike. */
static enum errc measure(const struct bench *b, struct side *two, struct err *e)
{
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < 2; i++) {
            int64_t from = clock_mono_us(&clock_system), took = 0;
            int calls = 0;
            two[i].io.in[0] = b->t->table->x;
            while (calls < CALLS_MAX && (took < ROUND_US || !calls)) {
                TRY(infer_run(two[i].session, &two[i].io, 1, e));
                calls++;
                took = clock_mono_us(&clock_system) - from;
            }
            two[i].us[r] = (double)took / calls;
        }
    for (int i = 0; i < 2; i++)
        qsort(two[i].us, ROUNDS, sizeof *two[i].us, compare);
    return ERR_OK;
}

enum errc optimise_run(struct arena *a, const struct optimise_task *t, struct buf *file, struct optimise_report *ret,
                       struct err *e)
{
    struct bench b = { .t = t, .a = a, .sig = ARENA_NEW(a, struct model_sig), .step = ONE_IN };
    struct side two[2] = { 0 };
    CLEANUP(graph_freep) struct graph *g = NULL;
    *ret = (struct optimise_report){ .bytes_before = t->model.len };
    TRY(st_parse(a, t->model.ptr, t->model.len, &b.file, e));
    TRY(model_graph_open(a, &b.file, b.sig, &g, e));
    TRY(check_model(&b, e));
    TRY(write_changed(&b, file, ret, e));
    ret->bytes_after = file->len;
    enum errc rc = side_open(&b, t->model, &two[0], e);
    rc = rc == ERR_OK ? side_open(&b, buf_str(file), &two[1], e) : rc;
    rc = rc == ERR_OK ? judge(&b, two, ret, e) : rc;
    rc = rc == ERR_OK ? measure(&b, two, e) : rc;
    if (rc == ERR_OK) {
        ret->latency_us_before = two[0].us[ROUNDS / 2];
        ret->latency_us_after = two[1].us[ROUNDS / 2];
        ret->memory_before = infer_model_bytes(two[0].model);
        ret->memory_after = infer_model_bytes(two[1].model);
    }
    side_release(&two[0]);
    side_release(&two[1]);
    return rc;
}
