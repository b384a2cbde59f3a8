/* SPDX-License-Identifier: Apache-2.0 */
/* ecdsa.h - ECDSA on NIST P-256 over SHA-256 digests, with raw keys: scalar 32 bytes, point 0x04 || x || y, signature r || s.
 *
 * That is the layout of tokens too (PKCS#11 CKM_ECDSA), so that a certificate does not know where its authority's key lives.
 * Sources: FIPS 186-4 §6, SEC 1 §2.3.3 (points), RFC 5869 in spirit (derivation). Thread-safe. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/err.h"
#include "core/crypto/hash.h"
#include "core/crypto/secmem.h"

enum { ECDSA_POINT = 65, ECDSA_SIG_BYTES = 64 };

/* The scalar that belongs to a secret and a label: HMAC-SHA-256(secret, label || 0x00 || n) for the first n = 0, 1 … that gives one
 * in range. One secret has as many independent keys as there are labels. */
MUST_CHECK enum errc ecdsa_derive(const struct secret32 *secret, const char *label, struct secret32 *ret_scalar, struct err *e);
MUST_CHECK enum errc ecdsa_public(const struct secret32 *scalar, uint8_t ret_point[ECDSA_POINT], struct err *e);
MUST_CHECK enum errc ecdsa_sign(const struct secret32 *scalar, const uint8_t digest[SHA256_BYTES], uint8_t ret_sig[ECDSA_SIG_BYTES],
                                struct err *e);
bool ecdsa_verify(const uint8_t point[ECDSA_POINT], const uint8_t digest[SHA256_BYTES], const uint8_t sig[ECDSA_SIG_BYTES]);
