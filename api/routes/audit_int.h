/* SPDX-License-Identifier: Apache-2.0 */
/* audit_int.h - what the route files of the audit log share. */
#pragma once
#include "api/route.h"
#include "audit/filter.h"
#include "audit/head.h"

struct str audit_hex(struct arena *a, const void *p, size_t n);
/* Absent texts let everything through. UNPROCESSABLE: words or times that no event has. */
enum errc audit_filter_of(struct timestamp from, struct timestamp to, struct str actor, struct str action, struct str resource, struct audit_filter *ret,
                          struct err *e) MUST_CHECK;
/* key_id: the whole SHA-256 of the public key, as the log names it. */
enum errc audit_zone_key(struct work *w, struct str zone, uint8_t public_key[AUDIT_PUB], struct str *key_id, struct err *e) MUST_CHECK;
