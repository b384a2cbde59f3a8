/* SPDX-License-Identifier: Apache-2.0 */
/* upload.h - a data set's content that arrives in parts, so that a cut connection costs one part and not the whole.
 *
 * Invariants: the parts of an OPEN upload are objects of the tenant of kind "part", each sealed under a key of its own in the upload's
 * zone and booked like any object; they follow each other without gap and end at `offset`. A COMPLETED upload has no parts, and its
 * version number. Only who began an upload sees it; an expired one is not there. A content that is refused ends its upload.
 * Calling order: upload_begin -> upload_part (in order; the same one again is harmless) -> upload_complete | upload_cancel. Each inside a
 * transaction. Limits: the enum. Memory: one part, or one chunk of each part in turn.
 * Errors: NOT_FOUND (another tenant's, another person's, expired), CONFLICT (wrong offset, not all there, ended), TOO_LARGE, LIMIT (too
 * many), QUOTA, BAD_DATA (row and column, or another digest), and those of object.h. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "registry/catalog/dataset.h"

#define UPLOAD_SIZE_MAX (INT64_C(1) << 30)      /* bytes of a whole content: what every part of the platform can hold (transfer.h) */
enum {
    UPLOAD_PART_MAX = 4 << 20,                  /* bytes of a part: half a minute at 1.1 Mbit/s (api.body_deadline_ms) */
    UPLOAD_PARTS_MAX = 4096,
    UPLOADS_OF_TENANT = 64, UPLOADS_OF_USER = 16,   /* open at once */
    UPLOAD_LIFE_S = 86400,
};

struct upload {
    struct uuid upload_id, dataset_id;
    struct str zone, state;
    int64_t size_bytes;
    struct str sha256;                          /* hex; absent: none was announced */
    int64_t offset, parts, part_bytes_max, version;
    struct timestamp created_at, expires_at;
};
extern const struct schema upload_schema;

struct upload_new {
    struct uuid dataset_id;
    int64_t size_bytes;
    struct str sha256, zone;                    /* zone STR_NULL: the home zone */
};
extern const struct schema upload_new_schema;

enum errc upload_begin(struct work *w, const struct upload_new *in, struct upload *ret, struct err *e) MUST_CHECK;
enum errc upload_get(struct work *w, struct uuid upload_id, struct upload *ret, struct err *e) MUST_CHECK;
/* Open ones of the caller. dataset nil: of any data set. */
enum errc upload_list(struct work *w, struct uuid dataset_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc upload_part(struct work *w, struct uuid upload_id, int64_t offset, struct str bytes, struct upload *ret, struct err *e) MUST_CHECK;
enum errc upload_complete(struct work *w, struct uuid upload_id, struct dataset_version *ret, struct err *e) MUST_CHECK;
/* Ends it with all that was sent. ret may be NULL. */
enum errc upload_cancel(struct work *w, struct uuid upload_id, struct upload *ret, struct err *e) MUST_CHECK;

/* Ends what has expired, of every tenant. */
enum errc upload_sweep(const struct app *app, struct arena *a, int64_t *ret_ended, struct err *e) MUST_CHECK;
