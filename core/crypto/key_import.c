/* SPDX-License-Identifier: Apache-2.0 */
/* key_import.c - how a tenant's own key is sealed to a zone's import key, and opened. */
#include "core/crypto/key_import.h"
#include "core/base/assert.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"

enum { INFO_MAX = 256, LABEL_BYTES = 15 };

static const char label[] = "falaj-import-v1";

void import_aad(struct str zone, struct uuid tenant, struct aad *ret)
{
    aad_init(ret, label);
    aad_str(ret, zone);
    aad_uuid(ret, tenant);
}

void hkdf_sha256(struct str salt, const void *ikm, size_t ikm_len, const void *info, size_t info_len, uint8_t *out, size_t n)
{
    uint8_t prk[SHA256_BYTES], block[SHA256_BYTES], b[INFO_MAX + 1];
    ASSERT(n <= SHA256_BYTES && info_len <= INFO_MAX);
    hmac_sha256(salt.ptr, salt.len, ikm, ikm_len, prk);
    if (info_len > 0)
        memcpy(b, info, info_len);
    b[info_len] = 1;
    hmac_sha256(prk, sizeof prk, b, info_len + 1, block);
    memcpy(out, block, n);
    secret_wipe(prk, sizeof prk);
    secret_wipe(block, sizeof block);
}

static void wrapping_key(const struct secret32 *z, const uint8_t *ephemeral, const uint8_t *import_point, struct secret32 *ret)
{
    uint8_t info[LABEL_BYTES + 2 * P256_POINT];
    memcpy(info, label, LABEL_BYTES);
    memcpy(info + LABEL_BYTES, ephemeral, P256_POINT);
    memcpy(info + LABEL_BYTES + P256_POINT, import_point, P256_POINT);
    hkdf_sha256(STR_NULL, z->b, KEY_BYTES, info, sizeof info, ret->b, KEY_BYTES);
}

enum errc import_seal(const uint8_t import_point[P256_POINT], const struct aad *aad, const struct secret32 *key,
                      uint8_t ret_ephemeral[P256_POINT], uint8_t ret_sealed[IMPORT_SEALED], struct err *e)
{
    struct secret32 scalar = { 0 }, z = { 0 }, wrapping = { 0 };
    bool ok = false;
    enum errc rc = aad->overflow ? FAIL(e, INVALID, "the associated data is too long") : p256_keygen(&scalar, ret_ephemeral, e);
    if (rc == ERR_OK)
        rc = p256_ecdh(&scalar, import_point, &z, e);
    if (rc == ERR_OK)
        rc = rand_bytes(ret_sealed, GCM_NONCE, e);
    if (rc == ERR_OK) {
        wrapping_key(&z, ret_ephemeral, import_point, &wrapping);
        ok = gcm_seal(wrapping.b, KEY_BYTES, ret_sealed, aad->b, aad->n, key->b, KEY_BYTES, ret_sealed + GCM_NONCE);
    }
    secret32_wipe(&scalar);
    secret32_wipe(&z);
    secret32_wipe(&wrapping);
    return rc != ERR_OK || ok ? rc : FAIL(e, INTERNAL, "encryption failed");
}

enum errc import_open(const struct secret32 *z, const uint8_t ephemeral[P256_POINT], const uint8_t import_point[P256_POINT],
                      const struct aad *aad, const uint8_t sealed[IMPORT_SEALED], struct secret32 *ret, struct err *e)
{
    struct secret32 wrapping;
    wrapping_key(z, ephemeral, import_point, &wrapping);
    bool ok = !aad->overflow
              && gcm_open(wrapping.b, KEY_BYTES, sealed, aad->b, aad->n, sealed + GCM_NONCE, KEY_BYTES + GCM_TAG, ret->b);
    secret32_wipe(&wrapping);
    return ok ? ERR_OK : FAIL(e, DAMAGED, "the imported key does not open for this zone and tenant");
}
