/* SPDX-License-Identifier: Apache-2.0 */
/* cookie.c - cuts at semicolons and nothing else: a value that holds one is two pairs, as in every browser. */
#include "core/http/cookie.h"

static bool is_token_text(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    return true;
}

enum cookie_found cookie_get(struct str header, const char *name, size_t want_len, struct str *ret)
{
    enum cookie_found found = COOKIE_NONE;
    struct str pair, rest = header, key, value;
    for (bool more = header.len > 0; more;) {
        more = str_cut(rest, ';', &pair, &rest);
        if (!str_cut(str_trim(pair), '=', &key, &value) || !str_eq_c(key, name))
            continue;
        if (found != COOKIE_NONE || value.len != want_len || !is_token_text(value))
            return COOKIE_BAD;
        found = COOKIE_ONE;
        *ret = value;
    }
    return found;
}
