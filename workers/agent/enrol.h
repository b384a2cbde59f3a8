/* SPDX-License-Identifier: Apache-2.0 */
/* enrol.h - a worker's own certificate: the first one for a join token, the next ones for the one before.
 *
 * The key is made here (P-256), written 0600 and never leaves the machine; a renewal keeps it, so that certificate and key on disk always
 * fit: one file is replaced, by rename. Clients notice the new file and connect anew (workers/agent/client.c); nothing that runs is disturbed.
 * Calling order: enrol_first, before the agent -> renewer_new -> renewer_free.
 * Errors: UNAUTHENTICATED (the join token), EXISTS (the name), IO, INVALID; what passes is tried again until it works or *stop. */
#pragma once
#include <stdatomic.h>
#include "core/base/err.h"
#include "core/table/config.h"

struct renewer;

/* Does nothing when worker.cert is there and holds. NOT_FOUND: it is not, and there is no join token. */
MUST_CHECK enum errc enrol_first(const struct config *cfg, const _Atomic bool *stop, struct err *e);
/* A thread that renews at half of the certificate's life, and tries again until it works; it tells of one that ends soon all
 * the same. */
struct renewer *renewer_new(const struct config *cfg);
void renewer_free(struct renewer *r);           /* NULL is fine; waits for a call under way */
/* Wall clock, microseconds, at which a certificate with these times is renewed. Pure. */
int64_t renew_at_us(int64_t not_before_us, int64_t not_after_us);
