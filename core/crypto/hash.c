/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - SHA-256, HMAC-SHA-256, CRC-32 and comparison in constant time.
 *
 * What is hashed at once goes by OpenSSL's function of one digest instead of EVP, which makes and ends a context for each
 * message: 55 ns instead of 120 for a block, and an entry of the audit log is a dozen of these. It is the same code below (SHA
 * extensions where the processor has them), and OpenSSL calls it deprecated because no provider can be put in its place. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "core/crypto/hash.h"
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/sha.h>
#include "core/base/assert.h"
#include "core/crypto/fetch_int.h"

void sha256(const void *p, size_t n, uint8_t out[SHA256_BYTES])
{
    SHA256_CTX ctx;
    ASSERT(SHA256_Init(&ctx) == 1 && SHA256_Update(&ctx, p, n) == 1 && SHA256_Final(out, &ctx) == 1);
}

void sha256_init(struct sha256 *h)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    ASSERT(ctx && EVP_DigestInit_ex2(ctx, crypto_fetched()->sha256, NULL) == 1);
    h->ctx = ctx;
}

void sha256_add(struct sha256 *h, const void *p, size_t n)
{
    ASSERT(h->ctx && EVP_DigestUpdate(h->ctx, p, n) == 1);
}

void sha256_final(struct sha256 *h, uint8_t out[SHA256_BYTES])
{
    ASSERT(h->ctx && EVP_DigestFinal_ex(h->ctx, out, NULL) == 1);
    sha256_release(h);
}

void sha256_release(struct sha256 *h)
{
    EVP_MD_CTX_free(h->ctx);
    h->ctx = NULL;
}

void hmac_sha256(const void *key, size_t key_len, const void *p, size_t n, uint8_t out[SHA256_BYTES])
{
    static const uint8_t empty_key[1] = { 0 };
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(crypto_fetched()->hmac);
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                  OSSL_PARAM_construct_end() };
    size_t len = 0;
    /* A NULL key means "keep the old one" to OpenSSL, so an empty key is given as an address. */
    ASSERT(ctx && EVP_MAC_init(ctx, key_len ? key : empty_key, key_len, params) == 1);
    ASSERT(EVP_MAC_update(ctx, p, n) == 1 && EVP_MAC_final(ctx, out, &len, SHA256_BYTES) == 1 && len == SHA256_BYTES);
    EVP_MAC_CTX_free(ctx);
}

/* Four bits at a time: a table of 16 rows needs no start-up and no cache. */
uint32_t crc32_of(const void *p, size_t n)
{
    static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
    const uint8_t *b = p;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= b[i];
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return ~crc;
}

bool mem_eq_ct(const void *a, const void *b, size_t n)
{
    return CRYPTO_memcmp(a, b, n) == 0;
}
