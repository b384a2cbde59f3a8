/* SPDX-License-Identifier: Apache-2.0 */
/* bearer.c - what a caller shows to be known by: a budget for what was shown in vain, and the way of outside tokens.
 *
 * Each token or cookie that is not in memory costs a read of the database, so an address has rate.address_per_minute of those
 * that were refused. What was let in before is asked about whatever its neighbours behind the same address did.
 * A refused JWT leaves an audit event only after its signature was verified; before that, anybody could fill a
 * tenant's log. */
#include "api/api_int.h"
#include "core/base/log.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "tenants/access/actor.h"
#include "tenants/identity/jwt_authn.h"

static _Atomic uint64_t *place_of(struct flight *f, struct str shown, uint64_t *ret_hash)
{
    *ret_hash = str_hash(shown) | 1;
    return &f->pipeline->let_in[*ret_hash / 2 % LET_IN];
}

/* cost 0: only looks. */
static bool take_wrong(struct flight *f, int64_t cost, struct rate_result *ret)
{
    const struct work *w = &f->call.work;
    int64_t limit = w->app->config->rate_address_per_minute;
    struct str key = str_fmt(w->arena, "w:%.*s", STR_ARG(w->source_ip));
    const struct rate_rule rule = { (double)limit / 60, limit };
    if (limit <= 0 || !f->pipeline->rate)
        return true;
    if (cost > 0)
        rate_charge(f->pipeline->rate, key, rule, cost);
    return cost > 0 || rate_take(f->pipeline->rate, key, rule, 0, ret);
}

enum errc credential_may_try(struct flight *f, struct str shown, struct err *e)
{
    uint64_t hash;
    struct rate_result *r = &f->rates[f->nrates].result;
    if (*place_of(f, shown, &hash) == hash || take_wrong(f, 0, r))
        return ERR_OK;
    f->rates[f->nrates++].name = "wrong-credentials";
    metrics_inc(M_rate_denied_total, "credential");
    return FAIL(e, RATE, "Too many wrong tokens and sessions from this address; wait %ld s", (long)r->reset_s);
}

void credential_judged(struct flight *f, struct str shown, enum errc rc)
{
    uint64_t hash;
    _Atomic uint64_t *place = place_of(f, shown, &hash);
    if (rc == ERR_OK) {
        *place = hash;
    } else if (rc == ERR_UNAUTHENTICATED) {
        struct rate_result unused;
        (void)take_wrong(f, 1, &unused);
        atomic_compare_exchange_strong(place, &hash, 0);
    }
}

static enum errc note(struct work *w, const struct jwt_outcome *o, enum errc rc, struct err *e)
{
    w->tenant_id = o->tenant_id;
    struct audit_event ev = audit_event_by(w, NULL, AUDIT_AUTHN_REFUSED);
    ev.resource_kind = STR("issuer");
    ev.resource_prefix = "iss";
    ev.resource_id = o->issuer_id;
    ev.error = rc;
    ev.http_status = err_row(rc)->http;
    audit_event_detail(&ev, AUDIT_D_STR("why", o->is_replay ? STR("replay") : STR("subject")));
    return audit_append_apart(w, w->app->pool, SCOPE_TENANT(o->tenant_id), &ev, e);
}

enum errc bearer_jwt(struct call *c, struct str token, struct err *e)
{
    struct jwt_outcome o;
    struct err ours;
    enum errc rc = jwt_authn(&c->work, token, &c->principal, &o, e);
    if ((rc == ERR_UNAUTHENTICATED || rc == ERR_TENANT_SUSPENDED) && !uuid_is_nil(o.issuer_id)) {
        if (note(&c->work, &o, rc, &ours) != ERR_OK)
            log_err(LOG_ERROR, "bearer.not_audited", &ours);
        c->work.tenant_id = UUID_NIL;
    }
    return rc;
}
