/* SPDX-License-Identifier: Apache-2.0 */
/* tail.c - a range of the primary key of audit_seq; bodies are read for the rows that are wanted. */
#include "audit/tail.h"
#include "core/db/tx.h"

struct tail_end { int64_t size; };
SCHEMA_OF(tail_end, "The end of a log", FIELD(tail_end, size, 0, .doc = "Entries"));
SCHEMA_OF(audit_tail_row, "An entry of a log", FIELD(audit_tail_row, tseq, 0, .doc = "Number"), FIELD(audit_tail_row, at, 0,
    .doc = "When"),
    FIELD(audit_tail_row, code, 0, .doc = "Code"), FIELD(audit_tail_row, actor_id, 0, .doc = "Who"),
    FIELD(audit_tail_row, resource_kind, 0, .doc = "Kind of thing"), FIELD(audit_tail_row, resource_id, 0, .doc = "The thing"),
    FIELD(audit_tail_row, details, 0, .doc = "Details"));

static const struct stmt tail_end = { .name = "audit_tail_end", .params = "u", .row = &tail_end_schema, .card = CARD_ONE, .sql =
    "SELECT coalesce((SELECT size FROM audit_log_state WHERE tenant_id = $1), 0) AS size" };
static const struct stmt tail_read = { .name = "audit_tail_read", .params = "uiiSi", .row = &audit_tail_row_schema,
    .card = CARD_MANY, .sql =
    "SELECT s.tseq, s.at, s.code, s.actor_id, coalesce(s.resource_kind, '') AS resource_kind, coalesce(s.resource_id, '') AS "
    "resource_id,\n"
    "       coalesce((SELECT convert_from(b.body, 'UTF8')::jsonb -> 'details' FROM audit_event b\n"
    "                  WHERE b.tenant_id = $1 AND b.event_id = s.event_id), '{}'::jsonb) AS details\n"
    "  FROM audit_seq s WHERE s.tenant_id = $1 AND s.tseq > $2 AND s.tseq <= $3 AND left(s.code, 11) = ANY ($4)\n"
    " ORDER BY s.tseq LIMIT $5" };

struct tail_grown { struct uuid tenant_id; };
SCHEMA_OF(tail_grown, "A log that has grown", FIELD(tail_grown, tenant_id, 0, .doc = "Whose"));
static const struct stmt tail_grown = { .name = "audit_tail_grown", .params = "UI", .row = &tail_grown_schema,
    .card = CARD_MANY, .sql =
    "SELECT i.tenant_id FROM unnest($1, $2) AS i(tenant_id, tseq) JOIN audit_log_state s ON s.tenant_id = i.tenant_id AND "
    "s.size > i.tseq" };

const struct stmt *const audit_tail_stmts[] = { &tail_end, &tail_read, &tail_grown, NULL };

enum errc audit_tail_end(struct work *w, struct uuid tenant, int64_t *ret, struct err *e)
{
    struct tail_end end;
    TRY(db_one(w->tx, &tail_end, ARGS(A_UUID(tenant)), &end, e));
    *ret = end.size;
    return ERR_OK;
}

enum errc audit_tail_read(struct work *w, struct uuid tenant, int64_t after, const struct str *codes, size_t n, struct slice *ret,
                          int64_t *ret_next, struct err *e)
{
    int64_t end;
    *ret = (struct slice){ 0 };
    TRY(audit_tail_end(w, tenant, &end, e));
    if (end > after + AUDIT_TAIL_SPAN)
        end = after + AUDIT_TAIL_SPAN;
    *ret_next = end > after ? end : after;
    if (end <= after || !n)
        return ERR_OK;
    TRY(db_many(w->tx, &tail_read, ARGS(A_UUID(tenant), A_I64(after), A_I64(end), A_STRS(codes, n), A_I64(AUDIT_TAIL_MAX)), ret,
                AUDIT_TAIL_MAX, e));
    if (ret->n == AUDIT_TAIL_MAX)
        *ret_next = ((const struct audit_tail_row *)ret->items)[ret->n - 1].tseq;
    return ERR_OK;
}

enum errc audit_tail_grown(struct work *w, const struct uuid *tenants, const int64_t *after, size_t n, struct slice *ret,
    struct err *e)
{
    *ret = (struct slice){ 0 };
    return n ? db_many(w->tx, &tail_grown, ARGS(A_UUIDS(tenants, n), A_I64S(after, n)), ret, n, e) : ERR_OK;
}
