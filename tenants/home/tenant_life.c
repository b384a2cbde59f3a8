/* SPDX-License-Identifier: Apache-2.0 */
/* tenant_life.c - the states of a tenant. The approved deletion runs in the platform's scope and crosses into the tenant by the definer
 * function tenant_delete_schedule. */
#include "tenants/home/tenant_life.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "tenants/access/actor.h"
#include "tenants/access/principal.h"

enum { APPROVALS = 2, REQUEST_HOURS = 7 * 24 };

static const struct stmt life_set = { .name = "tenant_life_set", .params = "uSsst", .card = CARD_NONE, .sql =
    "UPDATE tenant SET state = $3, state_reason = $4, delete_after = $5, version = version + 1, authz_rev = authz_rev + 1\n"
    " WHERE tenant_id = $1 AND state = ANY ($2) AND home_zone IS NOT NULL AND (state <> 'DELETING' OR delete_after > now())" };
static const struct stmt life_stop = { .name = "tenant_life_stop", .params = "u", .card = CARD_NONE, .sql =
    "UPDATE job SET cancel_requested = true WHERE tenant_id = $1 AND finished_at IS NULL AND NOT cancel_requested" };
struct scheduled { int64_t done; };
SCHEMA_OF(scheduled, "Was the deletion scheduled?", FIELD(scheduled, done, 0, .doc = "1: yes"));
static const struct stmt life_delete = { .name = "tenant_life_delete", .params = "utsuy", .row = &scheduled_schema, .card = CARD_ONE, .sql =
    "SELECT tenant_delete_schedule($1, $2, $3, $4, $5)::int::bigint AS done" };

struct life_held { bool held; };
SCHEMA_OF(life_held, "Whether a legal hold keeps a tenant", FIELD(life_held, held, 0, .doc = "A hold is active"));
static const struct stmt life_hold = { .name = "tenant_life_hold", .params = "u", .row = &life_held_schema, .card = CARD_ONE, .sql =
    "SELECT tenant_has_hold($1) AS held" };

const struct stmt *const tenant_life_stmts[] = { &life_set, &life_stop, &life_delete, &life_hold, NULL };

static enum errc set_state(struct work *w, struct uuid id, struct str from, struct str to, struct str reason, struct tenant *ret, struct err *e)
{
    int64_t n;
    struct tenant was;
    TRY(tenant_get(w, id, &was, e));
    TRY(db_exec(w->tx, &life_set, ARGS(A_UUID(id), A_STRS(&from, 1), A_STR(to), A_STR(reason), A_TIME_US(0)), &n, e));
    if (!n)
        return FAIL(e, CONFLICT, "The tenant is %.*s", STR_ARG(was.state));
    return tenant_get(w, id, ret, e);
}

enum errc tenant_suspend(struct work *w, struct uuid tenant_id, bool stop_running, struct str reason, struct tenant *ret, struct err *e)
{
    TRY(set_state(w, tenant_id, STR("ACTIVE"), STR("SUSPENDED"), reason, ret, e));
    return stop_running ? db_exec(w->tx, &life_stop, ARGS(A_UUID(tenant_id)), NULL, e) : ERR_OK;
}

enum errc tenant_resume(struct work *w, struct uuid tenant_id, struct tenant *ret, struct err *e)
{
    return set_state(w, tenant_id, STR("SUSPENDED"), STR("ACTIVE"), STR(""), ret, e);
}

enum errc tenant_undelete(struct work *w, struct uuid tenant_id, struct tenant *ret, struct err *e)
{
    return set_state(w, tenant_id, STR("DELETING"), STR("SUSPENDED"), STR("deletion called off"), ret, e);
}

enum errc tenant_ask_delete(struct work *w, struct uuid tenant_id, struct str reason, struct approval *ret, struct err *e)
{
    struct tenant t;
    TRY(tenant_get(w, tenant_id, &t, e));
    if ((!str_eq_c(t.state, "ACTIVE") && !str_eq_c(t.state, "SUSPENDED")) || !t.home_zone.ptr)
        return FAIL(e, CONFLICT, "The tenant is %.*s", STR_ARG(t.state));
    struct str payload = str_fmt(w->arena, "{\"tenant_id\":\"%.*s\",\"grace_hours\":%ld}", STR_ARG(id_text(w->arena, "tnt", tenant_id)),
                                 (long)(w->app->config->api_tenant_grace_ms / 3600000));
    return approval_request(w, &tenant_delete_kind, tenant_id, t.name, payload, reason, ret, e);
}

static enum errc carry_out(struct work *w, const struct approval *a, struct err *e)
{
    struct scheduled s;
    struct audit_rows rows;
    struct audit_event ev = audit_event_by(w, w->principal, AUDIT_TENANT_DELETE);
    ev.tenant_id = a->subject_id;
    ev.resource_kind = STR("tenant");
    ev.resource_prefix = "tnt";
    ev.resource_id = a->subject_id;
    ev.rule = STR("approved");
    audit_event_detail(&ev, AUDIT_D_STR("step", STR("scheduled")));
    audit_event_detail(&ev, AUDIT_D_STR("approval", id_text(w->arena, "apr", a->approval_id)));
    audit_event_detail(&ev, AUDIT_D_STR("payload_sha256", a->payload_sha256));
    TRY(audit_encode_many(w->arena, &ev, 1, &rows, e));
    TRY(db_one(w->tx, &life_delete, ARGS(A_UUID(a->subject_id), A_TIME_US(w->now_us + w->app->config->api_tenant_grace_ms * 1000),
        A_STR(a->reason), A_UUID(rows.event_ids[0]), A_BYTES(rows.bodies[0].ptr, rows.bodies[0].len)), &s, e));
    if (s.done)
        return ERR_OK;
    struct life_held h;
    TRY(db_one(w->tx, &life_hold, ARGS(A_UUID(a->subject_id)), &h, e));
    return h.held ? FAIL(e, LEGAL_HOLD, "A legal hold keeps this tenant; it must be lifted first")
                  : FAIL(e, CONFLICT, "The tenant is already being deleted");
}

const struct approval_kind tenant_delete_kind = {
    "tenant.delete", PERM_APPROVE_TENANT, APPROVALS, REQUEST_HOURS, carry_out,
    "A tenant's people are locked out at once; after the days of grace its keys are destroyed and its data removed",
};
