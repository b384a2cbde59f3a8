/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - SHA-256, HMAC-SHA-256, CRC-32 and comparison in constant time.
 *
 * The digest is fetched from OpenSSL once per process, so a hash costs well under a microsecond for short input; all functions
 * are thread-safe. Running out of memory inside OpenSSL is a bug here and aborts: a hash cannot fail otherwise.
 * Sources: FIPS 180-4 (SHA-256), RFC 2104 (HMAC), ISO 3309 / zlib polynomial 0xEDB88320 (CRC-32). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

void sha256(const void *p, size_t n, uint8_t out[SHA256_BYTES]);

/* Incremental: init -> add* -> final | release. final releases; a released struct may be initialised again. */
struct sha256 {
    void *ctx;
};
void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *p, size_t n);
void sha256_final(struct sha256 *h, uint8_t out[SHA256_BYTES]);
void sha256_release(struct sha256 *h);           /* safe after final and on a zeroed struct; for CLEANUP */

void hmac_sha256(const void *key, size_t key_len, const void *p, size_t n, uint8_t out[SHA256_BYTES]);
uint32_t crc32_of(const void *p, size_t n);
/* Equal bytes? Takes the same time wherever they differ; for every comparison of secrets, tags and digests. */
bool mem_eq_ct(const void *a, const void *b, size_t n);
