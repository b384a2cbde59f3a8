/* SPDX-License-Identifier: Apache-2.0 */
/* release_wire.h - how data keys travel from falaj-keyd to one worker: the message, its binding, and both ends of it.
 *
 * The worker makes an X25519 pair per lease and sends the public half; keyd seals the lease's data keys to it with HPKE
 * (core/crypto/hpke.h, AES-256-GCM); the API carries the message without being able to read it; the worker opens it with
 * release_open. The HPKE info is "falaj-kr-v1" || zone || worker || job || fence || count || dek_ids || not_after: each field
 * length prefixed, the ids (16 bytes each) as one run after their count. So a message fits one lease of one worker for one list
 * of keys in one order and nothing else.
 * Plaintext: u8 version = 1 | u8 count | count x (dek id 16 | key 32). The worker must itself refuse a message after
 * not_after_us. Calling order (worker): x25519_keygen -> send public -> receive message -> release_open -> use -> wipe.
 * Errors: DAMAGED (does not open, or names other keys than the terms), INVALID (terms). */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/crypto/hpke.h"
#include "core/crypto/seal.h"

enum {
    RELEASE_KEYS_MAX = 64,
    RELEASE_KEY = 48,                                                  /* id and key */
    RELEASE_MESSAGE_MAX = HPKE_OVERHEAD + 2 + RELEASE_KEYS_MAX * RELEASE_KEY,
    RELEASE_INFO_MAX = 1536
};

struct release_terms {
    struct str zone;
    struct uuid worker_id;
    struct uuid job_id;
    uint64_t fence;
    int64_t not_after_us;
    uint8_t worker_key[X25519_BYTES];                                  /* the worker's public key for this lease */
};

struct release_key {
    struct uuid dek_id;
    struct secret32 key;
};

/* The HPKE info for these terms and these keys, in order; out has room for RELEASE_INFO_MAX. */
MUST_CHECK enum errc release_info(const struct release_terms *t, const struct uuid *dek_ids, size_t n,
                                  uint8_t out[RELEASE_INFO_MAX], size_t *ret_len, struct err *e);
/* keyd: message is RELEASE_MESSAGE_MAX bytes of room. */
MUST_CHECK enum errc release_seal(const struct release_terms *t, const struct release_key *keys, size_t n,
                                  uint8_t *message, size_t *ret_len, struct err *e);
/* Worker: dek_ids as the API listed them beside the message; keys has room for n. On failure keys is wiped. */
MUST_CHECK enum errc release_open(const struct secret32 *worker_secret, const struct release_terms *t, const struct uuid *dek_ids,
                                  size_t n, const void *message, size_t message_len, struct release_key *keys, struct err *e);
