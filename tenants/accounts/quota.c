/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c - hard limits. What jobs, bytes and objects use is a counter in the row, booked by whoever takes. What slots, GPUs, running and
 * pending jobs use is counted when asked: the planner and job_submit_many judge them under the lock that lets nobody else take. */
#include "tenants/accounts/quota.h"
#include "core/db/tx.h"

const char *const quota_resource_names[] = { "jobs", "slots", "gpus", "stored_bytes", "objects", "running_jobs", "pending_jobs",
                                             "api_rate_per_minute", NULL };

SCHEMA_EXTERN(quota, "A quota and its use",
    FIELD(quota, resource, F_ALWAYS, .doc = "What is limited"),
    FIELD(quota, hard_limit, 0, .doc = "Most that may be held at once"),
    FIELD(quota, used, 0, .doc = "Held now"), FIELD(quota, version, 0, .doc = "Grows with every change of the limit"));
#define WITHOUT_COUNTER "('slots', 'gpus', 'running_jobs', 'pending_jobs')"
/* Jobs that ended are counted beside the row, and taken off it by the next submission. Whatever of them a statement sees, used
 * and ended stay true together. */
#define ENDED "coalesce((SELECT e.ended FROM job_end e WHERE e.tenant_id = quota.tenant_id), quota.ended)"
#define COUNTED "CASE resource WHEN 'jobs' THEN used + quota.ended - " ENDED " ELSE used END"
#define QUOTA_USED                                                                                                         \
    "CASE WHEN resource IN " WITHOUT_COUNTER " THEN quota_counted(quota.tenant_id, resource) ELSE " COUNTED " END"
#define QUOTA_COLUMNS "resource, hard_limit, " QUOTA_USED " AS used, version"

static const struct stmt quota_reserve_stmt = { .name = "quota_reserve", .params = "usi", .row = &quota_schema, .card = CARD_MAYBE, .sql =
    "UPDATE quota SET used = used + $3 WHERE tenant_id = $1 AND resource = $2 AND used + $3 <= hard_limit RETURNING " QUOTA_COLUMNS };
static const struct stmt quota_release_stmt = { .name = "quota_release", .params = "usi", .card = CARD_NONE, .sql =
    "UPDATE quota SET used = used - $3 WHERE tenant_id = $1 AND resource = $2" };
static const struct stmt quota_get_stmt = { .name = "quota_get", .params = "us", .row = &quota_schema, .card = CARD_MAYBE, .sql =
    "SELECT " QUOTA_COLUMNS " FROM quota WHERE tenant_id = $1 AND resource = $2" };
static const struct stmt quota_list_stmt = { .name = "quota_list", .params = "u", .row = &quota_schema, .card = CARD_MANY, .sql =
    "SELECT " QUOTA_COLUMNS " FROM quota WHERE tenant_id = $1 ORDER BY resource LIMIT 16" };
static const struct stmt quota_set_stmt = { .name = "quota_set", .params = "usii", .row = &quota_schema, .card = CARD_MAYBE, .sql =
    "UPDATE quota SET hard_limit = $3, version = version + 1, used = " COUNTED ", ended = " ENDED "\n"
    " WHERE tenant_id = $1 AND resource = $2 AND " COUNTED " <= $3 AND ($4 < 0 OR version = $4) RETURNING " QUOTA_COLUMNS };
/* Limits without a counter may have no row until they are set; an earlier release counted slots and GPUs in theirs. */
static const struct stmt quota_limit_stmt = { .name = "quota_limit", .params = "usii", .row = &quota_schema, .card = CARD_MAYBE, .sql =
    "INSERT INTO quota (tenant_id, resource, hard_limit)\n"
    "SELECT $1, $2, $3 WHERE $3 >= CASE WHEN $2 IN " WITHOUT_COUNTER " THEN quota_counted($1, $2) ELSE 1 END\n"
    "ON CONFLICT (tenant_id, resource) DO UPDATE SET hard_limit = EXCLUDED.hard_limit, used = 0, version = quota.version + 1\n"
    " WHERE $4 < 0 OR quota.version = $4 RETURNING " QUOTA_COLUMNS };
