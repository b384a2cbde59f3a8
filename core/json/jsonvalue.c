/* SPDX-License-Identifier: Apache-2.0 */
/* jsonvalue.c - reading free-form JSON documents. A struct jval is jansson's json_t under another name; the document's reference
 * hangs on the arena. */
#include "core/json/jsonvalue.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/json/parse_int.h"

#include <inttypes.h>
#include <math.h>


static json_t *tree(const struct jval *v)
{
    return (json_t *)(uintptr_t)v;
}

static const struct jval *value(const json_t *j)
{
    return (const struct jval *)j;
}

static void undo_tree(void *j)
{
    json_decref(j);
}

enum errc jval_parse(struct arena *a, struct str text, int max_depth, const struct jval **ret, struct err *e)
{
    json_t *j;
    TRY(parse_text(text, max_depth > 0 ? max_depth : JSON_DEPTH_MAX, true, &j, e));
    arena_defer(a, undo_tree, j);
    *ret = value(j);
    return ERR_OK;
}

enum jtype jval_type(const struct jval *v)
{
    if (!v)
        return JT_NONE;
    switch (json_typeof(tree(v))) {
    case JSON_OBJECT: return JT_OBJECT;
    case JSON_ARRAY: return JT_ARRAY;
    case JSON_STRING: return JT_STR;
    case JSON_INTEGER: return JT_INT;
    case JSON_REAL: return JT_REAL;
    case JSON_TRUE:
    case JSON_FALSE: return JT_BOOL;
    case JSON_NULL: break;
    }
    return JT_NULL;
}

const struct jval *jval_get(const struct jval *obj, const char *name)
{
    return value(json_object_get(tree(obj), name));
}

const struct jval *jval_at(const struct jval *array, size_t i)
{
    return value(json_array_get(tree(array), i));
}

size_t jval_len(const struct jval *v)
{
    return jval_type(v) == JT_OBJECT ? json_object_size(tree(v)) : json_array_size(tree(v));
}

struct str jval_str(const struct jval *v)
{
    return jval_type(v) == JT_STR ? str_n(json_string_value(tree(v)), json_string_length(tree(v))) : STR_NULL;
}

/* The integer that v is, whole reals included. */
static bool to_i64(const struct jval *v, int64_t *ret)
{
    enum jtype t = jval_type(v);
    if (t == JT_INT)
        return *ret = json_integer_value(tree(v)), true;
    if (t != JT_REAL)
        return false;
    double d = json_real_value(tree(v));
    if (d != floor(d) || fabs(d) > 9007199254740992.0)
        return false;
    return *ret = (int64_t)d, true;
}

int64_t jval_i64(const struct jval *v, int64_t otherwise)
{
    int64_t i;
    return to_i64(v, &i) ? i : otherwise;
}

double jval_f64(const struct jval *v, double otherwise)
{
    return v && json_is_number(tree(v)) ? json_number_value(tree(v)) : otherwise;
}

bool jval_bool(const struct jval *v, bool otherwise)
{
    return jval_type(v) == JT_BOOL ? json_is_true(tree(v)) : otherwise;
}

static enum errc need(const struct jval *obj, const char *name, const char *what, struct err *e)
{
    const struct jval *v = jval_get(obj, name);
    if (v)
        FAIL(e, INVALID, "must be %s, is %s", what, parse_type_name(tree(v)));
    else
        FAIL(e, INVALID, "the member %.64s is required", name);
    return err_field(e, "/%.64s", name), ERR_INVALID;
}

enum errc jval_need_str(const struct jval *obj, const char *name, struct str *ret, struct err *e)
{
    struct str s = jval_str(jval_get(obj, name));
    if (!s.ptr)
        return need(obj, name, "a string", e);
    *ret = s;
    return ERR_OK;
}

enum errc jval_need_i64(const struct jval *obj, const char *name, int64_t min, int64_t max, int64_t *ret, struct err *e)
{
    int64_t v;
    if (!to_i64(jval_get(obj, name), &v))
        return need(obj, name, "an integer", e);
    if (v < min || v > max) {
        FAIL(e, INVALID, "must be from %" PRId64 " to %" PRId64 ", is %" PRId64, min, max, v);
        return err_field(e, "/%.64s", name), ERR_INVALID;
    }
    *ret = v;
    return ERR_OK;
}

enum errc jval_need_f64(const struct jval *obj, const char *name, double *ret, struct err *e)
{
    const struct jval *v = jval_get(obj, name);
    if (!v || !json_is_number(tree(v)))
        return need(obj, name, "a number", e);
    *ret = json_number_value(tree(v));
    return ERR_OK;
}

struct jval_iter jval_iter(const struct jval *v)
{
    return (struct jval_iter){ .of = v };
}

bool jval_next(struct jval_iter *it)
{
    json_t *j = tree(it->of);
    if (jval_type(it->of) == JT_OBJECT) {
        it->pos = it->i++ ? json_object_iter_next(j, it->pos) : json_object_iter(j);
        it->name = it->pos ? json_object_iter_key(it->pos) : NULL;
        it->value = it->pos ? value(json_object_iter_value(it->pos)) : NULL;
        return it->pos;
    }
    it->value = value(json_array_get(j, it->i++));
    return it->value;
}

/* Walks nested arrays in order (the parser bounds their depth). Stops at the first leaf that is no number. */
static bool flatten(const json_t *j, float *f32, int64_t *i64, size_t cap, size_t *n)
{
    if (json_is_array(j)) {
        for (size_t i = 0; i < json_array_size(j); i++)
            if (!flatten(json_array_get(j, i), f32, i64, cap, n))
                return false;
        return true;
    }
    int64_t whole = 0;
    if (!json_is_number(j) || (i64 && !to_i64(value(j), &whole)))
        return false;
    if (*n < cap && f32)
        f32[*n] = (float)json_number_value(j);
    if (*n < cap && i64)
        i64[*n] = whole;
    ++*n;
    return true;
}

static enum errc to_array(const struct jval *v, float *f32, int64_t *i64, size_t cap, struct err *e)
{
    size_t n = 0;
    if (jval_type(v) != JT_ARRAY)
        return FAIL(e, INVALID, "must be an array of numbers");
    if (!flatten(tree(v), f32, i64, cap, &n))
        return FAIL(e, INVALID, "must hold %s only; item %zu is none", i64 ? "integers" : "numbers", n);
    if (n != cap)
        return FAIL(e, INVALID, "must hold %zu numbers, has %zu", cap, n);
    return ERR_OK;
}

enum errc jval_to_f32(const struct jval *v, float *out, size_t n, struct err *e)
{
    return to_array(v, out, NULL, n, e);
}

enum errc jval_to_i64(const struct jval *v, int64_t *out, size_t n, struct err *e)
{
    return to_array(v, NULL, out, n, e);
}

size_t jval_count_numbers(const struct jval *v)
{
    size_t n = 0;
    if (jval_type(v) == JT_ARRAY)
        for (size_t i = 0; i < json_array_size(tree(v)); i++)
            n += jval_count_numbers(jval_at(v, i));
    else
        n += v && json_is_number(tree(v));
    return n;
}

static int add_piece(const char *p, size_t n, void *out)
{
    return buf_add(out, p, n) ? 0 : -1;
}

bool jval_encode(const struct jval *v, bool sorted, struct buf *out)
{
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | (sorted ? JSON_SORT_KEYS : 0);
    return v && json_dump_callback(tree(v), add_piece, out, flags) == 0;
}
