/* SPDX-License-Identifier: Apache-2.0 */
/* shadow.c - rows of audit_shadow into events. A row says itself whether it became one, so nothing waits for others; the
 * number of the transaction only tells which rows belong to one statement. */
#include "audit/shadow.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "core/table/schema.h"

struct shadow_row {
    struct str xid, table_name, op, login, address, program, row_key;
    struct bytes statement_sha;
    struct uuid tenant_id;
    int64_t changed;
    struct timestamp at;
};
SCHEMA_OF(shadow_row, "A statement that was seen", FIELD(shadow_row, xid, 0, .doc = "Transaction"), FIELD(shadow_row, table_name, 0, .doc = "Table"),
    FIELD(shadow_row, op, 0, .doc = "What it did"), FIELD(shadow_row, login, 0, .doc = "Database login"),
    FIELD(shadow_row, address, 0, .doc = "From where; absent: the socket"), FIELD(shadow_row, program, 0, .doc = "application_name"),
    FIELD(shadow_row, row_key, 0, .doc = "Key of the first row"), FIELD(shadow_row, statement_sha, 0, .doc = "SHA-256 of its text"),
    FIELD(shadow_row, tenant_id, 0, .doc = "Tenant of the first row"), FIELD(shadow_row, changed, 0, .doc = "Rows"), FIELD(shadow_row, at, 0, .doc = "When"));

static const struct stmt fresh = { .name = "audit_shadow_new", .params = "i", .row = &shadow_row_schema, .card = CARD_MANY, .sql =
  "SELECT xid::text AS xid, table_name, op, login, max(address) AS address, max(program) AS program,\n"
  "       (array_agg(row_key ORDER BY shadow_id))[1] AS row_key, statement_sha, (array_agg(tenant_id ORDER BY shadow_id))[1] AS tenant_id,\n"
  "       count(*) AS changed, min(at) AS at\n"
  "  FROM audit_shadow WHERE event_id IS NULL\n"
  " GROUP BY audit_shadow.xid, table_name, op, login, statement_sha ORDER BY min(shadow_id) LIMIT $1" };
static const struct stmt mark = { .name = "audit_shadow_mark", .params = "sssyu", .card = CARD_NONE, .sql =
  "UPDATE audit_shadow SET event_id = $5\n"
  " WHERE event_id IS NULL AND xid = $1::xid8 AND table_name = $2 AND op = $3 AND statement_sha = $4" };

const struct stmt *const audit_shadow_stmts[] = { &fresh, &mark, NULL };

static enum errc note(struct work *w, const struct shadow_row *r, struct err *e)
{
    char sha[2 * 32 + 1] = "";
    struct audit_event ev = audit_event_of(w, AUDIT_SHADOW);
    if (r->statement_sha.data.len == 32)
        hex_encode(r->statement_sha.data.ptr, 32, sha);
    ev.tenant_id = UUID_NIL;
    ev.ts_us = r->at.us;
    ev.resource_kind = STR("table");
    ev.resource_name = r->table_name;
    audit_event_detail(&ev, AUDIT_D_STR("op", r->op));
    audit_event_detail(&ev, AUDIT_D_STR("login", r->login));
    audit_event_detail(&ev, AUDIT_D_STR("from", r->address.ptr ? r->address : STR("socket")));
    audit_event_detail(&ev, AUDIT_D_STR("program", r->program));
    audit_event_detail(&ev, AUDIT_D_INT("rows", r->changed));
    audit_event_detail(&ev, AUDIT_D_STR("first", r->row_key));
    audit_event_detail(&ev, AUDIT_D_STR("tenant", id_text(w->arena, "tnt", r->tenant_id)));
    audit_event_detail(&ev, AUDIT_D_STR("statement_sha256", str_c(sha)));
    TRY(audit_append(w, &ev, e));
    db_queue(w->tx, &mark, ARGS(A_STR(r->xid), A_STR(r->table_name), A_STR(r->op), A_BYTES(r->statement_sha.data.ptr, r->statement_sha.data.len),
                                A_UUID(ev.event_id)), true);
    metrics_inc(M_audit_shadow_total);
    return ERR_OK;
}

enum errc audit_shadow_pass(struct work *w, int64_t most, size_t *ret_statements, struct err *e)
{
    struct { struct shadow_row *items; size_t n; } rows = { 0 };
    TRY(db_many(w->tx, &fresh, ARGS(A_I64(most)), &rows, (size_t)most, e));
    for (size_t i = 0; i < rows.n; i++)
        TRY(note(w, &rows.items[i], e));
    *ret_statements = rows.n;
    return ERR_OK;
}
