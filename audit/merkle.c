/* SPDX-License-Identifier: Apache-2.0 */
/* merkle.c - the Merkle tree of RFC 9162 §2.1 over SHA-256.
 *
 * Roots grow by carrying: appending a leaf to a frontier of n leaves merges as many subtrees as n has trailing one bits. The
 * proofs follow the recursive definitions PATH (§2.1.3.1) and SUBPROOF (§2.1.4.1), unrolled into loops over ranges; the
 * verifications follow the algorithms of §2.1.3.2 and §2.1.4.2. */
#include "audit/merkle.h"
#include <string.h>
#include "core/crypto/hash.h"

/* Up to here a leaf is copied behind its tag: cheaper than a second call into the digest. */
enum { LEAF_COPY_MAX = 4096 };

void merkle_leaf(const void *p, size_t n, struct merkle_hash *ret)
{
    uint8_t in[1 + LEAF_COPY_MAX];
    if (n <= LEAF_COPY_MAX) {
        in[0] = 0;
        if (n)
            memcpy(in + 1, p, n);
        sha256(in, n + 1, ret->b);
        return;
    }
    struct sha256 h = { 0 };
    sha256_init(&h);
    sha256_add(&h, "", 1);
    sha256_add(&h, p, n);
    sha256_final(&h, ret->b);
}

void merkle_node(const struct merkle_hash *left, const struct merkle_hash *right, struct merkle_hash *ret)
{
    uint8_t in[1 + 2 * MERKLE_HASH];
    in[0] = 1;
    memcpy(in + 1, left->b, MERKLE_HASH);
    memcpy(in + 1 + MERKLE_HASH, right->b, MERKLE_HASH);
    sha256(in, sizeof in, ret->b);
}

bool merkle_eq(const struct merkle_hash *a, const struct merkle_hash *b)
{
    return memcmp(a->b, b->b, MERKLE_HASH) == 0;
}

bool merkle_add_subtree(struct merkle_frontier *f, const struct merkle_hash *root, int level)
{
    if (level < 0 || level > 62 || (f->size & ((1ULL << level) - 1)))
        return false;
    struct merkle_hash h = *root;
    for (uint64_t n = f->size >> level; n & 1; n >>= 1)
        merkle_node(&f->node[--f->count], &h, &h);
    f->node[f->count++] = h;
    f->size += 1ULL << level;
    return true;
}

void merkle_add(struct merkle_frontier *f, const struct merkle_hash *leaf)
{
    merkle_add_subtree(f, leaf, 0);
}

void merkle_frontier_root(const struct merkle_frontier *f, struct merkle_hash *ret)
{
    if (f->count == 0) {
        sha256("", 0, ret->b);
        return;
    }
    struct merkle_hash h = f->node[f->count - 1];
    for (int i = f->count - 2; i >= 0; i--)
        merkle_node(&f->node[i], &h, &h);
    *ret = h;
}

size_t merkle_pack(const struct merkle_frontier *f, uint8_t out[MERKLE_PROOF_MAX * MERKLE_HASH])
{
    memcpy(out, f->node, (size_t)f->count * MERKLE_HASH);
    return (size_t)f->count * MERKLE_HASH;
}

bool merkle_unpack(uint64_t size, const void *p, size_t n, struct merkle_frontier *ret)
{
    int count = __builtin_popcountll(size);
    if (n != (size_t)count * MERKLE_HASH || size >> 62)
        return false;
    *ret = (struct merkle_frontier){ .size = size, .count = count };
    if (n)
        memcpy(ret->node, p, n);
    return true;
}

void merkle_root(const struct merkle_hash *leaves, size_t n, struct merkle_hash *ret)
{
    struct merkle_frontier f = { 0 };
    for (size_t i = 0; i < n; i++)
        merkle_add(&f, &leaves[i]);
    merkle_frontier_root(&f, ret);
}

/* The largest power of two below n; n >= 2. */
static uint64_t split(uint64_t n)
{
    return 1ULL << (63 - __builtin_clzll(n - 1));
}

static void reverse(struct merkle_range *r, int n)
{
    for (int i = 0; i < n / 2; i++) {
        struct merkle_range t = r[i];
        r[i] = r[n - 1 - i];
        r[n - 1 - i] = t;
    }
}

