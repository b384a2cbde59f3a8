/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - models and their versions. model_next is an upsert: it makes the model or counts it up, and either way it holds the row, so
 * two registrations under one name get different numbers. */
#include "registry/catalog/model.h"
#include "core/base/cleanup.h"
#include "core/base/assert.h"
#include "core/crypto/hash.h"
#include "core/crypto/secmem.h"
#include "core/data/model_mlp.h"
#include "core/db/run_tx.h"
#include "core/db/tx.h"
#include "core/wire/lease_wire.h"
#include "registry/catalog/versioned.h"
#include "registry/vault/object.h"
#include "registry/registry_int.h"
#include "core/db/list_find.h"
#include "tenants/access/principal.h"

enum { PIECE = 64 * 1024 };

SCHEMA_EXTERN(model, "A model",
    FIELD_ID(model, model_id, "mdl", F_ALWAYS, .doc = "The model"),
    FIELD(model, name, F_ALWAYS, .doc = "Name, unique in the tenant"), SHOWN_NAME_FIELDS(model),
    FIELD(model, description, F_ALWAYS, .doc = "What it is"), FIELD(model, latest_version, 0, .doc = "Newest version"),
    FIELD(model, version, 0, .doc = "Grows with every change"), FIELD_ID(model, project_id, "prj", 0, .doc = "Its project, that of its jobs; absent: the tenant as a whole"),
    FIELD_ID(model, created_by, "usr", F_ALWAYS, .doc = "Who made it"),
    FIELD(model, created_at, F_ALWAYS, .doc = "When"));
SCHEMA_EXTERN(model_new, "A model version to register",
    FIELD(model_new, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "The model; made when there is none of that name"),
    FIELD(model_new, description, 0, .max = 1024, .doc = "What the model is"),
    FIELD_ID(model_new, job_id, "job", F_REQ, .doc = "Completed job whose output \"model\" it is"));
SCHEMA_EXTERN(model_version, "A version of a model",
    FIELD_ID(model_version, model_id, "mdl", F_ALWAYS, .doc = "The model"),
    FIELD(model_version, name, 0, .doc = "The model's name"), SHOWN_NAME_FIELDS(model_version),
    FIELD(model_version, version, 0, .doc = "Its number, from 1"),
    FIELD_ID(model_version, object_id, "obj", F_ALWAYS, .doc = "The object that holds the weights"),
    FIELD_ID(model_version, job_id, "job", 0, .doc = "The job that made it"), FIELD(model_version, fence, 0, .doc = "Of the attempt that made it"),
    FIELD(model_version, family, F_ALWAYS, .doc = "Kind of model"), FIELD(model_version, inputs, 0, .doc = "Features it takes"),
    FIELD(model_version, engine, 0, .doc = "What computes it: falaj, or onnxruntime for operators that falaj lacks"),
    FIELD(model_version, outputs, 0, .doc = "Classes it tells apart"),
    FIELD(model_version, signature, 0,
          .doc = "Names, datatypes and shapes of what it takes and gives: {\"inputs\":[…],\"outputs\":[…]}; "
          "-1 stands for the rows of a request"),
    FIELD(model_version, metrics, F_ALWAYS, .is_numbers = true, .doc = "Numbers of the job's result"),
    FIELD(model_version, zone, 0, .doc = "Where it lies"), FIELD(model_version, sha256, 0, .doc = "Digest of the file, hex"),
    FIELD(model_version, size_bytes, 0, .doc = "Bytes of the file"),
    FIELD_ID(model_version, created_by, "usr", F_ALWAYS, .doc = "Who registered it"),
    FIELD(model_version, created_at, F_ALWAYS, .doc = "When"));

#define VERSION_COLUMNS \
    "v.model_id, m.name, m.display_name, m.display_name_ar, v.version, v.object_id, v.job_id, v.fence, v.family, v.inputs,\n" \
    "       model_engine(v.tenant_id, v.model_id, v.version) AS engine,\n" \
    "       v.outputs, v.signature, v.metrics,\n" \
    "       o.zone, encode(o.sha256, 'hex') AS sha256, o.size_bytes, v.created_by, v.created_at\n" \
    "  FROM model_version v JOIN model m ON m.tenant_id = v.tenant_id AND m.model_id = v.model_id\n" \
    "  JOIN object o ON o.tenant_id = v.tenant_id AND o.object_id = v.object_id\n"

