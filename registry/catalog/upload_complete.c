/* SPDX-License-Identifier: Apache-2.0 */
/* upload_complete.c - the parts of an upload read in order through the check of their format into the version's own object: the
 * content is never whole in memory, and what a version is does not depend on how it came.
 *
 * The claim is a number in the upload's row. Who holds it reads parts and writes the object without a transaction, says now and
 * then how far it is, and makes the version in one step that asks for the claim again; who has lost it makes nothing. */
#include "registry/catalog/upload_int.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/crypto/hash.h"
#include "core/crypto/secmem.h"
#include "core/crypto/stream.h"
#include "core/db/run_tx.h"
#include "registry/registry_int.h"
#include "registry/vault/object.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota.h"

enum { REPORT_BYTES = 16 << 20, REPORT_US = 2000000, FAILURE_MAX = 500 };

struct upload_run {
    struct uuid claim;
    struct upload upload;
    struct dataset dataset;
    struct upload_parts parts;
    int64_t stored_bytes, done_bytes, told_bytes, told_us;
    struct data_checker check;
    struct data_schema columns;
    struct data_found found;
    uint8_t sha[SHA256_BYTES];
    struct object_new object;
    const struct object_sealed *sealed;
};

const struct stmt upload_claim_stmt = { .name = "upload_claim", .params = "uuui", .row = &upload_schema, .card = CARD_ONE, .sql =
    "UPDATE upload SET state = 'COMPLETING', claim = $3, claimed_until = now() + $4 * interval '1 second',\n"
    "  completed_bytes = 0, failure = NULL WHERE tenant_id = $1 AND upload_id = $2 RETURNING " UPLOAD_COLUMNS };
const struct stmt upload_resume_stmt = { .name = "upload_resume", .params = "uuui", .row = &upload_schema, .card = CARD_MAYBE,
    .sql =
    "UPDATE upload SET claimed_until = now() + $4 * interval '1 second'\n"
    " WHERE tenant_id = $1 AND upload_id = $2 AND claim = $3 RETURNING " UPLOAD_COLUMNS };
const struct stmt upload_progress_stmt = { .name = "upload_progress", .params = "uuuii", .card = CARD_NONE, .sql =
    "UPDATE upload SET completed_bytes = $4, claimed_until = now() + $5 * interval '1 second'\n"
    " WHERE tenant_id = $1 AND upload_id = $2 AND claim = $3" };
const struct stmt upload_complete_stmt = { .name = "upload_complete", .params = "uuui", .card = CARD_NONE, .sql =
    "UPDATE upload SET state = 'COMPLETED', version = $4, completed_bytes = size_bytes, claim = NULL, claimed_until = NULL\n"
    " WHERE tenant_id = $1 AND upload_id = $2 AND claim = $3" };
const struct stmt upload_unclaim_stmt = { .name = "upload_unclaim", .params = "uuuss", .card = CARD_NONE, .sql =
    "UPDATE upload SET state = $4, failure = $5, completed_bytes = 0, claim = NULL, claimed_until = NULL\n"
    " WHERE tenant_id = $1 AND upload_id = $2 AND claim = $3" };

/* Statements that ask for the claim. */
static enum errc still_mine(int64_t rows, struct err *e)
{
    return rows == 1 ? ERR_OK : FAIL(e, CONFLICT, "The upload was ended, or is being completed by another call");
}

static enum errc may_complete(const struct upload *u, struct err *e)
{
    TRY(upload_check_open(u, e));
    if (u->offset == u->size_bytes)
        return ERR_OK;
    return FAIL(e, CONFLICT, "The upload is not complete: %ld of %ld bytes arrived; the next part begins at byte %ld",
        (long)u->offset,
                (long)u->size_bytes, (long)u->offset);
}

static enum errc fill_run(struct work *w, struct upload_run *run, struct err *e)
{
    upload_add_limits(w, &run->upload);
    TRY(dataset_get(w, run->upload.dataset_id, &run->dataset, e));
    return upload_find_parts(w, run->upload.upload_id, &run->parts, &run->stored_bytes, e);
}

enum errc upload_claim(struct work *w, struct uuid upload_id, struct upload_run **ret, struct upload *ret_upload, struct err *e)
{
    struct upload_run *run = ARENA_NEW(w->arena, struct upload_run);
    struct upload *u = &run->upload;
    run->claim = uuid_v7(w->now_us);
    TRY(db_one(w->tx, &upload_lock_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id), A_UUID(w->principal->user_id)), u, e));
    TRY(may_complete(u, e));
    TRY(db_one(w->tx, &upload_claim_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id), A_UUID(run->claim),
        A_I64(UPLOAD_CLAIM_S)), u, e));
    TRY(fill_run(w, run, e));
    if (ret_upload)
        *ret_upload = *u;
    *ret = run;
    return ERR_OK;
}

struct uuid upload_run_claim(const struct upload_run *run)
{
    return run->claim;
}

enum errc upload_resume(struct work *w, struct uuid upload_id, struct uuid claim, struct upload_run **ret, struct err *e)
{
    struct upload_run *run = ARENA_NEW(w->arena, struct upload_run);
    bool found;
    run->claim = claim;
    TRY(db_maybe(w->tx, &upload_resume_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id), A_UUID(claim), A_I64(UPLOAD_CLAIM_S)),
        &run->upload,
                 &found, e));
    TRY(still_mine(found, e));
    TRY(fill_run(w, run, e));
    *ret = run;
    return ERR_OK;
}

struct assembly {
    struct work *w;
    struct upload_run *run;
};

