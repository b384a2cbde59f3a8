/* SPDX-License-Identifier: Apache-2.0 */
/* access.c - the question why somebody may or may not do something. Asking is written down: it tells who could be asked for what. */
#include "api/route.h"
#include "tenants/access/cidr.h"
#include "tenants/access/explain.h"

struct access_explain_in {
    struct uuid user_id;
    struct str act;
    struct uuid project_id;
    struct str zone, source_ip;
    struct timestamp at;
    int64_t mfa_age_seconds;
    bool has_mfa_age_seconds;
};
SCHEMA_OF(access_explain_in, "What to explain",
    FIELD_ID(access_explain_in, user_id, "usr", 0, .doc = "Who would act; absent: the caller"),
    FIELD(access_explain_in, act, F_REQ, .min = 1, .max = 64, .doc = "A permission, as job:submit, or an operation of this API, as job_submit"),
    FIELD_ID(access_explain_in, project_id, "prj", 0, .doc = "In which project; absent: in any"),
    FIELD(access_explain_in, zone, 0, .min = 2, .max = 31, .check = check_slug, .doc = "In which zone"),
    FIELD(access_explain_in, source_ip, 0, .min = 2, .max = 45, .doc = "From which address; absent: the caller's"),
    FIELD(access_explain_in, at, 0, .doc = "When; absent: now"),
    FIELD_OPT(access_explain_in, mfa_age_seconds, 0, .min = 0, .max = 86400, .doc = "With a second factor so old; absent: without one"));

static enum permission perm_of(struct str act)
{
    for (const struct route_table *const *t = all_routes; *t; t++)
        for (size_t i = 0; i < (*t)->n; i++)
            if (str_eq_c(act, (*t)->rows[i].op))
                return (*t)->rows[i].perm;
    return perm_by_wire(act);
}

static enum errc explain(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct access_explain_in *in = in_;
    struct explanation *ret = out;
    int64_t now = in->at.us ? in->at.us : w->now_us;
    struct explain_question q = { perm_of(in->act), { .now_us = now, .source_ip = in->source_ip.ptr ? in->source_ip : w->source_ip,
                                  .zone = in->zone, .project_id = in->project_id }, 0 };
    if (q.perm <= PERM_SIGNED_IN)
        return FAIL_AT(e, INVALID, "/act", "Expected the name of a permission, or of an operation that needs one");
    if (in->has_mfa_age_seconds)
        q.mfa_us = now - in->mfa_age_seconds * 1000000;
    struct uuid user = uuid_is_nil(in->user_id) ? w->principal->user_id : in->user_id;
    TRY(explain_user(w, &q, user, ret, e));
    struct audit_event *ev = &call_of(w)->audit;
    audit_event_detail(ev, AUDIT_D_STR("user", id_text(w->arena, "usr", user)));
    audit_event_detail(ev, AUDIT_D_STR("permission", ret->permission));
    audit_event_detail(ev, AUDIT_D_STR("answer", ret->allowed ? STR("allowed") : STR("denied")));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/access/explain", .lane = LANE_CALLS,
      .op = "access_explain", .perm = PERM_ACCESS_EXPLAIN, .handler = explain,
      .in = &access_explain_in_schema, .status = 200, .out = &explanation_schema, .rate = RL_WRITE, .audited = true, .audit = AUDIT_ACCESS_EXPLAIN,
      .doc = "Why somebody may or may not do something: each role and condition, what is missing, and who may" },
};
extern const struct route_table access_routes;
ROUTE_TABLE(access_routes, rows);
