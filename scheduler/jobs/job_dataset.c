/* SPDX-License-Identifier: Apache-2.0 */
/* job_dataset.c - one statement finds the version and, where one was transferred, its copy in the zone that the job names. */
#include "scheduler/jobs/job_dataset.h"
#include "core/data/data_format.h"
#include "core/db/run_tx.h"
#include "core/wire/job_type.h"
#include "tenants/accounts/quota.h"

SCHEMA_OF(job_dataset, "A version of a data set", FIELD(job_dataset, version, 0, .doc = "Version"),
    FIELD(job_dataset, object_id, 0, .doc = "Its object"), FIELD(job_dataset, zone, 0, .doc = "Where the object is"),
    FIELD(job_dataset, data_class, 0, .doc = "Class of the data set"),
    FIELD(job_dataset, label_column, 0, .doc = "Column of the label"),
    FIELD(job_dataset, classes, 0, .doc = "Number of classes"), FIELD(job_dataset, column_count, 0, .doc = "Feature columns"),
    FIELD_ENUM(job_dataset, format, 0, data_format_names, .doc = "Its format"),
    FIELD_ENUM(job_dataset, target, 0, data_target_names, .doc = "What its label is"),
    FIELD_STRS(job_dataset, ignored_columns, 0, .doc = "Columns nobody reads"),
    FIELD_STRS(job_dataset, category_columns, 0, .doc = "Columns of words"),
    FIELD(job_dataset, missing_values, 0, .doc = "Cells may be empty"),
    FIELD(job_dataset, room, F_NOCOL, .doc = "Bytes that may be stored"));

static const struct stmt submit_version = { .name = "submit_version", .params = "uuis", .row = &job_dataset_schema,
                                            .card = CARD_MAYBE, .sql =
    "SELECT v.version, o.object_id, o.zone, d.data_class, d.label_column,\n"
    "       CASE WHEN v.classes > 0 OR d.target <> 'class' THEN v.classes ELSE d.classes END AS classes, v.column_count,\n"
    "       v.format, d.target, d.ignored_columns, d.category_columns, d.missing_values\n"
    "  FROM dataset d JOIN dataset_version v ON v.tenant_id = d.tenant_id AND v.dataset_id = d.dataset_id\n"
    "       AND v.version = CASE WHEN $3 = 0 THEN d.latest_version ELSE $3 END\n"
    "  LEFT JOIN transfer x ON x.tenant_id = v.tenant_id AND x.dataset_id = v.dataset_id AND x.version = v.version\n"
    "       AND x.to_zone = $4\n"
    "  JOIN object o ON o.tenant_id = v.tenant_id AND o.object_id = coalesce(x.to_object, v.object_id)\n"
    "       AND o.state = 'COMMITTED'\n"
    " WHERE d.tenant_id = $1 AND d.dataset_id = $2" };

const struct stmt *const job_dataset_stmts[] = { &submit_version, NULL };

static enum errc read_version(struct work *w, const struct job *j, struct uuid dataset_id, int64_t version,
                              struct job_dataset *ret,
                              bool *ret_found, struct err *e)
{
    int64_t room;
    TRY(quota_most(w, "stored_bytes", &room, e));
    TRY(db_maybe(w->tx, &submit_version, ARGS(A_UUID(j->tenant_id), A_UUID(dataset_id), A_I64(version), A_STR(j->zone)), ret,
                 ret_found, e));
    ret->room = room;
    return ERR_OK;
}

static const char *const data_words[] = { "tables and tokens", "model files", "images (of the format oci)", "anything" };

static enum job_data data_of(int format)
{
    return data_formats[format].is_model ? JOB_DATA_MODEL : data_formats[format].is_image ? JOB_DATA_IMAGE : JOB_DATA_ROWS;
}

enum errc job_dataset_find(struct work *w, const struct job *j, struct uuid dataset_id, int64_t version, enum job_data want,
                           struct job_dataset *ret, struct err *e)
{
    bool found = false;
    TRY(RUN_TX(w, w->app->pool, SCOPE_PROJECTS(j->tenant_id, w->projects.items, w->projects.n), TX_READ_ONLY,
               read_version(w, j, dataset_id, version, ret, &found, e), e));
    if (!found && !version)
        return FAIL_AT(e, NOT_FOUND, "/spec/dataset_id", "There is no such data set, or it has no version yet");
    if (!found)
        return FAIL_AT(e, NOT_FOUND, "/spec/dataset_version", "There is no version %ld of such a data set", (long)version);
    if (want != JOB_DATA_ANY && data_of(ret->format) != want)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/dataset_id", "A job of kind %s reads %s; this version has the format %s",
                       job_types[j->kind].name, data_words[want], data_format_names[ret->format]);
    if (!j->zone.ptr || str_eq(j->zone, ret->zone))
        return ERR_OK;
    FAIL_AT(e, RESIDENCY, "/zone", "The data set is in zone %.*s and may not be read in %.*s", STR_ARG(ret->zone),
            STR_ARG(j->zone));
    return err_note(e, "rule=no_copy act=submit class=%.*s zone=%.*s from=%.*s", STR_ARG(ret->data_class), STR_ARG(j->zone),
                    STR_ARG(ret->zone));
}

enum errc job_dataset_read_by(struct work *w, struct job_submission *s, const struct job_dataset *d, const struct buf *spec,
                              struct err *e)
{
    if (spec->overflow)
        return FAIL_AT(e, INVALID, "/spec", "The spec is too long");
    struct job_input *in = ARENA_NEW(w->arena, struct job_input);
    *in = (struct job_input){ STR("dataset"), d->object_id };
    s->job.spec.text = str_dup(w->arena, buf_str(spec));
    s->job.zone = d->zone;
    s->job.data_class = d->data_class;
    s->inputs = (struct slice){ in, 1 };
    return ERR_OK;
}
