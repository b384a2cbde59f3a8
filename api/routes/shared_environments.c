/* SPDX-License-Identifier: Apache-2.0 */
/* shared_environments.c - routes of images that the platform's staff publish to every tenant of a zone: an organisation offers
 * one of its environments, staff publish, withdraw and remove it, everybody reads. */
#include "api/pipeline.h"
#include "api/route.h"
#include "audit/event.h"
#include "scheduler/jobs/environment.h"
#include "scheduler/jobs/environment_shared.h"

struct offer_in { struct uuid environment_id; bool offered; };
SCHEMA_OF(offer_in, "Whether it is offered", FIELD_ID(offer_in, environment_id, "env", F_PATH, .doc = "The environment"),
    FIELD(offer_in, offered, F_REQ, .doc = "The platform's staff may publish it to other organisations"));
struct publish_in { struct uuid tenant_id, environment_id; struct str zone, name, description; };
SCHEMA_OF(publish_in, "An environment to publish", FIELD_ID(publish_in, tenant_id, "tnt", F_PATH, .doc = "Whose it is"),
    FIELD_ID(publish_in, environment_id, "env", F_REQ, .doc = "The environment, which that organisation has offered"),
    FIELD(publish_in, zone, 0, .min = 1, .max = 63,
        .doc = "Where: its archive, or a copy of it, lies there; absent: where the archive lies"),
    FIELD(publish_in, name, 0, .min = 1, .max = 63, .check = check_slug,
        .doc = "What it is called; absent: as its owner calls it"),
    FIELD(publish_in, description, 0, .max = 256, .doc = "What it is for; absent: its owner's words"));
struct shared_ref { struct uuid shared_id; };
SCHEMA_OF(shared_ref, "Which publication", FIELD_ID(shared_ref, shared_id, "shi", F_PATH, .doc = "The publication"));
struct withdraw_in { struct uuid shared_id; struct str reason; };
SCHEMA_OF(withdraw_in, "Why it is withdrawn", FIELD_ID(withdraw_in, shared_id, "shi", F_PATH, .doc = "The publication"),
    FIELD(withdraw_in, reason, F_REQ, .min = 1, .max = 512, .check = check_name, .doc = "What jobs that name it are told"));
struct shared_signature { struct uuid shared_id; struct str signature; };
SCHEMA_OF(shared_signature, "A signature", FIELD_ID(shared_signature, shared_id, "shi", F_PATH, .doc = "The publication"),
    FIELD(shared_signature, signature, F_REQ, .min = ENVIRONMENT_SIG_HEX, .max = ENVIRONMENT_SIG_HEX,
          .doc = "Over the digest's text, by a key of the tenant: 64 bytes of Ed25519, hex"));
struct shared_page { PAGE_IN; struct str zone, name; };
SCHEMA_OF(shared_page, "Which images", PAGE_IN_FIELDS(shared_page),
    FIELD(shared_page, zone, F_QUERY, .min = 1, .max = 63, .doc = "Only of this zone"),
    FIELD(shared_page, name, F_QUERY, .min = 1, .max = 63, .check = check_slug, .doc = "Only of this name"));
struct shared_list_in { PAGE_IN; struct uuid shared_id; struct str q; };
SCHEMA_OF(shared_list_in, "Of which image", PAGE_IN_FIELDS(shared_list_in),
    FIELD_ID(shared_list_in, shared_id, "shi", F_PATH, .doc = "The publication"),
    FIELD(shared_list_in, q, F_QUERY, .min = 1, .max = 63, .doc = "Only packages whose name contains this, in any case"));

static void note(struct work *w, const struct shared_environment *v, const char *step)
{
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", str_c(step)));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("environment", v->name));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("digest", v->digest));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("zone", v->zone));
}

