/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - writing. Rows go into one buffer and texts, each once, into another, since a reader needs the texts first. A row is
 * put together on the stack and added whole. */
#include "scheduler/replay/tables.h"
#include "core/base/assert.h"
#include "core/crypto/hash.h"
#include "scheduler/plan/askset.h"

#include <stdlib.h>

enum { VARINT_MAX = 10, FIRST_TEXTS = 1024, FRAME = 8 };

struct tables_out {
    struct buf file, body, texts;
    size_t max;
    struct str *known;                  /* texts of the part by number - 1 */
    uint32_t *index;                    /* open addressing: number, 0 free */
    size_t n, cap, mask;
};

static const struct column text_columns[] = { { .name = "text", .kind = 's' } };
static const struct table texts_table = { .name = "texts", .columns = text_columns, .ncolumns = 1 };

struct tables_out *tables_out_new(size_t max_bytes)
{
    struct tables_out *o = calloc(1, sizeof *o);
    ASSERT(o);
    o->max = max_bytes;
    o->file = BUF(max_bytes);
    o->body = BUF(max_bytes);
    o->texts = BUF(max_bytes);
    o->cap = FIRST_TEXTS;
    o->mask = 2 * o->cap - 1;
    o->known = calloc(o->cap, sizeof *o->known);
    o->index = calloc(o->mask + 1, sizeof *o->index);
    ASSERT(o->known && o->index);
    return o;
}

void tables_out_free(struct tables_out *o)
{
    if (!o)
        return;
    buf_release(&o->file);
    buf_release(&o->body);
    buf_release(&o->texts);
    free(o->known);
    free(o->index);
    free(o);
}

static void put_u32(char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (char)(v >> 8 * i);
}

static size_t put_varint(char *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (char)(v | 0x80);
    p[n++] = (char)v;
    return n;
}

static size_t place_of(const struct tables_out *o, struct str s)
{
    size_t at = str_hash(s) & o->mask;
    while (o->index[at] && !str_eq(o->known[o->index[at] - 1], s))
        at = (at + 1) & o->mask;
    return at;
}

static void grow(struct tables_out *o)
{
    o->cap *= 2;
    o->mask = 2 * o->cap - 1;
    o->known = list_alloc(o->known, o->cap, sizeof *o->known);
    o->index = index_alloc(o->index, o->mask + 1);
    for (size_t i = 0; i < o->n; i++)
        o->index[place_of(o, o->known[i])] = (uint32_t)i + 1;
}

static uint32_t text_number(struct tables_out *o, struct str s)
{
    char length[VARINT_MAX];
    if (!s.ptr)
        return 0;
    const size_t at = place_of(o, s);
    if (o->index[at])
        return o->index[at];
    buf_add(&o->texts, length, put_varint(length, s.len));
    buf_add(&o->texts, s.ptr, s.len);
    o->known[o->n++] = s;
    o->index[at] = (uint32_t)o->n;
    if (o->n == o->cap)
        grow(o);
    return (uint32_t)o->n;
}

static int64_t number_of(const struct column *c, const char *at)
{
    int64_t v = 0;
    int32_t small;
    if (c->size == sizeof v)
        return memcpy(&v, at, sizeof v), v;
    ASSERT(c->size == sizeof small);
    memcpy(&small, at, sizeof small);
    return small;
}

static size_t put_cell(struct tables_out *o, char *p, const struct column *c, const char *at)
{
    struct str text;
    switch (c->kind) {
    case 'b': p[0] = *(const bool *)at; return 1;
    case 'u': memcpy(p, at, sizeof(struct uuid)); return sizeof(struct uuid);
    case 't': memcpy(&text, at, sizeof text); return put_varint(p, text_number(o, text));
    default: {
        const int64_t v = number_of(c, at);
        return put_varint(p, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
    }
    }
}

static void put_name(struct buf *b, const char *name)
{
    buf_add_char(b, (char)strlen(name));
    buf_add_c(b, name);
}

/* Room for the frame, and what says how to read the rows. Returns where the block begins. */
static size_t begin_block(struct buf *b, const struct table *t, size_t rows)
{
    const size_t from = b->len;
    char four[4] = { 0 };
    buf_add(b, four, 4);
    put_name(b, t->name);
    buf_add_char(b, (char)t->ncolumns);
    for (size_t i = 0; i < t->ncolumns; i++) {
        buf_add_char(b, t->columns[i].kind);
        put_name(b, t->columns[i].name);
    }
    put_u32(four, (uint32_t)rows);
    buf_add(b, four, 4);
    return from;
}

static void end_block(struct buf *b, size_t from)
{
    const char none[4] = { 0 };
    if (b->overflow)
        return;
    put_u32(b->ptr + from, (uint32_t)(b->len - from - 4));
    buf_add(b, none, 4);
}

void tables_begin(struct tables_out *o)
{
    char head[FILE_HEAD] = FILE_MAGIC;
    put_u32(head + 8, FILE_FORMAT);
    o->file.overflow = o->body.overflow = o->texts.overflow = false;
    buf_clear(&o->file);
    buf_add(&o->file, head, sizeof head);
}

void tables_part(struct tables_out *o)
{
    buf_clear(&o->body);
    buf_clear(&o->texts);
    memset(o->index, 0, (o->mask + 1) * sizeof *o->index);
    o->n = 0;
}

void tables_add(struct tables_out *o, const struct table *t, const void *rows, size_t n)
{
    char line[COLUMNS_MAX * sizeof(struct uuid)];
    ASSERT(t->ncolumns <= COLUMNS_MAX && n <= UINT32_MAX);
    const size_t from = begin_block(&o->body, t, n);
    for (size_t i = 0; i < n && !o->body.overflow; i++) {
        const char *row = (const char *)rows + i * t->size;
        size_t len = 0;
        for (size_t k = 0; k < t->ncolumns; k++)
            len += put_cell(o, line + len, &t->columns[k], row + t->columns[k].offset);
        buf_add(&o->body, line, len);
    }
    end_block(&o->body, from);
}

void tables_part_end(struct tables_out *o)
{
    const size_t from = begin_block(&o->file, &texts_table, o->n);
    buf_add_str(&o->file, buf_str(&o->texts));
    end_block(&o->file, from);
    buf_add_str(&o->file, buf_str(&o->body));
    o->file.overflow |= o->body.overflow || o->texts.overflow || o->file.len > UINT32_MAX;
}

size_t tables_size(const struct tables_out *o)
{
    return o->file.len;
}

struct buf tables_take(struct tables_out *o)
{
    struct buf r = o->file;
    o->file = BUF(o->max);
    if (r.overflow)
        buf_release(&r);
    return r.overflow ? BUF(0) : r;
}

void tables_seal(char *bytes, size_t n, size_t from)
{
    while (n - from >= FRAME) {
        uint32_t body = 0;
        for (int i = 0; i < 4; i++)
            body |= (uint32_t)(uint8_t)bytes[from + (size_t)i] << 8 * i;
        if (body > n - from - FRAME)
            return;
        put_u32(bytes + from + 4 + body, crc32_of(bytes + from, 4 + body));
        from += FRAME + body;
    }
}
