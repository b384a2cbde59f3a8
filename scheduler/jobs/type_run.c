/* SPDX-License-Identifier: Apache-2.0 */
/* type_run.c - a program before it is stored: what each of its inputs is by now, with versions fixed in the spec.
 *
 * All inputs lie in one zone, which becomes the job's, and each is judged for itself. What comes out takes the strictest class
 * of what
 * went in; classes that laws of their own bind (health, banking, gov) are not mixed, as no class is under two of these laws. */
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_run.h"
#include "registry/catalog/model.h"
#include "registry/vault/object.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_output.h"
#include "scheduler/jobs/job_prepare.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"

enum { SPEC_MAX = 65536 };

struct found {
    struct uuid object_id;
    struct str zone, data_class;
    int64_t version;
};

static enum errc find_model(struct work *w, const struct run_input *in, struct found *ret, struct err *e)
{
    struct model_version v;
    struct object o;
    TRY(model_version_get(w, in->id, in->version, &v, e));
    TRY(object_get(w, v.object_id, &o, e));
    *ret = (struct found){ v.object_id, o.zone, o.data_class, v.version };
    return ERR_OK;
}

static enum errc find_output(struct work *w, const struct run_input *in, struct found *ret, struct err *e)
{
    struct job_output o;
    TRY(job_output_get(w, in->id, in->output, &o, e));
    *ret = (struct found){ o.object_id, o.zone, o.data_class, 0 };
    return ERR_OK;
}

static enum errc find(struct work *w, const struct job *j, const struct run_input *in, struct found *ret, struct err *e)
{
    struct job_dataset d = { 0 };
    if (in->from == RUN_MODEL)
        return RUN_READ(w, find_model(w, in, ret, e), e);
    if (in->from == RUN_JOB)
        return RUN_READ(w, find_output(w, in, ret, e), e);
    TRY(job_dataset_find(w, j, in->id, in->version, JOB_DATA_ANY, &d, e));
    *ret = (struct found){ d.object_id, d.zone, d.data_class, d.version };
    return ERR_OK;
}

static enum errc check_place(struct work *w, const struct job *j, const struct found *f, struct err *e)
{
    struct residency_question q = { .data_class = data_class_of(f->data_class), .zone = f->zone,
                                    .purpose = str_c(job_types[j->kind].purpose) };
    if (j->zone.ptr && !str_eq(j->zone, f->zone))
        return FAIL(e, RESIDENCY, "It lies in zone %.*s; the job and all of its inputs are in one zone, %.*s", STR_ARG(f->zone),
                    STR_ARG(j->zone));
    return residency_check(w, RACT_SUBMIT, &q, false, NULL, e);
}

static enum errc join_class(struct job *j, struct str data_class, struct err *e)
{
    int own = j->data_class.ptr ? data_class_of(j->data_class) : -1, more = data_class_of(data_class);
    if (own >= DC_HEALTH && more >= DC_HEALTH && own != more)
        return FAIL(e, UNPROCESSABLE, "Data of the classes %s and %s is not read by one program", data_class_names[own],
                    data_class_names[more]);
    if (more > own)
        j->data_class = data_class;
    return ERR_OK;
}

/* One input; its text with the version that it has now. */
static enum errc take(struct work *w, struct job *j, struct str *text, struct job_input *ret, struct err *e)
{
    struct run_input in;
    struct found f;
    if (!run_input(*text, &in))
        return FAIL(e, INVALID, "must be an input");
    TRY(find(w, j, &in, &f, e));
    TRY(check_place(w, j, &f, e));
    TRY(join_class(j, f.data_class, e));
    j->zone = f.zone;
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
    if (run_job_settle(r, e) != ERR_OK) {
        const char *at = arena_printf(w->arena, "/spec%s", e->field);
        err_field(e, "%s", at);
        return e->code;
    }
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
