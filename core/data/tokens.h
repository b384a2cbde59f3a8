/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.h - shards of tokens: text that was made numbers of a vocabulary, to train decoders on. Read strictly; the API checks
 * an upload, piece by piece, with what the worker reads it with.
 *
 * Layout, little-endian, 64 bytes of header: "FTOK", u32 version 1, u32 bytes of a token (2 or 4), u32 vocabulary, u64 tokens,
 * u64 documents, u64 FNV-1a of what follows, 24 zero bytes; then the tokens, each below the vocabulary, and nothing after.
 * Version 2 has behind its tokens the vocabulary that made them (bpe.h, its file), so that it comes to the model that learns from
 * them; the first 4 of the 24 bytes are its length. Shards of llm.c (magic 20240520, version 1, 1024 bytes of header, u16 tokens
 * of GPT-2's vocabulary) are read, too.
 * Memory: what is returned points into the shard; a checker keeps a vocabulary until its end (token_checker_drop).
 * Errors: BAD_DATA with the offset; LIMIT (vocabulary). */
#pragma once
#include "core/base/str.h"
#include "core/base/err.h"

enum {
    TOKENS_HEADER = 64,
    TOKENS_VOCABULARY_MAX = 1 << 20,
    TOKENS_VOCAB_MAX = 1 << 20,
    TOKENS_LLMC_HEADER = 1024,
    TOKENS_LLMC_VOCAB = 50257
};

struct token_shard {
    const unsigned char *tokens;
    size_t token_bytes;                 /* 2 or 4 */
    size_t vocab;
    uint64_t count, documents;          /* documents 0: not said */
    struct str vocabulary;              /* len 0: none */
};

enum errc token_shard_read(struct str file, struct token_shard *ret, struct err *e) MUST_CHECK;
/* The same of a file of size_bytes that comes piece by piece: start -> add* -> end; the shard's tokens and vocabulary
 * stay NULL. A checker that is left before its end is dropped. */
struct token_checker {
    uint64_t size_bytes, seen, at;          /* at: of the next token */
    unsigned char head[TOKENS_LLMC_HEADER], part[4];
    size_t head_len, part_len;
    uint64_t hash, sum;                     /* what the header says, what is so */
    struct token_shard shard;               /* token_bytes 0: the header is not whole yet */
    struct err fault;                       /* of the first wrong token */
    struct buf vocabulary;                  /* what of it is there; its length is shard.vocabulary.len */
};
void token_checker_drop(struct token_checker *c);
void token_checker_start(struct token_checker *c, uint64_t size_bytes);
enum errc token_checker_add(struct token_checker *c, const void *bytes, size_t n, struct err *e) MUST_CHECK;
enum errc token_checker_end(struct token_checker *c, struct token_shard *ret, struct err *e) MUST_CHECK;
/* The header of what is in s; behind it stand the tokens, then the vocabulary. */
void token_shard_header(const struct token_shard *s, unsigned char ret[TOKENS_HEADER]);
