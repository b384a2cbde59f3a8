/* SPDX-License-Identifier: Apache-2.0 */
/* admit.c - the two phases that decide: by permission before the request is read, by zone after. A denial leaves an audit
 * event. */
#include "api/api_int.h"
#include "audit/event.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "tenants/access/authz.h"

/* The proof that a session gave counts as fresh for so long. */
#define STEP_UP_US (10 * INT64_C(60000000))

/* A denial is an act too: it stands in the log of the tenant whose principal tried. */
static void audit_denial(struct flight *f, const struct decision *d)
{
    struct call *c = &f->call;
    struct db_pool *pool = c->route->flags & R_NODE ? c->work.app->node_pool : c->work.app->pool;
    struct db_scope scope = c->route->flags & R_NODE ? SCOPE_SYSTEM : SCOPE_TENANT(c->work.tenant_id);
    struct err e;
    struct audit_event ev = flight_audit_event(f, AUDIT_DENIAL);
    ev.denied = true;
    ev.rule = str_c(d->rule);
    ev.error = ERR_FORBIDDEN;
    ev.http_status = 403;
    audit_event_detail(&ev, AUDIT_D_STR("route", str_c(c->route->op)));
    if (audit_append_apart(&c->work, pool, scope, &ev, &e) != ERR_OK)
        log_err(LOG_ERROR, "audit.denial_not_written", &e);
}

static struct authz_context context_of(const struct call *c)
{
    return (struct authz_context){ .now_us = c->work.now_us, .source_ip = c->work.source_ip, .zone_later = true };
}

enum errc admit_refuse(struct call *c, const struct decision *d, enum permission perm, struct err *e)
{
    metrics_inc(M_authz_denied_total, perm_row(perm)->wire);
    audit_denial(flight_of(&c->work), d);
    return authz_refuse(d, perm, e);
}

static enum errc deny(struct flight *f, const struct decision *d, struct err *e)
{
    return admit_refuse(&f->call, d, f->call.route->perm, e);
}

static enum errc admit(struct flight *f, const struct decision *d, const struct authz_context *ctx)
{
    struct call *c = &f->call;
    c->audit.rule = c->route->audited ? str_dup(c->work.arena, str_c(d->rule)) : STR_NULL;
    if (d->in_projects)
        c->work.projects = authz_projects(c->principal, c->route->perm, ctx, c->work.arena);
    return ERR_OK;
}

/* A session that has been idle in front of its owner is not its owner: what cannot be undone asks for a fresh proof. */
static enum errc check_step_up(const struct call *c, struct err *e)
{
    const struct principal *p = c->principal;
    if (!(c->route->flags & R_STEP_UP) || !p || p->method != AUTH_SESSION)
        return ERR_OK;
    int64_t proved_us = p->mfa_us > p->login_us ? p->mfa_us : p->login_us;
    if (proved_us && c->work.now_us - proved_us <= STEP_UP_US)
        return ERR_OK;
    return FAIL(e, MFA_REQUIRED, "This act needs a login or a second factor within the last %d minutes", (int)(STEP_UP_US / 60000000));
}

enum errc phase_authz(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    struct authz_context ctx = context_of(c);
    struct decision d = authz_decide(c->principal, c->route->perm, &ctx);
    if (!d.allowed)
        return deny(f, &d, e);
    f->zone_later = d.zone_later && !(c->route->flags & R_ZONE_LATE);
    TRY(check_step_up(c, e));
    return admit(f, &d, &ctx);
}

/* What only a role of some zones allows, judged by the zone that the request names. A tenant of one zone acts nowhere else. */
enum errc phase_zone(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    if (!f->zone_later)
        return ERR_OK;
    struct authz_context ctx = context_of(c);
    ctx.zone_later = false;
    if (f->match->zone)
        ctx.zone = *(struct str *)field_at(f->match->zone, c->in);
    if (!ctx.zone.ptr && c->principal->allowed_zones.n == 1)
        ctx.zone = c->principal->home_zone;
    struct decision d = authz_decide(c->principal, c->route->perm, &ctx);
    return d.allowed ? admit(f, &d, &ctx) : deny(f, &d, e);
}
