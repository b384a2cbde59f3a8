/* SPDX-License-Identifier: Apache-2.0 */
/* tenant_key.h - the key of a tenant in a zone, as falaj-keyd wrapped it: which one new data keys go under, and how often it was used.
 *
 * Invariants: one PRIMARY version per tenant and zone; no more than 2^32 data keys are wrapped under a version (SP 800-38D 8.3: random
 * nonces). The last 2^20 are kept back, because a wrap whose transaction was rolled back is not counted; from 2^31 on it warns.
 * The key of a zone is made when the tenant first stores there. The tenant is w->tenant_id, also in the system scope.
 * Calling order: tenant_key_primary -> keyd_dek_new -> tenant_key_count (late: it locks the row until the commit).
 * Memory: w->arena. Errors: UNAVAILABLE (no falaj-keyd of that zone, or no key where none may be made), SEALED, LIMIT (rotate). */
#pragma once
#include "core/base/work.h"
#include "keys/client.h"

struct tenant_key {
    struct tkek_ref ref;
    struct key_blob blob;
    int64_t wraps;
};

/* may_create: make the first version where the tenant has none (not in the workers' role). */
enum errc tenant_key_primary(struct work *w, struct str zone, bool may_create, struct tenant_key *ret, struct err *e) MUST_CHECK;
/* One more data key was wrapped under it. Queued. */
void tenant_key_count(struct work *w, const struct tenant_key *k);
