/* SPDX-License-Identifier: Apache-2.0 */
/* infer_row.c - cells, then their places, then JSON. */
#include "cli/infer_row.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"

#include <string.h>

struct cell {
    struct str name, text;          /* name: of NAME=VALUE; ptr NULL without one */
    bool is_quoted;
};

struct column {
    struct str name, input, datatype;
    const struct jval *shape;       /* of the input; NULL: one row of as many as there are */
    bool is_word;
    const struct cell *cell;        /* NULL: missing */
};

/* Up to the next comma outside quotes; false: it was the last one. */
static enum errc cut_cell(struct arena *a, struct str *rest, struct cell *ret, bool *ret_more, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    size_t i = 0;
    bool is_open = false;
    *ret = (struct cell){ 0 };
    for (; i < rest->len && (is_open || rest->ptr[i] != ','); i++) {
        if (rest->ptr[i] != '"')
            buf_add_char(&b, rest->ptr[i]);
        else if (is_open && i + 1 < rest->len && rest->ptr[i + 1] == '"')
            buf_add_char(&b, rest->ptr[++i]);
        else
            is_open = !is_open, ret->is_quoted = true;
    }
    if (!str_is_utf8(*rest))
        return FAIL(e, INVALID, "the row is not UTF-8");
    if (is_open)
        return FAIL(e, INVALID, "a quote is open to the end of the row");
    struct str all = buf_str(&b);
    ret->text = str_dup(a, ret->is_quoted ? all : str_trim(all));
    *ret_more = i < rest->len;
    *rest = str_n(rest->ptr + i + *ret_more, rest->len - i - *ret_more);
    return ERR_OK;
}

static enum errc cut_cells(struct arena *a, struct str row, struct cell **ret, size_t *ret_n, struct err *e)
{
    size_t n = 0, most = 1;
    for (size_t i = 0; i < row.len; i++)
        most += row.ptr[i] == ',';
    if (most > INFER_CELLS_MAX)
        return FAIL(e, INVALID, "a row has at most %d cells", INFER_CELLS_MAX);
    struct cell *c = ARENA_ARRAY(a, struct cell, most);
    for (bool more = true; more; n++)
        TRY(cut_cell(a, &row, &c[n], &more, e));
    *ret = c;
    *ret_n = n;
    return ERR_OK;
}

/* Numbers of a row of an input: its shape without the rows. */
static size_t width_of(const struct jval *input)
{
    const struct jval *shape = jval_get(input, "shape");
    size_t n = 1;
    for (size_t i = 0; i < jval_len(shape); i++) {
        int64_t d = jval_i64(jval_at(shape, i), 0);
        n *= i == 0 && d == -1 ? 1 : d < 0 || d > INFER_CELLS_MAX ? INFER_CELLS_MAX + 1 : (size_t)d;
        n = n > INFER_CELLS_MAX ? INFER_CELLS_MAX + 1 : n;
    }
    return n;
}

static enum errc columns_of(struct arena *a, const struct jval *meta, struct column **ret, size_t *ret_n, struct err *e)
{
    const struct jval *inputs = jval_get(meta, "inputs");
    size_t n = 0, all = 0;
    for (size_t i = 0; i < jval_len(inputs); i++)
        all += width_of(jval_at(inputs, i));
    if (!all || all > INFER_CELLS_MAX)
        return FAIL(e, INVALID, "the model does not take rows of at most %d values: give its request as a file", INFER_CELLS_MAX);
    struct column *c = ARENA_ARRAY(a, struct column, all);
    for (size_t i = 0; i < jval_len(inputs); i++) {
        const struct jval *in = jval_at(inputs, i), *names = jval_get(jval_get(in, "parameters"), "columns");
        bool is_word = str_eq_c(jval_str(jval_get(in, "datatype")), "BYTES");
        for (size_t k = 0, width = width_of(in); k < width; k++)
            c[n++] = (struct column){ jval_str(jval_at(names, k)), jval_str(jval_get(in, "name")),
                                      jval_str(jval_get(in, "datatype")), jval_get(in, "shape"), is_word, NULL };
    }
    *ret = c;
    *ret_n = n;
    return ERR_OK;
}

static struct column *find_column(struct column *c, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].name.ptr && str_eq(c[i].name, name))
            return &c[i];
    return NULL;
}

/* NAME=VALUE of a column that there is; otherwise the cell is a value. */
static bool cut_name(struct cell *cell, struct column *c, size_t n)
{
    struct str name, value;
    if (!str_cut(cell->text, '=', &name, &value) || !find_column(c, n, str_trim(name)))
        return false;
    cell->name = str_trim(name);
    cell->text = cell->is_quoted ? value : str_trim(value);
    return true;
}

