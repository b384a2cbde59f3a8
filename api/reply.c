/* SPDX-License-Identifier: Apache-2.0 */
/* reply.c - answers: success by the row's schema, errors as application/problem+json (RFC 9457), and the headers both carry. */
#include "api/access_log.h"
#include "api/api_int.h"
#include "api/call_trace.h"
#include "api/changed_by.h"
#include "api/console.h"
#include "api/etag.h"
#include "registry/evidence/evidence.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/json/encode.h"
#include "core/table/metrics.h"

#include <stdio.h>

enum { HEADERS_MAX = 16 };

struct headers {
    struct http_header list[HEADERS_MAX];
    size_t n;
};

static void add(struct headers *h, const char *name, struct str value)
{
    if (value.ptr && h->n < HEADERS_MAX)
        h->list[h->n++] = (struct http_header){ str_c(name), value };
}

static void common(struct flight *f, struct headers *h)
{
    struct arena *a = f->call.work.arena;
    add(h, "X-Request-Id", f->call.work.request_id);
    add(h, "Cache-Control", STR("no-store"));
    add(h, "X-Content-Type-Options", STR("nosniff"));
    if (trace_is_set(&f->call.work.trace)) {
        char *text = arena_alloc(a, TRACE_TEXT);
        trace_print(&f->call.work.trace, text);
        add(h, "Traceparent", str_c(text));
    }
    if (f->match) {
        add(h, "Deprecation", f->match->ends.deprecation);
        add(h, "Sunset", f->match->ends.sunset);
        add(h, "Link", f->match->ends.link);
    }
    if (f->nrates) {
        struct str policy = STR(""), limit = STR("");
        for (int i = 0; i < f->nrates; i++) {
            const struct rate_result *r = &f->rates[i].result;
            const char *comma = i ? ", " : "";
            policy = str_fmt(a, "%.*s%s\"%s\";q=%ld;w=60", STR_ARG(policy), comma, f->rates[i].name, (long)r->limit);
            limit = str_fmt(a, "%.*s%s\"%s\";r=%ld;t=%ld", STR_ARG(limit), comma, f->rates[i].name, (long)r->remaining, (long)r->reset_s);
        }
        add(h, "RateLimit-Policy", policy);
        add(h, "RateLimit", limit);
    }
}

static void account(struct flight *f, int status, const struct err *e)
{
    struct call *c = &f->call;
    const char *route = f->match ? f->match->row->path : f->is_console ? "console" : "unmatched", *method = http_method_name(c->request->method);
    char code[8];
    snprintf(code, sizeof code, "%d", status);
    double seconds = (double)(clock_mono_us(c->work.app->clock) - c->started_mono_us) / 1e6;
    metrics_inc(M_http_requests_total, route, method, code);
    metrics_observe(M_http_request_seconds, seconds, route);
    /* Calls of models are summed up by the minute instead of told one by one. */
    bool is_audited = f->match && f->match->row->audit != AUDIT_GENESIS && f->match->row->audit != AUDIT_INFERENCE && status >= 200 && status < 300 && !c->replayed &&
                      !c->did_nothing;
    access_log_write(f->pipeline->access_log, c->work.now_us, c->work.tenant_id, f->match ? f->match->row->op : "-", status, is_audited,
                     c->work.request_id);
    flight_trace_end(f, status, e);
    if (e)
        metrics_inc(M_errors_total, err_row(e->code)->wire);
    enum log_level level = status >= 500 ? LOG_ERROR : status >= 400 || c->request->method != HTTP_GET ? LOG_INFO : LOG_DEBUG;
    if (!log_enabled(level))
        return;
    if (e)
        log_event(level, "http.request", "request_id", LOG_STR(c->work.request_id), "method", LOG_S(method), "route", LOG_S(route),
                  "status", LOG_I(status), "us", LOG_I(seconds * 1e6), "code", LOG_S(err_row(e->code)->wire), "msg", LOG_S(e->msg),
                  "detail", LOG_S(e->detail), "field", LOG_S(e->field), "user", LOG_ID("usr", c->principal ? c->principal->user_id : UUID_NIL),
                  NULL);
    else
        log_event(level, "http.request", "request_id", LOG_STR(c->work.request_id), "method", LOG_S(method), "route", LOG_S(route),
                  "status", LOG_I(status), "us", LOG_I(seconds * 1e6), "user", LOG_ID("usr", c->principal ? c->principal->user_id : UUID_NIL),
                  NULL);
}

/* A message is cut at its maximum, maybe within a character, and may quote bytes that are no text at all. */
static struct str shown(const char *msg, const char *otherwise)
{
    struct str s = str_c(msg);
    for (int i = 0; i < 3 && s.len && !str_is_utf8(s); i++)
        s.len--;
    return str_is_utf8(s) ? s : str_c(otherwise);
}

