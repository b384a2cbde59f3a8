/* SPDX-License-Identifier: Apache-2.0 */
/* url.c - strict percent-decoding, query iteration and path segments: one pass each, no allocation without an escape. */
#include "core/http/url.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum errc url_decode(struct arena *a, struct str s, bool plus_is_space, struct str *ret, struct err *e)
{
    bool needs_copy = false;
    for (size_t i = 0; i < s.len && !needs_copy; i++)
        needs_copy = s.ptr[i] == '%' || (plus_is_space && s.ptr[i] == '+');
    struct str out = { s.ptr ? s.ptr : "", s.len };
    if (needs_copy) {
        char *p = arena_try(a, s.len + 1);
        if (!p)
            return FAIL(e, LIMIT, "The text is too long");
        size_t n = 0;
        for (size_t i = 0; i < s.len; i++) {
            if (s.ptr[i] != '%') {
                p[n++] = plus_is_space && s.ptr[i] == '+' ? ' ' : s.ptr[i];
                continue;
            }
            int hi = s.len - i > 2 ? hex_digit(s.ptr[i + 1]) : -1, lo = s.len - i > 2 ? hex_digit(s.ptr[i + 2]) : -1;
            if (hi < 0 || lo < 0)
                return FAIL(e, MALFORMED, "A percent sign must be followed by two hex digits");
            p[n++] = (char)(hi * 16 + lo);
            i += 2;
        }
        out = str_n(p, n);
    }
    for (size_t i = 0; i < out.len; i++)
        if ((unsigned char)out.ptr[i] < 0x20 || out.ptr[i] == 0x7f)
            return FAIL(e, MALFORMED, "A control byte is not allowed here");
    if (!str_is_utf8(out))
        return FAIL(e, MALFORMED, "The text is not UTF-8");
    *ret = out;
    return ERR_OK;
}

enum errc url_segment_decode(struct arena *a, struct str segment, struct str *ret, struct err *e)
{
    struct str s;
    TRY(url_decode(a, segment, false, &s, e));
    if (str_find(s, '/') >= 0 || str_find(s, '\\') >= 0)
        return FAIL(e, MALFORMED, "A path segment must not hold a slash or backslash");
    if (str_eq_c(s, ".") || str_eq_c(s, ".."))
        return FAIL(e, MALFORMED, "A path segment must not be a dot segment");
    *ret = s;
    return ERR_OK;
}

bool url_query_next(struct arena *a, struct str *rest, struct str *key, struct str *value, enum errc *rc, struct err *e)
{
    struct str pair = STR_NULL;
    *rc = ERR_OK;
    while (rest->len > 0 && pair.len == 0)
        if (!str_cut(*rest, '&', &pair, rest))
            *rest = STR_NULL;
    if (pair.len == 0)
        return false;
    struct str k, v;
    if (!str_cut(pair, '=', &k, &v))
        v = str_n("", 0);
    *rc = url_decode(a, k, true, key, e);
    if (*rc == ERR_OK)
        *rc = url_decode(a, v, true, value, e);
    return *rc == ERR_OK;
}

enum errc url_query_get(struct arena *a, struct str query, const char *key, struct str *ret, struct err *e)
{
    struct str k, v, found = STR_NULL;
    enum errc rc;
    while (url_query_next(a, &query, &k, &v, &rc, e))
        if (!found.ptr && str_eq_c(k, key))
            found = v;
    if (rc == ERR_OK)
        *ret = found;
    return rc;
}

bool url_path_next(struct str *path, struct str *segment)
{
    if (path->len == 0 || path->ptr[0] != '/')
        return false;
    struct str rest = { path->ptr + 1, path->len - 1 };
    size_t n = 0;
    while (n < rest.len && rest.ptr[n] != '/')
        n++;
    *segment = str_n(rest.ptr, n);
    *path = str_n(rest.ptr + n, rest.len - n);
    return true;
}

bool url_encode(struct buf *b, struct str s)
{
    static const char HEX[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("-._~", c));
        if (plain) {
            buf_add_char(b, (char)c);
        } else {
            char esc[3] = { '%', HEX[c >> 4], HEX[c & 15] };
            buf_add(b, esc, sizeof esc);
        }
    }
    return !b->overflow;
}
