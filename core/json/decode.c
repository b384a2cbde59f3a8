/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - JSON text to a C struct by its schema.
 *
 * jansson makes the tree, this walks it once: every member looks up its field, sets a bit, and is converted by its type; then the
 * bits tell what is missing. Where we are in the document is a chain of `struct at` on the C stack, turned into a JSON pointer
 * only when something fails, and into a piece of the caller's text only for struct json. Work is done on a copy of *ret, so that
 * a failure leaves it alone. */
#include "core/json/decode.h"
#include "core/json/parse_int.h"
#include "core/json/rawjson_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct at {
    struct at *up;
    const char *name;           /* NULL: an item of a list */
    size_t index;
    struct str raw;             /* the caller's text of this value, once somebody asked; ptr NULL: nobody did */
    struct rawjson_cursor items;    /* of a list: where the last item that was asked for begins */
};

struct decoder {
    struct str text;
    struct arena *arena;
    struct err *err;
    bool is_reply;              /* members that the schema does not know are passed over */
};

/* Writes the pointer of `at` before `end` and returns its start; cuts at the front when the room ends. RFC 6901 escapes. */
static char *pointer_of(const struct at *at, char *begin, char *end)
{
    for (; at && at->up; at = at->up) {
        char digits[24];
        const char *name = at->name;
        if (!name) {
            snprintf(digits, sizeof digits, "%zu", at->index);
            name = digits;
        }
        size_t n = strnlen(name, 64);
        if (end - begin < (ptrdiff_t)(2 * n + 1))
            break;
        while (n--) {
            if (name[n] == '~' || name[n] == '/') {
                *--end = name[n] == '~' ? '0' : '1';
                *--end = '~';
            } else {
                *--end = name[n];
            }
        }
        *--end = '/';
    }
    return end;
}

/* Names the place in the error that is already set. */
static enum errc fail_at(struct decoder *d, const struct at *at, enum errc rc)
{
    char room[96];
    room[sizeof room - 1] = '\0';
    err_field(d->err, "%s", pointer_of(at, room, room + sizeof room - 1));
    return rc;
}

#define FAIL_HERE(CODE, ...) (FAIL(d->err, CODE, __VA_ARGS__), fail_at(d, at, ERR_##CODE))

static enum errc fail_type(struct decoder *d, const struct at *at, const char *expected, const json_t *got)
{
    return FAIL_HERE(INVALID, "must be %s, is %s", expected, parse_type_name(got));
}

/* The caller's text of the value at `at`; false: only the tree can tell. Lists are decoded in order, so each keeps its place: a body of a
 * thousand items is read once, not a thousand times. */
static bool raw_at(const struct decoder *d, struct at *at, struct str *ret)
{
    struct str outer;
    if (!at->raw.ptr) {
        if (!at->up)
            at->raw = d->text;
        else if (!raw_at(d, at->up, &outer) || !(at->name ? rawjson_member(outer, str_c(at->name), &at->raw)
                                                          : rawjson_item(outer, &at->up->items, at->index, &at->raw)))
            return false;
    }
    *ret = at->raw;
    return true;
}

static enum errc copy_text(struct decoder *d, const struct at *at, struct str s, struct str *dst)
{
    char *p = arena_try(d->arena, s.len + 1);
    if (!p)
        return FAIL_HERE(LIMIT, "is too large");
    if (s.len)
        memcpy(p, s.ptr, s.len);
    *dst = str_n(p, s.len);
    return ERR_OK;
}

static enum errc dec_str(struct decoder *d, const struct field *f, const json_t *j, struct str *dst, const struct at *at)
{
    if (!json_is_string(j))
        return fail_type(d, at, "a string", j);
    struct str s = str_n(json_string_value(j), json_string_length(j));
    enum errc rc = field_check_str(f, s, d->err);
    return rc ? fail_at(d, at, rc) : copy_text(d, at, s, dst);
}

static enum errc dec_i64(struct decoder *d, const struct field *f, const json_t *j, int64_t *dst, const struct at *at)
{
    if (!json_is_integer(j))
        return fail_type(d, at, "an integer", j);
    int64_t v = json_integer_value(j);
    enum errc rc = field_check_i64(f, v, d->err);
    if (rc)
        return fail_at(d, at, rc);
    *dst = v;
    return ERR_OK;
}