int merkle_inclusion_ranges(uint64_t index, uint64_t size, struct merkle_range out[MERKLE_PROOF_MAX])
{
    uint64_t start = 0, end = size;
    int n = 0;
    while (index < size && end - start > 1) {
        uint64_t mid = start + split(end - start);
        if (index < mid) {
            out[n++] = (struct merkle_range){ mid, end };
            end = mid;
        } else {
            out[n++] = (struct merkle_range){ start, mid };
            start = mid;
        }
    }
    reverse(out, n);
    return n;
}

int merkle_consistency_ranges(uint64_t old_size, uint64_t size, struct merkle_range out[MERKLE_PROOF_MAX])
{
    uint64_t start = 0, end = size;
    int n = 0;
    if (old_size == 0 || old_size >= size)
        return 0;
    while (end != old_size) {
        uint64_t mid = start + split(end - start);
        if (old_size <= mid) {
            out[n++] = (struct merkle_range){ mid, end };
            end = mid;
        } else {
            out[n++] = (struct merkle_range){ start, mid };
            start = mid;
        }
    }
    if (start > 0)      /* the old tree's last subtree is not the old tree itself: the verifier lacks it */
        out[n++] = (struct merkle_range){ start, end };
    reverse(out, n);
    return n;
}

int merkle_cover_ranges(uint64_t start, uint64_t size, struct merkle_range out[2 * MERKLE_PROOF_MAX])
{
    int n = 0;
    while (start < size) {
        int level = start ? __builtin_ctzll(start) : 62;
        while ((1ULL << level) > size - start)
            level--;
        out[n++] = (struct merkle_range){ start, start + (1ULL << level) };
        start += 1ULL << level;
    }
    return n;
}

bool merkle_verify_inclusion(const struct merkle_hash *leaf, uint64_t index, uint64_t size, const struct merkle_hash *proof,
                             size_t proof_len, const struct merkle_hash *root)
{
    if (index >= size)
        return false;
    uint64_t fn = index, sn = size - 1;
    struct merkle_hash r = *leaf;
    for (size_t i = 0; i < proof_len; i++) {
        if (sn == 0)
            return false;
        if ((fn & 1) || fn == sn) {
            merkle_node(&proof[i], &r, &r);
            while (!(fn & 1) && fn != 0) {
                fn >>= 1;
                sn >>= 1;
            }
        } else {
            merkle_node(&r, &proof[i], &r);
        }
        fn >>= 1;
        sn >>= 1;
    }
    return sn == 0 && merkle_eq(&r, root);
}

/* The walk of §2.1.4.2 once the first node is known: fr grows to the old root, sr to the new one. */
static bool consistency_walk(uint64_t fn, uint64_t sn, struct merkle_hash first, const struct merkle_hash *proof, size_t n,
                             const struct merkle_hash *old_root, const struct merkle_hash *root)
{
    struct merkle_hash fr = first, sr = first;
    while (fn & 1) {
        fn >>= 1;
        sn >>= 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (sn == 0)
            return false;
        if ((fn & 1) || fn == sn) {
            merkle_node(&proof[i], &fr, &fr);
            merkle_node(&proof[i], &sr, &sr);
            while (!(fn & 1) && fn != 0) {
                fn >>= 1;
                sn >>= 1;
            }
        } else {
            merkle_node(&sr, &proof[i], &sr);
        }
        fn >>= 1;
        sn >>= 1;
    }
    return sn == 0 && merkle_eq(&fr, old_root) && merkle_eq(&sr, root);
}

bool merkle_verify_consistency(uint64_t old_size, const struct merkle_hash *old_root, uint64_t size,
                               const struct merkle_hash *root, const struct merkle_hash *proof, size_t proof_len)
{
    if (old_size > size || (old_size == 0 && proof_len > 0))
        return false;
    if (old_size == 0)
        return true;
    if (old_size == size)
        return proof_len == 0 && merkle_eq(old_root, root);
    bool is_power = (old_size & (old_size - 1)) == 0;
    if (is_power)
        return consistency_walk(old_size - 1, size - 1, *old_root, proof, proof_len, old_root, root);
    if (proof_len == 0)
        return false;
    return consistency_walk(old_size - 1, size - 1, proof[0], proof + 1, proof_len - 1, old_root, root);
}
