/* SPDX-License-Identifier: Apache-2.0 */
/* scim_group.c - groups between their rows and their trees. Members are read for all groups of an answer by one statement. */
#include "tenants/identity/scim_group.h"
#include "core/db/tx.h"
#include "tenants/access/binding.h"
#include "tenants/identity/scim_patch.h"
#include "tenants/identity/user_group.h"

#include <stdlib.h>

struct group {
    struct uuid group_id;
    struct str name, external_id;
    int64_t version;
    struct timestamp created_at, updated_at;
};
SCHEMA_OF(group, "A group as provisioning sees it", FIELD_ID(group, group_id, "grp", 0, .doc = "The group"), FIELD(group, name, 0, .doc = "Name"),
    FIELD(group, external_id, 0, .doc = "The provider's id"), FIELD(group, version, 0, .doc = "Grows with every change"), FIELD(group, created_at, 0, .doc = "When"),
    FIELD(group, updated_at, 0, .doc = "When changed"));
struct member { struct uuid group_id, user_id; struct str name; };
SCHEMA_OF(member, "Who is in which group", FIELD_ID(member, group_id, "grp", 0, .doc = "The group"),
    FIELD_ID(member, user_id, "usr", 0, .doc = "The user"), FIELD(member, name, 0, .doc = "The user's name"));
struct group_count { int64_t n; };
SCHEMA_OF(group_count, "How many", FIELD(group_count, n, 0, .doc = "How many"));

#define GROUP_COLUMNS "g.group_id, g.name, g.external_id, g.version, g.created_at, g.updated_at"

static const struct stmt group_get = { .name = "scim_group_get", .params = "uu", .row = &group_schema, .card = CARD_ONE, .sql =
    "SELECT " GROUP_COLUMNS " FROM user_group g WHERE g.tenant_id = $1 AND g.group_id = $2" };
static const struct stmt group_find = { .name = "scim_group_find", .params = "ussuuii", .row = &group_schema, .card = CARD_MANY, .sql =
    "SELECT " GROUP_COLUMNS " FROM user_group g WHERE g.tenant_id = $1 AND ($2::text IS NULL OR lower(g.name) = lower($2))\n"
    "   AND ($3::text IS NULL OR g.external_id = $3) AND ($4::uuid IS NULL OR g.group_id = $4) AND ($5::uuid IS NULL OR EXISTS (\n"
    "     SELECT FROM group_member m WHERE m.tenant_id = g.tenant_id AND m.group_id = g.group_id AND m.user_id = $5))\n"
    " ORDER BY g.group_id OFFSET $6 LIMIT $7" };
static const struct stmt group_count_stmt = { .name = "scim_group_count", .params = "u", .row = &group_count_schema, .card = CARD_ONE, .sql =
    "SELECT count(*) AS n FROM user_group WHERE tenant_id = $1" };
static const struct stmt group_members = { .name = "scim_group_members", .params = "uUi", .row = &member_schema, .card = CARD_MANY, .sql =
    "SELECT m.group_id, m.user_id, u.name FROM group_member m JOIN app_user u ON u.tenant_id = m.tenant_id AND u.user_id = m.user_id\n"
    " WHERE m.tenant_id = $1 AND m.group_id = ANY ($2) ORDER BY m.group_id, m.user_id LIMIT $3" };
static const struct stmt group_insert = { .name = "scim_group_insert", .params = "uuss", .card = CARD_ONE, .sql =
    "INSERT INTO user_group (tenant_id, group_id, name, external_id) VALUES ($1, $2, $3, $4)" };
static const struct stmt group_put = { .name = "scim_group_put", .params = "uuss", .card = CARD_ONE, .sql =
    "UPDATE user_group SET name = $3, external_id = $4, version = version + 1, updated_at = clock_timestamp()\n"
    " WHERE tenant_id = $1 AND group_id = $2" };
static const struct stmt group_join = { .name = "scim_group_join", .params = "uuU", .card = CARD_NONE, .sql =
    "INSERT INTO group_member (tenant_id, group_id, user_id)\n"
    "SELECT u.tenant_id, $2, u.user_id FROM app_user u WHERE u.tenant_id = $1 AND u.user_id = ANY ($3) AND u.kind = 'person'\n"
    "   AND u.state <> 'DEACTIVATED'" };
