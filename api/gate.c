/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - a machine at the worker listener: its certificate has been verified, now the register is asked whether it still counts.
 * A machine that asks for a key it may not have leaves an audit event; other refused calls are only counted, because a
 * machine in quarantine asks every second. */
#include "api/api_int.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/table/metrics.h"
#include "scheduler/engine/enrol.h"
#include "tenants/access/actor.h"

static enum errc write_refusal(struct call *c, struct uuid node_id, struct err *e)
{
    struct audit_event ev = audit_event_of(&c->work, c->route->audit);
    audit_event_by_node(&ev, node_id, STR_NULL);
    ev.tenant_id = UUID_NIL;
    ev.resource_kind = STR("node");
    ev.resource_prefix = "nod";
    ev.resource_id = node_id;
    ev.denied = true;
    ev.rule = STR("gate");
    ev.error = ERR_FORBIDDEN;
    ev.http_status = 403;
    audit_event_detail(&ev, AUDIT_D_STR("route", str_c(c->route->op)));
    audit_event_detail(&ev, AUDIT_D_STR("identity", c->request->peer_identity));
    return audit_append_apart(&c->work, c->work.app->node_pool, SCOPE_SYSTEM, &ev, e);
}

static void count(enum errc rc)
{
    metrics_inc(M_authn_total, "certificate", rc == ERR_OK ? "ok" : err_row(rc)->wire);
}

enum errc gate_ask(struct work *w, struct db_ask **ret, struct err *e)
{
    const struct http_request *r = call_of(w)->request;
    *ret = NULL;
    if (!flight_of(w)->pipeline->gate)
        return ERR_OK;
    enum errc rc = node_gate_ask(w->tx, r->peer_identity, r->peer_fingerprint, ret, e);
    if (rc != ERR_OK)
        count(rc);
    return rc;
}

enum errc gate_told(struct work *w, struct db_ask *ask, struct err *e)
{
    struct uuid node_id;
    if (!ask)
        return ERR_OK;
    enum errc rc = node_gate_told(w->tx, ask, call_of(w)->request->peer_is_registered, &node_id, e);
    count(rc);
    return rc;
}

enum errc gate_fingerprint(struct work *w, struct str *ret, struct err *e)
{
    uint8_t *raw = arena_alloc(w->arena, FINGERPRINT_BYTES);
    memset(raw, 0, FINGERPRINT_BYTES);
    *ret = str_n((const char *)raw, FINGERPRINT_BYTES);
    if (!flight_of(w)->pipeline->gate)
        return ERR_OK;
    enum errc rc = node_gate_fingerprint(call_of(w)->request->peer_fingerprint, raw, e);
    if (rc != ERR_OK)
        count(rc);
    return rc;
}

enum errc gate_judge(struct work *w, const struct gate_facts *g, struct err *e)
{
    if (!flight_of(w)->pipeline->gate)
        return ERR_OK;
    enum errc rc = node_gate_judge(g, call_of(w)->request->peer_is_registered, e);
    count(rc);
    return rc;
}

enum errc gate_pass(struct call *c, struct uuid *ret_node, struct err *e)
{
    const struct http_request *r = c->request;
    struct err why;
    *ret_node = UUID_NIL;
    struct work *w = &c->work;
    enum errc rc = RUN_SYSTEM(w, w->app->node_pool, TX_SINGLE,
                              node_gate(w->tx, r->peer_identity, r->peer_fingerprint, r->peer_is_registered, ret_node, e), e);
    count(rc);
    if (rc == ERR_FORBIDDEN && c->route->audit == AUDIT_KEY_RELEASE && write_refusal(c, *ret_node, &why) != ERR_OK)
        log_err(LOG_ERROR, "audit.denial_not_written", &why);
    return rc;
}

bool pipeline_is_proxy(void *ctx, struct str address)
{
    const struct listener *l = ctx;
    return proxies_has(&l->pipeline->proxies, address);
}
