/* SPDX-License-Identifier: Apache-2.0 */
/* dial.h - one connection to whichever of several PostgreSQL servers takes it first; only for core/db.
 *
 * A server is asked when those before it have failed, or have said nothing for a quarter of a second; all that were asked stay in
 * the race. While one of them is silent, those that refused are asked again twice a second: a standby that becomes primary
 * meanwhile is found then, not when the silence has used up its time. So no call waits longer for a server that says nothing than
 * until another one is good.
 * Not bounded here: the system's resolver, where a host is a name. */
#pragma once
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"

enum dial_said { DIAL_NOT_ASKED, DIAL_REFUSED, DIAL_SILENT, DIAL_GOOD };
enum { DIAL_MAX = 8 };

struct dial {
    const char *host, *port;
    bool is_last;               /* asked only when all that are not have failed */
    enum dial_said said;        /* out; SILENT: not a word within timeout_us, or within 1.9 s when another one was good */
};

/* As PQconnectdbParams(keys, values, 1) to each of n <= DIAL_MAX; at most 13 keys. timeout_us: of one attempt. To be finished by
 * the caller; NULL: none was good, and *why has what each said. */
PGconn *dial_first(struct dial *d, int n, const char *const *keys, const char *const *values, int64_t timeout_us,
                   struct buf *why);
