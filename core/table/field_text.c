/* SPDX-License-Identifier: Apache-2.0 */
/* field_text.c - values of a schema from text: path captures, query parameters, defaults.
 *
 * One converter per type writes the C form and checks it; lists cut at commas. The query reader follows the
 * application/x-www-form-urlencoded parser of the WHATWG URL standard, except that it refuses what that one lets pass (bad
 * escapes, bytes that are not UTF-8, NUL, repeats). */
#include "core/table/schema.h"
#include "core/base/assert.h"

#include <inttypes.h>

static enum errc text_str(const struct field *f, struct str t, struct str *dst, struct arena *a, struct err *e)
{
    if (!str_is_utf8(t) || (t.len && memchr(t.ptr, '\0', t.len)))
        return FAIL(e, INVALID, "must be UTF-8 text");
    TRY(field_check_str(f, t, e));
    char *p = arena_try(a, t.len + 1);
    if (!p)
        return FAIL(e, LIMIT, "is too large");
    if (t.len)
        memcpy(p, t.ptr, t.len);
    *dst = str_n(p, t.len);
    return ERR_OK;
}

static enum errc text_bytes(const struct field *f, struct str t, struct bytes *dst, struct arena *a, struct err *e)
{
    char *p = arena_try(a, t.len + 1);
    size_t n;
    if (!p)
        return FAIL(e, LIMIT, "is too large");
    if (!base64_decode(t, p, t.len + 1, &n, true) && !base64_decode(t, p, t.len + 1, &n, false))
        return FAIL(e, INVALID, "must be base64");
    if ((int64_t)n < field_min(f) || (int64_t)n > field_max(f))
        return FAIL(e, INVALID, "must have %" PRId64 " to %" PRId64 " bytes, has %zu", field_min(f), field_max(f), n);
    dst->data = str_n(p, n);
    return ERR_OK;
}

static enum errc text_int(const struct field *f, struct str t, int64_t *dst, struct err *e)
{
    int64_t v;
    if (!str_to_i64(t, INT64_MIN, INT64_MAX, &v))
        return FAIL(e, INVALID, "must be an integer");
    TRY(field_check_i64(f, v, e));
    *dst = v;
    return ERR_OK;
}

static enum errc text_enum(const struct field *f, struct str t, int *dst, struct err *e)
{
    int v = name_index(f->names, t);
    if (v >= 0)
        return *dst = v, ERR_OK;
    char all[160] = "";
    size_t n = 0;
    for (int i = 0; f->names[i] && n + strlen(f->names[i]) + 8 < sizeof all; i++) {
        n += (size_t)(i ? 2 : 0);
        if (i)
            memcpy(all + n - 2, ", ", 2);
        memcpy(all + n, f->names[i], strlen(f->names[i]));
        n += strlen(f->names[i]);
    }
    return FAIL(e, INVALID, "must be one of %s", all);
}

static enum errc text_scalar(const struct field *f, enum ftype type, struct str t, void *dst, struct arena *a, struct err *e)
{
    int64_t i = 0;
    double d;
    switch (type) {
    case FT_BOOL:
        return str_to_bool(t, dst) ? ERR_OK : FAIL(e, INVALID, "must be true or false");
    case FT_I32:
        TRY(text_int(f, t, &i, e));
        *(int32_t *)dst = (int32_t)i;
        return ERR_OK;
    case FT_I64:
        return text_int(f, t, dst, e);
    case FT_F64:
        if (!str_to_f64(t, &d))
            return FAIL(e, INVALID, "must be a number");
        TRY(field_check_f64(f, d, e));
        *(double *)dst = d;
        return ERR_OK;
    case FT_STR:
        return text_str(f, t, dst, a, e);
    case FT_UUID:
        if (id_parse(f->prefix, t, dst))
            return ERR_OK;
        return f->prefix ? FAIL(e, INVALID, "must be an id of the form %s_ and 32 hex digits", f->prefix)
                         : FAIL(e, INVALID, "must be a UUID");
    case FT_TIME:
        return time_parse(t, &((struct timestamp *)dst)->us) ? ERR_OK : FAIL(e, INVALID, "must be a time as in RFC 3339");
    case FT_ENUM:
        return text_enum(f, t, dst, e);
    case FT_JSON:
        ((struct json *)dst)->text = str_dup(a, t);
        return ERR_OK;
    case FT_BYTES:
        return text_bytes(f, t, dst, a, e);
    case FT_SUB:
    case FT_LIST:
        break;
    }
    return FAIL(e, INTERNAL, "field %s has no text form", f->name);
}

static enum errc text_list(const struct field *f, struct str t, struct slice *dst, struct arena *a, struct err *e)
{
    size_t n = t.len > 0, size = ftype_size(f);
    for (size_t i = 0; i < t.len; i++)
        n += t.ptr[i] == ',';
    if ((int64_t)n < field_min(f) || (int64_t)n > field_max(f))
        return FAIL(e, INVALID, "must have %" PRId64 " to %" PRId64 " items, has %zu", field_min(f), field_max(f), n);
    char *items = arena_try(a, n * size + 1);
    if (!items)
        return FAIL(e, LIMIT, "is too large");
    struct str rest = t;
    for (size_t i = 0; i < n; i++) {
        struct str head;
        str_cut(rest, ',', &head, &rest);
        TRY(text_scalar(f, f->item, head, items + i * size, a, e));
    }
    *dst = (struct slice){ items, n };
    return ERR_OK;
}

