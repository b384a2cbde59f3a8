/* SPDX-License-Identifier: Apache-2.0 */
/* sigv4.h - the signature of a request to S3: which bytes are signed, and the header that carries it. Pure.
 *
 * Signed are the method, the path, the query, the host, the time and the hash of the body, so that none of them can be changed
 * on the way. libcurl's own signing is not used: 7.88 leaves the body's hash out and does not sort the query.
 * Source: "Signature Calculations for the Authorization Header (AWS Signature Version 4)", Amazon S3 API Reference. */
#pragma once
#include <stdint.h>
#include "core/base/str.h"

enum { SIGV4_TIME = 17, SIGV4_HEADER = 512 };

struct sigv4 {
    const char *method;
    struct str path;            /* absolute, each segment percent-encoded once */
    struct str query;           /* without '?', encoded, sorted by name, each with its '='; empty: none */
    struct str host;            /* as the Host header has it: with a port that is not the scheme's own */
    uint8_t body_sha256[32];
    int64_t at_us;
    const char *region, *key_id, *secret;
};

/* "20130524T000000Z": the header x-amz-date. */
void sigv4_time(int64_t at_us, char out[SIGV4_TIME]);
/* The value of the header Authorization. False: it does not fit (region and key_id are too long together). */
bool sigv4_header(const struct sigv4 *in, char out[SIGV4_HEADER]);
/* Appends s with all but unreserved characters, and '/' where keep_slash, percent-encoded as S3 wants it. */
bool sigv4_encode(struct buf *b, struct str s, bool keep_slash);