static enum errc offer(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct offer_in *in = in_;
    struct environment *ret = out;
    TRY(environment_offer(w, in->environment_id, in->offered, ret, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", str_c(in->offered ? "offered" : "offer_ended")));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("environment", ret->name));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("digest", ret->digest));
    return ERR_OK;
}

static enum errc publish(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct publish_in *in = in_;
    const struct shared_environment_new row = { in->environment_id, in->zone, in->name, in->description };
    TRY(shared_environment_publish(w, &row, out, e));
    note(w, out, "published");
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return shared_environment_get(w, ((const struct shared_ref *)in)->shared_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct shared_page *page = in;
    return PAGE_BY_ID(w, page, out, shared_environment, shared_id,
                      shared_environment_list(w, page->zone, page->name, after, limit, rows, e), e);
}

static enum errc packages(struct work *w, const void *in, void *out, struct err *e)
{
    const struct shared_list_in *page = in;
    return PAGE_BY_NUMBER(w, page, out, environment_package, number,
                          shared_environment_packages(w, page->shared_id, page->q, after, limit, rows, e), e);
}

static enum errc withdraw(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct withdraw_in *in = in_;
    TRY(shared_environment_withdraw(w, in->shared_id, in->reason, out, e));
    note(w, out, "withdrawn");
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("reason", in->reason));
    return ERR_OK;
}

static enum errc remove_one(struct work *w, const void *in, void *out, struct err *e)
{
    const struct uuid id = ((const struct shared_ref *)in)->shared_id;
    struct shared_environment v;
    (void)out;
    TRY(shared_environment_get(w, id, &v, e));
    note(w, &v, "removed");
    return shared_environment_remove(w, id, e);
}

static enum errc sign(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct shared_signature *in = in_;
    TRY(shared_environment_sign(w, in->shared_id, in->signature, out, e));
    note(w, out, "signed");
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("signed_by", ((struct shared_environment *)out)->signed_by));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_PUT, .path = "/v1/environments/{environment_id}/offer", .lane = LANE_CALLS,
      .op = "environment_offer", .perm = PERM_ENVIRONMENT_TRUST, .handler = offer, .in = &offer_in_schema, .status = 200,
      .out = &environment_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "environment", .audited = true,
      .audit = AUDIT_ENVIRONMENT_SHARE,
      .doc = "Let the platform's staff publish an environment to other organisations, or no longer; what is published stays so" },
    { .method = HTTP_POST, .path = "/v1/tenants/{tenant_id}/shared-environments", .lane = LANE_CALLS,
      .op = "shared_environment_publish", .perm = PERM_ENVIRONMENT_PUBLISH, .handler = publish, .in = &publish_in_schema,
      .status = 201, .out = &shared_environment_schema, .flags = R_IDEMPOTENT | R_TENANT_PATH | R_STEP_UP, .rate = RL_WRITE,
      .resource = "environment", .audited = true, .audit = AUDIT_ENVIRONMENT_SHARE,
      .doc = "Publish an environment that an organisation has offered to every tenant of a zone" },
    { .method = HTTP_GET, .path = "/v1/shared-environments", .lane = LANE_CALLS,
      .op = "shared_environment_list", .perm = PERM_ENVIRONMENT_SHARED, .handler = list, .in = &shared_page_schema, .status = 200,
      .out = &shared_environment_schema, .flags = R_LIST,
      .doc = "Images that the platform's staff publish, in zones that the caller may use, newest first" },
    { .method = HTTP_GET, .path = "/v1/shared-environments/{shared_id}", .lane = LANE_CALLS,
      .op = "shared_environment_get", .perm = PERM_ENVIRONMENT_SHARED, .handler = read, .in = &shared_ref_schema, .status = 200,
      .out = &shared_environment_schema, .resource = "environment", .doc = "One of them, with its layers" },
    { .method = HTTP_GET, .path = "/v1/shared-environments/{shared_id}/packages", .lane = LANE_CALLS,
      .op = "shared_environment_packages", .perm = PERM_ENVIRONMENT_SHARED, .handler = packages, .in = &shared_list_in_schema,
      .status = 200, .out = &environment_package_schema, .flags = R_LIST, .resource = "environment",
      .doc = "What is installed in it, by its package manager's word, sorted" },
    { .method = HTTP_POST, .path = "/v1/shared-environments/{shared_id}/withdraw", .lane = LANE_CALLS,
      .op = "shared_environment_withdraw", .perm = PERM_ENVIRONMENT_PUBLISH, .handler = withdraw, .in = &withdraw_in_schema,
      .status = 200, .out = &shared_environment_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "environment",
      .audited = true, .audit = AUDIT_ENVIRONMENT_SHARE,
      .doc = "No job gets it any more, waiting ones included, and each is told why; jobs that have it go on" },
    { .method = HTTP_DELETE, .path = "/v1/shared-environments/{shared_id}", .lane = LANE_CALLS,
      .op = "shared_environment_remove", .perm = PERM_ENVIRONMENT_PUBLISH, .handler = remove_one, .in = &shared_ref_schema,
      .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "environment", .audited = true,
      .audit = AUDIT_ENVIRONMENT_SHARE,
      .doc = "Forget one that was withdrawn; refused while jobs that have not ended name it" },
    { .method = HTTP_PUT, .path = "/v1/shared-environments/{shared_id}/signature", .lane = LANE_CALLS,
      .op = "shared_environment_sign", .perm = PERM_ENVIRONMENT_MANAGE, .handler = sign, .in = &shared_signature_schema,
      .status = 200, .out = &shared_environment_schema, .rate = RL_WRITE, .resource = "environment", .audited = true,
      .audit = AUDIT_ENVIRONMENT_SET,
      .doc = "Give the own tenant's signature over its digest; one that is of no key of the tenant is refused" },
};
extern const struct route_table shared_environment_routes;
ROUTE_TABLE(shared_environment_routes, rows);
