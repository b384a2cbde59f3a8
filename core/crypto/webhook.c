/* SPDX-License-Identifier: Apache-2.0 */
/* webhook.c - one HMAC over what the receiver sees. */
#include "core/crypto/webhook.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/secmem.h"

enum { SECRET_BYTES = 32, HEAD_MAX = 256 };

enum errc webhook_secret_new(char ret[WEBHOOK_SECRET_TEXT], struct err *e)
{
    uint8_t bytes[SECRET_BYTES];
    TRY(rand_key(bytes, sizeof bytes, e));
    memcpy(ret, "whsec_", 6);
    base64_encode(bytes, sizeof bytes, ret + 6, false);
    secret_wipe(bytes, sizeof bytes);
    return ERR_OK;
}

static size_t secret_bytes(struct str text, uint8_t out[WEBHOOK_SECRET_MAX])
{
    size_t n = 0;
    if (str_starts(text, "whsec_") && base64_decode(str_n(text.ptr + 6, text.len - 6), out, WEBHOOK_SECRET_MAX, &n, false))
        return n;
    n = text.len < WEBHOOK_SECRET_MAX ? text.len : WEBHOOK_SECRET_MAX;
    memcpy(out, text.ptr, n);
    return n;
}

enum errc webhook_sign(struct str secret, struct str id, int64_t at_s, struct str body, char ret[WEBHOOK_SIGNATURE],
    struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(WEBHOOK_BODY_MAX + HEAD_MAX);
    uint8_t key[WEBHOOK_SECRET_MAX], mac[SHA256_BYTES];
    buf_printf(&b, "%.*s.%lld.", STR_ARG(id), (long long)at_s);
    buf_add_str(&b, body);
    if (b.overflow)
        return FAIL(e, LIMIT, "A webhook carries at most %d bytes", WEBHOOK_BODY_MAX);
    hmac_sha256(key, secret_bytes(secret, key), b.ptr, b.len, mac);
    secret_wipe(key, sizeof key);
    memcpy(ret, "v1,", 3);
    base64_encode(mac, sizeof mac, ret + 3, false);
    return ERR_OK;
}
