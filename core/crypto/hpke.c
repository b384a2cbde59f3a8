/* SPDX-License-Identifier: Apache-2.0 */
/* hpke.c - RFC 9180 base mode, one shot, with the names of the RFC: Encap/Decap (4.1), KeySchedule (5.1), Seal/Open (6.1).
 *
 * OpenSSL 3.0 has X25519 and AES-GCM but no HPKE. HKDF (RFC 5869) is two uses of HMAC and is written out here: no output is
 * longer than one block of 32 bytes. */
#include "core/crypto/hpke.h"
#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include "core/base/assert.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/seal.h"

enum { SECRET = 32, LABELED_MAX = 2304, INFO_MAX = 2048, KEM_X25519 = 0x0020, KDF_SHA256 = 0x0001 };

struct suite {
    uint8_t id[10];
    size_t n;
};

struct schedule {
    uint8_t key[32];
    size_t key_len;
    uint8_t nonce[GCM_NONCE];
};

static const struct suite kem_suite = { { 'K', 'E', 'M', 0, KEM_X25519 }, 5 };

static struct suite hpke_suite(enum hpke_aead aead)
{
    return (struct suite){ { 'H', 'P', 'K', 'E', 0, KEM_X25519, 0, KDF_SHA256, 0, (uint8_t)aead }, 10 };
}

/* Extract(salt, "HPKE-v1" || suite_id || label || ikm) */
static void labeled_extract(const struct suite *s, const uint8_t *salt, size_t salt_len, const char *label, const void *ikm,
                            size_t ikm_len, uint8_t out[SECRET])
{
    uint8_t b[LABELED_MAX];
    size_t label_len = strlen(label), n = 0;
    ASSERT(7 + s->n + label_len + ikm_len <= sizeof b);
    memcpy(b, "HPKE-v1", 7);
    memcpy(b + 7, s->id, s->n);
    n = 7 + s->n;
    memcpy(b + n, label, label_len);
    n += label_len;
    if (ikm_len > 0)
        memcpy(b + n, ikm, ikm_len);
    hmac_sha256(salt, salt_len, b, n + ikm_len, out);
    secret_wipe(b, n + ikm_len);
}

/* Expand(prk, I2OSP(L, 2) || "HPKE-v1" || suite_id || label || info, L) for L <= 32: one block, counter 1. */
static void labeled_expand(const struct suite *s, const uint8_t prk[SECRET], const char *label, const void *info, size_t info_len,
                           uint8_t *out, size_t len)
{
    uint8_t b[256], block[SHA256_BYTES];
    size_t label_len = strlen(label), n = 2;
    ASSERT(len <= SHA256_BYTES && 2 + 7 + s->n + label_len + info_len + 1 <= sizeof b);
    b[0] = 0;
    b[1] = (uint8_t)len;
    memcpy(b + n, "HPKE-v1", 7);
    n += 7;
    memcpy(b + n, s->id, s->n);
    n += s->n;
    memcpy(b + n, label, label_len);
    n += label_len;
    memcpy(b + n, info, info_len);
    n += info_len;
    b[n++] = 1;
    hmac_sha256(prk, SECRET, b, n, block);
    memcpy(out, block, len);
    secret_wipe(block, sizeof block);
}

static bool x25519_dh(const struct secret32 *secret, const uint8_t peer[X25519_BYTES], uint8_t out[X25519_BYTES])
{
    size_t len = X25519_BYTES;
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret->b, X25519_BYTES);
    EVP_PKEY *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, peer, X25519_BYTES);
    EVP_PKEY_CTX *ctx = own ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    /* OpenSSL refuses an all-zero result by itself (RFC 7748 6.1). */
    bool ok = other && ctx && EVP_PKEY_derive_init(ctx) == 1 && EVP_PKEY_derive_set_peer(ctx, other) == 1
              && EVP_PKEY_derive(ctx, out, &len) == 1 && len == X25519_BYTES;
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(other);
    EVP_PKEY_free(own);
    ERR_clear_error();
    return ok;
}

/* ExtractAndExpand(dh, enc || pkRm) of DHKEM. */
static void kem_shared(const uint8_t dh[X25519_BYTES], const uint8_t *enc, const uint8_t *to, uint8_t out[SECRET])
{
    uint8_t prk[SECRET], context[2 * X25519_BYTES];
    memcpy(context, enc, X25519_BYTES);
    memcpy(context + X25519_BYTES, to, X25519_BYTES);
    labeled_extract(&kem_suite, NULL, 0, "eae_prk", dh, X25519_BYTES, prk);
    labeled_expand(&kem_suite, prk, "shared_secret", context, sizeof context, out, SECRET);
    secret_wipe(prk, sizeof prk);
}

