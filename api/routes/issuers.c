/* SPDX-License-Identifier: Apache-2.0 */
/* issuers.c - routes of outside issuers of tokens for programs. */
#include "api/route.h"
#include "tenants/identity/issuer.h"
#include "tenants/identity/outside.h"

static const char *const alg_names[] = { "RS256", "ES256", NULL };
static const char *const state_names[] = { "ACTIVE", "DISABLED", NULL };

struct issuer_in { struct str name, issuer, audience, jwks_uri; struct json jwks; struct slice algorithms, subjects; bool single_use; };
SCHEMA_OF(issuer_in, "An outside issuer to set up",
    FIELD(issuer_in, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "Name, unique in the tenant", .example = "cluster"),
    FIELD(issuer_in, issuer, F_REQ, .min = 8, .max = OUTSIDE_URL_MAX, .doc = "The claim iss of its tokens, exactly", .example = "https://issuer.example"),
    FIELD(issuer_in, audience, F_REQ, .min = 1, .max = 256, .doc = "Its tokens must name it; falaj:tnt_… is the tenant's own", .example = "https://falaj.example/programs"),
    FIELD_ENUMS(issuer_in, algorithms, F_REQ, alg_names, .min = 1, .max = 2, .doc = "Algorithms that are taken"),
    FIELD(issuer_in, jwks_uri, 0, .min = 8, .max = OUTSIDE_URL_MAX, .doc = "Where its keys are fetched from, and fetched again when a new one is used",
        .example = "https://issuer.example/keys"),
    FIELD(issuer_in, jwks, 0, .max = 65536, .doc = "Or its keys (RFC 7517), for good"),
    FIELD_LIST(issuer_in, subjects, &issuer_subject_schema, 0, .max = 200, .doc = "Who its subjects are here: service accounts only"),
    FIELD(issuer_in, single_use, 0, .dflt = "false", .doc = "Each token is good once; it must have a jti"));
struct issuer_ref { struct uuid issuer_id; };
SCHEMA_OF(issuer_ref, "Which issuer", FIELD_ID(issuer_ref, issuer_id, "iss", F_PATH, .doc = "The issuer"));
struct issuer_page { PAGE_IN; };
SCHEMA_OF(issuer_page, "Which issuers", PAGE_IN_FIELDS(issuer_page));
struct issuer_patch { struct uuid issuer_id; int state; };
SCHEMA_OF(issuer_patch, "A change of an issuer", FIELD_ID(issuer_patch, issuer_id, "iss", F_PATH, .doc = "The issuer"),
    FIELD_ENUM(issuer_patch, state, F_REQ, state_names, .doc = "DISABLED: nothing it signs is believed, within 5 s"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct issuer_in *i = in;
    struct str *names = ARENA_ARRAY(w->arena, struct str, i->algorithms.n + 1);
    for (size_t k = 0; k < i->algorithms.n; k++)
        names[k] = str_c(alg_names[((const int *)i->algorithms.items)[k]]);
    struct issuer_new made = { i->name, i->issuer, i->audience, i->jwks_uri, i->jwks, { names, i->algorithms.n }, i->subjects, i->single_use };
    return issuer_create(w, &made, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct issuer_page *page = in;
    return PAGE_BY_ID(w, page, out, issuer, issuer_id, issuer_list(w, after, limit, rows, e), e);
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return issuer_get(w, ((const struct issuer_ref *)in)->issuer_id, out, e);
}

static enum errc change(struct work *w, const void *in, void *out, struct err *e)
{
    const struct issuer_patch *p = in;
    return issuer_set_state(w, p->issuer_id, state_names[p->state], call_of(w)->if_match, out, e);
}

static enum errc removal(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return issuer_delete(w, ((const struct issuer_ref *)in)->issuer_id, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/issuers", .lane = LANE_CALLS,
      .op = "issuer_create", .perm = PERM_IDENTITY_MANAGE, .handler = create, .in = &issuer_in_schema,
      .status = 201, .out = &issuer_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "issuer", .audited = true,
      .audit = AUDIT_IDENTITY_SET, .doc = "Believe the tokens of an outside issuer, for programs" },
    { .method = HTTP_GET, .path = "/v1/issuers", .lane = LANE_CALLS,
      .op = "issuer_list", .perm = PERM_IDENTITY_MANAGE, .handler = list, .in = &issuer_page_schema,
      .status = 200, .out = &issuer_schema, .flags = R_LIST, .doc = "List outside issuers" },
    { .method = HTTP_GET, .path = "/v1/issuers/{issuer_id}", .lane = LANE_CALLS,
      .op = "issuer_get", .perm = PERM_IDENTITY_MANAGE, .handler = read_one,
      .in = &issuer_ref_schema, .status = 200, .out = &issuer_schema, .resource = "issuer", .doc = "Read one outside issuer" },
    { .method = HTTP_PATCH, .path = "/v1/issuers/{issuer_id}", .lane = LANE_CALLS,
      .op = "issuer_change", .perm = PERM_IDENTITY_MANAGE, .handler = change,
      .in = &issuer_patch_schema, .status = 200, .out = &issuer_schema, .flags = R_IF_MATCH | R_STEP_UP, .rate = RL_WRITE, .resource = "issuer",
      .audited = true, .audit = AUDIT_IDENTITY_SET, .doc = "Disable an outside issuer, or enable it again" },
    { .method = HTTP_DELETE, .path = "/v1/issuers/{issuer_id}", .lane = LANE_CALLS,
      .op = "issuer_delete", .perm = PERM_IDENTITY_MANAGE, .handler = removal,
      .in = &issuer_ref_schema, .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "issuer", .audited = true,
      .audit = AUDIT_IDENTITY_SET, .doc = "Remove an outside issuer: nothing it signs is believed any more, within 5 s" },
};
extern const struct route_table issuer_routes;
ROUTE_TABLE(issuer_routes, rows);
