/* SPDX-License-Identifier: Apache-2.0 */
/* upload.c - parts in, a version out.
 *
 * A part is sealed and stored before the transaction that takes it, so two parts on their way do not wait for each other; the
 * one that finds the offset taken loses its blob again. The rows of ended parts stay, without key and marked DELETED; their
 * blobs go after the commit, or by orphan_sweep when the process dies between. upload_complete.c makes a version of them. */
#include "registry/catalog/upload_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/crypto/hash.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "registry/vault/blob_store.h"
#include "registry/vault/object.h"
#include "registry/registry_int.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota.h"

#include <stdlib.h>

enum { SWEEP_BATCH = 64 };

static bool check_sha256(struct str s, const char **why)
{
    uint8_t raw[SHA256_BYTES];
    *why = "must be a SHA-256 in 64 hex digits";
    return hex_decode(s, raw, sizeof raw);
}

SCHEMA_EXTERN(upload, "An upload in parts",
    FIELD_ID(upload, upload_id, "upl", F_ALWAYS, .doc = "The upload"),
    FIELD_ID(upload, dataset_id, "dst", F_ALWAYS, .doc = "The data set that gets a version"),
    FIELD(upload, zone, F_ALWAYS, .doc = "Where the parts lie and the version will"),
    FIELD(upload, state, F_ALWAYS,
          .doc = "OPEN; COMPLETING: its content is being read; COMPLETED: it has become a version; REFUSED: its content was, and is gone"),
    FIELD_ENUM(upload, format, 0, data_format_names, .doc = "Format of the content"),
    FIELD(upload, size_bytes, 0, .doc = "Bytes of the whole content"),
    FIELD(upload, sha256, 0, .doc = "Digest that the whole must have, hex; absent: none was announced"),
    FIELD(upload, offset, 0, .doc = "Bytes received; the next part begins there"), FIELD(upload, parts, 0, .doc = "Parts received"),
    FIELD(upload, part_bytes_max, F_NOCOL, .doc = "Most bytes of one part"),
    FIELD(upload, version, 0, .doc = "The version that it became; 0: none yet"),
    FIELD(upload, completed_bytes, 0, .doc = "While it is being completed: bytes read so far"),
    FIELD(upload, failure, 0, .doc = "Why the last try to complete it failed; absent: none did"),
    FIELD(upload, created_at, F_ALWAYS, .doc = "When it was begun"),
    FIELD(upload, expires_at, F_ALWAYS, .doc = "When it ends with all that was sent, unless completed"));
