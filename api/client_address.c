/* SPDX-License-Identifier: Apache-2.0 */
/* client_address.c - from the right, header by header and element by element, for as long as who wrote it is trusted. */
#include "api/client_address.h"

#include <strings.h>

enum errc proxies_parse(struct str list, struct proxies *ret, struct err *e)
{
    struct str one;
    *ret = (struct proxies){ 0 };
    for (bool more = list.len > 0; more;) {
        more = str_cut(list, ',', &one, &list);
        one = str_trim(one);
        if (ret->n == PROXIES_MAX)
            return FAIL(e, INVALID, "api.trusted_proxies has more than %d networks", PROXIES_MAX);
        if (!cidr_parse(one, &ret->nets[ret->n++]))
            return FAIL(e, INVALID, "api.trusted_proxies: expected networks like 10.0.0.0/8 or 192.0.2.7, found \"%.*s\"",
                STR_ARG(one));
    }
    return ERR_OK;
}

bool proxies_has(const struct proxies *p, struct str address)
{
    for (size_t i = 0; i < p->n; i++)
        if (cidr_has(&p->nets[i], address))
            return true;
    return false;
}

static bool is_address(struct str s)
{
    static const struct cidr all = { .bits = 0 };
    return cidr_has(&all, s);
}

/* "192.0.2.7:4711" and "[2001:db8::1]:443" as some proxies write them. */
static struct str without_port(struct str s)
{
    struct str head, rest;
    if (s.len && s.ptr[0] == '[' && str_cut(str_n(s.ptr + 1, s.len - 1), ']', &head, &rest))
        return head;
    if (str_cut(s, ':', &head, &rest) && !memchr(rest.ptr, ':', rest.len))
        return head;
    return s;
}

struct str client_address(const struct proxies *p, const struct http_request *r)
{
    struct str address = r->remote_addr;
    for (size_t i = r->nheaders; i-- > 0;) {
        struct str list = r->headers[i].value, name = r->headers[i].name;
        if (name.len != strlen("X-Forwarded-For") || strncasecmp(name.ptr, "X-Forwarded-For", name.len) != 0)
            continue;
        for (size_t end = list.len;;) {
            size_t from = end;
            if (!proxies_has(p, address))
                return address;
            while (from > 0 && list.ptr[from - 1] != ',')
                from--;
            struct str next = without_port(str_trim(str_n(list.ptr + from, end - from)));
            if (!is_address(next))
                return address;
            address = next;
            if (from == 0)
                break;
            end = from - 1;
        }
    }
    return address;
}
