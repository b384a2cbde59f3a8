/* SPDX-License-Identifier: Apache-2.0 */
/* upload.h - a data set's content that arrives in parts, so that a cut connection costs one part and not the whole.
 *
 * Invariants: the parts of an OPEN upload are objects of the tenant of kind "part", each sealed under a key of its own in the upload's
 * zone and booked like any object; they follow each other without gap and end at `offset`. A COMPLETED upload has no parts, and its
 * version number. Only who began an upload sees it; an expired one is not there. A content that is refused ends its upload.
 * Completing reads and writes the whole content, which takes long: it holds no transaction meanwhile, but the upload, by a
 * claim that each report of progress renews. A claim that ran out (a process that died) is as if it had never been: the upload
 * is OPEN again.
 * Calling order: upload_begin -> upload_part_seal, upload_part_take (in order; the same one again is harmless) ->
 * upload_claim, upload_assemble, upload_finish | upload_cancel. Each inside a transaction but upload_part_seal, upload_assemble
 * and upload_give_up, which have short ones of their own. Limits: the enum. Memory: one part, or one chunk of each part in turn.
 * Errors: NOT_FOUND (another tenant's, another person's, expired), CONFLICT (wrong offset, not all there, ended), TOO_LARGE, LIMIT (too
 * many), QUOTA, BAD_DATA (row and column, or another digest), and those of object.h. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "registry/catalog/dataset.h"

#define UPLOAD_SIZE_MAX (INT64_C(1) << 30)      /* bytes of a whole content: what every part of the platform can hold (transfer.h) */
enum {
    UPLOAD_PART_MAX = 4 << 20,                  /* bytes of a part: what is lost when a connection breaks */
    UPLOAD_PARTS_MAX = 4096,
    UPLOADS_OF_TENANT = 64, UPLOADS_OF_USER = 16,   /* open at once */
    UPLOAD_LIFE_S = 86400, UPLOAD_CLAIM_S = 60,
};

struct upload {
    struct uuid upload_id, dataset_id;
    struct str zone, state;
    int format;                                 /* enum data_format */
    int64_t size_bytes;
    struct str sha256;                          /* hex; absent: none was announced */
    int64_t offset, parts, part_bytes_max, version, completed_bytes;
    struct str failure;                         /* of the last try to complete it; absent: none */
    struct timestamp created_at, expires_at;
};
extern const struct schema upload_schema;

struct upload_new {
    struct uuid dataset_id;
    int64_t size_bytes;
    struct str sha256, zone;                    /* zone STR_NULL: the home zone */
    int format;                                 /* enum data_format */
};
extern const struct schema upload_new_schema;

enum errc upload_begin(struct work *w, const struct upload_new *in, struct upload *ret, struct err *e) MUST_CHECK;
enum errc upload_get(struct work *w, struct uuid upload_id, struct upload *ret, struct err *e) MUST_CHECK;
/* Open ones of the caller. dataset nil: of any data set. */
enum errc upload_list(struct work *w, struct uuid dataset_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* A part in two steps: sealed without a transaction (w->tx is NULL), where it is the next one; then taken inside one. bytes must
 * live until then. A part that is not taken is dropped. */
struct upload_piece;
enum errc upload_part_seal(struct work *w, struct uuid upload_id, int64_t offset, struct str bytes,
                           const struct upload_piece **ret, struct err *e) MUST_CHECK;
enum errc upload_part_take(struct work *w, const struct upload_piece *p, struct upload *ret, struct err *e) MUST_CHECK;
void upload_part_drop(struct work *w, const struct upload_piece *p);
/* All parts are there and nobody else is at it: from now on nobody is until upload_finish, upload_give_up or UPLOAD_CLAIM_S of
 * silence. */
struct upload_run;
enum errc upload_claim(struct work *w, struct uuid upload_id, struct upload_run **ret, struct upload *ret_upload,
    struct err *e) MUST_CHECK;
/* What another unit of work claimed, gone on with in this one. CONFLICT: the claim is lost. */
struct uuid upload_run_claim(const struct upload_run *run);
enum errc upload_resume(struct work *w, struct uuid upload_id, struct uuid claim, struct upload_run **ret,
    struct err *e) MUST_CHECK;
/* The content checked and sealed as the version's object, which no row knows yet. CONFLICT: the claim is lost. */
enum errc upload_assemble(struct work *w, struct upload_run *run, struct err *e) MUST_CHECK;
enum errc upload_finish(struct work *w, struct upload_run *run, struct dataset_version *ret, struct err *e) MUST_CHECK;
/* After either failed: what was written goes, and the upload is OPEN again with `why` as its failure; a content that is refused
 * (BAD_DATA) will be refused again: its parts go, and the upload is REFUSED until it expires (is_kept) or goes too. */
void upload_give_up(struct work *w, struct upload_run *run, const struct err *why, bool is_kept);
/* Ends it with all that was sent. ret may be NULL. */
enum errc upload_cancel(struct work *w, struct uuid upload_id, struct upload *ret, struct err *e) MUST_CHECK;

/* Ends what has expired, of every tenant. */
enum errc upload_sweep(const struct app *app, struct arena *a, int64_t *ret_ended, struct err *e) MUST_CHECK;
