/* SPDX-License-Identifier: Apache-2.0 */
/* type_batch.c - a batch in the child: a model and a table in, a table of its answers out; or one request in, its answer out.
 *
 * The result is sealed block by block while it is computed (child_place.h). Its rows so far are kept as checkpoints
 * (batch_keep.h), also when it is told to stop, between two blocks; the next attempt begins its result with them. A request is
 * read and answered by what reads and answers it online (infer_read_int.h), and is computed anew. */
#include "workers/lease/child.h"

#include "core/base/cleanup.h"
#include "core/data/data_format.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/job_result.h"
#include "core/wire/type_batch.h"
#include "workers/lease/batch_keep.h"
#include "workers/lease/batch_table.h"
#include "workers/lease/child_engine.h"
#include "workers/lease/child_place.h"
#include "workers/lease/infer_read_int.h"
#include "workers/lease/plain.h"
#include "workers/lease/work_type.h"

enum { RESULT_MAX = 4096, PROGRESS_US = 1000000 };
static const size_t BLOCK_MAX = (size_t)512 << 20;

struct batch {
    struct child *c;
    struct batch_job job;
    struct infer_model *model;
    struct batch_figures figures;
    struct batch_keep *keep;
    size_t kept_rows;                       /* of an earlier attempt */
    int64_t began_us, told_us;
};

static enum errc find_named(const struct child *c, const char *name, size_t *ret, struct err *e)
{
    for (size_t i = 0; i < c->n_inputs; i++)
        if (str_eq_c(c->inputs[i].about.name, name)) {
            *ret = i;
            return ERR_OK;
        }
    return FAIL(e, INVALID, "a batch needs its %s as input", name);
}

static enum errc open_named(struct child *c, const char *name, struct buf *ret, struct err *e)
{
    size_t i;
    TRY(find_named(c, name, &i, e));
    return child_open_input(c, i, ret, e);
}

static enum errc load_model(struct batch *b, struct err *e)
{
    size_t i;
    struct plain file;
    TRY(find_named(b->c, "model", &i, e));
    enum errc rc = plain_open(b->c, i, &file, e);
    if (rc == ERR_OK)
        rc = infer_model_load_from(b->c->backend, b->c->pool, file.bytes.ptr, file.bytes.len,
                                   &(struct infer_load){ &file.once, (size_t)(b->c->grant.memory_bytes / 16 * 15),
                                                         child_engine_door(b->c) }, &b->model, e);
    plain_close(&file);
    return rc;
}

static enum errc read_table(struct batch *b, struct data_table *ret, struct err *e)
{
    const struct batch_job *j = &b->job;
    struct slice names = { 0 };
    CLEANUP(buf_releasep) struct buf text = BUF(0);
    if (!data_formats[j->format].read)
        return FAIL(e, INVALID, "a batch reads tables, not %s", data_format_names[j->format]);
    if (j->format == DATA_CSV && !j->category_columns.n)
        TRY(batch_table_names(b->c->arena, b->model, &names, e));
    struct data_schema schema = spec_dataset_schema(&j->set);
    schema.features = names.items;
    schema.feature_count = names.n;
    TRY(open_named(b->c, "dataset", &text, e));
    enum errc rc = data_formats[j->format].read(b->c->arena, buf_str(&text), &schema, ret, e);
    secret_wipe(text.ptr, text.len);
    return rc;
}

/* A point of the metrics at most once a second, and at the end. */
static void tell_progress(struct batch *b, size_t done, size_t rows)
{
    int64_t now = clock_mono_us(&clock_system), took = now - b->began_us;
    CLEANUP(buf_releasep) struct buf json = BUF(RESULT_MAX);
    if (done < rows && now < b->told_us + PROGRESS_US)
        return;
    b->told_us = now;
    const struct batch_progress p = { (int64_t)done, (int64_t)rows,
                                      took > 0 ? (double)(done - b->kept_rows) * 1e6 / (double)took : 0 };
    json_encode(&batch_progress_schema, &p, &json);
    child_metric(b->c, (int64_t)done, buf_str(&json));
}

/* What the result begins with: its head, or what an earlier attempt had done. */
static enum errc begin_text(struct batch *b, struct batch_table *t, struct buf *out, struct child_place *p, struct err *e)
{
    struct batch_kept kept;
    TRY(batch_keep_restore(b->keep, t->table->rows, &kept, e));
    b->began_us = clock_mono_us(&clock_system);
    if (kept.rows) {
        t->done = b->kept_rows = kept.rows;
        t->right = kept.right;
        child_log(b->c, "info: %zu of %zu rows were done before, resumed", kept.rows, t->table->rows);
        struct str text = batch_keep_text(b->keep);
        return child_place_add(p, text.ptr, text.len, e);
    }
    batch_table_head(t, out);
    return ERR_OK;
}

static enum errc pour_rows(struct batch *b, struct batch_table *t, struct child_place *p, struct err *e)
{
    CLEANUP(buf_releasep) struct buf out = BUF(BLOCK_MAX);
    TRY(begin_text(b, t, &out, p, e));
    while (t->done < t->table->rows) {
        if (*b->c->stop) {
            batch_keep_last(b->keep, (struct batch_kept){ t->done, t->right });
            return FAIL(e, RETRY, "told to stop");
        }
        TRY(batch_table_rows(t, &out, e));
        TRY(child_place_add(p, out.ptr, out.len, e));
        batch_keep_add(b->keep, buf_str(&out));
        buf_clear(&out);
        batch_keep_look(b->keep, (struct batch_kept){ t->done, t->right });
        tell_progress(b, t->done, t->table->rows);
    }
    return ERR_OK;
}

