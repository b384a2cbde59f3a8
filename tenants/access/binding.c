/* SPDX-License-Identifier: Apache-2.0 */
/* binding.c - role bindings. */
#include "tenants/access/binding.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/cidr.h"
#include "tenants/access/principal_load.h"
#include "tenants/access/second_person.h"

SCHEMA_EXTERN(role_binding, "A role that a user holds, where and under which conditions",
    FIELD_ID(role_binding, binding_id, "rlb", F_ALWAYS, .doc = "The binding"),
    FIELD_ID(role_binding, user_id, "usr", F_ALWAYS, .doc = "The user"),
    FIELD(role_binding, role, F_ALWAYS, .doc = "The role"),
    FIELD(role_binding, place, F_ALWAYS, .doc = "platform, zone, tenant or project"),
    FIELD(role_binding, zone, 0, .doc = "The zone, of a role held in a zone"),
    FIELD_ID(role_binding, project_id, "prj", 0, .doc = "The project, of a role held in a project"),
    FIELD(role_binding, valid_from, 0, .doc = "Holds from then on"), FIELD(role_binding, valid_until, 0, .doc = "Holds until then"),
    FIELD(role_binding, mfa_age_seconds, 0, .doc = "Holds with a second factor at most so old; 0: without"),
    FIELD(role_binding, cidrs, F_ALWAYS, .doc = "Holds from these networks; empty: from anywhere"),
    FIELD(role_binding, in_zones, F_ALWAYS, .doc = "Holds on resources of these zones; empty: of every zone"),
    FIELD(role_binding, source, F_ALWAYS, .doc = "direct, or made by a group or an invitation"),
    FIELD_ID(role_binding, created_by, "usr", F_ALWAYS, .doc = "Who granted it"),
    FIELD(role_binding, created_at, F_ALWAYS, .doc = "When"));

const char *const binding_place_names[] = { "platform", "zone", "tenant", "project", NULL };

#define BINDING_COLUMNS                                                                                                          \
    "binding_id, user_id, role, CASE WHEN tenant_id = '00000000-0000-0000-0000-000000000000' AND place = 'tenant' THEN 'platform'\n" \
    "  ELSE place END AS place, zone, project_id, valid_from, valid_until, coalesce(mfa_age_s, 0) AS mfa_age_seconds,\n"          \
    "  to_jsonb(cidrs::text[]) AS cidrs, to_jsonb(in_zones) AS in_zones, source, created_by, created_at"

static const struct stmt binding_insert = { .name = "binding_insert", .params = "uuususuttiSSss", .row = &role_binding_schema, .card = CARD_ONE,
    .sql = "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by, zone, project_id, valid_from, valid_until, mfa_age_s,\n"
           "  cidrs, in_zones, place, source)\n"
           "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, 0), $11::text[]::cidr[], $12, $13, $14) RETURNING " BINDING_COLUMNS };
static const struct stmt binding_delete = { .name = "binding_delete", .params = "uu", .row = &role_binding_schema, .card = CARD_ONE, .sql =
    "DELETE FROM role_binding WHERE tenant_id = $1 AND binding_id = $2 RETURNING " BINDING_COLUMNS };
static const struct stmt binding_list = { .name = "binding_list", .params = "uuuusssi", .row = &role_binding_schema, .card = CARD_MANY, .sql =
    "SELECT " BINDING_COLUMNS " FROM role_binding\n"
    " WHERE tenant_id = $1 AND ($2::uuid IS NULL OR binding_id < $2) AND ($3::uuid IS NULL OR user_id = $3)\n"
    "   AND ($4::uuid IS NULL OR project_id = $4) AND ($5::text IS NULL OR role = $5) AND ($7::text IS NULL OR zone = $7)\n"
    "   AND ($6::text IS NULL OR $6 = CASE WHEN tenant_id = '00000000-0000-0000-0000-000000000000' AND place = 'tenant' THEN 'platform'\n"
    "        ELSE place END) ORDER BY binding_id DESC LIMIT $8" };

