/* SPDX-License-Identifier: Apache-2.0 */
/* witness.h - whether a witness may co-sign a head: only what is consistent with every head of that log that it saw before.
 *
 * A witness belongs to another organisation than the zone. Two of them that keep to this rule cannot both be shown the same
 * size of a log with different contents without holding the proof. Pure: the caller keeps the heads and signs. */
#pragma once
#include "audit/evidence.h"

/* A head to be witnessed, and what it brings to show that it extends an earlier one. */
struct witness_ask {
    struct bundle_head head, previous;
    struct merkle_hash proof[MERKLE_PROOF_MAX];
    size_t proof_len;
    bool has_previous;
};

/* What a bundle's first line or a head proof asks: its head, or the zone's head. NULL, or why it is neither. */
const char *witness_read(struct str line, struct head_keys keys, struct witness_ask *ret);
/* NULL: co-sign. Else why not; *is_fork: *fork convicts. `seen` is the greatest head of this log that was co-signed, or NULL. */
const char *witness_fault(const struct witness_ask *ask, const struct bundle_head *seen, struct head_keys keys,
    struct fork_file *fork,
                          bool *is_fork);
/* Whether two bodies are heads of one log. */
bool witness_is_same_log(const struct bundle_head *a, const struct bundle_head *b);
