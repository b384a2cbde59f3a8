/* SPDX-License-Identifier: Apache-2.0 */
/* appointments.c - routes that ask for the appointment of officers, operators and platform administrators. */
#include "api/pipeline.h"
#include "api/route.h"
#include "tenants/access/appointment.h"

struct appointment_in { struct uuid user_id; struct str role, zone, reason; };
SCHEMA_OF(appointment_in, "An appointment to ask for", FIELD_ID(appointment_in, user_id, "usr", F_REQ, .doc =
    "Who; a person with an active account"),
    FIELD(appointment_in, role, F_REQ, .min = 1, .max = 64, .check = check_slug, .doc =
        "compliance-officer, zone-operator or platform-admin"),
    FIELD(appointment_in, zone, 0, .min = 2, .max = 31, .check = check_slug, .doc = "The zone, of a role held in a zone"),
    FIELD(appointment_in, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why; the approver reads it"));
struct tenant_officer_in { struct uuid tenant_id, user_id; struct str reason; };
SCHEMA_OF(tenant_officer_in, "A tenant's officer to ask for", FIELD_ID(tenant_officer_in, tenant_id, "tnt", F_PATH, .doc =
    "The tenant"),
    FIELD_ID(tenant_officer_in, user_id, "usr", F_REQ, .doc = "A person of that tenant, as its administrator names it"),
    FIELD(tenant_officer_in, reason, F_REQ, .min = 1, .max = 1024, .check = check_name, .doc = "Why; the approver reads it"));

static enum errc ask(struct work *w, const void *in, void *out, struct err *e)
{
    const struct appointment_in *a = in;
    struct appointment_new wanted = { a->user_id, a->role, a->zone, a->reason };
    TRY(appointment_request(w, &wanted, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("role", a->role));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", STR("requested")));
    return ERR_OK;
}

static enum errc ask_officer(struct work *w, const void *in, void *out, struct err *e)
{
    const struct tenant_officer_in *a = in;
    TRY(tenant_officer_request(w, a->tenant_id, a->user_id, a->reason, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", STR("requested")));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/appointments", .lane = LANE_CALLS,
      .op = "appointment_request", .perm = PERM_ROLE_GRANT, .handler = ask,
      .in = &appointment_in_schema, .status = 202, .out = &approval_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE,
      .resource = "approval", .audited = true, .audit = AUDIT_ROLE_GRANT,
      .doc = "Ask for the appointment of somebody to a role that decides for others; a second person approves. Who holds the "
          "role already is "
             "vouched for: its credentials end, and it counts as a person of its own" },
    { .method = HTTP_POST, .path = "/v1/tenants/{tenant_id}/officers", .lane = LANE_CALLS,
      .op = "tenant_officer_request", .perm = PERM_TENANT_CREATE,
      .handler = ask_officer, .in = &tenant_officer_in_schema, .status = 202, .out = &approval_schema, .flags =
          R_IDEMPOTENT | R_STEP_UP,
      .rate = RL_WRITE, .resource = "approval", .audited = true, .audit = AUDIT_ROLE_GRANT,
      .doc = "Ask for the appointment of a tenant's first compliance officer; a second person of the platform approves" },
};
extern const struct route_table appointment_routes;
ROUTE_TABLE(appointment_routes, rows);
