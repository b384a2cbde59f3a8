/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - one pass over the text, one field at a time; the table is grown by doubling of the row count.
 *
 * An unquoted field is a view of the text, a quoted one with doubled quotes is undone in a fixed buffer. Rows are counted by
 * records, not by lines: a quoted line end stays inside its record. */
#include "core/data/csv.h"
#include "core/data/data_table_int.h"

#include <string.h>

struct reader {
    struct arena *arena;                /* of words */
    const char *at, *end;
    size_t row, col;                    /* of the field just read, from 1 */
    bool row_ended;                     /* the field just read was its row's last */
    char field[CSV_FIELD_MAX];
};

enum { QUOTED_MAX = 40 };              /* bytes of a cell in a message */

static enum errc end_field(struct reader *r, struct err *e)
{
    r->row_ended = true;
    if (r->at == r->end)
        return ERR_OK;
    if (*r->at == ',') {
        r->row_ended = false;
        r->at++;
    } else if (*r->at == '\n') {
        r->at++;
    } else if (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n') {
        r->at += 2;
    } else {
        return FAIL(e, BAD_DATA, "row %zu, column %zu: after a field a comma or a line end is due", r->row, r->col);
    }
    return ERR_OK;
}

static enum errc quoted_field(struct reader *r, struct str *ret, struct err *e)
{
    size_t n = 0;
    for (r->at++;; r->at++) {
        if (r->at == r->end)
            return FAIL(e, BAD_DATA, "row %zu, column %zu: the quote is never closed", r->row, r->col);
        if (*r->at == '"') {
            if (r->at + 1 == r->end || r->at[1] != '"')
                break;
            r->at++;
        }
        if (n == sizeof r->field)
            return FAIL(e, BAD_DATA, "row %zu, column %zu: more than %d bytes", r->row, r->col, CSV_FIELD_MAX);
        r->field[n++] = *r->at;
    }
    r->at++;
    *ret = str_n(r->field, n);
    return end_field(r, e);
}

static enum errc next_field(struct reader *r, struct str *ret, struct err *e)
{
    r->col = r->row_ended ? 1 : r->col + 1;
    r->row += r->row_ended;
    if (r->at < r->end && *r->at == '"')
        return quoted_field(r, ret, e);
    const char *from = r->at;
    while (r->at < r->end && *r->at != ',' && *r->at != '\n' && *r->at != '\r' && *r->at != '"')
        r->at++;
    *ret = str_n(from, (size_t)(r->at - from));
    return end_field(r, e);
}

static enum errc read_header(struct arena *a, struct reader *r, struct table_plan *p, struct err *e)
{
    size_t cap = 0;
    do {
        struct str name;
        TRY(next_field(r, &name, e));
        if (p->file_cols == TABLE_COLUMNS_MAX)
            return FAIL(e, LIMIT, "more than %d columns", TABLE_COLUMNS_MAX);
        if (name.len == 0 || name.len > TABLE_NAME_MAX || !str_is_utf8(name))
            return FAIL(e, BAD_DATA, "row 1, column %zu: a column name has 1 to %d bytes of UTF-8", r->col, TABLE_NAME_MAX);
        if (p->file_cols == cap) {
            struct str *grown = arena_try(a, (cap = cap ? cap * 4 : 64) * sizeof *grown);
            if (!grown)
                return FAIL(e, LIMIT, "the header does not fit in memory");
            if (p->file_cols)
                memcpy(grown, p->file_names, p->file_cols * sizeof *grown);
            p->file_names = grown;
        }
        char *copy = arena_try(a, name.len + 1);
        if (!copy)
            return FAIL(e, LIMIT, "the header does not fit in memory");
        memcpy(copy, name.ptr, name.len);
        p->file_names[p->file_cols++] = str_n(copy, name.len);
    } while (!r->row_ended);
    return ERR_OK;
}

#define AT_FMT "row %zu, column %zu (%.*s): "
#define AT_ARG(r, p) (r)->row, (r)->col, STR_ARG((p)->file_names[(r)->col - 1])

