/* SPDX-License-Identifier: Apache-2.0 */
/* custody.h - what falaj-keyd does with the keys it keeps: the layer between its verbs and its providers.
 *
 * It chooses the key store (the zone's, or the tenant's own token), uses the cache, and makes no difference between a wrapped
 * tenant key and the reference to a sovereign one. Every function checks its references and answers SEALED, with the reason, when
 * the store is. Plain keys are in the locked heap; SEALED, UNAVAILABLE, DAMAGED, INVALID, RESIDENCY as in keys/client.h. */
#pragma once
#include "keys/server.h"

/* A store, held open against sealing until custody_leave, which must follow whenever custody_enter was OK. */
struct store {
    const struct key_provider *f;
    void *p;
};
MUST_CHECK enum errc custody_enter(struct keyd *k, struct uuid tenant, struct store *ret, struct err *e);
void custody_leave(struct keyd *k);
/* True: this tenant's root is in a token of its own. */
bool custody_has_own_root(const struct keyd *k, struct uuid tenant);

MUST_CHECK enum errc custody_check_zone(const struct keyd *k, struct str zone, struct err *e);
MUST_CHECK enum errc custody_secret(struct secret32 **ret, struct err *e);
MUST_CHECK enum errc custody_random(struct keyd *k, struct secret32 *ret, struct err *e);
MUST_CHECK enum errc custody_tkek_wrap(struct keyd *k, const struct tkek_ref *t, const struct secret32 *key, struct key_blob *ret,
                                       struct err *e);
MUST_CHECK enum errc custody_tkek_open(struct keyd *k, const struct tkek_ref *t, const struct key_blob *tkek, struct secret32 *ret,
                                       struct err *e);
MUST_CHECK enum errc custody_dek_wrap(struct keyd *k, const struct tkek_ref *t, const struct key_blob *tkek, const struct dek_ref *d,
                                      const struct secret32 *dek, struct key_blob *ret, struct err *e);
MUST_CHECK enum errc custody_dek_unwrap(struct keyd *k, const struct tkek_ref *t, const struct key_blob *tkek,
                                        const struct dek_ref *d, const struct key_blob *wrapped, struct secret32 *ret, struct err *e);
