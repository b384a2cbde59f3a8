/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - routes of access tokens and of the programs that use them. */
#include "api/pipeline.h"
#include "core/db/tx.h"
#include "core/redis/wake.h"
#include "tenants/identity/api_token.h"
#include "tenants/identity/authn.h"
#include "tenants/access/cidr.h"
#include "core/db/list_find.h"
#include "tenants/identity/service_account.h"

static const char *const token_sorts[] = { "-created_at", "expires_at", NULL };

#define LIMIT_FIELDS(T)                                                                                                                     \
    FIELD_STRS(T, scopes, 0, .max = 64, .doc = "Permissions to limit it to; none: all of its user"),                                        \
    FIELD_STRS(T, cidrs, 0, .max = 16, .check = check_cidr, .example = "192.0.2.0/24", .doc = "Networks it may be used from; none: any"),   \
    FIELD_STRS(T, zones, 0, .max = 16, .check = check_slug, .doc = "Zones to limit it to; none: all of the tenant")

struct token_create_in { struct str name; struct uuid user_id; int64_t expires_in_days; struct slice scopes, cidrs, zones; };
SCHEMA_OF(token_create_in, "A token to make",
    FIELD(token_create_in, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "What it is for"),
    FIELD_ID(token_create_in, user_id, "usr", 0, .doc = "Whose it is; absent: the caller's"),
    FIELD(token_create_in, expires_in_days, 0, .min = 1, .max = 90, .dflt = "30", .doc = "Days until it ends"), LIMIT_FIELDS(token_create_in));
struct service_token_in { struct uuid user_id; struct str name; int64_t expires_in_days; struct slice scopes, cidrs, zones; };
SCHEMA_OF(service_token_in, "A service account's token to make", FIELD_ID(service_token_in, user_id, "usr", F_PATH, .doc = "The service account"),
    FIELD(service_token_in, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "What it is for"),
    FIELD(service_token_in, expires_in_days, 0, .min = 1, .max = 90, .dflt = "30", .doc = "Days until it ends"), LIMIT_FIELDS(service_token_in));
struct token_rotate_in { struct uuid token_id; int64_t overlap_seconds, expires_in_days; };
SCHEMA_OF(token_rotate_in, "How to rotate", FIELD_ID(token_rotate_in, token_id, "tok", F_PATH, .doc = "The token"),
    FIELD(token_rotate_in, overlap_seconds, F_REQ, .min = 0, .max = 604800, .doc = "The old token still works so long"),
    FIELD(token_rotate_in, expires_in_days, 0, .min = 1, .max = 90, .dflt = "30", .doc = "Days until the new one ends"));
struct token_ref { struct uuid token_id; };
SCHEMA_OF(token_ref, "Which token", FIELD_ID(token_ref, token_id, "tok", F_PATH, .doc = "The token"));
struct token_page { PAGE_IN; struct uuid user_id; bool has_state; int state; struct str name, q; int sort; };
SCHEMA_OF(token_page, "Which tokens", PAGE_IN_FIELDS(token_page), FIELD_ID(token_page, user_id, "usr", F_QUERY, .doc = "Only of this user"),
    FIELD_ENUM_OPT(token_page, state, F_QUERY, api_token_states, .doc = "Only in this state"),
    FIELD(token_page, name, F_QUERY, .min = 1, .max = 128, .check = check_name, .doc = "Only those whose name begins so"),
    FIELD(token_page, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name, .doc = "Only those whose name contains this, in any case"),
    FIELD_ENUM(token_page, sort, F_QUERY, token_sorts, .dflt = "-created_at", .doc = "Newest first, or what ends soonest first"));
struct token_create_out { struct uuid token_id, user_id; struct str name, token, hint; struct json scopes, cidrs, zones; struct timestamp expires_at; };
SCHEMA_OF(token_create_out, "A new token; `token` is shown this once",
    FIELD_ID(token_create_out, token_id, "tok", F_ALWAYS, .doc = "The token's id"),
    FIELD_ID(token_create_out, user_id, "usr", F_ALWAYS, .doc = "Whose it is"),
    FIELD(token_create_out, name, F_ALWAYS, .doc = "What it is for"),
    FIELD(token_create_out, token, F_ALWAYS, .doc = "The secret: shown this once"),
    FIELD(token_create_out, hint, F_ALWAYS, .doc = "Its last characters"),
    FIELD(token_create_out, scopes, 0, .doc = "Permissions it is limited to"),
    FIELD(token_create_out, cidrs, 0, .doc = "Networks it is limited to"), FIELD(token_create_out, zones, 0, .doc = "Zones it is limited to"),
    FIELD(token_create_out, expires_at, F_ALWAYS, .doc = "When it ends"));
