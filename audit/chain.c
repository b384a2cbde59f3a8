/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c - the hash chain of one log. */
#include "audit/chain.h"
#include <string.h>
#include "core/crypto/hash.h"

void chain_start(struct uuid tenant, struct merkle_hash *ret)
{
    static const char tag[14] = "falaj-audit-v1";
    uint8_t in[sizeof tag + sizeof tenant.b];
    memcpy(in, tag, sizeof tag);
    memcpy(in + sizeof tag, tenant.b, sizeof tenant.b);
    sha256(in, sizeof in, ret->b);
}

void chain_next(const struct merkle_hash *prev, const struct merkle_hash *leaf, struct merkle_hash *ret)
{
    uint8_t in[1 + 2 * MERKLE_HASH];
    in[0] = 2;
    memcpy(in + 1, prev->b, MERKLE_HASH);
    memcpy(in + 1 + MERKLE_HASH, leaf->b, MERKLE_HASH);
    sha256(in, sizeof in, ret->b);
}