static enum errc give_table(struct batch *b, struct batch_table *t, struct err *e)
{
    struct child_place p;
    enum errc rc = child_place_open(b->c, STR("result"), &p, e);
    if (rc == ERR_OK)
        rc = pour_rows(b, t, &p, e);
    b->figures.result_bytes = p.bytes;
    if (rc == ERR_OK)
        return child_place_close(&p, e);
    child_place_drop(&p);
    return rc;
}

static enum errc run_table(struct batch *b, struct err *e)
{
    struct data_table table = { 0 };
    struct batch_table *t = NULL;
    TRY(read_table(b, &table, e));
    child_log(b->c, "info: opened: %zu rows of %zu columns", table.rows, table.cols);
    enum errc rc = batch_table_new(b->c->arena, b->model, &table, b->job.keep, b->job.result, b->c->hw.cores,
                                   b->job.target == TARGET_CLASS, b->job.max_call_seconds * 1000000, &t, e);
    if (rc == ERR_OK)
        rc = batch_keep_new(b->c, &b->keep, e);
    if (rc == ERR_OK)
        rc = give_table(b, t, e);
    batch_keep_freep(&b->keep);
    if (rc == ERR_OK) {
        b->figures.rows = (int64_t)t->done;
        b->figures.columns = (int64_t)t->columns;
        b->figures.has_accuracy = t->has_labels;
        b->figures.accuracy = (double)t->right / (double)t->done;
    }
    batch_table_free(t);
    return rc;
}

static enum errc read_request(struct batch *b, struct buf *room, struct infer_call *call, struct err *e)
{
    struct str body = b->job.request, length = STR_NULL;
    if (b->job.request_from.len) {
        TRY(open_named(b->c, "request", room, e));
        body = buf_str(room);
    }
    if (b->job.request_json_bytes)
        length = str_fmt(b->c->arena, "%ld", (long)b->job.request_json_bytes);
    *call = (struct infer_call){ .model = b->model, .sig = &infer_model_info(b->model)->sig, .arena = b->c->arena,
                                 .name = b->job.model_name, .version = b->job.model_version };
    return infer_read(call, length, body, e);
}

static enum errc give_text(struct batch *b, struct str text, struct err *e)
{
    struct child_place p;
    enum errc rc = child_place_open(b->c, STR("result"), &p, e);
    if (rc == ERR_OK)
        rc = child_place_add(&p, text.ptr, text.len, e);
    b->figures.result_bytes = p.bytes;
    if (rc == ERR_OK)
        return child_place_close(&p, e);
    child_place_drop(&p);
    return rc;
}

static enum errc run_request(struct batch *b, struct err *e)
{
    struct batcher *one = NULL;
    const struct batcher_options o = { .threads = 1, .engine_us = b->job.max_call_seconds * 1000000 };
    struct infer_call call;
    size_t json;
    CLEANUP(buf_releasep) struct buf body = BUF(0), answer = BUF(BLOCK_MAX);
    TRY(read_request(b, &body, &call, e));
    struct infer_request r = { .io = call.io, .rows = call.rows };
    TRY(batcher_new(b->model, &o, &one, e));
    enum errc rc = batcher_infer(one, &r, e);
    batcher_free(one);
    if (rc == ERR_DEADLINE)             /* a further attempt would end so, too */
        return FAIL(e, UNPROCESSABLE, "%s (max_call_seconds: %ld)", r.why, (long)b->job.max_call_seconds);
    TRY(rc);
    TRY(infer_answer(&call, &answer, &json, e));
    b->figures.rows = (int64_t)call.rows;
    b->figures.json_bytes = (int64_t)(json ? json : answer.len);
    tell_progress(b, call.rows, call.rows);
    return give_text(b, buf_str(&answer), e);
}

static enum errc say_end(struct batch *b, struct err *e)
{
    double seconds = (double)(clock_mono_us(&clock_system) - b->began_us) / 1e6;
    CLEANUP(buf_releasep) struct buf json = BUF(RESULT_MAX);
    b->figures.seconds = seconds;
    b->figures.rows_per_second = seconds > 0 ? (double)(b->figures.rows - (int64_t)b->kept_rows) / seconds : 0;
    b->figures.backend = str_c(b->c->backend->name);
    child_log(b->c, "info: %ld rows in %.3f s; the result has %ld bytes", (long)b->figures.rows, seconds,
              (long)b->figures.result_bytes);
    json_encode(&batch_figures_schema, &b->figures, &json);
    return frame_send(FRAME_FD, FRAME_ENDED, STR_NULL, buf_str(&json), NULL, 0, true, e);
}

static enum errc run(struct child *c, struct err *e)
{
    struct batch b = { .c = c, .began_us = clock_mono_us(&clock_system) };
    TRY(json_decode(&batch_job_schema, c->grant.lease.spec.text, c->arena, &b.job, e));
    TRY(load_model(&b, e));
    const struct infer_info *info = infer_model_info(b.model);
    CLEANUP(buf_releasep) struct buf sig = BUF(1000);
    (void)(sig_print(&sig, info->sig.inputs, info->sig.input_count) && buf_add_c(&sig, " -> ")
           && sig_print(&sig, info->sig.outputs, info->sig.output_count));
    child_log(c, "info: model %.*s version %ld: %.*s, backend %s", STR_ARG(b.job.model_name), (long)b.job.model_version,
              STR_ARG(buf_str(&sig)), c->backend->name);
    enum errc rc = uuid_is_nil(b.job.dataset_id) ? run_request(&b, e) : run_table(&b, e);
    if (rc == ERR_OK)
        rc = say_end(&b, e);
    infer_model_free(b.model);
    return rc;
}

const struct work_type work_type_batch = { .run = run, .takes_engine = true, .keeps_checkpoint = true };
