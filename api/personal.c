/* SPDX-License-Identifier: Apache-2.0 */
/* personal.c - loads the caller's key for personal fields before its audit events are written.
 *
 * Runs after authentication. Without the key the call goes on and the fields are left out of the events (audit/pii.h). */
#include "api/api_int.h"
#include "audit/pii.h"
#include "core/base/log.h"
#include "core/table/config.h"

/* The platform has no home zone: its keys are in the first zone whose falaj-keyd is configured here. */
static struct str zone_of(const struct call *c)
{
    struct str zone, rest;
    if (c->principal && c->principal->home_zone.len)
        return c->principal->home_zone;
    str_cut(str_c(c->work.app->config->keys_sockets), '=', &zone, &rest);
    return zone;
}

bool flight_has_person(const struct flight *f)
{
    const struct call *c = &f->call;
    return !c->work.app->pii || !c->principal || c->principal->is_worker ||
           audit_pii_is_ready(c->work.app->pii, c->principal->user_id, c->work.now_us);
}

enum errc phase_person(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    struct audit_pii *pii = c->work.app->pii;
    struct uuid subject = c->principal ? c->principal->user_id : UUID_NIL;
    struct err why = { 0 };
    (void)e;
    if (!pii || (c->principal ? c->principal->is_worker : !c->route->audited) || audit_pii_is_ready(pii, subject, c->work.now_us))
        return ERR_OK;
    struct uuid tenant = c->principal ? c->principal->tenant_id : UUID_NIL;
    if (audit_pii_load(&c->work, pii, tenant, subject, zone_of(c), &why) != ERR_OK)
        log_err(LOG_WARN, "audit.personal_key", &why);
    return ERR_OK;
}
