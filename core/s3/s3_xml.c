/* SPDX-License-Identifier: Apache-2.0 */
/* s3_xml.c - by searching for tags: an element is wanted by its name wherever it stands, and none of S3's is inside another of
 * its own name. */
#include "core/s3/s3_xml.h"

#include <stdio.h>
#include <stdlib.h>

static bool find(struct str s, const char *tag, size_t n, size_t *ret)
{
    const char *at = s.len >= n ? memmem(s.ptr, s.len, tag, n) : NULL;
    if (!at)
        return false;
    *ret = (size_t)(at - s.ptr);
    return true;
}

bool s3_xml_next(struct str *rest, const char *name, struct str *ret_inner)
{
    char open[64], end[66];
    size_t from, to;
    int n = snprintf(open, sizeof open, "<%s>", name), m = snprintf(end, sizeof end, "</%s>", name);
    if (n >= (int)sizeof open || !find(*rest, open, (size_t)n, &from))
        return false;
    struct str after = str_n(rest->ptr + from + n, rest->len - from - (size_t)n);
    if (!find(after, end, (size_t)m, &to))
        return false;
    *ret_inner = str_n(after.ptr, to);
    *rest = str_n(after.ptr + to + m, after.len - to - (size_t)m);
    return true;
}

/* ASCII only: keys and identifiers have nothing else. */
static bool add_entity(struct str name, char *out)
{
    static const struct { const char *name; char c; } named[] = { { "amp", '&' }, { "lt", '<' }, { "gt", '>' }, { "quot", '"' },
                                                                  { "apos", '\'' } };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (str_eq_c(name, named[i].name))
            return *out = named[i].c, true;
    char digits[8];
    bool is_hex = name.len > 2 && name.ptr[1] == 'x';
    if (name.len < 2 || name.len > 6 || name.ptr[0] != '#')
        return false;
    snprintf(digits, sizeof digits, "%.*s", (int)name.len - 1 - is_hex, name.ptr + 1 + is_hex);
    if (strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
        return false;
    long c = strtol(digits, NULL, is_hex ? 16 : 10);
    *out = (char)c;
    return c >= 32 && c < 127;
}

bool s3_xml_text(struct str inner, char out[S3_TEXT])
{
    size_t n = 0;
    for (size_t i = 0; i < inner.len; i++) {
        char c = inner.ptr[i];
        if (c == '<' || c == '\0' || n + 1 >= S3_TEXT)
            return false;
        if (c == '&') {
            struct str name, rest;
            if (!str_cut(str_n(inner.ptr + i + 1, inner.len - i - 1), ';', &name, &rest) || !add_entity(name, &c))
                return false;
            i += name.len + 1;
        }
        out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

bool s3_xml_first(struct str inner, const char *name, char out[S3_TEXT])
{
    struct str text;
    return s3_xml_next(&inner, name, &text) && s3_xml_text(text, out);
}