enum errc field_from_text(const struct field *f, struct str text, void *base, struct arena *a, struct err *e)
{
    void *dst = field_at(f, base);
    if (!text.ptr)
        text = STR("");
    enum errc rc = f->type == FT_LIST ? text_list(f, text, dst, a, e) : text_scalar(f, f->type, text, dst, a, e);
    if (rc)
        return err_field(e, "/%s", f->name), rc;
    field_set_has(f, base, true);
    return ERR_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static enum errc percent_decode(struct str in, struct arena *a, struct str *ret, struct err *e)
{
    char *p = arena_try(a, in.len + 1);
    size_t n = 0;
    if (!p)
        return FAIL(e, LIMIT, "the query is too large");
    for (size_t i = 0; i < in.len; i++) {
        char c = in.ptr[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            int hi = i + 2 < in.len ? hex_digit(in.ptr[i + 1]) : -1, lo = i + 2 < in.len ? hex_digit(in.ptr[i + 2]) : -1;
            if (hi < 0 || lo < 0)
                return FAIL(e, INVALID, "the query has a bad percent escape");
            c = (char)(hi << 4 | lo);
            i += 2;
        }
        p[n++] = c;
    }
    *ret = str_n(p, n);
    return ERR_OK;
}

/* One "name=value". */
static enum errc query_pair(const struct schema *s, struct str pair, uint64_t seen[4], void *base, struct arena *a, struct err *e)
{
    struct str raw_name, raw_value, name, value;
    str_cut(pair, '=', &raw_name, &raw_value);
    TRY(percent_decode(raw_name, a, &name, e));
    TRY(percent_decode(raw_value, a, &value, e));
    const struct field *f = schema_find(s, name);
    if (!f || !(f->flags & F_QUERY)) {
        if (!str_is_utf8(name))
            return FAIL(e, INVALID, "the query is not UTF-8");
        FAIL(e, UNKNOWN_FIELD, "this call has no parameter \"%.*s\"", (int)(name.len > 64 ? 64 : name.len), name.ptr);
        return err_field(e, "/%.*s", (int)(name.len > 64 ? 64 : name.len), name.ptr), ERR_UNKNOWN_FIELD;
    }
    size_t i = (size_t)(f - s->fields);
    if (seen[i / 64] >> (i % 64) & 1) {
        FAIL(e, INVALID, "is given twice");
        return err_field(e, "/%s", f->name), ERR_INVALID;
    }
    seen[i / 64] |= 1ull << (i % 64);
    return field_from_text(f, value, base, a, e);
}

enum errc schema_from_query(const struct schema *s, struct str query, void *base, struct arena *a, struct err *e)
{
    uint64_t seen[4] = { 0 };
    struct str rest = query, pair;
    while (rest.len) {
        str_cut(rest, '&', &pair, &rest);
        if (pair.len)
            TRY(query_pair(s, pair, seen, base, a, e));
    }
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        if (!(f->flags & F_QUERY) || (seen[i / 64] >> (i % 64) & 1))
            continue;
        if (f->flags & F_REQ) {
            FAIL(e, MISSING_FIELD, "the parameter %s is required", f->name);
            return err_field(e, "/%s", f->name), ERR_MISSING_FIELD;
        }
        if (f->dflt)
            TRY(field_from_text(f, str_c(f->dflt), base, a, e));
    }
    return ERR_OK;
}

/* Everything but the unreserved characters of RFC 3986, 2.3. */
static void add_escaped(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool is_alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_alnum || (c && strchr("-._~", c)))
            buf_add_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

static void add_query_value(const struct field *f, const void *p, struct buf *out)
{
    switch (f->type) {
    case FT_STR: add_escaped(out, *(const struct str *)p); break;
    case FT_UUID: buf_add_id(out, f->prefix, *(const struct uuid *)p); break;
    case FT_I64: buf_add_i64(out, *(const int64_t *)p); break;
    case FT_I32: buf_add_i64(out, *(const int32_t *)p); break;
    case FT_BOOL: buf_add_c(out, *(const bool *)p ? "true" : "false"); break;
    case FT_ENUM: add_escaped(out, str_c(f->names[*(const int *)p])); break;
    default: ASSERT(f->type == FT_STR);
    }
}

void schema_to_query(const struct schema *s, const void *base, struct buf *out)
{
    char sep = '?';
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        if (!(f->flags & F_QUERY) || field_is_absent(f, base))
            continue;
        buf_add_char(out, sep);
        buf_add_c(out, f->name);
        buf_add_char(out, '=');
        add_query_value(f, field_at(f, base), out);
        sep = '&';
    }
}
