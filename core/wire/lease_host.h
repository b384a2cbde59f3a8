/* SPDX-License-Identifier: Apache-2.0 */
/* lease_host.h - the name under which the process of one lease serves, and by which falaj-api knows it.
 *
 *     <attempt, 32 hex digits>.<zone>.lease.falaj.internal
 *
 * It is the one DNS name of the certificate that falaj-keyd signs for a lease (keys/zone_ca.h), and what falaj-api demands of who
 * answers at the lease's endpoint (serving/serving.c), by the ordinary check of a server's name (RFC 6125). Nobody resolves it.
 * Pure; no allocation. */
#pragma once
#include "core/base/id.h"
#include "core/base/str.h"

#define LEASE_HOST_TAIL ".lease.falaj.internal"
enum { LEASE_HOST_ZONE_MAX = 63, LEASE_HOST_MAX = UUID_HEX + LEASE_HOST_ZONE_MAX + sizeof LEASE_HOST_TAIL };

/* False: the zone is empty, longer than LEASE_HOST_ZONE_MAX, or not of a-z, 0-9 and '-'. */
bool lease_host(struct uuid attempt_id, struct str zone, char ret[LEASE_HOST_MAX]);