/* As much of a cell as a message quotes: no letter is cut in two, which would make the message no text. */
static int quoted(struct str f)
{
    size_t n = f.len < QUOTED_MAX ? f.len : QUOTED_MAX;
    while (n < f.len && n && ((unsigned char)f.ptr[n] & 0xC0) == 0x80)
        n--;
    return (int)n;
}

static enum errc read_cell(const struct reader *r, const struct table_plan *p, const struct data_schema *s, struct str f,
                           struct data_table *t, struct err *e)
{
    struct err why;
    double v;
    if (p->role[r->col - 1] == ROLE_UNUSED)
        return ERR_OK;
    bool is_word = f.len && table_is_category(p, t, r->col - 1);
    if (f.len && !is_word && !csv_number(f, &v))
        return FAIL(e, BAD_DATA, AT_FMT "\"%.*s\" is not a finite number", AT_ARG(r, p), quoted(f), f.ptr);
    enum errc rc = !f.len    ? table_put_missing(p, s, t, r->col - 1, &why)
                   : is_word ? table_put_word(r->arena, p, t, r->col - 1, f, &why)
                             : table_put(p, s, t, r->col - 1, v, &why);
    if (rc != ERR_OK)
        return rc == ERR_LIMIT ? FAIL(e, LIMIT, AT_FMT "%s", AT_ARG(r, p), why.msg)
                               : FAIL(e, BAD_DATA, AT_FMT "%s", AT_ARG(r, p), why.msg);
    return ERR_OK;
}

