/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - for how long a tenant lets its jobs hold what they do not use. */
#include "api/api.h"
#include "api/api_int.h"
#include "scheduler/jobs/idle_policy.h"
#include "tenants/access/actor.h"

static enum errc get(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return idle_policy_get(w, out, e);
}

static enum errc set(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(idle_policy_set(w, in, e));
    TRY(idle_policy_get(w, out, e));
    const struct idle_policy *p = out;
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("after_minutes", p->after_minutes));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("notice_minutes", p->notice_minutes));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("projects", (int64_t)p->projects.n));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/idle-policy", .lane = LANE_CALLS,
      .op = "idle_policy_get", .perm = PERM_JOB_READ, .handler = get, .status = 200, .out = &idle_policy_schema,
      .doc = "For how long jobs may hold what they do not use" },
    { .method = HTTP_PUT, .path = "/v1/idle-policy", .lane = LANE_CALLS,
      .op = "idle_policy_set", .perm = PERM_PROJECT_MANAGE, .handler = set, .in = &idle_policy_schema, .status = 200,
      .out = &idle_policy_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "policy", .audited = true,
      .audit = AUDIT_IDLE_POLICY,
      .doc = "Put jobs aside whose devices are idle for too long, after notice, in all of the organisation or by project; the "
             "whole policy is set" },
};
extern const struct route_table idle_routes;
ROUTE_TABLE(idle_routes, rows);