static const struct stmt group_leave = { .name = "scim_group_leave", .params = "uuU", .card = CARD_NONE, .sql =
    "DELETE FROM group_member WHERE tenant_id = $1 AND group_id = $2 AND user_id = ANY ($3)" };
static const struct stmt group_delete = { .name = "scim_group_delete", .params = "uu", .card = CARD_ONE, .sql =
    "DELETE FROM user_group WHERE tenant_id = $1 AND group_id = $2" };

const struct stmt *const scim_group_stmts[] = { &group_get, &group_find, &group_count_stmt, &group_members, &group_insert, &group_put, &group_join,
                                                &group_leave, &group_delete, NULL };

static struct sval *member_tree(struct work *w, const struct member *m)
{
    struct sval *v = sval_new(w->arena, SV_OBJECT);
    struct str id = id_text(w->arena, "usr", m->user_id);
    sval_set(v, "value", sval_string(w->arena, id));
    sval_set(v, "$ref", sval_string(w->arena, str_fmt(w->arena, "/scim/v2/Users/%.*s", STR_ARG(id))));
    sval_set(v, "type", sval_string(w->arena, STR("User")));
    sval_set(v, "display", sval_string(w->arena, m->name));
    return v;
}

/* Trees of n groups, in their order by id; members of all of them by one statement, or without. */
static enum errc trees(struct work *w, const struct group *g, size_t n, bool with_members, struct sval **ret, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    struct slice rows = { NULL, 0 };
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        ids[i] = g[i].group_id;
    if (with_members)
        TRY(db_many(w->tx, &group_members, ARGS(A_UUID(w->tenant_id), A_UUIDS(ids, n), A_I64(SCIM_SHOWN_MEMBERS_MAX + 1)), &rows,
                    SCIM_SHOWN_MEMBERS_MAX + 1, e));
    if (rows.n > SCIM_SHOWN_MEMBERS_MAX)
        return FAIL(e, SCIM_TOO_MANY, "The groups have more than %d members; ask for fewer groups", SCIM_SHOWN_MEMBERS_MAX);
    const struct member *m = rows.items;
    for (size_t i = 0; i < n; i++) {
        struct sval *t = sval_new(w->arena, SV_OBJECT), *list = sval_new(w->arena, SV_LIST);
        sval_set(t, "displayName", sval_string(w->arena, g[i].name));
        if (g[i].external_id.ptr)
            sval_set(t, "externalId", sval_string(w->arena, g[i].external_id));
        for (; at < rows.n && uuid_eq(m[at].group_id, g[i].group_id); at++)
            sval_append(list, member_tree(w, &m[at]));
        sval_set(t, "members", list);
        scim_meta(w, &scim_group_resource, t, g[i].group_id, g[i].version, g[i].created_at, g[i].updated_at);
        ret[i] = t;
    }
    return ERR_OK;
}

static enum errc find(struct work *w, const struct sfilter *f, int64_t offset, int64_t limit, struct slice *ret, struct err *e)
{
    struct str name = STR_NULL, external = STR_NULL, id_str = STR_NULL, member_str = STR_NULL;
    struct uuid id = UUID_NIL, user = UUID_NIL;
    if (f) {
        name = sfilter_key(f, "displayName", NULL);
        external = sfilter_key(f, "externalId", NULL);
        id_str = sfilter_key(f, "id", NULL);
        member_str = sfilter_key(f, "members", "value");
    }
    *ret = (struct slice){ NULL, 0 };
    if ((id_str.ptr && !id_parse("grp", id_str, &id)) || (member_str.ptr && !id_parse("usr", member_str, &user)))
        return ERR_OK;
    return db_many(w->tx, &group_find, ARGS(A_UUID(w->tenant_id), A_STR(name), A_STR(external), A_UUID_OR_NULL(id), A_UUID_OR_NULL(user),
                   A_I64(offset), A_I64(limit)), ret, (size_t)limit, e);
}

