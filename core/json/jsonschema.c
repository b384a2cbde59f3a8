/* SPDX-License-Identifier: Apache-2.0 */
/* jsonschema.c - a schema as JSON Schema 2020-12, in the dialect of OpenAPI 3.1. */
#include "core/json/jsonschema.h"
#include "core/base/assert.h"
#include "core/json/encode.h"

static void add_key(struct buf *out, const char *key)
{
    if (out->len && out->ptr[out->len - 1] != '{')
        buf_add_char(out, ',');
    buf_add_json(out, str_c(key));
    buf_add_char(out, ':');
}

static void add_pair(struct buf *out, const char *key, const char *value)
{
    add_key(out, key);
    buf_add_json(out, str_c(value));
}

static void add_int(struct buf *out, const char *key, int64_t v)
{
    add_key(out, key);
    buf_add_i64(out, v);
}

void jsonschema_ref(const struct schema *s, struct buf *out)
{
    buf_printf(out, "{\"$ref\":\"#/components/schemas/%s\"}", s->name);
}

static void add_names(struct buf *out, const char *const *names)
{
    add_key(out, "enum");
    buf_add_char(out, '[');
    for (int i = 0; names[i]; i++) {
        if (i)
            buf_add_char(out, ',');
        buf_add_json(out, str_c(names[i]));
    }
    buf_add_char(out, ']');
}

static void add_id_pattern(struct buf *out, const char *prefix)
{
    if (!prefix || !*prefix) {
        add_pair(out, "format", "uuid");
        return;
    }
    add_key(out, "pattern");
    buf_printf(out, "\"^%s_[0-9a-f]{32}$\"", prefix);
}

static void add_real(struct buf *out, const char *key, double v)
{
    add_key(out, key);
    json_add_f64(out, v);
}

static void add_number_limits(struct buf *out, const struct field *f, bool is_item)
{
    if (is_item) {
        if (f->item_min || f->item_max) {
            add_int(out, "minimum", f->item_min);
            add_int(out, "maximum", f->item_max);
        }
        return;
    }
    if (field_has_real_range(f)) {
        add_real(out, f->is_above ? "exclusiveMinimum" : "minimum", f->real_min);
        add_real(out, "maximum", f->real_max);
        return;
    }
    int64_t min = field_min(f), max = field_max(f);
    if (min != INT64_MIN && !(f->type == FT_F64 && f->min == 0 && f->max == 0))
        add_int(out, "minimum", min);
    if (max != INT64_MAX)
        add_int(out, "maximum", max);
}

/* The limits of bytes in characters of base64: the least without padding, the most with it. */
static void add_base64_limits(struct buf *out, const struct field *f)
{
    if (field_min(f))
        add_int(out, "minLength", (field_min(f) * 4 + 2) / 3);
    add_int(out, "maxLength", (field_max(f) + 2) / 3 * 4);
}

static bool is_any_json(enum ftype t)
{
    return t == FT_JSON;
}

/* Of any JSON: nothing, for any value is good. */
static void add_form(struct buf *out, const struct field *f)
{
    const struct variants *v = f->by;
    const char *before = "";
    if (f->is_numbers) {
        add_pair(out, "type", "object");
        add_key(out, "additionalProperties");
        buf_add_c(out, "{\"type\":\"number\"}");
    }
    if (!v)
        return;
    add_key(out, "anyOf");
    buf_add_char(out, '[');
    for (size_t i = 0; i < v->n; i++)
        if (v->list[i].schema) {
            buf_add_c(out, before);
            jsonschema_ref(v->list[i].schema, out);
            before = ",";
        }
    buf_add_char(out, ']');
}

/* Type and limits, without braces. */
static void add_type(struct buf *out, const struct field *f, enum ftype type, bool is_item)
{
    switch (type) {
    case FT_BOOL: add_pair(out, "type", "boolean"); break;
    case FT_I32:
    case FT_I64:
    case FT_F64:
        add_pair(out, "type", type == FT_F64 ? "number" : "integer");
        add_pair(out, "format", type == FT_I32 ? "int32" : type == FT_I64 ? "int64" : "double");
        add_number_limits(out, f, is_item);
        break;
    case FT_STR:
        add_pair(out, "type", "string");
        if (!is_item && field_min(f))
            add_int(out, "minLength", field_min(f));
        if (!is_item)
            add_int(out, "maxLength", field_max(f));
        if (f->pattern_doc || f->check == check_slug)
            add_pair(out, "pattern", f->pattern_doc ? f->pattern_doc : "^[a-z0-9][a-z0-9-]{0,62}$");
        break;
    case FT_UUID:
        add_pair(out, "type", "string");
        add_id_pattern(out, f->prefix);
        break;
    case FT_TIME:
        add_pair(out, "type", "string");
        add_pair(out, "format", "date-time");
        break;
    case FT_ENUM:
        add_pair(out, "type", "string");
        add_names(out, f->names);
        break;
    case FT_BYTES:
        add_pair(out, "type", "string");
        add_pair(out, "contentEncoding", "base64");
        if (f->type == FT_BYTES)
            add_base64_limits(out, f);
        break;
    case FT_SUB:
        add_key(out, "$ref");
        buf_printf(out, "\"#/components/schemas/%s\"", f->sub->name);
        break;
    case FT_LIST:
        add_pair(out, "type", "array");
        if (field_min(f))
            add_int(out, "minItems", field_min(f));
        add_int(out, "maxItems", field_max(f));
        add_key(out, "items");
        buf_add_char(out, '{');
        add_type(out, f, f->item, true);
        buf_add_char(out, '}');
        break;
    case FT_JSON: add_form(out, f); break;
    }
}

