/* SPDX-License-Identifier: Apache-2.0 */
/* export_int.h - reading a log page by page, and the roots of its parts. */
#pragma once
#include "audit/bundle.h"
#include "audit/export.h"
#include "core/base/work.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

/* One export: each page is a transaction of its own in `page`, which is emptied before the next. A log only grows, and the head is
 * fixed at the beginning, so pages of different transactions fit together. */
struct export {
    struct work *w;
    struct uuid tenant_id;
    struct arena *page;
};

MUST_CHECK enum errc export_begin_page(struct export *x, struct db_tx **tx, struct err *e);
/* The roots of n ranges of leaves, in one pass over those leaves; ranges may overlap and repeat. */
MUST_CHECK enum errc export_roots(struct export *x, const struct merkle_range *ranges, size_t n, struct merkle_hash *out,
                                  struct err *e);

/* The leaves [start, end), counted from 0. */
MUST_CHECK enum errc export_leaves(struct export *x, uint64_t start, uint64_t end, struct merkle_hash *out, struct err *e);

extern const struct stmt *const audit_proof_stmts[];
