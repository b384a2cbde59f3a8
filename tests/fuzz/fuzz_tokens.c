/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tokens.c - any bytes as a shard of tokens: what is accepted lies within the file, and every token below the vocabulary. */
/* USES: core_base core_data */
#include <stdlib.h>

#include "core/data/tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct token_shard s;
    struct err e = { 0 };
    if (token_shard_read(str_n((const char *)data, size), &s, &e) != ERR_OK)
        return 0;
    if (s.tokens < data || s.tokens > data + size || s.count != (uint64_t)(data + size - s.tokens) / s.token_bytes)
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
