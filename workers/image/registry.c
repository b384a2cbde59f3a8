/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - one client for each host, made when it is first sent to. */
#include "workers/image/registry.h"

#include <stdlib.h>
#include <string.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/secmem.h"
#include "core/json/jsonvalue.h"
#include "core/wire/image_ref.h"
#include "workers/image/challenge.h"

#define NOWHERE "192.0.2.1"             /* never connected to: the socket is given (RFC 5737) */
enum { CLIENTS_MAX = 9, PATH_MAX_BYTES = 8192, TOKEN_LEVELS = 4, TIMEOUT_NONE = -1, SECRET_MAX = 32768 };

struct peer {
    struct registry *of;
    struct str host, place;             /* as it was named; HOST:PORT */
    struct http_client *client;
};

struct registry {
    const struct registry_place *p;
    struct arena *a;
    struct peer peers[CLIENTS_MAX];
    size_t n;
    const char *basic, *bearer;         /* headers; NULL: none */
    size_t tokens;
    struct err dial_why;
    /* of the call under way */
    const struct registry_body *body;
    int64_t since_us;
    uint64_t came;
    bool is_slow, was_stopped;
};

static int dial_peer(void *ctx)
{
    struct peer *p = ctx;
    p->of->dial_why = (struct err){ 0 };
    return p->of->p->dial(p->of->p->ctx, p->place, &p->of->dial_why);
}

static bool is_named(const struct registry *r, struct str host)
{
    bool is = image_host_eq(host, r->p->host);
    for (size_t i = 0; i < r->p->nhosts; i++)
        is |= image_host_eq(host, r->p->hosts[i]);
    return is;
}

static enum errc peer_of(struct registry *r, struct str host, struct peer **ret, struct err *e)
{
    struct str name;
    int port;
    for (size_t i = 0; i < r->n; i++)
        if (image_host_eq(r->peers[i].host, host)) {
            *ret = &r->peers[i];
            return ERR_OK;
        }
    if (r->n == CLIENTS_MAX || !image_host_parse(host, &name, &port))
        return FAIL(e, LIMIT, "too many hosts");
    struct peer *p = &r->peers[r->n];
    *p = (struct peer){ .of = r, .host = host, .place = str_fmt(r->a, "%.*s:%d", STR_ARG(name), port) };
    const struct http_client_options o = { .base_url = arena_printf(r->a, "https://%.*s", STR_ARG(host)),
        .ca_pem = r->p->ca_pem.len ? r->p->ca_pem : STR_NULL, .connect_timeout_ms = (int)r->p->silent_s * 1000,
        .connect_to = arena_printf(r->a, NOWHERE ":%d", port), .dial = dial_peer, .dial_ctx = p };
    p->client = http_client_new(&o, e);
    if (!p->client)
        return e->code;
    r->n++;
    *ret = p;
    return ERR_OK;
}

static bool on_reply(void *ctx, const struct http_result *head)
{
    struct registry *r = ctx;
    return r->body->begin(r->body->ctx, head);
}

static bool on_data(void *ctx, const char *p, size_t n)
{
    struct registry *r = ctx;
    r->came += n;
    return r->body->take(r->body->ctx, p, n);
}

/* Ten times a second: in each stretch of silent_s so much must have come. */
static bool is_unwanted(void *ctx)
{
    struct registry *r = ctx;
    const int64_t now = clock_mono_us(&clock_system);
    r->was_stopped = r->p->is_stopped && r->p->is_stopped(r->p->ctx);
    if (now - r->since_us >= r->p->silent_s * 1000000) {
        r->is_slow = r->came < (uint64_t)r->p->silent_s * REGISTRY_PACE;
        r->since_us = now;
        r->came = 0;
    }
    return r->was_stopped || r->is_slow;
}

