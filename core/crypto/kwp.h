/* SPDX-License-Identifier: Apache-2.0 */
/* kwp.h - AES key wrap with padding (RFC 5649), and the blob that gives it the binding it lacks.
 *
 * The wrap has no associated data, so a blob of it is, after the header of core/crypto/seal.h with alg BLOB_AES256_KWP:
 * wrapped key 40 | HMAC-SHA-256 32, keyed by the key that is wrapped, over the associated data and then the header as one more
 * field, as blob_seal gives them to GCM. Whoever unwraps must call kwp_blob_check before the key is used.
 * Who wraps may be this process (kwp_wrap) or a token: the blob is the same. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/crypto/seal.h"

enum { KWP_EXTRA = 8, KWP_KEY = KEY_BYTES + KWP_EXTRA, KWP_BLOB = BLOB_HEAD + KWP_KEY + 32, KWP_PLAIN_MAX = 4096 };

/* kek_len 16, 24 or 32. out needs n rounded up to 8, and 8 more. */
MUST_CHECK enum errc kwp_wrap(const uint8_t *kek, size_t kek_len, const void *plain, size_t n, uint8_t *out, size_t cap,
                              size_t *ret_len, struct err *e);
/* out needs n bytes, of which *ret_len are the key. DAMAGED: the integrity check of RFC 5649 does not hold. */
MUST_CHECK enum errc kwp_unwrap(const uint8_t *kek, size_t kek_len, const void *wrapped, size_t n, uint8_t *out, size_t cap,
                                size_t *ret_len, struct err *e);

MUST_CHECK enum errc kwp_blob_make(const struct blob_head *head, const struct aad *aad, const struct secret32 *key,
                                   const uint8_t wrapped[KWP_KEY], struct key_blob *ret, struct err *e);
/* DAMAGED unless it is such a blob with the header *expect (alg apart). The wrapped key begins at b + BLOB_HEAD. */
MUST_CHECK enum errc kwp_blob_parse(const struct blob_head *expect, const struct key_blob *blob, struct err *e);
MUST_CHECK enum errc kwp_blob_check(const struct aad *aad, const struct key_blob *blob, const struct secret32 *key, struct err *e);
