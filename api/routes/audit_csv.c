/* SPDX-License-Identifier: Apache-2.0 */
/* audit_csv.c - route of a search's whole result as one CSV for people: names as they are now, ids as the API writes them.
 *
 * The log is walked in windows of its numbers, each a transaction of bounded cost, up to the length it had when the call came. Addresses
 * are left out: they are personal, and each would have to be opened by itself; GET /v1/audit/events/{event_id} shows one. */
#include "api/pipeline.h"
#include "api/routes/audit_int.h"
#include "audit/actor_name.h"
#include "audit/format.h"
#include "audit/thing_name.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"

enum { WINDOW = 50000, PAGE_ROWS = 500, PAGE_ARENA = 64 << 20, PAGE_BYTES = 16 << 20 };
static const char header[] = "\xef\xbb\xbftseq,at,action,outcome,actor_kind,actor_id,actor_name,resource_kind,resource_id,"
                             "resource_name,http_status,request_id,event_id,leaf\r\n";

struct csv_in { AUDIT_WANT; };
SCHEMA_OF(csv_in, "Which events", AUDIT_WANT_FIELDS(csv_in));

static void put_row(struct arena *a, struct buf *b, const struct audit_row *r, struct str name, struct str thing,
                    struct audit_view *v)
{
    char when[TIME_TEXT] = "";
    bool has_status = r->body.ptr && audit_record_read(r->body, v) && v->http_status;
    if (r->at_us)
        time_text(r->at_us, when);
    struct str cells[] = { str_fmt(a, "%llu", (unsigned long long)r->tseq), str_c(when), r->action, r->outcome, r->actor,
                           audit_actor_id(a, r), name, r->resource_kind, r->resource_id, thing,
                           has_status ? str_fmt(a, "%d", v->http_status) : STR_NULL, r->request_id,
                           id_text(a, "evt", r->event_id), audit_hex(a, &r->leaf, MERKLE_HASH) };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        buf_add_c(b, i ? "," : "");
        audit_csv_cell(b, cells[i]);
    }
    buf_add_c(b, "\r\n");
}

/* The rows of one page; q->after goes on behind them. */
static enum errc put_page(struct work *w, struct audit_search *q, uint64_t length, struct buf *b, struct err *e)
{
    struct audit_view *view = ARENA_NEW(w->arena, struct audit_view);
    struct audit_row *rows;
    struct str *names;
    struct audit_called *things;
    size_t n;
    q->upto = length - q->after > WINDOW ? q->after + WINDOW : length;
    TRY(audit_search(w, w->tenant_id, q, PAGE_ROWS, &rows, &n, e));
    TRY(audit_actor_names(w, w->tenant_id, rows, n, &names, e));
    TRY(audit_thing_names(w, w->tenant_id, rows, n, &things, e));
    for (size_t i = 0; i < n; i++)
        put_row(w->arena, b, &rows[i], names[i], things[i].name, view);
    q->after = n == PAGE_ROWS ? rows[n - 1].tseq : q->upto;
    return b->overflow ? FAIL(e, INTERNAL, "A page of the log is too long to be written") : ERR_OK;
}

static enum errc begin(struct work *w, const struct csv_in *in, struct audit_search *q, uint64_t *length, struct err *e)
{
    TRY(audit_search_of(w, AUDIT_WANT_OF(in), q, e));
    return audit_log_length(w, w->tenant_id, length, e);
}

static enum errc put_all(const struct work *of, struct audit_search *q, uint64_t length, struct audit_stream *s, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(PAGE_BYTES);
    CLEANUP(arena_freep) struct arena *page = arena_new(PAGE_ARENA);
    struct work w = *of;
    w.arena = page;
    TRY(audit_stream_sink(s, header, sizeof header - 1, e));
    while (q->after < length) {
        arena_reset(page);
        buf_clear(&b);
        TRY(RUN_READ(&w, put_page(&w, q, length, &b, e), e));
        if (b.len)
            TRY(audit_stream_sink(s, b.ptr, b.len, e));
    }
    return ERR_OK;
}

static enum errc csv(struct call *c, struct err *e)
{
    struct audit_stream s = { .call = c, .status = 200, .request_id = c->work.request_id, .content_type = STR("text/csv; charset=utf-8"),
                              .file = STR("attachment; filename=\"audit-events.csv\"") };
    struct audit_search q;
    uint64_t length;
    TRY(RUN_READ(&c->work, begin(&c->work, c->in, &q, &length, e), e));
    q.is_walk = true;
    TRY(audit_stream_note(c, UUID_NIL, e));
    enum errc rc = put_all(&c->work, &q, length, &s, e);
    if (!s.begun)
        return rc;
    audit_stream_finish(c, &s, rc, e);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/audit/events.csv", .lane = LANE_PACED,
      .op = "audit_events_csv", .perm = PERM_AUDIT_EXPORT, .raw = csv, .in = &csv_in_schema, .status = 200,
      .content_type = "text/csv; charset=utf-8", .resource = "audit", .audit = AUDIT_AUDIT_EXPORT,
      .doc = "Every event that a search finds, oldest first, as CSV for spreadsheets: with names, without addresses. It proves nothing; an export does" },
};
extern const struct route_table audit_csv_routes;
ROUTE_TABLE(audit_csv_routes, rows);
