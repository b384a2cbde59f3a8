/* SPDX-License-Identifier: Apache-2.0 */
/* st_header.c - a strict parser for exactly the JSON that a safetensors header may hold.
 *
 * No recursion: the grammar is three objects deep at most and each level is a function of its own. Numbers are non-negative
 * integers without leading zeros that fit 64 bits; strings are RFC 8259 with \u and surrogate pairs; unknown members are refused.
 * Growth is by doubling inside the arena, so memory is at most a small multiple of the header's length. */
#include "core/data/st_header_int.h"

#include <stdlib.h>

struct cursor {
    struct arena *arena;
    const char *start, *at, *end;
    struct err *e;
};

#define BAD(c, what) FAIL((c)->e, BAD_DATA, "model file header, byte %zu: %s", (size_t)((c)->at - (c)->start), (what))

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

static bool accept(struct cursor *c, char ch)
{
    skip_space(c);
    if (c->at == c->end || *c->at != ch)
        return false;
    c->at++;
    return true;
}

static enum errc expect(struct cursor *c, char ch)
{
    if (accept(c, ch))
        return ERR_OK;
    char what[] = "'?' is due here";
    what[1] = ch;
    return BAD(c, what);
}

static bool read_hex4(struct cursor *c, uint32_t *ret)
{
    uint32_t v = 0;
    if (c->end - c->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char h = c->at[i];
        if (h >= '0' && h <= '9')
            v = v * 16 + (uint32_t)(h - '0');
        else if ((h | 32) >= 'a' && (h | 32) <= 'f')
            v = v * 16 + (uint32_t)((h | 32) - 'a' + 10);
        else
            return false;
    }
    c->at += 4;
    *ret = v;
    return true;
}

static size_t put_utf8(char *out, uint32_t u)
{
    if (u < 0x80) {
        out[0] = (char)u;
        return 1;
    }
    if (u < 0x800) {
        out[0] = (char)(0xC0 | u >> 6);
        out[1] = (char)(0x80 | (u & 63));
        return 2;
    }
    if (u < 0x10000) {
        out[0] = (char)(0xE0 | u >> 12);
        out[1] = (char)(0x80 | (u >> 6 & 63));
        out[2] = (char)(0x80 | (u & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | u >> 18);
    out[1] = (char)(0x80 | (u >> 12 & 63));
    out[2] = (char)(0x80 | (u >> 6 & 63));
    out[3] = (char)(0x80 | (u & 63));
    return 4;
}

/* After the backslash. An escape is never longer decoded than written, so out cannot overrun. */
static enum errc read_escape(struct cursor *c, char *out, size_t *n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (c->at == c->end)
        return BAD(c, "the string is never closed");
    char ch = *c->at++;
    const char *hit = ch ? strchr(from, ch) : NULL;
    if (hit) {
        out[(*n)++] = to[hit - from];
        return ERR_OK;
    }
    uint32_t u, low;
    if (ch != 'u' || !read_hex4(c, &u))
        return BAD(c, "this escape is not JSON");
    if (u >= 0xD800 && u < 0xDC00) {
        if (c->end - c->at < 6 || c->at[0] != '\\' || c->at[1] != 'u')
            return BAD(c, "half a surrogate pair");
        c->at += 2;
        if (!read_hex4(c, &low) || low < 0xDC00 || low > 0xDFFF)
            return BAD(c, "half a surrogate pair");
        u = 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00);
    } else if (u >= 0xDC00 && u < 0xE000) {
        return BAD(c, "half a surrogate pair");
    }
    *n += put_utf8(out + *n, u);
    return ERR_OK;
}

static enum errc read_string(struct cursor *c, struct str *ret)
{
    TRY(expect(c, '"'));
    const char *close = c->at;
    bool has_escape = false;
    for (; close < c->end && *close != '"'; close++) {
        has_escape |= *close == '\\';
        close += *close == '\\';
    }
    if (close >= c->end)
        return BAD(c, "the string is never closed");
    size_t cap = (size_t)(close - c->at), n = 0;
    char *out = arena_try(c->arena, cap + 1);
    if (!out)
        return FAIL(c->e, LIMIT, "the model file's header does not fit in memory");
    while (c->at < close) {
        if ((unsigned char)*c->at < 0x20)
            return BAD(c, "a control character in a string");
        if (has_escape && *c->at == '\\') {
            c->at++;
            TRY(read_escape(c, out, &n));
        } else {
            out[n++] = *c->at++;
        }
    }
    c->at = close + 1;
    *ret = str_n(out, n);
    return str_is_utf8(*ret) ? ERR_OK : BAD(c, "a string that is not UTF-8");
}

static enum errc read_u64(struct cursor *c, uint64_t *ret)
{
    skip_space(c);
    if (c->at == c->end || *c->at < '0' || *c->at > '9')
        return BAD(c, "a non-negative integer is due here");
    if (*c->at == '0' && c->at + 1 < c->end && c->at[1] >= '0' && c->at[1] <= '9')
        return BAD(c, "a number with a leading zero");
    uint64_t v = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*c->at - '0'), &v))
            return BAD(c, "a number beyond 64 bits");
    *ret = v;
    return ERR_OK;
}

static enum errc read_list(struct cursor *c, uint64_t *out, uint32_t max, uint32_t *ret_n)
{
    uint32_t n = 0;
    TRY(expect(c, '['));
    if (!accept(c, ']')) {
        do {
            if (n == max)
                return BAD(c, "the list is too long");
            TRY(read_u64(c, &out[n++]));
        } while (accept(c, ','));
        TRY(expect(c, ']'));
    }
    *ret_n = n;
    return ERR_OK;
}

