/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - different words, numbered in the order in which they come: those of a column of categories while a table is read,
 * and the dictionary by which a served model takes them.
 *
 * A word is 1 to WORD_BYTES_MAX bytes of UTF-8 without control characters, compared byte by byte. What is found costs the
 * logarithm of their number whatever the words are, so nobody slows a reader down by choosing them.
 * Memory: the arena, a copy of each word. Not offered: forgetting one. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum { WORD_BYTES_MAX = 128, WORD_NONE = -1 };

struct words {                      /* zeroed: none yet */
    size_t n, room;
    struct str *items;              /* by number */
    uint32_t *order;                /* numbers, by the bytes of their words */
};

/* *ret: its number, a new one where it is new. BAD_DATA: no word; LIMIT: no memory, or already `most` words. No place in it. */
enum errc words_add(struct arena *a, struct words *w, struct str word, size_t most, int32_t *ret, struct err *why) MUST_CHECK;
/* WORD_NONE: not among them. */
int32_t words_find(const struct words *w, struct str word);
