/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - an API answer in the form that was asked for: tables, csv, names, and the choice between all forms.
 *
 * A page of a list is turned into texts first, so that the widths are known; further pages of a streamed list keep the widths of
 * the first, which is what lets --limit 0 run in constant memory. Control characters of values are never sent to the terminal. */
#include "cli/output.h"
#include <sys/ioctl.h>
#include <unistd.h>
#include "core/base/cleanup.h"

enum { COLUMNS_MAX = 16, CELL_MAX = 4096, MEMBER_MAX = 400 /* cells of a long member */, LIST_MAX = 256 << 20 };

struct column {
    struct str member, heading;
};

/* The columns that this format shows. */
static size_t parse_columns(const char *spec, bool is_wide, struct column *list)
{
    size_t n = 0;
    struct str rest = str_c(spec), word;
    for (bool more = true; more && n < COLUMNS_MAX;) {
        more = str_cut(rest, ' ', &word, &rest);
        if (!word.len)
            continue;
        bool wide_only = word.ptr[0] == '+';
        if (wide_only)
            word = str_n(word.ptr + 1, word.len - 1);
        if (wide_only && !is_wide)
            continue;
        str_cut(word, ':', &list[n].member, &list[n].heading);
        n++;
    }
    return n;
}

/* "spec.family" walks into objects. */
static const struct jval *member_of(struct arena *a, const struct jval *v, struct str path)
{
    struct str part;
    for (bool more = true; more;) {
        more = str_cut(path, '.', &part, &path);
        v = jval_get(v, str_z(a, part));
    }
    return v;
}

struct str output_text(struct arena *a, const struct jval *v)
{
    switch (jval_type(v)) {
    case JT_NONE: case JT_NULL:
        return STR("");
    case JT_STR:
        return jval_str(v);
    case JT_BOOL:
        return jval_bool(v, false) ? STR("true") : STR("false");
    default:
        break;
    }
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    bool is_list = jval_type(v) == JT_ARRAY;
    for (size_t i = 0; is_list && i < jval_len(v); i++) {
        struct str one = output_text(a, jval_at(v, i));
        buf_add_c(&b, i ? "," : "");
        buf_add_str(&b, one);
    }
    if (!is_list)
        output_json(v, &b);
    return str_dup(a, buf_str(&b));
}

static uint32_t next_rune(const unsigned char **p, const unsigned char *end)
{
    unsigned char c = *(*p)++;
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    uint32_t r = more == 3 ? c & 7u : more == 2 ? c & 15u : more == 1 ? c & 31u : c;
    while (more-- > 0 && *p < end && (**p & 0xc0) == 0x80)
        r = r << 6 | (*(*p)++ & 0x3fu);
    return r;
}

static size_t rune_cells(uint32_t r)
{
    bool is_mark = (r >= 0x300 && r <= 0x36f) || (r >= 0x610 && r <= 0x61a) || (r >= 0x64b && r <= 0x65f) || r == 0x670 ||
                   (r >= 0x6d6 && r <= 0x6ed) || (r >= 0x200b && r <= 0x200f) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2060 && r <= 0x2069) ||
                   (r >= 0xfe00 && r <= 0xfe0f);
    bool is_wide = (r >= 0x1100 && r <= 0x115f) || (r >= 0x2e80 && r <= 0xa4cf) || (r >= 0xac00 && r <= 0xd7a3) ||
                   (r >= 0xf900 && r <= 0xfaff) || (r >= 0xfe30 && r <= 0xfe6f) || (r >= 0xff00 && r <= 0xff60) || (r >= 0x1f300 && r <= 0x1faff);
    return is_mark ? 0 : is_wide ? 2 : 1;
}

size_t output_cells(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr, *end = p + s.len;
    size_t cells = 0;
    while (p < end)
        cells += rune_cells(next_rune(&p, end));
    return cells;
}

/* Print at most max cells; control bytes become '?', so that a name cannot drive the terminal. */
static size_t print_cells(FILE *out, struct str s, size_t max)
{
    const unsigned char *p = (const unsigned char *)s.ptr, *end = p + s.len;
    size_t cells = 0;
    while (p < end) {
        const unsigned char *start = p;
        uint32_t r = next_rune(&p, end);
        if (cells + rune_cells(r) > max)
            break;
        cells += rune_cells(r);
        if (r < 0x20 || (r >= 0x7f && r < 0xa0))
            fputc('?', out);
        else
            fwrite(start, 1, (size_t)(p - start), out);
    }
    return cells;
}

static size_t line_width(const struct cli *c)
{
    struct winsize w;
    int fd = fileno(c->out);
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &w) < 0 || w.ws_col < 20)
        return SIZE_MAX;
    return w.ws_col;
}

