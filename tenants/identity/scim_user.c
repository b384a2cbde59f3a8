/* SPDX-License-Identifier: Apache-2.0 */
/* scim_user.c - people between their rows and their trees. */
#include "tenants/identity/scim_user.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/access/binding.h"
#include "tenants/identity/scim_patch.h"
#include "tenants/identity/user.h"

struct person {
    struct uuid user_id;
    struct str name, state, external_id;
    int64_t version, off_version, candidates;
    struct json attributes, groups;
    struct timestamp created_at, updated_at;
};
SCHEMA_OF(person, "A person as provisioning sees it", FIELD_ID(person, user_id, "usr", 0, .doc = "The user"),
    FIELD(person, name, 0, .doc = "Name"), FIELD(person, state, 0, .doc = "State"), FIELD(person, external_id, 0, .doc = "The provider's id"),
    FIELD(person, version, 0, .doc = "Of app_user"), FIELD(person, off_version, 0, .doc = "Version with which SCIM switched it off"),
    FIELD(person, candidates, 0, .doc = "How many rows the filter's keys leave"), FIELD(person, attributes, 0, .doc = "Other attributes"),
    FIELD(person, groups, 0, .doc = "Groups"), FIELD(person, created_at, 0, .doc = "When"), FIELD(person, updated_at, 0, .doc = "When changed"));

#define PERSON_COLUMNS                                                                                                                       \
    "u.user_id, u.name, u.state, u.version, s.external_id, coalesce(s.off_version, 0) AS off_version, coalesce(s.attributes, '{}') AS attributes,\n" \
    "  coalesce(gg.groups, '[]') AS groups, u.created_at, coalesce(s.updated_at, u.created_at) AS updated_at"
#define PERSON_FROM(flag)                                                                                                                    \
    "app_user u LEFT JOIN scim_user s ON s.tenant_id = u.tenant_id AND s.user_id = u.user_id\n"                                              \
    "  LEFT JOIN LATERAL (SELECT jsonb_agg(jsonb_build_object('value', h.id, '$ref', '/scim/v2/Groups/' || h.id, 'display', h.name)) AS groups FROM\n" \
    "    (SELECT 'grp_' || replace(g.group_id::text, '-', '') AS id, g.name FROM group_member m JOIN user_group g\n"                         \
    "         ON g.tenant_id = m.tenant_id AND g.group_id = m.group_id\n"                                                                    \
    "      WHERE m.tenant_id = u.tenant_id AND m.user_id = u.user_id ORDER BY g.group_id DESC LIMIT 200) h) gg ON " flag "\n"                \
    " WHERE u.tenant_id = $1 AND u.kind = 'person' AND u.state <> 'DEACTIVATED'"
_Static_assert(SCIM_SHOWN_GROUPS_MAX == 200, "stands in the statement as text");

static const struct stmt person_get = { .name = "scim_user_get", .params = "uu", .row = &person_schema, .card = CARD_ONE, .sql =
    "SELECT " PERSON_COLUMNS " FROM " PERSON_FROM("true") " AND u.user_id = $2" };
static const struct stmt person_page = { .name = "scim_user_page", .params = "uii", .row = &person_schema, .card = CARD_MANY, .sql =
    "SELECT " PERSON_COLUMNS " FROM " PERSON_FROM("true") " ORDER BY u.user_id OFFSET $2 LIMIT $3" };
struct how_many { int64_t n; };
SCHEMA_OF(how_many, "How many", FIELD(how_many, n, 0, .doc = "How many"));
static const struct stmt person_count = { .name = "scim_user_count", .params = "u", .row = &how_many_schema, .card = CARD_ONE, .sql =
    "SELECT count(*) AS n FROM app_user WHERE tenant_id = $1 AND kind = 'person' AND state <> 'DEACTIVATED'" };
/* What the filter's keys leave, as far as it may be looked at: a row less than `candidates` tells that there would be more. */
static const struct stmt person_find = { .name = "scim_user_find", .params = "ussubii", .row = &person_schema, .card = CARD_MANY, .sql =
    "SELECT user_id, name, state, version, external_id, off_version, attributes, groups, created_at, updated_at, candidates FROM (\n"
    "  SELECT " PERSON_COLUMNS ", count(*) OVER () AS candidates,\n"
    "    sum(octet_length(coalesce(s.attributes::text, '')) + octet_length(coalesce(gg.groups::text, ''))) OVER (ORDER BY u.user_id) AS bytes\n"
    "  FROM " PERSON_FROM("$5") " AND ($2::text IS NULL OR lower(u.name) = lower($2)) AND ($3::text IS NULL OR s.external_id = $3)\n"
    "   AND ($4::uuid IS NULL OR u.user_id = $4)) x WHERE bytes <= $7 ORDER BY user_id LIMIT $6" };
