/* SPDX-License-Identifier: Apache-2.0 */
/* release_denial.c - the audit event of a refused key release: an old fence, a lease that ended or belongs to another machine, an
 * object that is no input of the job. It goes to the platform's log, because the tenant of such a call is only claimed. (Quarantine:
 * gate.c. Another zone: residency_denial.c.) The call's transaction was rolled back before, so the event has its own. */
#include "api/api_int.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "tenants/access/actor.h"

static struct audit_event event_of(struct call *c, const struct err *e)
{
    struct audit_event ev = audit_event_of(&c->work, AUDIT_KEY_RELEASE);
    const struct field *attempt = c->route->in ? schema_find(c->route->in, STR("attempt_id")) : NULL;
    const struct field *fence = c->route->in ? schema_find(c->route->in, STR("fence")) : NULL;
    audit_event_by_node(&ev, c->principal ? c->principal->user_id : UUID_NIL, STR_NULL);
    ev.tenant_id = UUID_NIL;
    ev.denied = true;
    ev.rule = STR("lease");
    ev.error = e->code;
    ev.http_status = err_row(e->code)->http;
    ev.resource_kind = STR("attempt");
    ev.resource_prefix = "att";
    if (c->in && attempt)
        ev.resource_id = *(struct uuid *)field_at(attempt, c->in);
    if (c->in && fence)
        audit_event_detail(&ev, AUDIT_D_INT("fence", *(int64_t *)field_at(fence, c->in)));
    audit_event_detail(&ev, AUDIT_D_STR("route", str_c(c->route->op)));
    audit_event_detail(&ev, AUDIT_D_STR("identity", c->request->peer_identity));
    return ev;
}

void release_denial_note(struct call *c, const struct err *e)
{
    struct work *w = &c->work;
    struct err why;
    if (!c->route || !(c->route->flags & R_NODE) || c->route->audit != AUDIT_KEY_RELEASE || (e->code != ERR_STALE && e->code != ERR_NOT_FOUND))
        return;
    struct audit_event ev = event_of(c, e);
    w->tx = NULL;
    if (audit_append_apart(w, w->app->node_pool, SCOPE_SYSTEM, &ev, &why) != ERR_OK)
        log_err(LOG_ERROR, "audit.release_denial_not_written", &why);
}
