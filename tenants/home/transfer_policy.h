/* SPDX-License-Identifier: Apache-2.0 */
/* transfer_policy.h - why data of a class may cross from one zone to another: a basis in law, its document, who approved, until when.
 *
 *     PROPOSED -> ACTIVE -> REVOKED        (PROPOSED for ever where the approval was refused or ran out; an ACTIVE one ends at valid_until)
 *
 * Invariants: at most 366 days; the proposer never approves; sensitive and regulated classes need two approvals; health, banking and gov
 * are not even proposed without the reference of the exception that the law makes; nothing but its state ever changes. The judge
 * (residency.h) uses ACTIVE ones whose dates hold. Every step is an audit event of kind transfer_policy.set.
 * Scope: w->tenant_id. Memory: w->arena. Errors: NOT_FOUND, UNPROCESSABLE, CONFLICT (revoked twice), those of approval.h. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/access/approval.h"

struct stmt;

extern const char *const legal_basis_names[];

struct transfer_policy {
    struct uuid policy_id;
    struct str from_zone, to_zone, data_class, purpose, legal_basis, document_sha256, assessment_ref, exception_ref;
    struct json recipients;
    struct str state;
    struct timestamp valid_from, valid_until;
    struct uuid approval_id, proposed_by, revoked_by;
    struct timestamp revoked_at, created_at;
    int64_t version;
};
extern const struct schema transfer_policy_schema;

struct transfer_policy_new {
    struct str from_zone, to_zone;
    int data_class;
    struct str purpose;
    int legal_basis;
    struct str document_sha256, assessment_ref, exception_ref;
    struct slice recipients;
    struct timestamp valid_until;
};
extern const struct schema transfer_policy_new_schema;

enum errc transfer_policy_propose(struct work *w, const struct transfer_policy_new *in, struct transfer_policy *ret, struct err *e) MUST_CHECK;
enum errc transfer_policy_get(struct work *w, struct uuid policy_id, struct transfer_policy *ret, struct err *e) MUST_CHECK;
/* state STR_NULL: any. */
enum errc transfer_policy_list(struct work *w, struct str state, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc transfer_policy_revoke(struct work *w, struct uuid policy_id, struct transfer_policy *ret, struct err *e) MUST_CHECK;

extern const struct approval_kind transfer_policy_kind, transfer_policy_strict_kind;
extern const struct stmt *const transfer_policy_stmts[];
