/* SPDX-License-Identifier: Apache-2.0 */
/* bpe.c - words, encoding by the earliest merge first, decoding, and the file. */
#include "core/data/bpe.h"
#include "core/base/assert.h"

#include <string.h>

/* A table that is half full takes two looks for a merge; a file that somebody made to take many is refused. */
enum { LOOKS_OF_EACH = 16, LOOKS = 1024 };

static int class_of(unsigned char c)
{
    if (c >= 128 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return 'a';
    if (c >= '0' && c <= '9')
        return '0';
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' ? ' ' : '.';
}

size_t bpe_word(const unsigned char *p, size_t n)
{
    size_t most = n < BPE_WORD_MAX ? n : BPE_WORD_MAX, i = 0;
    if (n > 1 && p[0] == ' ' && class_of(p[1]) != ' ')
        i = 1;
    int kind = class_of(p[i]);
    while (i < most && class_of(p[i]) == kind)
        i++;
    /* The blank before a word is the word's. */
    return kind == ' ' && i < n && i > 1 && p[i - 1] == ' ' && class_of(p[i]) != ' ' ? i - 1 : i;
}

size_t bpe_hash(uint32_t left, uint32_t right)
{
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return (size_t)(h >> 29);
}

/* The merge of two tokens, or UINT32_MAX. */
static uint32_t merge_of(const struct bpe *v, uint32_t left, uint32_t right)
{
    for (size_t at = bpe_hash(left, right) & v->slot_mask;; at = (at + 1) & v->slot_mask) {
        uint32_t slot = v->slots[at];
        if (!slot)
            return UINT32_MAX;
        if (v->merges[slot - 1].left == left && v->merges[slot - 1].right == right)
            return slot - 1;
    }
}

enum errc bpe_index(struct arena *a, struct bpe *v, struct err *e)
{
    uint32_t merges = v->tokens - BPE_TOKENS_MIN;
    size_t slots = 16;
    while (slots < 2 * (size_t)merges)
        slots *= 2;
    v->slots = arena_try(a, slots * sizeof *v->slots);
    v->lengths = arena_try(a, v->tokens * sizeof *v->lengths);
    if (!v->slots || !v->lengths)
        return FAIL(e, LIMIT, "no memory for the vocabulary");
    v->slot_mask = slots - 1;
    size_t looks = (size_t)merges * LOOKS_OF_EACH + LOOKS;
    for (uint32_t t = 0; t < BPE_BYTES; t++)
        v->lengths[t] = 1;
    for (uint32_t m = 0; m < merges; m++) {
        const struct bpe_pair p = v->merges[m];
        size_t at = bpe_hash(p.left, p.right) & v->slot_mask;
        for (; v->slots[at]; at = (at + 1) & v->slot_mask) {
            const struct bpe_pair there = v->merges[v->slots[at] - 1];
            if (there.left == p.left && there.right == p.right)
                return FAIL(e, BAD_DATA, "line %u: this merge stands twice", m + 3);
            if (!looks--)
                return FAIL(e, BAD_DATA, "line %u: merges were chosen to fall on one place of their table", m + 3);
        }
        v->slots[at] = m + 1;
        v->lengths[BPE_BYTES + m] = v->lengths[p.left] + v->lengths[p.right];
    }
    return ERR_OK;
}

static bool encode_word(const struct bpe *v, const unsigned char *p, size_t n, struct buf *out)
{
    uint32_t t[BPE_WORD_MAX];
    for (size_t i = 0; i < n; i++)
        t[i] = p[i];
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (size_t i = 0; i + 1 < n; i++) {
            uint32_t m = merge_of(v, t[i], t[i + 1]);
            best = m < best ? m : best;
        }
        if (best == UINT32_MAX)
            break;
        size_t to = 0;
        for (size_t i = 0; i < n; to++) {
            bool is_here = i + 1 < n && t[i] == v->merges[best].left && t[i + 1] == v->merges[best].right;
            t[to] = is_here ? BPE_BYTES + best : t[i];
            i += is_here ? 2 : 1;
        }
        n = to;
    }
    for (size_t i = 0; i < n; i++)
        if (!buf_add(out, (char[]){ (char)(t[i] & 255), (char)(t[i] >> 8) }, 2))
            return false;
    return true;
}

