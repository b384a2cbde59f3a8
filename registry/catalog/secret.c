/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - rows of secret and secret_version; the row of the secret is locked before anything of its versions is, so that
 * two who
 * set a value make two versions. */
#include "registry/catalog/secret.h"
#include "core/base/cleanup.h"
#include "core/crypto/rand.h"
#include "core/crypto/secmem.h"
#include "core/db/tx.h"
#include "registry/vault/object.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/project.h"

const char *const secret_state_names[] = { "ACTIVE", "DISABLED", NULL };
enum { ROWS_MAX = 4096, NAMED_MAX = 5, USED_MAX = 64 };

SCHEMA_EXTERN(secret, "A secret: its name and how it stands, never a value",
    FIELD_ID(secret, secret_id, "sec", F_ALWAYS, .doc = "The secret"),
    FIELD_ID(secret, project_id, "prj", 0, .doc = "Whose jobs may name it; absent: jobs of any project"),
    FIELD(secret, name, F_ALWAYS, .doc = "Its name, as jobs say it"), FIELD(secret, description, F_ALWAYS,
        .doc = "What it is for"),
    FIELD(secret, zone, F_ALWAYS, .doc = "Where it lies; jobs elsewhere cannot use it"),
    FIELD_ENUM(secret, state, F_ALWAYS, secret_state_names, .doc = "DISABLED: no job gets it"),
    FIELD(secret, latest_version, F_ALWAYS, .doc = "Its newest value; 0: it has none yet"),
    FIELD(secret, last_used_at, 0, .doc = "When a job last got its key; absent: never"),
    FIELD(secret, version, F_ALWAYS, .doc = "Grows with every change of what is shown here but values"),
    FIELD_ID(secret, created_by, "usr", F_ALWAYS, .doc = "Who made it"), FIELD(secret, created_at, F_ALWAYS,
        .doc = "When it was made"));
SCHEMA_EXTERN(secret_version, "A value of a secret, which is not told",
    FIELD_ID(secret_version, secret_id, "sec", F_ALWAYS, .doc = "The secret"),
    FIELD(secret_version, value_version, F_ALWAYS, .doc = "Its number, from 1"),
    FIELD_ID(secret_version, created_by, "usr", F_ALWAYS, .doc = "Who set it"), FIELD(secret_version, created_at, F_ALWAYS,
        .doc = "When it was set"));
SCHEMA_OF(secret_found, "What a job names", FIELD(secret_found, secret_id, 0, .doc = "The secret"),
    FIELD(secret_found, object_id, 0, .doc = "Its value"), FIELD(secret_found, zone, 0, .doc = "Where"),
    FIELD(secret_found, value_version, 0, .doc = "Which"));
SCHEMA_OF(secret_used, "What a lease gets", FIELD(secret_used, secret_id, 0, .doc = "The secret"),
    FIELD(secret_used, name, 0, .doc = "Its name"), FIELD(secret_used, state, 0, .doc = "Its state"),
    FIELD(secret_used, value_version, 0, .doc = "Which value"));
struct secret_next { int64_t latest_version; struct str zone; };
SCHEMA_OF(secret_next, "The next value's place", FIELD(secret_next, latest_version, 0, .doc = "Its number"),
    FIELD(secret_next, zone, 0, .doc = "Its zone"));
struct secret_part { struct uuid object_id; int64_t version; };
SCHEMA_OF(secret_part, "A value's object", FIELD(secret_part, object_id, 0, .doc = "The object"), FIELD(secret_part, version, 0,
    .doc = "Its version"));
struct secret_row { struct str name, state, zone; int64_t latest_version; };
SCHEMA_OF(secret_row, "Which one a name means", FIELD(secret_row, name, 0, .doc = "Name"), FIELD(secret_row, state, 0,
    .doc = "State"),
    FIELD(secret_row, zone, 0, .doc = "Zone"), FIELD(secret_row, latest_version, 0, .doc = "Newest"));
struct secret_gone { struct str kind; struct uuid id; struct str name; int64_t stored_bytes; };
SCHEMA_OF(secret_gone, "What is in the way, or gone", FIELD(secret_gone, kind, 0, .doc = "hold, job, object"),
    FIELD(secret_gone, id, 0, .doc = "Its id"), FIELD(secret_gone, name, 0, .doc = "Its name"), FIELD(secret_gone, stored_bytes,
        0,
        .doc = "Of an object"));
struct secret_gone_rows { struct secret_gone *items; size_t n; };

