/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - one call of the API: token, idempotency key, patience, and what its answer means for a person.
 *
 * A call with on_data is not repeated once bytes have been handed over. With --debug the call is shown on standard error, the
 * token masked to its kind. */
#include "cli/client.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "core/base/trace.h"
#include "core/crypto/rand.h"
#include "core/http/client.h"
#include "core/http/url.h"

enum { TRIES = 3, RETRY_AFTER_MAX_S = 10, BODY_MAX = 256 << 20 };

struct tap {
    bool (*on_data)(void *ctx, const char *p, size_t n);
    void *ctx;
    bool is_used;
};

static bool tap_data(void *ctx, const char *p, size_t n)
{
    struct tap *t = ctx;
    t->is_used = true;
    return t->on_data(t->ctx, p, n);
}

static enum errc connect_to(struct cli *c, struct err *e)
{
    if (c->http)
        return ERR_OK;
    const char *ca = c->profile.ca_cert;
    if (ca && access(ca, R_OK) != 0)
        return FAIL(e, INVALID,
            "the file of authorities %s (--ca-cert, FALAJ_CACERT or the profile's ca_cert) cannot be read: %s", ca,
                    strerror(errno));
    struct http_client_options o = { .base_url = c->profile.url, .user_agent = "falaj-cli/" FALAJ_VERSION, .timeout_ms = 60000,
                                     .ca_file = ca, .use_proxy_env = true };
    c->http = http_client_new(&o, e);
    return c->http ? ERR_OK : e->code;
}

static enum errc make_key(struct arena *a, const char **ret, struct err *e)
{
    uint8_t random[16];
    char hex[33];
    TRY(rand_bytes(random, sizeof(random), e));
    hex_encode(random, sizeof(random), hex);
    *ret = arena_printf(a, "Idempotency-Key: cli-%s", hex);
    return ERR_OK;
}

static enum errc make_headers(struct cli *c, const struct api_req *q, const char *list[8], struct err *e)
{
    const char *token = q->token ? q->token : c->profile.token;
    int n = 0;
    list[n++] = arena_printf(c->arena, "Accept: %s", q->accept ? q->accept : "application/json");
    if (token && *token)
        list[n++] = arena_printf(c->arena, "Authorization: Bearer %s", token);
    if (q->last_event_id && *q->last_event_id)
        list[n++] = arena_printf(c->arena, "Last-Event-ID: %s", q->last_event_id);
    /* A person at a prompt means the object as it is now; who read a version first gives its ETag. */
    bool changes = !strcmp(q->method, "PUT") || !strcmp(q->method, "PATCH") || !strcmp(q->method, "DELETE");
    if (q->if_match || changes)
        list[n++] = arena_printf(c->arena, "If-Match: %s", q->if_match ? q->if_match : "*");
    if (q->range)
        list[n++] = arena_printf(c->arena, "Range: %s", q->range);
    struct trace trace;
    const char *given = getenv("TRACEPARENT");
    if (trace_parse(str_c(given), &trace))
        list[n++] = arena_printf(c->arena, "traceparent: %s", given);
    if (strcmp(q->method, "POST") == 0)
        TRY(make_key(c->arena, &list[n++], e));
    list[n] = NULL;
    return ERR_OK;
}

static void debug_call(struct cli *c, const struct api_req *q, const char *const *headers)
{
    fprintf(c->err, "> %s %s%s\n", q->method, c->profile.url, q->path);
    for (; *headers; headers++) {
        struct str h = str_c(*headers);
        if (str_starts(h, "Authorization: Bearer "))
            fprintf(c->err, "> Authorization: Bearer ***\n");
        else
            fprintf(c->err, "> %s\n", *headers);
    }
    struct str type = str_c(q->content_type ? q->content_type : "application/json");
    if (q->body.ptr && !q->is_secret && str_eq_c(type, "application/json"))
        fprintf(c->err, "> %.*s\n", (int)(q->body.len > 2000 ? 2000 : q->body.len), q->body.ptr);
    else if (q->body.ptr)
        fprintf(c->err, "> (%zu bytes of %.*s)\n", q->body.len, STR_ARG(type));
}

/* A body may hold a token that is shown once: its value is masked. */
static void debug_reply(struct cli *c, const struct http_result *r)
{
    fprintf(c->err, "< %d %.*s\n< ", r->status, STR_ARG(r->content_type));
    for (size_t i = 0; i < r->body.len && i < 2000; i++) {
        if (r->body.len - i > 4 && memcmp(r->body.ptr + i, "flj_", 4) == 0) {
            fputs("flj_***", c->err);
            while (i + 1 < r->body.len && r->body.ptr[i + 1] != '"')
                i++;
        } else {
            fputc(r->body.ptr[i], c->err);
        }
    }
    fputc('\n', c->err);
}