static enum errc read_dtype(struct cursor *c, enum st_dtype *ret)
{
    struct str s;
    TRY(read_string(c, &s));
    for (int d = 0; d < ST_DTYPES; d++)
        if (str_eq_c(s, st_dtype_name((enum st_dtype)d))) {
            *ret = (enum st_dtype)d;
            return ERR_OK;
        }
    return FAIL(c->e, BAD_DATA, "model file header: the number type \"%.*s\" is not known", (int)(s.len < 32 ? s.len : 32), s.ptr);
}

static enum errc read_entry(struct cursor *c, struct st_entry *t)
{
    enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };
    unsigned seen = 0, bit;
    TRY(expect(c, '{'));
    do {
        struct str key;
        TRY(read_string(c, &key));
        TRY(expect(c, ':'));
        if (str_eq_c(key, "dtype")) {
            bit = DTYPE;
            TRY(read_dtype(c, &t->tensor.dtype));
        } else if (str_eq_c(key, "shape")) {
            bit = SHAPE;
            TRY(read_list(c, t->tensor.shape, ST_RANK_MAX, &t->tensor.rank));
        } else if (str_eq_c(key, "data_offsets")) {
            uint64_t pair[2];
            uint32_t n;
            bit = OFFSETS;
            TRY(read_list(c, pair, 2, &n));
            if (n != 2)
                return BAD(c, "data_offsets needs two numbers");
            t->begin = pair[0];
            t->end = pair[1];
        } else {
            return BAD(c, "a member that a tensor does not have");
        }
        if (seen & bit)
            return BAD(c, "a member stands twice");
        seen |= bit;
    } while (accept(c, ','));
    TRY(expect(c, '}'));
    return seen == (DTYPE | SHAPE | OFFSETS) ? ERR_OK : BAD(c, "dtype, shape or data_offsets is missing");
}

/* Room for one more item in an arena array. */
static void *grow(struct arena *a, void *items, size_t n, size_t *cap, size_t width)
{
    if (n < *cap)
        return items;
    size_t want = *cap ? *cap * 2 : 16;
    void *more = arena_try(a, want * width);
    if (more && n)
        memcpy(more, items, n * width);
    *cap = want;
    return more;
}

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct st_pair *)x)->key, ((const struct st_pair *)y)->key);
}

static enum errc read_pairs(struct cursor *c, struct st_pair **ret, size_t *ret_n)
{
    struct st_pair *pairs = NULL;
    size_t n = 0, cap = 0;
    TRY(expect(c, '{'));
    if (!accept(c, '}')) {
        do {
            if (n == ST_META_MAX)
                return FAIL(c->e, LIMIT, "the model file has more than %d metadata entries", ST_META_MAX);
            if (!(pairs = grow(c->arena, pairs, n, &cap, sizeof *pairs)))
                return FAIL(c->e, LIMIT, "the model file's header does not fit in memory");
            TRY(read_string(c, &pairs[n].key));
            TRY(expect(c, ':'));
            TRY(read_string(c, &pairs[n++].value));
        } while (accept(c, ','));
        TRY(expect(c, '}'));
    }
    if (n)
        qsort(pairs, n, sizeof *pairs, by_key);
    for (size_t i = 1; i < n; i++)
        if (str_eq(pairs[i - 1].key, pairs[i].key))
            return BAD(c, "a metadata key stands twice");
    *ret = pairs;
    *ret_n = n;
    return ERR_OK;
}

static enum errc at_end(struct cursor *c)
{
    skip_space(c);
    return c->at == c->end ? ERR_OK : BAD(c, "something follows the closing brace");
}

enum errc st_header_parse(struct arena *a, struct str json, struct st_header *ret, struct err *e)
{
    struct cursor c = { a, json.ptr, json.ptr, json.ptr + json.len, e };
    struct st_header h = { 0 };
    size_t cap = 0;
    bool has_meta = false;
    if (json.len == 0 || *json.ptr != '{')
        return BAD(&c, "'{' is due here");
    c.at++;
    if (!accept(&c, '}')) {
        do {
            struct str key;
            TRY(read_string(&c, &key));
            TRY(expect(&c, ':'));
            if (str_eq_c(key, "__metadata__")) {
                if (has_meta)
                    return BAD(&c, "__metadata__ stands twice");
                has_meta = true;
                TRY(read_pairs(&c, &h.meta, &h.meta_count));
                continue;
            }
            if (key.len == 0 || key.len > ST_NAME_MAX)
                return BAD(&c, "a tensor's name is empty or too long");
            if (h.entry_count == ST_TENSORS_MAX)
                return FAIL(e, LIMIT, "the model file has more than %d tensors", ST_TENSORS_MAX);
            if (!(h.entries = grow(a, h.entries, h.entry_count, &cap, sizeof *h.entries)))
                return FAIL(e, LIMIT, "the model file's header does not fit in memory");
            struct st_entry *t = &h.entries[h.entry_count++];
            *t = (struct st_entry){ .tensor.name = key };
            TRY(read_entry(&c, t));
        } while (accept(&c, ','));
        TRY(expect(&c, '}'));
    }
    TRY(at_end(&c));
    *ret = h;
    return ERR_OK;
}

enum errc st_parse_pairs(struct arena *a, struct str json, struct st_pair **ret, size_t *ret_count, struct err *e)
{
    struct cursor c = { a, json.ptr, json.ptr, json.ptr + json.len, e };
    TRY(read_pairs(&c, ret, ret_count));
    return at_end(&c);
}
