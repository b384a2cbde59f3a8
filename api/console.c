/* SPDX-License-Identifier: Apache-2.0 */
/* console.c - two small readers of weighted lists (RFC 9110, 12.4.2) and the headers. */
#include "api/console.h"
#include "api/etag.h"
#include "core/base/arena.h"

#include <strings.h>

enum { HEADERS_MAX = 12, Q_ONE = 1000 };

static bool same_word(struct str a, const char *word)
{
    return a.len == strlen(word) && !strncasecmp(a.ptr, word, a.len);
}

/* "0", "1", "0.5", "1.000" in thousandths; anything else weighs nothing. */
static int weight_of(struct str q)
{
    int value = 0, unit = Q_ONE;
    if (!q.len || q.len > 5 || q.ptr[0] < '0' || q.ptr[0] > '1' || (q.len > 1 && q.ptr[1] != '.'))
        return 0;
    for (size_t i = 0; i < q.len; i++) {
        if (i == 1)
            continue;
        if (q.ptr[i] < '0' || q.ptr[i] > '9')
            return 0;
        value += (q.ptr[i] - '0') * unit;
        unit /= 10;
    }
    return value > Q_ONE ? 0 : value;
}

/* The next member of a list: its name and weight. false: no more. */
static bool next_member(struct str *list, struct str *ret_name, int *ret_q)
{
    struct str member, part, rest;
    if (!list->ptr)
        return false;
    if (!str_cut(*list, ',', &member, list))
        *list = STR_NULL;
    bool more = str_cut(member, ';', ret_name, &rest);
    *ret_name = str_trim(*ret_name);
    *ret_q = Q_ONE;
    while (more) {
        more = str_cut(rest, ';', &part, &rest);
        part = str_trim(part);
        if (part.len >= 2 && (part.ptr[0] | 0x20) == 'q' && part.ptr[1] == '=')
            *ret_q = weight_of(str_trim(str_n(part.ptr + 2, part.len - 2)));
    }
    return true;
}

enum console_coding console_coding_choose(const struct console_file *f, struct str accept)
{
    static const char *const names[CODING_COUNT] = { "identity", "gzip", "br" };
    int q[CODING_COUNT] = { -1, -1, -1 }, any = -1, weight;
    struct str name;
    while (next_member(&accept, &name, &weight)) {
        if (same_word(name, "*"))
            any = weight;
        for (int i = 0; i < CODING_COUNT; i++)
            if (same_word(name, names[i]) || (i == CODING_GZIP && same_word(name, "x-gzip")))
                q[i] = weight;
    }
    enum console_coding best = CODING_IDENTITY;
    int best_q = 0;
    for (int i = CODING_BR; i > CODING_IDENTITY; i--) {
        int own = q[i] >= 0 ? q[i] : any;
        if (f->bodies[i].bytes.ptr && own > best_q) {
            best = (enum console_coding)i;
            best_q = own;
        }
    }
    /* Only who says that it likes the plain file better gets it instead. */
    return q[CODING_IDENTITY] > best_q ? CODING_IDENTITY : best;
}

bool console_is_page(struct str path, struct str accept)
{
    static const char *const others[] = { "v1", "v2", "scim", "healthz", "readyz", "metrics", "version", "openapi.json", "assets" };
    struct str first, rest, name;
    int q;
    if (!path.len || path.ptr[0] != '/')
        return false;
    str_cut(str_n(path.ptr + 1, path.len - 1), '/', &first, &rest);
    /* An escaped letter there could only be an attempt to name the API by another spelling. */
    if (str_find(first, '%') >= 0)
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (same_word(first, others[i]))
            return false;
    while (next_member(&accept, &name, &q))
        if (q > 0 && (same_word(name, "text/html") || same_word(name, "application/xhtml+xml")))
            return true;
    return false;
}

bool console_has(const struct console *c, struct str path)
{
    return console_find(c, str_eq_c(path, "/") ? STR("/index.html") : path) != NULL;
}

static void add(struct http_response *r, struct http_header *list, const char *name, const char *value)
{
    list[r->nheaders++] = (struct http_header){ str_c(name), str_c(value) };
}

bool console_pick(const struct console *c, const struct http_request *r, struct str request_id, struct http_response *ret)
{
    if (r->method != HTTP_GET && r->method != HTTP_HEAD)
        return false;
    const struct console_file *f = console_find(c, str_eq_c(r->path, "/") ? STR("/index.html") : r->path);
    bool is_fallback = !f && console_is_page(r->path, http_header_get(r, "Accept"));
    if (is_fallback)
        f = console_find(c, STR("/index.html"));
    if (!f)
        return false;
    enum console_coding coding = console_coding_choose(f, http_header_get(r, "Accept-Encoding"));
    const struct console_body *body = &f->bodies[coding];
    bool has_codings = f->bodies[CODING_GZIP].bytes.ptr || f->bodies[CODING_BR].bytes.ptr;
    struct http_header *h = ARENA_ARRAY(r->arena, struct http_header, HEADERS_MAX);
    *ret = (struct http_response){ .status = 200, .content_type = str_c(f->type), .body = body->bytes, .headers = h };
    h[ret->nheaders++] = (struct http_header){ STR("X-Request-Id"), request_id };
    add(ret, h, "ETag", body->etag);
    add(ret, h, "Cache-Control", f->is_hashed ? "public, max-age=31536000, immutable" : "no-cache");
    if (has_codings || is_fallback)
        add(ret, h, "Vary", !is_fallback ? "Accept-Encoding" : has_codings ? "Accept, Accept-Encoding" : "Accept");
    add(ret, h, "Content-Security-Policy", CONSOLE_CSP);
    add(ret, h, "X-Content-Type-Options", "nosniff");
    add(ret, h, "Referrer-Policy", "no-referrer");
    add(ret, h, "Cross-Origin-Opener-Policy", "same-origin");
    add(ret, h, "Cross-Origin-Resource-Policy", "same-origin");
    add(ret, h, "Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()");
    if (etag_is_listed(http_header_get(r, "If-None-Match"), str_c(body->etag))) {
        ret->status = 304;
        ret->body = ret->content_type = STR_NULL;
    } else if (coding != CODING_IDENTITY) {
        add(ret, h, "Content-Encoding", coding == CODING_BR ? "br" : "gzip");
    }
    return true;
}
