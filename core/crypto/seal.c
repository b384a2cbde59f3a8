/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c - AES-256-GCM for small secrets: key-wrap blobs with a fixed header, and length-prefixed associated data.
 *
 * What GCM sees as associated data is the struct aad and then the blob header as one more field, so the header needs no parsing
 * to be trusted after the tag holds. */
#include "core/crypto/seal.h"
#include <limits.h>
#include "core/base/assert.h"
#include "core/crypto/fetch_int.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"

static const uint8_t blob_magic[4] = { 'F', 'L', 'J', '1' };

static void put_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    put_u16(p, (uint16_t)(v >> 16));
    put_u16(p + 2, (uint16_t)v);
}

static uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void aad_bytes(struct aad *a, const void *p, size_t n)
{
    if (a->overflow || n > AAD_MAX - 4 || a->n > AAD_MAX - 4 - n) {
        a->overflow = true;
        return;
    }
    put_u32(a->b + a->n, (uint32_t)n);
    if (n > 0)
        memcpy(a->b + a->n + 4, p, n);
    a->n += 4 + n;
}

void aad_init(struct aad *a, const char *label)
{
    a->n = 0;
    a->overflow = false;
    aad_bytes(a, label, strlen(label));
}

void aad_str(struct aad *a, struct str s)
{
    aad_bytes(a, s.ptr, s.len);
}

void aad_uuid(struct aad *a, struct uuid u)
{
    aad_bytes(a, u.b, sizeof u.b);
}

void aad_u32(struct aad *a, uint32_t v)
{
    uint8_t b[4];
    put_u32(b, v);
    aad_bytes(a, b, sizeof b);
}

void aad_u64(struct aad *a, uint64_t v)
{
    uint8_t b[8];
    put_u32(b, (uint32_t)(v >> 32));
    put_u32(b + 4, (uint32_t)v);
    aad_bytes(a, b, sizeof b);
}

uint16_t zone_tag(struct str zone)
{
    uint8_t digest[SHA256_BYTES];
    sha256(zone.ptr, zone.len, digest);
    return (uint16_t)(digest[0] << 8 | digest[1]);
}

void blob_head_write(const struct blob_head *h, uint8_t out[BLOB_HEAD])
{
    memcpy(out, blob_magic, 4);
    out[4] = h->alg;
    put_u16(out + 5, h->zone);
    memcpy(out + 7, h->tenant.b, 16);
    put_u32(out + 23, h->version);
}

enum errc blob_parse(const void *blob, size_t n, struct blob_head *ret, struct err *e)
{
    const uint8_t *b = blob;
    if (n < BLOB_OVERHEAD || memcmp(b, blob_magic, 4) != 0 || b[4] < BLOB_AES256_GCM || b[4] > BLOB_TOKEN_OBJECT)
        return FAIL(e, DAMAGED, "the wrapped key is not one");
    ret->alg = b[4];
    ret->zone = (uint16_t)(b[5] << 8 | b[6]);
    memcpy(ret->tenant.b, b + 7, 16);
    ret->version = get_u32(b + 23);
    return ERR_OK;
}

enum errc blob_seal(const struct secret32 *key, const struct blob_head *head, const struct aad *aad, const void *plain, size_t n,
                    uint8_t *out, size_t cap, size_t *ret_len, struct err *e)
{
    struct blob_head h = *head;
    struct aad all = *aad;
    h.alg = BLOB_AES256_GCM;
    if (n > INT_MAX - BLOB_OVERHEAD || cap < n + BLOB_OVERHEAD)
        return FAIL(e, LIMIT, "no room for a wrapped key of %zu bytes", n);
    blob_head_write(&h, out);
    aad_bytes(&all, out, BLOB_HEAD);
    if (all.overflow)
        return FAIL(e, INVALID, "the associated data is too long");
    TRY(rand_bytes(out + BLOB_HEAD, GCM_NONCE, e));
    if (!gcm_seal(key->b, KEY_BYTES, out + BLOB_HEAD, all.b, all.n, plain, n, out + BLOB_HEAD + GCM_NONCE))
        return FAIL(e, INTERNAL, "encryption failed");
    *ret_len = n + BLOB_OVERHEAD;
    return ERR_OK;
}

enum errc blob_open(const struct secret32 *key, const struct blob_head *expect, const struct aad *aad, const void *blob, size_t n,
                    void *out, size_t cap, size_t *ret_len, struct err *e)
{
    struct blob_head h;
    struct aad all = *aad;
    const uint8_t *b = blob;
    TRY(blob_parse(blob, n, &h, e));
    size_t plain_len = n - BLOB_OVERHEAD;
    if (cap < plain_len)
        return FAIL(e, LIMIT, "no room for an unwrapped key of %zu bytes", plain_len);
    aad_bytes(&all, b, BLOB_HEAD);
    bool is_as_expected = h.alg == BLOB_AES256_GCM && h.zone == expect->zone && uuid_eq(h.tenant, expect->tenant)
                          && h.version == expect->version && !all.overflow;
    if (!is_as_expected
        || !gcm_open(key->b, KEY_BYTES, b + BLOB_HEAD, all.b, all.n, b + BLOB_HEAD + GCM_NONCE, plain_len + GCM_TAG, out))
        return FAIL(e, DAMAGED, "the wrapped key does not open at this place");
    *ret_len = plain_len;
    return ERR_OK;
}

static const EVP_CIPHER *gcm_cipher(size_t key_len)
{
    ASSERT(key_len == 16 || key_len == 32);
    return key_len == 16 ? crypto_fetched()->aes128_gcm : crypto_fetched()->aes256_gcm;
}

bool gcm_seal(const uint8_t *key, size_t key_len, const uint8_t nonce[GCM_NONCE], const void *aad, size_t aad_len,
              const void *plain, size_t n, uint8_t *ct)
{
    int len = 0;
    if (n > INT_MAX - GCM_TAG || aad_len > INT_MAX)
        return false;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bool ok = c && EVP_EncryptInit_ex2(c, gcm_cipher(key_len), key, nonce, NULL) == 1
              && (aad_len == 0 || EVP_EncryptUpdate(c, NULL, &len, aad, (int)aad_len) == 1)
              && (n == 0 || EVP_EncryptUpdate(c, ct, &len, plain, (int)n) == 1) && EVP_EncryptFinal_ex(c, ct + n, &len) == 1
              && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, GCM_TAG, ct + n) == 1;
    EVP_CIPHER_CTX_free(c);
    return ok;
}

bool gcm_open(const uint8_t *key, size_t key_len, const uint8_t nonce[GCM_NONCE], const void *aad, size_t aad_len,
              const void *ct, size_t n, uint8_t *out)
{
    const uint8_t *b = ct;
    uint8_t tag[GCM_TAG], none[GCM_TAG];
    int len = 0;
    if (n < GCM_TAG || n > INT_MAX || aad_len > INT_MAX)
        return false;
    size_t plain_len = n - GCM_TAG;
    memcpy(tag, b + plain_len, GCM_TAG);
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bool ok = c && EVP_DecryptInit_ex2(c, gcm_cipher(key_len), key, nonce, NULL) == 1
              && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, GCM_TAG, tag) == 1
              && (aad_len == 0 || EVP_DecryptUpdate(c, NULL, &len, aad, (int)aad_len) == 1)
              && (plain_len == 0 || EVP_DecryptUpdate(c, out, &len, b, (int)plain_len) == 1)
              && EVP_DecryptFinal_ex(c, none, &len) == 1;
    EVP_CIPHER_CTX_free(c);
    if (!ok)
        secret_wipe(out, plain_len);
    return ok;
}
