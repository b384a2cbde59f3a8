/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - header, length, checksum, then every token. */
#include "core/data/tokens.h"

#include <string.h>

enum { VERSION = 1, AT_VERSION = 4, AT_BYTES = 8, AT_VOCAB = 12, AT_COUNT = 16, AT_DOCUMENTS = 24, AT_HASH = 32, AT_REST = 40 };
static const uint32_t LLMC_MAGIC = 20240520;

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

static enum errc read_header(struct str file, struct token_shard *s, struct err *e)
{
    const unsigned char *p = (const unsigned char *)file.ptr;
    if (file.len < TOKENS_HEADER)
        return FAIL(e, BAD_DATA, "a token shard begins with %d bytes of header; the file has %zu", TOKENS_HEADER, file.len);
    if (number(p + AT_VERSION, 4) != VERSION)
        return FAIL(e, BAD_DATA, "byte %d: version %llu of token shards is not known; %d is", AT_VERSION,
                    (unsigned long long)number(p + AT_VERSION, 4), VERSION);
    s->token_bytes = (size_t)number(p + AT_BYTES, 4);
    s->vocab = (size_t)number(p + AT_VOCAB, 4);
    s->count = number(p + AT_COUNT, 8);
    s->documents = number(p + AT_DOCUMENTS, 8);
    s->tokens = p + TOKENS_HEADER;
    if (s->token_bytes != 2 && s->token_bytes != 4)
        return FAIL(e, BAD_DATA, "byte %d: a token has 2 or 4 bytes, not %zu", AT_BYTES, s->token_bytes);
    for (size_t i = AT_REST; i < TOKENS_HEADER; i++)
        if (p[i])
            return FAIL(e, BAD_DATA, "byte %zu: the rest of the header must be zeros", i);
    if (s->vocab < 2 || s->vocab > TOKENS_VOCAB_MAX)
        return FAIL(e, LIMIT, "byte %d: a vocabulary has 2 to %d tokens, not %zu", AT_VOCAB, TOKENS_VOCAB_MAX, s->vocab);
    return ERR_OK;
}

static enum errc read_llmc(struct str file, struct token_shard *s, struct err *e)
{
    const unsigned char *p = (const unsigned char *)file.ptr;
    if (file.len < TOKENS_LLMC_HEADER)
        return FAIL(e, BAD_DATA, "a shard of llm.c begins with %d bytes of header; the file has %zu", TOKENS_LLMC_HEADER,
                    file.len);
    if (number(p + 4, 4) != 1)
        return FAIL(e, BAD_DATA, "byte 4: version %llu of llm.c's shards is not known; 1 is", (unsigned long long)number(p + 4,
                                                                                                                         4));
    *s = (struct token_shard){ p + TOKENS_LLMC_HEADER, 2, TOKENS_LLMC_VOCAB, number(p + 8, 4), 0 };
    return ERR_OK;
}

static enum errc check_tokens(const struct token_shard *s, size_t header, struct err *e)
{
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t token = number(s->tokens + i * s->token_bytes, s->token_bytes);
        if (token >= s->vocab)
            return FAIL(e, BAD_DATA, "byte %llu: token %llu is not below the vocabulary of %zu",
                        (unsigned long long)(header + i * s->token_bytes), (unsigned long long)token, s->vocab);
    }
    return ERR_OK;
}

enum errc token_shard_read(struct str file, struct token_shard *ret, struct err *e)
{
    struct token_shard s = { 0 };
    const unsigned char *p = (const unsigned char *)file.ptr;
    bool is_own = file.len >= 4 && !memcmp(p, "FTOK", 4), is_llmc = !is_own && file.len >= 4 && number(p, 4) == LLMC_MAGIC;
    if (!is_own && !is_llmc)
        return FAIL(e, BAD_DATA, "byte 0: neither a token shard (\"FTOK\") nor one of llm.c");
    TRY(is_own ? read_header(file, &s, e) : read_llmc(file, &s, e));
    size_t header = is_own ? TOKENS_HEADER : TOKENS_LLMC_HEADER, size = file.len - header;
    if (s.count < 1 || s.count > size / s.token_bytes || s.count * s.token_bytes != size)
        return FAIL(e, BAD_DATA, "the header says %llu tokens of %zu bytes; %zu bytes follow it", (unsigned long long)s.count,
                    s.token_bytes,
                    size);
    if (is_own && number(p + AT_HASH, 8) != str_hash(str_n(file.ptr + header, size)))
        return FAIL(e, BAD_DATA, "byte %d: the checksum is not that of the tokens", AT_HASH);
    TRY(check_tokens(&s, header, e));
    *ret = s;
    return ERR_OK;
}

void token_shard_header(const struct token_shard *s, unsigned char ret[TOKENS_HEADER])
{
    memset(ret, 0, TOKENS_HEADER);
    memcpy(ret, "FTOK", 4);
    put(ret + AT_VERSION, 4, VERSION);
    put(ret + AT_BYTES, 4, s->token_bytes);
    put(ret + AT_VOCAB, 4, s->vocab);
    put(ret + AT_COUNT, 8, s->count);
    put(ret + AT_DOCUMENTS, 8, s->documents);
    put(ret + AT_HASH, 8, str_hash(str_n((const char *)s->tokens, (size_t)s->count * s->token_bytes)));
}
