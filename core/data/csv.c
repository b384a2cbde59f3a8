/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - one pass over the text, one field at a time; the table is grown by doubling of the row count.
 *
 * An unquoted field is a view of the text, a quoted one with doubled quotes is undone in a fixed buffer. Numbers take the exact
 * short path (mantissa below 2^53 and a power of ten up to 22, both exact doubles, so one correctly rounded operation: Clinger 1990)
 * and fall back to strtod. Rows are counted by records, not by lines: a quoted line end stays inside its record. */
#include "core/data/csv.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct reader {
    const char *at, *end;
    size_t row, col;                    /* of the field just read, from 1 */
    bool row_ended;                     /* the field just read was its row's last */
    char field[CSV_FIELD_MAX];
};

struct plan {                           /* what each column of the file is */
    size_t file_cols;
    int32_t *target;                    /* feature index, -1: label, -2: not used */
    struct str *file_names;
};

enum { COL_LABEL = -1, COL_UNUSED = -2 };
enum { QUOTED_MAX = 40 };              /* bytes of a cell in a message */

bool csv_number(struct str s, double *ret)
{
    static const double ten[23] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const char *p = s.ptr, *end = s.ptr + s.len;
    bool is_negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    uint64_t mantissa = 0;
    int digits = 0, scale = 0, significant = 0;
    bool has_dot = false;
    for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !has_dot)); p++) {
        if (*p == '.') {
            has_dot = true;
            continue;
        }
        digits++;
        significant += mantissa > 0 || *p != '0';
        if (significant <= 18)
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
        scale -= has_dot;
    }
    if (digits == 0)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool is_down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+'))
            p++;
        if (p == end)
            return false;
        int exponent = 0;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            exponent = exponent < 100000 ? exponent * 10 + (*p - '0') : exponent;
        scale += is_down ? -exponent : exponent;
    }
    if (p != end)
        return false;
    if (significant > 18 || mantissa > ((uint64_t)1 << 53) || scale < -22 || scale > 22)
        return str_to_f64(s, ret);
    double v = (double)mantissa;
    v = scale < 0 ? v / ten[-scale] : v * ten[scale];
    *ret = is_negative ? -v : v;
    return true;
}

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

static ptrdiff_t find_name(const struct str *names, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], name))
            return (ptrdiff_t)i;
    return -1;
}

