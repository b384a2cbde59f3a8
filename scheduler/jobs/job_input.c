/* SPDX-License-Identifier: Apache-2.0 */
/* job_input.c - one short transaction for each input that is looked up; the judge of residency is asked at each. */
#include "scheduler/jobs/job_input.h"
#include "core/db/run_tx.h"
#include "core/wire/job_type.h"
#include "registry/catalog/model.h"
#include "registry/vault/object.h"
#include "scheduler/jobs/job_output.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"

static enum errc read_model(struct work *w, struct uuid model_id, int64_t version, struct job_found *ret, struct err *e)
{
    struct model_version v;
    struct object o;
    TRY(model_version_get(w, model_id, version, &v, e));
    TRY(object_get(w, v.object_id, &o, e));
    *ret = (struct job_found){ v.object_id, o.zone, o.data_class, v.name, job_engine_of(v.engine), v.version };
    return ERR_OK;
}

static enum errc read_output(struct work *w, struct uuid job_id, struct str output, struct job_found *ret, struct err *e)
{
    struct job_output o;
    TRY(job_output_get(w, job_id, output, &o, e));
    *ret = (struct job_found){ .object_id = o.object_id, .zone = o.zone, .data_class = o.data_class };
    return ERR_OK;
}

enum errc job_input_model(struct work *w, struct uuid model_id, int64_t version, struct job_found *ret, struct err *e)
{
    return RUN_READ(w, read_model(w, model_id, version, ret, e), e);
}

enum errc job_input_output(struct work *w, struct uuid job_id, struct str output, struct job_found *ret, struct err *e)
{
    return RUN_READ(w, read_output(w, job_id, output, ret, e), e);
}

enum errc job_input_place(struct work *w, struct job *j, struct str zone, struct str data_class, struct err *e)
{
    struct residency_question q = { .data_class = data_class_of(data_class), .zone = zone,
                                    .purpose = str_c(job_types[j->kind].purpose) };
    if (j->zone.ptr && !str_eq(j->zone, zone))
        return FAIL(e, RESIDENCY, "It lies in zone %.*s; the job and all of its inputs are in one zone, %.*s", STR_ARG(zone),
                    STR_ARG(j->zone));
    TRY(residency_check(w, RACT_SUBMIT, &q, false, NULL, e));
    j->zone = zone;
    return ERR_OK;
}

static enum errc join_class(struct job *j, struct str data_class, struct err *e)
{
    int own = j->data_class.ptr ? data_class_of(j->data_class) : -1, more = data_class_of(data_class);
    if (own >= DC_HEALTH && more >= DC_HEALTH && own != more)
        return FAIL(e, UNPROCESSABLE, "Data of the classes %s and %s is not read by one job", data_class_names[own],
                    data_class_names[more]);
    if (more > own)
        j->data_class = data_class;
    return ERR_OK;
}

enum errc job_input_join(struct work *w, struct job *j, const struct job_found *f, struct err *e)
{
    TRY(job_input_place(w, j, f->zone, f->data_class, e));
    return join_class(j, f->data_class, e);
}

enum errc job_spec_fault(struct work *w, struct err *e)
{
    const char *at = arena_printf(w->arena, "/spec%s", e->field);
    err_field(e, "%s", at);
    return e->code;
}
