/* SPDX-License-Identifier: Apache-2.0 */
/* bloom.h - which words stand in a page of a log: a Bloom filter (Bloom, CACM 13, 1970) of 8192 bits, four for each word.
 *
 * A page is AUDIT_PAGE entries of one log that follow each other; a word is what a search asks for by equality, with a
 * sign of what it is. A filter never denies a word that was added; of others it admits about one in a hundred when every
 * entry has words of its own. The bits of a word are stored, so they never change: bit n is bit n % 8 of byte n / 8, as
 * PostgreSQL's get_bit counts.
 * Pure. Memory: the caller's. */
#pragma once
#include "core/base/str.h"

enum { AUDIT_PAGE = 256, AUDIT_BLOOM_BYTES = 1024, AUDIT_WORD_BITS = 4 };

enum audit_word { AUDIT_WORD_ACTOR = 'a', AUDIT_WORD_RESOURCE = 'r', AUDIT_WORD_ACTION = 'c' };

struct audit_bloom {
    uint8_t b[AUDIT_BLOOM_BYTES];
};

void audit_word_bits(enum audit_word kind, struct str word, int64_t ret[AUDIT_WORD_BITS]);
void audit_bloom_add(struct audit_bloom *f, enum audit_word kind, struct str word);
/* An action and what it begins with up to each of its dots: "user.role.grant", "user.", "user.role.". */
void audit_bloom_add_action(struct audit_bloom *f, struct str action);
bool audit_bloom_has(const struct audit_bloom *f, enum audit_word kind, struct str word);

/* The condition that a filter has three words, whose bits are the elements of an array: bits of fewer words stand twice. */
enum { AUDIT_BLOOM_WORDS = 3 };
#define AUDIT_BLOOM_BIT_(bloom, bits, n) "get_bit(" bloom ", (" bits ")[" #n "]) = 1"
#define AUDIT_BLOOM_WORD_(bloom, bits, a, b, c, d) AUDIT_BLOOM_BIT_(bloom, bits, a) " AND " \
    AUDIT_BLOOM_BIT_(bloom, bits, b) " AND " AUDIT_BLOOM_BIT_(bloom, bits, c) " AND " AUDIT_BLOOM_BIT_(bloom, bits, d)
#define AUDIT_BLOOM_SQL(bloom, bits) AUDIT_BLOOM_WORD_(bloom, bits, 1, 2, 3, 4) " AND " \
    AUDIT_BLOOM_WORD_(bloom, bits, 5, 6, 7, 8) " AND " AUDIT_BLOOM_WORD_(bloom, bits, 9, 10, 11, 12)
