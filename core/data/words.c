/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - a sorted list of numbers beside the words. */
#include "core/data/words.h"

#include <string.h>

/* Where the word is, or belongs, in the order; *ret_found tells which. */
static size_t place(const struct words *w, struct str word, bool *ret_found)
{
    size_t from = 0, to = w->n;
    *ret_found = false;
    while (from < to && !*ret_found) {
        size_t at = from + (to - from) / 2;
        int c = str_cmp(w->items[w->order[at]], word);
        *ret_found = c == 0;
        if (c < 0)
            from = at + 1;
        else
            to = at;
    }
    return to;
}

int32_t words_find(const struct words *w, struct str word)
{
    bool found;
    size_t at = place(w, word, &found);
    return found ? (int32_t)w->order[at] : WORD_NONE;
}

static bool grow(struct arena *a, struct words *w)
{
    enum { FIRST = 16 };
    size_t room = w->room ? w->room * 2 : FIRST;
    struct str *items = arena_try(a, room * sizeof *items);
    uint32_t *order = arena_try(a, room * sizeof *order);
    if (!items || !order)
        return false;
    if (w->n) {
        memcpy(items, w->items, w->n * sizeof *items);
        memcpy(order, w->order, w->n * sizeof *order);
    }
    w->items = items;
    w->order = order;
    w->room = room;
    return true;
}

static enum errc check(struct str word, struct err *why)
{
    if (!word.len || word.len > WORD_BYTES_MAX || !str_is_utf8(word))
        return FAIL(why, BAD_DATA, "a word of a category has 1 to %d bytes of UTF-8; this one has %zu bytes", WORD_BYTES_MAX,
                    word.len);
    for (size_t i = 0; i < word.len; i++)
        if ((unsigned char)word.ptr[i] < ' ')
            return FAIL(why, BAD_DATA, "a word of a category has no control characters; this one has one at byte %zu", i);
    return ERR_OK;
}

enum errc words_add(struct arena *a, struct words *w, struct str word, size_t most, int32_t *ret, struct err *why)
{
    bool found;
    size_t at = place(w, word, &found);
    if (found) {
        *ret = (int32_t)w->order[at];
        return ERR_OK;
    }
    TRY(check(word, why));
    if (w->n >= most)
        return FAIL(why, LIMIT, "the table has more than the %zu different words that its columns of categories may have; a "
                    "column of names or numbers of things is no category", most);
    char *copy = arena_try(a, word.len + 1);
    if (!copy || (w->n == w->room && !grow(a, w)))
        return FAIL(why, LIMIT, "the words of the categories do not fit in memory");
    memcpy(copy, word.ptr, word.len);
    memmove(w->order + at + 1, w->order + at, (w->n - at) * sizeof *w->order);
    w->items[w->n] = str_n(copy, word.len);
    w->order[at] = (uint32_t)w->n;
    *ret = (int32_t)w->n++;
    return ERR_OK;
}
