/* SPDX-License-Identifier: Apache-2.0 */
/* type_optimise.c - an optimisation in the child: a model and a table in, a smaller model and its report out.
 *
 * The report goes to the log and to the job's figures before it is judged: a job whose accuracy fell too far gives it, too. */
#include "workers/lease/child.h"

#include "core/base/cleanup.h"
#include "core/data/data_format.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/job_result.h"
#include "core/wire/type_optimise.h"
#include "workers/compute/optimise/optimise.h"
#include "workers/lease/work_type.h"

enum { RESULT_MAX = 8192 };

static enum errc open_named(struct child *c, const char *name, struct buf *ret, struct err *e)
{
    for (size_t i = 0; i < c->n_inputs; i++)
        if (str_eq_c(c->inputs[i].about.name, name))
            return child_open_input(c, i, ret, e);
    return FAIL(e, INVALID, "an optimise job needs its %s as input", name);
}

static enum errc read_table(struct child *c, const struct optimise_job *job, struct data_table *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf text = BUF(0);
    const struct data_schema schema = spec_dataset_schema(&job->set);
    if (!data_formats[job->format].read)
        return FAIL(e, INVALID, "an optimise job reads tables, not %s", data_format_names[job->format]);
    TRY(open_named(c, "dataset", &text, e));
    enum errc rc = data_formats[job->format].read(c->arena, buf_str(&text), &schema, ret, e);
    secret_wipe(text.ptr, text.len);
    return rc;
}

static void tell(const struct child *c, const struct optimise_figures *f)
{
    CLEANUP(buf_releasep) struct buf json = BUF(RESULT_MAX);
    child_log(c, "info: accuracy %.4f before, %.4f after, on %ld rows; both say the same of %.4f of them", f->accuracy_before,
              f->accuracy_after, (long)f->evaluation_rows, f->agreement);
    child_log(c, "info: file %ld bytes before, %ld after; in memory %ld and %ld", (long)f->model_bytes_before,
              (long)f->model_bytes, (long)f->memory_before, (long)f->memory_bytes);
    child_log(c, "info: a single row takes %.1f us before, %.1f us after; %ld products and convolutions changed",
              f->latency_us_before, f->latency_us_after, (long)f->changed);
    json_encode(&optimise_figures_schema, f, &json);
    child_metric(c, 1, buf_str(&json));
}

static enum errc optimise(struct child *c, const struct optimise_job *job, struct buf *file, struct optimise_figures *ret,
                          struct err *e)
{
    struct data_table table = { 0 };
    struct optimise_report r;
    CLEANUP(buf_releasep) struct buf model = BUF(0);
    TRY(read_table(c, job, &table, e));
    TRY(open_named(c, "model", &model, e));
    child_log(c, "info: opened: a model of %zu bytes, %zu rows of %zu columns", model.len, table.rows, table.cols);
    const struct optimise_task task = {
        .backend = c->backend, .pool = c->pool, .model = buf_str(&model), .table = &table,
        .precision = (enum optimise_precision)job->precision, .rule = (enum range_rule)job->calibration,
        .percentile = job->percentile, .calibration_rows = (size_t)job->calibration_rows,
        .parent = str_fmt(c->arena, "%.*s@%ld", STR_ARG(id_text(c->arena, "mdl", job->model_id)), (long)job->model_version),
    };
    TRY(optimise_run(c->arena, &task, file, &r, e));
    *ret = (struct optimise_figures){
        r.accuracy_before, r.accuracy_after, r.accuracy_before - r.accuracy_after, r.agreement, r.latency_us_before,
        r.latency_us_after, (int64_t)r.bytes_before, (int64_t)r.bytes_after, (int64_t)r.memory_before, (int64_t)r.memory_after,
        (int64_t)r.calibration_rows, (int64_t)r.evaluation_rows, (int64_t)r.changed, 0, str_c(c->backend->name), task.parent,
    };
    return ERR_OK;
}

static enum errc run(struct child *c, struct err *e)
{
    struct optimise_job job = { 0 };
    struct optimise_figures figures;
    int64_t began = clock_mono_us(&clock_system);
    TRY(json_decode(&optimise_job_schema, c->grant.lease.spec.text, c->arena, &job, e));
    CLEANUP(buf_releasep) struct buf file = BUF(LEASE_OUTPUT_MAX);
    CLEANUP(buf_releasep) struct buf json = BUF(RESULT_MAX);
    TRY(optimise(c, &job, &file, &figures, e));
    figures.seconds = (double)(clock_mono_us(&clock_system) - began) / 1e6;
    tell(c, &figures);
    if (figures.accuracy_drop > job.max_accuracy_drop)
        return FAIL(e, UNPROCESSABLE, "accuracy fell from %.4f to %.4f, by %.4f; max_accuracy_drop allows %.4f",
                    figures.accuracy_before, figures.accuracy_after, figures.accuracy_drop, job.max_accuracy_drop);
    json_encode(&optimise_figures_schema, &figures, &json);
    return child_deliver(c, buf_str(&file), buf_str(&json), e);
}

const struct work_type work_type_optimise = { .run = run };
