/* SPDX-License-Identifier: Apache-2.0 */
/* lease_host.c - the name of a lease's process. */
#include "core/wire/lease_host.h"

#include <stdio.h>

bool lease_host(struct uuid attempt_id, struct str zone, char ret[LEASE_HOST_MAX])
{
    char hex[UUID_HEX];
    bool ok = zone.len >= 1 && zone.len <= LEASE_HOST_ZONE_MAX;
    for (size_t i = 0; ok && i < zone.len; i++) {
        char c = zone.ptr[i];
        ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    }
    if (!ok)
        return false;
    hex_encode(attempt_id.b, sizeof attempt_id.b, hex);
    snprintf(ret, LEASE_HOST_MAX, "%s.%.*s" LEASE_HOST_TAIL, hex, STR_ARG(zone));
    return true;
}
