/* SPDX-License-Identifier: Apache-2.0 */
/* upload_int.h - what upload.c and upload_complete.c share: the columns of an upload, and its parts. */
#pragma once
#include "registry/catalog/upload.h"

/* A claim that ran out counts for nothing. */
#define UPLOAD_COLUMNS \
    "upload_id, dataset_id, zone, format,\n" \
    "       CASE WHEN state = 'COMPLETING' AND claimed_until < now() THEN 'OPEN' ELSE state END AS state,\n" \
    "       size_bytes, encode(sha256, 'hex') AS sha256, received AS \"offset\", parts, coalesce(version, 0) AS version,\n" \
    "       completed_bytes, failure, created_at, expires_at"

struct part { struct uuid object_id; int64_t start, size_bytes, stored_bytes; struct bytes sha256; };
extern const struct schema part_schema;
struct upload_parts { struct part *items; size_t n; };

void upload_add_limits(const struct work *w, struct upload *u);
enum errc upload_check_open(const struct upload *u, struct err *e) MUST_CHECK;
enum errc upload_find_parts(struct work *w, struct uuid upload_id, struct upload_parts *ret, int64_t *ret_stored,
    struct err *e) MUST_CHECK;
/* Their rows and keys now, their blobs after the commit. */
enum errc upload_end_parts(struct work *w, struct uuid upload_id, const struct upload_parts *parts, struct err *e) MUST_CHECK;
