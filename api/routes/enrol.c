/* SPDX-License-Identifier: Apache-2.0 */
/* enrol.c - how machines come in: join tokens for people, certificates for machines. */
#include "api/pipeline.h"
#include "scheduler/engine/enrol.h"
#include "tenants/identity/authn.h"
#include "tenants/access/authz.h"
#include "tenants/access/cidr.h"
#include "tenants/identity/refusals.h"

struct join_create_in { struct str zone, pool, node_name; struct slice cidrs; int64_t uses, expires_in_minutes; };
SCHEMA_OF(join_create_in, "A join token to make",
    FIELD(join_create_in, zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Zone of the machines"),
    FIELD(join_create_in, pool, 0, .max = 63, .check = check_slug, .dflt = "default", .doc = "Pool of the machines"),
    FIELD(join_create_in, node_name, 0, .min = 1, .max = 63, .check = check_node_name, .pattern_doc = NODE_NAME_PATTERN,
        .doc = "For this machine only; it may take its name over from an earlier one"),
    FIELD_STRS(join_create_in, cidrs, 0, .max = 16, .check = check_cidr, .example = "10.0.0.0/8", .doc = "Networks it may be used from; none: any"),
    FIELD(join_create_in, uses, 0, .min = 1, .max = 1000, .dflt = "1", .doc = "How many machines it enrols"),
    FIELD(join_create_in, expires_in_minutes, 0, .min = 1, .max = 10080, .dflt = "60", .doc = "Minutes until it ends"));
struct join_ref { struct uuid join_token_id; };
SCHEMA_OF(join_ref, "Which join token", FIELD_ID(join_ref, join_token_id, "jtk", F_PATH, .doc = "The join token"));
struct join_page { PAGE_IN; struct str zone, pool; };
SCHEMA_OF(join_page, "Which join tokens", PAGE_IN_FIELDS(join_page),
    FIELD(join_page, zone, F_QUERY, .max = 31, .check = check_slug, .doc = "Only of this zone"),
    FIELD(join_page, pool, F_QUERY, .max = 63, .check = check_slug, .doc = "Only of this pool"));
struct join_create_out { struct uuid join_token_id; struct str zone, pool, node_name, token, hint; int64_t uses; struct timestamp expires_at; };
SCHEMA_OF(join_create_out, "A new join token; `token` is shown this once",
    FIELD_ID(join_create_out, join_token_id, "jtk", F_ALWAYS, .doc = "The join token"),
    FIELD(join_create_out, zone, F_ALWAYS, .doc = "Zone"),
    FIELD(join_create_out, pool, F_ALWAYS, .doc = "Pool"),
    FIELD(join_create_out, node_name, 0, .doc = "The one machine it is for"),
    FIELD(join_create_out, token, F_ALWAYS, .doc = "The secret: shown this once"),
    FIELD(join_create_out, hint, F_ALWAYS, .doc = "Its last characters"),
    FIELD(join_create_out, uses, 0, .doc = "Machines it enrols"),
    FIELD(join_create_out, expires_at, F_ALWAYS, .doc = "When it ends"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct join_create_in *i = in;
    const struct join_token_new n = { i->zone, i->pool, i->node_name, i->cidrs, i->uses, i->expires_in_minutes };
    struct join_token t;
    char text[TOKEN_TEXT];
    TRY(join_token_create(w, &n, &t, text, e));
    *(struct join_create_out *)out = (struct join_create_out){ t.join_token_id, t.zone, t.pool, t.node_name, str_dup(w->arena, str_c(text)),
                                                               t.hint, t.uses, t.expires_at };
    return ERR_OK;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct join_page *page = in;
    return PAGE_BY_ID(w, page, out, join_token, join_token_id,
                      join_token_list(w, page->zone, page->pool, after, limit, rows, e), e);
}

static enum errc withdraw(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    struct join_token t;
    struct uuid id = ((const struct join_ref *)in)->join_token_id;
    TRY(join_token_get(w, id, &t, e));
    TRY(authz_require_zone(w, PERM_NODE_MANAGE, t.zone, e));
    return join_token_revoke(w, id, e);
}

static void tell(struct work *w, const struct node_credential *c, struct enrol_out *ret)
{
    struct audit_event *ev = &call_of(w)->audit;
    audit_event_detail(ev, AUDIT_D_STR("identity", c->identity));
    audit_event_detail(ev, AUDIT_D_STR("fingerprint", c->fingerprint));
    *ret = (struct enrol_out){ c->join_token_id, c->identity, c->certificate_pem, c->chain_pem, c->not_after };
}

/* Counted and written now and then: anybody can send join tokens. */
static void note_refusal(struct work *w, const struct enrol_in *i, enum errc rc)
{
    struct refusal r = { .is_enrolment = true, .address = w->source_ip };
    const char *why = join_token_why(w, i->token, i->name, i->zone, i->pool, &r.token_id);
    r.reason = rc == ERR_EXISTS ? "taken" : rc == ERR_FORBIDDEN ? "quarantine" : why;
    refusals_note(authn_refusals(pipeline_authn(pipeline_of(w))), &r);
}

static enum errc enrol(struct work *w, const void *in, void *out, struct err *e)
{
    const struct enrol_in *i = in;
    const struct node_enrol_request r = { i->token, i->csr_pem, i->name, i->zone, i->pool };
    struct node_credential c;
    enum errc rc = node_enrol(w, &r, &c, e);
    if (rc == ERR_OK)
        tell(w, &c, out);
    else if (rc == ERR_UNAUTHENTICATED || rc == ERR_EXISTS || rc == ERR_FORBIDDEN)
        note_refusal(w, i, rc);
    return rc;
}

static enum errc renew(struct work *w, const void *in, void *out, struct err *e)
{
    struct node_credential c;
    TRY(node_renew(w, w->principal->name, ((const struct renew_in *)in)->csr_pem, &c, e));
    tell(w, &c, out);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/join-tokens", .lane = LANE_CALLS,
      .op = "join_token_create", .perm = PERM_NODE_MANAGE, .handler = create,
      .in = &join_create_in_schema, .status = 201, .out = &join_create_out_schema, .flags = R_IDEMPOTENT | R_SECRET | R_STEP_UP, .rate = RL_WRITE,
      .resource = "join_token", .audited = true, .audit = AUDIT_NODE_JOIN,
      .doc = "Make a join token for machines of a zone and pool; the secret is shown once" },
    { .method = HTTP_GET, .path = "/v1/join-tokens", .lane = LANE_CALLS,
      .op = "join_token_list", .perm = PERM_NODE_MANAGE, .handler = list, .in = &join_page_schema,
      .status = 200, .out = &join_token_schema, .flags = R_LIST, .doc = "List join tokens" },
    { .method = HTTP_DELETE, .path = "/v1/join-tokens/{join_token_id}", .lane = LANE_CALLS,
      .op = "join_token_revoke", .perm = PERM_NODE_MANAGE,
      .handler = withdraw, .in = &join_ref_schema, .status = 204, .flags = R_ZONE_LATE, .rate = RL_WRITE, .resource = "join_token", .audited = true,
      .audit = AUDIT_NODE_JOIN, .doc = "Withdraw a join token" },
    { .method = HTTP_POST, .path = "/v1/enrol", .lane = LANE_SIGN_IN,
      .op = "node_enrol", .perm = PERM_PUBLIC, .handler = enrol, .in = &enrol_in_schema,
      .status = 200, .out = &enrol_out_schema, .flags = R_SECRET, .rate = RL_ENROL, .resource = "join_token", .audited = true,
      .audit = AUDIT_NODE_ENROL, .doc = "A machine's first certificate, for a join token" },
    { .method = HTTP_POST, .path = "/v1/nodes/renew", .lane = LANE_WORKERS,
      .op = "node_renew", .perm = PERM_NODE_SELF, .handler = renew, .in = &renew_in_schema,
      .status = 200, .out = &enrol_out_schema, .flags = R_NODE | R_SECRET, .rate = RL_NONE, .audited = true, .audit = AUDIT_NODE_RENEW,
      .doc = "A machine's next certificate, of the same name" },
};
extern const struct route_table enrol_routes;
ROUTE_TABLE(enrol_routes, rows);