struct model_source { struct str state; int64_t fence; struct json metrics; struct uuid object_id, project_id; };
SCHEMA_OF(model_source, "The job a model comes from", FIELD(model_source, state, 0, .doc = "State of the job"),
    FIELD(model_source, fence, 0, .doc = "Of its last attempt"), FIELD(model_source, metrics, 0, .doc = "Numbers of its result"),
    FIELD_ID(model_source, object_id, "obj", 0, .doc = "Its output"),
    FIELD_ID(model_source, project_id, "prj", 0, .doc = "Its project"));

const struct stmt model_source_stmt = { .name = "model_source", .params = "uu", .row = &model_source_schema, .card = CARD_ONE, .sql =
    "SELECT j.state, j.fence, j.project_id, o.object_id,\n"
    "       coalesce((SELECT jsonb_object_agg(r.key, r.value) FROM jsonb_each(CASE WHEN jsonb_typeof(j.result) = 'object' THEN j.result END) r\n"
    "                  WHERE jsonb_typeof(r.value) = 'number'), '{}') AS metrics\n"
    "  FROM job j LEFT JOIN job_object x ON x.tenant_id = j.tenant_id AND x.job_id = j.job_id AND x.direction = 'output' AND x.name = 'model'\n"
    "       AND x.fence = j.fence\n"
    "  LEFT JOIN object o ON o.tenant_id = x.tenant_id AND o.object_id = x.object_id AND o.state = 'COMMITTED'\n"
    " WHERE j.tenant_id = $1 AND j.job_id = $2" };
const struct stmt model_next_stmt = { .name = "model_next", .params = "uussuu", .row = &model_schema, .card = CARD_MAYBE, .sql =
    "INSERT INTO model (tenant_id, model_id, name, description, latest_version, created_by, project_id)\n"
    "VALUES ($1, $2, $3, coalesce($4, ''), 1, $5, $6)\n"
    "ON CONFLICT (tenant_id, name) DO UPDATE SET latest_version = model.latest_version + 1, version = model.version + 1,\n"
    "       description = coalesce($4, model.description) WHERE model.project_id IS NOT DISTINCT FROM $6\n"
    "RETURNING " ROW_COLUMNS };
const struct stmt model_version_insert_stmt = { .name = "model_version_insert", .params = "uuiuuisiijju", .card = CARD_NONE,
                                                .sql =
    "INSERT INTO model_version (tenant_id, model_id, version, object_id, job_id, fence, family, inputs, outputs, signature,\n"
    "                           metrics, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)" };
const struct stmt model_change_stmt = { .name = "model_change", .params = VERSIONED_CHANGE_PARAMS, .row = &model_schema,
                                       .card = CARD_MAYBE, .sql = VERSIONED_CHANGE("model") };
