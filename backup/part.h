/* SPDX-License-Identifier: Apache-2.0 */
/* part.h - one encrypted file of a backup: anybody with the public recovery key writes it, only the recovery key reads it.
 *
 * Format: magic "FLJBKP1\n" | set id 16 | recovery public key 32 | the file's key sealed to it (HPKE: X25519, HKDF-SHA256,
 * AES-256-GCM; 80 bytes) | the content in chunks of 1 MiB as core/crypto/stream.h has them (AES-256-GCM, order and end
 * authenticated). Set and name are bound: a file that is moved to another set or renamed does not open.
 * Calling order: part_writer_new -> part_write* -> part_finish | part_drop. part_open hands on checked chunks only; what it
 * handed on is whole only when it returns OK.
 * Errors: IO, LIMIT (disk full), DAMAGED (what is wrong, and where), FORBIDDEN (another recovery key). */
#pragma once
#include <stdint.h>
#include "core/crypto/hash.h"
#include "core/crypto/hpke.h"
#include "core/crypto/stream.h"

struct part_writer;
struct part_sum {
    uint64_t bytes;             /* of the file */
    uint8_t sha256[SHA256_BYTES];
};
MUST_CHECK enum errc part_writer_new(const char *path, struct uuid set, const char *name, const uint8_t to[X25519_BYTES],
                                     struct part_writer **ret, struct err *e);
MUST_CHECK enum errc part_write(struct part_writer *w, const void *p, size_t n, struct err *e);
/* Synced. Ends the writer either way. */
MUST_CHECK enum errc part_finish(struct part_writer *w, struct part_sum *ret, struct err *e);
void part_drop(struct part_writer *w);          /* NULL is fine */

MUST_CHECK enum errc part_open(const char *path, struct uuid set, const char *name, const struct secret32 *recovery,
                               stream_sink sink, void *ctx, struct err *e);
/* Size and digest of any file. NOT_FOUND: there is none. */
MUST_CHECK enum errc part_sum_of(const char *path, struct part_sum *ret, struct err *e);
