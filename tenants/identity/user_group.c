/* SPDX-License-Identifier: Apache-2.0 */
/* user_group.c - groups, and bindings that follow them. */
#include "tenants/identity/user_group.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/binding.h"
#include "tenants/access/credential.h"
#include "tenants/access/second_person.h"
#include "tenants/access/principal_load.h"

SCHEMA_EXTERN(user_group, "A group of people, as the tenant's identity provider keeps it",
    FIELD_ID(user_group, group_id, "grp", F_ALWAYS, .doc = "The group"),
    FIELD(user_group, name, F_ALWAYS, .doc = "Name, unique in the tenant"),
    FIELD(user_group, external_id, 0, .doc = "The provider's own id"),
    FIELD(user_group, role, 0, .doc = "What its members hold in the whole tenant; absent: nothing"),
    FIELD_ID(user_group, role_set_by, "usr", 0, .doc = "Who said so"), FIELD(user_group, members, 0, .doc = "How many are in it"),
    FIELD(user_group, version, 0, .doc = "Grows with every change"),
    FIELD(user_group, created_at, F_ALWAYS, .doc = "When it was made"),
    FIELD(user_group, updated_at, F_ALWAYS, .doc = "When it was last changed"));

#define GROUP_COLUMNS                                                                                                                     \
    "g.group_id, g.name, g.external_id, g.role, g.role_set_by, g.version, g.created_at, g.updated_at,\n"                                \
    "  (SELECT count(*) FROM group_member m WHERE m.tenant_id = g.tenant_id AND m.group_id = g.group_id) AS members"

static const struct stmt group_get_stmt = { .name = "user_group_get", .params = "uu", .row = &user_group_schema, .card = CARD_ONE, .sql =
    "SELECT " GROUP_COLUMNS " FROM user_group g WHERE g.tenant_id = $1 AND g.group_id = $2" };
static const struct stmt group_list_stmt = { .name = "user_group_list", .params = "uui", .row = &user_group_schema, .card = CARD_MANY, .sql =
    "SELECT " GROUP_COLUMNS " FROM user_group g WHERE g.tenant_id = $1 AND ($2::uuid IS NULL OR g.group_id < $2)\n"
    " ORDER BY g.group_id DESC LIMIT $3" };
static const struct stmt group_role_stmt = { .name = "user_group_role", .params = "uusui", .row = &user_group_schema, .card = CARD_MAYBE, .sql =
    "UPDATE user_group g SET role = $3, role_set_by = $4, version = g.version + 1, updated_at = clock_timestamp()\n"
    " WHERE g.tenant_id = $1 AND g.group_id = $2 AND ($5 = -1 OR g.version = $5) RETURNING " GROUP_COLUMNS };
struct member_ref { struct uuid user_id; };
SCHEMA_OF(member_ref, "Who is in a group", FIELD_ID(member_ref, user_id, "usr", 0, .doc = "The user"));
static const struct stmt group_users = { .name = "user_group_users", .params = "uui", .row = &member_ref_schema, .card = CARD_MANY, .sql =
    "SELECT user_id FROM group_member WHERE tenant_id = $1 AND group_id = $2 ORDER BY user_id LIMIT $3" };
static const struct stmt follow_out = { .name = "group_follow_out", .params = "uU", .card = CARD_NONE, .sql =
    "DELETE FROM role_binding b WHERE b.tenant_id = $1 AND b.source = 'scim' AND b.user_id = ANY ($2) AND NOT EXISTS (\n"
    "  SELECT FROM group_member m JOIN user_group g ON g.tenant_id = m.tenant_id AND g.group_id = m.group_id\n"
    "   WHERE m.tenant_id = b.tenant_id AND m.user_id = b.user_id AND g.role = b.role)" };
static const struct stmt follow_in = { .name = "group_follow_in", .params = "uUS", .card = CARD_NONE, .sql =
    "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by, source)\n"
    "SELECT DISTINCT ON (m.user_id, g.role) m.tenant_id, gen_random_uuid(), m.user_id, g.role, g.role_set_by, 'scim'\n"
    "  FROM group_member m JOIN user_group g ON g.tenant_id = m.tenant_id AND g.group_id = m.group_id AND g.role <> ALL ($3)\n"
    "  JOIN app_user u ON u.tenant_id = m.tenant_id AND u.user_id = m.user_id AND u.state <> 'DEACTIVATED'\n"
    " WHERE m.tenant_id = $1 AND m.user_id = ANY ($2) ORDER BY m.user_id, g.role, g.group_id ON CONFLICT DO NOTHING" };
