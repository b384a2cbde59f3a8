/* SPDX-License-Identifier: Apache-2.0 */
/* content_delete.h - a data set or model goes, with every version and every copy of it.
 *
 * Refused, with everything left as it was, while a legal hold covers the tenant or who made any of it (LEGAL_HOLD), and while
 * something
 * uses it (CONFLICT, which names it: deployments that serve it,
 * environments, jobs that have not ended, uploads on their way). Otherwise rows
 * go, the data
 * keys of its objects are forgotten in the same transaction, so that no copy of a blob opens any more, what it took of the
 * quota is given
 * back, and the blobs themselves go after the commit (or by orphan_sweep, when the process dies between). Backups of the
 * database hold the
 * wrapped keys for as long as they are kept.
 * Memory: w->arena. Errors: NOT_FOUND, LEGAL_HOLD, CONFLICT. */
#pragma once
#include "registry/catalog/versioned.h"

struct content_deleted {
    int64_t objects, stored_bytes;
};
extern const struct schema content_deleted_schema;

enum errc content_delete(struct work *w, const struct versioned *k, struct uuid id, struct content_deleted *ret,
    struct err *e) MUST_CHECK;
