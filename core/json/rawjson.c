/* SPDX-License-Identifier: Apache-2.0 */
/* rawjson.c - finding the text of a value inside JSON text that the parser has accepted.
 *
 * A value is skipped by counting brackets outside strings: on checked text that is exact (RFC 8259 grammar), on any other text it
 * stays within the text. */
#include "core/json/rawjson_int.h"

int rawjson_depth(struct str text, int limit)
{
    int depth = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > deepest && (deepest = depth) > limit)
                return deepest;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return deepest;
}

static size_t skip_space(struct str s, size_t i)
{
    while (i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == '\t' || s.ptr[i] == '\n' || s.ptr[i] == '\r'))
        i++;
    return i;
}

/* From a quote to just behind its partner. */
static size_t skip_string(struct str s, size_t i)
{
    for (i++; i < s.len && s.ptr[i] != '"'; i++)
        if (s.ptr[i] == '\\')
            i++;
    return i < s.len ? i + 1 : s.len;
}

size_t rawjson_value(struct str s, size_t i)
{
    int depth = 0;
    while (i < s.len) {
        char c = s.ptr[i];
        if (c == '"') {
            i = skip_string(s, i);
            if (depth == 0)
                return i;
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']') {
            if (depth == 0)
                return i;
            if (--depth == 0)
                return i + 1;
        }
        if (depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'))
            return i;
        i++;
    }
    return i;
}

bool rawjson_member(struct str object, struct str name, struct str *ret)
{
    size_t i = skip_space(object, 0);
    if (i >= object.len || object.ptr[i] != '{')
        return false;
    i = skip_space(object, i + 1);
    while (i < object.len && object.ptr[i] == '"') {
        size_t end = skip_string(object, i);
        if (end < i + 2)
            return false;
        struct str key = str_n(object.ptr + i + 1, end - i - 2);
        if (memchr(key.ptr, '\\', key.len))
            return false;
        i = skip_space(object, end);
        i = skip_space(object, i + 1);                  /* the colon */
        if (i > object.len)
            return false;
        end = rawjson_value(object, i);
        if (str_eq(key, name)) {
            *ret = str_n(object.ptr + i, end - i);
            return true;
        }
        i = skip_space(object, end);
        i = skip_space(object, i + 1);                  /* comma or brace */
    }
    return false;
}

bool rawjson_item(struct str array, struct rawjson_cursor *c, size_t n, struct str *ret)
{
    if (!c->offset || n < c->index) {
        size_t i = skip_space(array, 0);
        if (i >= array.len || array.ptr[i] != '[')
            return false;
        *c = (struct rawjson_cursor){ 0, skip_space(array, i + 1) };
    }
    while (c->offset < array.len && array.ptr[c->offset] != ']') {
        size_t end = rawjson_value(array, c->offset);
        if (c->index == n) {
            *ret = str_n(array.ptr + c->offset, end - c->offset);
            return true;
        }
        c->offset = skip_space(array, skip_space(array, end) + 1);
        c->index++;
    }
    return false;
}
