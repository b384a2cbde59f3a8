/* SPDX-License-Identifier: Apache-2.0 */
/* bpe_train.c - the most frequent pair, again and again. Words are counted once; each pair knows its count and the words it was
 * seen in; a heap holds pairs with the count they had, which is looked at again when one comes up. So a merge costs what its own
 * words cost, not the text. */
#include "core/base/cleanup.h"
#include "core/data/bpe.h"

#include <stdlib.h>
#include <string.h>

struct word {
    uint32_t at, len;                   /* of tokens */
    int64_t count;
};
struct seen {
    uint64_t key;                       /* left << 32 | right, + 1; 0: free */
    int64_t count;
    uint32_t *words, n, room;
};
struct top {
    int64_t count;
    uint64_t key;
};
static const size_t MEMORY_MAX = (size_t)1 << 36;

struct trainer {
    struct arena *arena;                /* its own: all of it goes at the end */
    uint32_t *tokens;                   /* of all words, one after the other */
    struct word *words;
    size_t word_count, token_count;
    struct seen *pairs;
    size_t mask, used;
    struct top *heap;
    size_t heap_n, heap_room;
    bool is_full;                       /* no memory: everything after is for nothing */
};

static size_t slot_of(uint64_t key, size_t mask)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 24) & mask;
}

static void grow_pairs(struct trainer *t)
{
    size_t mask = t->mask * 2 + 1;
    struct seen *grown = arena_try(t->arena, (mask + 1) * sizeof *grown);
    if (!grown) {
        t->is_full = true;
        return;
    }
    for (size_t i = 0; i <= t->mask; i++) {
        size_t at = slot_of(t->pairs[i].key, mask);
        while (t->pairs[i].key && grown[at].key)
            at = (at + 1) & mask;
        if (t->pairs[i].key)
            grown[at] = t->pairs[i];
    }
    t->pairs = grown;
    t->mask = mask;
}

static struct seen *pair_of(struct trainer *t, uint32_t left, uint32_t right)
{
    uint64_t key = ((uint64_t)left << 32 | right) + 1;
    if (2 * t->used > t->mask && !t->is_full)
        grow_pairs(t);
    for (size_t at = slot_of(key, t->mask);; at = (at + 1) & t->mask) {
        if (t->pairs[at].key == key)
            return &t->pairs[at];
        if (!t->pairs[at].key) {
            t->used++;
            t->pairs[at].key = key;
            return &t->pairs[at];
        }
    }
}

static void note_word(struct trainer *t, struct seen *p, uint32_t word)
{
    if (p->n && p->words[p->n - 1] == word)
        return;
    if (p->n == p->room) {
        uint32_t room = p->room ? 2 * p->room : 4, *grown = arena_try(t->arena, room * sizeof *grown);
        if (!grown) {
            t->is_full = true;
            return;
        }
        if (p->n)
            memcpy(grown, p->words, p->n * sizeof *grown);
        p->words = grown;
        p->room = room;
    }
    p->words[p->n++] = word;
}

/* Of equals the smaller key is above. */
static bool is_above(struct top a, struct top b)
{
    return a.count != b.count ? a.count > b.count : a.key < b.key;
}

static void push(struct trainer *t, struct top x)
{
    if (t->heap_n == t->heap_room) {
        size_t room = t->heap_room ? 2 * t->heap_room : 1024;
        struct top *grown = arena_try(t->arena, room * sizeof *grown);
        if (!grown) {
            t->is_full = true;
            return;
        }
        if (t->heap_n)
            memcpy(grown, t->heap, t->heap_n * sizeof *grown);
        t->heap = grown;
        t->heap_room = room;
    }
    size_t at = t->heap_n++;
    for (; at > 0 && is_above(x, t->heap[(at - 1) / 2]); at = (at - 1) / 2)
        t->heap[at] = t->heap[(at - 1) / 2];
    t->heap[at] = x;
}

static struct top pop(struct trainer *t)
{
    struct top ret = t->heap[0], last = t->heap[--t->heap_n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < t->heap_n; at = child) {
        child += child + 1 < t->heap_n && is_above(t->heap[child + 1], t->heap[child]);
        if (!is_above(t->heap[child], last))
            break;
        t->heap[at] = t->heap[child];
    }
    t->heap[at] = last;
    return ret;
}

/* by: +1 or -1. only: pairs with this token alone are told to the heap and to the word's lists; UINT32_MAX: all. */
static void count_word(struct trainer *t, uint32_t word, int by, uint32_t only)
{
    const struct word *w = &t->words[word];
    const uint32_t *p = t->tokens + w->at;
    for (uint32_t i = 0; i + 1 < w->len && !t->is_full; i++) {
        struct seen *s = pair_of(t, p[i], p[i + 1]);
        s->count += by * w->count;
        if (by > 0 && (only == UINT32_MAX || p[i] == only || p[i + 1] == only)) {
            note_word(t, s, word);
            if (only != UINT32_MAX)
                push(t, (struct top){ s->count, s->key });
        }
    }
}