/* KeySchedule for mode_base: no psk, no psk_id. */
static void key_schedule(enum hpke_aead aead, const uint8_t shared[SECRET], struct str info, struct schedule *ret)
{
    struct suite s = hpke_suite(aead);
    uint8_t context[1 + 2 * SECRET] = { 0 }, secret[SECRET];
    labeled_extract(&s, NULL, 0, "psk_id_hash", NULL, 0, context + 1);
    labeled_extract(&s, NULL, 0, "info_hash", info.ptr, info.len, context + 1 + SECRET);
    labeled_extract(&s, shared, SECRET, "secret", NULL, 0, secret);
    ret->key_len = aead == HPKE_AES128_GCM ? 16 : 32;
    labeled_expand(&s, secret, "key", context, sizeof context, ret->key, ret->key_len);
    labeled_expand(&s, secret, "base_nonce", context, sizeof context, ret->nonce, GCM_NONCE);
    secret_wipe(secret, sizeof secret);
}

static enum errc check_sizes(enum hpke_aead aead, struct str info, struct str aad, size_t n, struct err *e)
{
    if (aead != HPKE_AES128_GCM && aead != HPKE_AES256_GCM)
        return FAIL(e, INVALID, "no such AEAD");
    if (info.len > INFO_MAX || aad.len > INT_MAX || n > INT_MAX - HPKE_OVERHEAD)
        return FAIL(e, LIMIT, "the message or its info is too long");
    return ERR_OK;
}

enum errc x25519_keygen(struct secret32 *ret_secret, uint8_t ret_public[X25519_BYTES], struct err *e)
{
    TRY(rand_key(ret_secret->b, X25519_BYTES, e));
    return x25519_public(ret_secret, ret_public, e);
}

enum errc x25519_public(const struct secret32 *secret, uint8_t ret_public[X25519_BYTES], struct err *e)
{
    size_t len = X25519_BYTES;
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret->b, X25519_BYTES);
    bool ok = key && EVP_PKEY_get_raw_public_key(key, ret_public, &len) == 1 && len == X25519_BYTES;
    EVP_PKEY_free(key);
    return ok ? ERR_OK : FAIL(e, INTERNAL, "the X25519 key cannot be used");
}

enum errc hpke_seal(enum hpke_aead aead, const uint8_t to[X25519_BYTES], struct str info, struct str aad, const void *plain,
                    size_t n, uint8_t *out, struct err *e)
{
    struct secret32 ephemeral;
    enum errc rc = rand_key(ephemeral.b, sizeof ephemeral.b, e);
    if (rc == ERR_OK)
        rc = hpke_seal_at(aead, &ephemeral, to, info, aad, plain, n, out, e);
    secret32_wipe(&ephemeral);
    return rc;
}

enum errc hpke_seal_at(enum hpke_aead aead, const struct secret32 *ephemeral, const uint8_t to[X25519_BYTES], struct str info,
                       struct str aad, const void *plain, size_t n, uint8_t *out, struct err *e)
{
    uint8_t dh[X25519_BYTES], shared[SECRET];
    struct schedule s = { .key_len = 0 };
    TRY(check_sizes(aead, info, aad, n, e));
    TRY(x25519_public(ephemeral, out, e));
    if (!x25519_dh(ephemeral, to, dh))
        return FAIL(e, INVALID, "the receiver's public key cannot be used");
    kem_shared(dh, out, to, shared);
    key_schedule(aead, shared, info, &s);
    bool ok = gcm_seal(s.key, s.key_len, s.nonce, aad.ptr, aad.len, plain, n, out + X25519_BYTES);
    secret_wipe(dh, sizeof dh);
    secret_wipe(shared, sizeof shared);
    secret_wipe(&s, sizeof s);
    return ok ? ERR_OK : FAIL(e, INTERNAL, "encryption failed");
}

enum errc hpke_open(enum hpke_aead aead, const struct secret32 *secret, struct str info, struct str aad, const void *message,
                    size_t n, uint8_t *out, size_t *ret_len, struct err *e)
{
    const uint8_t *m = message;
    uint8_t own[X25519_BYTES], dh[X25519_BYTES], shared[SECRET];
    struct schedule s = { .key_len = 0 };
    if (n < HPKE_OVERHEAD)
        return FAIL(e, DAMAGED, "the sealed message is too short");
    TRY(check_sizes(aead, info, aad, n - HPKE_OVERHEAD, e));
    TRY(x25519_public(secret, own, e));
    bool ok = x25519_dh(secret, m, dh);
    if (ok) {
        kem_shared(dh, m, own, shared);
        key_schedule(aead, shared, info, &s);
        ok = gcm_open(s.key, s.key_len, s.nonce, aad.ptr, aad.len, m + X25519_BYTES, n - X25519_BYTES, out);
        secret_wipe(dh, sizeof dh);
        secret_wipe(shared, sizeof shared);
        secret_wipe(&s, sizeof s);
    }
    if (!ok)
        return FAIL(e, DAMAGED, "the sealed message does not open for this receiver");
    *ret_len = n - HPKE_OVERHEAD;
    return ERR_OK;
}
