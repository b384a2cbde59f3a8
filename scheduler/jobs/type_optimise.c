/* SPDX-License-Identifier: Apache-2.0 */
/* type_optimise.c - an optimisation before it is stored: the model's and the data set's versions, fixed. Both lie in one zone and
 * are of one data class, so that what is made of them has a place and a class without asking. */
#include "core/base/cleanup.h"
#include "core/data/data_format.h"
#include "core/db/run_tx.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_optimise.h"
#include "registry/catalog/model.h"
#include "registry/vault/object.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_prepare.h"

enum { SPEC_MAX = 65536 };

static enum errc find_model(struct work *w, const struct optimise_job *t, struct model_version *ret, struct object *o,
                            struct err *e)
{
    TRY(model_version_get(w, t->model_id, t->model_version, ret, e));
    return object_get(w, ret->object_id, o, e);
}

static enum errc check_pair(const struct object *o, const struct job_dataset *d, struct err *e)
{
    if (!data_formats[d->format].is_table || d->target != TARGET_CLASS)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/dataset_id",
                       "A drop in accuracy is measured on a table whose label is a class; this version is %s, its label %s",
                       data_format_names[d->format], data_target_names[d->target]);
    if (!str_eq(o->data_class, d->data_class))
        return FAIL_AT(e, UNPROCESSABLE, "/spec/dataset_id", "The model is of class %.*s and the data set of %.*s; expected one",
                       STR_ARG(o->data_class), STR_ARG(d->data_class));
    if (str_eq(o->zone, d->zone))
        return ERR_OK;
    FAIL_AT(e, RESIDENCY, "/spec/dataset_id", "The model is in zone %.*s and the data set in %.*s; expected one zone",
            STR_ARG(o->zone), STR_ARG(d->zone));
    return err_note(e, "rule=no_copy act=submit class=%.*s zone=%.*s from=%.*s", STR_ARG(d->data_class), STR_ARG(o->zone),
                    STR_ARG(d->zone));
}

enum errc job_prepare_optimise(struct work *w, struct job_submission *s, struct err *e)
{
    struct optimise_job *t = ARENA_NEW(w->arena, struct optimise_job);
    struct job_input *in = ARENA_ARRAY(w->arena, struct job_input, 2);
    struct model_version v;
    struct object o;
    struct job_dataset d = { 0 };
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    TRY(json_decode(&optimise_job_schema, s->job.spec.text, w->arena, t, e));
    if (RUN_READ(w, find_model(w, t, &v, &o, e), e) != ERR_OK)
        return e->code == ERR_NOT_FOUND ? FAIL_AT(e, NOT_FOUND, "/spec/model_id", "There is no such model, or no such version")
                                        : e->code;
    TRY(job_dataset_find(w, &s->job, t->dataset_id, t->dataset_version, JOB_DATA_ROWS, &d, e));
    TRY(check_pair(&o, &d, e));
    t->model_version = v.version;
    t->dataset_version = d.version;
    t->set = d.set;
    json_encode(&optimise_job_schema, t, &b);
    TRY(job_dataset_read_by(w, s, &d, &b, e));
    in[0] = (struct job_input){ STR("model"), v.object_id };
    in[1] = *(const struct job_input *)s->inputs.items;
    s->inputs = (struct slice){ in, 2 };
    return ERR_OK;
}
