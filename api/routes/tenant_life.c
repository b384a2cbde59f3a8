/* SPDX-License-Identifier: Apache-2.0 */
/* tenant_life.c - routes that suspend, resume and end a tenant. */
#include "api/pipeline.h"
#include "api/route.h"
#include "core/db/tx.h"
#include "tenants/home/tenant_life.h"

static const char *const running_names[] = { "finish", "stop", NULL };
enum { RUNNING_STOP = 1 };

struct life_ref { struct uuid tenant_id; };
SCHEMA_OF(life_ref, "Which tenant", FIELD_ID(life_ref, tenant_id, "tnt", F_PATH, .doc = "The tenant"));
struct suspend_in { struct uuid tenant_id; int running; struct str reason; };
SCHEMA_OF(suspend_in, "How to suspend", FIELD_ID(suspend_in, tenant_id, "tnt", F_PATH, .doc = "The tenant"),
    FIELD_ENUM(suspend_in, running, 0, running_names, .dflt = "finish", .doc = "What becomes of its jobs: running ones finish and waiting ones wait, or all stop"),
    FIELD(suspend_in, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why"));
struct delete_in { struct uuid tenant_id; struct str reason; };
SCHEMA_OF(delete_in, "Why to delete", FIELD_ID(delete_in, tenant_id, "tnt", F_PATH, .doc = "The tenant"),
    FIELD(delete_in, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why"));

static enum errc suspend(struct work *w, const void *in, void *out, struct err *e)
{
    const struct suspend_in *s = in;
    TRY(tenant_suspend(w, s->tenant_id, s->running == RUNNING_STOP, s->reason, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("running", str_c(running_names[s->running])));
    pipeline_forget_user(w, s->tenant_id, UUID_NIL);
    return ERR_OK;
}

static enum errc resume(struct work *w, const void *in, void *out, struct err *e)
{
    return tenant_resume(w, ((const struct life_ref *)in)->tenant_id, out, e);
}

static enum errc ask_delete(struct work *w, const void *in, void *out, struct err *e)
{
    const struct delete_in *d = in;
    TRY(tenant_ask_delete(w, d->tenant_id, d->reason, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", STR("requested")));
    return ERR_OK;
}

static enum errc undelete(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(tenant_undelete(w, ((const struct life_ref *)in)->tenant_id, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", STR("called_off")));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/tenants/{tenant_id}/suspend", .lane = LANE_CALLS,
      .op = "tenant_suspend", .perm = PERM_TENANT_SUSPEND, .handler = suspend,
      .in = &suspend_in_schema, .status = 200, .out = &tenant_schema, .flags = R_TENANT_PATH | R_STEP_UP, .rate = RL_WRITE,
      .resource = "tenant", .audited = true, .audit = AUDIT_TENANT_REVOKE,
      .doc = "Suspend a tenant: its people are refused, nothing of it starts; running jobs finish or stop" },
    { .method = HTTP_POST, .path = "/v1/tenants/{tenant_id}/resume", .lane = LANE_CALLS,
      .op = "tenant_resume", .perm = PERM_TENANT_SUSPEND, .handler = resume,
      .in = &life_ref_schema, .status = 200, .out = &tenant_schema, .flags = R_TENANT_PATH, .rate = RL_WRITE, .resource = "tenant",
      .audited = true, .audit = AUDIT_TENANT_RESUME, .doc = "Resume a suspended tenant" },
    { .method = HTTP_POST, .path = "/v1/tenants/{tenant_id}/delete", .lane = LANE_CALLS,
      .op = "tenant_delete", .perm = PERM_TENANT_DELETE, .handler = ask_delete,
      .in = &delete_in_schema, .status = 202, .out = &approval_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "tenant",
      .audited = true, .audit = AUDIT_TENANT_DELETE,
      .doc = "Ask for the deletion of a tenant; two compliance officers approve it, and after the days of grace it is carried out" },
    { .method = HTTP_POST, .path = "/v1/tenants/{tenant_id}/undelete", .lane = LANE_CALLS,
      .op = "tenant_undelete", .perm = PERM_TENANT_DELETE, .handler = undelete,
      .in = &life_ref_schema, .status = 200, .out = &tenant_schema, .flags = R_TENANT_PATH, .rate = RL_WRITE, .resource = "tenant",
      .audited = true, .audit = AUDIT_TENANT_DELETE,
      .doc = "Call a deletion off within its days of grace; the tenant comes back suspended" },
};
extern const struct route_table tenant_life_routes;
ROUTE_TABLE(tenant_life_routes, rows);