/* Our own failures are told by their title: their text is for the log. */
static struct str error_detail(const struct err *e)
{
    const struct err_row *row = err_row(e->code);
    return row->http == 500 && e->code != ERR_DAMAGED ? str_c(row->title) : shown(e->msg, row->title);
}

void problem_body(struct buf *b, const struct err *e, struct str request_id, struct str instance, bool oip)
{
    const struct err_row *row = err_row(e->code);
    struct str detail = error_detail(e);
    if (oip) {
        buf_add_c(b, "{\"error\":");
        buf_add_json(b, detail);
        buf_add_c(b, "}");
        return;
    }
    buf_printf(b, "{\"type\":\"https://falaj.ae/errors#%s\",\"title\":", row->wire);
    buf_add_json(b, str_c(row->title));
    buf_printf(b, ",\"status\":%d,\"detail\":", row->http);
    buf_add_json(b, detail);
    buf_add_c(b, ",\"instance\":");
    buf_add_json(b, str_is_utf8(instance) ? instance : STR("/"));
    buf_printf(b, ",\"code\":\"%s\",\"request_id\":", row->wire);
    buf_add_json(b, request_id);
    if (e->field[0]) {
        buf_add_c(b, ",\"errors\":[{\"pointer\":");
        buf_add_json(b, str_is_utf8(str_c(e->field)) ? str_c(e->field) : STR("/"));
        buf_printf(b, ",\"code\":\"%s\",\"detail\":", row->wire);
        buf_add_json(b, detail);
        buf_add_c(b, "}]");
    }
    buf_add_c(b, "}");
}

void flight_fail(struct flight *f, const struct err *e)
{
    if (e->code == ERR_RESIDENCY)
        residency_denial_note(&f->call, e);
    release_denial_note(&f->call, e);
    struct call *c = &f->call;
    const struct err_row *row = err_row(e->code);
    struct headers h = { .n = 0 };
    struct buf body = BUF(8192);
    bool oip = f->match ? f->match->row->flags & R_OIP : str_eq_c(c->request->path, "/v2") || str_starts(c->request->path,
        "/v2/");
    common(f, &h);
    if (e->code == ERR_UNAUTHENTICATED)
        add(&h, "WWW-Authenticate", STR("Bearer realm=\"falaj\""));
    if (e->code == ERR_METHOD)
        add(&h, "Allow", f->allow);
    if (e->code == ERR_RATE) {
        int64_t wait_s = c->retry_after_s ? c->retry_after_s : f->nrates ? f->rates[f->nrates - 1].result.reset_s : 1;
        add(&h, "Retry-After", str_fmt(c->work.arena, "%ld", (long)(wait_s > 0 ? wait_s : 1)));
    } else if (row->http == 503 || row->http == 504)
        add(&h, "Retry-After", STR("1"));
    bool scim = is_scim(f);
    if (scim)
        scim_error_body(&body, e, error_detail(e));
    else
        problem_body(&body, e, c->work.request_id, c->request->path, oip);
    const struct field *id = e->code == ERR_PRECONDITION && c->if_match != -1 && f->match->ncaptures ? f->match->captures[f->match->ncaptures - 1] : NULL;
    /* In a tenant's place events are about the tenant, not about what was to be changed in it. */
    if (id && id->type == FT_UUID && !scim && !oip && c->principal && !(f->match->row->flags & R_TENANT_PATH)) {
        body.len--;                     /* its last brace */
        changed_by_tell(c, id_text(c->work.arena, id->prefix, *(struct uuid *)field_at(id, c->in)), &body);
        buf_add_char(&body, '}');
    }
    if (e->code == ERR_RESIDENCY && !scim && !oip && !(f->match && f->match->row->flags & R_NODE)) {
        body.len--;
        residency_denial_tell(c, e, &body);
        buf_add_char(&body, '}');
    }
    account(f, row->http, e);
    principal_unref(TAKE(c->principal));
    buf_release(&f->answer);
    http_reply_buf(c->exchange, row->http, scim ? STR(SCIM_TYPE) : oip ? STR("application/json") : STR("application/problem+json"),
                   h.list, h.n, &body);
    buf_release(&body);
}

void flight_options(struct flight *f)
{
    struct headers h = { .n = 0 };
    struct buf body = BUF(16);
    common(f, &h);
    add(&h, "Allow", f->allow);
    account(f, 204, NULL);
    http_reply_buf(f->call.exchange, 204, STR_NULL, h.list, h.n, &body);
}

