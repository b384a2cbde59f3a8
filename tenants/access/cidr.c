/* SPDX-License-Identifier: Apache-2.0 */
/* cidr.c - both families as one: IPv4 lies in ::ffff:0:0/96 (RFC 4291, 2.5.5.2). */
#include "tenants/access/cidr.h"

#include <arpa/inet.h>
#include <string.h>

enum { TEXT_MAX = 46 };

static bool address_parse(struct str text, uint8_t ret[16], int *ret_base)
{
    char z[TEXT_MAX + 1];
    struct in_addr v4;
    struct in6_addr v6;
    if (text.len < 2 || text.len > TEXT_MAX || memchr(text.ptr, '\0', text.len))
        return false;
    memcpy(z, text.ptr, text.len);
    z[text.len] = '\0';
    if (inet_pton(AF_INET, z, &v4) == 1) {
        static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
        memcpy(ret, mapped, 12);
        memcpy(ret + 12, &v4, 4);
        *ret_base = 96;
        return true;
    }
    if (inet_pton(AF_INET6, z, &v6) != 1)
        return false;
    memcpy(ret, &v6, 16);
    *ret_base = 0;
    return true;
}

static bool same_prefix(const uint8_t a[16], const uint8_t b[16], int bits)
{
    int whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, (size_t)whole))
        return false;
    return !rest || !((a[whole] ^ b[whole]) >> (8 - rest));
}

bool cidr_parse(struct str text, struct cidr *ret)
{
    struct str address, bits_text;
    struct cidr c = { .bits = 128 };
    int base;
    bool has_bits = str_cut(text, '/', &address, &bits_text);
    if (!address_parse(address, c.addr, &base))
        return false;
    if (has_bits) {
        int64_t bits;
        if (!str_to_i64(bits_text, 0, 128 - base, &bits))
            return false;
        c.bits = (uint8_t)(base + bits);
    }
    uint8_t masked[16] = { 0 };
    memcpy(masked, c.addr, (size_t)c.bits / 8);
    if (c.bits % 8)
        masked[c.bits / 8] = (uint8_t)(c.addr[c.bits / 8] & 0xff << (8 - c.bits % 8));
    if (memcmp(masked, c.addr, 16))
        return false;
    *ret = c;
    return true;
}

bool cidr_has(const struct cidr *net, struct str address)
{
    uint8_t a[16];
    int base;
    return address.ptr && address_parse(address, a, &base) && same_prefix(net->addr, a, net->bits);
}

bool check_cidr(struct str s, const char **why)
{
    struct cidr c;
    *why = "be a network such as 192.0.2.0/24 or 2001:db8::/32, with no bits behind its prefix";
    return cidr_parse(s, &c);
}
