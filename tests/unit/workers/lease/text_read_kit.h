/* SPDX-License-Identifier: Apache-2.0 */
/* text_read_kit.h - what a decoder says of itself, for the tests of calls for text; after cmocka.h. */
#pragma once
#include "workers/lease/text_read_int.h"

#define TRK_VOCABULARY "falaj-bpe 1\n258\n97 98\n"

/* 258 tokens, room for 20; with a vocabulary, in which "ab" is token 256. */
static inline struct text_info trk_info(struct arena *a, bool has_words)
{
    struct text_info i = { .vocab = 258, .context = 20, .max_context = 20, .max_sequences = 2 };
    struct bpe *v = ARENA_NEW(a, struct bpe);
    struct err e;
    if (has_words && bpe_read(a, STR(TRK_VOCABULARY), v, &e) == ERR_OK)
        i.vocabulary = v;
    return i;
}