SCHEMA_EXTERN(upload_new, "An upload to begin",
    FIELD_ID(upload_new, dataset_id, "dst", F_REQ, .doc = "The data set that gets a version"),
    FIELD(upload_new, size_bytes, F_REQ, .min = 1, .max = UPLOAD_SIZE_MAX, .doc = "Bytes of the whole content"),
    FIELD(upload_new, sha256, 0, .min = 64, .max = 64, .check = check_sha256, .pattern_doc = "^[0-9a-fA-F]{64}$", .example =
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", .doc = "Digest that the whole must have, hex"),
    FIELD(upload_new, zone, 0, .min = 1, .max = 31, .check = check_slug, .doc = "Where to keep it; absent: the home zone"),
    FIELD_ENUM(upload_new, format, 0, data_format_names, .dflt = "csv", .doc = "Format of the content"));

struct open_count { int64_t of_tenant, of_user, room; };
SCHEMA_OF(open_count, "What is open", FIELD(open_count, of_tenant, 0, .doc = "Of the tenant"), FIELD(open_count, of_user, 0, .doc = "Of the user"),
    FIELD(open_count, room, 0, .doc = "Bytes that the quota has left"));
SCHEMA_EXTERN(part, "A part", FIELD_ID(part, object_id, "obj", 0, .doc = "Its object"),
    FIELD(part, start, 0, .doc = "Where it begins"),
    FIELD(part, size_bytes, 0, .doc = "Bytes"), FIELD(part, stored_bytes, 0, .doc = "Bytes stored"), FIELD(part, sha256, 0, .doc = "Its digest"));
struct due { struct uuid tenant_id, upload_id; };
SCHEMA_OF(due, "An expired upload", FIELD_ID(due, tenant_id, "tnt", 0, .doc = "Whose"), FIELD_ID(due, upload_id, "upl", 0, .doc = "Which"));

#define PART_COLUMNS "p.object_id, p.start, o.size_bytes, o.stored_bytes, o.sha256"
#define PART_JOIN "  FROM upload_part p JOIN object o ON o.tenant_id = p.tenant_id AND o.object_id = p.object_id\n"

/* The lock under which the open ones are counted. */
const struct stmt upload_turn_stmt = { .name = "upload_turn", .params = "u", .card = CARD_NONE, .sql =
    "SELECT FROM quota WHERE tenant_id = $1 AND resource = 'stored_bytes' FOR NO KEY UPDATE" };
const struct stmt upload_open_stmt = { .name = "upload_open", .params = "uu", .row = &open_count_schema, .card = CARD_ONE, .sql =
    "SELECT u.of_tenant, u.of_user, q.hard_limit - q.used AS room FROM quota q, uploads_open($1, $2) u\n"
    " WHERE q.tenant_id = $1 AND q.resource = 'stored_bytes'" };
const struct stmt upload_insert_stmt = { .name = "upload_insert", .params = "uuusiyuis", .row = &upload_schema, .card = CARD_ONE, .sql =
    "INSERT INTO upload (tenant_id, upload_id, dataset_id, zone, size_bytes, sha256, created_by, expires_at, format)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 second', $9) RETURNING " UPLOAD_COLUMNS };
const struct stmt upload_get_stmt = { .name = "upload_get", .params = "uuu", .row = &upload_schema, .card = CARD_ONE, .sql =
    "SELECT " UPLOAD_COLUMNS " FROM upload WHERE tenant_id = $1 AND upload_id = $2 AND created_by = $3 AND expires_at > now()" };
/* User NULL: whoever began it, expired or not. */
const struct stmt upload_lock_stmt = { .name = "upload_lock", .params = "uuu", .row = &upload_schema, .card = CARD_ONE, .sql =
    "SELECT " UPLOAD_COLUMNS " FROM upload\n"
    " WHERE tenant_id = $1 AND upload_id = $2 AND ($3::uuid IS NULL OR (created_by = $3 AND expires_at > now())) FOR UPDATE" };
const struct stmt upload_list_stmt = { .name = "upload_list", .params = "uuuui", .row = &upload_schema, .card = CARD_MANY, .sql =
    "SELECT " UPLOAD_COLUMNS " FROM upload\n"
    " WHERE tenant_id = $1 AND created_by = $2 AND state IN ('OPEN', 'COMPLETING') AND expires_at > now() AND ($3::uuid IS NULL OR dataset_id = $3)\n"
    "   AND ($4::uuid IS NULL OR upload_id < $4) ORDER BY upload_id DESC LIMIT $5" };
const struct stmt upload_grow_stmt = { .name = "upload_grow", .params = "uuii", .row = &upload_schema, .card = CARD_MAYBE, .sql =
    "UPDATE upload SET received = received + $4, parts = parts + 1\n"
    " WHERE tenant_id = $1 AND upload_id = $2 AND received = $3 AND state = 'OPEN' RETURNING " UPLOAD_COLUMNS };
const struct stmt upload_part_insert_stmt = { .name = "upload_part_insert", .params = "uuiu", .card = CARD_NONE, .sql =
    "INSERT INTO upload_part (tenant_id, upload_id, start, object_id) VALUES ($1, $2, $3, $4)" };
const struct stmt upload_part_at_stmt = { .name = "upload_part_at", .params = "uui", .row = &part_schema, .card = CARD_MAYBE, .sql =
    "SELECT " PART_COLUMNS "\n" PART_JOIN " WHERE p.tenant_id = $1 AND p.upload_id = $2 AND p.start = $3" };
const struct stmt upload_parts_stmt = { .name = "upload_parts", .params = "uu", .row = &part_schema, .card = CARD_MANY, .sql =
    "SELECT " PART_COLUMNS "\n" PART_JOIN " WHERE p.tenant_id = $1 AND p.upload_id = $2 ORDER BY p.start LIMIT 4096" };
const struct stmt upload_parts_end_stmt = { .name = "upload_parts_end", .params = "uu", .card = CARD_NONE, .sql =
    "WITH p AS (DELETE FROM upload_part WHERE tenant_id = $1 AND upload_id = $2 RETURNING object_id),\n"
    "k AS (UPDATE dek SET wrapped = NULL FROM p WHERE dek.tenant_id = $1 AND dek.object_id = p.object_id)\n"
    "UPDATE object SET state = 'DELETED' FROM p WHERE object.tenant_id = $1 AND object.object_id = p.object_id" };
const struct stmt upload_delete_stmt = { .name = "upload_delete", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM upload WHERE tenant_id = $1 AND upload_id = $2" };
const struct stmt upload_due_stmt = { .name = "upload_due", .params = "i", .row = &due_schema, .card = CARD_MANY, .sql =
    "SELECT tenant_id, upload_id FROM upload WHERE expires_at <= now() ORDER BY expires_at LIMIT $1" };

void upload_add_limits(const struct work *w, struct upload *u)
{
    int64_t body = w->app->config->api_upload_max;
    u->part_bytes_max = body < UPLOAD_PART_MAX ? body : UPLOAD_PART_MAX;
}

static struct object_new part_new(const struct upload *u, const struct dataset *d)
{
    return (struct object_new){ .zone = u->zone, .kind = "part", .data_class = d->data_class };
}

static enum errc check_room(struct work *w, int64_t size, struct err *e)
{
    struct open_count n;
    TRY(db_exec(w->tx, &upload_turn_stmt, ARGS(A_UUID(w->tenant_id)), NULL, e));
    TRY(db_one(w->tx, &upload_open_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id)), &n, e));
    if (n.of_user >= UPLOADS_OF_USER)
        return FAIL(e, LIMIT, "You have %ld open uploads and the limit is %d; complete or cancel one", (long)n.of_user, UPLOADS_OF_USER);
    if (n.of_tenant >= UPLOADS_OF_TENANT)
        return FAIL(e, LIMIT, "The tenant has %ld open uploads and the limit is %d", (long)n.of_tenant, UPLOADS_OF_TENANT);
    if (size > n.room)
        return FAIL_AT(e, QUOTA, "/size_bytes", "The quota of stored_bytes does not allow this: %ld asked, %ld left", (long)size, (long)n.room);
    return ERR_OK;
}

