/* SPDX-License-Identifier: Apache-2.0 */
/* bpe.h - byte pair encoding (Sennrich et al. 2016) over bytes: text to numbers of a vocabulary and back, whatever the text is.
 *
 * Tokens 0 … 255 are the bytes; token 256 + i is what merge i puts together; the last token ends a document. A text is cut
 * into words first (a run of letters, of digits, of blanks or of other signs, with the one blank before it), and no token reaches
 * over the end of a word; bytes from 128 on count as letters, so it is the same for every language.
 * Deterministic: the pair that is most frequent is merged, of equals the one with the smaller left, then right part.
 * decode(encode(x)) = x for every x.
 *
 * File of a vocabulary: text, "falaj-bpe 1\n", "<tokens>\n", then a line "<left> <right>\n" for each merge, whose parts stand
 * before it; <tokens> = 257 + merges. Nothing after.
 * Memory: train: the words and pairs of the text, in an arena of its own; a vocabulary lives in the one given.
 * Errors: BAD_DATA with the line; LIMIT; INVALID (size). */
#pragma once
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum { BPE_BYTES = 256, BPE_TOKENS_MIN = 257, BPE_TOKENS_MAX = 65536, BPE_WORD_MAX = 128 };

struct bpe_pair {
    uint32_t left, right;
};

struct bpe {
    uint32_t tokens;                    /* all of them; the last one ends a document */
    struct bpe_pair *merges;            /* tokens - 257 */
    uint32_t *slots;                    /* hash table of the merges; 0: free, else merge + 1 */
    size_t slot_mask;
    uint32_t *lengths;                  /* bytes of each token but the last */
};

/* As many tokens as asked for, or fewer where no pair comes twice. */
enum errc bpe_train(struct arena *a, struct str text, uint32_t tokens, struct bpe *ret, struct err *e) MUST_CHECK;
enum errc bpe_read(struct arena *a, struct str file, struct bpe *ret, struct err *e) MUST_CHECK;
bool bpe_write(struct buf *out, const struct bpe *v);
/* Appends tokens, u16, little endian. false: out is full. */
bool bpe_encode(const struct bpe *v, struct str text, struct buf *out);
static inline uint32_t bpe_end(const struct bpe *v)
{
    return v->tokens - 1;
}
/* The bytes of a token; those of the end of a document are none. BAD_DATA: it is no token of the vocabulary. */
enum errc bpe_decode(const struct bpe *v, uint32_t token, struct buf *out, struct err *e) MUST_CHECK;
/* The length of the word that p begins with; for the two halves of this room. */
size_t bpe_word(const unsigned char *p, size_t n);
/* Where the table looks for a merge first; for its test. */
size_t bpe_hash(uint32_t left, uint32_t right);
/* Tables over merges; v->merges and v->tokens are set. LIMIT; BAD_DATA: a merge stands twice, or merges were chosen to make the
 * table slow. */
enum errc bpe_index(struct arena *a, struct bpe *v, struct err *e) MUST_CHECK;