static enum errc report(struct work *w, struct upload_run *run, struct err *e)
{
    int64_t rows = 0, now = clock_mono_us(w->app->clock);
    bool is_due = run->done_bytes - run->told_bytes >= REPORT_BYTES || now - run->told_us >= REPORT_US;
    if (!is_due)
        return ERR_OK;
    run->told_bytes = run->done_bytes;
    run->told_us = now;
    TRY(RUN_WRITE(w, db_exec(w->tx, &upload_progress_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(run->upload.upload_id),
        A_UUID(run->claim),
                                                               A_I64(run->done_bytes), A_I64(UPLOAD_CLAIM_S)), &rows, e), e));
    return still_mine(rows, e);
}

static enum errc feed_part(const struct assembly *a, struct uuid object_id, char *piece, struct object_sink *to, struct err *e)
{
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    const struct object_keys *keys;
    struct work *w = a->w;
    ssize_t n;
    TRY(RUN_READ(w, object_find(w, object_id, "part", &keys, e), e));
    TRY(object_open_found(w, keys, &r, e));
    while ((n = object_read(r, piece, STREAM_CHUNK)) > 0) {
        TRY(data_checker_add(&a->run->check, piece, (size_t)n, e));
        TRY(object_add(to, piece, (size_t)n, e));
        a->run->done_bytes += n;
        TRY(report(w, a->run, e));
    }
    if (n < 0)
        *e = *object_reader_error(r);
    return n < 0 ? e->code : ERR_OK;
}

static enum errc feed_parts(void *ctx, struct object_sink *to, struct err *e)
{
    const struct assembly *a = ctx;
    char *piece = arena_try(a->w->arena, STREAM_CHUNK);
    enum errc rc = piece ? ERR_OK : FAIL(e, LIMIT, "No memory to put the parts together");
    for (size_t i = 0; i < a->run->parts.n && rc == ERR_OK; i++)
        rc = feed_part(a, a->run->parts.items[i].object_id, piece, to, e);
    if (piece)
        secret_wipe(piece, STREAM_CHUNK);
    return rc;
}

enum errc upload_assemble(struct work *w, struct upload_run *run, struct err *e)
{
    const struct upload *u = &run->upload;
    struct assembly a = { w, run };
    run->columns = dataset_columns(&run->dataset);
    run->told_us = clock_mono_us(w->app->clock);
    run->object = (struct object_new){ .zone = u->zone, .kind = "dataset", .data_class = run->dataset.data_class,
        .freed_objects = (int64_t)run->parts.n, .freed_bytes = run->stored_bytes,
        .sha256 = u->sha256.ptr && hex_decode(u->sha256, run->sha, sizeof run->sha) ? run->sha : NULL };
    TRY(data_checker_new(w->arena, u->format, &run->columns, (uint64_t)u->size_bytes, &run->check, e));
    TRY(object_seal(w, &run->object, &(struct object_source){ feed_parts, &a }, &run->sealed, e));
    return data_checker_end(&run->check, &run->found, e);
}

enum errc upload_finish(struct work *w, struct upload_run *run, struct dataset_version *ret, struct err *e)
{
    struct uuid upload_id = run->upload.upload_id;
    struct object o;
    int64_t rows;
    TRY(db_exec(w->tx, &upload_progress_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id), A_UUID(run->claim),
        A_I64(run->done_bytes),
                                                  A_I64(UPLOAD_CLAIM_S)), &rows, e));      /* the row is locked, and mine */
    TRY(still_mine(rows, e));
    TRY(object_book(w, &run->object, run->sealed, &o, e));
    TRY(dataset_version_of(w, run->upload.dataset_id, o.object_id, run->upload.format,
                           &run->found, ret, e));
    TRY(upload_end_parts(w, upload_id, &run->parts, e));
    return db_exec(w->tx, &upload_complete_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(upload_id), A_UUID(run->claim),
        A_I64(ret->version)), NULL, e);
}

static enum errc unclaim(struct work *w, const struct upload_run *run, struct str why, bool is_refused, struct err *e)
{
    int64_t rows;
    TRY(db_exec(w->tx, &upload_unclaim_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(run->upload.upload_id), A_UUID(run->claim),
                                                  A_TEXT(is_refused ? "REFUSED" : "OPEN"), A_STR(why)), &rows, e));
    if (!rows || !is_refused)
        return ERR_OK;
    TRY(upload_end_parts(w, run->upload.upload_id, &run->parts, e));
    quota_release(w, "objects", (int64_t)run->parts.n);
    quota_release(w, "stored_bytes", run->stored_bytes);
    return ERR_OK;
}

static enum errc end_refused(struct work *w, struct upload_run *run, struct str why, struct err *e)
{
    TRY(unclaim(w, run, why, false, e));
    return upload_cancel(w, run->upload.upload_id, NULL, e);
}

void upload_give_up(struct work *w, struct upload_run *run, const struct err *why, bool is_kept)
{
    struct err e;
    bool is_refused = why->code == ERR_BAD_DATA;
    struct str text = str_c(why->msg);
    text.len = text.len < FAILURE_MAX ? text.len : FAILURE_MAX;
    if (run->sealed)
        object_drop(w, run->sealed);
    enum errc rc = is_refused && !is_kept ? RUN_WRITE(w, end_refused(w, run, text, &e), &e) : RUN_WRITE(w, unclaim(w, run, text,
        is_refused, &e), &e);
    if (rc != ERR_OK)
        log_err(LOG_WARN, "upload.give_up", &e);        /* the claim runs out by itself */
}