static enum errc read_header(struct arena *a, struct reader *r, struct plan *p, struct err *e)
{
    size_t cap = 0;
    do {
        struct str name;
        TRY(next_field(r, &name, e));
        if (p->file_cols == CSV_COLUMNS_MAX)
            return FAIL(e, LIMIT, "more than %d columns", CSV_COLUMNS_MAX);
        if (name.len == 0 || name.len > CSV_NAME_MAX || !str_is_utf8(name))
            return FAIL(e, BAD_DATA, "row 1, column %zu: a column name has 1 to %d bytes of UTF-8", r->col, CSV_NAME_MAX);
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

/* The header's size is the sender's choice: what it drives may fail, not abort. */
#define TRY_ARRAY(a, var, n)                                                   \
    do {                                                                       \
        (var) = arena_try((a), sizeof *(var) * (n));                           \
        if (!(var))                                                            \
            return FAIL(e, LIMIT, "the header does not fit in memory");        \
    } while (0)

static int by_name(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static enum errc refuse_duplicates(struct arena *a, const struct plan *p, struct err *e)
{
    struct str *sorted;
    TRY_ARRAY(a, sorted, p->file_cols);
    memcpy(sorted, p->file_names, p->file_cols * sizeof *sorted);
    qsort(sorted, p->file_cols, sizeof *sorted, by_name);
    for (size_t i = 1; i < p->file_cols; i++)
        if (str_eq(sorted[i - 1], sorted[i]))
            return FAIL(e, BAD_DATA, "row 1: two columns are named \"%.*s\"", STR_ARG(sorted[i]));
    return ERR_OK;
}

/* Decide for each column of the file where it goes. */
static enum errc match_schema(struct arena *a, const struct csv_schema *s, struct plan *p, struct csv_table *t, struct err *e)
{
    TRY(refuse_duplicates(a, p, e));
    TRY_ARRAY(a, p->target, p->file_cols);
    ptrdiff_t label = find_name(p->file_names, p->file_cols, s->label);
    if (label < 0)
        return FAIL(e, BAD_DATA, "row 1: there is no label column \"%.*s\"", STR_ARG(s->label));
    t->cols = s->features ? s->feature_count : p->file_cols - 1;
    if (t->cols == 0)
        return FAIL(e, BAD_DATA, "there is no feature column besides the label \"%.*s\"", STR_ARG(s->label));
    struct str *names;
    if (t->cols > CSV_COLUMNS_MAX)
        return FAIL(e, LIMIT, "more than %d columns", CSV_COLUMNS_MAX);
    TRY_ARRAY(a, names, t->cols);
    for (size_t i = 0; i < p->file_cols; i++)
        p->target[i] = COL_UNUSED;
    p->target[label] = COL_LABEL;
    for (size_t i = 0, file = 0; i < t->cols; i++) {
        ptrdiff_t at = 0;
        if (s->features) {
            at = find_name(p->file_names, p->file_cols, s->features[i]);
            if (at < 0)
                return FAIL(e, BAD_DATA, "row 1: there is no feature column \"%.*s\"", STR_ARG(s->features[i]));
            if (p->target[at] != COL_UNUSED)
                return FAIL(e, INVALID, "column \"%.*s\" is asked for twice", STR_ARG(s->features[i]));
        } else {
            file += (ptrdiff_t)file == label;
            at = (ptrdiff_t)file++;
        }
        p->target[at] = (int32_t)i;
        names[i] = p->file_names[at];
    }
    t->names = names;
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

static enum errc read_cell(const struct reader *r, const struct plan *p, const struct csv_schema *s, struct str f, struct csv_table *t,
                           size_t row, struct err *e)
{
    int32_t target = p->target[r->col - 1];
    double v;
    if (target == COL_UNUSED)
        return ERR_OK;
    if (f.len == 0)
        return FAIL(e, BAD_DATA, AT_FMT "the field is empty", AT_ARG(r, p));
    if (!csv_number(f, &v))
        return FAIL(e, BAD_DATA, AT_FMT "\"%.*s\" is not a finite number", AT_ARG(r, p), quoted(f), f.ptr);
    if (target == COL_LABEL) {
        double top = (double)(s->classes ? s->classes : CSV_CLASSES_MAX) - 1;
        if (v < 0 || v > top || v != floor(v))
            return FAIL(e, BAD_DATA, AT_FMT "the label %g is not an integer of 0 to %.0f", AT_ARG(r, p), v, top);
        if (t->labels)
            t->labels[row] = (int32_t)v;
        if (v + 1 > (double)t->classes)
            t->classes = (int64_t)v + 1;
        return ERR_OK;
    }
    if (fabs(v) > FLT_MAX)
        return FAIL(e, BAD_DATA, AT_FMT "%g is too large for a 32-bit float", AT_ARG(r, p), v);
    if (t->x)
        t->x[row * t->cols + (size_t)target] = (float)v;
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

static enum errc allocate(struct arena *a, const struct reader *r, struct csv_table *t, struct err *e)
{
    size_t rows = count_lines(r->at, r->end);
    if (rows > CSV_ROWS_MAX)
        return FAIL(e, LIMIT, "more than %zu rows", CSV_ROWS_MAX);
    /* A cell takes two bytes of text at least, so this product is bounded by the size of the file. */
    if (rows > (size_t)(r->end - r->at) / (2 * t->cols) + 1)
        rows = (size_t)(r->end - r->at) / (2 * t->cols) + 1;
    t->x = arena_try(a, rows * t->cols * sizeof *t->x + 64);
    t->labels = arena_try(a, rows * sizeof *t->labels + 64);
    if (!t->x || !t->labels)
        return FAIL(e, LIMIT, "a table of %zu rows and %zu columns does not fit in the memory of this job", rows, t->cols);
    return ERR_OK;
}

static enum errc read_rows(struct reader *r, const struct plan *p, const struct csv_schema *s, struct csv_table *t, struct err *e)
{
    while (r->at < r->end) {
        if (t->rows == CSV_ROWS_MAX)
            return FAIL(e, LIMIT, "more than %zu rows", CSV_ROWS_MAX);
        for (size_t c = 0; c < p->file_cols; c++) {
            struct str f;
            TRY(next_field(r, &f, e));
            if (c + 1 < p->file_cols && r->row_ended)
                return FAIL(e, BAD_DATA, "row %zu has %zu columns, the header has %zu", r->row, c + 1, p->file_cols);
            TRY(read_cell(r, p, s, f, t, t->rows, e));
        }
        if (!r->row_ended)
            return FAIL(e, BAD_DATA, "row %zu has more columns than the %zu of the header", r->row, p->file_cols);
        t->rows++;
    }
    return ERR_OK;
}

static enum errc check_schema(const struct csv_schema *s, struct err *e)
{
    if (s->classes < 0 || s->classes > CSV_CLASSES_MAX)
        return FAIL_AT(e, INVALID, "/classes", "must be 0 to %d", CSV_CLASSES_MAX);
    if (s->label.len == 0)
        return FAIL_AT(e, INVALID, "/label", "the name of the label column is missing");
    return ERR_OK;
}

/* The header, of the text's first record. */
static enum errc begin(struct arena *a, struct str text, const struct csv_schema *s, struct reader *r, struct plan *p, struct csv_table *t,
                       struct err *e)
{
    if (text.len >= 3 && !memcmp(text.ptr, "\xEF\xBB\xBF", 3))
        text = str_n(text.ptr + 3, text.len - 3);
    if (text.len == 0)
        return FAIL(e, BAD_DATA, "the file is empty");
    *r = (struct reader){ .at = text.ptr, .end = text.ptr + text.len, .row_ended = true };
    TRY(read_header(a, r, p, e));
    return match_schema(a, s, p, t, e);
}

static enum errc finish(const struct csv_schema *s, struct csv_table *t, struct csv_table *ret, struct err *e)
{
    if (!t->rows)
        return FAIL(e, BAD_DATA, "the file has a header but no data row");
    if (s->classes)
        t->classes = s->classes;
    *ret = *t;
    return ERR_OK;
}

static enum errc too_long(struct err *e)
{
    return FAIL(e, LIMIT, "more than %zu bytes", CSV_BYTES_MAX);
}

static enum errc run(struct arena *a, struct str text, const struct csv_schema *s, bool keep, struct csv_table *ret, struct err *e)
{
    struct reader r;
    struct plan p = { 0 };
    struct csv_table t = { 0 };
    TRY(check_schema(s, e));
    if (text.len > CSV_BYTES_MAX)
        return too_long(e);
    TRY(begin(a, text, s, &r, &p, &t, e));
    if (keep)
        TRY(allocate(a, &r, &t, e));
    TRY(read_rows(&r, &p, s, &t, e));
    return finish(s, &t, ret, e);
}

enum errc csv_check(struct arena *a, struct str text, const struct csv_schema *schema, struct csv_table *ret, struct err *e)
{
    return run(a, text, schema, false, ret, e);
}

enum errc csv_read(struct arena *a, struct str text, const struct csv_schema *schema, struct csv_table *ret, struct err *e)
{
    return run(a, text, schema, true, ret, e);
}

/* What is whole is checked at once; the rest waits in `held` for its line end. Where a record ends is told by the parity of quotes, which is
 * right for every file that passes; in another one the reader meets the fault in order all the same, for it sees every byte. */
struct csv_checker {
    struct arena *arena;
    const struct csv_schema *schema;
    struct reader r;
    struct plan plan;
    struct csv_table table;
    struct buf held;
    size_t scanned, whole;          /* of held: looked at; up to here, complete records */
    uint64_t total;
    bool has_head, is_quoted;
};

static void release_held(void *held)
{
    buf_release(held);
}

enum errc csv_checker_new(struct arena *a, const struct csv_schema *schema, struct csv_checker **ret, struct err *e)
{
    struct csv_checker *c = arena_try(a, sizeof *c);
    if (!c)
        return FAIL(e, LIMIT, "no memory to read the file");
    TRY(check_schema(schema, e));
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

enum errc csv_checker_end(struct csv_checker *c, struct csv_table *ret, struct err *e)
{
    if (c->held.len || !c->has_head)
        TRY(check_held(c, c->held.len, e));
    return finish(c->schema, &c->table, ret, e);
}
