/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.h - every stored object of every tenant, and where zones keep their root keys, as a backup sees them: read page by
 * page over a session of a role that sees all rows (falaj_backup), inside whatever transaction that session is in.
 * Errors: those of the session. */
#pragma once
#include "core/base/id.h"
#include "core/crypto/hash.h"
#include "core/db/session.h"

enum { INVENTORY_PAGE = 2000 };

struct inventory_object {
    struct uuid tenant, object;
    uint64_t stored_bytes;
    uint8_t stored_sha256[SHA256_BYTES];
};
/* Those after the place (tenant, object), in order; fewer than INVENTORY_PAGE: the last ones. In a. */
MUST_CHECK enum errc inventory_page(struct db_session *s, struct arena *a, struct uuid tenant, struct uuid object,
                                    struct inventory_object **ret, size_t *ret_n, struct err *e);
/* Is there a row of it now? */
MUST_CHECK enum errc inventory_has(struct db_session *s, struct arena *a, struct uuid tenant, struct uuid object, bool *ret,
                                   struct err *e);
/* Rows of zone, provider, version: the current root key of each zone. */
MUST_CHECK enum errc inventory_roots(struct db_session *s, struct arena *a, struct db_text_rows *ret, struct err *e);
