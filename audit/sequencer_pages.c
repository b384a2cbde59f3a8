/* SPDX-License-Identifier: Apache-2.0 */
/* sequencer_pages.c - sums up each full page of a log (bloom.h), later than its entries are numbered and in a transaction
 * of its own, so that numbering writes few indexes.
 *
 * audit_log_state.paged says how far a log is summed up; whoever searches looks through what lies behind it entry by
 * entry, so nothing waits for this pass, and after a crash it goes on where the state says. */
#include "audit/bloom.h"
#include "audit/sequencer.h"
#include "audit/sequencer_int.h"

enum { PASS_PAGES = 64 };

struct due_row {
    struct uuid tenant_id;
    int64_t size, paged;
};
SCHEMA_OF(due_row, "A log with a page to sum up", FIELD(due_row, tenant_id, 0, .doc = "Whose log"),
  FIELD(due_row, size, 0, .doc = "Entries"),
  FIELD(due_row, paged, 0, .doc = "Entries in pages that are summed up"));

static const struct stmt pages_due = { .name = "audit_pages_due", .params = "uii", .row = &due_row_schema,
  .card = CARD_MANY, .sql =
  "SELECT tenant_id, size, paged FROM audit_log_state WHERE tenant_id <> $1 AND size - paged >= $2\n"
  " ORDER BY size - paged DESC LIMIT $3" };

struct entry_row {
    int64_t ord, tseq;
    struct uuid actor_id;
    struct timestamp at;
    struct str action, resource_id;
};
SCHEMA_OF(entry_row, "What a page is searched by", FIELD(entry_row, ord, 0, .doc = "Which page"),
  FIELD(entry_row, tseq, 0, .doc = "Its number"),
  FIELD(entry_row, actor_id, 0, .doc = "Who"), FIELD(entry_row, at, 0, .doc = "When"),
  FIELD(entry_row, action, 0, .doc = "What was done"), FIELD(entry_row, resource_id, 0, .doc = "What it was about"));

static const struct stmt page_entries = { .name = "audit_page_entries", .params = "UII", .row = &entry_row_schema,
  .card = CARD_MANY, .sql =
  "SELECT i.ord, s.tseq, s.actor_id, s.at, s.action, s.resource_id\n"
  "  FROM unnest($1, $2, $3) WITH ORDINALITY AS i(tenant_id, first, last, ord) CROSS JOIN LATERAL (\n"
  "    SELECT tseq, actor_id, at, action, resource_id FROM audit_seq\n"
  "     WHERE tenant_id = i.tenant_id AND tseq BETWEEN i.first AND i.last ORDER BY tseq LIMIT 256) s" };

static const struct stmt page_insert = { .name = "audit_page_insert", .params = "UIITTY", .card = CARD_NONE, .sql =
  "INSERT INTO audit_page (tenant_id, first_tseq, last_tseq, min_at, max_at, bloom)\n"
  "SELECT * FROM unnest($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING" };

static const struct stmt pages_move = { .name = "audit_pages_move", .params = "UI", .card = CARD_NONE, .sql =
  "UPDATE audit_log_state s SET paged = i.paged FROM (\n"
  "  SELECT tenant_id, max(last) AS paged FROM unnest($1, $2) AS u(tenant_id, last) GROUP BY tenant_id) i\n"
  " WHERE s.tenant_id = i.tenant_id" };

const struct stmt *const sequencer_page_stmts[] = { &pages_due, &page_entries, &page_insert, &pages_move, NULL };

struct page {
    struct uuid tenant_id;
    int64_t first, last;
    struct timestamp min_at, max_at;
    struct str bloom;
    struct audit_bloom bits;
};

static size_t full_pages(struct arena *a, const struct due_row *due, size_t n, struct page **ret)
{
    struct page *p = ARENA_ARRAY(a, struct page, PASS_PAGES);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        for (int64_t at = due[i].paged; at + AUDIT_PAGE <= due[i].size && k < PASS_PAGES; at += AUDIT_PAGE) {
            p[k] = (struct page){ .tenant_id = due[i].tenant_id, .first = at + 1, .last = at + AUDIT_PAGE };
            p[k].bloom = str_n((const char *)p[k].bits.b, sizeof p[k].bits.b);
            k++;
        }
    *ret = p;
    return k;
}

static void sum_up(struct page *p, const struct entry_row *r)
{
    if (!uuid_is_nil(r->actor_id))
        audit_bloom_add(&p->bits, AUDIT_WORD_ACTOR, str_n((const char *)r->actor_id.b, 16));
    if (r->resource_id.len)
        audit_bloom_add(&p->bits, AUDIT_WORD_RESOURCE, r->resource_id);
    if (r->action.len)
        audit_bloom_add_action(&p->bits, r->action);
    if (!r->at.us)
        return;
    if (!p->min_at.us || r->at.us < p->min_at.us)
        p->min_at = r->at;
    if (r->at.us > p->max_at.us)
        p->max_at = r->at;
}

enum errc sequencer_pages(struct work *w, bool *more, struct err *e)
{
    struct { struct due_row *items; size_t n; } due = { 0 };
    struct { struct entry_row *items; size_t n; } rows = { 0 };
    struct page *p;
    struct sequencer_place at;
    *more = false;
    TRY(sequencer_lock(w->tx, &at, e));
    TRY(db_many(w->tx, &pages_due, ARGS(A_UUID(ZONE_LOG), A_I64(AUDIT_PAGE), A_I64(PASS_PAGES)), &due, PASS_PAGES, e));
    size_t n = full_pages(w->arena, due.items, due.n, &p);
    if (!n)
        return ERR_OK;
    TRY(db_many(w->tx, &page_entries, ARGS(A_UUIDS_OF(p, n, tenant_id), A_I64S_OF(p, n, first), A_I64S_OF(p, n, last)),
                &rows, PASS_PAGES * AUDIT_PAGE, e));
    for (size_t i = 0; i < rows.n; i++)
        sum_up(&p[rows.items[i].ord - 1], &rows.items[i]);
    db_queue(w->tx, &page_insert, ARGS(A_UUIDS_OF(p, n, tenant_id), A_I64S_OF(p, n, first), A_I64S_OF(p, n, last),
                                       A_TIMES_OF(p, n, min_at), A_TIMES_OF(p, n, max_at), A_BYTESS_OF(p, n, bloom)), false);
    db_queue(w->tx, &pages_move, ARGS(A_UUIDS_OF(p, n, tenant_id), A_I64S_OF(p, n, last)), false);
    *more = n == PASS_PAGES;
    return ERR_OK;
}