static enum errc refuse_connection(const struct registry *r, struct str host, struct err *e)
{
    if (r->was_stopped)
        return FAIL(e, RETRY, "the pull was stopped");
    if (r->is_slow)
        return FAIL(e, DEADLINE, "%.*s brought less than %d bytes a second for %ld seconds", STR_ARG(host), REGISTRY_PACE,
                    (long)r->p->silent_s);
    if (r->dial_why.code != ERR_OK) {
        *e = r->dial_why;
        return e->code;
    }
    const struct err was = *e;
    return FAIL(e, UNAVAILABLE, "%.*s: %s%s%s", STR_ARG(host), was.msg, was.detail[0] ? ": " : "", was.detail);
}

static enum errc ask(struct registry *r, struct str host, const char *path, const struct registry_body *b, const char *secret,
                     struct http_result *ret, struct err *e)
{
    struct peer *p;
    const char *headers[4] = { NULL };
    size_t n = 0;
    if (strlen(path) > PATH_MAX_BYTES)
        return FAIL(e, BAD_DATA, "%.*s sends to an address of more than %d characters", STR_ARG(host), PATH_MAX_BYTES);
    TRY(peer_of(r, host, &p, e));
    if (b->accept)
        headers[n++] = arena_printf(r->a, "Accept: %s", b->accept);
    if (b->from)
        headers[n++] = arena_printf(r->a, "Range: bytes=%llu-", (unsigned long long)b->from);
    if (secret)
        headers[n++] = secret;
    const struct http_call call = { .path = path, .headers = headers, .timeout_ms = TIMEOUT_NONE, .on_reply = on_reply,
        .on_data = on_data, .ctx = r, .response_max = REGISTRY_TOKEN_BYTES, .is_unwanted = is_unwanted, .unwanted_ctx = r };
    r->body = b;
    r->since_us = clock_mono_us(&clock_system);
    r->came = 0;
    r->is_slow = r->was_stopped = false;
    r->dial_why = (struct err){ 0 };
    return http_client_call(p->client, r->a, &call, ret, e) == ERR_OK ? ERR_OK
         : e->code == ERR_LIMIT ? FAIL(e, LIMIT, "%.*s answers with more than is read", STR_ARG(host))
                                : refuse_connection(r, host, e);
}

/* --- whole texts --- */

struct text { struct buf body; bool is_long; };

static bool text_begin(void *ctx, const struct http_result *head)
{
    (void)ctx;
    (void)head;
    return true;
}

static bool text_take(void *ctx, const char *p, size_t n)
{
    struct text *t = ctx;
    t->is_long = !buf_add(&t->body, p, n);
    return !t->is_long;
}

/* --- tokens --- */

static void add_query(struct buf *b, const char *name, struct str value)
{
    buf_printf(b, "%s=", name);
    for (size_t i = 0; i < value.len; i++) {
        const unsigned char c = (unsigned char)value.ptr[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c))
            buf_add_char(b, (char)c);
        else
            buf_printf(b, "%%%02X", c);
    }
}

static enum errc read_token(struct registry *r, struct str host, struct str json, struct err *e)
{
    const struct jval *v;
    struct err odd = { 0 };
    if (jval_parse(r->a, json, TOKEN_LEVELS, &v, &odd) != ERR_OK)
        return FAIL(e, BAD_DATA, "the token service %.*s answers in no JSON", STR_ARG(host));
    struct str token = jval_str(jval_get(v, "token"));
    if (!token.len)
        token = jval_str(jval_get(v, "access_token"));
    for (size_t i = 0; i < token.len; i++)
        if (token.ptr[i] <= ' ' || token.ptr[i] > '~')
            token.len = 0;
    if (!token.len)
        return FAIL(e, BAD_DATA, "the token service %.*s gives no token", STR_ARG(host));
    r->bearer = arena_printf(r->a, "Authorization: Bearer %.*s", STR_ARG(token));
    return ERR_OK;
}