struct service_create_in { struct str name; struct slice roles; };
SCHEMA_OF(service_create_in, "A service account to make",
    FIELD(service_create_in, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "Name, unique among the tenant's users"),
    FIELD_STRS(service_create_in, roles, 0, .max = 8, .doc = "Roles, within those of the caller"));
struct service_ref { struct uuid user_id; };
SCHEMA_OF(service_ref, "Which service account", FIELD_ID(service_ref, user_id, "usr", F_PATH, .doc = "The service account"));
struct service_page { PAGE_IN; };
SCHEMA_OF(service_page, "Which service accounts", PAGE_IN_FIELDS(service_page));

static enum errc shown(struct work *w, const struct api_token *row, const char *text, struct token_create_out *ret)
{
    *ret = (struct token_create_out){ row->token_id, row->user_id, row->name, str_dup(w->arena, str_c(text)), row->hint, row->scopes, row->cidrs,
                                      row->zones, row->expires_at };
    return ERR_OK;
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct token_create_in *t = in;
    const struct api_token_new n = { t->user_id, t->name, t->expires_in_days, t->scopes, t->cidrs, t->zones };
    struct api_token row;
    char text[TOKEN_TEXT];
    TRY(api_token_create(w, &n, &row, text, e));
    return shown(w, &row, text, out);
}

static enum errc service_token(struct work *w, const void *in, void *out, struct err *e)
{
    const struct service_token_in *t = in;
    const struct api_token_new n = { t->user_id, t->name, t->expires_in_days, t->scopes, t->cidrs, t->zones };
    struct api_token row;
    struct app_user user;
    char text[TOKEN_TEXT];
    TRY(user_get(w, t->user_id, &user, e));
    if (!str_eq_c(user.kind, "service"))
        return FAIL(e, NOT_FOUND, "There is no such object");
    TRY(api_token_create(w, &n, &row, text, e));
    return shown(w, &row, text, out);
}

static enum errc rotate(struct work *w, const void *in, void *out, struct err *e)
{
    const struct token_rotate_in *t = in;
    struct api_token row;
    char text[TOKEN_TEXT];
    TRY(api_token_rotate(w, t->token_id, t->overlap_seconds, t->expires_in_days, &row, text, e));
    return shown(w, &row, text, out);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct token_page *page = in;
    const struct api_token_filter f = { page->user_id, page->has_state ? str_c(api_token_states[page->state]) : STR_NULL, page->name, page->q, page->sort == 1 };
    return PAGE_BY_ID(w, page, out, api_token, token_id, api_token_list(w, &f, after, limit, rows, e), e);
}

struct forget {
    struct authn *authn;
    struct redis_client *redis;
    struct uuid tenant_id, user_id, token_id;
};

static void forget(void *ctx)
{
    struct forget *f = ctx;
    char hex[UUID_HEX + 1];
    if (uuid_is_nil(f->token_id)) {
        authn_forget_user(f->authn, f->tenant_id, f->user_id);
        return;
    }
    authn_forget(f->authn, f->token_id);
    hex_encode(f->token_id.b, 16, hex);
    wake_publish(f->redis, STR(WAKE_REVOKE), str_n(hex, 32));
}

static void forget_after_commit(struct work *w, struct uuid user_id, struct uuid token_id)
{
    struct forget *f = ARENA_NEW(w->arena, struct forget);
    *f = (struct forget){ pipeline_authn(pipeline_of(w)), w->app->redis, w->tenant_id, user_id, token_id };
    db_after_commit(w->tx, forget, f);
}

static enum errc revoke(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    struct uuid id = ((const struct token_ref *)in)->token_id;
    TRY(api_token_revoke(w, id, e));
    forget_after_commit(w, UUID_NIL, id);
    return ERR_OK;
}

