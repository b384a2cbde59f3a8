/* SPDX-License-Identifier: Apache-2.0 */
/* tkek_cache.h - unwrapped tenant keys for a short time, so that the root (an HSM) is not on the path of every request.
 *
 * At most TKEK_CACHE_MAX keys in the locked heap, each for five minutes from the moment it was unwrapped, the least recently used
 * leaving first. A key is found by the SHA-256 of its associated data and its blob together, so a cached key answers only for the
 * exact place and blob it was opened with. Thread-safe. A full heap means "not cached", never an error. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/crypto/seal.h"

enum { TKEK_CACHE_MAX = 1024, TKEK_CACHE_TTL_S = 300 };

struct tkek_cache;

struct tkek_cache *tkek_cache_new(void);
void tkek_cache_free(struct tkek_cache *c);
void tkek_cache_key(const struct aad *aad, const struct key_blob *blob, uint8_t ret[32]);
bool tkek_cache_get(struct tkek_cache *c, const uint8_t key[32], int64_t now_us, struct secret32 *ret);
void tkek_cache_put(struct tkek_cache *c, const uint8_t key[32], int64_t now_us, const struct secret32 *value);
void tkek_cache_clear(struct tkek_cache *c);
size_t tkek_cache_count(struct tkek_cache *c);
