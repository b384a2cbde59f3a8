/* SPDX-License-Identifier: Apache-2.0 */
/* image_cache.h - images that leases of this machine have unpacked and checked, kept in memory so that the next lease of the same
 * tenant neither fetches, decrypts nor checks them again (docs/adr/0114).
 *
 * An entry is one file without a name (flat.h), sealed against every change (memfd_create(2), F_SEAL_WRITE), and known by the
 * tenant, the digest of the archive and the image that was asked for in it. Nobody reaches it but a lease to which it is given,
 * and that takes the keys' release as it does without: who may not have the image gets no key, and so nothing.
 * Bounded: by bytes in all, by IMAGE_CACHE_ENTRIES, and by age since the last use; the one that was used least lately goes first.
 * It is charged to the agent, not to a lease.
 * No image outlives the right to its key: the agent asks again and again which may be kept (image_cache_held,
 * image_cache_judged; workers/agent/kept.c), and one of which nobody has said so for IMAGE_CACHE_WORD_US goes.
 * Any thread. Memory: a handle. */
#pragma once
#include <stdbool.h>
#include "core/base/clock.h"
#include "core/wire/lease_wire.h"

enum { IMAGE_CACHE_ENTRIES = 64, IMAGE_CACHE_WORD_US = 300000000 };

struct image_cache;

/* bytes 0: nothing is ever kept. */
struct image_cache *image_cache_new(int64_t bytes, int64_t age_ms, const struct clock *clock);
void image_cache_free(struct image_cache *c);           /* NULL is fine, here and below */
/* The image of this lease; -1: it is not here, or the lease has none. A descriptor of the caller's. */
int image_cache_take(struct image_cache *c, const struct lease_grant *g);
/* As many bytes may an image have that is worth being kept; 0: none. */
int64_t image_cache_most(const struct image_cache *c, const struct lease_grant *g);
/* Copies it, unless it is here; fd: stays the caller's. False: it is too large, or there is no memory beside other copies. */
bool image_cache_put(struct image_cache *c, const struct lease_grant *g, int fd);
/* What is kept, to ask about; ret has room for IMAGE_CACHE_ENTRIES. */
size_t image_cache_held(struct image_cache *c, struct lease_kept *ret);
/* The answer, to a question that was put at asked_us: what was asked about and may not be kept goes. Returns how many went. */
size_t image_cache_judged(struct image_cache *c, int64_t asked_us, const struct lease_kept *asked, size_t n_asked,
                          const struct lease_kept *may, size_t n_may);
/* What was not used for its age goes, and what nobody has said of that it may be kept. Returns how many of the latter. */
size_t image_cache_sweep(struct image_cache *c);