static void pause_ms(int64_t ms)
{
    struct timespec t = { ms / 1000, (ms % 1000) * 1000000 };
    nanosleep(&t, NULL);
}

static int64_t pause_of(const struct http_result *r, int attempt)
{
    int64_t seconds = 0;
    if (r && str_to_i64(http_result_header(r, "Retry-After"), 0, 86400, &seconds))
        return 1000 * (seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S);
    return attempt == 0 ? 300 : 1000;
}

static void read_reply(struct cli *c, const struct http_result *r, struct api_reply *ret)
{
    struct err ignored;
    *ret = (struct api_reply){ .status = r->status, .body = r->body, .content_type = r->content_type };
    ret->request_id = http_result_header(r, "X-Request-Id");
    bool is_json = str_starts(r->content_type, "application/json") || str_starts(r->content_type, "application/problem+json");
    if (is_json && r->body.len && jval_parse(c->arena, r->body, 0, &ret->json, &ignored) != ERR_OK)
        ret->json = NULL;
    ret->code = jval_str(jval_get(ret->json, "code"));
    struct str id = jval_str(jval_get(ret->json, "request_id"));
    ret->request_id = id.ptr ? id : ret->request_id;
}

enum errc api_send(struct cli *c, const struct api_req *q, struct api_reply *ret, struct err *e)
{
    const char *headers[8];
    TRY(connect_to(c, e));
    TRY(make_headers(c, q, headers, e));
    struct tap tap = { q->on_data, q->ctx, false };
    struct http_call call = { .method = q->method, .path = q->path, .headers = headers, .body = q->body,
                              .content_type = q->content_type, .response_max = BODY_MAX, .timeout_ms = q->timeout_ms,
                              .idle_timeout_ms = q->idle_timeout_ms, .is_unwanted = q->is_unwanted,
                                  .unwanted_ctx = q->unwanted_ctx };
    if (q->on_data)
        call.on_data = tap_data, call.ctx = &tap;
    if (c->is_debug)
        debug_call(c, q, headers);
    for (int attempt = 0;; attempt++) {
        struct http_result r = { 0 };
        enum errc rc = http_client_call(c->http, c->arena, &call, &r, e);
        bool is_lost = rc == ERR_UNAVAILABLE || (rc == ERR_OK && r.status == 503);
        bool is_last = attempt + 1 >= TRIES || q->is_once || tap.is_used || (q->is_unwanted && q->is_unwanted(q->unwanted_ctx));
        if (is_lost && !is_last) {
            if (c->is_debug)
                fprintf(c->err, "< %s; again\n", rc == ERR_OK ? "503" : e->msg);
            pause_ms(pause_of(rc == ERR_OK ? &r : NULL, attempt));
            continue;
        }
        if (rc != ERR_OK)
            return rc;
        if (c->is_debug)
            debug_reply(c, &r);
        read_reply(c, &r, ret);
        return ERR_OK;
    }
}

int api_exit_of(const struct api_reply *r)
{
    if (r->status >= 200 && r->status < 300)
        return CLI_OK;
    enum errc code = r->code.len && r->code.len < 64 ? err_by_wire(r->code.ptr) : ERR_COUNT;
    if (code != ERR_COUNT && code != ERR_OK)
        return cli_exit_of(code);
    switch (r->status) {
    case 400: case 413: case 415: case 422:
        return CLI_USAGE;
    case 401:
        return CLI_LOGIN;
    case 403:
        return CLI_FORBIDDEN;
    case 404:
        return CLI_NOT_FOUND;
    case 409: case 412: case 428:
        return CLI_CONFLICT;
    case 429:
        return CLI_RATE;
    case 504:
        return CLI_TIMEOUT;
    case 502: case 503:
        return CLI_NETWORK;
    default:
        return CLI_FAILED;
    }
}

static const char *advice(struct cli *c, int code)
{
    switch (code) {
    case CLI_USAGE:
        return "change the value and try again; --help shows what the command takes";
    case CLI_LOGIN:
        return c->profile.token ? "the token is not accepted: sign in again: falaj login"
                                : "log in first: falaj login";
    case CLI_FORBIDDEN:
        return "'falaj whoami' shows your roles; a tenant-admin can grant more";
    case CLI_NOT_FOUND:
        return "check the name or id with the matching 'list' command; other tenants' objects are not visible";
    case CLI_CONFLICT:
        return "look at the object's present state with the matching 'get' command";
    case CLI_RATE:
        return "wait a minute and try again";
    case CLI_QUOTA:
        return "'falaj quota list' shows what is left; a platform-admin can raise it";
    case CLI_TIMEOUT: case CLI_NETWORK:
        return "try again; 'falaj status' and 'falaj doctor' show what is running";
    default:
        return "the request id leads an operator to the log";
    }
}