bool flight_console(struct flight *f)
{
    struct call *c = &f->call;
    const struct console *console = f->pipeline->console;
    struct http_response r;
    if (!console || f->allow.ptr)
        return false;
    if (!console_pick(console, c->request, c->work.request_id, &r)) {
        f->allow = console_has(console, c->request->path) ? STR("GET, HEAD, OPTIONS") : STR_NULL;
        return false;
    }
    f->is_console = true;
    account(f, r.status, NULL);
    http_reply_kept(c->exchange, &r);
    return true;
}

enum errc flight_encode(struct flight *f, struct err *e)
{
    const struct route *row = f->match->row;
    struct call *c = &f->call;
    f->answer = BUF(RESPONSE_MAX);
    if (row->flags & R_TEXT) {
        f->answer = *(struct buf *)c->out;
    } else if (row->flags & R_LIST) {
        struct page_out *page = c->out;
        buf_add_c(&f->answer, "{\"data\":");
        json_encode_list(row->out, page->items.items, page->items.n, &f->answer);
        if (page->next.ptr) {
            page->next = page_seal(f, page->next);
            buf_add_c(&f->answer, ",\"next_page_token\":");
            buf_add_json(&f->answer, page->next);
        }
        buf_add_c(&f->answer, "}");
    } else if (row->flags & R_SCIM) {
        const struct field *text = row->out ? schema_find(row->out, STR("body")) : NULL;
        if (text)
            buf_add_str(&f->answer, ((struct json *)field_at(text, c->out))->text);
    } else if (row->out) {
        json_encode(row->out, c->out, &f->answer);
    }
    if (f->answer.overflow) {
        buf_release(&f->answer);
        return FAIL(e, LIMIT, "The answer is larger than %d MiB; ask for a smaller page", RESPONSE_MAX >> 20);
    }
    return ERR_OK;
}

static struct str next_link(struct flight *f)
{
    struct call *c = &f->call;
    const struct page_out *page = c->out;
    CLEANUP(buf_releasep) struct buf b = BUF(8192);
    buf_printf(&b, "<%.*s?page_token=%.*s", STR_ARG(c->request->path), STR_ARG(page->next));
    struct str rest = c->request->query, pair;
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, '&', &pair, &rest);
        if (pair.len && !str_starts(pair, "page_token="))
            buf_printf(&b, "&%.*s", STR_ARG(pair));
    }
    buf_add_c(&b, ">; rel=\"next\"");
    return b.overflow ? STR_NULL : str_dup(c->work.arena, buf_str(&b));
}

void flight_send(struct flight *f)
{
    struct call *c = &f->call;
    const struct route *row = f->match->row;
    struct headers h = { .n = 0 };
    int status = c->status ? c->status : row->status;
    common(f, &h);
    add(&h, "Set-Cookie", c->set_cookie);
    add(&h, "Set-Cookie", c->set_cookie_too);
    add(&h, "Location", c->location);
    if (c->replayed)
        add(&h, "Idempotency-Replayed", STR("true"));
    if (row->flags & R_LIST && ((struct page_out *)c->out)->next.ptr)
        add(&h, "Link", next_link(f));
    if (!c->replayed && (c->etag.ptr || f->match->version) && c->out) {
        struct str tag = c->etag.ptr ? c->etag
                                     : str_fmt(c->work.arena, "\"v%ld\"", (long)*(int64_t *)field_at(f->match->version, c->out));
        add(&h, "ETag", tag);
        if (row->method == HTTP_GET && etag_is_listed(http_header_get(c->request, "If-None-Match"), tag)) {
            status = 304;
            buf_clear(&f->answer);
        }
    }
    if (row->flags & R_TEXT && row->content_type && str_starts(str_c(row->content_type), "text/html")) {
        add(&h, "Content-Security-Policy", STR(EVIDENCE_CSP));
        add(&h, "Referrer-Policy", STR("no-referrer"));
    }
    if (status == 201 && !c->replayed && f->match->id && !f->match->id_is_in)
        add(&h, "Location", str_fmt(c->work.arena, "%s/%.*s", row->path,
                                    STR_ARG(id_text(c->work.arena, f->match->id->prefix, *(struct uuid *)field_at(f->match->id, c->out)))));
    account(f, status, NULL);
    principal_unref(TAKE(c->principal));
    bool empty = f->answer.len == 0;
    struct str type = empty ? STR_NULL : row->flags & R_TEXT && row->content_type ? str_c(row->content_type) :
                      row->flags & R_TEXT ? STR("text/plain; version=0.0.4; charset=utf-8") :
                      row->flags & R_SCIM ? STR(SCIM_TYPE) : STR("application/json");
    http_reply_buf(c->exchange, status, type, h.list, h.n, &f->answer);
    /* f is gone with its exchange. */
}