static const struct stmt quota_count_stmt = { .name = "quota_count", .params = "us", .row = &quota_schema, .card = CARD_ONE, .sql =
    "SELECT resource, hard_limit, " QUOTA_USED " AS used, version FROM (SELECT $1::uuid AS tenant_id, $2::text AS resource, 0::bigint AS hard_limit,\n"
    "       0::bigint AS used, 0::bigint AS ended, -1::bigint AS version) quota" };
/* The locks under which those without a counter are judged: the planners' and the submitters'. */
static const struct stmt quota_turn_stmt = { .name = "quota_limit_turn", .params = "u", .card = CARD_NONE, .sql =
    "SELECT pg_advisory_xact_lock(4630123712) FROM quota WHERE tenant_id = $1 AND resource = 'jobs' FOR NO KEY UPDATE" };

const struct stmt *const quota_stmts[] = { &quota_reserve_stmt, &quota_release_stmt, &quota_get_stmt, &quota_list_stmt, &quota_set_stmt,
                                           &quota_limit_stmt, &quota_turn_stmt, &quota_count_stmt, NULL };

enum errc quota_reserve(struct work *w, const char *resource, int64_t amount, struct err *e)
{
    struct quota q;
    bool fits;
    TRY(db_maybe(w->tx, &quota_reserve_stmt, ARGS(A_UUID(w->tenant_id), A_TEXT(resource), A_I64(amount)), &q, &fits, e));
    if (fits)
        return ERR_OK;
    TRY(db_maybe(w->tx, &quota_get_stmt, ARGS(A_UUID(w->tenant_id), A_TEXT(resource)), &q, &fits, e));
    if (!fits)
        return FAIL(e, NOT_FOUND, "There is no such object");
    return FAIL(e, QUOTA, "The quota of %s does not allow this: %ld asked, %ld of %ld in use", resource, (long)amount, (long)q.used,
                (long)q.hard_limit);
}

enum errc quota_most(struct work *w, const char *resource, int64_t *ret, struct err *e)
{
    struct quota q;
    bool found;
    TRY(db_maybe(w->tx, &quota_get_stmt, ARGS(A_UUID(w->tenant_id), A_TEXT(resource)), &q, &found, e));
    *ret = found ? q.hard_limit : INT64_MAX;
    return ERR_OK;
}

void quota_release(struct work *w, const char *resource, int64_t amount)
{
    db_queue(w->tx, &quota_release_stmt, ARGS(A_UUID(w->tenant_id), A_TEXT(resource), A_I64(amount)), true);
}

enum errc quota_list(struct work *w, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &quota_list_stmt, ARGS(A_UUID(w->tenant_id)), ret, 16, e);
}

static bool has_counter(struct str resource)
{
    static const char *const without[] = { "slots", "gpus", "running_jobs", "pending_jobs", "api_rate_per_minute", NULL };
    return name_index(without, resource) < 0;
}

enum errc quota_set(struct work *w, struct str resource, int64_t hard_limit, int64_t expected_version, struct quota *ret, struct err *e)
{
    bool done, found;
    struct quota q = { 0 };
    if (str_eq_c(resource, "api_rate_per_minute") && hard_limit < 1)
        return FAIL_AT(e, INVALID, "/hard_limit", "A tenant may make at least one call a minute");
    if (!has_counter(resource))
        db_queue(w->tx, &quota_turn_stmt, ARGS(A_UUID(w->tenant_id)), false);
    const struct stmt *set = has_counter(resource) ? &quota_set_stmt : &quota_limit_stmt;
    TRY(db_maybe(w->tx, set, ARGS(A_UUID(w->tenant_id), A_STR(resource), A_I64(hard_limit), A_I64(expected_version)), ret, &done, e));
    if (done)
        return ERR_OK;
    TRY(db_maybe(w->tx, &quota_get_stmt, ARGS(A_UUID(w->tenant_id), A_STR(resource)), &q, &found, e));
    if (!found && has_counter(resource))
        return FAIL(e, NOT_FOUND, "There is no such object");
    if (!found)
        TRY(db_one(w->tx, &quota_count_stmt, ARGS(A_UUID(w->tenant_id), A_STR(resource)), &q, e));
    if (expected_version >= 0 && found && q.version != expected_version)
        return FAIL(e, PRECONDITION, "The quota has changed since it was read (version %ld)", (long)q.version);
    return FAIL_AT(e, CONFLICT, "/hard_limit", "%ld are in use, so the limit cannot be lowered to %ld", (long)q.used,
        (long)hard_limit);
}
