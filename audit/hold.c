/* SPDX-License-Identifier: Apache-2.0 */
/* hold.c - legal holds as rows. */
#include "audit/hold.h"
#include "core/db/tx.h"

SCHEMA_EXTERN(audit_hold, "A legal hold",
    FIELD_ID(audit_hold, hold_id, "hld", F_ALWAYS, .doc = "The hold"),
    FIELD_ID(audit_hold, about_tenant, "tnt", 0, .doc = "Holds of the platform: the tenant they are about; absent: the own one"),
    FIELD_ID(audit_hold, subject_id, "usr", 0, .doc = "Only what this person did; absent: everything"),
    FIELD(audit_hold, from_at, 0, .doc = "Only events from this time on"), FIELD(audit_hold, until_at, 0, .doc = "Only events before this time"),
    FIELD(audit_hold, reason, F_ALWAYS, .max = 1024, .doc = "Why"), FIELD(audit_hold, state, F_ALWAYS, .doc = "ACTIVE or LIFTED"),
    FIELD_ID(audit_hold, placed_by, "usr", F_ALWAYS, .doc = "Who placed it"),
    FIELD(audit_hold, created_at, F_ALWAYS, .doc = "When"),
    FIELD(audit_hold, lifted_at, 0, .doc = "When it was lifted"));

static const struct stmt place = { .name = "audit_hold_place", .params = "uuuuttsu", .row = &audit_hold_schema, .card = CARD_ONE, .sql =
  "INSERT INTO audit_hold (tenant_id, hold_id, about_tenant, subject_id, from_at, until_at, reason, placed_by)\n"
  "VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING " ROW_COLUMNS };
static const struct stmt get = { .name = "audit_hold_get", .params = "uu", .row = &audit_hold_schema, .card = CARD_ONE, .sql =
  "SELECT " ROW_COLUMNS " FROM audit_hold WHERE tenant_id = $1 AND hold_id = $2" };
static const struct stmt list = { .name = "audit_hold_list", .params = "usui", .row = &audit_hold_schema, .card = CARD_MANY, .sql =
  "SELECT " ROW_COLUMNS " FROM audit_hold WHERE tenant_id = $1 AND ($2::text IS NULL OR state = $2)\n"
  "   AND ($3::uuid IS NULL OR hold_id > $3) ORDER BY hold_id LIMIT $4" };
static const struct stmt lift = { .name = "audit_hold_lift", .params = "uu", .card = CARD_NONE, .sql =
  "UPDATE audit_hold SET state = 'LIFTED', lifted_at = clock_timestamp() WHERE tenant_id = $1 AND hold_id = $2 AND state = 'ACTIVE'" };
struct held_row { bool held; };
SCHEMA_OF(held_row, "Whether a person is held", FIELD(held_row, held, 0, .doc = "Held"));
static const struct stmt subject_held = { .name = "audit_subject_held", .params = "uu", .row = &held_row_schema, .card = CARD_ONE, .sql =
  "SELECT subject_has_hold($1, $2) AS held" };

const struct stmt *const audit_hold_stmts[] = { &place, &get, &list, &lift, &subject_held, NULL };

enum errc audit_hold_place(struct work *w, const struct audit_hold *in, struct uuid by, struct audit_hold *ret, struct err *e)
{
    if (in->from_at.us && in->until_at.us && in->from_at.us >= in->until_at.us)
        return FAIL_AT(e, UNPROCESSABLE, "/until_at", "The time of the hold is empty");
    return db_one(w->tx, &place, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID_OR_NULL(in->about_tenant),
                                      A_UUID_OR_NULL(in->subject_id), A_TIME(in->from_at), A_TIME(in->until_at), A_STR(in->reason), A_UUID(by)),
                  ret, e);
}

enum errc audit_hold_get(struct work *w, struct uuid hold_id, struct audit_hold *ret, struct err *e)
{
    return db_one(w->tx, &get, ARGS(A_UUID(w->tenant_id), A_UUID(hold_id)), ret, e);
}

enum errc audit_hold_list(struct work *w, struct str state, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &list, ARGS(A_UUID(w->tenant_id), A_STR(state), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc audit_hold_lift(struct work *w, struct uuid hold_id, struct err *e)
{
    int64_t n;
    TRY(db_exec(w->tx, &lift, ARGS(A_UUID(w->tenant_id), A_UUID(hold_id)), &n, e));
    return n == 1 ? ERR_OK : FAIL(e, CONFLICT, "The hold is not active any more");
}

enum errc audit_hold_refuse_subject(struct work *w, struct uuid subject, struct err *e)
{
    struct held_row row;
    TRY(db_one(w->tx, &subject_held, ARGS(A_UUID(w->tenant_id), A_UUID(subject)), &row, e));
    return row.held ? FAIL(e, LEGAL_HOLD, "A legal hold keeps this; it must be lifted first") : ERR_OK;
}
