/* SPDX-License-Identifier: Apache-2.0 */
/* s3_int.h - one signed request with its tries, for the calls of s3.c and s3_upload.c. */
#pragma once
#include "core/http/client.h"
#include "core/s3/s3.h"
#include "core/s3/s3_xml.h"

struct s3_request {
    const char *method;
    const char *key;            /* NULL: the bucket itself */
    const char *query;          /* encoded, sorted, each with its '=' */
    struct str body;            /* STR_NULL: none */
    const char *header;         /* one more, unsigned; NULL: none */
    bool (*on_data)(void *ctx, const char *p, size_t n);
    void (*before_try)(void *ctx);      /* forgets what on_data took of a try that was cut */
    void *ctx;
    int tries, timeout_ms;      /* 0: S3_TRIES, the store's */
};

/* Statuses of 300 and above that are worth no further try are results. */
MUST_CHECK enum errc s3_call(struct s3 *s, const struct s3_request *q, struct arena *a, struct http_result *ret, struct err *e);
/* The error that such a status is. OK for 2xx. */
enum errc s3_refusal(const struct http_result *r, struct err *e);
/* The prefix of the URL with its '/', or "". */
const char *s3_prefix(const struct s3 *s);
/* RFC 3339 as S3 writes it; 0 when it is not. */
int64_t s3_when(const char *text);
/* key without the URL's prefix, in out; false when it has another. */
bool s3_own_key(const struct s3 *s, const char *key, char out[S3_KEY]);
