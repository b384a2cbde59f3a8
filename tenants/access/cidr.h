/* SPDX-License-Identifier: Apache-2.0 */
/* cidr.h - networks, and whether an address is in one. Pure.
 *
 * An IPv4 address written as IPv6 (::ffff:192.0.2.1) is the IPv4 address. What is not an address is in no network: a caller whose
 * address is unknown (a Unix socket) passes no condition on addresses. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"

struct cidr {
    uint8_t addr[16];       /* IPv4 as ::ffff:a.b.c.d */
    uint8_t bits;           /* of the 128 */
};

/* "192.0.2.0/24", "2001:db8::/32", "192.0.2.7". Bits behind the prefix must be zero, as in PostgreSQL's cidr. */
bool cidr_parse(struct str text, struct cidr *ret);
bool cidr_has(const struct cidr *net, struct str address);
/* For .check of a schema's list of networks and of one. */
bool check_cidr(struct str s, const char **why);