static enum errc service_create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct service_create_in *s = in;
    return service_account_create(w, s->name, s->roles, out, e);
}

static enum errc service_list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct service_page *page = in;
    return PAGE_BY_ID(w, page, out, app_user, user_id, service_account_list(w, after, limit, rows, e), e);
}

static enum errc service_end(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    struct uuid id = ((const struct service_ref *)in)->user_id;
    TRY(service_account_end(w, id, e));
    forget_after_commit(w, id, UUID_NIL);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/api-tokens", .lane = LANE_CALLS,
      .op = "token_create", .perm = PERM_TOKEN_OWN, .handler = create,
      .in = &token_create_in_schema, .status = 201, .out = &token_create_out_schema, .flags = R_IDEMPOTENT | R_SECRET | R_STEP_UP, .rate = RL_WRITE,
      .resource = "token", .audited = true, .audit = AUDIT_TOKEN_CREATE, .doc = "Make an access token; the secret is shown once" },
    { .method = HTTP_GET, .path = "/v1/api-tokens", .lane = LANE_CALLS,
      .op = "token_list", .perm = PERM_TOKEN_OWN, .handler = list, .in = &token_page_schema,
      .status = 200, .out = &api_token_schema, .flags = R_LIST, .doc = "List access tokens" },
    { .method = HTTP_POST, .path = "/v1/api-tokens/{token_id}/rotate", .lane = LANE_CALLS,
      .op = "token_rotate", .perm = PERM_TOKEN_OWN, .handler = rotate,
      .in = &token_rotate_in_schema, .status = 201, .out = &token_create_out_schema, .flags = R_IDEMPOTENT | R_SECRET | R_STEP_UP, .rate = RL_WRITE,
      .resource = "token", .audited = true, .audit = AUDIT_TOKEN_CREATE,
      .doc = "Make a token with the same limits; the old one ends after the overlap" },
    { .method = HTTP_DELETE, .path = "/v1/api-tokens/{token_id}", .lane = LANE_CALLS,
      .op = "token_revoke", .perm = PERM_TOKEN_OWN, .handler = revoke,
      .in = &token_ref_schema, .status = 204, .rate = RL_WRITE, .resource = "token", .audited = true, .audit = AUDIT_TOKEN_REVOKE,
      .doc = "Revoke an access token; it is dead within 5 s" },
    { .method = HTTP_POST, .path = "/v1/service-accounts", .lane = LANE_CALLS,
      .op = "service_account_create", .perm = PERM_TOKEN_SERVICE, .handler = service_create,
      .in = &service_create_in_schema, .status = 201, .out = &app_user_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "user",
      .audited = true, .audit = AUDIT_USER_CREATE, .doc = "Make a service account; its roles are within the caller's" },
    { .method = HTTP_GET, .path = "/v1/service-accounts", .lane = LANE_CALLS,
      .op = "service_account_list", .perm = PERM_TOKEN_SERVICE, .handler = service_list,
      .in = &service_page_schema, .status = 200, .out = &app_user_schema, .flags = R_LIST,
      .doc = "List service accounts: the caller's own, or all for who manages users" },
    { .method = HTTP_DELETE, .path = "/v1/service-accounts/{user_id}", .lane = LANE_CALLS,
      .op = "service_account_end", .perm = PERM_TOKEN_SERVICE, .handler = service_end,
      .in = &service_ref_schema, .status = 204, .rate = RL_WRITE, .resource = "user", .audited = true, .audit = AUDIT_USER_REVOKE,
      .doc = "End a service account for good, with all its tokens" },
    { .method = HTTP_POST, .path = "/v1/service-accounts/{user_id}/tokens", .lane = LANE_CALLS,
      .op = "service_token_create", .perm = PERM_TOKEN_SERVICE,
      .handler = service_token, .in = &service_token_in_schema, .status = 201, .out = &token_create_out_schema, .flags = R_IDEMPOTENT | R_SECRET | R_STEP_UP,
      .rate = RL_WRITE, .resource = "token", .audited = true, .audit = AUDIT_TOKEN_CREATE,
      .doc = "Make a token for a service account; the secret is shown once" },
};
extern const struct route_table token_routes;
ROUTE_TABLE(token_routes, rows);
