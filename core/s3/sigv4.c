/* SPDX-License-Identifier: Apache-2.0 */
/* sigv4.c - canonical request, string to sign, a key derived for day, region and service, HMAC. */
#include "core/s3/sigv4.h"

#include <stdio.h>
#include <time.h>
#include "core/crypto/hash.h"
#include "core/crypto/secmem.h"

enum { SCOPE = 128, REQUEST_MAX = 16 * 1024, SIGNING_KEY = 192 };
static const char SIGNED[] = "host;x-amz-content-sha256;x-amz-date";

void sigv4_time(int64_t at_us, char out[SIGV4_TIME])
{
    time_t t = (time_t)(at_us / 1000000);
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(out, SIGV4_TIME, "%Y%m%dT%H%M%SZ", &tm);
}

bool sigv4_encode(struct buf *b, struct str s, bool keep_slash)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' ||
                        c == '_' || c == '~' || (c == '/' && keep_slash);
        if (!(is_plain ? buf_add_char(b, (char)c) : buf_printf(b, "%%%02X", c)))
            return false;
    }
    return true;
}

static bool hash_of_request(const struct sigv4 *in, const char *time, char out[65])
{
    uint8_t sha[SHA256_BYTES];
    char body[65];
    struct buf b = BUF(REQUEST_MAX);
    hex_encode(in->body_sha256, 32, body);
    buf_printf(&b, "%s\n%.*s\n%.*s\nhost:%.*s\nx-amz-content-sha256:%s\nx-amz-date:%s\n\n%s\n%s", in->method, STR_ARG(in->path),
               STR_ARG(in->query), STR_ARG(in->host), body, time, SIGNED, body);
    sha256(b.ptr, b.len, sha);
    hex_encode(sha, sizeof sha, out);
    bool is_whole = !b.overflow;
    buf_release(&b);
    return is_whole;
}

static void hmac(uint8_t key[SHA256_BYTES], struct str text)
{
    uint8_t out[SHA256_BYTES];
    hmac_sha256(key, SHA256_BYTES, text.ptr, text.len, out);
    memcpy(key, out, SHA256_BYTES);
}

bool sigv4_header(const struct sigv4 *in, char out[SIGV4_HEADER])
{
    char when[SIGV4_TIME], scope[SCOPE], request[65], text[512], first[SIGNING_KEY], hex[65];
    uint8_t key[SHA256_BYTES];
    sigv4_time(in->at_us, when);
    int n = snprintf(scope, sizeof scope, "%.8s/%s/s3/aws4_request", when, in->region);
    int k = snprintf(first, sizeof first, "AWS4%s", in->secret);
    if (n >= (int)sizeof scope || k >= (int)sizeof first || !hash_of_request(in, when, request))
        return false;
    int len = snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", when, scope, request);
    hmac_sha256(first, (size_t)k, when, 8, key);
    hmac(key, str_c(in->region));
    hmac(key, STR("s3"));
    hmac(key, STR("aws4_request"));
    hmac(key, str_n(text, (size_t)len));
    hex_encode(key, sizeof key, hex);
    secret_wipe(first, sizeof first);
    return snprintf(out, SIGV4_HEADER, "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s", in->key_id, scope,
                    SIGNED,
                    hex) < SIGV4_HEADER;
}
