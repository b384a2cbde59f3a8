/* SPDX-License-Identifier: Apache-2.0 */
/* tables_read.c - reading: the checksum of a block first, so that damage is told as damage; then its frame, then row by row. No
 * number is believed before it is compared with the bytes that are left. */
#include "scheduler/replay/tables.h"
#include "core/crypto/hash.h"

#include <inttypes.h>

enum { FRAME = 8, BITS = 64 };

/* A block that is being read: [at, end) is its body. */
struct block { struct tables_in *in; size_t at, end; const struct table *t; };

#define BAD(in, where, e, ...)                                                                                               \
    FAIL(e, INVALID, "%.*s: offset %zu: %s", STR_ARG((in)->path), (size_t)(where), arena_printf((in)->arena, __VA_ARGS__))

static uint32_t u32_at(const struct tables_in *in, size_t at)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v |= (uint32_t)(uint8_t)in->bytes.ptr[at + (size_t)i] << 8 * i;
    return v;
}

enum errc tables_open(struct tables_in *in, struct str path, struct str bytes, struct arena *a, struct err *e)
{
    *in = (struct tables_in){ .path = path, .bytes = bytes, .arena = a, .at = FILE_HEAD };
    if (bytes.len < FILE_HEAD || memcmp(bytes.ptr, FILE_MAGIC, 8) != 0)
        return BAD(in, 0, e, "a recorded cycle begins with %s and its format; this is none", FILE_MAGIC);
    const uint32_t format = u32_at(in, 8);
    return format == FILE_FORMAT ? ERR_OK
                                 : BAD(in, 8, e, "format %d is expected, %u came: it was made by another release", FILE_FORMAT,
                                       (unsigned)format);
}

bool tables_has_more(const struct tables_in *in)
{
    return in->at < in->bytes.len;
}

enum errc tables_end(const struct tables_in *in, struct err *e)
{
    return tables_has_more(in) ? BAD(in, in->at, e, "%zu bytes stand behind the end of the cycle",
        in->bytes.len - in->at) : ERR_OK;
}

static enum errc read_byte(struct block *b, uint8_t *ret, struct err *e)
{
    if (b->at == b->end)
        return BAD(b->in, b->at, e, "table %s ends in the middle of a row", b->t->name);
    *ret = (uint8_t)b->in->bytes.ptr[b->at++];
    return ERR_OK;
}

static enum errc read_bytes(struct block *b, uint64_t n, struct str *ret, struct err *e)
{
    if (n > b->end - b->at)
        return BAD(b->in, b->at, e, "table %s ends %" PRIu64 " bytes too early", b->t->name, n - (b->end - b->at));
    *ret = str_n(b->in->bytes.ptr + b->at, (size_t)n);
    b->at += (size_t)n;
    return ERR_OK;
}

