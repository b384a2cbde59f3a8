/* SPDX-License-Identifier: Apache-2.0 */
/* s3.h - a bucket of an S3 store (Amazon S3, Ceph, MinIO): objects by key, put whole or in parts, read by ranges.
 *
 * Requests name the bucket in the path and are signed (sigv4.h) with the hash of their body, which the store checks. All calls
 * may
 * be made from any thread; each has a connection of its own, kept for the next one. What the store refuses as too busy, or what
 * finds no connection, is tried up to S3_TRIES times with growing pauses: every call may be repeated.
 * Calling order: s3_new -> calls -> s3_free; s3_upload_begin -> s3_upload_part* -> s3_upload_end | s3_upload_abort.
 * Memory: nothing that is returned is owned by the caller but what is in its own buffers.
 * Errors: NOT_FOUND, EXISTS (only_new), UNAVAILABLE and DEADLINE (after all tries), LIMIT (the store is full), IO (any other
 * refusal; the store's code and status in the detail), INVALID (settings that cannot be).
 * Source: Amazon S3 API Reference, 2006-03-01. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* S3_PART_MIN: of every part of an upload but the last one (Amazon S3 User Guide, "Multipart upload limits"). */
enum { S3_KEY = 512, S3_UPLOAD_ID = 1100, S3_ETAG = 128, S3_LIST_MAX = 1000, S3_PARTS_MAX = 10000, S3_TRIES = 5,
       S3_PART_MIN = 5 << 20 };

struct s3_options {
    const char *url;            /* "https://store.example:9000/bucket" or ".../bucket/prefix": keys begin behind it */
    const char *region;
    const char *key_id, *secret;
    const char *ca_file;        /* NULL or "": the system's authorities */
    int timeout_ms;             /* of one try */
};

struct s3_entry {
    char key[S3_KEY];           /* without the prefix of the URL */
    char upload_id[S3_UPLOAD_ID];   /* of s3_uploads only */
    uint64_t size;
    int64_t at_us;              /* written, or begun */
};

struct s3;

MUST_CHECK enum errc s3_new(const struct s3_options *o, struct s3 **ret, struct err *e);
void s3_free(struct s3 *s);
/* Is the bucket there, and are we let in? One try. */
MUST_CHECK enum errc s3_ping(struct s3 *s, struct err *e);

MUST_CHECK enum errc s3_put(struct s3 *s, const char *key, struct str body, bool only_new, struct err *e);
MUST_CHECK enum errc s3_size(struct s3 *s, const char *key, uint64_t *ret, struct err *e);
/* Up to n bytes from offset; *ret_n is less at the end only. */
MUST_CHECK enum errc s3_get(struct s3 *s, const char *key, uint64_t offset, void *out, size_t n, size_t *ret_n, struct err *e);
/* OK too when there is no such object: S3 does not say. */
MUST_CHECK enum errc s3_delete(struct s3 *s, const char *key, struct err *e);
/* Up to S3_LIST_MAX keys of the prefix behind `after` ("" begins), by their bytes. Fewer: the end. */
MUST_CHECK enum errc s3_list(struct s3 *s, const char *prefix, const char *after, struct s3_entry *out, size_t *ret_n,
                             struct err *e);

MUST_CHECK enum errc s3_upload_begin(struct s3 *s, const char *key, char ret_id[S3_UPLOAD_ID], struct err *e);
/* number: from 1. */
MUST_CHECK enum errc s3_upload_part(struct s3 *s, const char *key, const char *id, int number, struct str body,
                                    char ret_etag[S3_ETAG], struct err *e);
/* The object is there, whole, once this returns OK. */
MUST_CHECK enum errc s3_upload_end(struct s3 *s, const char *key, const char *id, char (*etags)[S3_ETAG], int n, struct err *e);
MUST_CHECK enum errc s3_upload_abort(struct s3 *s, const char *key, const char *id, struct err *e);
/* Uploads under way, the first S3_LIST_MAX of them. */
MUST_CHECK enum errc s3_uploads(struct s3 *s, const char *prefix, struct s3_entry *out, size_t *ret_n, struct err *e);
