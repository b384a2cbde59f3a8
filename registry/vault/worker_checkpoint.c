/* SPDX-License-Identifier: Apache-2.0 */
/* worker_checkpoint.c - rows first, blobs after the commit: what a crash leaves between is found by orphan_sweep.
 *
 * The new one is booked after the room of the older ones was given back, so a tenant at its limit keeps checkpointing. */
#include "registry/vault/worker_checkpoint.h"
#include "core/db/run_tx.h"
#include "keys/client.h"
#include "registry/registry_int.h"
#include "registry/vault/object_keys.h"
#include "registry/vault/tenant_key.h"

enum { DROPPED_MAX = 1024, SWEEP_JOBS = 100 };

struct ckpt_gone { struct uuid tenant_id, object_id; };
SCHEMA_OF(ckpt_gone, "An object that is gone", FIELD(ckpt_gone, tenant_id, 0, .doc = "Tenant"),
    FIELD(ckpt_gone, object_id, 0, .doc = "The object"));
struct ckpt_gone_rows { struct ckpt_gone *items; size_t n; };
struct ckpt_made { bool is_first; };
SCHEMA_OF(ckpt_made, "A checkpoint begun", FIELD(ckpt_made, is_first, 0, .doc = "The first of its attempt"));
struct ckpt_book { struct str full; };
SCHEMA_OF(ckpt_book, "How it was booked", FIELD(ckpt_book, full, 0, .doc = "The quota without room; absent: it was booked"));
struct ckpt_further { int64_t noted; };
SCHEMA_OF(ckpt_further, "Whether its attempt got further by it", FIELD(ckpt_further, noted, 0, .doc = "1: it did, and is noted"));
struct ckpt_kept { int64_t stored_bytes; };
SCHEMA_OF(ckpt_kept, "A checkpoint kept", FIELD(ckpt_kept, stored_bytes, 0, .doc = "Its stored size"));

SCHEMA_EXTERN(checkpoint, "A state that an unfinished job can go on from",
    FIELD_ID(checkpoint, object_id, "obj", F_ALWAYS, .doc = "The object that holds it"),
    FIELD(checkpoint, step, 0, .doc = "Steps, or rounds of trees, that it has behind it"),
    FIELD(checkpoint, fence, 0, .doc = "Fence of the attempt that wrote it"),
    FIELD(checkpoint, size_bytes, 0, .doc = "Bytes, sealed"), FIELD(checkpoint, zone, F_ALWAYS, .doc = "Where it lies"),
    FIELD(checkpoint, kept_at, F_ALWAYS, .doc = "When it counted from"),
    FIELD(checkpoint, place, 0, .doc = "1: the next attempt goes on from it; 2: from it if the first cannot be read"));
struct checkpoint_rows { struct checkpoint *items; size_t n; };

const struct stmt checkpoint_insert_stmt = { .name = "checkpoint_insert", .params = "uuissuuiy", .row = &ckpt_made_schema,
                                             .card = CARD_ONE, .sql =
    "WITH o AS (\n"
    "  INSERT INTO object (tenant_id, object_id, zone, kind, data_class, state) VALUES ($1, $6, $4, 'checkpoint', $5, "
    "'WRITING')),\n"
    "d AS (INSERT INTO dek (tenant_id, dek_id, object_id, zone, key_version, wrapped) VALUES ($1, $7, $6, $4, $8, $9)),\n"
    "c AS (INSERT INTO checkpoint (tenant_id, job_id, object_id, fence) VALUES ($1, $2, $6, $3))\n"
    "SELECT NOT EXISTS (SELECT FROM checkpoint k WHERE k.tenant_id = $1 AND k.job_id = $2 AND k.fence = $3) AS is_first" };
const struct stmt checkpoint_keep_stmt = { .name = "checkpoint_keep", .params = "uuiui", .row = &ckpt_kept_schema,
                                          .card = CARD_MAYBE,
                                           .sql =
    "WITH c AS (\n"
    "  UPDATE checkpoint SET step = $5, whole_at = clock_timestamp()\n"
    "   WHERE tenant_id = $1 AND job_id = $2 AND fence = $3 AND object_id = $4 AND whole_at IS NULL RETURNING object_id)\n"
    "UPDATE object SET state = 'COMMITTED' FROM c\n"
    " WHERE object.tenant_id = $1 AND object.object_id = c.object_id RETURNING object.stored_bytes" };
const struct stmt checkpoint_further_stmt = { .name = "checkpoint_further", .params = "uuii", .row = &ckpt_further_schema,
                                              .card = CARD_ONE, .sql =
    "SELECT attempt_further($1, $2, $3, $4) AS noted" };
const struct stmt checkpoint_book_stmt = { .name = "checkpoint_book", .params = "ui", .row = &ckpt_book_schema, .card = CARD_ONE,
                                          .sql =
    "SELECT checkpoint_book($1, $2) AS \"full\"" };
const struct stmt checkpoint_drop_stmt = { .name = "checkpoint_drop", .params = "uuii", .row = &ckpt_gone_schema,
                                          .card = CARD_MANY,
                                           .sql =
    "SELECT tenant_id, object_id FROM checkpoint_drop($1, $2, $3, $4)" };
const struct stmt checkpoint_sweep_stmt = { .name = "checkpoint_sweep", .params = "i", .row = &ckpt_gone_schema,
                                           .card = CARD_MANY,
                                            .sql =
    "SELECT tenant_id, object_id FROM checkpoint_sweep($1)" };

