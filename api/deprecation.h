/* SPDX-License-Identifier: Apache-2.0 */
/* deprecation.h - what a row of the route table says when its end is near, and the headers that tell it to every caller.
 *
 *     .ends = &(const struct route_end){ .deprecated = "2026-12-01", .sunset = "2027-09-01", .instead = "/v1/queues" }
 *
 * The rule of docs/howto/upgrade.md is checked when the table is read: no end within DEPRECATION_DAYS_MIN days. Headers are
 * Deprecation (RFC 9745: @ and seconds since 1970), Sunset (RFC 8594: an HTTP date), and Link with rel="deprecation" and, where
 * there is one, rel="successor-version" (RFC 5829). Texts live in the arena of the router. */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum { DEPRECATION_DAYS_MIN = 180 };

struct route_end {
    const char *deprecated, *sunset;        /* days, YYYY-MM-DD, at midnight UTC */
    const char *instead;                    /* the path to call from now on; NULL: nothing replaces it */
};

struct end_headers { struct str deprecation, sunset, link; };

/* ret: the headers of a row with this end. Fails with the row's name where a day is none, or the end is too early. */
enum errc deprecation_read(const struct route_end *end, const char *op, struct arena *a, struct end_headers *ret,
                           struct err *e) MUST_CHECK;
