/* SPDX-License-Identifier: Apache-2.0 */
/* authenticate.c - phase: who calls. A machine by its certificate, a browser by its session cookie, all others by a bearer token:
 * ours,
 * or one of an outside issuer. */
#include "api/api_int.h"
#include "core/base/cleanup.h"
#include "core/table/metrics.h"
#include "tenants/access/authz.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/jwt_authn.h"

struct str bearer_token(const struct http_request *r)
{
    struct str h = http_header_get(r, "Authorization");
    return str_starts(h, "Bearer ") ? str_trim(str_n(h.ptr + 7, h.len - 7)) : STR_NULL;
}

/* A worker is who its certificate says; which node that is, its handlers look up. */
static struct principal *worker_principal(const struct http_request *r, struct uuid node_id)
{
    struct principal *p = principal_new();
    p->is_worker = true;
    p->user_id = node_id;
    p->name = str_dup(p->arena, r->peer_identity);
    p->roles = UINT32_C(1) << ROLE_WORKER;
    p->permissions = role_permissions(ROLE_WORKER);
    p->expires_us = INT64_MAX;
    return p;
}

enum errc phase_authn(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    if (c->route->flags & R_NODE) {
        if (!c->request->peer_identity.ptr)
            return FAIL(e, UNAUTHENTICATED, "Workers need a client certificate of their zone");
        struct uuid node_id = UUID_NIL;
        if (f->pipeline->gate && !(c->route->flags & R_GATE_OWN))
            TRY(f->pipeline->gate(c, &node_id, e));
        c->principal = worker_principal(c->request, node_id);
    } else if (c->route->perm != PERM_PUBLIC && !c->principal) {
        TRY(browser_cookie(c->request, &c->session_cookie, e));
        if (c->session_cookie.ptr)
            TRY(browser_session(f, e));
    }
    if (c->route->perm == PERM_PUBLIC) {
        TRY(browser_public(c, e));
    } else if (!c->principal) {
        struct str token = bearer_token(c->request);
        if (!token.ptr)
            return FAIL(e, UNAUTHENTICATED, "Send an Authorization header with a bearer token");
        bool is_jwt = jwt_looks_like(token);
        TRY(credential_may_try(f, token, e));
        enum errc rc = is_jwt ? bearer_jwt(c, token, e) : authn_token(f->pipeline->authn, token, c->work.source_ip, c->work.arena,
                                                                      &c->principal, e);
        credential_judged(f, token, rc);
        metrics_inc(M_authn_total, is_jwt ? "jwt" : "token", rc == ERR_OK ? "ok" : err_row(rc)->wire);
        if (rc != ERR_OK)
            return rc;
    }
    c->work.principal = c->principal;
    c->work.tenant_id = c->principal ? c->principal->tenant_id : UUID_NIL;
    return ERR_OK;
}

/* By the phases that let it in. What they say of rates has no reader, and room for one call's alone. */
enum errc flight_again(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    principal_unref(TAKE(c->principal));
    c->work.principal = NULL;
    c->work.now_us = clock_wall_us(c->work.app->clock);
    f->nrates = 0;
    TRY(phase_authn(f, e));
    TRY(phase_person(f, e));
    return phase_authz(f, e);
}
