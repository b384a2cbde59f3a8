/* SPDX-License-Identifier: Apache-2.0 */
/* stream_int.h - what the sealer (stream.c) and the openers (stream_open.c) share: the header, the key and the chunk. */
#pragma once
#include "core/crypto/seal.h"
#include "core/crypto/stream.h"

enum { STREAM_PREFIX = 7, STREAM_CHUNK_LOG2 = 20, STREAM_VERSION = 1, STREAM_SEALED = STREAM_CHUNK + STREAM_TAG };

struct stream_core {
    struct secret32 *key;       /* in the locked heap where there is one, else &plain_key */
    struct secret32 plain_key;
    uint8_t head[STREAM_HEAD];
    struct aad aad;             /* the reference and, once it is known, the header */
};

/* The fields of the reference alone. */
MUST_CHECK enum errc stream_ref_aad(const struct stream_ref *ref, struct aad *ret, struct err *e);
void stream_core_key(struct stream_core *c, const struct secret32 *key);
void stream_core_wipe(struct stream_core *c);
void stream_nonce(const struct stream_core *c, uint32_t chunk, bool is_last, uint8_t nonce[GCM_NONCE]);
