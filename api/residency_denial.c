/* SPDX-License-Identifier: Apache-2.0 */
/* residency_denial.c - one place for all refusals of the judge (tenants/home/residency.h), whichever route asked it.
 *
 * The problem that the caller gets names what is missing and who may set it (tenants/home/residency_remedy.h).
 * The transaction in which it was asked is gone when this runs, so the event has one of its own. The words come from the error's detail
 * ("rule=law act=key class=health zone=de-fra-1"), which residency_refusal wrote; nothing of the caller's stands there. */
#include "api/api_int.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/json/encode.h"
#include "core/table/metrics.h"
#include "tenants/access/actor.h"
#include "tenants/home/residency_remedy.h"

/* The word behind "name=" in the detail; absent when it is not there. */
static struct str word_of(struct arena *a, const char *detail, const char *name)
{
    struct str rest = str_c(detail), one;
    size_t n = strlen(name);
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, ' ', &one, &rest);
        if (str_starts(one, name) && one.len > n && one.ptr[n] == '=')
            return str_dup(a, str_n(one.ptr + n + 1, one.len - n - 1));
    }
    return STR_NULL;
}

static struct audit_event event_of(struct call *c, const struct err *e, struct str rule)
{
    struct audit_event ev = audit_event_by(&c->work, c->principal, AUDIT_RESIDENCY_DENY);
    struct arena *a = c->work.arena;
    ev.denied = true;
    ev.error = ERR_RESIDENCY;
    ev.http_status = err_row(ERR_RESIDENCY)->http;
    ev.rule = rule;
    ev.zone = word_of(a, e->detail, "zone");
    ev.resource_kind = str_c(c->route->resource ? c->route->resource : "zone");
    ev.resource_name = ev.zone;
    audit_event_detail(&ev, AUDIT_D_STR("route", str_c(c->route->op)));
    audit_event_detail(&ev, AUDIT_D_STR("act", word_of(a, e->detail, "act")));
    audit_event_detail(&ev, AUDIT_D_STR("class", word_of(a, e->detail, "class")));
    return ev;
}

void residency_denial_note(struct call *c, const struct err *e)
{
    struct work *w = &c->work;
    struct str rule = word_of(w->arena, e->detail, "rule");
    struct err why;
    if (!c->route)
        return;
    metrics_inc(M_residency_denials_total, rule.ptr ? rule.ptr : "zone");
    struct audit_event ev = event_of(c, e, rule.ptr ? rule : STR("zone"));
    bool is_node = c->route->flags & R_NODE;
    if (audit_append_apart(w, is_node ? w->app->node_pool : w->app->pool, is_node ? SCOPE_SYSTEM : SCOPE_TENANT(w->tenant_id), &ev, &why) != ERR_OK)
        log_err(LOG_ERROR, "audit.residency_denial_not_written", &why);
}

void residency_denial_tell(struct call *c, const struct err *e, struct buf *out)
{
    struct arena *a = c->work.arena;
    struct residency_remedy r;
    if (!residency_remedy_of(a, word_of(a, e->detail, "rule"), word_of(a, e->detail, "class"), word_of(a, e->detail, "zone"),
                             word_of(a, e->detail, "from"), &r))
        return;
    buf_add_c(out, ",\"remedy\":");
    json_encode(&residency_remedy_schema, &r, out);
}