bool bpe_encode(const struct bpe *v, struct str text, struct buf *out)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    for (size_t at = 0, n; at < text.len; at += n) {
        n = bpe_word(p + at, text.len - at);
        if (!encode_word(v, p + at, n, out))
            return false;
    }
    return true;
}

enum errc bpe_decode(const struct bpe *v, uint32_t token, struct buf *out, struct err *e)
{
    if (token >= v->tokens)
        return FAIL(e, BAD_DATA, "%u is no token of a vocabulary of %u", token, v->tokens);
    if (token == bpe_end(v))
        return ERR_OK;
    uint32_t todo[BPE_WORD_MAX + 1];
    size_t n = 0;
    todo[n++] = token;
    while (n > 0) {             /* parts to the right wait; each has a byte at least, so they are never more than the token has */
        uint32_t t = todo[--n];
        if (t < BPE_BYTES) {
            if (!buf_add_char(out, (char)t))
                return FAIL(e, LIMIT, "the text is too long");
            continue;
        }
        todo[n++] = v->merges[t - BPE_BYTES].right;
        todo[n++] = v->merges[t - BPE_BYTES].left;
    }
    return ERR_OK;
}

bool bpe_write(struct buf *out, const struct bpe *v)
{
    buf_printf(out, "falaj-bpe 1\n%u\n", v->tokens);
    for (uint32_t m = 0; m + BPE_TOKENS_MIN < v->tokens; m++)
        buf_printf(out, "%u %u\n", v->merges[m].left, v->merges[m].right);
    return !out->overflow;
}

/* A number and the byte that ends it. */
static bool take_number(struct str *s, char end, uint32_t *ret)
{
    uint32_t v = 0;
    size_t i = 0;
    for (; i < s->len && i < 6 && s->ptr[i] >= '0' && s->ptr[i] <= '9'; i++)
        v = v * 10 + (uint32_t)(s->ptr[i] - '0');
    if (i == 0 || i == s->len || s->ptr[i] != end || (i > 1 && s->ptr[0] == '0'))
        return false;
    *s = str_n(s->ptr + i + 1, s->len - i - 1);
    *ret = v;
    return true;
}

enum errc bpe_read(struct arena *a, struct str file, struct bpe *ret, struct err *e)
{
    static const char head[] = "falaj-bpe 1\n";
    struct bpe v = { 0 };
    if (!str_starts(file, head))
        return FAIL(e, BAD_DATA, "line 1: this is no vocabulary (\"falaj-bpe 1\")");
    file = str_n(file.ptr + sizeof head - 1, file.len - (sizeof head - 1));
    if (!take_number(&file, '\n', &v.tokens) || v.tokens < BPE_TOKENS_MIN || v.tokens > BPE_TOKENS_MAX)
        return FAIL(e, BAD_DATA, "line 2: a vocabulary has %d to %d tokens", BPE_TOKENS_MIN, BPE_TOKENS_MAX);
    v.merges = arena_try(a, (v.tokens - BPE_TOKENS_MIN + 1) * sizeof *v.merges);
    if (!v.merges)
        return FAIL(e, LIMIT, "no memory for the vocabulary");
    for (uint32_t m = 0; m + BPE_TOKENS_MIN < v.tokens; m++) {
        struct bpe_pair *p = &v.merges[m];
        if (!take_number(&file, ' ', &p->left) || !take_number(&file, '\n', &p->right))
            return FAIL(e, BAD_DATA, "line %u: two tokens are due", m + 3);
        if (p->left >= BPE_BYTES + m || p->right >= BPE_BYTES + m)
            return FAIL(e, BAD_DATA, "line %u: its parts must stand before it", m + 3);
    }
    if (file.len)
        return FAIL(e, BAD_DATA, "line %u: nothing is due behind the merges", v.tokens - BPE_TOKENS_MIN + 3);
    TRY(bpe_index(a, &v, e));
    for (uint32_t m = 0; m + BPE_TOKENS_MIN < v.tokens; m++)
        if (v.lengths[BPE_BYTES + m] > BPE_WORD_MAX)
            return FAIL(e, BAD_DATA, "line %u: a token has at most %d bytes", m + 3, BPE_WORD_MAX);
    *ret = v;
    return ERR_OK;
}
