/* SPDX-License-Identifier: Apache-2.0 */
/* dial.h - a connection for a child that has no network: the agent looks up the name, judges every address that it has, and
 * connects to one that it judged. So a name that means something else the second time gains nothing.
 *
 * Never: link-local addresses (and with them the metadata services of clouds), multicast, what is reserved or stands for
 * nothing. Addresses of private networks and of the machine itself only as the reach says. A name of which one address is refused
 * is refused whole: who answers with a good and a bad one tries something.
 * Errors: FORBIDDEN (an address), UNAVAILABLE (no name, nobody there), DEADLINE. Source: IANA's special-purpose registries
 * (RFC 6890 and its updates). */
#pragma once
#include <stdbool.h>
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/wire/type_pull.h"

struct sockaddr;

enum { DIAL_MS = 10000 };

bool dial_may(enum pull_reach reach, const struct sockaddr *to);
/* The socket does not block, and is as http_client_options.dial wants it. */
MUST_CHECK enum errc dial(const char *host, int port, enum pull_reach reach, int *ret, struct err *e);
