/* SPDX-License-Identifier: Apache-2.0 */
/* encode.c - a C struct to JSON text by its schema, straight into a buffer: no tree, no allocation but the buffer's.
 *
 * Doubles try 15, 16 and 17 digits and take the first that reads back the same (17 always do: IEEE 754 binary64). */
#include "core/json/encode.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void json_add_f64(struct buf *out, double v)
{
    if (!isfinite(v)) {
        buf_add_c(out, "null");
        return;
    }
    if (v == floor(v) && fabs(v) < 1e15 && !(v == 0 && signbit(v))) {
        buf_add_i64(out, (int64_t)v);
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    buf_add_c(out, text);
    if (v == 0)
        buf_add_c(out, ".0");           /* -0 would read back as the integer 0 */
}

void json_add_f32s(struct buf *out, const float *v, size_t n)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < n && !out->overflow; i++) {
        char text[32];
        if (i)
            buf_add_char(out, ',');
        if (isfinite(v[i]))
            buf_add(out, text, (size_t)snprintf(text, sizeof text, "%.9g", (double)v[i]));
        else
            buf_add_c(out, "null");
    }
    buf_add_char(out, ']');
}

void json_add_i32s(struct buf *out, const int32_t *v, size_t n)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < n && !out->overflow; i++) {
        if (i)
            buf_add_char(out, ',');
        buf_add_i64(out, v[i]);
    }
    buf_add_char(out, ']');
}

void json_add_time(struct buf *out, int64_t us)
{
    char text[TIME_TEXT + 2];
    text[0] = '"';
    size_t n = time_text(us, text + 1);
    text[n + 1] = '"';
    buf_add(out, text, n + 2);
}

static void add_id(struct buf *out, const char *prefix, struct uuid u)
{
    buf_add_char(out, '"');
    buf_add_id(out, prefix, u);
    buf_add_char(out, '"');
}

static void add_bytes(struct buf *out, struct str data)
{
    buf_add_char(out, '"');
    if (buf_reserve(out, BASE64_MAX(data.len)))
        out->len += base64_encode(data.ptr, data.len, out->ptr + out->len, false);
    buf_add_char(out, '"');
}

static void add_enum(struct buf *out, const struct field *f, int v)
{
    for (int i = 0; i <= v; i++)
        ASSERT(v >= 0 && f->names[i]);
    ASSERT(v >= 0);
    buf_add_json(out, str_c(f->names[v]));
}

static void add_value(struct buf *out, const struct field *f, enum ftype type, const void *p)
{
    const struct slice *list = p;
    switch (type) {
    case FT_BOOL: buf_add_c(out, *(const bool *)p ? "true" : "false"); break;
    case FT_I32: buf_add_i64(out, *(const int32_t *)p); break;
    case FT_I64: buf_add_i64(out, *(const int64_t *)p); break;
    case FT_F64: json_add_f64(out, *(const double *)p); break;
    case FT_STR:
        buf_add_json(out, ((const struct str *)p)->ptr ? *(const struct str *)p : STR(""));
        break;
    case FT_UUID: add_id(out, f->prefix, *(const struct uuid *)p); break;
    case FT_TIME: json_add_time(out, ((const struct timestamp *)p)->us); break;
    case FT_ENUM: add_enum(out, f, *(const int *)p); break;
    case FT_JSON:
        buf_add_str(out, ((const struct json *)p)->text.len ? ((const struct json *)p)->text : STR("null"));
        break;
    case FT_BYTES: add_bytes(out, ((const struct bytes *)p)->data); break;
    case FT_SUB: json_encode(f->sub, p, out); break;
    case FT_LIST:
        buf_add_char(out, '[');
        for (size_t i = 0; i < list->n && !out->overflow; i++) {
            if (i)
                buf_add_char(out, ',');
            add_value(out, f, f->item, (const char *)list->items + i * ftype_size(f));
        }
        buf_add_char(out, ']');
        break;
    }
}

void json_encode_field(const struct field *f, const void *obj, struct buf *out)
{
    if (field_is_absent(f, obj))
        buf_add_c(out, "null");
    else
        add_value(out, f, f->type, field_at(f, obj));
}

static bool has_default(const struct field *f, const void *obj)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    add_value(&b, f, f->type, field_at(f, obj));
    struct str text = buf_str(&b);
    if (text.len >= 2 && *text.ptr == '"')
        text = str_n(text.ptr + 1, text.len - 2);
    return !b.overflow && str_eq_c(text, f->dflt);
}

void json_encode(const struct schema *s, const void *obj, struct buf *out)
{
    char sep = '{';
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        if (!(f->flags & F_OUT))
            continue;
        bool absent = field_is_absent(f, obj);
        if ((absent && !(f->flags & F_NULLOUT)) || ((f->flags & F_LATE) && has_default(f, obj)))
            continue;
        size_t n = strlen(f->name);
        if (!buf_reserve(out, n + 4))
            return;
        char *p = out->ptr + out->len;
        p[0] = sep;
        p[1] = '"';
        memcpy(p + 2, f->name, n);
        p[n + 2] = '"';
        p[n + 3] = ':';
        p[n + 4] = '\0';
        out->len += n + 4;
        sep = ',';
        if (absent)
            buf_add_c(out, "null");
        else
            add_value(out, f, f->type, field_at(f, obj));
    }
    buf_add_c(out, sep == '{' ? "{}" : "}");
}

void json_encode_list(const struct schema *s, const void *items, size_t n, struct buf *out)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < n && !out->overflow; i++) {
        if (i)
            buf_add_char(out, ',');
        json_encode(s, (const char *)items + i * s->size, out);
    }
    buf_add_char(out, ']');
}
