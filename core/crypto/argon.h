/* SPDX-License-Identifier: Apache-2.0 */
/* argon.h - Argon2id (RFC 9106) for passwords of people, as PHC strings: "$argon2id$v=19$m=19456,t=2,p=1$salt$hash".
 *
 * The password is first run through HMAC-SHA-256 under a pepper that is not in the database, so a stolen table alone cannot be
 * guessed against. Salt: 16 random bytes; tag: 32. A check takes the costs from the PHC string, bounded by ARGON_MEMORY_MAX_KIB, so
 * that a forged row cannot take the machine's memory; the comparison is in constant time.
 * Memory: memory_kib for the time of the call, outside any arena; the caller bounds how many run at once. Pure but for the salt.
 * Errors: INVALID (costs), UNAVAILABLE (no memory). argon_check is false for anything that is not the password's PHC string. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"
#include "core/crypto/secmem.h"

enum { ARGON_PHC = 160, ARGON_MEMORY_MAX_KIB = 1 << 20 };

struct argon_cost {
    uint32_t memory_kib, passes, lanes;
};

MUST_CHECK enum errc argon_hash(const struct argon_cost *cost, const struct secret32 *pepper, struct str password, char ret[ARGON_PHC],
                                struct err *e);
bool argon_check(struct str phc, const struct secret32 *pepper, struct str password);
/* Was it made with other costs than these? Then the password is hashed anew at its next use. */
bool argon_is_other_cost(struct str phc, const struct argon_cost *cost);