static enum errc sift(struct work *w, const struct scim_query *q, struct sval **page, size_t *n, int64_t *total, struct err *e)
{
    const struct sfilter *f;
    struct slice rows;
    TRY(sfilter_parse(w->arena, scim_group_resource.attrs, str_c(scim_group_resource.urn), q->filter, &f, e));
    TRY(find(w, f, 0, SCIM_SCAN_MAX + 1, &rows, e));
    if (rows.n > SCIM_SCAN_MAX)
        return FAIL(e, SCIM_TOO_MANY,
            "Too many groups to search with this filter; filter by displayName, externalId or id with eq");
    struct sval **all = ARENA_ARRAY(w->arena, struct sval *, rows.n + 1);
    bool with_members = sfilter_mentions(f, "members") || sval_shows(&scim_group_resource, &q->select, "members");
    TRY(trees(w, rows.items, rows.n, with_members, all, e));
    for (size_t i = 0; i < rows.n; i++)
        if (sfilter_match(f, all[i]) && ++*total >= scim_start(q) && *n < (size_t)scim_count(q))
            page[(*n)++] = all[i];
    return ERR_OK;
}

enum errc scim_group_list(struct work *w, const struct scim_query *q, struct scim_answer *ret, struct err *e)
{
    struct sval **page = ARENA_ARRAY(w->arena, struct sval *, SCIM_PAGE_MAX);
    struct group_count total = { 0 };
    struct slice rows;
    size_t n = 0;
    if (q->filter.ptr) {
        TRY(sift(w, q, page, &n, &total.n, e));
        return scim_list(w, &scim_group_resource, page, n, total.n, q, ret, e);
    }
    TRY(db_one(w->tx, &group_count_stmt, ARGS(A_UUID(w->tenant_id)), &total, e));
    TRY(find(w, NULL, scim_start(q) - 1, scim_count(q), &rows, e));
    TRY(trees(w, rows.items, rows.n, sval_shows(&scim_group_resource, &q->select, "members"), page, e));
    return scim_list(w, &scim_group_resource, page, rows.n, total.n, q, ret, e);
}

static enum errc load(struct work *w, struct uuid id, struct sval **ret, struct err *e)
{
    struct group g;
    TRY(db_one(w->tx, &group_get, ARGS(A_UUID(w->tenant_id), A_UUID(id)), &g, e));
    return trees(w, &g, 1, true, ret, e);
}

enum errc scim_group_get(struct work *w, struct uuid id, const struct scim_select *select, struct scim_answer *ret, struct err *e)
{
    struct sval *t;
    TRY(load(w, id, &t, e));
    ret->id = id;
    return scim_one(w, &scim_group_resource, t, select, ret, e);
}

static int uuid_order(const void *a, const void *b)
{
    return uuid_cmp(*(const struct uuid *)a, *(const struct uuid *)b);
}

/* Who is in the tree's members: sorted, each once. */
static enum errc members_of(struct work *w, const struct sval *t, struct slice *ret, struct err *e)
{
    const struct sval *list = t ? sval_get(t, "members") : NULL;
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, list ? list->n + 1 : 1);
    size_t n = 0, kept = 0;
    for (const struct sval *m = list ? list->first : NULL; m; m = m->next) {
        struct str type = sval_text(m, "type");
        if (type.len && !scim_name_eq(type, STR("User")))
            return FAIL_AT(e, INVALID, "members", "Members must be users; groups inside groups are not supported");
        if (!id_parse("usr", sval_text(m, "value"), &ids[n++]))
            return FAIL_AT(e, INVALID, "members", "A member is not a user of this tenant");
    }
    qsort(ids, n, sizeof *ids, uuid_order);
    for (size_t i = 0; i < n; i++)
        if (!i || !uuid_eq(ids[i], ids[i - 1]))
            ids[kept++] = ids[i];
    *ret = (struct slice){ ids, kept };
    return ERR_OK;
}

/* In a and not in b; both are sorted. */
static struct slice without(struct work *w, struct slice a, struct slice b)
{
    const struct uuid *x = a.items, *y = b.items;
    struct uuid *left = ARENA_ARRAY(w->arena, struct uuid, a.n + 1);
    size_t n = 0, k = 0;
    for (size_t i = 0; i < a.n; i++) {
        while (k < b.n && uuid_cmp(y[k], x[i]) < 0)
            k++;
        if (k == b.n || !uuid_eq(y[k], x[i]))
            left[n++] = x[i];
    }
    return (struct slice){ left, n };
}

