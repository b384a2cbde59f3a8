/* SPDX-License-Identifier: Apache-2.0 */
/* type_batch.c - a batch before it is stored: the versions of the model and the data set, fixed; zone and class of both together.
 * A request that stands in the spec is no input: it has the class of the model. */
#include "core/base/cleanup.h"
#include "core/data/data_format.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_batch.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_input.h"
#include "scheduler/jobs/job_prepare.h"

enum { SPEC_MAX = 65536 };

static enum errc at(struct err *e, const char *pointer)
{
    if (!e->field[0])
        err_field(e, "%s", pointer);
    return e->code;
}

static enum errc take(struct work *w, struct job_submission *s, struct str name, const struct job_found *f, struct err *e)
{
    struct job_input *all = ARENA_ARRAY(w->arena, struct job_input, s->inputs.n + 1);
    TRY(job_input_join(w, &s->job, f, e));
    for (size_t i = 0; i < s->inputs.n; i++)
        all[i] = ((const struct job_input *)s->inputs.items)[i];
    all[s->inputs.n] = (struct job_input){ name, f->object_id };
    s->inputs = (struct slice){ all, s->inputs.n + 1 };
    return ERR_OK;
}

static enum errc take_model(struct work *w, struct job_submission *s, struct batch_job *t, struct err *e)
{
    struct job_found f;
    enum errc rc = job_input_model(w, t->model_id, t->model_version, &f, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL_AT(e, NOT_FOUND, "/spec/model_id", "There is no such model, or no such version");
    TRY(rc);
    t->model_version = f.version;
    t->model_name = f.name;
    s->job.engine = f.engine;
    return take(w, s, STR("model"), &f, e);
}

static enum errc take_dataset(struct work *w, struct job_submission *s, struct batch_job *t, struct err *e)
{
    struct job_dataset d = { 0 };
    TRY(job_dataset_find(w, &s->job, t->dataset_id, t->dataset_version, JOB_DATA_ANY, &d, e));
    if (!data_formats[d.format].is_table)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/dataset_id", "A batch reads tables; this version has the format %s",
                       data_format_names[d.format]);
    t->dataset_version = d.version;
    t->set = d.set;
    t->classes = d.target == TARGET_CLASS ? d.classes : 0;
    const struct job_found f = { .object_id = d.object_id, .zone = d.zone, .data_class = d.data_class, .version = d.version };
    return take(w, s, STR("dataset"), &f, e);
}

static enum errc take_output(struct work *w, struct job_submission *s, const struct batch_job *t, struct err *e)
{
    struct uuid job;
    struct str output;
    struct job_found f;
    if (!batch_from(t->request_from, &job, &output))
        return FAIL(e, INVALID, "must be job_ID/OUTPUT");
    TRY(job_input_output(w, job, output, &f, e));
    return take(w, s, STR("request"), &f, e);
}

enum errc job_prepare_batch(struct work *w, struct job_submission *s, struct err *e)
{
    struct batch_job *t = ARENA_NEW(w->arena, struct batch_job);
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    TRY(json_decode(&batch_job_schema, s->job.spec.text, w->arena, t, e));
    if (batch_job_settle(t, e) != ERR_OK)
        return job_spec_fault(w, e);
    if (take_model(w, s, t, e) != ERR_OK)
        return at(e, "/spec/model_id");
    if (!uuid_is_nil(t->dataset_id) && take_dataset(w, s, t, e) != ERR_OK)
        return at(e, "/spec/dataset_id");
    if (t->request_from.len && take_output(w, s, t, e) != ERR_OK)
        return at(e, "/spec/request_from");
    json_encode(&batch_job_schema, t, &b);
    if (b.overflow)
        return FAIL_AT(e, INVALID, "/spec", "The spec is too long");
    s->job.spec.text = str_dup(w->arena, buf_str(&b));
    return ERR_OK;
}
