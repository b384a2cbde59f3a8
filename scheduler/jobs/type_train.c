/* SPDX-License-Identifier: Apache-2.0 */
/* type_train.c - a training job before it is stored: its data set version, fixed, with the copy that lies in the job's zone. */
#include "core/base/cleanup.h"
#include "core/crypto/stream.h"
#include "core/data/data_format.h"
#include "core/db/run_tx.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/lease_wire.h"
#include "core/wire/type_train.h"
#include "scheduler/jobs/job_prepare.h"
#include "tenants/accounts/quota.h"

enum { SPEC_MAX = 65536 };

struct version_row {
    int64_t version;
    struct uuid object_id;
    struct str zone, data_class, label_column;
    int64_t classes, column_count;
    int format, target;
    struct slice ignored_columns;
};
SCHEMA_OF(version_row, "A version of a data set", FIELD(version_row, version, 0, .doc = "Version"),
    FIELD(version_row, object_id, 0, .doc = "Its object"), FIELD(version_row, zone, 0, .doc = "Where the object is"),
    FIELD(version_row, data_class, 0, .doc = "Class of the data set"), FIELD(version_row, label_column, 0, .doc = "Column of the label"),
    FIELD(version_row, classes, 0, .doc = "Number of classes"),
    FIELD(version_row, column_count, 0, .doc = "Feature columns"),
    FIELD_ENUM(version_row, format, 0, data_format_names, .doc = "Its format"),
    FIELD_ENUM(version_row, target, 0, data_target_names, .doc = "What its label is"),
    FIELD_STRS(version_row, ignored_columns, 0, .doc = "Columns nobody reads"));

static const struct stmt submit_version = { .name = "submit_version", .params = "uuis", .row = &version_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT v.version, o.object_id, o.zone, d.data_class, d.label_column,\n"
    "       CASE WHEN v.classes > 0 OR d.target <> 'class' THEN v.classes ELSE d.classes END AS classes, v.column_count,\n"
    "       v.format, d.target, d.ignored_columns\n"
    "  FROM dataset d JOIN dataset_version v ON v.tenant_id = d.tenant_id AND v.dataset_id = d.dataset_id\n"
    "       AND v.version = CASE WHEN $3 = 0 THEN d.latest_version ELSE $3 END\n"
    "  LEFT JOIN transfer x ON x.tenant_id = v.tenant_id AND x.dataset_id = v.dataset_id AND x.version = v.version AND x.to_zone = $4\n"
    "  JOIN object o ON o.tenant_id = v.tenant_id AND o.object_id = coalesce(x.to_object, v.object_id) AND o.state = 'COMMITTED'\n"
    " WHERE d.tenant_id = $1 AND d.dataset_id = $2" };

const struct stmt *const type_train_stmts[] = { &submit_version, NULL };

/* room: what the tenant may store in all. */
static enum errc read_version(struct work *w, const struct train_job *t, const struct job *j, struct version_row *ret,
                              bool *ret_found, int64_t *ret_room, struct err *e)
{
    TRY(quota_most(w, "stored_bytes", ret_room, e));
    return db_maybe(w->tx, &submit_version,
                    ARGS(A_UUID(j->tenant_id), A_UUID(t->dataset_id), A_I64(t->dataset_version),
                         A_STR(j->zone)), ret, ret_found, e);
}

static enum errc find_version(struct work *w, const struct train_job *t, const struct job *j, struct version_row *ret,
                              int64_t *ret_room,
                              struct err *e)
{
    bool found = false;
    TRY(RUN_TX(w, w->app->pool, SCOPE_PROJECTS(j->tenant_id, w->projects.items, w->projects.n), TX_READ_ONLY,
               read_version(w, t, j, ret, &found, ret_room, e), e));
    if (found)
        return ERR_OK;
    if (!t->dataset_version)
        return FAIL_AT(e, NOT_FOUND, "/spec/dataset_id", "There is no such data set, or it has no version yet");
    return FAIL_AT(e, NOT_FOUND, "/spec/dataset_version", "There is no version %ld of such a data set", (long)t->dataset_version);
}

/* What the family asks of the data. */
static enum errc check_family(const struct train_job *t, int64_t inputs, struct err *e)
{
    const int64_t *side = t->image.items;
    bool is_table = data_formats[t->format].is_table;
    if ((t->family == TRAIN_GPT) == is_table)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/family", "%s learns from %s; this version is %s (format %s)",
                       job_family_names[t->family], is_table ? "tokens" : "tables", is_table ? "a table" : "tokens",
                       data_format_names[t->format]);
    if (is_table && t->target != TARGET_CLASS)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/family", "%s learns classes; the label of this data set is a %s",
                       job_family_names[t->family], data_target_names[t->target]);
    if (t->family == TRAIN_CNN && side[0] * side[1] * side[2] != inputs)
        return FAIL_AT(e, UNPROCESSABLE, "/spec/image",
                       "An image of %ld x %ld x %ld has %ld numbers; the data set has %ld columns beside the label",
                       (long)side[0], (long)side[1], (long)side[2], (long)(side[0] * side[1] * side[2]), (long)inputs);
    return ERR_OK;
}

/* What cannot be stored at the end is not begun. How much of the quota is free then, nobody knows yet: its limit counts. */
static enum errc check_model_fits(const struct train_job *t, int64_t inputs, int64_t room, struct err *e)
{
    int64_t bytes = train_job_model_bytes(t, inputs);
    static const char *const member[] = { [TRAIN_MLP] = "/spec/hidden", [TRAIN_CNN] = "/spec/channels",
                                          [TRAIN_GPT] = "/spec/width" };
    if (bytes > LEASE_OUTPUT_MAX)
        return FAIL_AT(e, UNPROCESSABLE, member[t->family],
                       "The model would have up to %ld bytes with %ld inputs; models of at most %d are stored",
                       (long)bytes, (long)inputs, LEASE_OUTPUT_MAX);
    int64_t sealed = (int64_t)stream_sealed_size((uint64_t)bytes);
    if (sealed > room)
        return FAIL_AT(e, UNPROCESSABLE, member[t->family],
                       "The model would have up to %ld bytes with %ld inputs; the tenant's quota of stored_bytes is %ld in all",
                       (long)sealed, (long)inputs, (long)room);
    return ERR_OK;
}

/* The copy in the zone that the job names, where one was transferred. Fixes the version in the spec, so that the job says for ever what it read. */
enum errc job_prepare_train(struct work *w, struct job_submission *s, struct err *e)
{
    struct job *j = &s->job;
    struct train_job *t = ARENA_NEW(w->arena, struct train_job);
    struct version_row v = { 0 };
    int64_t room;
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    TRY(json_decode(&train_job_schema, j->spec.text, w->arena, t, e));
    TRY(find_version(w, t, j, &v, &room, e));
    if (j->zone.ptr && !str_eq(j->zone, v.zone))
        return FAIL_AT(e, RESIDENCY, "/zone", "The data set is in zone %.*s and may not be read in %.*s", STR_ARG(v.zone), STR_ARG(j->zone));
    TRY(train_job_settle(t, w->arena, e));
    t->dataset_version = v.version;
    t->label_column = v.label_column;
    t->classes = v.classes;
    t->format = v.format;
    t->target = v.target;
    t->ignored_columns = v.ignored_columns;
    TRY(check_family(t, v.column_count, e));
    TRY(check_model_fits(t, v.column_count, room, e));
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
