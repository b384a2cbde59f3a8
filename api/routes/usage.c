/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - routes of what was used and what it cost. The export streams page after page, each in a transaction of its own, to one reader
 * whose pace it keeps. */
#include "api/route.h"
#include "audit/event.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "tenants/usage.h"

#include <time.h>

enum { LINES = 1000, CSV_PAGE = 1 << 20, STREAM_MAX = 4 << 20, WAITS = 3000 };
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
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct audit_event ev = audit_event_of(w, AUDIT_USAGE_EXPORT);
    ev.actor = AUDIT_USER;
    ev.actor_id = c->principal->user_id;
    ev.token_id = c->principal->token_id;
    ev.zone = c->principal->home_zone;
    ev.resource_kind = STR("usage");
    ev.http_status = 200;
    TRY(db_begin(w->app->pool, SCOPE_TENANT(w->tenant_id), 0, w->arena, &tx, e));
    w->tx = tx;
    enum errc rc = audit_append(w, &ev, e);
    w->tx = NULL;
    return rc == ERR_OK ? db_commit(TAKE(tx), e) : rc;
}

static bool send_all(struct http_exchange *x, struct str s)
{
    for (int tries = 0; tries < WAITS; tries++) {
        if (http_stream_write(x, s.ptr, s.len))
            return true;
        if (http_stream_gone(x))
            return false;
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    }
    return false;
}

static enum errc read_page(struct work *w, const struct usage_csv_in *in, struct timestamp after, struct uuid id, struct slice *ret, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    TRY(db_begin(w->app->pool, scope_of(w), TX_READ_ONLY, w->arena, &tx, e));
    w->tx = tx;
    enum errc rc = usage_lines(w, in->from.us, in->to.us, after, id, LINES, ret, e);
    w->tx = NULL;
    return rc == ERR_OK ? db_commit(TAKE(tx), e) : rc;
}

/* The pages after the first; a page that fails ends the stream before its last line, which the length of nothing shows: so it is logged. */
static void send_rest(struct call *c, struct slice rows, struct err *e)
{
    struct work w = c->work;
    const struct usage_csv_in *in = c->in;
    CLEANUP(buf_releasep) struct buf b = BUF(CSV_PAGE);
    w.arena = arena_new(16 << 20);
    enum errc rc = ERR_OK;
    for (;;) {
        const struct usage_line *l = rows.items;
        buf_clear(&b);
        for (size_t i = 0; i < rows.n; i++)
            usage_line_csv(&l[i], &b);
        if (!send_all(c->exchange, buf_str(&b)) || rows.n < LINES)
            break;
        struct timestamp at = l[rows.n - 1].at;
        struct uuid id = l[rows.n - 1].attempt_id;
        arena_reset(w.arena);
        rows = (struct slice){ 0 };
        if ((rc = read_page(&w, in, at, id, &rows, e)) != ERR_OK)
            break;
    }
    if (rc != ERR_OK)
        log_err(LOG_WARN, "usage.export_cut", e);
    arena_free(w.arena);
}

static enum errc csv(struct call *c, struct err *e)
{
    struct slice rows = { 0 };
    TRY(read_page(&c->work, c->in, (struct timestamp){ 0 }, UUID_NIL, &rows, e));
    TRY(note(c, e));
    struct http_header h[] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") },
                               { STR("X-Content-Type-Options"), STR("nosniff") },
                               { STR("Content-Disposition"), STR("attachment; filename=\"usage.csv\"") } };
    TRY(http_stream_begin(c->exchange, 200, STR("text/csv; charset=utf-8"), h, sizeof h / sizeof *h, STREAM_MAX));
    struct principal *p = TAKE(c->principal);
    if (send_all(c->exchange, str_c(usage_csv_header)))
        send_rest(c, rows, e);
    http_stream_end(c->exchange);
    principal_unref(p);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/usage", .op = "usage_by_day", .perm = PERM_USAGE_READ, .handler = usage, .in = &usage_in_schema, .status = 200,
      .out = &usage_sum_schema, .flags = R_LIST, .sql_max = 1, .doc = "What was used and what it cost, by day, project, queue, flavor, zone and pool" },
    { .method = HTTP_GET, .path = "/v1/usage.csv", .op = "usage_csv", .perm = PERM_USAGE_READ, .raw = csv, .in = &usage_csv_in_schema, .status = 200,
      .content_type = "text/csv; charset=utf-8", .doc = "Every ended attempt and what it cost, as CSV for spreadsheets" },
};
extern const struct route_table usage_routes;
ROUTE_TABLE(usage_routes, rows);
