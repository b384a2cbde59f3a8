/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c - quotas and usage. */
#include "tenants/quota.h"
#include "core/db/tx.h"

const char *const quota_resource_names[] = { "jobs", "slots", "gpus", "stored_bytes", "objects", NULL };

SCHEMA_EXTERN(quota, "A quota and its use",
    FIELD(quota, resource, 0, .doc = "jobs, slots, gpus, stored_bytes or objects"), FIELD(quota, hard_limit, 0, .doc = "Most that may be held at once"),
    FIELD(quota, used, 0, .doc = "Held now"), FIELD(quota, version, 0, .doc = "Grows with every change of the limit"));
SCHEMA_EXTERN(usage_day, "Use of one day, zone and pool",
    FIELD(usage_day, day, 0, .doc = "UTC day"), FIELD(usage_day, zone, 0, .doc = "Zone"), FIELD(usage_day, pool, 0, .doc = "Pool"),
    FIELD(usage_day, attempts, 0, .doc = "Attempts ended"), FIELD(usage_day, slot_ms, 0, .doc = "Slot milliseconds"),
    FIELD(usage_day, gpu_ms, 0, .doc = "GPU milliseconds"));

#define QUOTA_COLUMNS "resource, hard_limit, used, version"

static const struct stmt quota_reserve_stmt = { .name = "quota_reserve", .params = "usi", .row = &quota_schema, .card = CARD_MAYBE, .sql =
    "UPDATE quota SET used = used + $3 WHERE tenant_id = $1 AND resource = $2 AND used + $3 <= hard_limit RETURNING " QUOTA_COLUMNS };
static const struct stmt quota_release_stmt = { .name = "quota_release", .params = "usi", .card = CARD_NONE, .sql =
    "UPDATE quota SET used = used - $3 WHERE tenant_id = $1 AND resource = $2" };
static const struct stmt quota_get_stmt = { .name = "quota_get", .params = "us", .row = &quota_schema, .card = CARD_ONE, .sql =
    "SELECT " QUOTA_COLUMNS " FROM quota WHERE tenant_id = $1 AND resource = $2" };
static const struct stmt quota_list_stmt = { .name = "quota_list", .params = "u", .row = &quota_schema, .card = CARD_MANY, .sql =
    "SELECT " QUOTA_COLUMNS " FROM quota WHERE tenant_id = $1 ORDER BY resource LIMIT 16" };
static const struct stmt quota_set_stmt = { .name = "quota_set", .params = "usii", .row = &quota_schema, .card = CARD_MAYBE, .sql =
    "UPDATE quota SET hard_limit = $3, version = version + 1\n"
    " WHERE tenant_id = $1 AND resource = $2 AND used <= $3 AND ($4 < 0 OR version = $4) RETURNING " QUOTA_COLUMNS };
static const struct stmt usage_by_day_stmt = { .name = "usage_by_day", .params = "ui", .row = &usage_day_schema, .card = CARD_MANY, .sql =
    "SELECT to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, zone, pool, count(*) AS attempts, sum(slot_ms)::bigint AS slot_ms,\n"
    "       sum(gpu_ms)::bigint AS gpu_ms\n"
    "  FROM usage_record WHERE tenant_id = $1 AND ended_at > now() - make_interval(days => $2::bigint::int)\n"
    " GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3 LIMIT 5000" };

const struct stmt *const quota_stmts[] = { &quota_reserve_stmt, &quota_release_stmt, &quota_get_stmt, &quota_list_stmt, &quota_set_stmt,
                                           &usage_by_day_stmt, NULL };

enum errc quota_reserve(struct work *w, const char *resource, int64_t amount, struct err *e)
{
    struct quota q;
    bool fits;
    TRY(db_maybe(w->tx, &quota_reserve_stmt, ARGS(A_UUID(w->tenant_id), A_TEXT(resource), A_I64(amount)), &q, &fits, e));
    if (fits)
        return ERR_OK;
    TRY(db_one(w->tx, &quota_get_stmt, ARGS(A_UUID(w->tenant_id), A_TEXT(resource)), &q, e));
    return FAIL(e, QUOTA, "The quota of %s does not allow this: %ld asked, %ld of %ld in use", resource, (long)amount, (long)q.used,
                (long)q.hard_limit);
}

void quota_release(struct work *w, const char *resource, int64_t amount)
{
    db_queue(w->tx, &quota_release_stmt, ARGS(A_UUID(w->tenant_id), A_TEXT(resource), A_I64(amount)), true);
}

enum errc quota_list(struct work *w, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &quota_list_stmt, ARGS(A_UUID(w->tenant_id)), ret, 16, e);
}

enum errc quota_set(struct work *w, struct str resource, int64_t hard_limit, int64_t expected_version, struct quota *ret, struct err *e)
{
    bool done;
    struct quota q;
    TRY(db_maybe(w->tx, &quota_set_stmt, ARGS(A_UUID(w->tenant_id), A_STR(resource), A_I64(hard_limit), A_I64(expected_version)), ret, &done, e));
    if (done)
        return ERR_OK;
    TRY(db_one(w->tx, &quota_get_stmt, ARGS(A_UUID(w->tenant_id), A_STR(resource)), &q, e));
    if (expected_version >= 0 && q.version != expected_version)
        return FAIL(e, PRECONDITION, "The quota has changed since it was read (version %ld)", (long)q.version);
    return FAIL_AT(e, CONFLICT, "/hard_limit", "%ld are in use, so the limit cannot be %ld", (long)q.used, (long)hard_limit);
}

enum errc usage_by_day(struct work *w, int64_t days, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &usage_by_day_stmt, ARGS(A_UUID(w->tenant_id), A_I64(days)), ret, 5000, e);
}
