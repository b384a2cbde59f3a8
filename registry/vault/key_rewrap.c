/* SPDX-License-Identifier: Apache-2.0 */
/* key_rewrap.c - a batch is: lock the rewrap, read up to 500 wrapped keys below the version, have falaj-keyd move each, write them back
 * where the row still is what was read, count. Keys that are made meanwhile under the new version are not touched. */
#include "registry/vault/key_rewrap.h"
#include "core/base/log.h"
#include "core/crypto/hash.h"
#include "core/db/tx.h"
#include "keys/client.h"
#include "registry/registry_int.h"
#include "registry/vault/object_keys.h"

SCHEMA_EXTERN(rewrap, "Wrapped keys on their way to a newer version",
    FIELD_ID(rewrap, rewrap_id, "rwr", F_ALWAYS, .doc = "The rewrap"), FIELD(rewrap, zone, F_ALWAYS, .doc = "Residency zone"),
    FIELD(rewrap, kind, F_ALWAYS,
          .doc = "tenant: data keys to the tenant's primary version; root: tenant keys to the zone's current root"),
    FIELD(rewrap, to_version, 0, .doc = "The version they go to"),
    FIELD(rewrap, state, F_ALWAYS, .doc = "RUNNING, DONE or SUPERSEDED by a newer one"),
    FIELD(rewrap, total, 0, .doc = "Keys found so far"), FIELD(rewrap, done, 0, .doc = "Keys moved"),
    FIELD(rewrap, failed, 0, .doc = "Keys that did not open and stayed as they were"), FIELD(rewrap, message, 0, .doc = "What stopped the last batch"),
    FIELD(rewrap, started_at, 0, .doc = "When it began"), FIELD(rewrap, updated_at, 0, .doc = "When it was last worked on"),
    FIELD(rewrap, finished_at, 0, .doc = "When it ended"));

static const struct stmt supersede = { .name = "rewrap_supersede", .params = "uss", .card = CARD_NONE, .sql =
    "UPDATE key_rewrap SET state = 'SUPERSEDED', finished_at = now() WHERE tenant_id = $1 AND zone = $2 AND kind = $3 AND state = 'RUNNING'" };
static const struct stmt insert_tenant = { .name = "rewrap_insert_tenant", .params = "uusi", .card = CARD_NONE, .sql =
    "INSERT INTO key_rewrap (tenant_id, rewrap_id, zone, kind, to_version, total)\n"
    "SELECT $1, $2, $3, 'tenant', $4, count(*) FROM wrapped_data_key WHERE tenant_id = $1 AND zone = $3 AND key_version < $4" };
static const struct stmt insert_root = { .name = "rewrap_insert_root", .params = "uusi", .card = CARD_NONE, .sql =
    "INSERT INTO key_rewrap (tenant_id, rewrap_id, zone, kind, to_version, total)\n"
    "SELECT $1, $2, $3, 'root', $4, coalesce(sum(keys), 0)::bigint FROM root_key_users($3) WHERE root_version < $4" };
static const struct stmt list_stmt = { .name = "rewrap_list", .params = "usui", .row = &rewrap_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM key_rewrap WHERE tenant_id = $1 AND zone = $2 AND ($3::uuid IS NULL OR rewrap_id < $3)\n"
    " ORDER BY rewrap_id DESC LIMIT $4" };
const struct stmt *const key_rewrap_stmts[] = { &supersede, &insert_tenant, &insert_root, &list_stmt, NULL };

struct running { struct uuid tenant_id, rewrap_id; struct str zone, kind; int64_t to_version; };
SCHEMA_OF(running, "A rewrap to go on with", FIELD(running, tenant_id, 0, .doc = "Tenant"), FIELD(running, rewrap_id, 0, .doc = "Rewrap"),
    FIELD(running, zone, 0, .doc = "Zone"), FIELD(running, kind, 0, .doc = "Kind"), FIELD(running, to_version, 0, .doc = "Version"));