enum errc upload_begin(struct work *w, const struct upload_new *in, struct upload *ret, struct err *e)
{
    struct dataset d;
    uint8_t sha[SHA256_BYTES];
    struct upload u = { .zone = in->zone.ptr ? in->zone : w->principal->home_zone };
    TRY(dataset_get(w, in->dataset_id, &d, e));
    struct object_new part = part_new(&u, &d);
    TRY(object_may_lie(w, &part, e));
    TRY(check_room(w, in->size_bytes, e));
    bool is_announced = in->sha256.ptr && hex_decode(in->sha256, sha, sizeof sha);
    TRY(db_one(w->tx, &upload_insert_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID(in->dataset_id), A_STR(u.zone), A_I64(in->size_bytes),
        is_announced ? A_BYTES(sha, sizeof sha) : A_NULL('y'), A_UUID(w->principal->user_id), A_I64(UPLOAD_LIFE_S),
        A_TEXT(data_format_names[in->format])), ret, e));
    upload_add_limits(w, ret);
    return ERR_OK;
}

enum errc upload_get(struct work *w, struct uuid upload_id, struct upload *ret, struct err *e)
{
    TRY(db_one(w->tx, &upload_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id), A_UUID(w->principal->user_id)), ret, e));
    upload_add_limits(w, ret);
    return ERR_OK;
}

enum errc upload_list(struct work *w, struct uuid dataset_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    TRY(db_many(w->tx, &upload_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id), A_UUID_OR_NULL(dataset_id),
                                               A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e));
    for (size_t i = 0; i < ret->n; i++)
        upload_add_limits(w, (struct upload *)ret->items + i);
    return ERR_OK;
}

