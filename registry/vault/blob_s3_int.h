/* SPDX-License-Identifier: Apache-2.0 */
/* blob_s3_int.h - what the two files of the S3 blob store share. */
#pragma once
#include <pthread.h>
#include "core/s3/s3.h"
#include "registry/vault/blob_int.h"

/* BLOB_S3_PART: bytes of an upload's part and of what a reader fetches at once; each open writer and reader has as much memory.
 * */
enum { BLOB_S3_PART = 8 << 20, BLOB_S3_SCRATCH = 16 << 20 };

struct s3_store {
    struct blob_store face;
    struct s3 *s3;
    pthread_mutex_t lock;               /* guards asked_us, answer */
    int64_t asked_us;
    struct err answer;                  /* to the last question whether the store is there */
};

static inline struct s3_store *s3_store_of(struct blob_store *s)
{
    return (struct s3_store *)s;
}

enum errc blob_s3_stage_put(struct blob_store *s, struct uuid object, uint64_t offset, struct str part, struct err *e);
enum errc blob_s3_stage_hash(struct blob_store *s, struct uuid object, struct arena *scratch, uint64_t size,
                             uint8_t ret_sha256[32],
                             struct err *e);
enum errc blob_s3_stage_commit(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e);
int blob_s3_stage_sweep(struct s3_store *s, int64_t before_us);