static const struct stmt secret_insert = { .name = "secret_insert", .params = "uuusssui", .row = &secret_schema,
    .card = CARD_MAYBE, .sql =
    "INSERT INTO secret (tenant_id, secret_id, project_id, name, description, zone, created_by)\n"
    "SELECT $1, $2, $3, $4, $5, $6, $7 WHERE (SELECT count(*) FROM secret WHERE tenant_id = $1) < $8\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt secret_next_stmt = { .name = "secret_next", .params = "uu", .row = &secret_next_schema,
    .card = CARD_ONE, .sql =
    "UPDATE secret SET latest_version = latest_version + 1 WHERE tenant_id = $1 AND secret_id = $2 RETURNING latest_version, "
    "zone" };
static const struct stmt secret_version_insert = { .name = "secret_version_insert", .params = "uuiuu",
    .row = &secret_version_schema,
    .card = CARD_ONE, .sql =
    "INSERT INTO secret_version (tenant_id, secret_id, version, object_id, created_by) VALUES ($1, $2, $3, $4, $5)\n"
    "RETURNING secret_id, version AS value_version, created_by, created_at" };
static const struct stmt secret_update = { .name = "secret_update", .params = "uussi", .row = &secret_schema, .card = CARD_MAYBE,
    .sql =
    "UPDATE secret SET state = coalesce($3, state), description = coalesce($4, description), version = version + 1\n"
    " WHERE tenant_id = $1 AND secret_id = $2 AND ($5 < 0 OR version = $5) RETURNING " ROW_COLUMNS };
static const struct stmt secret_forget = { .name = "secret_forget", .params = "uui", .row = &secret_gone_schema,
    .card = CARD_MANY, .sql =
    "SELECT kind, id, name, stored_bytes FROM secret_forget($1, $2, $3)" };
static const struct stmt secret_get_stmt = { .name = "secret_get", .params = "uu", .row = &secret_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM secret WHERE tenant_id = $1 AND secret_id = $2" };
static const struct stmt secret_list_stmt = { .name = "secret_list", .params = "uusi", .row = &secret_schema, .card = CARD_MANY,
    .sql =
    "SELECT " ROW_COLUMNS " FROM secret WHERE tenant_id = $1 AND ($2::uuid IS NULL OR secret_id < $2) AND ($3::text IS NULL OR "
    "name = $3)\n"
    " ORDER BY secret_id DESC LIMIT $4" };
static const struct stmt secret_versions = { .name = "secret_versions", .params = "uuii", .row = &secret_version_schema,
    .card = CARD_MANY,
    .sql =
    "SELECT secret_id, version AS value_version, created_by, created_at FROM secret_version\n"
    " WHERE tenant_id = $1 AND secret_id = $2 AND ($3 = 0 OR version < $3) ORDER BY version DESC LIMIT $4" };
static const struct stmt secret_objects_stmt = { .name = "secret_objects", .params = "uui", .row = &secret_part_schema,
    .card = CARD_MANY, .sql =
    "SELECT object_id, version FROM secret_version WHERE tenant_id = $1 AND secret_id = $2 ORDER BY version LIMIT $3" };
static const struct stmt secret_named = { .name = "secret_named", .params = "uus", .row = &secret_row_schema, .card = CARD_MAYBE,
    .sql =
    "SELECT name, state, zone, latest_version FROM secret\n"
    " WHERE tenant_id = $1 AND name = $3 AND (project_id = $2 OR project_id IS NULL) ORDER BY project_id IS NULL LIMIT 1" };
static const struct stmt secret_value = { .name = "secret_value", .params = "uusi", .row = &secret_found_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT s.secret_id, v.object_id, s.zone, v.version AS value_version FROM (\n"
    "  SELECT secret_id, zone, latest_version FROM secret\n"
    "   WHERE tenant_id = $1 AND name = $3 AND (project_id = $2 OR project_id IS NULL) ORDER BY project_id IS NULL LIMIT 1) s\n"
    "  JOIN secret_version v ON v.tenant_id = $1 AND v.secret_id = s.secret_id\n"
    "   AND v.version = CASE WHEN $4 = 0 THEN s.latest_version ELSE $4 END" };
static const struct stmt secret_used_stmt = { .name = "secret_used", .params = "uU", .row = &secret_used_schema,
    .card = CARD_MANY, .sql =
    "SELECT s.secret_id, s.name, s.state, v.version AS value_version\n"
    "  FROM secret_version v JOIN secret s ON s.tenant_id = $1 AND s.secret_id = v.secret_id\n"
    " WHERE v.tenant_id = $1 AND v.object_id = ANY ($2) ORDER BY s.name LIMIT 64" };
static const struct stmt secret_touch = { .name = "secret_touch", .params = "uu", .card = CARD_NONE, .sql =
    "UPDATE secret SET last_used_at = clock_timestamp() WHERE tenant_id = $1 AND secret_id = $2" };

const struct stmt *const secret_stmts[] = { &secret_insert, &secret_next_stmt, &secret_version_insert, &secret_update,
    &secret_forget,
    &secret_get_stmt, &secret_list_stmt, &secret_versions, &secret_objects_stmt, &secret_named, &secret_value, NULL };
const struct stmt *const secret_node_stmts[] = { &secret_used_stmt, &secret_touch, NULL };

static struct object_new place_of(struct str zone)
{
    return (struct object_new){ .zone = zone, .kind = SECRET_KIND, .data_class = STR("internal") };
}

enum errc secret_create(struct work *w, const struct secret_new *in, struct secret *ret, struct err *e)
{
    const struct object_new place = place_of(in->zone.ptr ? in->zone : w->principal->home_zone);
    bool found = false;
    struct uuid project;
    TRY(project_for_new(w, w->tx, in->project_id, &project, e));
    TRY(object_may_lie(w, &place, e));
    enum errc rc = db_maybe(w->tx, &secret_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID_OR_NULL(project),
        A_STR(in->name), A_STR(in->description.ptr ? in->description : STR("")), A_STR(place.zone), A_UUID(w->principal->user_id),
        A_I64(SECRETS_MAX)), ret, &found, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "There is a secret %.*s already; set its value, or take another name",
            STR_ARG(in->name));
    TRY(rc);
    return found ? ERR_OK : FAIL(e, LIMIT, "The tenant has %d secrets already; remove one first", SECRETS_MAX);
}

/* A value is looked for in logs without the ends of lines that editors put behind it. */
static enum errc check_value(struct str value, struct err *e)
{
    size_t n = value.len;
    while (n && (value.ptr[n - 1] == '\n' || value.ptr[n - 1] == '\r'))
        n--;
    if (value.len > SECRET_VALUE_MAX)
        return FAIL(e, TOO_LARGE, "A secret has at most %d bytes; %zu came", SECRET_VALUE_MAX, value.len);
    return n >= SECRET_VALUE_MIN ? ERR_OK : FAIL(e, INVALID, "A secret has at least %d bytes, ends of lines behind it not "
        "counted, or it "
        "could not be kept out of logs; %zu came", SECRET_VALUE_MIN, n);
}

static enum errc feed_value(void *ctx, struct object_sink *to, struct err *e)
{
    const struct str *value = ctx;
    uint8_t salt[SECRET_SALT_BYTES];
    TRY(rand_bytes(salt, sizeof salt, e));
    TRY(object_add(to, salt, sizeof salt, e));
    return object_add(to, value->ptr, value->len, e);
}

/* ERR_OK: nothing is in the way. */
static enum errc refuse(struct work *w, const struct secret_gone_rows *rows, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(2048);
    size_t jobs = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct secret_gone *g = &rows->items[i];
        if (str_eq_c(g->kind, "hold"))
            return FAIL(e, LEGAL_HOLD, "A legal hold keeps this; it must be lifted first");
        if (str_eq_c(g->kind, "job") && jobs++ < NAMED_MAX)
            buf_printf(&b, "%s%.*s (%.*s)", jobs > 1 ? ", " : "", STR_ARG(g->name), STR_ARG(id_text(w->arena, "job", g->id)));
    }
    if (jobs > NAMED_MAX)
        buf_printf(&b, " and %zu more", jobs - NAMED_MAX);
    return jobs ? FAIL(e, CONFLICT, "Jobs that have not ended name it: %.*s; end them, or disable the secret first",
                       STR_ARG(buf_str(&b))) : ERR_OK;
}

