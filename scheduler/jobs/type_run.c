/* SPDX-License-Identifier: Apache-2.0 */
/* type_run.c - a program before it is stored: what each of its inputs is by now, with versions fixed in the spec. Zone and class
 * are those of all inputs together (job_input.h). */
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_run.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_input.h"
#include "scheduler/jobs/job_prepare.h"

enum { SPEC_MAX = 65536 };

static enum errc find(struct work *w, const struct job *j, const struct run_input *in, struct job_found *ret, struct err *e)
{
    struct job_dataset d = { 0 };
    if (in->from == RUN_MODEL)
        return job_input_model(w, in->id, in->version, ret, e);
    if (in->from == RUN_JOB)
        return job_input_output(w, in->id, in->output, ret, e);
    TRY(job_dataset_find(w, j, in->id, in->version, JOB_DATA_ANY, &d, e));
    *ret = (struct job_found){ .object_id = d.object_id, .zone = d.zone, .data_class = d.data_class, .version = d.version };
    return ERR_OK;
}

/* One input; its text with the version that it has now. */
static enum errc take(struct work *w, struct job *j, struct str *text, struct job_input *ret, struct err *e)
{
    struct run_input in;
    struct job_found f;
    if (!run_input(*text, &in))
        return FAIL(e, INVALID, "must be an input");
    TRY(find(w, j, &in, &f, e));
    TRY(job_input_join(w, j, &f, e));
    *ret = (struct job_input){ in.name, f.object_id };
    if (in.from == RUN_DATASET)
        *text = str_fmt(w->arena, "%.*s=%.*s@%ld", STR_ARG(in.name), STR_ARG(id_text(w->arena, "dst", in.id)), (long)f.version);
    else if (in.from == RUN_MODEL)
        *text = str_fmt(w->arena, "%.*s=%.*s@%ld", STR_ARG(in.name), STR_ARG(id_text(w->arena, "mdl", in.id)), (long)f.version);
    return ERR_OK;
}

enum errc job_prepare_run(struct work *w, struct job_submission *s, struct err *e)
{
    struct run_job *r = ARENA_NEW(w->arena, struct run_job);
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    TRY(json_decode(&run_job_schema, s->job.spec.text, w->arena, r, e));
    if (run_job_settle(r, e) != ERR_OK)
        return job_spec_fault(w, e);
    struct job_input *inputs = ARENA_ARRAY(w->arena, struct job_input, r->inputs.n + 1);
    for (size_t i = 0; i < r->inputs.n; i++)
        if (take(w, &s->job, (struct str *)r->inputs.items + i, &inputs[i], e) != ERR_OK) {
            err_field(e, "/spec/inputs/%zu", i);
            return e->code;
        }
    s->inputs = (struct slice){ inputs, r->inputs.n };
    json_encode(&run_job_schema, r, &b);
    if (b.overflow)
        return FAIL_AT(e, INVALID, "/spec", "The spec is too long");
    s->job.spec.text = str_dup(w->arena, buf_str(&b));
    return ERR_OK;
}
