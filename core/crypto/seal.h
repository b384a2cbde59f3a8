/* SPDX-License-Identifier: Apache-2.0 */
/* seal.h - AES-256-GCM for small secrets: key-wrap blobs with a fixed header, and length-prefixed associated data.
 *
 * A blob is, big endian: magic "FLJ1" | alg u8 | zone u16 | tenant 16 | version u32 | nonce 12 | ciphertext | tag 16.
 * `zone` is zone_tag(name), a hint for people and routing; the full name is in the associated data. `version` is that of the
 * wrapping key. What GCM authenticates is the caller's struct aad followed by the 27 header bytes before the nonce, so no byte of
 * a blob can change and no blob can move to another place without blob_open failing (DAMAGED, one text for every cause).
 * Associated data is a sequence of fields, each u32 length || bytes; the first is a label that names the format.
 * A nonce is random: at most 2^32 seals per key (SP 800-38D 8.3); whoever owns the key counts. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/crypto/secmem.h"

enum {
    AAD_MAX = 640,
    GCM_NONCE = 12,
    GCM_TAG = 16,
    BLOB_HEAD = 27,
    BLOB_OVERHEAD = BLOB_HEAD + GCM_NONCE + GCM_TAG,
    KEY_BLOB_MAX = 192          /* room for a wrapped 32-byte key of any provider */
};
/* KWP: core/crypto/kwp.h. TOKEN_OBJECT: no key at all, but the reference to one that lives in a token (keys/provider.h). */
enum blob_alg { BLOB_AES256_GCM = 1, BLOB_AES256_KWP = 2, BLOB_TOKEN_OBJECT = 3 };

struct aad {
    uint8_t b[AAD_MAX];
    size_t n;
    bool overflow;              /* a field did not fit: sealing and opening refuse it */
};
void aad_init(struct aad *a, const char *label);
void aad_bytes(struct aad *a, const void *p, size_t n);
void aad_str(struct aad *a, struct str s);
void aad_uuid(struct aad *a, struct uuid u);
void aad_u32(struct aad *a, uint32_t v);
void aad_u64(struct aad *a, uint64_t v);

struct key_blob {
    uint16_t n;
    uint8_t b[KEY_BLOB_MAX];
};

struct blob_head {
    uint8_t alg;
    uint16_t zone;
    struct uuid tenant;
    uint32_t version;
};
uint16_t zone_tag(struct str zone);                             /* first two bytes of SHA-256 of the name */
void blob_head_write(const struct blob_head *h, uint8_t out[BLOB_HEAD]);
MUST_CHECK enum errc blob_parse(const void *blob, size_t n, struct blob_head *ret, struct err *e);
/* out needs n + BLOB_OVERHEAD bytes. head.alg is ignored and written as BLOB_AES256_GCM. */
MUST_CHECK enum errc blob_seal(const struct secret32 *key, const struct blob_head *head, const struct aad *aad,
                               const void *plain, size_t n, uint8_t *out, size_t cap, size_t *ret_len, struct err *e);
/* Opens only if the header equals *expect (alg apart) and the tag holds. */
MUST_CHECK enum errc blob_open(const struct secret32 *key, const struct blob_head *expect, const struct aad *aad,
                               const void *blob, size_t n, void *out, size_t cap, size_t *ret_len, struct err *e);

/* The primitive under all: key of 16 or 32 bytes, ct = plain_len bytes followed by the tag. open: false = the tag does not hold
 * and out is wiped. In-place is allowed. */
bool gcm_seal(const uint8_t *key, size_t key_len, const uint8_t nonce[GCM_NONCE], const void *aad, size_t aad_len,
              const void *plain, size_t n, uint8_t *ct);
bool gcm_open(const uint8_t *key, size_t key_len, const uint8_t nonce[GCM_NONCE], const void *aad, size_t aad_len,
              const void *ct, size_t n, uint8_t *out);