enum errc upload_check_open(const struct upload *u, struct err *e)
{
    if (str_eq_c(u->state, "COMPLETING"))
        return FAIL(e, CONFLICT, "The upload is being completed: %ld of %ld bytes are read", (long)u->completed_bytes,
                    (long)u->size_bytes);
    if (str_eq_c(u->state, "REFUSED"))
        return FAIL(e, CONFLICT, "The content was refused and is gone: %.*s", STR_ARG(u->failure));
    return str_eq_c(u->state, "OPEN") ? ERR_OK : FAIL(e, CONFLICT, "The upload was completed already, as version %ld", (long)u->version);
}

static enum errc check_part(const struct upload *u, struct str bytes, struct err *e)
{
    if (bytes.len == 0)
        return FAIL(e, INVALID, "A part has at least one byte");
    if ((int64_t)bytes.len > u->part_bytes_max)
        return FAIL(e, TOO_LARGE, "A part has at most %ld bytes", (long)u->part_bytes_max);
    if ((int64_t)bytes.len > u->size_bytes - u->offset)
        return FAIL(e, CONFLICT, "The part has %zu bytes, but only %ld of the announced %ld are missing", bytes.len,
                    (long)(u->size_bytes - u->offset), (long)u->size_bytes);
    return u->parts < UPLOAD_PARTS_MAX ? ERR_OK : FAIL(e, LIMIT, "An upload has at most %d parts; send larger ones", UPLOAD_PARTS_MAX);
}

static enum errc take_part(struct work *w, const struct upload *u, struct uuid object_id, struct str bytes, struct upload *ret, struct err *e)
{
    bool grown;
    TRY(db_maybe(w->tx, &upload_grow_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(u->upload_id), A_I64(u->offset), A_I64((int64_t)bytes.len)), ret,
                 &grown, e));
    if (!grown)
        return FAIL_AT(e, CONFLICT, "/offset", "Another part for byte %ld arrived at the same time; read the upload for its offset", (long)u->offset);
    return db_exec(w->tx, &upload_part_insert_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(u->upload_id), A_I64(u->offset), A_UUID(object_id)), NULL, e);
}

struct upload_piece {
    struct upload upload;           /* as it was before the part was sealed */
    struct dataset dataset;
    struct str bytes;
    int64_t offset;
    uint8_t sha[SHA256_BYTES];
    struct object_new object;
    const struct object_sealed *sealed;     /* NULL: not the next part */
};

static enum errc find_place(struct work *w, struct uuid upload_id, struct upload_piece *p, struct err *e)
{
    TRY(upload_get(w, upload_id, &p->upload, e));
    TRY(upload_check_open(&p->upload, e));
    if (p->offset != p->upload.offset)
        return ERR_OK;
    TRY(check_part(&p->upload, p->bytes, e));
    return dataset_get(w, p->upload.dataset_id, &p->dataset, e);
}

enum errc upload_part_seal(struct work *w, struct uuid upload_id, int64_t offset, struct str bytes,
                           const struct upload_piece **ret, struct err *e)
{
    struct upload_piece *p = ARENA_NEW(w->arena, struct upload_piece);
    ASSERT(!w->tx);
    p->offset = offset;
    p->bytes = bytes;
    TRY(RUN_READ(w, find_place(w, upload_id, p, e), e));
    *ret = p;
    if (offset != p->upload.offset) {
        sha256(bytes.ptr ? bytes.ptr : "", bytes.len, p->sha);
        return ERR_OK;
    }
    p->object = part_new(&p->upload, &p->dataset);
    return object_seal_whole(w, &p->object, bytes, &p->sealed, e);
}

/* A part that came before, its answer lost: the same bytes again are no fault. */
static enum errc seen_before(struct work *w, const struct upload *u, const struct upload_piece *p, struct err *e)
{
    struct part there;
    bool found = false;
    if (p->offset < u->offset)
        TRY(db_maybe(w->tx, &upload_part_at_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(u->upload_id), A_I64(p->offset)), &there,
                     &found, e));
    if (found && there.size_bytes == (int64_t)p->bytes.len && mem_eq_ct(there.sha256.data.ptr, p->sha, SHA256_BYTES))
        return ERR_OK;
    return FAIL_AT(e, CONFLICT, "/offset", "The next part begins at byte %ld, not at %ld", (long)u->offset, (long)p->offset);
}