const struct stmt checkpoint_list_stmt = { .name = "checkpoint_list", .params = "uui", .row = &checkpoint_schema,
                                           .card = CARD_MANY, .sql =
    "SELECT k.object_id, k.step, k.fence, o.stored_bytes AS size_bytes, o.zone, k.whole_at AS kept_at,\n"
    "       row_number() OVER (ORDER BY k.fence DESC, k.whole_at DESC) AS place\n"
    "  FROM checkpoint k JOIN object o ON o.tenant_id = k.tenant_id AND o.object_id = k.object_id\n"
    " WHERE k.tenant_id = $1 AND k.job_id = $2 AND k.whole_at IS NOT NULL ORDER BY place LIMIT $3" };

struct ckpt_blobs {
    struct blob_store *blobs;
    struct ckpt_gone_rows rows;
};

static void remove_blobs(void *ctx)
{
    const struct ckpt_blobs *b = ctx;
    struct err ignored;
    for (size_t i = 0; i < b->rows.n; i++)      /* orphan_sweep finds what stays */
        (void)!blob_delete(b->blobs, b->rows.items[i].tenant_id, b->rows.items[i].object_id, &ignored);
}

static void remove_after_commit(struct work *w, const struct ckpt_gone_rows *rows)
{
    struct ckpt_blobs *b = ARENA_NEW(w->arena, struct ckpt_blobs);
    *b = (struct ckpt_blobs){ w->app->blobs, *rows };
    db_after_commit(w->tx, remove_blobs, b);
}

/* writing: the fence whose half written one stays; -1: none does. */
static enum errc drop(struct work *w, struct uuid job_id, int64_t writing, struct err *e)
{
    struct ckpt_gone_rows rows;
    TRY(db_many(w->tx, &checkpoint_drop_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(CHECKPOINTS_KEPT), A_I64(writing)),
                &rows, DROPPED_MAX, e));
    remove_after_commit(w, &rows);
    return ERR_OK;
}

enum errc worker_checkpoint_new(struct work *w, const struct worker_lease *l, struct str public_key, struct uuid *ret_object,
                                int64_t *ret_version, bool *ret_is_first, struct worker_release *ret, struct err *e)
{
    struct keyd_release_item *item = ARENA_NEW(w->arena, struct keyd_release_item);
    struct tenant_key tk;
    struct ckpt_made made;
    TRY(worker_object_judge(w, l, e));
    TRY(tenant_key_primary(w, l->zone, false, &tk, e));
    item->tkek = tk.ref;
    item->tkek_blob = tk.blob;
    item->dek = (struct dek_ref){ l->zone, w->tenant_id, STR("checkpoint"), uuid_v7(w->now_us), 1, uuid_v7(w->now_us) };
    TRY(keyd_dek_new(w->app->keyd, &item->tkek, &item->tkek_blob, &item->dek, &item->wrapped, NULL, e));
    TRY(drop(w, l->job_id, -1, e));         /* an answer that was lost left one behind; a lease writes one at a time */
    TRY(db_one(w->tx, &checkpoint_insert_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(l->job_id), A_I64(l->fence), A_STR(l->zone), A_STR(l->data_class),
            A_UUID(item->dek.object_id),
        A_UUID(item->dek.dek_id), A_I64(tk.ref.version), A_BYTES(item->wrapped.b, item->wrapped.n)), &made, e));
    TRY(worker_object_release(w, l, item, 1, public_key, ret, e));
    tenant_key_count(w, &tk);
    *ret_object = item->dek.object_id;
    *ret_version = item->dek.object_version;
    *ret_is_first = made.is_first;
    return ERR_OK;
}

enum errc worker_checkpoint_keep(struct work *w, const struct worker_lease *l, struct uuid object_id, int64_t step, struct err *e)
{
    struct output_file f;
    struct ckpt_kept kept;
    struct ckpt_book book;
    struct ckpt_further further;
    bool is_new = false;
    TRY(worker_output_find(w, l, object_id, &f, e));
    if (!f.stored_sha256.data.len || !str_eq_c(f.kind, "checkpoint"))
        return FAIL(e, CONFLICT, "Not all of the checkpoint has come");
    TRY(db_maybe(w->tx, &checkpoint_keep_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(l->job_id), A_I64(l->fence), A_UUID(object_id),
                                                    A_I64(step)), &kept, &is_new, e));
    if (!is_new)
        return ERR_OK;
    TRY(db_one(w->tx, &checkpoint_further_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(l->job_id), A_I64(l->fence), A_I64(step)),
               &further, e));
    TRY(drop(w, l->job_id, l->fence, e));
    TRY(db_one(w->tx, &checkpoint_book_stmt, ARGS(A_UUID(w->tenant_id), A_I64(kept.stored_bytes)), &book, e));
    return book.full.len ? FAIL(e, QUOTA, "The quota of %.*s has no room for a checkpoint of %ld bytes", STR_ARG(book.full),
                                (long)kept.stored_bytes) : ERR_OK;
}

enum errc checkpoint_list(struct work *w, struct uuid job_id, struct slice *ret, struct err *e)
{
    struct checkpoint_rows rows = { 0 };
    TRY(db_many(w->tx, &checkpoint_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(CHECKPOINTS_LISTED)), &rows,
                CHECKPOINTS_LISTED, e));
    *ret = (struct slice){ rows.items, rows.n };
    return ERR_OK;
}

static enum errc sweep(struct work *w, int64_t *ret_removed, struct err *e)
{
    struct ckpt_gone_rows rows;
    TRY(db_many(w->tx, &checkpoint_sweep_stmt, ARGS(A_I64(SWEEP_JOBS)), &rows, DROPPED_MAX, e));
    remove_after_commit(w, &rows);
    *ret_removed = (int64_t)rows.n;
    return ERR_OK;
}

enum errc checkpoint_sweep(const struct app *app, struct arena *a, int64_t *ret_removed, struct err *e)
{
    struct work w = { .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
    return RUN_SYSTEM(&w, app->node_pool, 0, sweep(&w, ret_removed, e), e);
}