struct breach { struct uuid user_id; bool is_mixed; };
SCHEMA_OF(breach, "A person whose roles do not go together", FIELD_ID(breach, user_id, "usr", 0, .doc = "The user"),
    FIELD(breach, is_mixed, 0, .doc = "The officer's role and another; else too many"));
static const struct stmt follow_breach = { .name = "group_follow_breach", .params = "uUsi", .row = &breach_schema, .card = CARD_MAYBE, .sql =
    "SELECT user_id, bool_or(role = $3) AND bool_or(role <> $3) AS is_mixed FROM role_binding WHERE tenant_id = $1 AND user_id = ANY ($2)\n"
    " GROUP BY user_id HAVING (bool_or(role = $3) AND bool_or(role <> $3)) OR count(*) > $4 LIMIT 1" };

const struct stmt *const user_group_stmts[] = { &group_get_stmt, &group_list_stmt, &group_role_stmt, &group_users, &follow_out, &follow_in,
                                                &follow_breach, NULL };

enum { MEMBERS_MAX = 5000 };

enum errc user_group_get(struct work *w, struct uuid group_id, struct user_group *ret, struct err *e)
{
    return db_one(w->tx, &group_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(group_id)), ret, e);
}

enum errc user_group_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &group_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc group_bindings_follow(struct work *w, struct slice users, struct err *e)
{
    struct breach b;
    bool found;
    if (!users.n)
        return ERR_OK;
    TRY(db_exec(w->tx, &follow_out, ARGS(A_UUID(w->tenant_id), A_UUIDS(users.items, users.n)), NULL, e));
    /* Who takes two people is never given by whoever fills a group; an older release let a group have such a role. */
    struct str appointed[ROLE_COUNT];
    size_t n = 0;
    for (int r = 0; r < ROLE_COUNT; r++)
        if (role_takes_two((enum role)r))
            appointed[n++] = str_c(role_row((enum role)r)->wire);
    TRY(db_exec(w->tx, &follow_in, ARGS(A_UUID(w->tenant_id), A_UUIDS(users.items, users.n), A_STRS(appointed, n)), NULL, e));
    TRY(db_maybe(w->tx, &follow_breach, ARGS(A_UUID(w->tenant_id), A_UUIDS(users.items, users.n),
                 A_TEXT(role_row(ROLE_COMPLIANCE_OFFICER)->wire), A_I64(BINDINGS_MAX)), &b, &found, e));
    if (found && b.is_mixed)
        return FAIL(e, CONFLICT, "The role compliance-officer cannot be combined with another role, and %s would hold both",
                    str_z(w->arena, id_text(w->arena, "usr", b.user_id)));
    if (found)
        return FAIL(e, CONFLICT, "A user holds at most %d role bindings", BINDINGS_MAX);
    return binding_check_last_admin(w, e);
}

static enum errc check_role(struct work *w, struct str wire, struct err *e)
{
    int r = role_by_wire(wire);
    if (r < 0)
        return role_unknown(w, "/role", wire, e);
    struct binding wanted = { .role = (enum role)r, .place = BOUND_TENANT };
    if (!role_fits_place(wanted.role, BOUND_TENANT, uuid_is_nil(w->tenant_id)) || r == ROLE_PROVISIONER || r == ROLE_SERVICE_ACCOUNT)
        return FAIL_AT(e, UNPROCESSABLE, "/role", "The role %s cannot be given to people of a tenant",
            role_row(wanted.role)->wire);
    /* Provisioning decides who is in the group, and who gives it this role may have set provisioning up. */
    return credential_for_role(w, wanted.role, e);
}

enum errc group_role_set(struct work *w, struct uuid group_id, struct str role, int64_t version, struct user_group *ret, struct err *e)
{
    struct user_group was;
    struct slice users;
    bool found;
    binding_lock(w);
    TRY(user_group_get(w, group_id, &was, e));
    if (role.ptr)
        TRY(check_role(w, role, e));
    TRY(db_maybe(w->tx, &group_role_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(group_id), A_STR(role),
                 A_UUID_OR_NULL(role.ptr ? w->principal->user_id : UUID_NIL), A_I64(version)), ret, &found, e));
    if (!found)
        return FAIL(e, PRECONDITION, "The group has changed since you read it");
    TRY(db_many(w->tx, &group_users, ARGS(A_UUID(w->tenant_id), A_UUID(group_id), A_I64(MEMBERS_MAX + 1)), &users, MEMBERS_MAX + 1, e));
    return group_bindings_follow(w, users, e);
}
