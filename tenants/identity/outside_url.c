/* SPDX-License-Identifier: Apache-2.0 */
/* outside_url.c - where from: the form of a URL that a tenant names, and whether an address is on the public Internet. */
#include "core/table/config.h"
#include "tenants/access/cidr.h"
#include "tenants/identity/outside.h"

#include <arpa/inet.h>

static bool is_loopback_name(struct str host)
{
    return str_eq_c(host, "127.0.0.1") || str_eq_c(host, "localhost") || str_eq_c(host, "[::1]");
}

enum errc outside_url_check(const struct config *cfg, struct str url, const char *field, struct err *e)
{
    bool is_https = str_starts(url, "https://"), is_http = str_starts(url, "http://");
    if (url.len > OUTSIDE_URL_MAX || (!is_https && !is_http))
        return FAIL_AT(e, INVALID, field, "must be a URL that begins with https:// and has at most %d characters",
            OUTSIDE_URL_MAX);
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] > '~' || strchr("\\\"<>^`{|}@#", url.ptr[i]))
            return FAIL_AT(e, INVALID, field, "must be a URL without user name, fragment, blanks or quotes");
    size_t from = is_https ? 8 : 7, end = from;
    while (end < url.len && url.ptr[end] != '/' && url.ptr[end] != '?')
        end++;
    struct str host = str_n(url.ptr + from, end - from);
    for (size_t i = host.len; i-- > 0 && host.ptr[i] != ']';)
        if (host.ptr[i] == ':')
            host.len = i;
    if (!host.len)
        return FAIL_AT(e, INVALID, field, "must be a URL with a host");
    if (is_http && (cfg->run_profile != PROFILE_DEV || !is_loopback_name(host)))
        return FAIL_AT(e, INVALID, field, "must begin with https://; plain HTTP is for loopback in the dev profile");
    return ERR_OK;
}

static void address_text(const struct sockaddr *to, char text[INET6_ADDRSTRLEN])
{
    text[0] = 0;
    if (to->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)to)->sin_addr, text, INET6_ADDRSTRLEN);
    else if (to->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)to)->sin6_addr, text, INET6_ADDRSTRLEN);
}

bool outside_is_public(const struct sockaddr *to)
{
    /* IANA's special-purpose registries (RFC 6890 and its updates), multicast and what is reserved. */
    static const char *const special[] = {
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/8", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
        "5f00::/16", "fc00::/7",
        "fe80::/10", "fec0::/10", "ff00::/8" };
    char text[INET6_ADDRSTRLEN];
    address_text(to, text);
    if (!text[0])
        return false;
    bool is_v4_in_v6 = to->sa_family == AF_INET6 &&
        IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)(const void *)to)->sin6_addr);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        struct cidr net;
        if (is_v4_in_v6 || (cidr_parse(str_c(special[i]), &net) && cidr_has(&net, str_c(text))))
            return false;
    }
    return true;
}

void outside_reach_init(struct outside_reach *r, const struct config *cfg, struct str networks)
{
    struct str one;
    *r = (struct outside_reach){ .is_open = cfg->run_profile == PROFILE_DEV };
    for (bool more = networks.len > 0; more && r->n < OUTSIDE_NETWORKS_MAX;) {
        more = str_cut(networks, ',', &one, &networks);
        r->n += cidr_parse(str_trim(one), &r->networks[r->n]);
    }
}

bool outside_may_connect(void *ctx, const struct sockaddr *to)
{
    const struct outside_reach *r = ctx;
    char text[INET6_ADDRSTRLEN];
    if (r->is_open || outside_is_public(to))
        return true;
    address_text(to, text);
    for (size_t i = 0; i < r->n; i++)
        if (cidr_has(&r->networks[i], str_c(text)))
            return true;
    return false;
}
