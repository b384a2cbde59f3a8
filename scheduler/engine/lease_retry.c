/* SPDX-License-Identifier: Apache-2.0 */
/* lease_retry.c - the cause is written by a statement of its own: failures are few, and the statement that ends attempts is on
 * the way of all. */
#include "scheduler/engine/lease_retry.h"
#include "core/db/tx.h"

SCHEMA_OF(retry_row, "A job with a retry of its own", FIELD(retry_row, tenant_id, 0, .doc = "Tenant"),
    FIELD(retry_row, job_id, 0, .doc = "Job"), FIELD(retry_row, retry, 0, .doc = "What it says"),
    FIELD(retry_row, failures, 0, .doc = "Attempts that failed before"));

const struct stmt lease_retries_stmt = { .name = "lease_retries", .params = "UU", .row = &retry_row_schema,
                                         .card = CARD_MANY, .sql =
    "SELECT j.tenant_id, j.job_id, j.retry, (SELECT count(*) FROM attempt a\n"
    "         WHERE a.tenant_id = j.tenant_id AND a.job_id = j.job_id AND a.cause <> '') AS failures\n"
    "  FROM unnest($1, $2) AS i(tenant_id, job_id) JOIN job j ON j.tenant_id = i.tenant_id AND j.job_id = i.job_id\n"
    " WHERE j.retry IS NOT NULL" };
const struct stmt attempt_causes_stmt = { .name = "attempt_causes", .params = "UUS", .card = CARD_NONE, .sql =
    "UPDATE attempt SET cause = i.cause FROM unnest($1, $2, $3) AS i(tenant_id, attempt_id, cause)\n"
    " WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id" };

enum errc lease_retries(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct slice *ret,
                        struct err *e)
{
    *ret = (struct slice){ 0 };
    if (!n)
        return ERR_OK;
    TRY(db_many(tx, &lease_retries_stmt, ARGS(A_UUIDS(tenants, n), A_UUIDS(jobs, n)), ret, n, e));
    struct retry_row *r = ret->items;
    for (size_t i = 0; i < ret->n; i++)
        TRY(retry_of_text(r[i].retry.text, db_arena(tx), &r[i].policy, e));
    return ERR_OK;
}

const struct retry_row *lease_retry_find(const struct slice *rows, struct uuid tenant, struct uuid job)
{
    const struct retry_row *r = rows->items;
    for (size_t i = 0; i < rows->n; i++)
        if (uuid_eq(r[i].job_id, job) && uuid_eq(r[i].tenant_id, tenant))
            return &r[i];
    return NULL;
}

void lease_repo_causes(struct db_tx *tx, const struct attempt_step *s, size_t n)
{
    struct arena *a = db_arena(tx);
    struct uuid *tenants = ARENA_ARRAY(a, struct uuid, n + 1), *attempts = ARENA_ARRAY(a, struct uuid, n + 1);
    struct str *causes = ARENA_ARRAY(a, struct str, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i].cause.len) {
            tenants[k] = s[i].tenant_id;
            attempts[k] = s[i].attempt_id;
            causes[k++] = s[i].cause;
        }
    if (k)
        db_queue(tx, &attempt_causes_stmt, ARGS(A_UUIDS(tenants, k), A_UUIDS(attempts, k), A_STRS(causes, k)), false);
}
