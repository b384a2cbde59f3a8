/* SPDX-License-Identifier: Apache-2.0 */
/* users.c - routes of users, and of the caller itself. */
#include "api/pipeline.h"
#include "core/db/run_tx.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "core/db/list_find.h"
#include "tenants/home/tenant.h"
#include "tenants/identity/user.h"

static const char *const user_kinds[] = { "person", "service", NULL };

struct user_create_in { struct str name; int kind; struct slice roles; };
SCHEMA_OF(user_create_in, "A user to create",
    FIELD(user_create_in, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "Name, unique in the tenant"),
    FIELD_ENUM(user_create_in, kind, 0, user_kinds, .dflt = "person", .doc = "A person, or a program"),
    FIELD_STRS(user_create_in, roles, 0, .max = 8, .doc = "Roles to grant at once"));
struct user_ref { struct uuid user_id; };
SCHEMA_OF(user_ref, "Which user", FIELD_ID(user_ref, user_id, "usr", F_PATH, .doc = "The user"));
static const char *const user_states[] = { "ACTIVE", "DISABLED", "DEACTIVATED", NULL };
static const char *const user_settable[] = { "ACTIVE", "DISABLED", NULL };
struct user_page {
    PAGE_IN;
    struct str name, role, q;
    int state, kind, sort;
    bool has_state, has_kind;
};
SCHEMA_OF(user_page, "Which users", PAGE_IN_FIELDS(user_page),
    FIELD(user_page, name, F_QUERY, .min = 1, .max = 128, .check = check_name, .doc = "Only users whose name begins so"),
    FIELD(user_page, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name, .doc = "Only users whose name contains this, in any case"),
    FIELD_ENUM_OPT(user_page, state, F_QUERY, user_states, .doc = "Only users in this state"),
    FIELD_ENUM_OPT(user_page, kind, F_QUERY, user_kinds, .doc = "Only people or only programs"),
    FIELD(user_page, role, F_QUERY, .min = 1, .max = 64, .check = check_slug, .doc = "Only users that hold this role, wherever"),
    FIELD_ENUM(user_page, sort, F_QUERY, list_sort_names, .dflt = "-created", .doc = "Order; - is descending"));
struct user_change { struct uuid user_id; struct str name; int state; bool has_state; };
SCHEMA_OF(user_change, "What to change of a user", FIELD_ID(user_change, user_id, "usr", F_PATH, .doc = "The user"),
    FIELD(user_change, name, 0, .min = 1, .max = 128, .check = check_name, .doc = "New name"),
    FIELD_ENUM_OPT(user_change, state, 0, user_settable, .doc = "ACTIVE, or DISABLED: refused within 5 s, and has to sign in anew when active again"));
struct me_out {
    struct uuid user_id;
    struct str name;
    struct uuid tenant_id;
    struct str tenant;
    struct slice roles, permissions;
    struct uuid token_id;
    struct timestamp expires_at;
    struct str home_zone;
    struct slice allowed_zones;
    SHOWN_NAME;
};
SCHEMA_OF(me_out, "Who is calling",
    FIELD_ID(me_out, user_id, "usr", F_ALWAYS, .doc = "The user"), FIELD(me_out, name, F_ALWAYS, .doc = "Name"),
    FIELD_ID(me_out, tenant_id, "tnt", F_NULLOUT, .doc = "Tenant; null: the platform"), FIELD(me_out, tenant, 0, .doc = "Tenant's name"),
    FIELD_STRS(me_out, roles, 0, .doc = "Roles held"), FIELD_STRS(me_out, permissions, 0, .doc = "What they and the token's scopes allow"),
    FIELD_ID(me_out, token_id, "tok", 0, .doc = "The token used"), FIELD(me_out, expires_at, 0, .doc = "When it ends"),
    FIELD(me_out, home_zone, 0, .doc = "Home zone"), FIELD_STRS(me_out, allowed_zones, 0, .doc = "Zones the tenant may use"),
    FIELD_AS(me_out, display_name, "tenant_display_name", 0, .doc = "Tenant's name for people"),
    FIELD_AS(me_out, display_name_ar, "tenant_display_name_ar", 0, .doc = "And in Arabic; empty: as in tenant_display_name"));