static enum errc read_varint(struct block *b, uint64_t *ret, struct err *e)
{
    const size_t from = b->at;
    uint64_t v = 0;
    uint8_t byte;
    for (int shift = 0;; shift += 7) {
        TRY(read_byte(b, &byte, e));
        if (shift >= BITS || (shift == BITS - 1 && byte > 1))
            return BAD(b->in, from, e, "a number of table %s has more than 64 bits", b->t->name);
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    if (!byte && b->at - from > 1)
        return BAD(b->in, from, e, "a number of table %s is longer than it need be", b->t->name);
    *ret = v;
    return ERR_OK;
}

static enum errc read_name(struct block *b, struct str *ret, struct err *e)
{
    uint8_t n;
    TRY(read_byte(b, &n, e));
    if (!n)
        return BAD(b->in, b->at - 1, e, "a name in the frame of table %s is empty", b->t->name);
    return read_bytes(b, n, ret, e);
}

static enum errc read_number(struct block *b, const struct column *c, char *to, struct err *e)
{
    const size_t from = b->at;
    uint64_t raw;
    TRY(read_varint(b, &raw, e));
    const int64_t v = (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);
    const bool is_wide = c->size == sizeof v, is_free = !c->min && !c->max;
    const int64_t min = !is_free ? c->min : is_wide ? INT64_MIN : INT32_MIN,
        max = !is_free ? c->max : is_wide ? INT64_MAX : INT32_MAX;
    if (v < min || v > max)
        return BAD(b->in, from, e, "%s of table %s: %" PRId64 " to %" PRId64 " is expected, %" PRId64 " came", c->name,
            b->t->name,
                   min, max, v);
    const int32_t small = (int32_t)v;
    memcpy(to, is_wide ? (const void *)&v : &small, c->size);
    return ERR_OK;
}

static enum errc read_text(struct block *b, const struct column *c, char *to, struct err *e)
{
    const size_t from = b->at;
    uint64_t number;
    TRY(read_varint(b, &number, e));
    if (number > b->in->texts.n)
        return BAD(b->in, from, e, "%s of table %s: text %" PRIu64 " is named, and there are %zu", c->name, b->t->name, number,
                   b->in->texts.n);
    const struct str s = number ? b->in->texts.items[number - 1] : STR_NULL;
    memcpy(to, &s, sizeof s);
    return ERR_OK;
}

static enum errc read_cell(struct block *b, const struct column *c, char *to, struct err *e)
{
    uint8_t byte;
    uint64_t n;
    struct str s;
    switch (c->kind) {
    case 'b':
        TRY(read_byte(b, &byte, e));
        if (byte > 1)
            return BAD(b->in, b->at - 1, e, "%s of table %s: 0 or 1 is expected, %d came", c->name, b->t->name, byte);
        *(bool *)to = byte;
        return ERR_OK;
    case 'u':
        TRY(read_bytes(b, sizeof(struct uuid), &s, e));
        memcpy(to, s.ptr, s.len);
        return ERR_OK;
    case 't': return read_text(b, c, to, e);
    case 's':
        TRY(read_varint(b, &n, e));
        TRY(read_bytes(b, n, &s, e));
        memcpy(to, &s, sizeof s);
        return ERR_OK;
    default: return read_number(b, c, to, e);
    }
}

/* The next block and that its bytes are those that were written. */
static enum errc open_block(struct tables_in *in, const struct table *t, struct block *ret, struct err *e)
{
    const size_t left = in->bytes.len - in->at;
    if (left < FRAME)
        return BAD(in, in->at, e, "the file ends where table %s is expected", t->name);
    const uint32_t n = u32_at(in, in->at);
    if (n > left - FRAME)
        return BAD(in, in->at, e, "table %s should have %u bytes, and %zu are left: the file was cut, or its length is damaged",
            t->name,
                   (unsigned)n, left - FRAME);
    if (crc32_of(in->bytes.ptr + in->at, 4 + (size_t)n) != u32_at(in, in->at + 4 + n))
        return BAD(in, in->at, e, "the %u bytes of table %s do not match their checksum: they are damaged", (unsigned)n, t->name);
    *ret = (struct block){ in, in->at + 4, in->at + 4 + n, t };
    in->at += FRAME + (size_t)n;
    return ERR_OK;
}

/* columns: where each column of the file goes. */
static enum errc read_frame(struct block *b, const struct column **columns, size_t *ncolumns, size_t *rows, struct err *e)
{
    struct str name, four;
    uint8_t n, kind;
    TRY(read_name(b, &name, e));
    if (!str_eq_c(name, b->t->name))
        return BAD(b->in, b->at - name.len, e, "table %s is expected, another came", b->t->name);
    TRY(read_byte(b, &n, e));
    if (n > COLUMNS_MAX)
        return BAD(b->in, b->at - 1, e, "table %s has more than %d columns", b->t->name, COLUMNS_MAX);
    for (size_t i = 0; i < n; i++) {
        const size_t from = b->at;
        TRY(read_byte(b, &kind, e));
        TRY(read_name(b, &name, e));
        size_t k = 0;
        while (k < b->t->ncolumns && !(str_eq_c(name, b->t->columns[k].name) && b->t->columns[k].kind == (char)kind))
            k++;
        if (k == b->t->ncolumns)
            return BAD(b->in, from, e, "column %zu of table %s is not known to this release", i + 1, b->t->name);
        columns[i] = &b->t->columns[k];
        for (size_t j = 0; j < i; j++)
            if (columns[j] == columns[i])
                return BAD(b->in, from, e, "column %s stands twice in table %s", columns[i]->name, b->t->name);
    }
    TRY(read_bytes(b, 4, &four, e));
    *ncolumns = n;
    *rows = u32_at(b->in, b->at - 4);
    return ERR_OK;
}

enum errc tables_read(struct tables_in *in, const struct table *t, size_t rows_max, struct slice *ret, struct err *e)
{
    const struct column *columns[COLUMNS_MAX];
    struct block b;
    size_t n, rows;
    TRY(open_block(in, t, &b, e));
    TRY(read_frame(&b, columns, &n, &rows, e));
    if (rows > rows_max || (n ? rows > (b.end - b.at) / n : rows > 0))  /* a column has a byte at least */
        return BAD(in, b.at - 4, e, "table %s names %zu rows, more than it can hold", t->name, rows);
    char *items = arena_try(in->arena, (rows + 1) * t->size);
    if (!items)
        return FAIL(e, LIMIT, "%.*s: table %s has %zu rows: more memory would be needed than is allowed", STR_ARG(in->path),
            t->name,
                    rows);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < n; k++)
            TRY(read_cell(&b, columns[k], items + i * t->size + columns[k]->offset, e));
    if (b.at != b.end)
        return BAD(in, b.at, e, "%zu bytes stand behind the last row of table %s", b.end - b.at, t->name);
    *ret = (struct slice){ items, rows };
    return ERR_OK;
}