/* Upper bound of the data rows left: line ends, plus one for an unfinished last line. */
static size_t count_lines(const char *at, const char *end)
{
    size_t n = 0;
    for (const char *p = at; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n + (at < end && end[-1] != '\n');
}

static enum errc allocate(struct arena *a, const struct reader *r, bool has_missing, struct data_table *t, struct err *e)
{
    size_t rows = count_lines(r->at, r->end);
    if (rows > TABLE_ROWS_MAX)
        return FAIL(e, LIMIT, "more than %zu rows", TABLE_ROWS_MAX);
    /* A cell takes two bytes of text at least, or one where it may be empty: this product is bounded by the size of the file. */
    size_t least = (has_missing ? 1 : 2) * t->cols;
    if (rows > (size_t)(r->end - r->at) / least + 1)
        rows = (size_t)(r->end - r->at) / least + 1;
    return table_allocate(a, rows, t, e);
}

static enum errc read_rows(struct reader *r, const struct table_plan *p, const struct data_schema *s, struct data_table *t,
                           struct err *e)
{
    while (r->at < r->end) {
        for (size_t c = 0; c < p->file_cols; c++) {
            struct str f;
            TRY(next_field(r, &f, e));
            if (c + 1 < p->file_cols && r->row_ended)
                return FAIL(e, BAD_DATA, "row %zu has %zu columns, the header has %zu", r->row, c + 1, p->file_cols);
            TRY(read_cell(r, p, s, f, t, e));
        }
        if (!r->row_ended)
            return FAIL(e, BAD_DATA, "row %zu has more columns than the %zu of the header", r->row, p->file_cols);
        TRY(table_add_row(t, e));
    }
    return ERR_OK;
}

/* The header, of the text's first record. */
static enum errc begin(struct arena *a, struct str text, const struct data_schema *s, struct reader *r, struct table_plan *p, struct data_table *t,
                       struct err *e)
{
    if (text.len >= 3 && !memcmp(text.ptr, "\xEF\xBB\xBF", 3))
        text = str_n(text.ptr + 3, text.len - 3);
    if (text.len == 0)
        return FAIL(e, BAD_DATA, "the file is empty");
    *r = (struct reader){ .arena = a, .at = text.ptr, .end = text.ptr + text.len, .row_ended = true };
    TRY(read_header(a, r, p, e));
    return table_plan_make(a, s, "row 1", p, t, e);
}

static enum errc too_long(struct err *e)
{
    return FAIL(e, LIMIT, "more than %zu bytes", CSV_BYTES_MAX);
}

static enum errc run(struct arena *a, struct str text, const struct data_schema *s, bool keep, struct data_table *ret,
                     struct err *e)
{
    struct reader r;
    struct table_plan p = { 0 };
    struct data_table t = { 0 };
    TRY(table_schema_check(s, e));
    if (text.len > CSV_BYTES_MAX)
        return too_long(e);
    TRY(begin(a, text, s, &r, &p, &t, e));
    if (keep)
        TRY(allocate(a, &r, s->has_missing, &t, e));
    TRY(read_rows(&r, &p, s, &t, e));
    return table_finish(s, &t, ret, e);
}

enum errc csv_check(struct arena *a, struct str text, const struct data_schema *schema, struct data_table *ret, struct err *e)
{
    return run(a, text, schema, false, ret, e);
}

enum errc csv_read(struct arena *a, struct str text, const struct data_schema *schema, struct data_table *ret, struct err *e)
{
    return run(a, text, schema, true, ret, e);
}

/* What is whole is checked at once; the rest waits in `held` for its line end. Where a record ends is told by the parity of quotes, which is
 * right for every file that passes; in another one the reader meets the fault in order all the same, for it sees every byte. */
struct csv_checker {
    struct arena *arena;
    const struct data_schema *schema;
    struct reader r;
    struct table_plan plan;
    struct data_table table;
    struct buf held;
    size_t scanned, whole;          /* of held: looked at; up to here, complete records */
    uint64_t total;
    bool has_head, is_quoted;
};

static void release_held(void *held)
{
    buf_release(held);
}

enum errc csv_checker_new(struct arena *a, const struct data_schema *schema, struct csv_checker **ret, struct err *e)
{
    struct csv_checker *c = arena_try(a, sizeof *c);
    if (!c)
        return FAIL(e, LIMIT, "no memory to read the file");
    TRY(table_schema_check(schema, e));
    c->arena = a;
    c->schema = schema;
    c->held = BUF(2 * (size_t)CSV_RECORD_MAX);
    arena_defer(a, release_held, &c->held);
    *ret = c;
    return ERR_OK;
}

/* The first n bytes of what is held. */
static enum errc check_held(struct csv_checker *c, size_t n, struct err *e)
{
    if (!c->has_head)
        TRY(begin(c->arena, str_n(c->held.ptr, n), c->schema, &c->r, &c->plan, &c->table, e));
    else
        c->r.at = c->held.ptr, c->r.end = c->held.ptr + n;
    c->has_head = true;
    TRY(read_rows(&c->r, &c->plan, c->schema, &c->table, e));
    memmove(c->held.ptr, c->held.ptr + n, c->held.len - n);
    c->held.len -= n;
    c->scanned -= n;
    c->whole = 0;
    return ERR_OK;
}

static void scan(struct csv_checker *c)
{
    for (; c->scanned < c->held.len; c->scanned++) {
        char b = c->held.ptr[c->scanned];
        c->is_quoted ^= b == '"';
        if (b == '\n' && !c->is_quoted)
            c->whole = c->scanned + 1;
    }
}

enum errc csv_checker_add(struct csv_checker *c, const char *p, size_t n, struct err *e)
{
    if (n > CSV_BYTES_MAX - c->total)
        return too_long(e);
    c->total += n;
    while (n > 0) {
        size_t k = n < CSV_RECORD_MAX / 4 ? n : CSV_RECORD_MAX / 4;
        if (!buf_add(&c->held, p, k))
            return FAIL(e, LIMIT, "no memory to read the file");
        p += k;
        n -= k;
        scan(c);
        if (c->whole)
            TRY(check_held(c, c->whole, e));
        if (c->held.len <= CSV_RECORD_MAX)
            continue;
        TRY(check_held(c, c->held.len, e));     /* a quote that was never closed is told as what it is */
        return FAIL(e, LIMIT, "a row of more than %d bytes", CSV_RECORD_MAX);
    }
    return ERR_OK;
}

enum errc csv_checker_end(struct csv_checker *c, struct data_table *ret, struct err *e)
{
    if (c->held.len || !c->has_head)
        TRY(check_held(c, c->held.len, e));
    return table_finish(c->schema, &c->table, ret, e);
}