enum errc upload_part_take(struct work *w, const struct upload_piece *p, struct upload *ret, struct err *e)
{
    struct object o;
    TRY(upload_get(w, p->upload.upload_id, ret, e));
    TRY(upload_check_open(ret, e));
    if (!p->sealed)
        return seen_before(w, ret, p, e);
    TRY(object_book(w, &p->object, p->sealed, &o, e));
    TRY(take_part(w, &p->upload, o.object_id, p->bytes, ret, e));
    upload_add_limits(w, ret);
    return ERR_OK;
}

void upload_part_drop(struct work *w, const struct upload_piece *p)
{
    if (p->sealed)
        object_drop(w, p->sealed);
}

struct ended_blobs {
    struct blob_store *blobs;
    struct uuid tenant_id;
    struct upload_parts parts;
};

static void remove_blobs(void *ctx)
{
    const struct ended_blobs *b = ctx;
    struct err ignored;
    for (size_t i = 0; i < b->parts.n; i++)
        (void)!blob_delete(b->blobs, b->tenant_id, b->parts.items[i].object_id, &ignored);
}

enum errc upload_find_parts(struct work *w, struct uuid upload_id, struct upload_parts *ret, int64_t *ret_stored, struct err *e)
{
    TRY(db_many(w->tx, &upload_parts_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id)), ret, UPLOAD_PARTS_MAX, e));
    *ret_stored = 0;
    for (size_t i = 0; i < ret->n; i++)
        *ret_stored += ret->items[i].stored_bytes;
    return ERR_OK;
}

enum errc upload_end_parts(struct work *w, struct uuid upload_id, const struct upload_parts *parts, struct err *e)
{
    struct ended_blobs *b = ARENA_NEW(w->arena, struct ended_blobs);
    *b = (struct ended_blobs){ w->app->blobs, w->tenant_id, *parts };
    TRY(db_exec(w->tx, &upload_parts_end_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id)), NULL, e));
    db_after_commit(w->tx, remove_blobs, b);
    return ERR_OK;
}

enum errc upload_cancel(struct work *w, struct uuid upload_id, struct upload *ret, struct err *e)
{
    struct upload u;
    struct upload_parts parts;
    int64_t stored;
    struct uuid user = w->principal ? w->principal->user_id : UUID_NIL;
    TRY(db_one(w->tx, &upload_lock_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id), A_UUID_OR_NULL(user)), &u, e));
    if (w->principal)
        TRY(upload_check_open(&u, e));
    TRY(upload_find_parts(w, upload_id, &parts, &stored, e));
    if (parts.n > 0) {
        TRY(upload_end_parts(w, upload_id, &parts, e));
        quota_release(w, "objects", (int64_t)parts.n);
        quota_release(w, "stored_bytes", stored);
    }
    if (ret)
        *ret = u;
    return db_exec(w->tx, &upload_delete_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id)), NULL, e);
}

static enum errc end_one(const struct app *app, const struct due *d, struct arena *a, struct err *e)
{
    struct work w = { .app = app, .arena = a, .tenant_id = d->tenant_id, .now_us = clock_wall_us(app->clock) };
    enum errc rc = RUN_WRITE(&w, upload_cancel(&w, d->upload_id, NULL, e), e);
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;       /* another falaj-api was first */
}

enum errc upload_sweep(const struct app *app, struct arena *a, int64_t *ret_ended, struct err *e)
{
    struct { struct due *items; size_t n; } due;
    CLEANUP(arena_freep) struct arena *own = arena_new(16 << 20);
    struct work w = { .app = app, .arena = a };
    TRY(RUN_SYSTEM(&w, app->node_pool, TX_READ_ONLY,
                   db_many(w.tx, &upload_due_stmt, ARGS(A_I64(SWEEP_BATCH)), &due, SWEEP_BATCH, e), e));
    for (size_t i = 0; i < due.n; i++) {
        TRY(end_one(app, &due.items[i], own, e));
        log_event(LOG_INFO, "upload.ended", "upload", LOG_ID("upl", due.items[i].upload_id), NULL);
        arena_reset(own);
        ++*ret_ended;
    }
    return ERR_OK;
}
