/* SPDX-License-Identifier: Apache-2.0 */
/* hold.h - legal holds: while one is active nothing that it covers is dropped by retention, erased or shredded.
 *
 * A hold is placed by one person and lifted by an approval (kind "audit.hold.lift") of others. It covers a tenant, or what one person
 * did, or a stretch of time, or any of these together. Holds of the platform name the tenant they are about.
 * The database asks the same question: tenant_has_hold, subject_has_hold and audit_retention_drop (migrations/functions/).
 * Acts in w->tx, in the scope of w->tenant_id. Errors: NOT_FOUND, CONFLICT (lifted already), UNPROCESSABLE (an empty time). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct audit_hold {
    struct uuid hold_id, about_tenant, subject_id;
    struct timestamp from_at, until_at;
    struct str reason, state;
    struct uuid placed_by;
    struct timestamp created_at, lifted_at;
};
extern const struct schema audit_hold_schema;

/* in: about_tenant, subject_id, from_at, until_at, reason. */
MUST_CHECK enum errc audit_hold_place(struct work *w, const struct audit_hold *in, struct uuid by, struct audit_hold *ret, struct err *e);
MUST_CHECK enum errc audit_hold_get(struct work *w, struct uuid hold_id, struct audit_hold *ret, struct err *e);
/* state STR_NULL: any. */
MUST_CHECK enum errc audit_hold_list(struct work *w, struct str state, struct uuid position, int64_t limit, struct slice *ret, struct err *e);
/* The executor of the approval. */
MUST_CHECK enum errc audit_hold_lift(struct work *w, struct uuid hold_id, struct err *e);
/* CONFLICT with the reason when the person is held. */
MUST_CHECK enum errc audit_hold_refuse_subject(struct work *w, struct uuid subject, struct err *e);

extern const struct stmt *const audit_hold_stmts[];