static const struct stmt person_taken = { .name = "scim_user_taken", .params = "usu", .row = &how_many_schema, .card = CARD_ONE, .sql =
    "SELECT count(*) AS n FROM app_user WHERE tenant_id = $1 AND lower(name) = lower($2) AND user_id <> $3" };
static const struct stmt person_put = { .name = "scim_user_put", .params = "uusji", .card = CARD_ONE, .sql =
    "INSERT INTO scim_user (tenant_id, user_id, external_id, attributes, off_version) VALUES ($1, $2, $3, $4, nullif($5, 0))\n"
    "ON CONFLICT (tenant_id, user_id) DO UPDATE SET external_id = excluded.external_id, attributes = excluded.attributes,\n"
    "  off_version = excluded.off_version, updated_at = clock_timestamp()" };
static const struct stmt person_forget = { .name = "scim_user_forget", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM scim_user WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt person_leave = { .name = "scim_user_leave", .params = "uu", .card = CARD_NONE, .sql =
    "WITH gone AS (DELETE FROM group_member WHERE tenant_id = $1 AND user_id = $2 RETURNING group_id)\n"
    "UPDATE user_group g SET version = g.version + 1, updated_at = clock_timestamp() FROM gone WHERE g.tenant_id = $1 AND g.group_id = gone.group_id" };
static const struct stmt person_free_name = { .name = "scim_user_free_name", .params = "uu", .card = CARD_ONE, .sql =
    "UPDATE app_user SET name = left(name, 100) || ' (removed ' || right(user_id::text, 12) || ')' WHERE tenant_id = $1 AND user_id = $2" };

static const struct stmt person_strangers = { .name = "scim_user_strangers", .params = "uUus", .row = &how_many_schema,
    .card = CARD_ONE, .sql =
    "SELECT count(*) AS n FROM app_user u WHERE u.tenant_id = $1 AND u.user_id = ANY ($2) AND u.kind = 'person'\n"
    "   AND NOT coalesce(u.created_by = $3 OR EXISTS (SELECT FROM role_binding b WHERE b.tenant_id = u.tenant_id\n"
    "     AND b.user_id = u.created_by AND b.role = $4), false)" };

const struct stmt *const scim_user_stmts[] = { &person_strangers, &person_get, &person_page, &person_count, &person_find,
    &person_taken, &person_put, &person_forget,
                                               &person_leave, &person_free_name, NULL };

static enum errc tree_of(struct work *w, const struct person *p, struct sval **ret, struct err *e)
{
    const struct jval *attributes, *groups;
    struct sval *t, *list;
    TRY(jval_parse(w->arena, p->attributes.text, 0, &attributes, e));
    TRY(sval_resource(w->arena, &scim_user_resource, attributes, SVAL_STORED, &t, e));
    TRY(jval_parse(w->arena, p->groups.text, 0, &groups, e));
    TRY(sval_attr(w->arena, scim_attr_find(scim_user_resource.attrs, STR("groups")), groups, SVAL_STORED, &list, e));
    sval_set(t, "groups", list);
    sval_set(t, "userName", sval_string(w->arena, p->name));
    sval_set(t, "active", sval_bool(w->arena, str_eq_c(p->state, "ACTIVE")));
    if (p->external_id.ptr)
        sval_set(t, "externalId", sval_string(w->arena, p->external_id));
    scim_meta(w, &scim_user_resource, t, p->user_id, -1, p->created_at, p->updated_at);
    *ret = t;
    return ERR_OK;
}

static enum errc load(struct work *w, struct uuid id, struct person *p, struct sval **tree, struct err *e)
{
    TRY(db_one(w->tx, &person_get, ARGS(A_UUID(w->tenant_id), A_UUID(id)), p, e));
    return tree_of(w, p, tree, e);
}

/* What of the filter an index can answer, and all that this leaves. */
static enum errc find(struct work *w, const struct sfilter *f, struct slice *ret, struct err *e)
{
    struct str name = sfilter_key(f, "userName", NULL), external = sfilter_key(f, "externalId", NULL), id_str = sfilter_key(f, "id", NULL);
    struct uuid id = UUID_NIL;
    *ret = (struct slice){ NULL, 0 };
    if (id_str.ptr && !id_parse("usr", id_str, &id))
        return ERR_OK;
    TRY(db_many(w->tx, &person_find, ARGS(A_UUID(w->tenant_id), A_STR(name), A_STR(external), A_UUID_OR_NULL(id),
                A_BOOL(sfilter_mentions(f, "groups")), A_I64(SCIM_SCAN_MAX), A_I64(SCIM_SCAN_BYTES)), ret, SCIM_SCAN_MAX, e));
    return !ret->n || ((struct person *)ret->items)->candidates == (int64_t)ret->n ? ERR_OK
         : FAIL(e, SCIM_TOO_MANY, "Too many users to search with this filter; filter by userName, externalId or id with eq");
}

/* Trees live in an arena of their own while they are judged: there may be many, and a page keeps few. */
static enum errc sift(struct work *w, const struct sfilter *f, const struct scim_query *q, const struct slice *rows, struct sval **page,
                      size_t *n, int64_t *total, struct err *e)
{
    CLEANUP(arena_freep) struct arena *scratch = arena_new((size_t)128 << 20);
    struct work judge = *w;
    judge.arena = scratch;
    for (size_t i = 0; i < rows->n; i++) {
        struct person *p = (struct person *)rows->items + i, whole;
        struct sval *t;
        if (i % 256 == 0)
            arena_reset(scratch);
        TRY(tree_of(&judge, p, &t, e));
        if (!sfilter_match(f, t) || ++*total < scim_start(q) || *n >= (size_t)scim_count(q))
            continue;
        TRY(load(w, p->user_id, &whole, &page[*n], e));
        ++*n;
    }
    return ERR_OK;
}

enum errc scim_user_list(struct work *w, const struct scim_query *q, struct scim_answer *ret, struct err *e)
{
    struct sval **page = ARENA_ARRAY(w->arena, struct sval *, SCIM_PAGE_MAX);
    struct slice rows;
    struct how_many total = { 0 };
    size_t n = 0;
    if (q->filter.ptr) {
        const struct sfilter *f;
        TRY(sfilter_parse(w->arena, scim_user_resource.attrs, str_c(scim_user_resource.urn), q->filter, &f, e));
        TRY(find(w, f, &rows, e));
        TRY(sift(w, f, q, &rows, page, &n, &total.n, e));
        return scim_list(w, &scim_user_resource, page, n, total.n, q, ret, e);
    }
    TRY(db_one(w->tx, &person_count, ARGS(A_UUID(w->tenant_id)), &total, e));
    TRY(db_many(w->tx, &person_page, ARGS(A_UUID(w->tenant_id), A_I64(scim_start(q) - 1), A_I64(scim_count(q))), &rows, SCIM_PAGE_MAX, e));
    for (; n < rows.n; n++)
        TRY(tree_of(w, (struct person *)rows.items + n, &page[n], e));
    return scim_list(w, &scim_user_resource, page, n, total.n, q, ret, e);
}

enum errc scim_user_get(struct work *w, struct uuid id, const struct scim_select *select, struct scim_answer *ret, struct err *e)
{
    struct person p;
    struct sval *t;
    TRY(load(w, id, &p, &t, e));
    ret->id = id;
    return scim_one(w, &scim_user_resource, t, select, ret, e);
}

enum errc scim_check_made(struct work *w, struct slice users, struct err *e)
{
    struct how_many strangers;
    if (!users.n || authz_work(w, PERM_USER_MANAGE).allowed)
        return ERR_OK;
    TRY(db_one(w->tx, &person_strangers, ARGS(A_UUID(w->tenant_id), A_UUIDS(users.items, users.n), A_UUID(w->principal->user_id),
               A_TEXT(role_row(ROLE_PROVISIONER)->wire)), &strangers, e));
    return strangers.n ? FAIL(e, FORBIDDEN, "Provisioning changes the people that it made; an administrator of the tenant "
        "changes the others")
                       : ERR_OK;
}

static enum errc check_name_free(struct work *w, struct str name, struct uuid id, struct err *e)
{
    struct how_many taken;
    TRY(db_one(w->tx, &person_taken, ARGS(A_UUID(w->tenant_id), A_STR(name), A_UUID(id)), &taken, e));
    return taken.n ? FAIL_AT(e, EXISTS, "userName", "A user with that userName already exists") : ERR_OK;
}

static enum errc put(struct work *w, struct uuid id, const struct sval *t, int64_t off_version, struct err *e)
{
    static const char *const kept[] = { "name", "displayName", "emails" };
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    struct sval *attributes = sval_new(w->arena, SV_OBJECT);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        sval_set(attributes, kept[i], sval_copy(w->arena, sval_get(t, kept[i])));
    sval_print_value(attributes, &b);
    struct str external = sval_text(t, "externalId");
    enum errc rc = db_exec(w->tx, &person_put, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(external.len ? external : STR_NULL),
                           A_JSON(buf_str(&b)), A_I64(off_version)), NULL, e);
    return rc == ERR_EXISTS ? FAIL_AT(e, EXISTS, "externalId", "A user with that externalId already exists") : rc;
}

