/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - who may is read from the roles that have the permission at all, in parts that grow, until enough are found: a tenant of ten
 * thousand bindings costs no more than the few that count, unless none of them applies. They are judged here, not in SQL, by the code that
 * decides requests. */
#include "tenants/access/explain.h"
#include "core/db/tx.h"
#include "tenants/access/principal_load.h"

/* Bindings read in each part, 13,250 in all. */
static const int64_t parts[] = { 250, 1000, 4000, 8000 };

SCHEMA_EXTERN(explained_binding, "What one role binding says",
    FIELD_ID(explained_binding, binding_id, "rlb", F_ALWAYS, .doc = "The binding"),
    FIELD(explained_binding, role, F_ALWAYS, .doc = "Its role"),
    FIELD(explained_binding, place, F_ALWAYS, .doc = "Where it holds"),
    FIELD(explained_binding, zone, 0, .doc = "The zone, of a role held in a zone"),
    FIELD_ID(explained_binding, project_id, "prj", 0, .doc = "The project, of a role held in a project"),
    FIELD(explained_binding, verdict, F_ALWAYS, .doc = "applies, applies_in_project, or what keeps it from applying"),
    FIELD(explained_binding, why, 0, .doc = "The same in words"));
SCHEMA_EXTERN(explained_user, "Somebody who may", FIELD_ID(explained_user, user_id, "usr", F_ALWAYS, .doc = "The user"),
    FIELD(explained_user, name, F_ALWAYS, .doc = "Name"), FIELD(explained_user, role, 0, .doc = "By which role"));
SCHEMA_EXTERN(explanation, "Why somebody may or may not do something",
    FIELD(explanation, allowed, 0, .doc = "May they?"), FIELD(explanation, permission, 0, .doc = "The permission that is needed"),
    FIELD(explanation, rule, 0, .doc = "What decided: role:…, missing:… or condition:…"),
    FIELD_LIST(explanation, bindings, &explained_binding_schema, 0, .doc = "The user's roles, one by one"),
    FIELD_STRS(explanation, missing, 0, .doc = "What would have to be otherwise"),
    FIELD_LIST(explanation, who_may, &explained_user_schema, 0, .max = EXPLAIN_WHO_MAX, .doc = "Who may do it as asked, at most 100"));

struct holder_row { struct uuid user_id; struct str name; struct json binding; };
SCHEMA_OF(holder_row, "A user and a role", FIELD(holder_row, user_id, 0, .doc = "User"), FIELD(holder_row, name, 0, .doc = "Name"),
    FIELD(holder_row, binding, 0, .doc = "The binding"));
static const struct stmt explain_holders = { .name = "explain_holders", .params = "uSiuU", .row = &holder_row_schema, .card = CARD_MANY, .sql =
    "SELECT u.user_id, u.name, jsonb_build_array(bindings_json(b)) AS binding\n"
    "  FROM role_binding b JOIN app_user u ON u.tenant_id = b.tenant_id AND u.user_id = b.user_id AND u.state = 'ACTIVE'\n"
    " WHERE b.tenant_id = $1 AND b.role = ANY ($2) AND ($4::uuid IS NULL OR b.binding_id > $4) AND b.user_id <> ALL ($5)\n"
    " ORDER BY b.binding_id LIMIT $3" };

const struct stmt *const explain_stmts[] = { &explain_holders, NULL };

static const char *const why[BINDING_VERDICT_COUNT] = {
    [BINDING_APPLIES] = "It gives the permission",
    [BINDING_APPLIES_IN_PROJECT] = "It gives the permission in its project only",
    [BINDING_LACKS] = "Its role does not have the permission there",
    [BINDING_NOT_YET] = "It is not valid yet",
    [BINDING_ENDED] = "It has ended",
    [BINDING_MFA] = "It asks for a recent second factor",
    [BINDING_ADDRESS] = "It does not hold from that address",
    [BINDING_ZONE] = "It does not hold in that zone",
    [BINDING_ZONE_UNKNOWN] = "It holds in some zones only, and the question names none",
    [BINDING_PROJECT] = "It holds in another project",
};

static const char *const place_words[] = { "platform", "zone", "tenant", "project" };

/* Roles that have the permission at all. */
static size_t roles_with(enum permission perm, struct str *ret)
{
    size_t n = 0;
    for (int r = 0; r < ROLE_COUNT; r++)
        if (r != ROLE_WORKER && role_permissions((enum role)r) & PERM_BIT(perm))
            ret[n++] = str_c(role_row((enum role)r)->wire);
    return n;
}

static void tell_missing(const struct explain_question *q, uint32_t verdicts, struct arena *a, struct explanation *ret)
{
    struct str *items = ARENA_ARRAY(a, struct str, BINDING_VERDICT_COUNT + 1), with[ROLE_COUNT];
    size_t n = 0;
    for (int v = BINDING_NOT_YET; v < BINDING_VERDICT_COUNT; v++)
        if (verdicts & UINT32_C(1) << v)
            items[n++] = str_c(why[v]);
    if (!n) {
        struct str text = str_fmt(a, "A role with %s:", perm_row(q->perm)->wire);
        size_t k = roles_with(q->perm, with);
        for (size_t i = 0; i < k; i++)
            text = str_fmt(a, "%.*s%s %.*s", STR_ARG(text), i ? "," : "", STR_ARG(with[i]));
        items[n++] = text;
    }
    ret->missing = (struct slice){ items, n };
}

