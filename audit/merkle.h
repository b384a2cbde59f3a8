/* SPDX-License-Identifier: Apache-2.0 */
/* merkle.h - the Merkle tree of RFC 9162 §2.1 (as RFC 6962) over SHA-256: roots, inclusion and consistency proofs.
 *
 * leaf = SHA-256(0x00 || data), node = SHA-256(0x01 || left || right), the empty tree is SHA-256(""). A tree of n leaves splits
 * at the largest power of two below n. A frontier holds the roots of the perfect subtrees of a tree, largest first (one per bit
 * of its size): enough to append and to know the root, in 64 hashes at most.
 * Proofs are made from ranges: each node of a proof is the root of the leaves [start, end), so a proof for a log of any size can
 * be made in one pass over its leaf hashes with one frontier per node. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MERKLE_HASH = 32, MERKLE_PROOF_MAX = 64 };

struct merkle_hash {
    uint8_t b[MERKLE_HASH];
};
struct merkle_frontier {
    uint64_t size;
    int count;
    struct merkle_hash node[MERKLE_PROOF_MAX];
};
struct merkle_range {
    uint64_t start, end;
};

void merkle_leaf(const void *p, size_t n, struct merkle_hash *ret);
void merkle_node(const struct merkle_hash *left, const struct merkle_hash *right, struct merkle_hash *ret);
bool merkle_eq(const struct merkle_hash *a, const struct merkle_hash *b);

void merkle_add(struct merkle_frontier *f, const struct merkle_hash *leaf);
/* Append a perfect subtree of 2^level leaves; false when the size is not a multiple of 2^level. */
bool merkle_add_subtree(struct merkle_frontier *f, const struct merkle_hash *root, int level);
void merkle_frontier_root(const struct merkle_frontier *f, struct merkle_hash *ret);
/* The nodes of a frontier as bytes, 32 each, largest first. Unpack is false when n does not fit the size. */
size_t merkle_pack(const struct merkle_frontier *f, uint8_t out[MERKLE_PROOF_MAX * MERKLE_HASH]);
bool merkle_unpack(uint64_t size, const void *p, size_t n, struct merkle_frontier *ret);
void merkle_root(const struct merkle_hash *leaves, size_t n, struct merkle_hash *ret);

/* The ranges whose roots are the proof, in the order of the proof. Indexes count from 0. Return their number. */
int merkle_inclusion_ranges(uint64_t index, uint64_t size, struct merkle_range out[MERKLE_PROOF_MAX]);
int merkle_consistency_ranges(uint64_t old_size, uint64_t size, struct merkle_range out[MERKLE_PROOF_MAX]);
/* The perfect subtrees, in order, that with the frontier of `start` leaves make the tree of `size` leaves. */
int merkle_cover_ranges(uint64_t start, uint64_t size, struct merkle_range out[2 * MERKLE_PROOF_MAX]);

bool merkle_verify_inclusion(const struct merkle_hash *leaf, uint64_t index, uint64_t size, const struct merkle_hash *proof,
                             size_t proof_len, const struct merkle_hash *root);
bool merkle_verify_consistency(uint64_t old_size, const struct merkle_hash *old_root, uint64_t size,
                               const struct merkle_hash *root, const struct merkle_hash *proof, size_t proof_len);