/* keep as in secret_forget.sql. */
static enum errc forget(struct work *w, struct uuid secret_id, int64_t keep, struct err *e)
{
    struct secret_gone_rows rows;
    int64_t bytes = 0;
    TRY(db_many(w->tx, &secret_forget, ARGS(A_UUID(w->tenant_id), A_UUID(secret_id), A_I64(keep)), &rows, ROWS_MAX, e));
    TRY(refuse(w, &rows, e));
    if (!rows.n)
        return ERR_OK;
    struct uuid *objects = ARENA_ARRAY(w->arena, struct uuid, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        objects[i] = rows.items[i].id;
        bytes += rows.items[i].stored_bytes;
    }
    quota_release(w, "objects", (int64_t)rows.n);
    quota_release(w, "stored_bytes", bytes);
    object_gone(w, objects, rows.n);
    return ERR_OK;
}

enum errc secret_set_value(struct work *w, struct uuid secret_id, struct str value, struct secret_version *ret, struct err *e)
{
    struct secret_next next;
    struct object o;
    TRY(check_value(value, e));
    TRY(db_one(w->tx, &secret_next_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(secret_id)), &next, e));
    const struct object_new place = place_of(next.zone);
    TRY(forget(w, secret_id, SECRET_VERSIONS_KEPT, e));
    TRY(object_put_from(w, &place, &(struct object_source){ feed_value, &value }, &o, e));
    return db_one(w->tx, &secret_version_insert, ARGS(A_UUID(w->tenant_id), A_UUID(secret_id), A_I64(next.latest_version),
                  A_UUID(o.object_id), A_UUID(w->principal->user_id)), ret, e);
}