/* A default or example: text for strings, else the literal. */
static void add_text_value(struct buf *out, const struct field *f, const char *key, const char *text)
{
    int64_t i;
    double d;
    bool b;
    struct str t = str_c(text);
    if (f->type == FT_LIST && f->item != FT_I64 && f->item != FT_F64)
        return;
    add_key(out, key);
    if (f->type == FT_LIST)
        buf_printf(out, "[%s]", text);
    else if ((f->type == FT_I32 || f->type == FT_I64) && str_to_i64(t, INT64_MIN, INT64_MAX, &i))
        buf_add_i64(out, i);
    else if (f->type == FT_F64 && str_to_f64(t, &d))
        json_add_f64(out, d);
    else if (f->type == FT_BOOL && str_to_bool(t, &b))
        buf_add_c(out, b ? "true" : "false");
    else if (is_any_json(f->type))
        buf_add_str(out, t);
    else
        buf_add_json(out, t);
}

static void add_members(struct buf *out, const struct field *f, bool may_be_null)
{
    if (may_be_null) {
        add_key(out, "anyOf");
        buf_add_c(out, "[{");
        add_type(out, f, f->type, false);
        buf_add_c(out, "},{\"type\":\"null\"}]");
    } else {
        add_type(out, f, f->type, false);
    }
    add_pair(out, "description", f->doc ? f->doc : "");
    if (f->flags & F_SECRET)
        buf_add_c(out, ",\"writeOnly\":true");
    if (f->flags & F_DERIVED)
        buf_add_c(out, ",\"readOnly\":true");
    if (f->flags & F_MORE)
        buf_add_c(out, ",\"x-falaj-more\":true");
    if (f->dflt)
        add_text_value(out, f, "default", f->dflt);
    if (f->example) {
        add_text_value(out, f, "example", f->example);
    }
}

void jsonschema_field(const struct field *f, struct buf *out)
{
    buf_add_char(out, '{');
    add_members(out, f, false);
    buf_add_char(out, '}');
}

static bool is_shown(const struct field *f, enum schema_direction dir)
{
    return dir == SCHEMA_IN ? !(f->flags & (F_PATH | F_QUERY | F_NOIN)) : (f->flags & F_OUT) != 0;
}

/* Printed in every answer: its value cannot be absent, or is null then. */
static bool is_always_printed(const struct field *f)
{
    if (f->flags & (F_REQ | F_ALWAYS | F_NULLOUT))
        return true;
    if (f->has || (f->flags & F_NOEMPTY))
        return false;
    return f->type == FT_BOOL || f->type == FT_I32 || f->type == FT_I64 || f->type == FT_F64 || f->type == FT_ENUM ||
           f->type == FT_LIST;
}

static bool has_required(const struct schema *s)
{
    for (size_t i = 0; i < s->nfields; i++)
        if (s->fields[i].flags & F_REQ)
            return true;
    return false;
}

/* Which form f has, by the member it depends on: an if and a then for each value. */
static void add_conditions(struct buf *out, const struct field *f, enum schema_direction dir)
{
    const char *before = "";
    add_key(out, "allOf");
    buf_add_char(out, '[');
    for (size_t i = 0; i < f->by->n; i++) {
        const struct variant *v = &f->by->list[i];
        if (!v->schema)
            continue;
        buf_printf(out, "%s{\"if\":{\"properties\":{\"%s\":{\"const\":\"%s\"}}},\"then\":{\"properties\":{\"%s\":", before, f->by->of, v->value, f->name);
        jsonschema_ref(v->schema, out);
        buf_add_char(out, '}');
        if (dir == SCHEMA_IN && has_required(v->schema))
            buf_printf(out, ",\"required\":[\"%s\"]", f->name);
        buf_add_c(out, "}}");
        before = ",";
    }
    buf_add_char(out, ']');
}

void jsonschema_object(const struct schema *s, enum schema_direction dir, struct buf *out)
{
    buf_add_c(out, "{\"type\":\"object\"");
    add_pair(out, "description", s->doc ? s->doc : "");
    add_key(out, "properties");
    buf_add_char(out, '{');
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        if (!is_shown(f, dir))
            continue;
        add_key(out, f->name);
        buf_add_char(out, '{');
        add_members(out, f, dir == SCHEMA_OUT && (f->flags & F_NULLOUT));
        buf_add_char(out, '}');
    }
    buf_add_char(out, '}');
    bool first = true;
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        if (!is_shown(f, dir) || !(dir == SCHEMA_IN ? (f->flags & F_REQ) != 0 : is_always_printed(f)))
            continue;
        buf_add_c(out, first ? ",\"required\":[" : ",");
        first = false;
        buf_add_json(out, str_c(f->name));
    }
    if (!first)
        buf_add_char(out, ']');
    if (dir == SCHEMA_IN)
        buf_add_c(out, ",\"additionalProperties\":false");
    for (size_t i = 0; i < s->nfields; i++)
        if (is_shown(&s->fields[i], dir) && s->fields[i].by)
            add_conditions(out, &s->fields[i], dir);
    buf_add_char(out, '}');
}

void jsonschema_collect(const struct schema *s, const struct schema **list, size_t *n, size_t cap)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == s)
            return;
    ASSERT(*n < cap);
    list[(*n)++] = s;
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        if (f->sub)
            jsonschema_collect(f->sub, list, n, cap);
        for (size_t k = 0; f->by && k < f->by->n; k++)
            if (f->by->list[k].schema)
                jsonschema_collect(f->by->list[k].schema, list, n, cap);
    }
}
