/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - header and length as soon as they are there, then token by token; checksum, tokens and vocabulary are told at the
 * end. */
#include "core/data/tokens.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/data/bpe.h"

#include <string.h>

enum { VERSION = 1, VERSION_VOCABULARY = 2, AT_VERSION = 4, AT_BYTES = 8, AT_VOCAB = 12, AT_COUNT = 16, AT_DOCUMENTS = 24,
       AT_HASH = 32, AT_VOCABULARY = 40, AT_REST = 44 };
static const size_t VOCABULARY_ARENA = (size_t)16 << 20;
static const uint32_t LLMC_MAGIC = 20240520;
static const uint64_t FNV_START = 0xcbf29ce484222325u, FNV_TIMES = 1099511628211u;

static uint64_t number(const unsigned char *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = bytes; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static void put(unsigned char *p, size_t bytes, uint64_t v)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

static enum errc read_own(struct str start, struct token_shard *s, struct err *e)
{
    const unsigned char *p = (const unsigned char *)start.ptr;
    if (start.len < TOKENS_HEADER)
        return FAIL(e, BAD_DATA, "a token shard begins with %d bytes of header; the file has %zu", TOKENS_HEADER, start.len);
    uint64_t version = number(p + AT_VERSION, 4), vocabulary = number(p + AT_VOCABULARY, 4);
    if (version != VERSION && version != VERSION_VOCABULARY)
        return FAIL(e, BAD_DATA, "byte %d: version %llu of token shards is not known; %d and %d are", AT_VERSION,
                    (unsigned long long)version, VERSION, VERSION_VOCABULARY);
    s->token_bytes = (size_t)number(p + AT_BYTES, 4);
    s->vocab = (size_t)number(p + AT_VOCAB, 4);
    s->count = number(p + AT_COUNT, 8);
    s->documents = number(p + AT_DOCUMENTS, 8);
    if (s->token_bytes != 2 && s->token_bytes != 4)
        return FAIL(e, BAD_DATA, "byte %d: a token has 2 or 4 bytes, not %zu", AT_BYTES, s->token_bytes);
    if ((version == VERSION) != (vocabulary == 0) || vocabulary > TOKENS_VOCABULARY_MAX)
        return FAIL(e, BAD_DATA, "byte %d: a vocabulary of %llu bytes; version %d has none, version %d one of at most %d",
                    AT_VOCABULARY, (unsigned long long)vocabulary, VERSION, VERSION_VOCABULARY, TOKENS_VOCABULARY_MAX);
    s->vocabulary = str_n(NULL, (size_t)vocabulary);
    for (size_t i = AT_REST; i < TOKENS_HEADER; i++)
        if (p[i])
            return FAIL(e, BAD_DATA, "byte %zu: the rest of the header must be zeros", i);
    if (s->vocab < 2 || s->vocab > TOKENS_VOCAB_MAX)
        return FAIL(e, LIMIT, "byte %d: a vocabulary has 2 to %d tokens, not %zu", AT_VOCAB, TOKENS_VOCAB_MAX, s->vocab);
    return ERR_OK;
}

static enum errc read_llmc(struct str start, struct token_shard *s, struct err *e)
{
    const unsigned char *p = (const unsigned char *)start.ptr;
    if (start.len < TOKENS_LLMC_HEADER)
        return FAIL(e, BAD_DATA, "a shard of llm.c begins with %d bytes of header; the file has %zu", TOKENS_LLMC_HEADER,
                    start.len);
    if (number(p + 4, 4) != 1)
        return FAIL(e, BAD_DATA, "byte 4: version %llu of llm.c's shards is not known; 1 is",
                    (unsigned long long)number(p + 4, 4));
    *s = (struct token_shard){ NULL, 2, TOKENS_LLMC_VOCAB, number(p + 8, 4), 0, { NULL, 0 } };
    return ERR_OK;
}

/* 0: not known yet (fewer than 4 bytes), or neither kind. */
static size_t header_bytes(struct str start)
{
    const unsigned char *p = (const unsigned char *)start.ptr;
    if (start.len < 4)
        return 0;
    return !memcmp(p, "FTOK", 4) ? TOKENS_HEADER : number(p, 4) == LLMC_MAGIC ? TOKENS_LLMC_HEADER : 0;
}

static enum errc read_head(struct str start, uint64_t file_size, struct token_shard *s, struct err *e)
{
    size_t header = header_bytes(start);
    if (!header)
        return FAIL(e, BAD_DATA, "byte 0: neither a token shard (\"FTOK\") nor one of llm.c");
    TRY(header == TOKENS_HEADER ? read_own(start, s, e) : read_llmc(start, s, e));
    if (file_size - header < s->vocabulary.len)
        return FAIL(e, BAD_DATA, "the header says a vocabulary of %zu bytes; %llu bytes follow it", s->vocabulary.len,
                    (unsigned long long)(file_size - header));
    uint64_t size = file_size - header - s->vocabulary.len;
    if (s->count < 1 || s->count > size / s->token_bytes || s->count * s->token_bytes != size)
        return FAIL(e, BAD_DATA, "the header says %llu tokens of %zu bytes; %llu bytes follow it", (unsigned long long)s->count,
                    s->token_bytes, (unsigned long long)size);
    return ERR_OK;
}

static enum errc check_token(struct token_checker *c, const unsigned char *p, struct err *e)
{
    uint64_t token = number(p, c->shard.token_bytes), at = c->at;
    c->at += c->shard.token_bytes;
    if (token >= c->shard.vocab)
        return FAIL(e, BAD_DATA, "byte %llu: token %llu is not below the vocabulary of %zu", (unsigned long long)at,
                    (unsigned long long)token, c->shard.vocab);
    return ERR_OK;
}

/* Bytes of the header out of what comes; all of it there: it is read. */
static enum errc add_head(struct token_checker *c, const unsigned char **p, size_t *n, struct err *e)
{
    while (!c->shard.token_bytes && *n > 0) {
        c->head[c->head_len++] = *(*p)++;
        --*n;
        const struct str start = str_n((const char *)c->head, c->head_len);
        if (c->head_len >= 4 && (!header_bytes(start) || c->head_len == header_bytes(start))) {
            TRY(read_head(start, c->size_bytes, &c->shard, e));
            c->at = c->head_len;
            c->hash = c->head_len == TOKENS_HEADER ? number(c->head + AT_HASH, 8) : 0;
            c->vocabulary = BUF(c->shard.vocabulary.len);
        }
    }
    return ERR_OK;
}

void token_checker_start(struct token_checker *c, uint64_t size_bytes)
{
    memset(c, 0, sizeof *c);
    c->size_bytes = size_bytes;
    c->sum = FNV_START;
}

enum errc token_checker_add(struct token_checker *c, const void *bytes, size_t n, struct err *e)
{
    const unsigned char *p = bytes;
    if (n > c->size_bytes - c->seen)
        return FAIL(e, BAD_DATA, "the file is longer than the %llu bytes that were announced", (unsigned long long)c->size_bytes);
    c->seen += n;
    TRY(add_head(c, &p, &n, e));
    for (size_t i = 0; i < n; i++) {
        c->sum = (c->sum ^ p[i]) * FNV_TIMES;
        if (c->at == c->head_len + c->shard.count * c->shard.token_bytes) {
            buf_add_char(&c->vocabulary, (char)p[i]);
            continue;
        }
        c->part[c->part_len++] = p[i];
        if (c->part_len < c->shard.token_bytes)
            continue;
        c->part_len = 0;
        if (!c->fault.code && check_token(c, c->part, &c->fault) != ERR_OK)
            continue;           /* told at the end: a wrong checksum says more */
    }
    return ERR_OK;
}

void token_checker_drop(struct token_checker *c)
{
    buf_release(&c->vocabulary);
}

/* It must be one, and of as many tokens as the shard says. */
static enum errc check_vocabulary(const struct token_checker *c, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(VOCABULARY_ARENA);
    struct bpe v;
    uint64_t at = c->head_len + c->shard.count * c->shard.token_bytes;
    struct err why = { 0 };
    if (bpe_read(a, buf_str(&c->vocabulary), &v, &why) != ERR_OK)
        return FAIL(e, BAD_DATA, "the vocabulary from byte %llu on: %s", (unsigned long long)at, why.msg);
    if (v.tokens != c->shard.vocab)
        return FAIL(e, BAD_DATA, "byte %llu: the vocabulary has %u tokens, the header says %zu", (unsigned long long)at, v.tokens,
                    c->shard.vocab);
    return ERR_OK;
}

static enum errc end_check(struct token_checker *c, struct token_shard *ret, struct err *e)
{
    if (!c->shard.token_bytes)
        TRY(read_head(str_n((const char *)c->head, c->head_len), c->seen, &c->shard, e));
    if (c->seen != c->size_bytes)
        return FAIL(e, BAD_DATA, "the file ends at byte %llu of %llu", (unsigned long long)c->seen,
                    (unsigned long long)c->size_bytes);
    if (c->head_len == TOKENS_HEADER && c->hash != c->sum)
        return FAIL(e, BAD_DATA, "byte %d: the checksum is not that of the tokens", AT_HASH);
    if (c->fault.code) {
        *e = c->fault;
        return c->fault.code;
    }
    if (c->shard.vocabulary.len)
        TRY(check_vocabulary(c, e));
    *ret = c->shard;
    return ERR_OK;
}

enum errc token_checker_end(struct token_checker *c, struct token_shard *ret, struct err *e)
{
    enum errc rc = end_check(c, ret, e);
    token_checker_drop(c);
    return rc;
}

enum errc token_shard_read(struct str file, struct token_shard *ret, struct err *e)
{
    struct token_checker c;
    token_checker_start(&c, file.len);
    enum errc rc = token_checker_add(&c, file.ptr, file.len, e);
    if (rc != ERR_OK) {
        token_checker_drop(&c);
        return rc;
    }
    TRY(token_checker_end(&c, ret, e));
    ret->tokens = (const unsigned char *)file.ptr + c.head_len;
    ret->vocabulary.ptr = file.ptr + file.len - ret->vocabulary.len;
    return ERR_OK;
}

void token_shard_header(const struct token_shard *s, unsigned char ret[TOKENS_HEADER])
{
    memset(ret, 0, TOKENS_HEADER);
    memcpy(ret, "FTOK", 4);
    put(ret + AT_VERSION, 4, s->vocabulary.len ? VERSION_VOCABULARY : VERSION);
    put(ret + AT_BYTES, 4, s->token_bytes);
    put(ret + AT_VOCAB, 4, s->vocab);
    put(ret + AT_COUNT, 8, s->count);
    put(ret + AT_DOCUMENTS, 8, s->documents);
    put(ret + AT_VOCABULARY, 4, s->vocabulary.len);
    uint64_t sum = FNV_START;
    for (size_t i = 0; i < s->count * s->token_bytes; i++)
        sum = (sum ^ s->tokens[i]) * FNV_TIMES;
    for (size_t i = 0; i < s->vocabulary.len; i++)
        sum = (sum ^ (unsigned char)s->vocabulary.ptr[i]) * FNV_TIMES;
    put(ret + AT_HASH, 8, sum);
}