static void print_row(const struct output *o, const struct str *cells, size_t n)
{
    size_t left = line_width(o->c);
    for (size_t i = 0; i < n; i++) {
        bool is_last = i + 1 == n;
        size_t max = is_last ? left : CELL_MAX;
        size_t used = print_cells(o->c->out, cells[i], max < left ? max : left);
        for (; !is_last && used < o->widths[i] + 2; used++)
            fputc(' ', o->c->out);
        left = left > used ? left - used : 0;
    }
    fputc('\n', o->c->out);
}

/* A person reads six digits of a fraction, and of money all that stand before the point; whole numbers, and all other forms, keep
 * theirs. */
static struct str cell_text(struct arena *a, const struct jval *v)
{
    if (jval_type(v) != JT_REAL)
        return output_text(a, v);
    const double n = jval_f64(v, 0), size = n < 0 ? -n : n;
    return str_c(arena_printf(a, size >= 1e5 && size < 1e15 ? "%.0f" : "%.6g", n));
}

static void table_page(struct output *o, const struct jval *items)
{
    struct column columns[COLUMNS_MAX];
    struct str headings[COLUMNS_MAX];
    size_t n = parse_columns(o->columns, o->c->format == OUT_WIDE, columns), rows = jval_len(items);
    struct str *cells = ARENA_ARRAY(o->c->arena, struct str, n * rows + 1);
    for (size_t i = 0; i < n; i++) {
        headings[i] = columns[i].heading;
        size_t w = o->has_heading ? o->widths[i] : output_cells(headings[i]);
        for (size_t r = 0; r < rows; r++) {
            struct str text = cell_text(o->c->arena, member_of(o->c->arena, jval_at(items, r), columns[i].member));
            cells[r * n + i] = text.len ? text : STR("-");
            size_t cw = output_cells(cells[r * n + i]);
            w = cw > w && !o->has_heading ? cw : w;
        }
        o->widths[i] = w;
    }
    if (!o->has_heading && rows)
        print_row(o, headings, n);
    o->has_heading = o->has_heading || rows;
    for (size_t r = 0; r < rows; r++)
        print_row(o, &cells[r * n], n);
}

/* RFC 4180; a cell that a spreadsheet would take for a formula gets a quote in front (CSV injection). */
static void csv_cell(FILE *out, struct str s)
{
    bool is_formula = s.len && strchr("=+@\t", s.ptr[0]);
    bool needs_quotes = is_formula;
    for (size_t i = 0; i < s.len; i++)
        needs_quotes = needs_quotes || strchr(",\"\r\n", s.ptr[i]) != NULL;
    if (!needs_quotes) {
        fwrite(s.ptr, 1, s.len, out);
        return;
    }
    fputs(is_formula ? "\"'" : "\"", out);
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '"')
            fputc('"', out);
        fputc(s.ptr[i], out);
    }
    fputc('"', out);
}

static void csv_page(struct output *o, const struct jval *items)
{
    struct column columns[COLUMNS_MAX];
    size_t n = parse_columns(o->columns, true, columns);
    for (size_t i = 0; i < n && !o->has_heading; i++)
        fprintf(o->c->out, "%s%.*s", i ? "," : "", STR_ARG(columns[i].member));
    if (!o->has_heading)
        fputs("\r\n", o->c->out);
    o->has_heading = true;
    for (size_t r = 0; r < jval_len(items); r++) {
        for (size_t i = 0; i < n; i++) {
            fputs(i ? "," : "", o->c->out);
            csv_cell(o->c->out, output_text(o->c->arena, member_of(o->c->arena, jval_at(items, r), columns[i].member)));
        }
        fputs("\r\n", o->c->out);
    }
}

static void print_name(struct cli *c, const struct jval *v, const char *columns)
{
    struct column list[COLUMNS_MAX];
    if (parse_columns(columns, false, list) == 0)
        return;
    struct str text = output_text(c->arena, member_of(c->arena, v, list[0].member));
    fprintf(c->out, "%.*s\n", STR_ARG(text));
}

void output_begin(struct output *o, struct cli *c, const char *columns)
{
    *o = (struct output){ .c = c, .columns = columns };
    if (c->format == OUT_JSON)
        fputs("{\"data\":[", c->out);
    if (c->format == OUT_JSONPATH) {
        o->pending = BUF(LIST_MAX);
        buf_add_c(&o->pending, "{\"data\":[");
    }
}

