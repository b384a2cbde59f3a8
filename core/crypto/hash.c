/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - SHA-256, HMAC-SHA-256, CRC-32 and comparison in constant time.
 *
 * What is hashed at once goes by OpenSSL's function of one digest instead of EVP, which makes and ends a context for each
 * message: 55 ns instead of 120 for a block, and an entry of the audit log is a dozen of these. It is the same code below (SHA
 * extensions where the processor has them), and OpenSSL calls it deprecated because no provider can be put in its place. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "core/crypto/hash.h"
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>
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

/* RFC 2104 §2: H((K ^ opad) | H((K ^ ipad) | text)), a key longer than a block hashed first. */
void hmac_sha256(const void *key, size_t key_len, const void *p, size_t n, uint8_t out[SHA256_BYTES])
{
    uint8_t block[SHA256_CBLOCK] = { 0 }, inner[SHA256_BYTES];
    SHA256_CTX ctx;
    if (key_len > sizeof block)
        sha256(key, key_len, block);
    else if (key_len)
        memcpy(block, key, key_len);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] ^= 0x36;
    ASSERT(SHA256_Init(&ctx) == 1 && SHA256_Update(&ctx, block, sizeof block) == 1 && SHA256_Update(&ctx, p, n) == 1 &&
           SHA256_Final(inner, &ctx) == 1);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] ^= 0x36 ^ 0x5c;
    ASSERT(SHA256_Init(&ctx) == 1 && SHA256_Update(&ctx, block, sizeof block) == 1 &&
           SHA256_Update(&ctx, inner, sizeof inner) == 1 && SHA256_Final(out, &ctx) == 1);
    OPENSSL_cleanse(block, sizeof block);
    OPENSSL_cleanse(inner, sizeof inner);
    OPENSSL_cleanse(&ctx, sizeof ctx);
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
