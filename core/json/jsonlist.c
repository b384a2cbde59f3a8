/* SPDX-License-Identifier: Apache-2.0 */
/* jsonlist.c - rawjson finds where parts begin and end, also in unchecked text; whether they are JSON the parser says. */
#include "core/json/jsonlist.h"
#include "core/json/rawjson_int.h"

#include <string.h>

size_t json_values_most(struct str text)
{
    size_t n = 1;
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == ',' || text.ptr[i] == ':' || text.ptr[i] == '[' || text.ptr[i] == '{';
    return n;
}

static enum errc parse(const struct jlist *l, struct arena *a, struct str text, const struct jval **ret, struct err *e)
{
    if (text.len > l->bytes_most)
        return FAIL(e, TOO_LARGE, "a part of the list has %zu bytes; at most %zu are read", text.len, l->bytes_most);
    if (json_values_most(text) > l->values_most)
        return FAIL(e, TOO_LARGE, "a part of the list has more than %zu values", l->values_most);
    return jval_parse(a, text, 0, ret, e);
}

enum errc jlist_open(struct arena *a, struct str text, const char *name, size_t bytes_most, size_t values_most,
                     struct jlist *ret, const struct jval **ret_rest, struct err *e)
{
    struct str list;
    *ret = (struct jlist){ .bytes_most = bytes_most, .values_most = values_most };
    if (!rawjson_member(text, str_c(name), &list) || list.len < 2 || list.ptr[0] != '[' || list.ptr[list.len - 1] != ']')
        return parse(ret, a, text, ret_rest, e);
    const size_t before = (size_t)(list.ptr - text.ptr), behind = text.len - before - list.len;
    if (before + behind > bytes_most)
        return FAIL(e, TOO_LARGE, "beside its list there are %zu bytes; at most %zu are read", before + behind, bytes_most);
    const struct str rest = str_fmt(a, "%.*s[]%.*s", (int)before, text.ptr, (int)behind, list.ptr + list.len);
    TRY(parse(ret, a, rest, ret_rest, e));
    ret->text = list;
    ret->at = 1;
    return ERR_OK;
}

static size_t behind_space(struct str s, size_t i)
{
    while (i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == '\t' || s.ptr[i] == '\n' || s.ptr[i] == '\r'))
        i++;
    return i;
}

/* The last byte is the bracket that ends the list; an item that takes it in has brackets that do not match. */
enum errc jlist_next(struct jlist *l, struct arena *a, const struct jval **ret, struct err *e)
{
    const size_t end = l->text.len ? l->text.len - 1 : 0;
    const bool is_first = l->at == 1;
    size_t at = behind_space(l->text, l->at);
    *ret = NULL;
    if (at >= end)
        return ERR_OK;
    if (!is_first && l->text.ptr[at] != ',')
        return FAIL(e, MALFORMED, "between two items of the list there is no comma");
    at = behind_space(l->text, is_first ? at : at + 1);
    const size_t n = rawjson_value(l->text, at) - at;
    l->at = at + n;
    l->item = str_n(l->text.ptr + at, n);
    return parse(l, a, l->item, ret, e);
}

enum errc jlist_narrow(const struct jlist *l, struct arena *a, const char *const *names, size_t bytes_most,
                       const struct jval **ret, struct err *e)
{
    struct str text = STR("{");
    for (const char *const *name = names; *name; name++) {
        struct str value;
        const bool is_there = rawjson_member(l->item, str_c(*name), &value);
        if (!is_there && name == names)
            return FAIL(e, NOT_FOUND, "a part of the list has no %s", *name);
        if (is_there && value.len <= bytes_most)
            text = str_fmt(a, "%.*s%s\"%s\":%.*s", STR_ARG(text), text.len > 1 ? "," : "", *name, STR_ARG(value));
    }
    return jval_parse(a, str_fmt(a, "%.*s}", STR_ARG(text)), 0, ret, e);
}
