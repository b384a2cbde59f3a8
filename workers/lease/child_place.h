/* SPDX-License-Identifier: Apache-2.0 */
/* child_place.h - an artifact of a job, sealed while it is made: the content is never whole in memory, and never on a disk in the
 * clear.
 *
 * Calling order: child_place_open -> child_place_add* -> child_place_close, one place at a time (frame.h). After an error, or to
 * give it up, child_place_drop. Errors: UNAVAILABLE (the agent got no place: quota, zone), TOO_LARGE (more than LEASE_OUTPUT_MAX
 * bytes), IO. */
#pragma once
#include "core/crypto/hash.h"
#include "core/crypto/stream.h"
#include "workers/lease/child.h"

struct child_place {
    int fd;
    struct str name;
    struct stream_sealer *sealer;
    struct sha256 sha;
    int64_t bytes;
};

/* name: a slug, which must live as long as the place. */
MUST_CHECK enum errc child_place_open(struct child *c, struct str name, struct child_place *ret, struct err *e);
MUST_CHECK enum errc child_place_add(struct child_place *p, const void *bytes, size_t n, struct err *e);
/* Hands it over to the agent. The place is gone after it. */
MUST_CHECK enum errc child_place_close(struct child_place *p, struct err *e);
void child_place_drop(struct child_place *p);
