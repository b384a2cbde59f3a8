/* SPDX-License-Identifier: Apache-2.0 */
/* bearer.c - a refused JWT leaves an audit event only after its signature was verified; before that, anybody could fill a
 * tenant's log. */
#include "api/api_int.h"
#include "core/base/log.h"
#include "tenants/access/actor.h"
#include "tenants/identity/jwt_authn.h"

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
