/* SPDX-License-Identifier: Apache-2.0 */
/* browser.c - session cookies and CSRF. A browser sends the cookie by itself, so a change also needs proof that a page of ours
 * sent the request.
 *
 * A call that changes something under a session needs all of: Sec-Fetch-Site, if sent, says same-origin; Origin, if sent, is ours; one of
 * the two is sent; and X-CSRF-Token is the session's own, which a page of another origin cannot read. A sign-in itself has no session yet:
 * it is refused when one of the two headers names another origin. No header or parameter overrides the request's method. */
#include "api/api_int.h"
#include "core/http/cookie.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "tenants/identity/session.h"
#include "tenants/identity/session_authn.h"

#include <strings.h>

enum origin { ORIGIN_UNSAID, ORIGIN_OURS, ORIGIN_FOREIGN };

static size_t header_count(const struct http_request *r, const char *name)
{
    size_t n = 0, len = strlen(name);
    for (size_t i = 0; i < r->nheaders; i++)
        n += r->headers[i].name.len == len && !strncasecmp(r->headers[i].name.ptr, name, len);
    return n;
}

/* The URL clients use, where it is set; else the host they asked for, under either scheme: TLS may end at a proxy. */
static bool is_our_origin(const struct call *c, struct str origin)
{
    struct str base = str_c(c->work.app->config->api_public_url), host = http_header_get(c->request, "Host");
    if (base.len) {
        while (base.len && base.ptr[base.len - 1] == '/')
            base.len--;
        return str_eq(origin, base);
    }
    struct str rest = str_starts(origin, "https://") ? str_n(origin.ptr + 8, origin.len - 8)
                    : str_starts(origin, "http://") ? str_n(origin.ptr + 7, origin.len - 7) : STR_NULL;
    return rest.len && str_eq(rest, host);
}

static enum origin origin_of(const struct call *c)
{
    const struct http_request *r = c->request;
    struct str site = http_header_get(r, "Sec-Fetch-Site"), origin = http_header_get(r, "Origin");
    if (header_count(r, "Sec-Fetch-Site") > 1 || header_count(r, "Origin") > 1)
        return ORIGIN_FOREIGN;
    if ((site.ptr && !str_eq_c(site, "same-origin")) || (origin.ptr && !is_our_origin(c, origin)))
        return ORIGIN_FOREIGN;
    return site.ptr || origin.ptr ? ORIGIN_OURS : ORIGIN_UNSAID;
}

static bool is_unsafe(const struct call *c)
{
    return c->request->method != HTTP_GET && c->request->method != HTTP_HEAD;
}

enum errc browser_cookie(const struct http_request *r, struct str *ret, struct err *e)
{
    *ret = STR_NULL;
    size_t n = header_count(r, "Cookie");
    if (!n)
        return ERR_OK;
    enum cookie_found found = cookie_get(http_header_get(r, "Cookie"), SESSION_COOKIE, COOKIE_LEN, ret);
    if (n > 1 || found == COOKIE_BAD) {
        *ret = STR_NULL;
        return FAIL(e, UNAUTHENTICATED, "The session cookie is malformed; sign in again");
    }
    return ERR_OK;
}

enum errc browser_public(const struct call *c, struct err *e)
{
    if (is_unsafe(c) && str_starts(c->request->path, "/v1/auth/") && origin_of(c) == ORIGIN_FOREIGN)
        return FAIL(e, CSRF, "The request comes from a page of another origin");
    return ERR_OK;
}

enum errc browser_socket(const struct call *c, struct err *e)
{
    const bool is_page = http_header_get(c->request, "Cookie").ptr || http_header_get(c->request, "Origin").ptr;
    if (!is_page || origin_of(c) == ORIGIN_OURS)
        return ERR_OK;
    return FAIL(e, CSRF, "The request comes from a page of another origin");
}

static enum errc check_csrf(const struct call *c, struct err *e)
{
    if (!is_unsafe(c))
        return ERR_OK;
    if (origin_of(c) != ORIGIN_OURS)
        return FAIL(e, CSRF, "Under a session, a change must come from a page of this origin (Sec-Fetch-Site: same-origin, or Origin)");
    if (header_count(c->request, "X-CSRF-Token") != 1 || !session_csrf_is(c->session_cookie, http_header_get(c->request, "X-CSRF-Token")))
        return FAIL(e, CSRF, "Under a session, a change needs the header X-CSRF-Token with the session's csrf_token");
    return ERR_OK;
}

enum errc browser_session(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    if (header_count(c->request, "Authorization"))
        return FAIL(e, INVALID, "Send a token or a session cookie, not both");
    TRY(credential_may_try(f, c->session_cookie, e));
    enum errc rc = session_authn(f->pipeline->sessions, c->session_cookie, !(c->route->flags & R_UNNOTICED), c->work.arena, &c->principal, e);
    credential_judged(f, c->session_cookie, rc);
    metrics_inc(M_authn_total, "session", rc == ERR_OK ? "ok" : err_row(rc)->wire);
    if (rc != ERR_OK)
        return rc;
    TRY(check_csrf(c, e));
    if (c->principal->stage == STAGE_CODE && !(c->route->flags & R_STAGE_CODE))
        return FAIL(e, MFA_REQUIRED, "The sign-in is not finished: send the code of the second factor to /v1/auth/totp");
    if (c->principal->stage == STAGE_ENROL && !(c->route->flags & R_STAGE_ENROL))
        return FAIL(e, MFA_REQUIRED, "A role of yours needs a second factor: set one up at /v1/auth/mfa/totp");
    return ERR_OK;
}