static enum errc me(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    const struct principal *p = w->principal;
    struct tenant t = { 0 };
    struct str *roles = ARENA_ARRAY(w->arena, struct str, ROLE_COUNT), *perms = ARENA_ARRAY(w->arena, struct str, PERM_COUNT);
    struct me_out *m = out;
    *m = (struct me_out){ p->user_id, p->name, p->tenant_id, p->tenant_name, { roles, 0 }, { perms, 0 }, p->method == AUTH_TOKEN ? p->token_id : UUID_NIL, { p->expires_us },
                          p->home_zone, p->allowed_zones, STR_NULL, STR_NULL };
    if (!principal_is_platform(p))
        TRY(RUN_READ(w, tenant_get(w, p->tenant_id, &t, e), e));
    m->display_name = t.display_name;
    m->display_name_ar = t.display_name_ar;
    for (int r = 0; r < ROLE_COUNT; r++)
        if (p->roles & UINT32_C(1) << r)
            roles[m->roles.n++] = str_c(role_row((enum role)r)->wire);
    for (int i = PERM_SIGNED_IN + 1; i < PERM_COUNT; i++)
        if (p->permissions & PERM_BIT(i))
            perms[m->permissions.n++] = str_c(perm_row((enum permission)i)->wire);
    return ERR_OK;
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    const struct user_create_in *u = in;
    return user_create(w, u->name, str_c(user_kinds[u->kind]), u->roles, out, e);
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return user_get(w, ((const struct user_ref *)in)->user_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct user_page *page = in;
    struct user_filter f = { page->name, page->has_state ? str_c(user_states[page->state]) : STR_NULL,
                             page->has_kind ? str_c(user_kinds[page->kind]) : STR_NULL, page->role, page->q, str_c(list_sort_names[page->sort]) };
    return PAGE_BY_ID(w, page, out, app_user, user_id, user_list(w, &f, after, limit, rows, e), e);
}

static enum errc change(struct work *w, const void *in, void *out, struct err *e)
{
    const struct user_change *c = in;
    TRY(user_update(w, c->user_id, c->name, c->has_state ? str_c(user_settable[c->state]) : STR_NULL, call_of(w)->if_match, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("state", ((const struct app_user *)out)->state));
    pipeline_forget_user(w, w->tenant_id, c->user_id);
    return ERR_OK;
}

static enum errc deactivate(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    struct uuid id = ((const struct user_ref *)in)->user_id;
    TRY(user_deactivate(w, id, e));
    pipeline_forget_user(w, w->tenant_id, id);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/me", .lane = LANE_CALLS,
      .op = "me", .perm = PERM_SIGNED_IN, .handler = me, .status = 200, .out = &me_out_schema,
      .flags = R_NO_TX, .doc = "Who is calling, and what that caller may do" },
    { .method = HTTP_POST, .path = "/v1/users", .lane = LANE_CALLS,
      .op = "user_create", .perm = PERM_USER_MANAGE, .handler = create, .in = &user_create_in_schema,
      .status = 201, .out = &app_user_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "user", .audited = true,
      .audit = AUDIT_USER_CREATE, .doc = "Create a user" },
    { .method = HTTP_GET, .path = "/v1/users", .lane = LANE_CALLS,
      .op = "user_list", .perm = PERM_USER_READ, .handler = list, .in = &user_page_schema, .status = 200,
      .out = &app_user_schema, .flags = R_LIST, .doc = "List users" },
    { .method = HTTP_GET, .path = "/v1/users/{user_id}", .lane = LANE_CALLS,
      .op = "user_get", .perm = PERM_USER_READ, .handler = read_one, .in = &user_ref_schema,
      .status = 200, .out = &app_user_schema, .resource = "user", .doc = "Read one user" },
    { .method = HTTP_PATCH, .path = "/v1/users/{user_id}", .lane = LANE_CALLS,
      .op = "user_update", .perm = PERM_USER_MANAGE, .handler = change,
      .in = &user_change_schema, .status = 200, .out = &app_user_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "user",
      .audited = true, .audit = AUDIT_USER_UPDATE,
      .doc = "Rename, disable or enable a user. Disabling ends every token, session and sign-in under way; enabling gives none back. The last administrator stays" },
    { .method = HTTP_DELETE, .path = "/v1/users/{user_id}", .lane = LANE_CALLS,
      .op = "user_deactivate", .perm = PERM_USER_MANAGE, .handler = deactivate,
      .in = &user_ref_schema, .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "user", .audited = true,
      .audit = AUDIT_USER_REVOKE, .doc = "Deactivate a user for good: roles taken back, all credentials dead within 5 s" },
};
extern const struct route_table user_routes;
ROUTE_TABLE(user_routes, rows);
