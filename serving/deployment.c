/* SPDX-License-Identifier: Apache-2.0 */
/* deployment.c - names under which models answer. */
#include "serving/deployment.h"
#include "core/db/tx.h"
#include "core/db/list_find.h"
#include "tenants/access/principal.h"

const char *const roll_names[] = { "NONE", "LOADING", "DRAINING", "FAILED", NULL };

SCHEMA_EXTERN(deployment, "A model under a name that clients call",
    FIELD_ID(deployment, deployment_id, "dpl", F_ALWAYS, .doc = "The deployment"),
    FIELD(deployment, name, F_ALWAYS, .doc = "What clients call: /v2/models/{name}"),
    FIELD_ID(deployment, model_id, "mdl", F_ALWAYS, .doc = "The model"),
    FIELD(deployment, model_version, 0, .doc = "Its version"),
    FIELD(deployment, engine, 0, .doc = "What computes that version: falaj, or onnxruntime for operators that falaj lacks"),
    FIELD_ID(deployment, job_id, "job", F_ALWAYS, .doc = "The job that serves it"),
    FIELD(deployment, state, F_ALWAYS, .doc = "ACTIVE or DELETED"),
    FIELD(deployment, job_state, 0, .doc = "State of that job"), FIELD(deployment, ready, 0, .doc = "It answers"),
    FIELD(deployment, version, 0, .doc = "Grows with every change"),
    FIELD_ENUM(deployment, roll, 0, roll_names,
        .doc = "NONE, LOADING (another version or setting loads beside this one), DRAINING (it has turned; the old job ends), "
            "FAILED"),
    FIELD(deployment, next_version, 0, .doc = "While LOADING: the version that shall be served; else 0"),
    FIELD_ID(deployment, next_job_id, "job", 0, .doc = "While LOADING: the job that shall serve"),
    FIELD(deployment, roll_error, 0, .doc = "FAILED: why; what served before goes on serving"),
    FIELD(deployment, slots, 0, .doc = "Slots of the job that serves it"), SERVE_KNOBS(deployment, 0, SERVE_KNOB_SET),
    FIELD_ID(deployment, project_id, "prj", 0, .doc = "Its project, that of the model; absent: the tenant as a whole"),
    FIELD_ID(deployment, created_by, "usr", F_ALWAYS, .doc = "Who made it"),
    FIELD(deployment, created_at, F_ALWAYS, .doc = "When"));
SCHEMA_OF(deployment_jobs, "The jobs of a deployment", FIELD_ID(deployment_jobs, job_id, "job", 0, .doc = "Serves"),
    FIELD_ID(deployment_jobs, next_job_id, "job", 0, .doc = "Shall serve"),
    FIELD_ID(deployment_jobs, old_job_id, "job", 0, .doc = "Did serve"));
SCHEMA_OF(deployment_target, "Where a deployment listens", FIELD_ID(deployment_target, deployment_id, "dpl", 0, .doc = "The deployment"),
    FIELD_ID(deployment_target, attempt_id, "att", 0, .doc = "The attempt that serves"),
    FIELD(deployment_target, endpoint, 0, .doc = "host:port"), FIELD(deployment_target, zone, 0, .doc = "Of the machine"),
    FIELD(deployment_target, data_class, 0, .doc = "Of its data"),
    FIELD(deployment_target, model_version, 0, .doc = "What it serves"));

#define LIVE_JOIN \
    "  LEFT JOIN attempt a ON a.tenant_id = j.tenant_id AND a.job_id = j.job_id AND a.fence = j.fence AND a.live AND a.state = 'RUNNING'\n" \
    "       AND a.endpoint IS NOT NULL AND j.state = 'RUNNING'\n"
#define DEPLOYMENT_SELECT \
    "SELECT d.deployment_id, d.name, d.model_id, d.model_version, d.job_id, d.state, j.state AS job_state, a.attempt_id IS NOT NULL AS ready,\n" \
    "       model_engine(d.tenant_id, d.model_id, d.model_version) AS engine,\n" \
    "       d.version, CASE WHEN d.next_job_id IS NOT NULL THEN 'LOADING' WHEN d.old_job_id IS NOT NULL THEN 'DRAINING'\n" \
    "         WHEN d.roll_error <> '' THEN 'FAILED' ELSE 'NONE' END AS roll, coalesce(d.next_version, 0) AS next_version, " \
    "d.next_job_id,\n" \
    "       nullif(d.roll_error, '') AS roll_error, j.slots, coalesce((j.spec->>'max_batch_size')::bigint, 0) AS " \
    "max_batch_size,\n" \
    "       coalesce((j.spec->>'max_queue_delay_microseconds')::bigint, 0) AS max_queue_delay_microseconds,\n" \
    "       coalesce((j.spec->>'max_queue_size')::bigint, 0) AS max_queue_size,\n" \
    "       coalesce((j.spec->>'default_timeout_microseconds')::bigint, 0) AS default_timeout_microseconds,\n" \
    "       coalesce((j.spec->>'max_sequences')::bigint, 0) AS max_sequences,\n" \
    "       coalesce((j.spec->>'max_context')::bigint, 0) AS max_context,\n" \
    "       coalesce((j.spec->>'weight_bits')::bigint, 0) AS weight_bits,\n" \
    "       d.project_id, d.created_by, d.created_at\n" \
    "  FROM deployment d JOIN job j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id\n" LIVE_JOIN

