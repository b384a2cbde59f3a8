/* SPDX-License-Identifier: Apache-2.0 */
/* submit.c - what a submission needs before it is stored: its inputs, a place where its data may be, and a machine that could ever run
 * it. */
#include "scheduler/jobs/submit.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/job_spec.h"
#include "scheduler/mirror/capacity.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/project.h"

enum { SPEC_MAX = 65536 };

struct version_row {
    int64_t version;
    struct uuid object_id;
    struct str zone, data_class, label_column;
    int64_t classes;
};
SCHEMA_OF(version_row, "A version of a data set", FIELD(version_row, version, 0, .doc = "Version"),
    FIELD(version_row, object_id, 0, .doc = "Its object"), FIELD(version_row, zone, 0, .doc = "Where the object is"),
    FIELD(version_row, data_class, 0, .doc = "Class of the data set"), FIELD(version_row, label_column, 0, .doc = "Column of the label"),
    FIELD(version_row, classes, 0, .doc = "Number of classes"));

static const struct stmt submit_version = { .name = "submit_version", .params = "uuis", .row = &version_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT v.version, o.object_id, o.zone, d.data_class, d.label_column, d.classes\n"
    "  FROM dataset d JOIN dataset_version v ON v.tenant_id = d.tenant_id AND v.dataset_id = d.dataset_id\n"
    "       AND v.version = CASE WHEN $3 = 0 THEN d.latest_version ELSE $3 END\n"
    "  LEFT JOIN transfer x ON x.tenant_id = v.tenant_id AND x.dataset_id = v.dataset_id AND x.version = v.version AND x.to_zone = $4\n"
    "  JOIN object o ON o.tenant_id = v.tenant_id AND o.object_id = coalesce(x.to_object, v.object_id) AND o.state = 'COMMITTED'\n"
    " WHERE d.tenant_id = $1 AND d.dataset_id = $2" };

const struct stmt *const submit_stmts[] = { &submit_version, NULL };

static enum errc find_version(struct work *w, struct uuid tenant, const struct train_job *t, struct str zone, struct version_row *ret, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    bool found = false;
    TRY(db_begin(w->app->pool, SCOPE_PROJECTS(tenant, w->projects.items, w->projects.n), TX_READ_ONLY, w->arena, &tx, e));
    TRY(db_maybe(tx, &submit_version, ARGS(A_UUID(tenant), A_UUID(t->dataset_id), A_I64(t->dataset_version), A_STR(zone)), ret, &found, e));
    TRY(db_commit(tx, e));
    if (found)
        return ERR_OK;
    if (!t->dataset_version)
        return FAIL_AT(e, NOT_FOUND, "/spec/dataset_id", "There is no such data set, or it has no version yet");
    return FAIL_AT(e, NOT_FOUND, "/spec/dataset_version", "There is no version %ld of such a data set", (long)t->dataset_version);
}

/* The copy in the zone that the job names, where one was transferred. Fixes the version in the spec, so that the job says for ever what it read. */
static enum errc fix_train(struct work *w, const struct principal *p, struct job_submission *s, struct err *e)
{
    struct job *j = &s->job;
    struct train_job *t = ARENA_NEW(w->arena, struct train_job);
    struct version_row v = { 0 };
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    TRY(json_decode(&train_job_schema, j->spec.text, w->arena, t, e));
    TRY(find_version(w, p->tenant_id, t, j->zone, &v, e));
    if (j->zone.ptr && !str_eq(j->zone, v.zone))
        return FAIL_AT(e, RESIDENCY, "/zone", "The data set is in zone %.*s and may not be read in %.*s", STR_ARG(v.zone), STR_ARG(j->zone));
    t->dataset_version = v.version;
    t->label_column = v.label_column;
    t->classes = v.classes;
    json_encode(&train_job_schema, t, &b);
    if (b.overflow)
        return FAIL_AT(e, INVALID, "/spec", "The spec is too long");
    j->spec.text = str_dup(w->arena, buf_str(&b));
    j->zone = v.zone;
    j->data_class = v.data_class;
    struct job_input *in = ARENA_NEW(w->arena, struct job_input);
    *in = (struct job_input){ STR("dataset"), v.object_id };
    s->inputs = (struct slice){ in, 1 };
    return ERR_OK;
}

/* In the zone that the job names or its data lies in; a job that says neither needs some zone. */
static enum errc check_place(struct work *w, const struct job *j, bool is_of_data, struct err *e)
{
    const struct residency_facts *f;
    struct residency_question q = { .data_class = data_class_of(j->data_class), .purpose = residency_purpose(str_c(job_kind_names[j->kind])),
                                    .now_us = w->now_us };
    TRY(residency_facts_of(w, &f, e));
    const struct residency_zone *z = f->zones.items;
    q.zone = j->zone.ptr ? j->zone : f->home;
    struct residency_verdict v = residency_allows(f, &q);
    if (v.allowed)
        return ERR_OK;
    for (size_t i = 0; !j->zone.ptr && i < f->zones.n; i++) {
        struct residency_question any = q;
        any.zone = z[i].code;
        if (residency_allows(f, &any).allowed)
            return ERR_OK;
    }
    return residency_refusal(RACT_SUBMIT, &q, &v, is_of_data ? "/spec/dataset_id" : "/zone", e);
}

static enum errc check_capacity(struct work *w, const struct principal *p, const struct job *j, struct err *e)
{
    struct capacity_answer c;
    const struct str *zones = j->zone.ptr ? &j->zone : p->allowed_zones.items;
    TRY(capacity_ask(w, zones, j->zone.ptr ? 1 : p->allowed_zones.n, j->pool, j->slots, j->gpus, &c, e));
    if (!c.known || c.fits)
        return ERR_OK;
    if (c.most_slots < j->slots)
        return FAIL_AT(e, UNPLACEABLE, "/slots", "asked %ld slots on one machine, the largest has %ld", (long)j->slots, (long)c.most_slots);
    if (c.most_gpus < j->gpus)
        return FAIL_AT(e, UNPLACEABLE, "/gpus", "asked %ld GPUs on one machine, the largest has %ld", (long)j->gpus, (long)c.most_gpus);
    return FAIL_AT(e, UNPLACEABLE, "/slots", "asked %ld slots and %ld GPUs on one machine, none has both", (long)j->slots, (long)j->gpus);
}

/* Only a caller that names a project, or is held to some, costs a read. */
static enum errc find_project(struct work *w, const struct job_create *in, struct job *j, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    if (uuid_is_nil(in->project_id) && !w->projects.n)
        return ERR_OK;
    TRY(db_begin(w->app->pool, scope_of(w), TX_READ_ONLY, w->arena, &tx, e));
    TRY(project_for_new(w, tx, in->project_id, &j->project_id, e));
    return db_commit(tx, e);
}

enum errc submit_prepare(struct work *w, const struct job_create *in, const struct principal *p, struct job_submission *s, struct err *e)
{
    TRY(job_check(in, p, w->arena, w->now_us, &s->job, e));
    TRY(find_project(w, in, &s->job, e));
    if (in->kind == JOB_TRAIN)
        TRY(fix_train(w, p, s, e));
    TRY(check_place(w, &s->job, in->kind == JOB_TRAIN, e));
    return check_capacity(w, p, &s->job, e);
}
