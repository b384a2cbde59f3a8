/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_bpe.c - any bytes as the file of a vocabulary, and as a text: what is read encodes any text and gives it back. */
/* USES: core_base core_data */
#include <stdlib.h>

#include "core/data/bpe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void comes_back(const struct bpe *v, struct str text)
{
    struct buf tokens = BUF((size_t)4 << 20), out = BUF((size_t)4 << 20);
    struct err e;
    if (!bpe_encode(v, text, &tokens))
        abort();
    for (size_t i = 0; i + 1 < tokens.len; i += 2)
        if (bpe_decode(v, (unsigned char)tokens.ptr[i] | (uint32_t)(unsigned char)tokens.ptr[i + 1] << 8, &out, &e) != ERR_OK)
            abort();
    if (!str_eq(buf_str(&out), text))
        abort();
    buf_release(&tokens);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct str text = str_n((const char *)data, size < 65536 ? size : 65536);
    struct bpe v;
    struct err e;
    if (bpe_read(a, text, &v, &e) == ERR_OK)
        comes_back(&v, text);
    if (bpe_train(a, text, 300, &v, &e) != ERR_OK)
        abort();
    comes_back(&v, text);
    arena_free(a);
    return 0;
}