static const struct stmt deployment_insert_stmt = { .name = "deployment_insert", .params = "uusuiuu", .card = CARD_NONE, .sql =
    "INSERT INTO deployment (tenant_id, deployment_id, name, model_id, model_version, job_id, created_by, project_id)\n"
    "SELECT $1, $2, $3, $4, $5, $6, $7, m.project_id FROM model m WHERE m.tenant_id = $1 AND m.model_id = $4" };
static const struct stmt deployment_get_stmt = { .name = "deployment_get", .params = "uu", .row = &deployment_schema, .card = CARD_ONE, .sql =
    DEPLOYMENT_SELECT " WHERE d.tenant_id = $1 AND d.deployment_id = $2 AND d.state = 'ACTIVE'" };
static const struct stmt deployment_find_stmt = { .name = "deployment_find", .params = "us", .row = &deployment_schema,
    .card = CARD_ONE, .sql =
    DEPLOYMENT_SELECT " WHERE d.tenant_id = $1 AND d.name = $2 AND d.state = 'ACTIVE'" };
static const struct stmt deployment_list_stmt = { .name = "deployment_list", .params = LIST_FIND_PARAMS, .row = &deployment_schema, .card = CARD_MANY, .sql =
    DEPLOYMENT_SELECT "  JOIN " LIST_FIND("deployment") "    ON d.deployment_id = found_id\n"
    " WHERE d.tenant_id = $1 AND d.state = 'ACTIVE' ORDER BY found_place" };
static const struct stmt deployment_delete_stmt = { .name = "deployment_delete", .params = "uu", .row =
    &deployment_jobs_schema, .card = CARD_ONE, .sql =
    "UPDATE deployment SET state = 'DELETED', version = version + 1\n"
    " WHERE tenant_id = $1 AND deployment_id = $2 AND state = 'ACTIVE' RETURNING job_id, next_job_id, old_job_id" };
static const struct stmt deployment_target_stmt = { .name = "deployment_target", .params = "us", .row = &deployment_target_schema, .card = CARD_ONE, .sql =
    "SELECT d.deployment_id, d.model_version, a.attempt_id, a.endpoint, n.zone, j.data_class\n"
    "  FROM deployment d JOIN job j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id\n" LIVE_JOIN
    "  LEFT JOIN node n ON n.node_id = a.node_id\n"
    " WHERE d.tenant_id = $1 AND d.name = $2 AND d.state = 'ACTIVE'" };

const struct stmt *const deployment_stmts[] = {
    &deployment_insert_stmt, &deployment_get_stmt, &deployment_find_stmt, &deployment_list_stmt, &deployment_delete_stmt,
        &deployment_target_stmt, NULL
};

enum errc deployment_insert(struct work *w, const struct deployment_row *in, struct deployment *ret, struct err *e)
{
    enum errc rc = db_exec(w->tx, &deployment_insert_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(in->deployment_id), A_STR(in->name), A_UUID(in->model_id), A_I64(in->model_version), A_UUID(in->job_id),
        A_UUID(w->principal->user_id)), NULL, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "Deployment %.*s exists", STR_ARG(in->name));
    return rc == ERR_OK ? deployment_get(w, in->deployment_id, ret, e) : rc;
}

enum errc deployment_get(struct work *w, struct uuid deployment_id, struct deployment *ret, struct err *e)
{
    return db_one(w->tx, &deployment_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(deployment_id)), ret, e);
}

enum errc deployment_list(struct work *w, const struct deployment_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct list_find find = { .q = f->q, .sort = f->sort };
    list_find_by(&find, "ready", f->has_ready ? str_c(f->ready ? "true" : "false") : STR_NULL);
    list_find_by_id(w, &find, "model_id", f->model_id);
    list_find_by_id(w, &find, "project_id", f->project_id);
    list_find_by_id(w, &find, "created_by", f->created_by);
    return list_find(w, &deployment_list_stmt, &find, position, limit, ret, e);
}

enum errc deployment_delete(struct work *w, struct uuid deployment_id, struct deployment_jobs *ret, struct err *e)
{
    return db_one(w->tx, &deployment_delete_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(deployment_id)), ret, e);
}

enum errc deployment_find(struct work *w, struct str name, struct deployment *ret, struct err *e)
{
    return db_one(w->tx, &deployment_find_stmt, ARGS(A_UUID(w->tenant_id), A_STR(name)), ret, e);
}

enum errc deployment_target(struct work *w, struct str name, struct deployment_target *ret, struct err *e)
{
    return db_one(w->tx, &deployment_target_stmt, ARGS(A_UUID(w->tenant_id), A_STR(name)), ret, e);
}