static enum errc get_token(struct registry *r, const struct challenge *c, struct err *e)
{
    struct http_result got;
    CLEANUP(buf_releasep) struct buf path = BUF(PATH_MAX_BYTES);
    struct text t = { BUF(REGISTRY_TOKEN_BYTES), false };
    const struct registry_body b = { .begin = text_begin, .take = text_take, .ctx = &t };
    if (!is_named(r, c->host))
        return FAIL(e, FORBIDDEN, "the registry wants a token of %.*s, which the zone's row of the registry does not name",
                    STR_ARG(c->host));
    buf_printf(&path, "%.*s%c", STR_ARG(c->path), memchr(c->path.ptr, '?', c->path.len) ? '&' : '?');
    if (c->service.len) {
        add_query(&path, "service", c->service);
        buf_add_char(&path, '&');
    }
    add_query(&path, "scope", str_fmt(r->a, "repository:%.*s:pull", STR_ARG(r->p->repository)));
    enum errc rc = path.overflow ? FAIL(e, BAD_DATA, "the realm is too long")
                                 : ask(r, c->host, str_z(r->a, buf_str(&path)), &b, r->basic, &got, e);
    if (rc == ERR_OK && t.is_long)
        rc = FAIL(e, LIMIT, "the token service %.*s answers with more than %d bytes", STR_ARG(c->host), REGISTRY_TOKEN_BYTES);
    if (rc == ERR_OK && (got.status < 200 || got.status > 299))
        rc = got.status >= 500 ? FAIL(e, UNAVAILABLE, "the token service %.*s answers %d", STR_ARG(c->host), got.status)
           : FAIL(e, FORBIDDEN, "the token service %.*s answers %d: %s", STR_ARG(c->host), got.status,
                  r->p->credentials.len ? "it refuses the credentials" : "it wants credentials; name a secret with them");
    if (rc == ERR_OK)
        rc = read_token(r, c->host, buf_str(&t.body), e);
    buf_release(&t.body);
    return rc;
}

/* After a 401 of the registry itself: what is asked with next. */
static enum errc answer_challenge(struct registry *r, const struct http_result *got, const char *sent, const char **ret,
                                  struct err *e)
{
    const struct challenge c = challenge_read(http_result_header(got, "WWW-Authenticate"), r->a);
    if (c.kind == CHALLENGE_NONE)
        return FAIL(e, BAD_DATA, "%.*s answers 401 and does not say how it wants to be asked (Basic, or Bearer with an https "
                    "realm)", STR_ARG(r->p->host));
    if (c.kind == CHALLENGE_BASIC) {
        if (!r->basic || sent == r->basic)
            return FAIL(e, FORBIDDEN, "%.*s %s", STR_ARG(r->p->host), r->p->credentials.len
                        ? "refuses the credentials (a secret holds USER:PASSWORD, or a token)"
                        : "wants credentials; name a secret with them");
        *ret = r->basic;
        return ERR_OK;
    }
    if (r->tokens++ == REGISTRY_TOKENS_MAX)
        return FAIL(e, LIMIT, "%.*s wants more than %d tokens for one image", STR_ARG(r->p->host), REGISTRY_TOKENS_MAX);
    TRY(get_token(r, &c, e));
    *ret = r->bearer;
    return ERR_OK;
}

/* --- redirects --- */

static enum errc follow(struct registry *r, const struct http_result *got, struct str *host, const char **path, struct err *e)
{
    const struct str to = http_result_header(got, "Location");
    struct str next, where;
    if (to.len && to.ptr[0] == '/' && (to.len == 1 || to.ptr[1] != '/')) {
        *path = str_z(r->a, to);
        return ERR_OK;
    }
    if (!challenge_url(to, r->a, &next, &where))
        return FAIL(e, FORBIDDEN, "%.*s sends to an address that is none of https://HOST/PATH", STR_ARG(*host));
    if (!is_named(r, next))
        return FAIL(e, FORBIDDEN, "%.*s sends to %.*s, which the zone's row of the registry does not name", STR_ARG(*host),
                    STR_ARG(next));
    *host = str_dup(r->a, next);
    *path = str_z(r->a, where);
    return ERR_OK;
}

static enum errc judge_status(const struct registry *r, struct str host, int status, struct err *e)
{
    if (status == 404)
        return FAIL(e, NOT_FOUND, "%.*s has no such image, or not for who asks", STR_ARG(host));
    if (status == 429 || status >= 500)
        return FAIL(e, UNAVAILABLE, "%.*s answers %d", STR_ARG(host), status);
    if (status == 403)
        return FAIL(e, FORBIDDEN, "%.*s answers 403: %s", STR_ARG(host), r->p->credentials.len
                    ? "the credentials do not open this image" : "it may want credentials; name a secret with them");
    return FAIL(e, BAD_DATA, "%.*s answers %d", STR_ARG(host), status);
}

