/* SPDX-License-Identifier: Apache-2.0 */
/* lease_wish.c - the cause is written by a statement of its own: failures are few, and the statement that ends attempts is on
 * the way of all. */
#include "scheduler/engine/lease_wish.h"
#include "core/db/tx.h"
#include "scheduler/jobs/job_suspend.h"

SCHEMA_OF(wish, "A job of which something is wished", FIELD(wish, tenant_id, 0, .doc = "Tenant"),
    FIELD(wish, job_id, 0, .doc = "Job"), FIELD(wish, retry, 0, .doc = "What it says"),
    FIELD(wish, suspend_requested, 0, .doc = "It is to be put aside"),
    FIELD(wish, suspend_why, 0, .doc = "For which reason"),
    FIELD(wish, failures, 0, .doc = "Attempts that failed before"));

const struct stmt lease_wishes_stmt = { .name = "lease_wishes", .params = "UU", .row = &wish_schema,
                                         .card = CARD_MANY, .sql =
    "SELECT j.tenant_id, j.job_id, j.retry, j.suspend_requested, j.suspend_why, (SELECT count(*) FROM attempt a\n"
    "         WHERE a.tenant_id = j.tenant_id AND a.job_id = j.job_id AND a.cause <> '') AS failures\n"
    "  FROM unnest($1, $2) AS i(tenant_id, job_id) JOIN job j ON j.tenant_id = i.tenant_id AND j.job_id = i.job_id\n"
    " WHERE j.retry IS NOT NULL OR j.suspend_requested" };
const struct stmt attempt_causes_stmt = { .name = "attempt_causes", .params = "UUS", .card = CARD_NONE, .sql =
    "UPDATE attempt SET cause = i.cause FROM unnest($1, $2, $3) AS i(tenant_id, attempt_id, cause)\n"
    " WHERE attempt.tenant_id = i.tenant_id AND attempt.attempt_id = i.attempt_id" };

const struct stmt job_parked_stmt = { .name = "job_parked", .params = "UU", .card = CARD_NONE, .sql =
    "UPDATE job SET suspend_requested = false, suspend_why = '' FROM unnest($1, $2) AS i(tenant_id, job_id)\n"
    " WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id" };

enum errc lease_wishes(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct slice *ret,
                        struct err *e)
{
    *ret = (struct slice){ 0 };
    if (!n)
        return ERR_OK;
    TRY(db_many(tx, &lease_wishes_stmt, ARGS(A_UUIDS(tenants, n), A_UUIDS(jobs, n)), ret, n, e));
    struct wish *r = ret->items;
    for (size_t i = 0; i < ret->n; i++)
        TRY(retry_of_text(r[i].retry.text, db_arena(tx), &r[i].policy, e));
    return ERR_OK;
}

struct str lease_wish_reason(const struct wish *x)
{
    return x->suspend_why.len ? x->suspend_why : str_c(job_reason_names[JR_SUSPENDED]);
}

struct str lease_wish_says(const struct wish *x)
{
    return x->suspend_why.len ? STR(JOB_IDLE_SAYS) : STR(JOB_SUSPENDED_SAYS);
}

const struct wish *lease_wish_find(const struct slice *rows, struct uuid tenant, struct uuid job)
{
    const struct wish *r = rows->items;
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

void lease_repo_parked(struct db_tx *tx, const struct attempt_step *s, size_t n)
{
    struct arena *a = db_arena(tx);
    struct uuid *tenants = ARENA_ARRAY(a, struct uuid, n + 1), *jobs = ARENA_ARRAY(a, struct uuid, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i].event == JE_SUSPEND) {
            tenants[k] = s[i].tenant_id;
            jobs[k++] = s[i].job_id;
        }
    if (k)
        db_queue(tx, &job_parked_stmt, ARGS(A_UUIDS(tenants, k), A_UUIDS(jobs, k)), false);
}
