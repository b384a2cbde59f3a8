/* SPDX-License-Identifier: Apache-2.0 */
/* bloom.c - the four bits are four quarters of one 64-bit hash: FNV-1a (draft-eastlake-fnv) with the finalizer of
 * SplitMix64 behind it, because ids differ in few of their bytes and FNV alone leaves those in the low bits. */
#include "audit/bloom.h"

enum { BITS = AUDIT_BLOOM_BYTES * 8 };

static uint64_t hash(enum audit_word kind, struct str word)
{
    uint64_t h = (0xcbf29ce484222325u ^ (uint64_t)kind) * 1099511628211u;
    for (size_t i = 0; i < word.len; i++)
        h = (h ^ (unsigned char)word.ptr[i]) * 1099511628211u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

void audit_word_bits(enum audit_word kind, struct str word, int64_t ret[AUDIT_WORD_BITS])
{
    uint64_t h = hash(kind, word);
    for (int i = 0; i < AUDIT_WORD_BITS; i++)
        ret[i] = (int64_t)((h >> (16 * i)) % BITS);
}

void audit_bloom_add(struct audit_bloom *f, enum audit_word kind, struct str word)
{
    int64_t bit[AUDIT_WORD_BITS];
    audit_word_bits(kind, word, bit);
    for (int i = 0; i < AUDIT_WORD_BITS; i++)
        f->b[bit[i] / 8] |= (uint8_t)(1u << (bit[i] % 8));
}

void audit_bloom_add_action(struct audit_bloom *f, struct str action)
{
    audit_bloom_add(f, AUDIT_WORD_ACTION, action);
    for (size_t i = 0; i < action.len; i++)
        if (action.ptr[i] == '.')
            audit_bloom_add(f, AUDIT_WORD_ACTION, str_n(action.ptr, i + 1));
}

bool audit_bloom_has(const struct audit_bloom *f, enum audit_word kind, struct str word)
{
    int64_t bit[AUDIT_WORD_BITS];
    audit_word_bits(kind, word, bit);
    for (int i = 0; i < AUDIT_WORD_BITS; i++)
        if (!(f->b[bit[i] / 8] >> (bit[i] % 8) & 1))
            return false;
    return true;
}