static enum errc dec_f64(struct decoder *d, const struct field *f, const json_t *j, double *dst, const struct at *at)
{
    if (!json_is_number(j))
        return fail_type(d, at, "a number", j);
    double v = json_number_value(j);
    enum errc rc = field_check_f64(f, v, d->err);
    if (rc)
        return fail_at(d, at, rc);
    *dst = v;
    return ERR_OK;
}

/* Types whose JSON form is a string with the text form of the field. */
static enum errc dec_by_text(struct decoder *d, const struct field *f, enum ftype type, const json_t *j, void *dst,
                             const struct at *at)
{
    if (!json_is_string(j))
        return fail_type(d, at, type == FT_TIME ? "a string with a time" : type == FT_UUID ? "a string with an id" : "a string", j);
    struct field one = *f;
    one.type = type;
    one.offset = 0;
    one.has = 0;
    enum errc rc = field_from_text(&one, str_n(json_string_value(j), json_string_length(j)), dst, d->arena, d->err);
    return rc ? fail_at(d, at, rc) : ERR_OK;
}

static enum errc dec_bytes(struct decoder *d, const struct field *f, const json_t *j, struct bytes *dst, const struct at *at)
{
    if (!json_is_string(j))
        return fail_type(d, at, "a string in base64", j);
    struct str s = str_n(json_string_value(j), json_string_length(j));
    char *p = arena_try(d->arena, s.len + 1);
    size_t n;
    if (!p)
        return FAIL_HERE(LIMIT, "is too large");
    if (!base64_decode(s, p, s.len + 1, &n, false))
        return FAIL_HERE(INVALID, "must be base64");
    if ((int64_t)n < field_min(f) || (int64_t)n > field_max(f))
        return FAIL_HERE(INVALID, "must have %" PRId64 " to %" PRId64 " bytes, has %zu", field_min(f), field_max(f), n);
    dst->data = str_n(p, n);
    return ERR_OK;
}

static enum errc dec_json(struct decoder *d, const struct field *f, const json_t *j, struct json *dst, struct at *at)
{
    struct str raw;
    char *dumped = NULL;
    if (!raw_at(d, at, &raw)) {
        dumped = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);
        raw = str_c(dumped);
    }
    enum errc rc = ERR_OK;
    if (!raw.ptr)
        rc = FAIL_HERE(LIMIT, "is too large");
    else if ((int64_t)raw.len < field_min(f) || (int64_t)raw.len > field_max(f))
        rc = FAIL_HERE(INVALID, "must have at most %" PRId64 " bytes of JSON, has %zu", field_max(f), raw.len);
    else
        rc = copy_text(d, at, raw, &dst->text);
    free(dumped);
    return rc;
}

static enum errc dec_object(struct decoder *d, const struct schema *s, json_t *j, void *base, struct at *at);

static enum errc dec_value(struct decoder *d, const struct field *f, enum ftype type, json_t *j, void *dst, struct at *at);

static enum errc dec_list(struct decoder *d, const struct field *f, json_t *j, struct slice *dst, struct at *at)
{
    if (!json_is_array(j))
        return fail_type(d, at, "an array", j);
    size_t n = json_array_size(j), size = ftype_size(f);
    if ((int64_t)n < field_min(f))
        return FAIL_HERE(INVALID, "must have at least %" PRId64 " items, has %zu", field_min(f), n);
    if ((int64_t)n > field_max(f))
        return FAIL_HERE(INVALID, "must have at most %" PRId64 " items, has %zu", field_max(f), n);
    char *items = arena_try(d->arena, n * size + 1);
    if (!items)
        return FAIL_HERE(LIMIT, "is too large");
    for (size_t i = 0; i < n; i++) {
        struct at here = { .up = at, .index = i };
        TRY(dec_value(d, f, f->item, json_array_get(j, i), items + i * size, &here));
    }
    *dst = (struct slice){ items, n };
    return ERR_OK;
}

