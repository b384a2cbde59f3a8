/* SPDX-License-Identifier: Apache-2.0 */
/* kwp.c - AES key wrap with padding (RFC 5649) by OpenSSL's wrap ciphers, and the blob that binds it to its place. */
#include "core/crypto/kwp.h"
#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include "core/crypto/hash.h"

static const EVP_CIPHER *wrap_cipher(size_t kek_len)
{
    return kek_len == 16 ? EVP_aes_128_wrap_pad() : kek_len == 24 ? EVP_aes_192_wrap_pad() : kek_len == 32 ? EVP_aes_256_wrap_pad() : NULL;
}

/* One pass of the cipher; OpenSSL writes the wrapped form only as a whole. False: it refused. */
static bool wrap_pass(const uint8_t *kek, size_t kek_len, int encrypt, const void *in, size_t n, uint8_t *out, size_t *ret_len)
{
    int len = 0, tail = 0;
    const EVP_CIPHER *cipher = wrap_cipher(kek_len);
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    if (c)
        EVP_CIPHER_CTX_set_flags(c, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    bool ok = c && cipher && EVP_CipherInit_ex(c, cipher, NULL, kek, NULL, encrypt) == 1
              && EVP_CipherUpdate(c, out, &len, in, (int)n) == 1 && len > 0 && EVP_CipherFinal_ex(c, out + len, &tail) == 1;
    EVP_CIPHER_CTX_free(c);
    ERR_clear_error();
    *ret_len = ok ? (size_t)(len + tail) : 0;
    return ok;
}

enum errc kwp_wrap(const uint8_t *kek, size_t kek_len, const void *plain, size_t n, uint8_t *out, size_t cap, size_t *ret_len,
                   struct err *e)
{
    if (n == 0 || n > KWP_PLAIN_MAX || cap < (n + 7) / 8 * 8 + KWP_EXTRA)
        return FAIL(e, LIMIT, "no room for a wrapped key of %zu bytes", n);
    return wrap_pass(kek, kek_len, 1, plain, n, out, ret_len) ? ERR_OK : FAIL(e, INTERNAL, "wrapping failed");
}

enum errc kwp_unwrap(const uint8_t *kek, size_t kek_len, const void *wrapped, size_t n, uint8_t *out, size_t cap, size_t *ret_len,
                     struct err *e)
{
    uint8_t plain[KWP_PLAIN_MAX + 2 * KWP_EXTRA];
    size_t len = 0;
    if (n < 2 * KWP_EXTRA || n % 8 != 0 || n > KWP_PLAIN_MAX + KWP_EXTRA || !wrap_pass(kek, kek_len, 0, wrapped, n, plain, &len)
        || len > cap) {
        secret_wipe(plain, sizeof plain);
        return FAIL(e, DAMAGED, "the wrapped key does not open");
    }
    memcpy(out, plain, len);
    secret_wipe(plain, sizeof plain);
    *ret_len = len;
    return ERR_OK;
}

static enum errc binding_of(const struct aad *aad, const uint8_t head[BLOB_HEAD], const struct secret32 *key,
                            uint8_t out[SHA256_BYTES], struct err *e)
{
    struct aad all = *aad;
    aad_bytes(&all, head, BLOB_HEAD);
    if (all.overflow)
        return FAIL(e, INVALID, "the associated data is too long");
    hmac_sha256(key->b, KEY_BYTES, all.b, all.n, out);
    return ERR_OK;
}

enum errc kwp_blob_make(const struct blob_head *head, const struct aad *aad, const struct secret32 *key,
                        const uint8_t wrapped[KWP_KEY], struct key_blob *ret, struct err *e)
{
    struct blob_head h = *head;
    struct key_blob blob = { .n = KWP_BLOB };
    h.alg = BLOB_AES256_KWP;
    blob_head_write(&h, blob.b);
    memcpy(blob.b + BLOB_HEAD, wrapped, KWP_KEY);
    TRY(binding_of(aad, blob.b, key, blob.b + BLOB_HEAD + KWP_KEY, e));
    *ret = blob;
    return ERR_OK;
}

enum errc kwp_blob_parse(const struct blob_head *expect, const struct key_blob *blob, struct err *e)
{
    struct blob_head h;
    TRY(blob_parse(blob->b, blob->n, &h, e));
    if (blob->n != KWP_BLOB || h.alg != BLOB_AES256_KWP || h.zone != expect->zone || !uuid_eq(h.tenant, expect->tenant)
        || h.version != expect->version)
        return FAIL(e, DAMAGED, "the wrapped key does not open at this place");
    return ERR_OK;
}

enum errc kwp_blob_check(const struct aad *aad, const struct key_blob *blob, const struct secret32 *key, struct err *e)
{
    uint8_t binding[SHA256_BYTES];
    if (blob->n != KWP_BLOB)
        return FAIL(e, DAMAGED, "the wrapped key does not open at this place");
    TRY(binding_of(aad, blob->b, key, binding, e));
    if (!mem_eq_ct(binding, blob->b + BLOB_HEAD + KWP_KEY, sizeof binding))
        return FAIL(e, DAMAGED, "the wrapped key does not open at this place");
    return ERR_OK;
}