struct target { struct str user_state; int64_t held; struct json roles; bool has_project, has_zone; };
SCHEMA_OF(target, "Whom a role is for", FIELD(target, user_state, 0, .doc = "State"), FIELD(target, held, 0, .doc = "Bindings held"),
    FIELD(target, roles, 0, .doc = "Roles held"), FIELD(target, has_project, 0, .doc = "The project is there and open"),
    FIELD(target, has_zone, 0, .doc = "The zones are there"));
static const struct stmt binding_target = { .name = "binding_target", .params = "uuuS", .row = &target_schema, .card = CARD_ONE, .sql =
    "SELECT u.state AS user_state, (SELECT count(*) FROM role_binding b WHERE b.tenant_id = u.tenant_id AND b.user_id = u.user_id) AS held,\n"
    "       (SELECT coalesce(jsonb_agg(DISTINCT b.role), '[]') FROM role_binding b WHERE b.tenant_id = u.tenant_id AND b.user_id = u.user_id) AS roles,\n"
    "       $3::uuid IS NULL OR EXISTS (SELECT FROM project p WHERE p.tenant_id = u.tenant_id AND p.project_id = $3 AND p.state = 'ACTIVE')\n"
    "         AS has_project,\n"
    "       NOT EXISTS (SELECT FROM unnest($4::text[]) AS z(code) WHERE NOT EXISTS (SELECT FROM zone WHERE zone.code = z.code)) AS has_zone\n"
    "  FROM app_user u WHERE u.tenant_id = $1 AND u.user_id = $2" };
struct admins { int64_t n; };
SCHEMA_OF(admins, "How many administer without condition", FIELD(admins, n, 0, .doc = "How many"));
static const struct stmt binding_admins = { .name = "binding_admins", .params = "us", .row = &admins_schema, .card = CARD_ONE, .sql =
    "SELECT count(DISTINCT b.user_id) AS n FROM role_binding b JOIN app_user u ON u.tenant_id = b.tenant_id AND u.user_id = b.user_id\n"
    " WHERE b.tenant_id = $1 AND b.role = $2 AND b.place IN ('tenant', 'platform') AND b.valid_from IS NULL AND b.valid_until IS NULL\n"
    "   AND b.mfa_age_s IS NULL AND b.cidrs = '{}' AND b.in_zones = '{}' AND u.state = 'ACTIVE'" };
static const struct stmt tenant_rev = { .name = "tenant_rev", .params = "u", .card = CARD_NONE, .sql =
    "UPDATE tenant SET authz_rev = authz_rev + 1 WHERE tenant_id = $1" };

static const struct stmt binding_end_tokens = { .name = "binding_end_tokens", .params = "uu", .card = CARD_NONE, .sql =
    "WITH links AS (DELETE FROM federated_user WHERE tenant_id = $1 AND user_id = $2 AND linked_by IS NOT NULL),\n"
    "subjects AS (DELETE FROM issuer_subject WHERE tenant_id = $1 AND user_id = $2)\n"
    "UPDATE api_token SET revoked_at = clock_timestamp() WHERE tenant_id = $1 AND user_id = $2 AND revoked_at IS NULL" };

const struct stmt *const binding_stmts[] = { &binding_insert, &binding_delete, &binding_list, &binding_target, &binding_admins, &tenant_rev,
                                             &binding_end_tokens, NULL };

void binding_lock(struct work *w)
{
    db_queue(w->tx, &tenant_rev, ARGS(A_UUID(w->tenant_id)), false);
}

static enum errc find_place(const struct work *w, const struct binding_new *in, struct binding *b, struct err *e)
{
    bool at_platform = uuid_is_nil(w->tenant_id);
    enum binding_place wide = at_platform ? BOUND_PLATFORM : BOUND_TENANT;
    b->place = in->has_place ? (enum binding_place)in->place : in->zone.ptr ? BOUND_ZONE : !uuid_is_nil(in->project_id) ? BOUND_PROJECT : wide;
    if ((b->place == BOUND_ZONE) != (in->zone.ptr != NULL))
        return FAIL_AT(e, INVALID, "/zone", "Name a zone exactly when the role is held in a zone");
    if ((b->place == BOUND_PROJECT) != !uuid_is_nil(in->project_id))
        return FAIL_AT(e, INVALID, "/project_id", "Name a project exactly when the role is held in a project");
    if (!role_fits_place(b->role, b->place, at_platform))
        return FAIL_AT(e, UNPROCESSABLE, "/role", "The role %s cannot be bound at a %s here", role_row(b->role)->wire,
            binding_place_names[b->place]);
    b->zone = in->zone;
    b->project_id = in->project_id;
    return ERR_OK;
}

