/* SPDX-License-Identifier: Apache-2.0 */
/* jwks.h - a JSON Web Key Set to keys that carry their algorithm (RFC 7517, RFC 7518 §6). Pure.
 *
 * Kept: RSA of 2048 bits and more as RS256, EC P-256 as ES256, with a kid, for signatures, of an algorithm that is asked for. Skipped:
 * every other key, so that an issuer may publish what we do not know. Refused, the whole set: a kid that two kept keys have, and any
 * private or symmetric member (k, d, p, q, …): who publishes those has lost the key.
 * Memory: the arena. Errors: UNPROCESSABLE. */
#pragma once
#include "core/base/arena.h"
#include "core/crypto/jwt.h"

enum { JWKS_KEYS_MAX = 32, JWKS_TEXT_MAX = 65536 };

/* algs: bit a: enum jws_alg a. */
enum errc jwks_read(struct arena *a, struct str text, unsigned algs, struct jws_key ret[JWKS_KEYS_MAX], size_t *ret_n, struct err *e) MUST_CHECK;