const struct stmt model_get_stmt = { .name = "model_get", .params = "uu", .row = &model_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM model WHERE tenant_id = $1 AND model_id = $2" };
const struct stmt model_list_stmt = { .name = "model_list", .params = LIST_FIND_PARAMS, .row = &model_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM " LIST_FIND("model") "  JOIN model ON tenant_id = $1 AND model_id = found_id ORDER BY found_place" };
const struct stmt model_version_get_stmt = { .name = "model_version_get", .params = "uui", .row = &model_version_schema, .card = CARD_ONE, .sql =
    "SELECT " VERSION_COLUMNS
    " WHERE v.tenant_id = $1 AND v.model_id = $2 AND ($3 = 0 OR v.version = $3) ORDER BY v.version DESC LIMIT 1" };
const struct stmt model_version_list_stmt = { .name = "model_version_list", .params = "uuii", .row = &model_version_schema, .card = CARD_MANY, .sql =
    "SELECT " VERSION_COLUMNS
    " WHERE v.tenant_id = $1 AND v.model_id = $2 AND ($3 = 0 OR v.version < $3) ORDER BY v.version DESC LIMIT $4" };

static enum errc find_source(struct work *w, struct uuid job_id, struct model_source *ret, struct err *e)
{
    enum errc rc = db_one(w->tx, &model_source_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(job_id)), ret, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL_AT(e, NOT_FOUND, "/job_id", "There is no such job");
    if (rc != ERR_OK)
        return rc;
    if (!str_eq_c(ret->state, "COMPLETED"))
        return FAIL_AT(e, CONFLICT, "/job_id", "The job has not completed (%.*s)", STR_ARG(ret->state));
    if (uuid_is_nil(ret->object_id))
        return FAIL_AT(e, CONFLICT, "/job_id", "The job has no output \"model\"");
    return ERR_OK;
}

static enum errc find_weights(struct work *w, struct uuid job_id, struct uuid *ret_object, const struct object_keys **ret,
                              struct err *e)
{
    struct model_source src;
    TRY(find_source(w, job_id, &src, e));
    *ret_object = src.object_id;
    return object_find(w, src.object_id, "model", ret, e);
}

/* The content's digest is compared too: chunks are sound one by one, only it says that they are those that were written. */
static enum errc stream_weights(struct object_reader *r, struct model_stream *s, struct model_mlp *ret, struct err *e)
{
    const struct object *o = object_reader_object(r);
    uint8_t piece[PIECE], sha[SHA256_BYTES];
    struct sha256 h;
    ssize_t n = 0;
    sha256_init(&h);
    enum errc rc = ERR_OK;
    while (rc == ERR_OK && (n = object_read(r, piece, sizeof piece)) > 0) {
        sha256_add(&h, piece, (size_t)n);
        rc = model_stream_add(s, piece, (size_t)n, e);
    }
    secret_wipe(piece, sizeof piece);
    sha256_final(&h, sha);
    TRY(rc);
    if (n < 0) {
        *e = *object_reader_error(r);
        return e->code;
    }
    if (o->sha256.data.len != SHA256_BYTES || memcmp(sha, o->sha256.data.ptr, SHA256_BYTES))
        return FAIL(e, DAMAGED, "The model is damaged: its content has another digest than was written");
    return model_stream_end(s, ret, e);
}

enum errc model_weights_check(struct work *w, struct uuid job_id, struct model_weights *ret, struct err *e)
{
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    const struct object_keys *k = NULL;
    struct uuid object_id = UUID_NIL;
    struct model_mlp mlp;
    ASSERT(!w->tx);
    TRY(RUN_READ(w, find_weights(w, job_id, &object_id, &k, e), e));
    TRY(object_open_found(w, k, &r, e));
    int64_t size = object_reader_object(r)->size_bytes;
    if (size > LEASE_OUTPUT_MAX)
        return FAIL_AT(e, LIMIT, "/job_id", "The model has %ld bytes; at most %d can be served", (long)size, LEASE_OUTPUT_MAX);
    struct model_stream s = { .arena = w->arena, .size_bytes = (uint64_t)size };
    CLEANUP(buf_releasep) struct buf sig = BUF(SIG_JSON_MAX);
    enum errc rc = stream_weights(r, &s, &mlp, e);
    if (rc == ERR_OK && !model_sig_write(&sig, s.sig))
        rc = FAIL(e, LIMIT, "The model's signature has more than %d bytes", SIG_JSON_MAX);
    if (rc == ERR_OK)
        *ret = (struct model_weights){ object_id, (int64_t)s.inputs, (int64_t)s.outputs,
                                       str_dup(w->arena, st_meta(&s.file, "family")), str_dup(w->arena, buf_str(&sig)) };
    model_stream_release(&s);
    return rc;
}

enum errc model_register(struct work *w, const struct model_new *in, const struct model_weights *weights,
                         struct model_version *ret, struct err *e)
{
    struct model_source src;
    struct model m;
    bool found;
    TRY(find_source(w, in->job_id, &src, e));
    if (!uuid_eq(src.object_id, weights->object_id))
        return FAIL_AT(e, CONFLICT, "/job_id", "The job's output \"model\" has changed while it was read; try again");
    TRY(db_maybe(w->tx, &model_next_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(in->name), A_STR(in->description),
        A_UUID(w->principal->user_id), A_UUID_OR_NULL(src.project_id)), &m, &found, e));
    if (!found)
        return FAIL_AT(e, EXISTS, "/name",
                       "A model of this name exists in another project than that of the job; choose another name");
    TRY(db_exec(w->tx, &model_version_insert_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(m.model_id), A_I64(m.latest_version), A_UUID(src.object_id), A_UUID(in->job_id), A_I64(src.fence),
        A_STR(weights->family), A_I64(weights->inputs), A_I64(weights->outputs), A_JSON(weights->signature),
        A_JSON(src.metrics.text),
        A_UUID(w->principal->user_id)), NULL, e));
    return model_version_get(w, m.model_id, m.latest_version, ret, e);
}

enum errc model_get(struct work *w, struct uuid model_id, struct model *ret, struct err *e)
{
    return versioned_get(w, &versioned_model, model_id, ret, e);
}

enum errc model_version_get(struct work *w, struct uuid model_id, int64_t version, struct model_version *ret, struct err *e)
{
    return versioned_version_get(w, &versioned_model, model_id, version, ret, e);
}