enum errc scim_user_create(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e)
{
    const struct jval *body;
    struct sval *t;
    struct app_user u;
    binding_lock(w);
    TRY(scim_body(w, in->body, &body, e));
    TRY(sval_resource(w->arena, &scim_user_resource, body, SVAL_INPUT, &t, e));
    TRY(sval_check(&scim_user_resource, t, e));
    struct str name = sval_text(t, "userName");
    const struct sval *active = sval_get(t, "active");
    TRY(check_name_free(w, name, UUID_NIL, e));
    TRY(user_create(w, name, STR("person"), (struct slice){ NULL, 0 }, &u, e));
    if (active && !active->flag)
        TRY(user_update(w, u.user_id, STR_NULL, STR("DISABLED"), -1, &u, e));
    TRY(put(w, u.user_id, t, active && !active->flag ? u.version : 0, e));
    ret->changed = scim_changed(w, &scim_user_resource, NULL, t);
    return scim_user_get(w, u.user_id, &in->select, ret, e);
}

/* Name and state of app_user; returns the version with which SCIM holds the user off, 0 when it does not. */
static enum errc settle(struct work *w, const struct person *p, struct str name, bool active, int64_t *off_version, bool *was_ended, struct err *e)
{
    bool is_active = str_eq_c(p->state, "ACTIVE"), is_off = p->off_version && p->off_version == p->version;
    bool renamed = !str_eq(name, p->name);
    struct app_user u = { .version = p->version };
    if (active && !is_active && !is_off)
        return FAIL_AT(e, CONFLICT, "active", "An administrator disabled this user; provisioning cannot enable it again");
    if (renamed)
        TRY(check_name_free(w, name, p->user_id, e));
    if (renamed || active != is_active)
        TRY(user_update(w, p->user_id, renamed ? name : STR_NULL, active == is_active ? STR_NULL : active ? STR("ACTIVE") : STR("DISABLED"), -1, &u, e));
    *was_ended = is_active && !active;
    *off_version = !active && (is_off || is_active) ? u.version : 0;
    return ERR_OK;
}