enum errc registry_get(struct registry *r, const struct registry_body *b, struct http_result *ret, struct err *e)
{
    struct str host = r->p->host;
    const char *path = b->path;
    bool was_asked = false;
    for (int hops = 0;;) {
        const bool is_own = image_host_eq(host, r->p->host);
        const char *secret = is_own ? r->bearer : NULL;
        TRY(ask(r, host, path, b, secret, ret, e));
        if (ret->status == 401 && is_own && !was_asked) {
            was_asked = true;
            TRY(answer_challenge(r, ret, secret, &r->bearer, e));
        } else if (ret->status == 401) {
            return FAIL(e, FORBIDDEN, "%.*s refuses the credentials, or wants some (401)", STR_ARG(host));
        } else if (ret->status >= 300 && ret->status < 400 && ret->status != 304) {
            if (hops++ == REGISTRY_HOPS)
                return FAIL(e, BAD_DATA, "%.*s sends on more than %d times", STR_ARG(host), REGISTRY_HOPS);
            TRY(follow(r, ret, &host, &path, e));
        } else {
            return ret->status >= 200 && ret->status < 300 ? ERR_OK : judge_status(r, host, ret->status, e);
        }
    }
}

enum errc registry_text(struct registry *r, const char *path, const char *accept, size_t most, struct http_result *ret,
                        struct err *e)
{
    struct text t = { BUF(most), false };
    const struct registry_body b = { .path = path, .accept = accept, .begin = text_begin, .take = text_take, .ctx = &t };
    enum errc rc = registry_get(r, &b, ret, e);
    if (rc == ERR_OK && t.is_long)
        rc = FAIL(e, LIMIT, "%.*s answers with more than %zu bytes where a manifest is wanted", STR_ARG(r->p->host), most);
    if (rc == ERR_OK)
        ret->body = str_dup(r->a, buf_str(&t.body));
    buf_release(&t.body);
    return rc;
}

/* USER:PASSWORD, or a token that is sent as it is. */
static enum errc take_credentials(struct registry *r, struct err *e)
{
    struct str s = r->p->credentials;
    while (s.len && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r'))
        s.len--;
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f)
            return FAIL(e, INVALID, "the secret with the registry's credentials has a line's end or a control character in it; "
                        "USER:PASSWORD or a token is wanted");
    if (!s.len)
        return ERR_OK;
    if (!memchr(s.ptr, ':', s.len)) {
        r->bearer = arena_printf(r->a, "Authorization: Bearer %.*s", STR_ARG(s));
        return ERR_OK;
    }
    char *coded = arena_alloc(r->a, BASE64_MAX(s.len));
    base64_encode(s.ptr, s.len, coded, false);
    r->basic = arena_printf(r->a, "Authorization: Basic %s", coded);
    secret_wipe(coded, strlen(coded));
    return ERR_OK;
}

enum errc registry_new(const struct registry_place *p, struct arena *a, struct registry **ret, struct err *e)
{
    CLEANUP(registry_freep) struct registry *r = calloc(1, sizeof *r);
    ASSERT(r);
    r->p = p;
    r->a = a;
    if (p->credentials.len > SECRET_MAX)
        return FAIL(e, LIMIT, "the registry's credentials have more than %d bytes", SECRET_MAX);
    TRY(take_credentials(r, e));
    *ret = TAKE(r);
    return ERR_OK;
}

void registry_free(struct registry *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        http_client_free(r->peers[i].client);
    const char *const secrets[] = { r->basic, r->bearer };
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (secrets[i])
            secret_wipe((char *)(uintptr_t)secrets[i], strlen(secrets[i]));
    free(r);
}

void registry_freep(struct registry **r)
{
    registry_free(*r);
    *r = NULL;
}
