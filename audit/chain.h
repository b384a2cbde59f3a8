/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h - the hash chain of one log: h_0 = SHA-256("falaj-audit-v1" || tenant), h_n = SHA-256(0x02 || h_{n-1} || leaf_n).
 *
 * The tenant is its 16 raw bytes, so equal events of two tenants never share a chain. Pure. */
#pragma once
#include "audit/merkle.h"
#include "core/base/id.h"

void chain_start(struct uuid tenant, struct merkle_hash *ret);
void chain_next(const struct merkle_hash *prev, const struct merkle_hash *leaf, struct merkle_hash *ret);
