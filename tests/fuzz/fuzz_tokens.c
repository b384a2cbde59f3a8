/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tokens.c - any bytes as a shard of tokens: what is accepted lies within the file, and every token below the vocabulary;
 * in pieces the verdict is the same. */
/* USES: core_base core_data */
#include <stdlib.h>

#include "core/data/tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum errc in_pieces(const uint8_t *data, size_t size, size_t step, struct token_shard *ret, struct err *e)
{
    struct token_checker c;
    token_checker_start(&c, size);
    for (size_t at = 0; at < size; at += step)
        if (token_checker_add(&c, data + at, size - at < step ? size - at : step, e) != ERR_OK) {
            token_checker_drop(&c);
            return e->code;
        }
    return token_checker_end(&c, ret, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct token_shard s, pieces;
    struct err e = { 0 }, e2 = { 0 };
    enum errc rc = token_shard_read(str_n((const char *)data, size), &s, &e);
    if (rc != in_pieces(data, size, 1 + size % 13, &pieces, &e2))
        abort();
    if (rc != ERR_OK)
        return 0;
    if (s.tokens < data || s.tokens > data + size ||
        s.count != ((uint64_t)(data + size - s.tokens) - s.vocabulary.len) / s.token_bytes)
        abort();
    for (uint64_t i = 0; i < s.count; i++) {
        uint64_t token = 0;
        for (size_t b = s.token_bytes; b-- > 0;)
            token = token << 8 | s.tokens[i * s.token_bytes + b];
        if (token >= s.vocab)
            abort();
    }
    return 0;
}