static enum errc place_by_name(struct cell *cell, size_t cells, struct column *c, size_t n, struct err *e)
{
    for (size_t i = 0; i < cells; i++) {
        if (i && !cut_name(&cell[i], c, n))
            return FAIL(e, INVALID, "'%.*s' names no column; the first cell does, so each must be NAME=VALUE",
                        (int)(cell[i].text.len < 60 ? cell[i].text.len : 60), cell[i].text.ptr);
        struct column *at = find_column(c, n, cell[i].name);
        if (at->cell)
            return FAIL(e, INVALID, "the column %.*s is given twice", STR_ARG(at->name));
        at->cell = &cell[i];
    }
    return ERR_OK;
}

/* The first few, for a message. */
static const char *names_of(struct arena *a, const struct column *c, size_t n)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    for (size_t i = 0; i < n && i < 8; i++)
        buf_printf(&b, "%s%.*s", i ? ", " : "", STR_ARG(c[i].name));
    buf_add_c(&b, n > 8 ? ", …" : "");
    return str_z(a, buf_str(&b));
}

static enum errc place(struct arena *a, struct cell *cell, size_t cells, struct column *c, size_t n, struct err *e)
{
    if (cut_name(&cell[0], c, n))
        return place_by_name(cell, cells, c, n, e);
    struct str name, value;
    if (cells != n && c[0].name.ptr && str_cut(cell[0].text, '=', &name, &value))
        return FAIL(e, INVALID, "'%.*s' names no column; the model's %zu are %s", (int)(name.len < 60 ? name.len : 60),
                    name.ptr, n, names_of(a, c, n));
    if (cells != n)
        return FAIL(e, INVALID, "the model takes %zu values in a row%s%.*s; %zu are given", n,
                    c[0].name.ptr ? ", the first is " : "", STR_ARG(c[0].name), cells);
    for (size_t i = 0; i < n; i++)
        c[i].cell = &cell[i];
    return ERR_OK;
}

static enum errc add_value(struct buf *b, const struct column *c, struct err *e)
{
    double number;
    struct str text = c->cell ? c->cell->text : STR_NULL;
    if (!c->cell || (!text.len && !(c->is_word && c->cell->is_quoted)))
        buf_add_c(b, "null");
    else if (c->is_word)
        buf_add_json(b, text);
    else if (str_to_f64(text, &number))
        buf_add_str(b, text);
    else
        return FAIL(e, INVALID, "'%.*s' is no number%s%.*s", (int)(text.len < 60 ? text.len : 60), text.ptr,
                    c->name.ptr ? ", which the model takes as " : "", STR_ARG(c->name));
    return ERR_OK;
}

/* What columns of one input hold: they are next to each other. */
static enum errc add_input(struct buf *b, const struct column *c, size_t n, struct err *e)
{
    buf_add_c(b, "{\"name\":");
    buf_add_json(b, c->input);
    buf_add_c(b, ",\"shape\":[");
    for (size_t i = 0; i < jval_len(c->shape); i++) {
        int64_t d = jval_i64(jval_at(c->shape, i), 1);
        buf_printf(b, "%s%lld", i ? "," : "", (long long)(d == -1 ? 1 : d));
    }
    if (!c->shape)
        buf_printf(b, "1,%zu", n);
    buf_printf(b, "],\"datatype\":\"%.*s\",\"data\":[", STR_ARG(c->datatype));
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(b, ',');
        TRY(add_value(b, &c[i], e));
    }
    buf_add_c(b, "]}");
    return ERR_OK;
}

enum errc infer_row(struct arena *a, struct str row, const struct jval *meta, const char *input, struct str *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4 << 20);
    struct cell *cell;
    struct column *c;
    size_t cells, n;
    TRY(cut_cells(a, row, &cell, &cells, e));
    if (input) {
        n = cells;
        c = ARENA_ARRAY(a, struct column, n);
        for (size_t i = 0; i < n; i++)
            c[i] = (struct column){ STR_NULL, str_c(input), STR("FP32"), NULL, false, &cell[i] };
    } else {
        TRY(columns_of(a, meta, &c, &n, e));
        TRY(place(a, cell, cells, c, n, e));
    }
    buf_add_c(&b, "{\"inputs\":[");
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && str_eq(c[to].input, c[from].input); to++)
            continue;
        if (from)
            buf_add_char(&b, ',');
        TRY(add_input(&b, c + from, to - from, e));
    }
    buf_add_c(&b, "]}");
    if (b.overflow)
        return FAIL(e, INVALID, "the row is too long for a request");
    *ret = str_dup(a, buf_str(&b));
    return ERR_OK;
}
