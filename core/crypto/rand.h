/* SPDX-License-Identifier: Apache-2.0 */
/* rand.h - random bytes: rand_bytes for what may be seen (nonces, identifiers), rand_key for what may not (keys, tokens).
 *
 * The two come from separate generators, so what is published says nothing about what is kept. A generator that fails is fatal
 * for the call (INTERNAL), never a weaker value. Thread-safe. */
#pragma once
#include <stddef.h>
#include "core/base/err.h"

MUST_CHECK enum errc rand_bytes(void *out, size_t n, struct err *e);
MUST_CHECK enum errc rand_key(void *out, size_t n, struct err *e);