static enum errc dec_value(struct decoder *d, const struct field *f, enum ftype type, json_t *j, void *dst, struct at *at)
{
    int64_t i = 0;
    switch (type) {
    case FT_BOOL:
        if (!json_is_boolean(j))
            return fail_type(d, at, "true or false", j);
        *(bool *)dst = json_is_true(j);
        return ERR_OK;
    case FT_I32:
        TRY(dec_i64(d, f, j, &i, at));
        *(int32_t *)dst = (int32_t)i;
        return ERR_OK;
    case FT_I64: return dec_i64(d, f, j, dst, at);
    case FT_F64: return dec_f64(d, f, j, dst, at);
    case FT_STR: return dec_str(d, f, j, dst, at);
    case FT_UUID:
    case FT_TIME:
    case FT_ENUM: return dec_by_text(d, f, type, j, dst, at);
    case FT_JSON: return dec_json(d, f, j, dst, at);
    case FT_BYTES: return dec_bytes(d, f, j, dst, at);
    case FT_SUB: return dec_object(d, f->sub, j, dst, at);
    case FT_LIST: return dec_list(d, f, j, dst, at);
    }
    return FAIL_HERE(INTERNAL, "field %s has no type", f->name);
}

static bool is_body_field(const struct field *f)
{
    return !(f->flags & (F_PATH | F_QUERY | F_NOIN));
}

/* Required fields and defaults, for what the object did not have. */
static enum errc dec_absent(struct decoder *d, const struct schema *s, const uint64_t *seen, void *base, struct at *up)
{
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        if (!is_body_field(f) || (seen[i / 64] >> (i % 64) & 1))
            continue;
        struct at here = { .up = up, .name = f->name }, *at = &here;
        if (f->flags & F_REQ)
            return FAIL_HERE(MISSING_FIELD, "the member %s is required", f->name);
        enum errc rc = f->dflt ? field_from_text(f, str_c(f->dflt), base, d->arena, d->err) : ERR_OK;
        if (rc)
            return fail_at(d, at, rc);
    }
    return ERR_OK;
}

static enum errc dec_object(struct decoder *d, const struct schema *s, json_t *j, void *base, struct at *at)
{
    if (!json_is_object(j))
        return fail_type(d, at, "an object", j);
    uint64_t seen[4] = { 0 };
    for (void *it = json_object_iter(j); it; it = json_object_iter_next(j, it)) {
        const char *name = json_object_iter_key(it);
        json_t *value = json_object_iter_value(it);
        const struct field *f = schema_find(s, str_c(name));
        struct at here = { .up = at, .name = name };
        if (!f || !is_body_field(f)) {
            if (d->is_reply)
                continue;
            FAIL(d->err, UNKNOWN_FIELD, "there is no member \"%.64s\" here", name);
            return fail_at(d, &here, ERR_UNKNOWN_FIELD);
        }
        if (json_is_null(value))
            continue;
        size_t i = (size_t)(f - s->fields);
        seen[i / 64] |= 1ull << (i % 64);
        TRY(dec_value(d, f, f->type, value, field_at(f, base), &here));
        field_set_has(f, base, true);
    }
    return dec_absent(d, s, seen, base, at);
}

static enum errc decode(const struct schema *s, struct str text, bool is_reply, struct arena *a, void *ret, struct err *e)
{
    struct err own;
    struct decoder d = { text, a, e ? e : &own, is_reply };
    json_t *root;
    if (text.len == 0)
        d.text = STR("{}");
    TRY(parse_text(d.text, JSON_DEPTH_MAX, true, &root, d.err));
    struct at top = { 0 };
    enum errc rc;
    void *copy = arena_try(a, s->size);
    if (!copy) {
        rc = FAIL(d.err, LIMIT, "the body is too large");
    } else {
        memcpy(copy, ret, s->size);
        rc = dec_object(&d, s, root, copy, &top);
        if (rc == ERR_OK)
            memcpy(ret, copy, s->size);
    }
    json_decref(root);
    return rc;
}

enum errc json_decode(const struct schema *s, struct str text, struct arena *a, void *ret, struct err *e)
{
    return decode(s, text, false, a, ret, e);
}

enum errc json_decode_reply(const struct schema *s, struct str text, struct arena *a, void *ret, struct err *e)
{
    return decode(s, text, true, a, ret, e);
}
