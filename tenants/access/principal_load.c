/* SPDX-License-Identifier: Apache-2.0 */
/* principal_load.c - bindings arrive as one JSON array, so that a row stays one row however many roles there are. */
#include "tenants/access/principal_load.h"
#include "core/db/tx.h"
#include "core/json/decode.h"
#include "tenants/access/authz.h"
#include "tenants/access/cidr.h"

static const char *const place_names[] = { "platform", "zone", "tenant", "project", NULL };

struct binding_text {
    struct uuid binding_id, project_id;
    struct str role, zone;
    int place;
    int64_t valid_from_us, valid_until_us, mfa_age_s;
    struct slice cidrs, in_zones;
};
SCHEMA_OF(binding_text, "A binding as authn_principal prints it",
    FIELD(binding_text, binding_id, 0, .doc = "The binding"), FIELD(binding_text, project_id, 0, .doc = "Project"),
    FIELD(binding_text, role, 0, .doc = "Role"), FIELD(binding_text, zone, 0, .doc = "Zone"),
    FIELD_ENUM(binding_text, place, 0, place_names, .doc = "Place"), FIELD(binding_text, valid_from_us, 0, .doc = "From"),
    FIELD(binding_text, valid_until_us, 0, .doc = "Until"), FIELD(binding_text, mfa_age_s, 0, .doc = "Age of the second factor"),
    FIELD_STRS(binding_text, cidrs, 0, .max = BINDING_LIST_MAX, .doc = "Networks"),
    FIELD_STRS(binding_text, in_zones, 0, .max = BINDING_LIST_MAX, .doc = "Zones of resources"));
struct binding_list { struct slice bindings; };
SCHEMA_OF(binding_list, "Bindings", FIELD_LIST(binding_list, bindings, &binding_text_schema, 0, .max = 20000, .doc = "Bindings"));

struct principal_found { struct principal_row who; };
SCHEMA_OF(principal_found, "A user with its tenant and roles", PRINCIPAL_ROW_FIELDS(principal_found, who));

static const struct stmt principal_find_stmt = { .name = "principal_find", .params = "uu", .row = &principal_found_schema, .card = CARD_ONE,
    .sql = "SELECT " PRINCIPAL_ROW_COLUMNS " FROM authn_principal($1, $2)" };

const struct stmt *const principal_stmts[] = { &principal_find_stmt, NULL };

enum errc principal_find(struct db_tx *tx, struct uuid tenant_id, struct uuid user_id, struct principal_row *ret, struct err *e)
{
    struct principal_found row;
    TRY(db_one(tx, &principal_find_stmt, ARGS(A_UUID(tenant_id), A_UUID(user_id)), &row, e));
    *ret = row.who;
    return ERR_OK;
}

enum errc principal_check(const struct principal_row *row, struct err *e)
{
    if (!str_eq_c(row->user_state, "ACTIVE"))
        return FAIL(e, UNAUTHENTICATED, "The token is not known, has expired or was revoked");
    if (str_eq_c(row->tenant_state, "SUSPENDED"))
        return FAIL(e, TENANT_SUSPENDED, "The tenant is suspended: nothing can be done in it until the platform resumes it");
    if (!str_eq_c(row->tenant_state, "ACTIVE"))
        return FAIL(e, TENANT_SUSPENDED, "The tenant is being deleted");
    return ERR_OK;
}

struct slice string_array(struct arena *a, struct str json)
{
    size_t quotes = 0;
    for (size_t i = 0; i < json.len; i++)
        quotes += json.ptr[i] == '"';
    struct str *items = ARENA_ARRAY(a, struct str, quotes / 2 + 1);
    struct slice out = { items, 0 };
    struct str head, rest = json;
    while (str_cut(rest, '"', &head, &rest)) {
        str_cut(rest, '"', &head, &rest);
        items[out.n++] = str_dup(a, head);
    }
    return out;
}

static struct slice strings_copy(struct arena *a, struct slice from)
{
    struct str *items = from.n ? ARENA_ARRAY(a, struct str, from.n) : NULL;
    for (size_t i = 0; i < from.n; i++)
        items[i] = str_dup(a, ((struct str *)from.items)[i]);
    return (struct slice){ items, from.n };
}

/* A network that cannot be read matches nothing: the condition stays, and stays unfulfilled. */
static struct slice cidrs_copy(struct arena *a, struct slice from)
{
    struct cidr *items = from.n ? ARENA_ARRAY(a, struct cidr, from.n) : NULL;
    for (size_t i = 0; i < from.n; i++)
        if (!cidr_parse(((struct str *)from.items)[i], &items[i]))
            items[i] = (struct cidr){ .addr = { [0] = 0xff, [15] = 0xff }, .bits = 128 };
    return (struct slice){ items, from.n };
}