static enum errc settle_members(struct work *w, struct uuid id, const struct sval *was, const struct sval *now, struct err *e)
{
    struct slice before, after;
    int64_t joined;
    TRY(members_of(w, was, &before, e));
    TRY(members_of(w, now, &after, e));
    struct slice in = without(w, after, before), out = without(w, before, after);
    struct uuid *both = ARENA_ARRAY(w->arena, struct uuid, in.n + out.n + 1);
    memcpy(both, in.items, in.n * sizeof *both);
    memcpy(both + in.n, out.items, out.n * sizeof *both);
    TRY(scim_check_made(w, (struct slice){ both, in.n + out.n }, e));
    if (out.n)
        TRY(db_exec(w->tx, &group_leave, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_UUIDS(out.items, out.n)), NULL, e));
    if (in.n) {
        TRY(db_exec(w->tx, &group_join, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_UUIDS(in.items, in.n)), &joined, e));
        if ((size_t)joined != in.n)
            return FAIL_AT(e, INVALID, "members", "A member is not a user of this tenant");
    }
    return group_bindings_follow(w, (struct slice){ both, in.n + out.n }, e);
}

static enum errc put(struct work *w, const struct stmt *st, struct uuid id, const struct sval *t, struct err *e)
{
    struct str external = sval_text(t, "externalId");
    enum errc rc = db_exec(w->tx, st, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(sval_text(t, "displayName")),
                           A_STR(external.len ? external : STR_NULL)), NULL, e);
    return rc == ERR_EXISTS ? FAIL_AT(e, EXISTS, "displayName",
        "A group with that displayName or externalId already exists") : rc;
}

enum errc scim_group_create(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e)
{
    const struct jval *body;
    struct sval *t;
    struct uuid id = uuid_v7(w->now_us);
    binding_lock(w);
    TRY(scim_body(w, in->body, &body, e));
    TRY(sval_resource(w->arena, &scim_group_resource, body, SVAL_INPUT, &t, e));
    TRY(sval_check(&scim_group_resource, t, e));
    TRY(put(w, &group_insert, id, t, e));
    TRY(settle_members(w, id, NULL, t, e));
    ret->changed = scim_changed(w, &scim_group_resource, NULL, t);
    return scim_group_get(w, id, &in->select, ret, e);
}

static enum errc open_for_change(struct work *w, const struct scim_write *in, struct sval **was, struct err *e)
{
    binding_lock(w);
    TRY(load(w, in->id, was, e));
    return scim_check_match(in->if_match, sval_text(sval_get(*was, "meta"), "version"), e);
}

static enum errc save(struct work *w, const struct scim_write *in, const struct sval *was, const struct sval *now, struct scim_answer *ret,
                      struct err *e)
{
    TRY(sval_check(&scim_group_resource, now, e));
    ret->changed = scim_changed(w, &scim_group_resource, was, now);
    if (ret->changed.ptr) {
        TRY(put(w, &group_put, in->id, now, e));
        TRY(settle_members(w, in->id, was, now, e));
    }
    return scim_group_get(w, in->id, &in->select, ret, e);
}

enum errc scim_group_replace(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e)
{
    const struct jval *body;
    struct sval *was, *now;
    TRY(open_for_change(w, in, &was, e));
    TRY(scim_body(w, in->body, &body, e));
    TRY(sval_resource(w->arena, &scim_group_resource, body, SVAL_INPUT, &now, e));
    return save(w, in, was, now, ret, e);
}

enum errc scim_group_patch(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e)
{
    const struct jval *body;
    struct sval *was;
    TRY(open_for_change(w, in, &was, e));
    TRY(scim_body(w, in->body, &body, e));
    struct sval *now = sval_copy(w->arena, was);
    TRY(scim_patch(w->arena, &scim_group_resource, body, now, e));
    return save(w, in, was, now, ret, e);
}

enum errc scim_group_delete(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e)
{
    struct sval *was;
    TRY(open_for_change(w, in, &was, e));
    TRY(settle_members(w, in->id, was, NULL, e));
    ret->id = in->id;
    return db_exec(w->tx, &group_delete, ARGS(A_UUID(w->tenant_id), A_UUID(in->id)), NULL, e);
}
