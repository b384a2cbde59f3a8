/* SPDX-License-Identifier: Apache-2.0 */
/* p256.h - Diffie-Hellman on NIST P-256 (SP 800-56A 5.7.1.2), as tokens offer it: uncompressed points, the x coordinate as secret.
 *
 * A point is 0x04 || x 32 || y 32. Points off the curve and the point at infinity are refused. Thread-safe. */
#pragma once
#include <stdint.h>
#include "core/base/err.h"
#include "core/crypto/secmem.h"

enum { P256_POINT = 65 };

MUST_CHECK enum errc p256_keygen(struct secret32 *ret_scalar, uint8_t ret_point[P256_POINT], struct err *e);
MUST_CHECK enum errc p256_public(const struct secret32 *scalar, uint8_t ret_point[P256_POINT], struct err *e);
MUST_CHECK enum errc p256_check(const uint8_t point[P256_POINT], struct err *e);
MUST_CHECK enum errc p256_ecdh(const struct secret32 *scalar, const uint8_t peer[P256_POINT], struct secret32 *ret_x, struct err *e);