enum errc bindings_read(struct json text, struct arena *a, struct slice *ret, struct err *e)
{
    struct binding_list list = { 0 };
    struct str whole = str_fmt(a, "{\"bindings\":%.*s}", STR_ARG(text.text));
    struct err why;
    if (json_decode(&binding_list_schema, whole, a, &list, &why) != ERR_OK) {
        FAIL(e, INTERNAL, "The stored roles of this user cannot be read");
        return err_note(e, "%s: %s", why.field, why.msg);
    }
    struct binding *items = ARENA_ARRAY(a, struct binding, list.bindings.n + 1);
    *ret = (struct slice){ items, 0 };
    for (size_t i = 0; i < list.bindings.n; i++) {
        const struct binding_text *t = &((struct binding_text *)list.bindings.items)[i];
        int role = role_by_wire(t->role);
        if (role < 0)
            continue;
        items[ret->n++] = (struct binding){ t->binding_id, (enum role)role, (enum binding_place)t->place, str_dup(a, t->zone), t->project_id,
                                            t->valid_from_us, t->valid_until_us, t->mfa_age_s, cidrs_copy(a, t->cidrs),
                                            strings_copy(a, t->in_zones) };
    }
    return ERR_OK;
}

static void keep(struct principal *p, struct slice all)
{
    const struct binding *from = all.items;
    bool at_platform = principal_is_platform(p), has_officer = false;
    for (size_t i = 0; i < all.n; i++)
        has_officer |= from[i].role == ROLE_COMPLIANCE_OFFICER;
    struct binding *items = all.n ? ARENA_ARRAY(p->arena, struct binding, all.n) : NULL;
    p->bindings = (struct slice){ items, 0 };
    for (size_t i = 0; i < all.n && p->bindings.n < BINDINGS_MAX; i++) {
        struct binding b = from[i];
        if (!role_fits_place(b.role, b.place, at_platform) || (has_officer && b.role != ROLE_COMPLIANCE_OFFICER))
            continue;
        b.zone = str_dup(p->arena, b.zone);
        struct cidr *nets = b.cidrs.n ? ARENA_ARRAY(p->arena, struct cidr, b.cidrs.n) : NULL;
        if (nets)
            memcpy(nets, b.cidrs.items, b.cidrs.n * sizeof *nets);
        b.cidrs.items = nets;
        b.in_zones = strings_copy(p->arena, b.in_zones);
        items[p->bindings.n++] = b;
    }
}

/* The projects of all bindings, each once; none when a binding is not at a project. */
static struct slice projects_of(struct principal *p)
{
    const struct binding *b = p->bindings.items;
    struct uuid *projects = p->bindings.n ? ARENA_ARRAY(p->arena, struct uuid, p->bindings.n) : NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->bindings.n; i++) {
        bool seen = false;
        if (b[i].place != BOUND_PROJECT)
            return (struct slice){ NULL, 0 };
        for (size_t j = 0; j < n && !seen; j++)
            seen = uuid_eq(projects[j], b[i].project_id);
        if (!seen)
            projects[n++] = b[i].project_id;
    }
    return (struct slice){ projects, n };
}

void principal_settle(struct principal *p)
{
    const struct binding *b = p->bindings.items;
    p->roles = 0;
    p->permissions = p->always = 0;
    for (size_t i = 0; i < p->bindings.n; i++) {
        p->roles |= UINT32_C(1) << b[i].role;
        p->permissions |= binding_permissions(&b[i]);
        if (!binding_is_conditional(&b[i]))
            p->always |= binding_always(&b[i]);
    }
    p->projects = projects_of(p);
    p->permissions &= p->scopes;
    p->always &= p->scopes;
}

enum errc principal_make(const struct principal_row *row, enum auth_method method, struct slice scopes, struct arena *tmp,
                         struct principal **ret, struct err *e)
{
    struct slice all;
    TRY(bindings_read(row->bindings, tmp, &all, e));
    struct principal *p = principal_new();
    p->user_id = row->user_id;
    p->tenant_id = row->tenant_id;
    p->name = str_dup(p->arena, row->user_name);
    p->tenant_name = str_dup(p->arena, row->tenant_name);
    p->tenant_state = str_dup(p->arena, row->tenant_state);
    p->home_zone = str_dup(p->arena, row->home_zone);
    p->allowed_zones = string_array(p->arena, row->allowed_zones.text);
    p->authz_rev = row->authz_rev;
    p->method = method;
    p->expires_us = INT64_MAX;
    p->scopes = ~(perm_set)0;
    if (scopes.n) {
        p->scopes = 0;
        for (size_t i = 0; i < scopes.n; i++)
            p->scopes |= PERM_BIT(perm_by_wire(((struct str *)scopes.items)[i]));
    }
    keep(p, all);
    principal_settle(p);
    *ret = p;
    return ERR_OK;
}
