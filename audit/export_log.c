/* SPDX-License-Identifier: Apache-2.0 */
/* export_log.c - heads and entries of a stored log, page by page; what audit_list and audit_newest_head read. */
#include "audit/export_log_int.h"
#include "audit/export_filter_int.h"
#include "core/base/cleanup.h"

enum { CHECKPOINTS = 256 };

struct head_row {
    int64_t size;
    struct bytes body, signature;
};
SCHEMA_OF(head_row, "A signed head", FIELD(head_row, size, 0, .doc = "Entries"),
  FIELD(head_row, body, 0, .max = HEAD_BODY_MAX, .doc = "Canonical bytes"), FIELD(head_row, signature, 0, .doc = "Ed25519"));

static const struct stmt head_newest = { .name = "audit_head_newest", .params = "u", .row = &head_row_schema, .card = CARD_MAYBE,
                                         .sql =
  "SELECT size, body, signature FROM audit_head WHERE tenant_id = $1 ORDER BY size DESC LIMIT 1" };
static const struct stmt head_at = { .name = "audit_head_at", .params = "ui", .row = &head_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT size, body, signature FROM audit_head WHERE tenant_id = $1 AND size = $2" };
/* At most one head in each of 200 equal parts of the range. */
static const struct stmt head_checkpoints = { .name = "audit_head_checkpoints", .params = "uii", .row = &head_row_schema,
                                              .card = CARD_MANY, .sql =
  "SELECT size, body, signature FROM (\n"
  "  SELECT DISTINCT ON ((size - $2) * 200 / ($3 - $2 + 1)) size, body, signature FROM audit_head\n"
  "   WHERE tenant_id = $1 AND size >= $2 AND size < $3\n"
  "   ORDER BY (size - $2) * 200 / ($3 - $2 + 1), size DESC) h\n"
  " ORDER BY size LIMIT 256" };

SCHEMA_OF(record_row, "An entry of a log", FIELD(record_row, tseq, 0, .doc = "Its number"),
  FIELD(record_row, event_id, 0, .doc = "The event"),
  FIELD(record_row, leaf, 0, .doc = "Its hash"), FIELD(record_row, chain, 0, .doc = "Chain value"),
  FIELD(record_row, body, 0, .max = 65536, .doc = "Canonical bytes; absent: dropped by retention"));

static const struct stmt record_page = { .name = "audit_record_page", .params = "uiii", .row = &record_row_schema,
                                         .card = CARD_MANY, .sql =
  "SELECT s.tseq, s.event_id, s.leaf, s.chain, e.body FROM audit_seq s\n"
  "  LEFT JOIN audit_event e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id\n"
  " WHERE s.tenant_id = $1 AND s.tseq > $2 AND s.tseq <= $3 ORDER BY s.tseq LIMIT $4" };
static const struct stmt record_some = { .name = "audit_record_some", .params = "uI", .row = &record_row_schema,
                                         .card = CARD_MANY, .sql =
  "SELECT s.tseq, s.event_id, s.leaf, s.chain, e.body FROM audit_seq s\n"
  "  LEFT JOIN audit_event e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id\n"
  " WHERE s.tenant_id = $1 AND s.tseq = ANY($2) ORDER BY s.tseq LIMIT 1000" };

const struct stmt *const audit_export_stmts[] = { &head_newest, &head_at, &head_checkpoints, &record_page, &record_some,
                                                 &export_opened_stmt, NULL };

static enum errc take_head(const struct head_row *row, struct bundle_head *ret, struct audit_head *head, struct err *e)
{
    if (row->body.data.len > HEAD_BODY_MAX || row->signature.data.len != AUDIT_SIG || !audit_head_decode(row->body.data, head))
        return FAIL(e, DAMAGED, "a stored tree head is damaged");
    memcpy(ret->body, row->body.data.ptr, row->body.data.len);
    ret->len = row->body.data.len;
    memcpy(ret->sig, row->signature.data.ptr, AUDIT_SIG);
    return ERR_OK;
}

enum errc export_head(struct export *x, uint64_t size, struct bundle_head *ret, struct audit_head *head, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct head_row row;
    bool found;
    TRY(export_begin_page(x, &tx, e));
    TRY(size ? db_maybe(tx, &head_at, ARGS(A_UUID(x->tenant_id), A_I64((int64_t)size)), &row, &found, e)
             : db_maybe(tx, &head_newest, ARGS(A_UUID(x->tenant_id)), &row, &found, e));
    if (!found)
        return FAIL(e, NOT_FOUND, size ? "no head was signed at that size" : "no head of this log is signed yet");
    return take_head(&row, ret, head, e);
}

enum errc export_checkpoints(struct export *x, uint64_t from, uint64_t to, struct export_checkpoints *ret, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct { struct head_row *items; size_t n; } rows = { 0 };
    struct audit_head head;
    struct export_checkpoints got = { ARENA_ARRAY(x->w->arena, struct bundle_head, CHECKPOINTS),
                                      ARENA_ARRAY(x->w->arena, uint64_t, CHECKPOINTS), 0 };
    TRY(export_begin_page(x, &tx, e));
    TRY(db_many(tx, &head_checkpoints, ARGS(A_UUID(x->tenant_id), A_I64((int64_t)from), A_I64((int64_t)to)), &rows, CHECKPOINTS,
                e));
    for (; got.n < rows.n; got.n++) {
        TRY(take_head(&rows.items[got.n], &got.heads[got.n], &head, e));
        got.sizes[got.n] = head.size;
    }
    *ret = got;
    return ERR_OK;
}

enum errc export_records(struct export *x, uint64_t after, uint64_t to, size_t limit, struct record_slice *ret, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    TRY(export_begin_page(x, &tx, e));
    TRY(db_many(tx, &record_page, ARGS(A_UUID(x->tenant_id), A_I64((int64_t)after), A_I64((int64_t)to), A_I64((int64_t)limit)),
                ret,
                limit, e));
    return db_commit(tx, e);
}

enum errc export_records_of(struct export *x, const uint64_t *only, size_t n, struct record_slice *ret, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    TRY(export_begin_page(x, &tx, e));
    TRY(db_many(tx, &record_some, ARGS(A_UUID(x->tenant_id), A_I64S((const int64_t *)only, n)), ret, n, e));
    return db_commit(tx, e);
}

enum errc audit_list(struct work *w, struct uuid tenant, uint64_t after, size_t limit, struct audit_row **ret, size_t *ret_count,
                     struct err *e)
{
    struct record_slice rows = { 0 };
    if (limit > EXPORT_PAGE)
        limit = EXPORT_PAGE;
    TRY(db_many(w->tx, &record_page, ARGS(A_UUID(tenant), A_I64((int64_t)after), A_I64(INT64_MAX), A_I64((int64_t)limit)), &rows,
                limit, e));
    struct audit_row *out = ARENA_ARRAY(w->arena, struct audit_row, rows.n ? rows.n : 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct record_row *r = &rows.items[i];
        if (r->leaf.data.len != MERKLE_HASH || r->chain.data.len != MERKLE_HASH)
            return FAIL(e, DAMAGED, "entry %lld of the audit log is damaged", (long long)r->tseq);
        out[i] = (struct audit_row){ .tseq = (uint64_t)r->tseq, .event_id = r->event_id, .body = r->body.data };
        memcpy(out[i].leaf.b, r->leaf.data.ptr, MERKLE_HASH);
        memcpy(out[i].chain.b, r->chain.data.ptr, MERKLE_HASH);
    }
    *ret = out;
    *ret_count = rows.n;
    return ERR_OK;
}

enum errc audit_newest_head(struct work *w, struct uuid tenant, struct audit_head *ret, struct str *body, uint8_t sig[AUDIT_SIG],
                            struct err *e)
{
    struct head_row row;
    struct bundle_head bytes;
    bool found;
    TRY(db_maybe(w->tx, &head_newest, ARGS(A_UUID(tenant)), &row, &found, e));
    if (!found)
        return FAIL(e, NOT_FOUND, "no head of this log is signed yet");
    TRY(take_head(&row, &bytes, ret, e));
    *body = row.body.data;
    memcpy(sig, bytes.sig, AUDIT_SIG);
    return ERR_OK;
}
