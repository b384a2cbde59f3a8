/* SPDX-License-Identifier: Apache-2.0 */
/* retention.c - terms as rows, and the one call that drops. */
#include "audit/retention.h"
#include "core/db/tx.h"

enum { LOGS_MAX = 100000 };

SCHEMA_EXTERN(audit_retention, "How long a class of events is kept",
    FIELD_AS(audit_retention, class, "class", F_ALWAYS, .doc = "The middle of the event's code, such as JOB; * for all others"),
    FIELD(audit_retention, zone, F_ALWAYS,
          .doc = "Least term of the tenants at home in this zone; empty: a term of the tenant or platform itself"),
    FIELD(audit_retention, keep_days, 0, .doc = "Days"), FIELD_ID(audit_retention, set_by, "usr", 0, .doc = "Who set it; absent: as shipped"),
    FIELD(audit_retention, set_at, 0, .doc = "When"));
SCHEMA_OF(audit_dropped, "What a log lost", FIELD(audit_dropped, tenant_id, 0, .doc = "Whose log"), FIELD(audit_dropped, dropped, 0, .doc = "Bodies"),
    FIELD(audit_dropped, until_tseq, 0, .doc = "The greatest number among them"));

static const struct stmt list = { .name = "audit_retention_list", .params = "u", .row = &audit_retention_schema, .card = CARD_MANY, .sql =
  "SELECT class, zone, keep_days, set_by, set_at FROM audit_retention WHERE tenant_id = $1 ORDER BY zone, class LIMIT 200" };
static const struct stmt set = { .name = "audit_retention_set", .params = "ussiu", .row = &audit_retention_schema, .card = CARD_ONE, .sql =
  "INSERT INTO audit_retention (tenant_id, class, zone, keep_days, set_by) VALUES ($1, $2, $3, $4, $5)\n"
  "    ON CONFLICT (tenant_id, class, zone) DO UPDATE SET keep_days = EXCLUDED.keep_days, set_by = EXCLUDED.set_by, set_at = now()\n"
  "RETURNING class, zone, keep_days, set_by, set_at" };
static const struct stmt drop = { .name = "audit_retention_drop", .params = "i", .row = &audit_dropped_schema, .card = CARD_MANY, .sql =
  "SELECT tenant_id, dropped, until_tseq FROM audit_retention_drop($1)" };
/* What holds for a tenant when it sets nothing; the function sees the platform's rows. */
struct days_row { int64_t days; };
SCHEMA_OF(days_row, "A term", FIELD(days_row, days, 0, .doc = "Days"));
static const struct stmt effective = { .name = "audit_keep_days", .params = "us", .row = &days_row_schema, .card = CARD_ONE, .sql =
  "SELECT audit_keep_days($1, $2) AS days" };

const struct stmt *const audit_retention_stmts[] = { &list, &set, &effective, NULL };
const struct stmt *const audit_retention_drop_stmts[] = { &drop, NULL };

enum errc audit_retention_list(struct work *w, struct slice *ret, struct err *e)
{
    struct { struct audit_retention *items; size_t n; } rows = { 0 };
    bool has_all = false;
    TRY(db_many(w->tx, &list, ARGS(A_UUID(w->tenant_id)), &rows, 200, e));
    struct audit_retention *out = ARENA_ARRAY(w->arena, struct audit_retention, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        out[i] = rows.items[i];
        has_all |= str_eq_c(out[i].class, "*") && !out[i].zone.len;
    }
    if (!has_all) {
        struct days_row row;
        TRY(db_one(w->tx, &effective, ARGS(A_UUID(w->tenant_id), A_TEXT("*")), &row, e));
        out[rows.n++] = (struct audit_retention){ .class = STR("*"), .zone = STR(""), .keep_days = row.days };
    }
    *ret = (struct slice){ out, rows.n };
    return ERR_OK;
}

enum errc audit_retention_set(struct work *w, struct str class, struct str zone, int64_t keep_days, struct uuid by, struct audit_retention *ret,
                              struct err *e)
{
    if (zone.len && !uuid_is_nil(w->tenant_id))
        return FAIL_AT(e, UNPROCESSABLE, "/zone", "Only the platform sets the least term of a zone");
    TRY(db_one(w->tx, &set, ARGS(A_UUID(w->tenant_id), A_STR(class), A_STR(zone.ptr ? zone : STR("")), A_I64(keep_days), A_UUID(by)), ret, e));
    return ERR_OK;
}

enum errc audit_retention_drop(struct work *w, int64_t most, struct audit_dropped **ret, size_t *ret_n, struct err *e)
{
    struct { struct audit_dropped *items; size_t n; } rows = { 0 };
    TRY(db_many(w->tx, &drop, ARGS(A_I64(most)), &rows, LOGS_MAX, e));
    *ret = rows.items;
    *ret_n = rows.n;
    return ERR_OK;
}