void explain_bindings(const struct explain_question *q, struct slice bindings, struct arena *a, struct explanation *ret)
{
    const struct binding *b = bindings.items;
    struct explained_binding *out = ARENA_ARRAY(a, struct explained_binding, bindings.n + 1);
    uint32_t verdicts = 0;
    ret->permission = str_c(perm_row(q->perm)->wire);
    ret->rule = str_fmt(a, "missing:%s", perm_row(q->perm)->wire);
    for (size_t i = 0; i < bindings.n; i++) {
        enum binding_verdict v = binding_judge(&b[i], q->perm, q->mfa_us, &q->ctx);
        out[i] = (struct explained_binding){ b[i].binding_id, str_c(role_row(b[i].role)->wire), str_c(place_words[b[i].place]), b[i].zone,
                                             b[i].project_id, str_c(binding_verdict_names[v]), str_c(why[v]) };
        bool applies = v == BINDING_APPLIES || v == BINDING_APPLIES_IN_PROJECT;
        if (applies && !ret->allowed)
            ret->rule = str_fmt(a, "role:%s", role_row(b[i].role)->wire);
        else if (!ret->allowed && v != BINDING_LACKS)
            ret->rule = str_fmt(a, "condition:%s:%s", binding_verdict_names[v], perm_row(q->perm)->wire);
        ret->allowed |= applies;
        verdicts |= UINT32_C(1) << v;
    }
    ret->bindings = (struct slice){ out, bindings.n };
    if (!ret->allowed)
        tell_missing(q, verdicts, a, ret);
}

void explain_who(const struct explain_question *q, struct slice holders, struct arena *a, struct explanation *ret)
{
    const struct explain_holder *h = holders.items;
    struct explained_user *out = ret->who_may.items;
    size_t n = ret->who_may.n;
    if (!out)
        out = ARENA_ARRAY(a, struct explained_user, EXPLAIN_WHO_MAX);
    for (size_t i = 0; i < holders.n && n < EXPLAIN_WHO_MAX; i++) {
        enum binding_verdict v = binding_judge(&h[i].binding, q->perm, q->mfa_us, &q->ctx);
        bool seen = v != BINDING_APPLIES && v != BINDING_APPLIES_IN_PROJECT;
        for (size_t k = 0; k < n && !seen; k++)
            seen = uuid_eq(out[k].user_id, h[i].user_id);
        if (!seen)
            out[n++] = (struct explained_user){ h[i].user_id, h[i].name, str_c(role_row(h[i].binding.role)->wire) };
    }
    ret->who_may = (struct slice){ out, n };
}

/* Of users that are not found yet. *position: the last binding of the part before. *ret_more: there may be more behind it. */
static enum errc read_holders(struct work *w, enum permission perm, struct slice found, int64_t most, struct uuid *position, struct slice *ret,
                              bool *ret_more, struct err *e)
{
    struct str roles[ROLE_COUNT];
    struct uuid known[EXPLAIN_WHO_MAX];
    struct slice rows, one;
    size_t k = roles_with(perm, roles);
    for (size_t i = 0; i < found.n; i++)
        known[i] = ((const struct explained_user *)found.items)[i].user_id;
    TRY(db_many(w->tx, &explain_holders, ARGS(A_UUID(w->tenant_id), A_STRS(roles, k), A_I64(most), A_UUID_OR_NULL(*position),
                A_UUIDS(known, found.n)), &rows, (size_t)most, e));
    struct explain_holder *items = ARENA_ARRAY(w->arena, struct explain_holder, rows.n + 1);
    *ret = (struct slice){ items, 0 };
    *ret_more = rows.n == (size_t)most;
    for (size_t i = 0; i < rows.n; i++) {
        const struct holder_row *r = (const struct holder_row *)rows.items + i;
        TRY(bindings_read(r->binding, w->arena, &one, e));
        const struct binding *b = one.items;
        if (one.n)
            *position = b->binding_id;
        if (one.n && role_fits_place(b->role, b->place, uuid_is_nil(w->tenant_id)))
            items[ret->n++] = (struct explain_holder){ r->user_id, r->name, *b };
    }
    return ERR_OK;
}

enum errc explain_user(struct work *w, const struct explain_question *q, struct uuid user_id, struct explanation *ret, struct err *e)
{
    struct principal_row row;
    struct principal *p;
    struct slice holders;
    TRY(principal_find(w->tx, w->tenant_id, user_id, &row, e));
    TRY(principal_make(&row, AUTH_TOKEN, (struct slice){ 0 }, w->arena, &p, e));
    arena_defer(w->arena, (void (*)(void *))principal_unref, p);
    *ret = (struct explanation){ 0 };
    explain_bindings(q, p->bindings, w->arena, ret);
    if (ret->allowed && principal_check(&row, e) != ERR_OK) {
        struct str *text = ARENA_NEW(w->arena, struct str);
        *text = STR("The user and the tenant must be active");
        ret->allowed = false;
        ret->rule = STR("state:not_active");
        ret->missing = (struct slice){ text, 1 };
    }
    struct uuid position = UUID_NIL;
    bool more = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && more && ret->who_may.n < EXPLAIN_WHO_MAX; i++) {
        TRY(read_holders(w, q->perm, ret->who_may, parts[i], &position, &holders, &more, e));
        explain_who(q, holders, w->arena, ret);
    }
    return ERR_OK;
}
