/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - an address of IPv6 has colons of its own, so the port stands behind the last one, and the address in brackets. */
#include "core/redis/place_int.h"

#include <string.h>

static enum errc not_a_place(struct str text, struct err *e)
{
    text.len = text.len < 120 ? text.len : 120;
    return FAIL(e, INVALID, "'%.*s' is no HOST:PORT, as redis-1.example:6379 or [2001:db8::1]:6379", STR_ARG(text));
}

static bool is_host_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr(".-_:%", c);
}

static bool take_host(struct str host, char *ret, size_t cap)
{
    if (host.len == 0 || host.len >= cap || memchr(host.ptr, '\0', host.len))
        return false;
    memcpy(ret, host.ptr, host.len);
    ret[host.len] = '\0';
    return true;
}

enum errc redis_place_read(struct str text, struct redis_place *ret, struct err *e)
{
    int64_t port = 0;
    *ret = (struct redis_place){ 0 };
    if (str_starts(text, "unix:")) {
        ret->is_unix = true;
        return take_host(str_n(text.ptr + 5, text.len - 5), ret->host, 108) ? ERR_OK
            : FAIL(e, INVALID, "the path of Redis's socket is empty or has more than 107 bytes");
    }
    size_t colon = text.len;
    while (colon > 0 && text.ptr[colon - 1] != ':')
        colon--;
    if (colon == 0 || !str_to_i64(str_n(text.ptr + colon, text.len - colon), 1, 65535, &port))
        return not_a_place(text, e);
    struct str host = str_n(text.ptr, colon - 1);
    const bool is_bracketed = host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    if (is_bracketed)
        host = str_n(host.ptr + 1, host.len - 2);
    else if (str_find(host, ':') >= 0)
        return not_a_place(text, e);
    for (size_t i = 0; i < host.len; i++)
        if (!is_host_char(host.ptr[i]))
            return not_a_place(text, e);
    ret->port = (int)port;
    return take_host(host, ret->host, sizeof ret->host) ? ERR_OK : not_a_place(text, e);
}

bool redis_place_next(struct str *list, struct str *ret)
{
    if (!list->ptr)
        return false;
    struct str rest;
    (void)str_cut(*list, ',', ret, &rest);      /* without a comma all of it is the last one */
    *list = rest;
    *ret = str_trim(*ret);
    return true;
}

enum errc redis_places_check(struct str list, struct err *e)
{
    struct str one;
    int n = 0;
    while (redis_place_next(&list, &one)) {
        struct redis_place p;
        TRY(redis_place_read(one, &p, e));
        if (p.is_unix)
            return not_a_place(one, e);
        if (++n > REDIS_PLACES_MAX)
            return FAIL(e, INVALID, "more than %d places", REDIS_PLACES_MAX);
    }
    return n ? ERR_OK : FAIL(e, INVALID, "no HOST:PORT");
}
