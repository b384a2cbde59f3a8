/* SPDX-License-Identifier: Apache-2.0 */
/* audit_export.c - routes that give the log away: a range at once as a bundle, and exports as objects whose content can be resumed. */
#include "api/routes/audit_int.h"
#include "audit/event.h"
#include "api/pipeline.h"
#include "audit/export_job.h"
#include "audit/format.h"
#include "core/db/run_tx.h"
#include "core/redis/wake.h"
#include "keys/client.h"
#include "scheduler/jobs/job.h"
#include "tenants/access/principal.h"

#include <time.h>

enum { HEAD_WAIT_MS = 3000, HEAD_STEP_MS = 50, HEAD_PARK_MS = 800 };
static const char *const format_names[] = { "jsonl", "ocsf", "cef", "syslog", "csv", "summary", "summary-html", NULL };

struct export_in { int64_t from, to; };
SCHEMA_OF(export_in, "Which part", FIELD(export_in, from, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "First number; 0: 1"),
    FIELD(export_in, to, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Last number; 0: as far as is signed"));

static const char *const proves_names[] = { "best", "completeness", "inclusion", NULL };     /* as enum audit_ask_proves */

struct export_new { int format, proves; struct timestamp from, to; struct str actor, action,
                    resource; struct uuid since_export; };
SCHEMA_OF(export_new, "An export to make",
    FIELD_ENUM(export_new, format, F_REQ, format_names, .doc = "jsonl is the verifiable bundle; the others render it for other systems"),
    FIELD(export_new, from, 0, .doc = "Only events from this time on"), FIELD(export_new, to, 0, .doc = "Only events before this time"),
    FIELD(export_new, actor, 0, .min = 1, .max = 128, .doc = "Only acts of this user (name or usr_…) or of this kind of actor"),
    FIELD(export_new, action, 0, .min = 1, .max = 64, .doc = "Only this action; with a dot at its end all that begin so"),
    FIELD(export_new, resource, 0, .min = 1, .max = 128, .doc = "Only about this thing (name or id) or this kind"),
    FIELD_ENUM(export_new, proves, 0, proves_names, .dflt = "best",
               .doc = "With a filter: completeness shows of every other entry one field that does not fit (about 300 bytes "
                      "each), from the first entry on that can show one; inclusion has only what fits; best is "
                      "completeness where the whole log can show it"),
    FIELD_ID(export_new, since_export, "exp", 0, .doc = "Go on from this export: newer events, and the proof that the log only grew"));
struct export_ref { struct uuid export_id; };
SCHEMA_OF(export_ref, "Which export", FIELD_ID(export_ref, export_id, "exp", F_PATH, .doc = "The export"));
struct export_page { PAGE_IN; };
SCHEMA_OF(export_page, "Which exports", PAGE_IN_FIELDS(export_page));

/* Asks the sequencer for a head that covers what has happened until now; after HEAD_WAIT_MS the newest there is will do. */
static void await_head(struct work *w)
{
    for (int waited = 0; waited < HEAD_WAIT_MS; waited += HEAD_STEP_MS) {
        struct audit_head h = { 0 };
        struct str body;
        struct err e;
        uint8_t sig[AUDIT_SIG];
        wake_publish(w->app->redis, STR(WAKE_AUDIT), STR("1"));
        struct timespec pause = { 0, HEAD_STEP_MS * 1000000 };
        nanosleep(&pause, NULL);
        if (RUN_READ(w, audit_newest_head(w, w->tenant_id, &h, &body, sig, &e), &e) == ERR_OK && h.ts_us >= w->now_us)
            return;
    }
}

/* The public key of the principal's zone, to write into the bundle; none where no falaj-keyd of that zone is configured. */
static enum errc signing_key(struct work *w, const struct principal *p, struct audit_key *ret, struct err *e)
{
    struct str id;
    if (!p->home_zone.len || !keyd_client_has_zone(w->app->keyd, p->home_zone))
        return ERR_OK;
    TRY(audit_zone_key(w, p->home_zone, ret->pub, &id, e));
    memcpy(ret->key_id, id.ptr, id.len);
    return ERR_OK;
}

static enum errc export(struct call *c, struct err *e)
{
    const struct export_in *in = c->in;
    struct work *w = &c->work;
    struct audit_stream s = { .call = c, .status = 200, .request_id = w->request_id, .content_type = STR("application/jsonl"),
                              .file = STR("attachment; filename=\"audit.jsonl\"") };
    struct audit_key key = { 0 };
    struct audit_export_opts o = { .tenant_id = w->tenant_id, .from = (uint64_t)in->from, .to = (uint64_t)in->to, .sink = audit_stream_sink, .sink_ctx = &s };
    struct audit_export_result result;
    TRY(signing_key(w, c->principal, &key, e));
    o.keys = &key;
    o.key_count = key.key_id[0] != 0;
    TRY(audit_stream_note(c, UUID_NIL, e));
    if (!in->to)
        await_head(w);
    enum errc rc = audit_export(w, &o, &result, e);
    if (!s.begun)
        return rc != ERR_OK ? rc : FAIL(e, NOT_FOUND, "There is nothing to export yet");
    audit_stream_finish(c, &s, rc, e);
    return ERR_OK;
}


/* An export is made against a head that covers what happened before it was asked for; one is signed on demand. */
static enum errc wait_for_head(struct work *w, bool *ret_parked, struct err *e)
{
    struct audit_head h = { 0 };
    struct str body;
    uint8_t sig[AUDIT_SIG];
    enum errc rc = audit_newest_head(w, w->tenant_id, &h, &body, sig, e);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND)
        return rc;
    *ret_parked = h.ts_us < w->now_us && (!w->deadline_mono_us || clock_mono_us(w->app->clock) < w->deadline_mono_us);
    if (!*ret_parked)
        return ERR_OK;
    wake_publish(w->app->redis, STR(WAKE_AUDIT), STR("1"));
    return call_park(w, w->request_uuid, HEAD_PARK_MS);
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct export_new *n = in;
    struct audit_key key = { 0 };
    struct audit_export_ask ask = { .format = str_c(format_names[n->format]), .since_export = n->since_export,
                                    .proves = (enum audit_ask_proves)n->proves };
    bool is_parked;
    TRY(audit_filter_of(w, &(struct audit_want){ .from = n->from, .to = n->to, .actor = n->actor, .action = n->action,
                                                 .resource = n->resource },
                        &ask.filter, e));
    TRY(wait_for_head(w, &is_parked, e));
    if (is_parked)
        return ERR_OK;
    TRY(signing_key(w, w->principal, &key, e));
    ask.key = key.key_id[0] ? &key : NULL;
    TRY(audit_export_job_create(w, &ask, w->principal->user_id, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("format", ask.format));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("until_tseq", ((struct audit_export_job *)out)->to_tseq));
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return audit_export_job_get(w, ((const struct export_ref *)in)->export_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct export_page *page = in;
    return PAGE_BY_ID(w, page, out, audit_export_job, export_id, audit_export_job_list(w, after, limit, rows, e), e);
}

/* "bytes=N-" or "bytes=N-M"; anything else is answered as if it were not there (RFC 9110 §14.2). */
static bool read_range(const struct http_request *r, int64_t *ret_from, int64_t *ret_last)
{
    struct str h = http_header_get(r, "Range"), from, last;
    if (!str_starts(h, "bytes=") || !str_cut(str_n(h.ptr + 6, h.len - 6), '-', &from, &last))
        return false;
    *ret_last = INT64_MAX - 1;
    return str_to_i64(from, 0, INT64_MAX - 1, ret_from) && (!last.len || str_to_i64(last, *ret_from, INT64_MAX - 1, ret_last));
}

static enum errc drop_bytes(void *ctx, const void *p, size_t n, struct err *e)
{
    (void)ctx, (void)p, (void)n, (void)e;
    return ERR_OK;
}

static enum errc load(struct work *w, struct uuid id, struct audit_export_job *ret, struct err *e)
{
    return RUN_READ(w, audit_export_job_get(w, id, ret, e), e);
}

static enum errc remember(struct work *w, struct uuid id, const struct audit_export_sum *sum, struct err *e)
{
    return RUN_WRITE(w, audit_export_job_measured(w, id, sum, e), e);
}

/* A part needs the length of the whole in its answer: the first one costs a pass that sends nothing. */
static enum errc prepare_range(struct call *c, struct audit_export_job *job, struct audit_stream *s, int64_t *skip, int64_t *end, struct err *e)
{
    struct audit_export_sum sum;
    int64_t from, last;
    if (!read_range(c->request, &from, &last))
        return ERR_OK;
    if (!job->size_bytes) {
        TRY(audit_export_job_run(&c->work, job, 0, 0, drop_bytes, NULL, &sum, e));
        TRY(remember(&c->work, job->export_id, &sum, e));
        job->size_bytes = sum.size_bytes;
    }
    if (from >= job->size_bytes)
        return FAIL(e, RANGE, "The export has %lld bytes", (long long)job->size_bytes);
    *skip = from;
    *end = last < job->size_bytes - 1 ? last + 1 : job->size_bytes;
    s->status = 206;
    s->range = str_fmt(c->work.arena, "bytes %lld-%lld/%lld", (long long)*skip, (long long)*end - 1, (long long)job->size_bytes);
    return ERR_OK;
}

static enum errc content(struct call *c, struct err *e)
{
    struct work *w = &c->work;
    struct uuid id = ((const struct export_ref *)c->in)->export_id;
    struct audit_export_job job;
    struct audit_export_sum sum;
    int64_t skip = 0, end = -1;
    TRY(load(w, id, &job, e));
    const struct audit_format *f = audit_format_find(job.format);
    struct audit_stream s = { .call = c, .is_resumable = true, .status = 200, .request_id = w->request_id,
                              .content_type = f ? str_c(f->content_type) : STR("application/jsonl"),
                              .file = str_fmt(w->arena, "attachment; filename=\"audit-%.*s.%s\"", STR_ARG(id_text(w->arena, "exp", id)), f ? f->extension : "jsonl") };
    TRY(prepare_range(c, &job, &s, &skip, &end, e));
    TRY(audit_stream_note(c, id, e));
    enum errc rc = audit_export_job_run(w, &job, skip, end, audit_stream_sink, &s, &sum, e);
    if (!s.begun)
        return rc != ERR_OK ? rc : FAIL(e, NOT_FOUND, "The export contains no events");
    if (rc == ERR_OK && !job.size_bytes)
        rc = remember(w, id, &sum, e);
    audit_stream_finish(c, &s, rc, e);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/audit/export", .lane = LANE_PACED,
      .op = "audit_export", .perm = PERM_AUDIT_EXPORT, .raw = export, .in = &export_in_schema,
      .status = 200, .content_type = "application/jsonl", .resource = "audit", .audit = AUDIT_AUDIT_EXPORT,
      .doc = "The log as a bundle that verifies offline" },
    { .method = HTTP_POST, .path = "/v1/audit/exports", .lane = LANE_CALLS,
      .op = "audit_export_create", .perm = PERM_AUDIT_EXPORT, .handler = create, .in = &export_new_schema,
      .status = 202, .out = &audit_export_job_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "export", .audited = true,
      .audit = AUDIT_AUDIT_EXPORT, .doc = "Make an export whose content can be downloaded, and resumed where a download broke off" },
    { .method = HTTP_GET, .path = "/v1/audit/exports", .lane = LANE_CALLS,
      .op = "audit_export_list", .perm = PERM_AUDIT_EXPORT, .handler = list, .in = &export_page_schema,
      .status = 200, .out = &audit_export_job_schema, .flags = R_LIST, .doc = "Exports, newest first" },
    { .method = HTTP_GET, .path = "/v1/audit/exports/{export_id}", .lane = LANE_CALLS,
      .op = "audit_export_get", .perm = PERM_AUDIT_EXPORT, .handler = read_one,
      .in = &export_ref_schema, .status = 200, .out = &audit_export_job_schema, .resource = "export", .doc = "One export" },
    { .method = HTTP_GET, .path = "/v1/audit/exports/{export_id}/content", .lane = LANE_PACED,
      .op = "audit_export_content", .perm = PERM_AUDIT_EXPORT, .raw = content,
      .in = &export_ref_schema, .status = 200, .content_type = "application/octet-stream", .resource = "export", .audit = AUDIT_AUDIT_EXPORT,
      .doc = "The content of an export, the same at each download; Range: bytes=N- resumes" },
};
extern const struct route_table audit_export_routes;
ROUTE_TABLE(audit_export_routes, rows);
