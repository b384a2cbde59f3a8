/* SPDX-License-Identifier: Apache-2.0 */
/* job_stream.c - routes that show a job while it runs: transitions (JSON or live), logs, metrics, attempts. */
#include "api/api.h"
#include "api/route.h"
#include "api/stream.h"
#include "core/db/run_tx.h"
#include "core/json/encode.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/series.h"
#include "scheduler/jobs/watch.h"

struct job_events_in { struct uuid job_id; int64_t after; };
SCHEMA_OF(job_events_in, "Which events", FIELD_ID(job_events_in, job_id, "job", F_PATH, .doc = "The job"),
    FIELD(job_events_in, after, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Only after this position"));
struct job_rows_in { struct uuid job_id; int64_t after, page_size; };
SCHEMA_OF(job_rows_in, "Which rows", FIELD_ID(job_rows_in, job_id, "job", F_PATH, .doc = "The job"),
    FIELD(job_rows_in, after, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Only after this position; the last row's gives the next page"),
    FIELD(job_rows_in, page_size, F_QUERY, .min = 1, .max = 200, .dflt = "50", .doc = "Rows on a page"));
struct job_logs_in { struct uuid job_id; int64_t after, before, tail, page_size; struct str q; bool errors, numbered; };
SCHEMA_OF(job_logs_in, "Which lines", FIELD_ID(job_logs_in, job_id, "job", F_PATH, .doc = "The job"),
    FIELD(job_logs_in, after, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Only after this position; the last line's gives the next page"),
    FIELD(job_logs_in, before, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "The newest lines before this position; the first line's gives the page before"),
    FIELD(job_logs_in, tail, F_QUERY, .min = 0, .max = 1000, .dflt = "0", .doc = "So many of the newest lines, instead of page_size of the oldest"),
    FIELD(job_logs_in, page_size, F_QUERY, .min = 1, .max = 1000, .dflt = "50", .doc = "Lines on a page; a page of long lines may have fewer"),
    FIELD(job_logs_in, q, F_QUERY, .min = 1, .max = 256, .doc = "Only lines that contain this, in any case"),
    FIELD(job_logs_in, errors, F_QUERY | F_SEARCH, .dflt = "false", .doc = "Only lines that look like errors"),
    FIELD(job_logs_in, numbered, F_QUERY | F_SEARCH, .dflt = "false",
          .doc = "Each line with its number in the log; not with q or errors"));
struct job_series_in { struct uuid job_id; struct slice names; int64_t points; };
SCHEMA_OF(job_series_in, "Which series", FIELD_ID(job_series_in, job_id, "job", F_PATH, .doc = "The job"),
    FIELD_STRS(job_series_in, names, F_QUERY, .max = SERIES_NAMES, .doc = "Names, between commas; absent: those of the first and the newest 100 measurements"),
    FIELD(job_series_in, points, F_QUERY, .min = 2, .max = SERIES_POINTS, .dflt = "5000",
          .doc = "Most values of a series; names times points are at most 200,000"));
struct job_series_out { struct slice series; };
SCHEMA_OF(job_series_out, "Metrics of a job as columns",
    FIELD_LIST(job_series_out, series, &job_series_schema, 0, .max = SERIES_NAMES, .doc = "One for each name"));
struct job_attempts_in { struct uuid job_id; };
SCHEMA_OF(job_attempts_in, "Which job", FIELD_ID(job_attempts_in, job_id, "job", F_PATH, .doc = "The job"));

static bool position_part(struct str s, char letter, int64_t *ret)
{
    return s.len > 1 && s.ptr[0] == letter && str_to_i64(str_n(s.ptr + 1, s.len - 1), 0, INT64_MAX, ret);
}

/* "s12,l340,m7", as the events carry it. Anything else starts from the beginning. */
static struct stream_position position_of(struct str id)
{
    struct stream_position p = { 0, 0, 0 };
    struct str s, l, m, rest;
    if (!str_cut(id, ',', &s, &rest) || !str_cut(rest, ',', &l, &m) || !position_part(s, 's', &p.version) ||
        !position_part(l, 'l', &p.log_id) || !position_part(m, 'm', &p.metric_id))
        return (struct stream_position){ 0, 0, 0 };
    return p;
}

static enum errc look_up(struct work *w, struct uuid job_id, struct slice *events, int64_t after, struct err *e)
{
    struct job job;
    TRY(job_get(w, job_id, &job, e));
    return events ? job_events(w, job_id, after, 1000, events, e) : ERR_OK;
}

static enum errc job_of_tenant(struct call *c, struct uuid job_id, struct slice *events, int64_t after, struct err *e)
{
    return RUN_READ(&c->work, look_up(&c->work, job_id, events, after, e), e);
}

static enum errc events(struct call *c, struct err *e)
{
    const struct job_events_in *in = c->in;
    const struct api *api = c->work.app->extra;
    struct str accept = http_header_get(c->request, "Accept");
    if (accept.ptr && memmem(accept.ptr, accept.len, "text/event-stream", 17)) {
        TRY(job_of_tenant(c, in->job_id, NULL, 0, e));
        return job_streams_add(api->streams, c, in->job_id, position_of(http_header_get(c->request, "Last-Event-ID")), e);
    }
    struct slice rows;
    struct buf b = BUF(4 << 20);
    TRY(job_of_tenant(c, in->job_id, &rows, in->after, e));
    buf_add_c(&b, "{\"data\":");
    json_encode_list(&job_event_schema, rows.items, rows.n, &b);
    buf_add_c(&b, "}");
    struct http_header h[] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") } };
    principal_unref(c->principal);
    c->principal = NULL;
    http_reply_buf(c->exchange, 200, STR("application/json"), h, 2, &b);
    return ERR_OK;
}

static enum errc logs(struct work *w, const void *in, void *out, struct err *e)
{
    const struct job_logs_in *q = in;
    struct job job;
    struct job_log_ask ask = { q->after, q->before, q->q, q->tail || q->before, q->errors, q->numbered };
    TRY(job_get(w, q->job_id, &job, e));
    return job_log_page(w, q->job_id, &ask, q->tail ? q->tail : q->page_size, &((struct page_out *)out)->items, e);
}

static enum errc metrics(struct work *w, const void *in, void *out, struct err *e)
{
    const struct job_rows_in *q = in;
    struct job job;
    TRY(job_get(w, q->job_id, &job, e));
    return job_metrics(w, q->job_id, q->after, q->page_size, &((struct page_out *)out)->items, e);
}

static enum errc series(struct work *w, const void *in, void *out, struct err *e)
{
    const struct job_series_in *q = in;
    struct job job;
    TRY(job_get(w, q->job_id, &job, e));
    return job_series_read(w, q->job_id, q->names, q->points, &((struct job_series_out *)out)->series, e);
}

static enum errc attempts(struct work *w, const void *in, void *out, struct err *e)
{
    const struct job_attempts_in *q = in;
    struct job job;
    TRY(job_get(w, q->job_id, &job, e));
    return job_attempts(w, q->job_id, 200, &((struct page_out *)out)->items, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/events", .lane = LANE_CALLS,
      .op = "job_events", .perm = PERM_JOB_READ, .raw = events, .in = &job_events_in_schema,
      .status = 200, .out = &job_event_schema, .flags = R_LIST, .resource = "job",
      .also = "text/event-stream",
      .doc = "Transitions of a job; with Accept: text/event-stream live, with its logs and metrics" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/logs", .lane = LANE_CALLS,
      .op = "job_logs", .perm = PERM_JOB_READ, .handler = logs, .in = &job_logs_in_schema,
      .status = 200, .out = &job_log_line_schema, .flags = R_LIST, .resource = "job", .doc = "Log of a job, oldest first" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/metrics", .lane = LANE_CALLS,
      .op = "job_metrics", .perm = PERM_JOB_READ, .handler = metrics, .in = &job_rows_in_schema,
      .status = 200, .out = &job_metric_schema, .flags = R_LIST, .resource = "job", .doc = "Metrics of a job, oldest first" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/series", .lane = LANE_HEAVY,
      .op = "job_series", .perm = PERM_JOB_READ, .handler = series, .in = &job_series_in_schema,
      .status = 200, .out = &job_series_out_schema, .resource = "job",
      .doc = "Metrics of a job as columns to draw; long series thinned so that peaks stay" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/attempts", .lane = LANE_CALLS,
      .op = "job_attempts", .perm = PERM_JOB_READ, .handler = attempts,
      .in = &job_attempts_in_schema, .status = 200, .out = &attempt_view_schema, .flags = R_LIST, .resource = "job",
      .doc = "Executions of a job" },
};
extern const struct route_table job_stream_routes;
ROUTE_TABLE(job_stream_routes, rows);
