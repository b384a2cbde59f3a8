/* SPDX-License-Identifier: Apache-2.0 */
/* param.c - arguments to binary parameters. Texts and bytes are passed where they lie; scalars go to p->fixed; arrays and jsonb
 * are built in one scratch buffer, noted by offset first because the buffer may move while it grows. */
#include "core/db/param_int.h"
#include "core/base/assert.h"

#include <endian.h>
#include <limits.h>
#include <string.h>

unsigned param_oid(char letter)
{
    static const struct {
        char letter;
        unsigned oid;
    } oids[] = {
        { 'u', 2950 }, { 's', 25 },   { 'i', 20 },   { 'f', 701 },  { 'b', 16 },   { 't', 1184 }, { 'j', 3802 }, { 'y', 17 },
        { 'U', 2951 }, { 'S', 1009 }, { 'I', 1016 }, { 'F', 1022 }, { 'B', 1000 }, { 'T', 1185 }, { 'J', 3807 }, { 'Y', 1001 },
    };
    for (size_t i = 0; i < sizeof oids / sizeof *oids; i++)
        if (oids[i].letter == letter)
            return oids[i].oid;
    return 0;
}

static void put_u64(char *out, uint64_t v)
{
    v = htobe64(v);
    memcpy(out, &v, sizeof v);
}

static bool add_u32(struct buf *b, uint32_t v)
{
    v = htobe32(v);
    return buf_add(b, &v, sizeof v);
}

static int64_t time_to_pg(int64_t us)
{
    return us - PG_EPOCH_US;
}

/* Value of a scalar letter at src into out; returns its length. */
static int put_scalar(char letter, const void *src, char out[16])
{
    uint64_t bits = 0;
    switch (letter) {
    case 'u':
        memcpy(out, src, 16);
        return 16;
    case 'b':
        *out = *(const bool *)src;
        return 1;
    case 'i':
        put_u64(out, (uint64_t)*(const int64_t *)src);
        return 8;
    case 't':
        put_u64(out, (uint64_t)time_to_pg(*(const int64_t *)src));
        return 8;
    default:
        ASSERT(letter == 'f');
        memcpy(&bits, src, sizeof bits);
        put_u64(out, bits);
        return 8;
    }
}

static bool is_text_letter(char letter)
{
    return letter == 's' || letter == 'j' || letter == 'y';
}

static bool add_element(struct buf *b, char letter, const void *at, bool nil_is_null, bool *has_null)
{
    bool is_null = false;
    if (is_text_letter(letter)) {
        const struct str *s = at;
        is_null = !s->ptr;
        if (!is_null) {
            size_t head = letter == 'j' ? 1 : 0;
            return s->len < INT_MAX && add_u32(b, (uint32_t)(s->len + head)) && (!head || buf_add_char(b, 1)) &&
                   buf_add(b, s->ptr, s->len);
        }
    } else if (letter == 't') {
        is_null = ((const struct timestamp *)at)->us == 0;
    } else if (letter == 'u') {
        is_null = nil_is_null && uuid_is_nil(*(const struct uuid *)at);
    }
    if (is_null) {
        *has_null = true;
        return add_u32(b, UINT32_MAX);
    }
    char out[16];
    int n = put_scalar(letter, at, out);
    return add_u32(b, (uint32_t)n) && buf_add(b, out, (size_t)n);
}

static bool add_array(struct buf *b, const struct arg *a)
{
    char letter = (char)(a->type + ('a' - 'A'));
    size_t n = a->arr.n, flags_at = b->len + 4;
    if (n > INT_MAX)
        return false;
    bool ok = add_u32(b, n ? 1 : 0) && add_u32(b, 0) && add_u32(b, param_oid(letter));
    if (n == 0)
        return ok;
    ok = ok && add_u32(b, (uint32_t)n) && add_u32(b, 1);
    bool has_null = false;
    for (size_t i = 0; ok && i < n; i++) {
        const char *at = a->via ? ((const char *const *)a->arr.base)[i] : (const char *)a->arr.base + i * a->arr.stride;
        ok = add_element(b, letter, at + a->arr.offset, a->nil_is_null, &has_null);
    }
    if (ok && has_null) {
        uint32_t one = htobe32(1);
        memcpy(b->ptr + flags_at, &one, sizeof one);
    }
    return ok;
}

static const void *scalar_of(const struct arg *a)
{
    switch (a->type) {
    case 'u':
        return &a->u;
    case 'b':
        return &a->b;
    case 'f':
        return &a->f;
    default:
        return &a->i;
    }
}

bool params_encode(struct params *p, const struct stmt *st, const struct arg *args, int nargs, struct buf *scratch)
{
    const char *letters = st->params ? st->params : "";
    ASSERT(nargs == (int)strlen(letters) && nargs <= DB_PARAMS_MAX);
    size_t starts[DB_PARAMS_MAX];
    bool ok = true;
    buf_clear(scratch);
    p->n = nargs;
    for (int i = 0; ok && i < nargs; i++) {
        const struct arg *a = &args[i];
        ASSERT(a->type == letters[i]);      /* the maker and the statement's params disagree */
        starts[i] = SIZE_MAX;
        p->formats[i] = 1;
        p->lengths[i] = 0;
        p->values[i] = NULL;
        if (a->is_null)
            continue;
        if (a->type == 's' || a->type == 'y') {
            ok = a->s.len < INT_MAX;
            p->values[i] = a->s.ptr;
            p->lengths[i] = (int)a->s.len;
        } else if (a->type == 'j' || (a->type >= 'A' && a->type <= 'Z')) {
            starts[i] = scratch->len;
            ok = a->type == 'j' ? buf_add_char(scratch, 1) && buf_add(scratch, a->s.ptr, a->s.len) : add_array(scratch, a);
            p->lengths[i] = (int)(scratch->len - starts[i]);
        } else {
            p->lengths[i] = put_scalar(a->type, scalar_of(a), p->fixed[i]);
            p->values[i] = p->fixed[i];
        }
    }
    for (int i = 0; ok && i < nargs; i++)
        if (starts[i] != SIZE_MAX)
            p->values[i] = scratch->ptr + starts[i];
    return ok;
}
