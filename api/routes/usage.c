/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - routes of what was used and what it cost. The export streams page after page, each in a transaction of its own, to one reader
 * whose pace it keeps. */
#include "api/download.h"
#include "api/route.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "tenants/access/actor.h"
#include "tenants/accounts/usage.h"

enum { LINES = 1000, CSV_PAGE = 1 << 20, PAGE_ARENA = 16 << 20 };
#define DAY_US INT64_C(86400000000)

struct usage_in { int64_t days; struct timestamp from, to; struct str by; };
SCHEMA_OF(usage_in, "Which use", FIELD(usage_in, days, F_QUERY, .min = 1, .max = 400, .dflt = "30", .doc = "How many days back, unless from is given"),
    FIELD(usage_in, from, F_QUERY, .doc = "Attempts ended at or after"), FIELD(usage_in, to, F_QUERY, .doc = "Attempts ended before"),
    FIELD(usage_in, by, F_QUERY, .max = 64, .dflt = "day,zone,pool", .doc = "What to sum by: day, project, queue, flavor, zone, pool, between commas"));
struct usage_csv_in { struct timestamp from, to; };
SCHEMA_OF(usage_csv_in, "Which use", FIELD(usage_csv_in, from, F_QUERY, .doc = "Attempts ended at or after; absent: 30 days back"),
    FIELD(usage_csv_in, to, F_QUERY, .doc = "Attempts ended before; absent: until now"));

static enum errc usage(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct usage_in *in = in_;
    unsigned by;
    TRY(usage_by_parse(in->by, &by, e));
    int64_t to = in->to.us ? in->to.us : w->now_us + DAY_US;
    return usage_sums(w, in->from.us ? in->from.us : to - in->days * DAY_US, to, by, &((struct page_out *)out)->items, e);
}

static enum errc note(struct call *c, struct err *e)
{
    struct work *w = &c->work;
    struct audit_event ev = audit_event_by(w, c->principal, AUDIT_USAGE_EXPORT);
    ev.resource_kind = STR("usage");
    ev.http_status = 200;
    return audit_append_apart(w, w->app->pool, SCOPE_TENANT(w->tenant_id), &ev, e);
}

static enum errc read_page(struct work *w, const struct usage_csv_in *in, struct timestamp after, struct uuid id, struct slice *ret, struct err *e)
{
    return RUN_READ(w, usage_lines(w, in->from.us, in->to.us, after, id, LINES, ret, e), e);
}

static enum errc send_pages(struct download *d, struct slice rows, struct err *e)
{
    struct work w = d->call->work;
    CLEANUP(buf_releasep) struct buf b = BUF(CSV_PAGE);
    CLEANUP(arena_freep) struct arena *a = arena_new(PAGE_ARENA);
    w.arena = a;
    for (;;) {
        const struct usage_line *l = rows.items;
        buf_clear(&b);
        for (size_t i = 0; i < rows.n; i++)
            usage_line_csv(&l[i], &b);
        if (b.overflow)
            return FAIL(e, LIMIT, "A page is larger than %d bytes", CSV_PAGE);
        if (!download_send(d, buf_str(&b)))
            return FAIL(e, DEADLINE, "The client closed the connection or reads too slowly");
        if (rows.n < LINES)
            return ERR_OK;
        struct timestamp at = l[rows.n - 1].at;
        struct uuid id = l[rows.n - 1].attempt_id;
        arena_reset(a);
        rows = (struct slice){ 0 };
        TRY(read_page(&w, d->call->in, at, id, &rows, e));
    }
}

/* The first page and the note in the log come before the answer, so that their failure is one. */
static enum errc csv(struct call *c, struct err *e)
{
    struct slice rows = { 0 };
    struct download d;
    TRY(read_page(&c->work, c->in, (struct timestamp){ 0 }, UUID_NIL, &rows, e));
    TRY(note(c, e));
    TRY(download_begin(&d, c, STR("text/csv; charset=utf-8"), STR("usage.csv"), e));
    enum errc rc = download_send(&d, str_c(usage_csv_header)) ? send_pages(&d, rows, e) : FAIL(e, DEADLINE, "The client closed the connection");
    download_end(&d, rc, e);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/usage", .lane = LANE_HEAVY,
      .op = "usage_by_day", .perm = PERM_USAGE_READ, .handler = usage, .in = &usage_in_schema, .status = 200,
      .out = &usage_sum_schema, .flags = R_LIST, .doc = "What was used and what it cost, by day, project, queue, flavor, zone and pool" },
    { .method = HTTP_GET, .path = "/v1/usage.csv", .lane = LANE_PACED,
      .op = "usage_csv", .perm = PERM_USAGE_READ, .raw = csv, .in = &usage_csv_in_schema, .status = 200,
      .content_type = "text/csv; charset=utf-8", .doc = "Every ended attempt and what it cost, as CSV for spreadsheets" },
};
extern const struct route_table usage_routes;
ROUTE_TABLE(usage_routes, rows);
