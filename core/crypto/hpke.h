/* SPDX-License-Identifier: Apache-2.0 */
/* hpke.h - RFC 9180 hybrid public key encryption, base mode, one shot: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-GCM.
 *
 * A sealed message is enc (32 bytes, the sender's ephemeral public key) || ciphertext || tag 16. Falaj uses AES-256-GCM; the
 * AEAD is a parameter because the RFC's printed vectors use AES-128-GCM. hpke_seal_at takes the ephemeral secret, for the vectors.
 * Opening fails as DAMAGED whatever the cause. A public key that gives an all-zero shared secret is refused. Thread-safe. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/str.h"
#include "core/crypto/secmem.h"

enum { X25519_BYTES = 32, HPKE_TAG = 16, HPKE_OVERHEAD = X25519_BYTES + HPKE_TAG };
enum hpke_aead { HPKE_AES128_GCM = 1, HPKE_AES256_GCM = 2 };

MUST_CHECK enum errc x25519_keygen(struct secret32 *ret_secret, uint8_t ret_public[X25519_BYTES], struct err *e);
MUST_CHECK enum errc x25519_public(const struct secret32 *secret, uint8_t ret_public[X25519_BYTES], struct err *e);

/* out needs n + HPKE_OVERHEAD bytes, all of which are written. */
MUST_CHECK enum errc hpke_seal(enum hpke_aead aead, const uint8_t to[X25519_BYTES], struct str info, struct str aad,
                               const void *plain, size_t n, uint8_t *out, struct err *e);
MUST_CHECK enum errc hpke_seal_at(enum hpke_aead aead, const struct secret32 *ephemeral, const uint8_t to[X25519_BYTES],
                                  struct str info, struct str aad, const void *plain, size_t n, uint8_t *out, struct err *e);
/* out needs n - HPKE_OVERHEAD bytes. */
MUST_CHECK enum errc hpke_open(enum hpke_aead aead, const struct secret32 *secret, struct str info, struct str aad,
                               const void *message, size_t n, uint8_t *out, size_t *ret_len, struct err *e);