static enum errc find_conditions(struct work *w, const struct binding_new *in, struct binding *b, struct err *e)
{
    b->valid_from_us = in->valid_from.us;
    b->valid_until_us = in->valid_until.us;
    b->mfa_age_s = in->mfa_age_seconds;
    b->in_zones = in->in_zones;
    if (b->valid_until_us && (b->valid_until_us <= w->now_us || b->valid_until_us <= b->valid_from_us))
        return FAIL_AT(e, INVALID, "/valid_until", "must be in the future and after valid_from");
    struct cidr *nets = in->cidrs.n ? ARENA_ARRAY(w->arena, struct cidr, in->cidrs.n) : NULL;
    for (size_t i = 0; i < in->cidrs.n; i++)
        if (!cidr_parse(((struct str *)in->cidrs.items)[i], &nets[i])) {
            FAIL(e, INVALID, "must be a network such as 192.0.2.0/24, with no bits set after its prefix");
            return err_field(e, "/cidrs/%zu", i);
        }
    b->cidrs = (struct slice){ nets, in->cidrs.n };
    return ERR_OK;
}

enum errc role_unknown(const struct work *w, const char *pointer, struct str name, struct err *e)
{
    CLEANUP(buf_releasep) struct buf all = BUF(4096);
    for (int r = 0; r < ROLE_COUNT; r++) {
        if (role_fits((enum role)r, uuid_is_nil(w->tenant_id)))
            buf_printf(&all, "%s%s", all.len ? ", " : "", role_row((enum role)r)->wire);
    }
    return FAIL_AT(e, INVALID, pointer, "There is no role %.*s; there are %.*s", (int)(name.len < 64 ? name.len : 64), name.ptr,
                   STR_ARG(buf_str(&all)));
}

/* From what was asked for to a binding that this granter may give. */
static enum errc check_grant(struct work *w, const struct binding_new *in, struct binding *b, struct err *e)
{
    int r = role_by_wire(in->role);
    enum permission missing;
    if (r < 0)
        return role_unknown(w, "/role", in->role, e);
    b->role = (enum role)r;
    TRY(find_place(w, in, b, e));
    TRY(find_conditions(w, in, b, e));
    if (!in->is_appointed && role_takes_two(b->role) && second_person_asked(w->app))
        return FAIL_AT(e, SEPARATION, "/role", "The role %s decides for others, so appointing to it takes two people: ask with "
            "POST "
                       "/v1/appointments, and another person approves", role_row(b->role)->wire);
    struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip };
    /* A program of one's own needs no role:grant, but nothing beyond what its maker holds without condition. */
    if (in->is_own_program && authz_work(w, PERM_TOKEN_SERVICE).allowed && !(role_permissions(b->role) & ~w->principal->always))
        return ERR_OK;
    if (!authz_may_grant(w->principal, b, &ctx, &missing))
        return FAIL(e, FORBIDDEN, "You cannot grant the role %s there: it needs the permission %s, which you do not hold",
            role_row(b->role)->wire,
                    perm_row(missing)->wire);
    return ERR_OK;
}

