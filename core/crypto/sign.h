/* SPDX-License-Identifier: Apache-2.0 */
/* sign.h - Ed25519 signatures (RFC 8032) with raw 32-byte keys and 64-byte signatures.
 *
 * The seed is the secret key. A key id is the SHA-256 of the 32 public bytes. Verification never fails otherwise than "false".
 * Thread-safe. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/str.h"
#include "core/crypto/secmem.h"

enum { ED25519_PUBLIC = 32, ED25519_SIG = 64, KEY_ID_BYTES = 32 };

MUST_CHECK enum errc ed25519_keygen(struct secret32 *ret_seed, uint8_t ret_public[ED25519_PUBLIC], struct err *e);
MUST_CHECK enum errc ed25519_public(const struct secret32 *seed, uint8_t ret_public[ED25519_PUBLIC], struct err *e);
MUST_CHECK enum errc ed25519_sign(const struct secret32 *seed, const void *p, size_t n, uint8_t ret_sig[ED25519_SIG],
                                  struct err *e);
bool ed25519_verify(const uint8_t public_key[ED25519_PUBLIC], const void *p, size_t n, const uint8_t sig[ED25519_SIG]);
void ed25519_key_id(const uint8_t public_key[ED25519_PUBLIC], uint8_t ret_id[KEY_ID_BYTES]);
/* "-----BEGIN PUBLIC KEY-----" (SubjectPublicKeyInfo), and back. */
MUST_CHECK enum errc ed25519_public_pem(const uint8_t public_key[ED25519_PUBLIC], struct buf *out, struct err *e);
MUST_CHECK enum errc ed25519_public_of_pem(struct str pem, uint8_t ret_public[ED25519_PUBLIC], struct err *e);
