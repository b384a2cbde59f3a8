/* SPDX-License-Identifier: Apache-2.0 */
/* break_glass.c - routes of the account behind glass: ask for it, and open it once a second custodian has approved. */
#include "api/signin.h"
#include "core/db/tx.h"
#include "tenants/identity/break_glass.h"

struct glass_in { struct str zone, reason; };
SCHEMA_OF(glass_in, "A glass to open", FIELD(glass_in, zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Whose account"),
    FIELD(glass_in, reason, F_REQ, .min = 1, .max = 1024, .doc = "Why; the second custodian and the compliance officers read it"));
struct glass_open_in { struct uuid approval_id; };
SCHEMA_OF(glass_open_in, "An approved request", FIELD_ID(glass_open_in, approval_id, "apr", F_REQ, .doc = "Of the caller"));

static enum errc ask(struct work *w, const void *in, void *out, struct err *e)
{
    const struct glass_in *g = in;
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("zone", g->zone));
    return break_glass_request(w, g->zone, g->reason, out, e);
}

static enum errc open_glass(struct work *w, const void *in, void *out, struct err *e)
{
    struct uuid user;
    int64_t left_ms;
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(break_glass_open(w, ((const struct glass_open_in *)in)->approval_id, &user, &left_ms, e));
    TRY(signin_audit(w, AUDIT_BREAK_GLASS, ERR_OK, user, "opened", e));
    TRY(signin_as(w, user, e));
    TRY(signin_open(w, "break-glass", STAGE_FULL, false, left_ms, out, e));
    TRY(signin_audit(w, AUDIT_LOGIN, ERR_OK, user, "break_glass", e));
    return signin_commit(w, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/auth/break-glass", .lane = LANE_CALLS,
      .op = "break_glass_request", .perm = PERM_KEY_ROOT, .handler = ask, .in = &glass_in_schema,
      .status = 202, .out = &approval_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "approval", .audited = true,
      .audit = AUDIT_BREAK_GLASS, .doc = "Ask a second custodian to open the account behind glass of a zone" },
    { .method = HTTP_POST, .path = "/v1/auth/break-glass/open", .lane = LANE_SIGN_IN,
      .op = "break_glass_open", .perm = PERM_KEY_ROOT, .handler = open_glass,
      .in = &glass_open_in_schema, .status = 200, .out = &session_out_schema, .flags = R_NO_TX | R_SECRET | R_STEP_UP | R_ZONE_LATE, .rate = RL_WRITE,
      .resource = "session", .audited = true, .audit = AUDIT_BREAK_GLASS, .doc = "Sign in to the account behind glass, once; every act is flagged" },
};
extern const struct route_table break_glass_routes;
ROUTE_TABLE(break_glass_routes, rows);