static enum errc check_target(struct work *w, const struct binding_new *in, const struct binding *b, struct err *e)
{
    struct target t;
    size_t n = in->in_zones.n;
    struct str *zones = ARENA_ARRAY(w->arena, struct str, n + 1);
    for (size_t i = 0; i < n; i++)
        zones[i] = ((struct str *)in->in_zones.items)[i];
    if (in->zone.ptr)
        zones[n++] = in->zone;
    TRY(db_one(w->tx, &binding_target, ARGS(A_UUID(w->tenant_id), A_UUID(in->user_id), A_UUID_OR_NULL(in->project_id), A_STRS(zones, n)), &t, e));
    if (!t.has_project)
        return FAIL_AT(e, NOT_FOUND, "/project_id", "The project does not exist or is closed");
    if (!t.has_zone)
        return FAIL_AT(e, UNPROCESSABLE, in->zone.ptr ? "/zone" : "/in_zones", "The zone does not exist");
    if (!str_eq_c(t.user_state, "ACTIVE"))
        return FAIL_AT(e, CONFLICT, "/user_id", "The user is not active");
    if (t.held >= BINDINGS_MAX)
        return FAIL(e, LIMIT, "A user holds at most %d role bindings", BINDINGS_MAX);
    uint32_t roles = UINT32_C(1) << b->role;
    struct slice held = string_array(w->arena, t.roles.text);
    for (size_t i = 0; i < held.n; i++) {
        int h = role_by_wire(((struct str *)held.items)[i]);
        roles |= h >= 0 ? UINT32_C(1) << h : 0;
    }
    return roles_are_separate(roles) ? ERR_OK : FAIL_AT(e, CONFLICT, "/role",
        "The role compliance-officer cannot be combined with any other role");
}

enum errc binding_check(struct work *w, const struct binding_new *in, struct err *e)
{
    struct binding b = { 0 };
    return check_grant(w, in, &b, e);
}

enum errc binding_grant(struct work *w, const struct binding_new *in, struct role_binding *ret, struct err *e)
{
    struct binding b = { 0 };
    TRY(check_grant(w, in, &b, e));
    binding_lock(w);
    TRY(check_target(w, in, &b, e));
    enum errc rc = db_one(w->tx, &binding_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID(in->user_id), A_STR(in->role),
        A_UUID(w->principal->user_id), A_STR(in->zone), A_UUID_OR_NULL(in->project_id), A_TIME(in->valid_from), A_TIME(in->valid_until),
        A_I64(in->mfa_age_seconds), A_STRS(in->cidrs.items, in->cidrs.n), A_STRS(in->in_zones.items, in->in_zones.n),
        A_TEXT(binding_place_names[b.place]), A_STR(in->source.ptr ? in->source : STR("direct"))), ret, e);
    if (rc == ERR_EXISTS)
        return FAIL(e, EXISTS, "The user already holds that role there");
    TRY(rc);
    struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip };
    enum permission missing;
    if (!authz_may_act_as(w->principal, &b, &ctx, &missing))
        db_queue(w->tx, &binding_end_tokens, ARGS(A_UUID(w->tenant_id), A_UUID(in->user_id)), false);
    return ERR_OK;
}

enum errc role_grant(struct work *w, struct uuid user_id, struct str role, struct role_binding *ret, struct err *e)
{
    return binding_grant(w, &(struct binding_new){ .user_id = user_id, .role = role }, ret, e);
}

enum errc binding_check_last_admin(struct work *w, struct err *e)
{
    struct admins left;
    const char *role = role_row(uuid_is_nil(w->tenant_id) ? ROLE_PLATFORM_ADMIN : ROLE_TENANT_ADMIN)->wire;
    TRY(db_one(w->tx, &binding_admins, ARGS(A_UUID(w->tenant_id), A_TEXT(role)), &left, e));
    return left.n ? ERR_OK : FAIL(e, CONFLICT, "The last %s cannot be removed", role);
}

enum errc role_revoke(struct work *w, struct uuid binding_id, struct err *e)
{
    struct role_binding b;
    binding_lock(w);
    TRY(db_one(w->tx, &binding_delete, ARGS(A_UUID(w->tenant_id), A_UUID(binding_id)), &b, e));
    int r = role_by_wire(b.role);
    return r == ROLE_TENANT_ADMIN || r == ROLE_PLATFORM_ADMIN ? binding_check_last_admin(w, e) : ERR_OK;
}

enum errc role_binding_list(struct work *w, const struct binding_filter *f, struct uuid position, int64_t limit, struct slice *ret,
                            struct err *e)
{
    return db_many(w->tx, &binding_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_UUID_OR_NULL(f->user_id),
                   A_UUID_OR_NULL(f->project_id), A_STR(f->role), A_STR(f->place), A_STR(f->zone), A_I64(limit)), ret, (size_t)limit, e);
}
