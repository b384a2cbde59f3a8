/* SPDX-License-Identifier: Apache-2.0 */
/* secret_use.c - by the objects of a secret's values, which are inputs of the jobs that name it. */
#include "scheduler/jobs/secret_use.h"
#include "core/db/tx.h"
#include "core/wire/type_run.h"
#include "registry/catalog/secret.h"

SCHEMA_EXTERN(secret_use, "A job that names a secret",
    FIELD_ID(secret_use, job_id, "job", F_ALWAYS, .doc = "The job"), FIELD(secret_use, job_name, F_ALWAYS, .doc = "Its name"),
    FIELD(secret_use, state, F_ALWAYS, .doc = "Its state"), FIELD(secret_use, target, F_ALWAYS,
        .doc = "What the program finds it as: env:VARIABLE or file:NAME"),
    FIELD(secret_use, value_version, F_ALWAYS, .doc = "Which value"), FIELD_ID(secret_use, submitted_by, "usr", F_ALWAYS,
        .doc = "Who submitted the job"),
    FIELD(secret_use, submitted_at, F_ALWAYS, .doc = "When"));

static const struct stmt secret_uses_stmt = { .name = "secret_uses", .params = "uuUIi", .row = &secret_use_schema, .card =
    CARD_MANY, .sql =
    "SELECT j.job_id, j.name AS job_name, j.state, string_agg(substr(i.name, length('" SECRET_KIND
        ":') + 1), ', ' ORDER BY i.name) AS target,\n"
    "       max(v.version) AS value_version, j.created_by AS submitted_by, j.submitted_at\n"
    "  FROM unnest($3, $4) AS v(object_id, version)\n"
    "  JOIN job_object i ON i.tenant_id = $1 AND i.object_id = v.object_id AND i.direction = 'input'\n"
    "  JOIN job j ON j.tenant_id = $1 AND j.job_id = i.job_id\n"
    " WHERE ($2::uuid IS NULL OR j.job_id < $2)\n"
    " GROUP BY j.tenant_id, j.job_id ORDER BY j.job_id DESC LIMIT $5" };

const struct stmt *const secret_use_stmts[] = { &secret_uses_stmt, NULL };

enum errc secret_uses(struct work *w, struct uuid secret_id, struct uuid position, int64_t limit, struct slice *ret,
                      struct err *e)
{
    struct uuid *objects;
    int64_t *versions;
    size_t n;
    TRY(secret_objects(w, secret_id, &objects, &versions, &n, e));
    return db_many(w->tx, &secret_uses_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_UUIDS(objects, n),
                   A_I64S(versions, n), A_I64(limit)), ret, (size_t)limit, e);
}