static void merge_word(struct trainer *t, uint32_t word, struct bpe_pair pair, uint32_t token)
{
    struct word *w = &t->words[word];
    uint32_t *p = t->tokens + w->at, to = 0;
    bool has = false;
    for (uint32_t i = 0; i + 1 < w->len; i++)
        has = has || (p[i] == pair.left && p[i + 1] == pair.right);
    if (!has)
        return;
    count_word(t, word, -1, UINT32_MAX);
    for (uint32_t i = 0; i < w->len; to++) {
        bool is_here = i + 1 < w->len && p[i] == pair.left && p[i + 1] == pair.right;
        p[to] = is_here ? token : p[i];
        i += is_here ? 2 : 1;
    }
    w->len = to;
    count_word(t, word, 1, token);
}

struct piece {
    const unsigned char *p;
    uint32_t len;
};

static int by_bytes(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    int c = memcmp(x->p, y->p, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Sorted words, each once with its count. */
static bool take_words(struct trainer *t, const struct piece *all, size_t n)
{
    size_t bytes = 0, word = 0;
    for (size_t i = 0; i < n; i++)
        if (!i || by_bytes(&all[i - 1], &all[i])) {
            t->word_count++;
            bytes += all[i].len;
        }
    t->words = arena_try(t->arena, (t->word_count + 1) * sizeof *t->words);
    t->tokens = arena_try(t->arena, (bytes + 1) * sizeof *t->tokens);
    if (!t->words || !t->tokens)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (i && !by_bytes(&all[i - 1], &all[i])) {
            t->words[word - 1].count++;
            continue;
        }
        t->words[word++] = (struct word){ (uint32_t)t->token_count, all[i].len, 1 };
        for (uint32_t k = 0; k < all[i].len; k++)
            t->tokens[t->token_count++] = all[i].p[k];
    }
    return true;
}

/* The words of the text, each once. */
static bool count_words(struct trainer *t, struct str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t n = 0;
    for (size_t at = 0; at < text.len; n++)
        at += bpe_word(p + at, text.len - at);
    struct piece *all = arena_try(t->arena, (n + 1) * sizeof *all);
    if (!all)
        return false;
    n = 0;
    for (size_t at = 0; at < text.len; at += all[n++].len)
        all[n] = (struct piece){ p + at, (uint32_t)bpe_word(p + at, text.len - at) };
    qsort(all, n, sizeof *all, by_bytes);
    return take_words(t, all, n);
}
static uint32_t merge_all(struct trainer *t, struct bpe_pair *merges, uint32_t most)
{
    uint32_t n = 0;
    while (n < most && t->heap_n > 0 && !t->is_full) {
        struct top top = pop(t);
        const struct bpe_pair pair = { (uint32_t)((top.key - 1) >> 32), (uint32_t)(top.key - 1) };
        struct seen s = *pair_of(t, pair.left, pair.right);
        if (s.count != top.count) {         /* it has changed since */
            if (s.count > 1 && s.count < top.count)
                push(t, (struct top){ s.count, s.key });
            continue;
        }
        if (s.count < 2)
            break;
        merges[n] = pair;
        pair_of(t, pair.left, pair.right)->words = NULL;
        pair_of(t, pair.left, pair.right)->n = pair_of(t, pair.left, pair.right)->room = 0;
        for (uint32_t i = 0; i < s.n; i++)
            merge_word(t, s.words[i], pair, BPE_BYTES + n);
        n++;
    }
    return n;
}

static enum errc train(struct trainer *t, struct arena *a, struct str text, uint32_t tokens, struct bpe *v, struct err *e)
{
    v->merges = arena_try(a, (tokens - BPE_TOKENS_MIN + 1) * sizeof *v->merges);
    t->mask = 4095;
    t->pairs = arena_try(t->arena, (t->mask + 1) * sizeof *t->pairs);
    if (!v->merges || !t->pairs || !count_words(t, text))
        return FAIL(e, LIMIT, "no memory for the words of the text");
    for (uint32_t w = 0; w < t->word_count; w++)
        count_word(t, w, 1, UINT32_MAX);
    for (size_t i = 0; i <= t->mask && !t->is_full; i++)
        if (t->pairs[i].key)
            push(t, (struct top){ t->pairs[i].count, t->pairs[i].key });
    v->tokens = BPE_TOKENS_MIN + merge_all(t, v->merges, tokens - BPE_TOKENS_MIN);
    return t->is_full ? FAIL(e, LIMIT, "no memory for the pairs of the text") : bpe_index(a, v, e);
}

enum errc bpe_train(struct arena *a, struct str text, uint32_t tokens, struct bpe *ret, struct err *e)
{
    if (tokens < BPE_TOKENS_MIN || tokens > BPE_TOKENS_MAX)
        return FAIL_AT(e, INVALID, "/size", "a vocabulary has %d to %d tokens", BPE_TOKENS_MIN, BPE_TOKENS_MAX);
    if (text.len >= UINT32_MAX)
        return FAIL(e, LIMIT, "a vocabulary is learnt from less than 4 GiB of text; it has %zu bytes", text.len);
    CLEANUP(arena_freep) struct arena *own = arena_new(MEMORY_MAX);
    struct trainer t = { .arena = own };
    struct bpe v = { 0 };
    enum errc rc = train(&t, a, text, tokens, &v, e);
    if (rc == ERR_OK)
        *ret = v;
    return rc;
}
