/* SPDX-License-Identifier: Apache-2.0 */
/* inside_link.h - sessions of people in this machine's programs: for each a thread that calls the API for it and moves its bytes.
 *
 * The API names sessions in its answer to the long poll; the agent calls out, and listens to nobody. At most INSIDE_LINKS_MAX at
 * a time: more are not answered. Memory: what it is given is copied. */
#pragma once
#include <stdatomic.h>
#include "workers/agent/book.h"

enum { INSIDE_LINKS_MAX = 64 };

/* n: counts them up and down; stopping: all end soon. session: that of a lease in the book, or nothing happens. */
void inside_link_begin(const struct config *cfg, struct book *b, const struct lease_session *session, _Atomic int *n,
                       const _Atomic bool *stopping);
