/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.c - compares the access log with the audit log. */
#include "audit/reconcile.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

struct missing_row {
    struct str request_id;
    int64_t missing;
};
SCHEMA_OF(missing_row, "A request without its event", FIELD(missing_row, request_id, 0, .doc = "The request"), FIELD(missing_row, missing, 0, .doc = "Events"));
static const struct stmt missing = { .name = "audit_reconcile_missing", .params = "US", .row = &missing_row_schema, .card = CARD_MANY, .sql =
  "SELECT u.request_id, u.n - u.have AS missing FROM (\n"
  "  SELECT i.request_id, count(*) AS n, (SELECT count(*) FROM audit_seq s WHERE s.tenant_id = i.tenant_id AND s.request_id = i.request_id) AS have\n"
  "    FROM unnest($1::uuid[], $2::text[]) AS i(tenant_id, request_id) GROUP BY i.tenant_id, i.request_id) u\n"
  " WHERE u.have < u.n ORDER BY 1 LIMIT 1000" };

const struct stmt *const audit_reconcile_stmts[] = { &missing, NULL };

struct line {
    int64_t ts_us;
    struct uuid tenant;
    bool is_audited;
    struct str request_id;
};

static bool parse(struct str text, struct line *ret)
{
    struct str part[6], rest = text;
    for (int i = 0; i < 6; i++)
        if (!str_cut(rest, ' ', &part[i], &rest))
            return false;
    ret->request_id = rest;
    ret->is_audited = str_eq_c(part[5], "A");
    return str_eq_c(part[0], "1") && str_to_i64(part[1], 0, INT64_MAX, &ret->ts_us) && uuid_parse(part[2], &ret->tenant) && rest.len > 0 &&
           rest.len < RECONCILE_ID_MAX;
}

void reconcile_init(struct reconcile *r)
{
    *r = (struct reconcile){ 0 };
}

bool reconcile_takes(struct str text, int64_t until_us)
{
    struct line l;
    return !until_us || !parse(text, &l) || l.ts_us <= until_us;
}

static enum errc look(struct work *w, struct reconcile *r, struct err *e)
{
    struct { struct missing_row *items; size_t n; } rows = { 0 };
    struct str ids[RECONCILE_BATCH];
    if (!r->n)
        return ERR_OK;
    for (size_t i = 0; i < r->n; i++)
        ids[i] = str_c(r->ids[i]);
    TRY(db_many(w->tx, &missing, ARGS(A_UUIDS(r->tenants, r->n), A_STRS(ids, r->n)), &rows, RECONCILE_BATCH, e));
    for (size_t i = 0; i < rows.n; i++) {
        r->missing += rows.items[i].missing;
        if (r->shown == RECONCILE_SHOWN)
            continue;
        struct str id = rows.items[i].request_id;
        memcpy(r->first[r->shown], id.ptr, id.len);
        r->first[r->shown++][id.len] = 0;
    }
    r->n = 0;
    return ERR_OK;
}

enum errc reconcile_line(struct work *w, struct reconcile *r, struct str text, struct err *e)
{
    struct line l;
    r->lines++;
    if (!parse(text, &l)) {
        r->malformed++;
        return ERR_OK;
    }
    if (!r->from_us)
        r->from_us = l.ts_us;
    r->until_us = l.ts_us;
    if (!l.is_audited)
        return ERR_OK;
    r->expected++;
    r->tenants[r->n] = l.tenant;
    memcpy(r->ids[r->n], l.request_id.ptr, l.request_id.len);
    r->ids[r->n][l.request_id.len] = 0;
    return ++r->n == RECONCILE_BATCH ? look(w, r, e) : ERR_OK;
}

enum errc reconcile_end(struct work *w, struct reconcile *r, struct err *e)
{
    return look(w, r, e);
}

enum errc audit_reconcile_note(struct work *w, const struct reconcile *r, struct err *e)
{
    static const char *const names[RECONCILE_SHOWN] = { "missing_1", "missing_2", "missing_3", "missing_4", "missing_5", "missing_6", "missing_7",
                                                        "missing_8" };
    struct audit_event ev = audit_event_of(w, AUDIT_RECONCILE);
    ev.tenant_id = UUID_NIL;
    ev.resource_kind = STR("access_log");
    ev.error = r->missing || r->malformed ? ERR_DAMAGED : ERR_OK;
    audit_event_detail(&ev, AUDIT_D_INT("from_us", r->from_us));
    audit_event_detail(&ev, AUDIT_D_INT("until_us", r->until_us));
    audit_event_detail(&ev, AUDIT_D_INT("lines", r->lines));
    audit_event_detail(&ev, AUDIT_D_INT("audited", r->expected));
    audit_event_detail(&ev, AUDIT_D_INT("missing", r->missing));
    audit_event_detail(&ev, AUDIT_D_INT("malformed", r->malformed));
    for (int i = 0; i < r->shown; i++)
        audit_event_detail(&ev, AUDIT_D_STR(names[i], str_c(r->first[i])));
    return audit_append(w, &ev, e);
}

bool reconcile_print(struct buf *b, int64_t ts_us, struct uuid tenant, const char *op, int status, bool is_audited, struct str request_id)
{
    char text[UUID_TEXT];
    uuid_text(tenant, text);
    buf_printf(b, "1 %lld %s %s %d %c %.*s\n", (long long)ts_us, text, op, status, is_audited ? 'A' : '-', STR_ARG(request_id));
    return !b->overflow;
}