static enum errc save(struct work *w, const struct scim_write *in, const struct person *p, const struct sval *was, const struct sval *now,
                      struct scim_answer *ret, struct err *e)
{
    int64_t off_version;
    const struct sval *active = sval_get(now, "active");
    TRY(sval_check(&scim_user_resource, now, e));
    ret->changed = scim_changed(w, &scim_user_resource, was, now);
    if (ret->changed.ptr) {
        TRY(settle(w, p, sval_text(now, "userName"), active ? active->flag : str_eq_c(p->state, "ACTIVE"), &off_version, &ret->was_ended, e));
        TRY(put(w, p->user_id, now, off_version, e));
    }
    return scim_user_get(w, p->user_id, &in->select, ret, e);
}

static enum errc open_for_change(struct work *w, const struct scim_write *in, struct person *p, struct sval **was, struct err *e)
{
    binding_lock(w);
    TRY(load(w, in->id, p, was, e));
    TRY(scim_check_made(w, (struct slice){ &p->user_id, 1 }, e));
    return scim_check_match(in->if_match, sval_text(sval_get(*was, "meta"), "version"), e);
}

enum errc scim_user_replace(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e)
{
    const struct jval *body;
    struct person p;
    struct sval *was, *now;
    TRY(open_for_change(w, in, &p, &was, e));
    TRY(scim_body(w, in->body, &body, e));
    TRY(sval_resource(w->arena, &scim_user_resource, body, SVAL_INPUT, &now, e));
    if (!sval_get(now, "active"))
        sval_set(now, "active", sval_copy(w->arena, sval_get(was, "active")));
    return save(w, in, &p, was, now, ret, e);
}

enum errc scim_user_patch(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e)
{
    const struct jval *body;
    struct person p;
    struct sval *was;
    TRY(open_for_change(w, in, &p, &was, e));
    TRY(scim_body(w, in->body, &body, e));
    struct sval *now = sval_copy(w->arena, was);
    TRY(scim_patch(w->arena, &scim_user_resource, body, now, e));
    return save(w, in, &p, was, now, ret, e);
}

enum errc scim_user_delete(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e)
{
    struct person p;
    struct sval *was;
    TRY(open_for_change(w, in, &p, &was, e));
    db_queue(w->tx, &person_leave, ARGS(A_UUID(w->tenant_id), A_UUID(in->id)), false);
    db_queue(w->tx, &person_forget, ARGS(A_UUID(w->tenant_id), A_UUID(in->id)), false);
    TRY(user_deactivate(w, in->id, e));
    ret->id = in->id;
    ret->was_ended = true;
    return db_exec(w->tx, &person_free_name, ARGS(A_UUID(w->tenant_id), A_UUID(in->id)), NULL, e);
}