/* Why a change touched no row. */
static enum errc not_changed(struct work *w, struct uuid secret_id, struct err *e)
{
    struct secret s;
    TRY(secret_get(w, secret_id, &s, e));
    return FAIL(e, PRECONDITION, "The secret has changed since it was read (version %ld)", (long)s.version);
}

enum errc secret_set(struct work *w, struct uuid secret_id, const struct secret_change *c, int64_t expected_version,
    struct secret *ret,
                     struct err *e)
{
    bool found = false;
    const struct arg state = c->has_state ? A_STR(str_c(secret_state_names[c->state])) : A_NULL('s');
    TRY(db_maybe(w->tx, &secret_update, ARGS(A_UUID(w->tenant_id), A_UUID(secret_id), state, A_STR(c->description),
                 A_I64(expected_version)), ret, &found, e));
    return found ? ERR_OK : not_changed(w, secret_id, e);
}

enum errc secret_delete(struct work *w, struct uuid secret_id, int64_t expected_version, struct err *e)
{
    struct secret s;
    TRY(secret_set(w, secret_id, &(struct secret_change){ 0 }, expected_version, &s, e));    /* locks it at this version */
    return forget(w, secret_id, 0, e);
}

enum errc secret_get(struct work *w, struct uuid secret_id, struct secret *ret, struct err *e)
{
    return db_one(w->tx, &secret_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(secret_id)), ret, e);
}

enum errc secret_list(struct work *w, struct str name, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &secret_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_STR(name), A_I64(limit)), ret,
                   (size_t)limit, e);
}

enum errc secret_version_list(struct work *w, struct uuid secret_id, int64_t before, int64_t limit, struct slice *ret,
    struct err *e)
{
    struct secret s;
    TRY(secret_get(w, secret_id, &s, e));
    return db_many(w->tx, &secret_versions, ARGS(A_UUID(w->tenant_id), A_UUID(secret_id), A_I64(before), A_I64(limit)), ret,
                   (size_t)limit, e);
}

enum errc secret_objects(struct work *w, struct uuid secret_id, struct uuid **ret_objects, int64_t **ret_versions, size_t *ret_n,
                         struct err *e)
{
    struct { struct secret_part *items; size_t n; } rows;
    struct secret s;
    TRY(secret_get(w, secret_id, &s, e));
    TRY(db_many(w->tx, &secret_objects_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(secret_id), A_I64(ROWS_MAX)), &rows, ROWS_MAX, e));
    *ret_objects = ARENA_ARRAY(w->arena, struct uuid, rows.n + 1);
    *ret_versions = ARENA_ARRAY(w->arena, int64_t, rows.n + 1);
    *ret_n = rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        (*ret_objects)[i] = rows.items[i].object_id;
        (*ret_versions)[i] = rows.items[i].version;
    }
    return ERR_OK;
}

enum errc secret_find(struct work *w, struct uuid project_id, struct str name, int64_t version, struct secret_found *ret,
    struct err *e)
{
    struct secret_row s;
    bool found = false;
    TRY(db_maybe(w->tx, &secret_named, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(project_id), A_STR(name)), &s, &found, e));
    if (!found)
        return FAIL(e, NOT_FOUND, "There is no secret %.*s that this job may name", STR_ARG(name));
    if (str_eq_c(s.state, secret_state_names[SECRET_DISABLED]))
        return FAIL(e, FORBIDDEN, "The secret %.*s is disabled", STR_ARG(name));
    if (!s.latest_version)
        return FAIL(e, CONFLICT, "The secret %.*s has no value yet", STR_ARG(name));
    TRY(db_maybe(w->tx, &secret_value, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(project_id), A_STR(name), A_I64(version)), ret,
        &found,
                 e));
    return found ? ERR_OK : FAIL(e, NOT_FOUND, "The secret %.*s has no version %ld (any more); the newest is %ld", STR_ARG(name),
                                 (long)version, (long)s.latest_version);
}

enum errc secret_use(struct work *w, const struct uuid *objects, size_t n, struct slice *ret, struct err *e)
{
    TRY(db_many(w->tx, &secret_used_stmt, ARGS(A_UUID(w->tenant_id), A_UUIDS(objects, n)), ret, USED_MAX, e));
    const struct secret_used *used = ret->items;
    for (size_t i = 0; i < ret->n; i++) {
        if (!str_eq_c(used[i].state, secret_state_names[SECRET_ACTIVE]))
            return FAIL(e, FORBIDDEN, "The secret %.*s is disabled", STR_ARG(used[i].name));
        db_queue(w->tx, &secret_touch, ARGS(A_UUID(w->tenant_id), A_UUID(used[i].secret_id)), false);
    }
    return ERR_OK;
}
