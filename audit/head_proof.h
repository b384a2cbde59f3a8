/* SPDX-License-Identifier: Apache-2.0 */
/* head_proof.h - from a tenant's signed head to the zone's, which covers all tenants and is anchored (docs/audit-format.md §7).
 *
 * The zone's log is read under its own id: what comes out of it are hashes and its signed head, never another tenant's head.
 * w->tx must be NULL: each step is a short transaction of its own; the zone's log only grows. */
#pragma once
#include "audit/evidence.h"
#include "core/base/err.h"

struct work;
struct stmt;

/* size: of the tenant's head; 0: the newest. from: of an earlier head of the zone to extend; 0: none. NOT_FOUND: no such head. */
MUST_CHECK enum errc audit_prove_head(struct work *w, struct uuid tenant, uint64_t size, uint64_t from, struct head_proof *ret,
                                      struct err *e);

extern const struct stmt *const audit_head_proof_stmts[];