/* " (--reason)": what a person types for the member of the body at a JSON pointer; "" where that is not known. */
static const char *typed_as(const struct cli *c, struct str pointer)
{
    struct str rest = c->cmd && c->cmd->body ? str_c(c->cmd->body) : STR(""), word, member, source, asked, below;
    if (pointer.ptr[0] != '/')
        return "";
    str_cut(str_n(pointer.ptr + 1, pointer.len - 1), '/', &asked, &below);
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, ' ', &word, &rest);
        if (!str_cut(word, '=', &member, &source) || !source.len || source.ptr[0] == '@' || source.ptr[0] == '\'')
            continue;
        if (member.len && strchr("#*?&%<", member.ptr[0]))
            member = str_n(member.ptr + 1, member.len - 1);
        if (str_eq(member, asked))
            return arena_printf(c->arena, " (--%.*s)", STR_ARG(source));
    }
    return "";
}

int api_tell(struct cli *c, const struct api_reply *r)
{
    int code = api_exit_of(r);
    struct str detail = jval_str(jval_get(r->json, "detail")), title = jval_str(jval_get(r->json, "title"));
    if (!detail.len)
        detail = jval_str(jval_get(r->json, "error"));
    if (!detail.len)
        detail = title.len ? title : str_fmt(c->arena, "the API answered with status %d", r->status);
    cli_fail(c, code, NULL, "%.*s", STR_ARG(detail));
    const struct jval *errors = jval_get(r->json, "errors");
    for (size_t i = 0; i < jval_len(errors); i++) {
        struct str at = jval_str(jval_get(jval_at(errors, i), "pointer")), what = jval_str(jval_get(jval_at(errors, i), "detail"));
        if (at.len && !str_eq(what, detail))
            fprintf(c->err, "  %.*s%s: %.*s\n", STR_ARG(at), typed_as(c, at), STR_ARG(what));
        else if (at.len)
            fprintf(c->err, "  at %.*s%s\n", STR_ARG(at), typed_as(c, at));
    }
    fprintf(c->err, "  %s\n", advice(c, code));
    if (r->request_id.len)
        fprintf(c->err, "  request id: %.*s\n", STR_ARG(r->request_id));
    return code;
}

int api_do(struct cli *c, const struct api_req *q, struct api_reply *ret)
{
    struct err e = { 0 };
    enum errc rc = api_send(c, q, ret, &e);
    if (rc == ERR_INVALID)
        return cli_fail_err(c, &e, NULL);
    if (rc != ERR_OK && strstr(e.detail, "certificate"))
        return cli_fail_err(c, &e, "name the authority that signed it: --ca-cert FILE, or FALAJ_CACERT");
    if (rc != ERR_OK)
        return cli_fail_err(c, &e, arena_printf(c->arena, "the API was sought at %s (%s); is it running? 'falaj dev status' tells",
                                                c->profile.url, c->profile.url_from));
    return ret->status >= 200 && ret->status < 300 ? CLI_OK : api_tell(c, ret);
}

int api_get(struct cli *c, const char *path, struct api_reply *ret)
{
    return api_do(c, &(struct api_req){ .method = "GET", .path = path }, ret);
}

const char *api_escape(struct arena *a, const char *s)
{
    struct buf b = BUF(8192);
    url_encode(&b, str_c(s));
    const char *copy = arena_strndup(a, b.ptr ? b.ptr : "", b.len);
    buf_release(&b);
    return copy;
}

int api_resolve(struct cli *c, const struct noun *noun, const char *text, const char **ret)
{
    if (str_starts(str_c(text), noun->prefix)) {
        *ret = text;
        return CLI_OK;
    }
    const char *token = NULL;
    do {
        struct api_reply r;
        const char *path = token ? arena_printf(c->arena, "%s?page_size=200&page_token=%s", noun->list, api_escape(c->arena, token))
                                 : arena_printf(c->arena, "%s?page_size=200", noun->list);
        int rc = api_get(c, path, &r);
        if (rc != CLI_OK)
            return rc;
        const struct jval *data = jval_get(r.json, "data");
        for (size_t i = 0; i < jval_len(data); i++) {
            const struct jval *item = jval_at(data, i);
            if (str_eq_c(jval_str(jval_get(item, "name")), text)) {
                *ret = jval_str(jval_get(item, noun->id)).ptr;
                if (*ret)
                    return CLI_OK;
            }
        }
        token = jval_str(jval_get(r.json, "next_page_token")).ptr;
    } while (token && *token);
    return cli_fail(c, CLI_NOT_FOUND, arena_printf(c->arena, "an id starts with %s; names are looked up in %s", noun->prefix, noun->list),
                    "there is no %s '%.100s'", noun->what, text);
}