void output_page(struct output *o, const struct jval *items)
{
    struct cli *c = o->c;
    switch (c->format) {
    case OUT_TABLE: case OUT_WIDE:
        table_page(o, items);
        break;
    case OUT_CSV:
        csv_page(o, items);
        break;
    default:
        for (size_t i = 0; i < jval_len(items); i++) {
            const struct jval *item = jval_at(items, i);
            CLEANUP(buf_releasep) struct buf b = BUF(64 << 20);
            if (c->format == OUT_NAME) {
                print_name(c, item, o->columns);
            } else if (c->format == OUT_JSONPATH) {
                buf_add_c(&o->pending, o->items + i ? "," : "");
                output_json(item, &o->pending);
            } else if (c->format == OUT_YAML) {
                fputs("- ", c->out);
                output_yaml(c->out, item, 2);
            } else {
                output_json(item, &b);
                fprintf(c->out, "%s%.*s", o->items + i ? "," : "", STR_ARG(buf_str(&b)));
            }
        }
    }
    o->items += jval_len(items);
}

static void jsonpath_end(struct output *o)
{
    struct err e = { 0 };
    const struct jval *all;
    buf_add_c(&o->pending, "]}");
    struct str text = str_dup(o->c->arena, buf_str(&o->pending));
    bool is_whole = !o->pending.overflow && jval_parse(o->c->arena, text, 0, &all, &e) == ERR_OK;
    buf_release(&o->pending);
    if (is_whole)
        output_jsonpath(o->c->arena, o->c->out, all, o->c->jsonpath);
    else
        o->c->late = cli_fail(o->c, CLI_FAILED, "ask for fewer with --limit, or use -o json", "the list is larger than %d MiB",
            LIST_MAX >> 20);
}

void output_end(struct output *o)
{
    if (o->c->format == OUT_JSONPATH)
        jsonpath_end(o);
    else if (o->c->format == OUT_JSON)
        fputs("]}\n", o->c->out);
    else if (o->items == 0 && (o->c->format == OUT_TABLE || o->c->format == OUT_WIDE))
        cli_note(o->c, "There are none.");
}

/* Without columns: the members, one per line. */
static void print_members(struct cli *c, const struct jval *v)
{
    size_t width = 0;
    for (struct jval_iter it = jval_iter(v); jval_next(&it);)
        width = it.name && strlen(it.name) > width ? strlen(it.name) : width;
    for (struct jval_iter it = jval_iter(v); jval_next(&it);) {
        struct str text = output_text(c->arena, it.value);
        if (!text.len)
            continue;
        bool is_cut = c->format != OUT_WIDE && output_cells(text) > MEMBER_MAX;
        fprintf(c->out, "%-*s  ", (int)width, it.name ? it.name : "");
        print_cells(c->out, text, is_cut ? MEMBER_MAX : SIZE_MAX);
        fputs(is_cut ? "… (-o wide shows all)\n" : "\n", c->out);
    }
}

/* One object as a list of one; NULL of what is no JSON. */
static const struct jval *list_of(struct cli *c, struct str raw)
{
    CLEANUP(buf_releasep) struct buf b = BUF(64 << 20);
    const struct jval *list = NULL;
    struct err ignored;
    buf_add_char(&b, '[');
    buf_add_str(&b, raw);
    buf_add_char(&b, ']');
    return jval_parse(c->arena, str_dup(c->arena, buf_str(&b)), 0, &list, &ignored) == ERR_OK ? list : NULL;
}

void output_row(struct cli *c, const struct jval *v, struct str raw, const char *columns)
{
    struct output o = { .c = c, .columns = columns };
    if (c->format == OUT_TABLE || c->format == OUT_WIDE)
        table_page(&o, list_of(c, raw));
    else
        output_object(c, v, raw, columns);
}

void output_object(struct cli *c, const struct jval *v, struct str raw, const char *columns)
{
    switch (c->format) {
    case OUT_JSON:
        fprintf(c->out, "%.*s\n", STR_ARG(raw));
        break;
    case OUT_YAML:
        output_yaml(c->out, v, 0);
        break;
    case OUT_NAME:
        print_name(c, v, columns ? columns : "name:NAME");
        break;
    case OUT_JSONPATH:
        output_jsonpath(c->arena, c->out, v, c->jsonpath);
        break;
    case OUT_CSV: {
        struct output o = { .c = c, .columns = columns ? columns : "name:NAME" };
        csv_page(&o, list_of(c, raw));
        break;
    }
    default:
        print_members(c, v);
    }
}

void output_list(struct cli *c, const struct jval *reply, struct str raw, const char *columns)
{
    if (c->format == OUT_JSON) {
        output_object(c, reply, raw, columns);
        return;
    }
    struct output o;
    output_begin(&o, c, columns);
    output_page(&o, jval_get(reply, "data"));
    output_end(&o);
}