enum errc tables_part_read(struct tables_in *in, struct err *e)
{
    static const struct column columns[] = { { .name = "text", .kind = 's', .size = sizeof(struct str) } };
    static const struct table texts = { "texts", sizeof(struct str), columns, 1 };
    struct slice rows;
    TRY(tables_read(in, &texts, in->bytes.len, &rows, e));
    in->texts.items = rows.items;
    in->texts.n = rows.n;
    return ERR_OK;
}

static bool same_cell(const struct column *c, const char *x, const char *y)
{
    struct str s, t;
    if (c->kind != 't')
        return memcmp(x, y, c->size) == 0;
    memcpy(&s, x, sizeof s);
    memcpy(&t, y, sizeof t);
    return (s.ptr != NULL) == (t.ptr != NULL) && str_eq(s, t);
}

static struct str cell_words(const struct column *c, const char *at, struct arena *a)
{
    char id[UUID_TEXT];
    struct str s;
    int64_t v = 0;
    int32_t small;
    switch (c->kind) {
    case 'b': return *(const bool *)at ? STR("true") : STR("false");
    case 'u': uuid_text(*(const struct uuid *)at, id); return str_dup(a, str_c(id));
    case 't': memcpy(&s, at, sizeof s); return s.ptr ? str_fmt(a, "\"%.*s\"", STR_ARG(s)) : STR("absent");
    default: break;
    }
    if (c->size == sizeof v)
        return memcpy(&v, at, sizeof v), str_fmt(a, "%" PRId64, v);
    return memcpy(&small, at, sizeof small), str_fmt(a, "%" PRId32, small);
}

struct str tables_differ(const struct table *t, struct slice was, struct slice is, struct arena *a)
{
    for (size_t i = 0; i < was.n && i < is.n; i++)
        for (size_t k = 0; k < t->ncolumns; k++) {
            const struct column *c = &t->columns[k];
            const char *x = (const char *)was.items + i * t->size + c->offset,
                *y = (const char *)is.items + i * t->size + c->offset;
            if (!same_cell(c, x, y))
                return str_fmt(a, "%s row %zu: %s was %.*s, is %.*s", t->name, i + 1, c->name, STR_ARG(cell_words(c, x, a)),
                               STR_ARG(cell_words(c, y, a)));
        }
    return was.n == is.n ? STR_NULL : str_fmt(a, "%s: there were %zu rows, there are %zu", t->name, was.n, is.n);
}