static const struct stmt next_stmt = { .name = "rewrap_next", .params = "", .row = &running_schema, .card = CARD_MAYBE, .sql =
    "SELECT tenant_id, rewrap_id, zone, kind, to_version FROM key_rewrap WHERE state = 'RUNNING' ORDER BY updated_at, rewrap_id LIMIT 1\n"
    "   FOR UPDATE SKIP LOCKED" };

struct key_row { struct uuid tenant_id; struct str zone; int64_t version; struct bytes wrapped; };
SCHEMA_OF(key_row, "A wrapped tenant key", FIELD(key_row, tenant_id, 0, .doc = "Tenant"), FIELD(key_row, zone, 0, .doc = "Zone"),
    FIELD(key_row, version, 0, .doc = "Version"), FIELD(key_row, wrapped, 0, .doc = "Wrapped"));
static const struct stmt primary_stmt = { .name = "rewrap_primary", .params = "usi", .row = &key_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT tenant_id, zone, version, wrapped FROM tenant_key WHERE tenant_id = $1 AND zone = $2 AND version = $3 AND state = 'PRIMARY' FOR NO KEY UPDATE" };
static const struct stmt root_batch = { .name = "rewrap_root_batch", .params = "siui", .row = &key_row_schema, .card = CARD_MANY, .sql =
    "SELECT tenant_id, zone, version, wrapped FROM tenant_key WHERE zone = $1 AND root_version < $2 AND wrapped IS NOT NULL AND tier = 'wrapped'\n"
    "   AND ($3::uuid IS NULL OR tenant_id > $3) ORDER BY tenant_id, version LIMIT $4 FOR NO KEY UPDATE" };
static const struct stmt root_write = { .name = "rewrap_root_write", .params = "USIYYI", .card = CARD_NONE, .sql =
    "UPDATE tenant_key k SET wrapped = i.wrapped, blob_sha = i.sha, root_version = i.root\n"
    "  FROM unnest($1, $2, $3, $4, $5, $6) AS i(tenant_id, zone, version, wrapped, sha, root)\n"
    " WHERE k.tenant_id = i.tenant_id AND k.zone = i.zone AND k.version = i.version AND k.wrapped IS NOT NULL" };

static const struct stmt auth_get = { .name = "rewrap_auth_get", .params = "si", .row = &key_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT NULL::uuid AS tenant_id, zone, 1::bigint AS version, tkek AS wrapped FROM auth_key WHERE zone = $1 AND root_version < $2" };
static const struct stmt auth_write = { .name = "rewrap_auth_write", .params = "syiy", .card = CARD_NONE, .sql =
    "UPDATE auth_key SET tkek = $2, root_version = $3 WHERE zone = $1 AND tkek = $4" };

struct dek_row { struct uuid dek_id, object_id; struct str kind; int64_t object_version, key_version; struct bytes wrapped, tkek; bool is_person; };
SCHEMA_OF(dek_row, "A wrapped data key and the tenant key above it", FIELD(dek_row, dek_id, 0, .doc = "Data key"),
    FIELD(dek_row, object_id, 0, .doc = "Object"), FIELD(dek_row, kind, 0, .doc = "Kind of object"),
    FIELD(dek_row, object_version, 0, .doc = "Object's version"), FIELD(dek_row, key_version, 0, .doc = "Tenant key's version"),
    FIELD(dek_row, wrapped, 0, .doc = "Wrapped"), FIELD(dek_row, tkek, 0, .doc = "Wrapped tenant key"),
    FIELD(dek_row, is_person, 0, .doc = "Of a person in the audit log, not of an object"));
static const struct stmt dek_batch = { .name = "rewrap_dek_batch", .params = "usiui", .row = &dek_row_schema, .card = CARD_MANY, .sql =
    "SELECT d.key_id AS dek_id, d.object_id, d.kind, d.object_version, d.key_version, d.wrapped, k.wrapped AS tkek, d.is_person\n"
    "  FROM wrapped_data_key d\n"
    "  JOIN tenant_key k ON k.tenant_id = d.tenant_id AND k.zone = d.zone AND k.version = d.key_version AND k.wrapped IS NOT NULL\n"
    "   AND k.state IN ('DECRYPT_ONLY', 'DISABLED')\n"
    " WHERE d.tenant_id = $1 AND d.zone = $2 AND d.key_version < $3 AND ($4::uuid IS NULL OR d.key_id > $4)\n"
    " ORDER BY d.key_id LIMIT $5" };
/* Only where the row still is what was read: a key that was erased meanwhile stays erased. */
static const struct stmt dek_write = { .name = "rewrap_dek_write", .params = "uUYYi", .card = CARD_NONE, .sql =
    "UPDATE dek d SET wrapped = i.wrapped, key_version = $5 FROM unnest($2, $3, $4) AS i(dek_id, was, wrapped)\n"
    " WHERE d.tenant_id = $1 AND d.dek_id = i.dek_id AND d.wrapped = i.was" };
static const struct stmt person_write = { .name = "rewrap_person_write", .params = "uUYYi", .card = CARD_NONE, .sql =
    "UPDATE audit_subject_key d SET wrapped = i.wrapped, key_version = $5 FROM unnest($2, $3, $4) AS i(key_id, was, wrapped)\n"
    " WHERE d.tenant_id = $1 AND d.key_id = i.key_id AND d.wrapped = i.was" };
static const struct stmt dek_count = { .name = "rewrap_dek_count", .params = "usii", .card = CARD_NONE, .sql =
    "UPDATE tenant_key SET wraps = wraps + $4 WHERE tenant_id = $1 AND zone = $2 AND version = $3" };
static const struct stmt progress = { .name = "rewrap_progress", .params = "uuiiuss", .card = CARD_NONE, .sql =
    "UPDATE key_rewrap SET done = done + $3, failed = failed + $4, total = greatest(total, done + $3 + failed + $4), after_id = $5, message = $6,\n"
    "       state = $7, updated_at = clock_timestamp(), finished_at = CASE WHEN $7 <> 'RUNNING' THEN clock_timestamp() END\n"
    " WHERE tenant_id = $1 AND rewrap_id = $2" };
/* Behind the others, which may be of a zone whose falaj-keyd answers. */
static const struct stmt put_behind = { .name = "rewrap_put_behind", .params = "uus", .card = CARD_NONE, .sql =
    "UPDATE key_rewrap SET message = $3, updated_at = clock_timestamp() WHERE tenant_id = $1 AND rewrap_id = $2" };

struct cursor_row { struct uuid after_id; };
SCHEMA_OF(cursor_row, "Where a pass stands", FIELD(cursor_row, after_id, 0, .doc = "Last data key looked at"));
static const struct stmt cursor_stmt = { .name = "rewrap_cursor", .params = "uu", .row = &cursor_row_schema, .card = CARD_ONE, .sql =
    "SELECT after_id FROM key_rewrap WHERE tenant_id = $1 AND rewrap_id = $2" };
static const struct stmt left_stmt = { .name = "rewrap_left", .params = "i", .row = &running_schema, .card = CARD_MANY, .sql =
    "SELECT k.tenant_id, k.tenant_id AS rewrap_id, k.zone, 'tenant' AS kind, k.version AS to_version FROM tenant_key k\n"
    " WHERE k.state = 'PRIMARY' AND k.version > 1\n"
    "   AND EXISTS (SELECT FROM tenant_key o WHERE o.tenant_id = k.tenant_id AND o.zone = k.zone AND o.state = 'DECRYPT_ONLY' AND EXISTS (\n"
    "                 SELECT FROM wrapped_data_key d WHERE d.tenant_id = o.tenant_id AND d.zone = o.zone AND d.key_version = o.version))\n"
    "   AND NOT EXISTS (SELECT FROM key_rewrap r WHERE r.tenant_id = k.tenant_id AND r.zone = k.zone AND r.kind = 'tenant'\n"
    "                      AND (r.state = 'RUNNING' OR r.failed > 0 AND r.to_version = k.version)) LIMIT $1" };
const struct stmt *const key_rewrap_leader_stmts[] = { &next_stmt, &primary_stmt, &root_batch, &root_write, &dek_batch, &dek_write, &person_write, &dek_count, &auth_get, &auth_write,
    &progress, &put_behind, &cursor_stmt, &left_stmt, &insert_tenant, NULL };

enum errc rewrap_start(struct work *w, struct str zone, const char *kind, int64_t to_version, struct err *e)
{
    const struct stmt *insert = !strcmp(kind, "root") ? &insert_root : &insert_tenant;
    db_queue(w->tx, &supersede, ARGS(A_UUID(w->tenant_id), A_STR(zone), A_TEXT(kind)), false);
    return db_exec(w->tx, insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(zone), A_I64(to_version)), NULL, e);
}

enum errc rewrap_list(struct work *w, struct str zone, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &list_stmt, ARGS(A_UUID(w->tenant_id), A_STR(zone), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

struct batch { int64_t moved, failed; struct uuid after; bool is_over, is_superseded, has_persons; };

static void note_failed(const struct running *r, struct uuid id, const char *prefix, const struct err *e)
{
    log_event(LOG_ERROR, "rewrap.key_failed", "tenant", LOG_ID("tnt", r->tenant_id), "zone", LOG_STR(r->zone), "key", LOG_ID(prefix, id),
              "why", LOG_S(e->msg), NULL);
}

/* A key that is damaged is passed over; a keyd that does not answer ends the batch. */
static bool is_of_the_key(enum errc rc) { return rc == ERR_DAMAGED || rc == ERR_INVALID; }

static enum errc tenant_batch(struct work *w, const struct running *r, struct batch *b, struct err *e)
{
    struct { struct dek_row *items; size_t n; } rows;
    struct key_row primary;
    struct cursor_row at;
    struct key_blob to_blob, from_blob, wrapped, moved;
    bool found;
    TRY(db_maybe(w->tx, &primary_stmt, ARGS(A_UUID(r->tenant_id), A_STR(r->zone), A_I64(r->to_version)), &primary, &found, e));
    if (!found) {
        b->is_superseded = true;
        return ERR_OK;
    }
    TRY(key_blob_from(primary.wrapped, &to_blob, e));
    TRY(db_one(w->tx, &cursor_stmt, ARGS(A_UUID(r->tenant_id), A_UUID(r->rewrap_id)), &at, e));
    TRY(db_many(w->tx, &dek_batch, ARGS(A_UUID(r->tenant_id), A_STR(r->zone), A_I64(r->to_version), A_UUID_OR_NULL(at.after_id), A_I64(REWRAP_BATCH)),
                &rows, REWRAP_BATCH, e));
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, rows.n + 1);
    struct str *blobs = ARENA_ARRAY(w->arena, struct str, rows.n + 1), *was = ARENA_ARRAY(w->arena, struct str, rows.n + 1);
    struct tkek_ref to = { r->zone, r->tenant_id, STR(KEY_PURPOSE_DATA), (uint32_t)r->to_version };
    for (size_t i = 0; i < rows.n; i++) {
        const struct dek_row *d = &rows.items[i];
        b->has_persons |= d->is_person;
        struct tkek_ref from = { r->zone, r->tenant_id, STR(KEY_PURPOSE_DATA), (uint32_t)d->key_version };
        struct dek_ref dek = { r->zone, r->tenant_id, d->kind, d->object_id, (uint32_t)d->object_version, d->dek_id };
        enum errc rc = key_blob_from(d->tkek, &from_blob, e);
        if (rc == ERR_OK)
            rc = key_blob_from(d->wrapped, &wrapped, e);
        if (rc == ERR_OK)
            rc = keyd_dek_rewrap(w->app->keyd, &from, &from_blob, &to, &to_blob, &dek, &wrapped, &moved, e);
        if (rc != ERR_OK && !is_of_the_key(rc))
            return rc;
        if (rc != ERR_OK) {
            note_failed(r, d->dek_id, "dek", e);
            b->failed++;
            continue;
        }
        ids[b->moved] = d->dek_id;
        was[b->moved] = d->wrapped.data;
        blobs[b->moved++] = str_dup(w->arena, str_n((const char *)moved.b, moved.n));
    }
    b->is_over = rows.n < REWRAP_BATCH;
    b->after = rows.n ? rows.items[rows.n - 1].dek_id : at.after_id;
    if (!b->moved)
        return ERR_OK;
    size_t n = (size_t)b->moved;
    const struct stmt *const writes[] = { &dek_write, &person_write };      /* an id is in one of the two tables */
    for (int i = 0; i < (b->has_persons ? 2 : 1); i++)
        db_queue(w->tx, writes[i], ARGS(A_UUID(r->tenant_id), A_UUIDS(ids, n), A_BYTESS(was, n), A_BYTESS(blobs, n), A_I64(r->to_version)), false);
    db_queue(w->tx, &dek_count, ARGS(A_UUID(r->tenant_id), A_STR(r->zone), A_I64(r->to_version), A_I64(b->moved)), false);
    return ERR_OK;
}

/* The sign-in secret of the zone hangs on the root as tenant keys do (tenants/identity/local_auth.h); one row, moved in the last batch. */
static enum errc move_sign_in(struct work *w, const struct running *r, struct batch *b, struct err *e)
{
    struct key_row row;
    struct key_blob blob, moved;
    bool found;
    struct tkek_ref ref = { r->zone, UUID_NIL, STR(KEY_PURPOSE_SECRET), 1 };
    TRY(db_maybe(w->tx, &auth_get, ARGS(A_STR(r->zone), A_I64(r->to_version)), &row, &found, e));
    if (!found)
        return ERR_OK;
    enum errc rc = key_blob_from(row.wrapped, &blob, e);
    if (rc == ERR_OK)
        rc = keyd_tkek_rewrap(w->app->keyd, &ref, &blob, &moved, NULL, e);
    if (rc != ERR_OK && !is_of_the_key(rc))
        return rc;
    if (rc != ERR_OK) {
        note_failed(r, UUID_NIL, "tnt", e);
        b->failed++;
        return ERR_OK;
    }
    db_queue(w->tx, &auth_write, ARGS(A_STR(r->zone), A_BYTES(moved.b, moved.n), A_I64(tkek_root_version(&moved)), A_BYTES(blob.b, blob.n)), false);
    b->moved++;
    return ERR_OK;
}

static enum errc root_pass(struct work *w, const struct running *r, struct batch *b, struct err *e)
{
    struct { struct key_row *items; size_t n; } rows;
    struct key_blob blob, moved;
    struct cursor_row at;
    uint32_t version = 0;
    TRY(db_one(w->tx, &cursor_stmt, ARGS(A_UUID(r->tenant_id), A_UUID(r->rewrap_id)), &at, e));
    TRY(db_many(w->tx, &root_batch, ARGS(A_STR(r->zone), A_I64(r->to_version), A_UUID_OR_NULL(at.after_id), A_I64(REWRAP_BATCH)), &rows,
                REWRAP_BATCH, e));
    b->is_over = rows.n < REWRAP_BATCH;
    /* The cursor is a tenant: the last one of a full batch is left for the next, unless it is the only one. */
    while (!b->is_over && rows.n > 1 && !uuid_eq(rows.items[0].tenant_id, rows.items[rows.n - 1].tenant_id) &&
           uuid_eq(rows.items[rows.n - 1].tenant_id, rows.items[rows.n - 2].tenant_id))
        rows.n--;
    if (!b->is_over && rows.n > 1 && !uuid_eq(rows.items[0].tenant_id, rows.items[rows.n - 1].tenant_id))
        rows.n--;
    b->after = rows.n ? rows.items[rows.n - 1].tenant_id : at.after_id;
    struct key_row *out = ARENA_ARRAY(w->arena, struct key_row, rows.n + 1);
    int64_t *roots = ARENA_ARRAY(w->arena, int64_t, rows.n + 1);
    struct str *shas = ARENA_ARRAY(w->arena, struct str, rows.n + 1), *blobs = ARENA_ARRAY(w->arena, struct str, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct key_row *k = &rows.items[i];
        struct tkek_ref ref = { r->zone, k->tenant_id, STR(KEY_PURPOSE_DATA), (uint32_t)k->version };
        uint8_t sha[SHA256_BYTES];
        enum errc rc = key_blob_from(k->wrapped, &blob, e);
        if (rc == ERR_OK)
            rc = keyd_tkek_rewrap(w->app->keyd, &ref, &blob, &moved, NULL, e);
        if (rc != ERR_OK && !is_of_the_key(rc))
            return rc;
        /* The root in a tenant's own token has versions of its own. It stays as it is, and so does the zone's old root. */
        version = rc == ERR_OK ? tkek_root_version(&moved) : 0;
        if (rc == ERR_OK && version < (uint32_t)r->to_version)
            rc = FAIL(e, INVALID, "the key service wraps it under root version %u", version);
        if (rc != ERR_OK) {
            note_failed(r, k->tenant_id, "tnt", e);
            b->failed++;
            continue;
        }
        sha256(moved.b, moved.n, sha);
        out[b->moved] = *k;
        roots[b->moved] = version;
        shas[b->moved] = str_dup(w->arena, str_n((const char *)sha, sizeof sha));
        blobs[b->moved++] = str_dup(w->arena, str_n((const char *)moved.b, moved.n));
    }
    size_t n = (size_t)b->moved;
    if (n)
        db_queue(w->tx, &root_write, ARGS(A_UUIDS_OF(out, n, tenant_id), A_STRS_OF(out, n, zone), A_I64S_OF(out, n, version), A_BYTESS(blobs, n),
                 A_BYTESS(shas, n), A_I64S(roots, n)), false);
    return b->is_over ? move_sign_in(w, r, b, e) : ERR_OK;
}

/* One zone that is sealed or down must not keep the keys of all others under what they were to leave. */
static enum errc wait_behind(struct work *w, const struct running *r, bool *ret_any, struct err *e)
{
    struct str why = str_dup(w->arena, str_c(e->msg));
    log_event(LOG_WARN, "rewrap.stopped", "tenant", LOG_ID("tnt", r->tenant_id), "zone", LOG_STR(r->zone), "why", LOG_STR(why), NULL);
    TRY(db_back_to_mark(w->tx, e));
    db_queue(w->tx, &put_behind, ARGS(A_UUID(r->tenant_id), A_UUID(r->rewrap_id), A_STR(why)), false);
    *ret_any = false;           /* the caller rests before it asks again */
    return ERR_OK;
}

enum errc rewrap_next(struct work *w, bool *ret_any, int64_t *ret_moved, struct err *e)
{
    struct running r;
    struct batch b = { 0 };
    *ret_moved = 0;
    TRY(db_maybe(w->tx, &next_stmt, NO_ARGS, &r, ret_any, e));
    if (!*ret_any)
        return ERR_OK;
    TRY(db_mark(w->tx, e));
    enum errc rc = str_eq_c(r.kind, "root") ? root_pass(w, &r, &b, e) : tenant_batch(w, &r, &b, e);
    if (rc != ERR_OK && !db_is_failed(w->tx))
        return wait_behind(w, &r, ret_any, e);
    TRY(rc);
    const char *state = b.is_superseded ? "SUPERSEDED" : b.is_over ? "DONE" : "RUNNING";
    db_queue(w->tx, &progress, ARGS(A_UUID(r.tenant_id), A_UUID(r.rewrap_id), A_I64(b.moved), A_I64(b.failed), A_UUID_OR_NULL(b.after), A_STR(STR("")),
             A_TEXT(state)), false);
    *ret_moved = b.moved;
    return ERR_OK;
}

enum errc rewrap_find_left(struct work *w, int64_t *ret_started, struct err *e)
{
    enum { LEFT_MAX = 200 };
    struct { struct running *items; size_t n; } left;
    TRY(db_many(w->tx, &left_stmt, ARGS(A_I64(LEFT_MAX)), &left, LEFT_MAX, e));
    for (size_t i = 0; i < left.n; i++)
        TRY(db_exec(w->tx, &insert_tenant, ARGS(A_UUID(left.items[i].tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(left.items[i].zone),
            A_I64(left.items[i].to_version)), NULL, e));
    *ret_started = (int64_t)left.n;
    return ERR_OK;
}
