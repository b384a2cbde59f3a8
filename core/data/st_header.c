/* SPDX-License-Identifier: Apache-2.0 */
/* st_header.c - a strict parser for exactly the JSON that a safetensors header may hold.
 *
 * No recursion: the grammar is three objects deep at most and each level is a function of its own. Numbers are non-negative
 * integers without leading zeros that fit 64 bits; strings are RFC 8259 with \u and surrogate pairs; unknown members are refused.
 * Growth is by doubling inside the arena, so memory is at most a small multiple of the header's length. */
#include "core/data/st_header_int.h"
#include "core/base/json_scan.h"

#include <stdlib.h>

struct cursor {
    struct arena *arena;
    const char *start;
    struct json_scan s;
    struct err *e;
};

#define BAD(c, what) FAIL((c)->e, BAD_DATA, "model file header, byte %zu: %s", (size_t)((c)->s.at - (c)->start), (what))

static bool accept(struct cursor *c, char ch)
{
    return json_scan_take(&c->s, ch);
}

static enum errc expect(struct cursor *c, char ch)
{
    if (accept(c, ch))
        return ERR_OK;
    char what[] = "'?' is due here";
    what[1] = ch;
    return BAD(c, what);
}

static enum errc read_string(struct cursor *c, struct str *ret)
{
    size_t n;
    TRY(expect(c, '"'));
    struct json_scan measure = c->s;
    measure.at--;
    if (!json_scan_string(&measure, NULL, &n)) {
        c->s = measure;
        return BAD(c, measure.why);
    }
    char *out = arena_try(c->arena, n + 1);
    if (!out)
        return FAIL(c->e, LIMIT, "the model file's header does not fit in memory");
    c->s.at--;
    if (!json_scan_string(&c->s, out, &n))
        return BAD(c, c->s.why);
    *ret = str_n(out, n);
    return str_is_utf8(*ret) ? ERR_OK : BAD(c, "a string that is not UTF-8");
}

static enum errc read_u64(struct cursor *c, uint64_t *ret)
{
    json_scan_space(&c->s);
    return json_scan_u64(&c->s, ret) ? ERR_OK : BAD(c, c->s.why);
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
    json_scan_space(&c->s);
    return c->s.at == c->s.end ? ERR_OK : BAD(c, "something follows the closing brace");
}

enum errc st_header_parse(struct arena *a, struct str json, struct st_header *ret, struct err *e)
{
    struct cursor c = { a, json.ptr, { json.ptr, json.ptr + json.len, NULL }, e };
    struct st_header h = { 0 };
    size_t cap = 0;
    bool has_meta = false;
    if (json.len == 0 || *json.ptr != '{')
        return BAD(&c, "'{' is due here");
    c.s.at++;
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
    struct cursor c = { a, json.ptr, { json.ptr, json.ptr + json.len, NULL }, e };
    TRY(read_pairs(&c, ret, ret_count));
    return at_end(&c);
}
