/* SPDX-License-Identifier: Apache-2.0 */
/* key_import.h - a tenant brings its own 32-byte key: how it is sealed to the zone's import key, and opened.
 *
 * The zone's import key is a P-256 key pair in the zone's key store. The tenant makes an ephemeral P-256 key pair and computes
 *   z    = x coordinate of ECDH(ephemeral secret, import point)
 *   info = "falaj-import-v1" || ephemeral point 65 || import point 65
 *   key  = HKDF-SHA-256(salt none, z, info, 32 bytes)                                       (RFC 5869)
 *   aad  = fields "falaj-import-v1", zone name, tenant 16 bytes; each u32 length big endian || bytes
 *   sealed = IV 12 (random) || AES-256-GCM(key, IV, aad, tenant's key) 32 || tag 16
 * and sends the ephemeral point and `sealed`. RSA-OAEP is not offered: some tokens have it with SHA-1 only. The token does nothing
 * but the Diffie-Hellman step, so any token with ECDH on P-256 will do. docs/byok.md has the recipe for OpenSSL and Python. */
#pragma once
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/crypto/p256.h"
#include "core/crypto/seal.h"

enum { IMPORT_SEALED = GCM_NONCE + KEY_BYTES + GCM_TAG };

void import_aad(struct str zone, struct uuid tenant, struct aad *ret);
/* The tenant's side. */
MUST_CHECK enum errc import_seal(const uint8_t import_point[P256_POINT], const struct aad *aad, const struct secret32 *key,
                                 uint8_t ret_ephemeral[P256_POINT], uint8_t ret_sealed[IMPORT_SEALED], struct err *e);
/* The key store's side, after the token's ECDH gave z. DAMAGED whatever the cause. */
MUST_CHECK enum errc import_open(const struct secret32 *z, const uint8_t ephemeral[P256_POINT], const uint8_t import_point[P256_POINT],
                                 const struct aad *aad, const uint8_t sealed[IMPORT_SEALED], struct secret32 *ret, struct err *e);
/* RFC 5869 with SHA-256 for at most 32 bytes: extract and one block of expand. */
void hkdf_sha256(struct str salt, const void *ikm, size_t ikm_len, const void *info, size_t info_len, uint8_t *out, size_t n);
