/* SPDX-License-Identifier: Apache-2.0 */
/* bpe_kit.h - a text to learn from, and an arena for a group of tests. */
#pragma once
#include <string.h>

#include "core/data/bpe.h"

enum { TEXT = 20000 };

static struct arena *arena;
static char text[TEXT];

static inline uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Words that come again and again, in two alphabets, with blanks and signs. */
static inline struct str make_text(uint32_t seed)
{
    static const char *const words[] = { "water", " flows", "in the", "falaj", "  ", "\n", "٢٠", "الماء", "123", "--", "e", " ",
                                         "a" };
    size_t n = 0;
    while (n < sizeof text - 32) {
        const char *w = words[next(&seed) % (sizeof words / sizeof *words)];
        memcpy(text + n, w, strlen(w));
        n += strlen(w);
    }
    return str_n(text, n);
}

static inline int make(void **st)
{
    (void)st;
    arena = arena_new((size_t)64 << 20);
    return 0;
}

static inline int drop(void **st)
{
    (void)st;
    arena_free(arena);
    return 0;
}
