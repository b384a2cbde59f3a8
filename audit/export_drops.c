/* SPDX-License-Identifier: Apache-2.0 */
/* export_drops.c - the retention entries that a bundle brings along, so that its missing bodies are proven dropped. */
#include "audit/export_drops_int.h"
#include "audit/drop_list.h"
#include "core/base/cleanup.h"

struct drop_row {
    int64_t tseq;
    struct bytes body;
};
SCHEMA_OF(drop_row, "A retention entry", FIELD(drop_row, tseq, 0, .doc = "Its number"),
  FIELD(drop_row, body, 0, .max = 65536, .doc = "Canonical bytes"));

const struct stmt export_drops_stmt = { .name = "audit_drops_page", .params = "uiii", .row = &drop_row_schema, .card = CARD_MANY,
    .sql =
  "SELECT s.tseq, e.body FROM audit_seq s JOIN audit_event e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id\n"
  " WHERE s.tenant_id = $1 AND s.action = 'audit.retention' AND s.tseq > $2 AND s.tseq <= $3 ORDER BY s.tseq LIMIT $4" };

static bool reaches(struct str body, uint64_t tseq, uint64_t from, uint64_t to, struct audit_view *view)
{
    struct drop_list list = { 0 };
    bool is_list = audit_record_read(body, view) && drop_list_add(&list, view, tseq);
    bool is_there = is_list && list.n && list.items[0].from <= to && list.items[list.n - 1].to >= from;
    drop_list_release(&list);
    return is_there;
}

enum errc export_drops_page(struct export *x, uint64_t from, uint64_t to, uint64_t upto, uint64_t *after,
                            struct export_drop **ret, size_t *ret_n, struct err *e)
{
    struct { struct drop_row *items; size_t n; } rows = { 0 };
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    TRY(export_begin_page(x, &tx, e));
    TRY(db_many(tx, &export_drops_stmt, ARGS(A_UUID(x->tenant_id), A_I64((int64_t)*after), A_I64((int64_t)upto),
        A_I64(EXPORT_DROPS_PAGE)), &rows,
                EXPORT_DROPS_PAGE, e));
    struct audit_view *view = ARENA_NEW(x->page, struct audit_view);
    *ret = ARENA_ARRAY(x->page, struct export_drop, rows.n + 1);
    *ret_n = 0;
    for (size_t i = 0; i < rows.n; i++)
        if (reaches(rows.items[i].body.data, (uint64_t)rows.items[i].tseq, from, to, view))
            (*ret)[(*ret_n)++] = (struct export_drop){ (uint64_t)rows.items[i].tseq, rows.items[i].body.data };
    *after = rows.n == EXPORT_DROPS_PAGE ? (uint64_t)rows.items[rows.n - 1].tseq : upto;
    return db_commit(tx, e);
}
