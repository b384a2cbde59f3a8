/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.h - data crosses from one zone to another: opened under the source's key, sealed under a key of the target zone, and entered
 * into the register, all or nothing.
 *
 * Invariants: the judge of residency allows it at that moment, by facts read in the same transaction; no key is shared between zones: the
 * copy has a data key of its own under the tenant's key of the target zone; the register's row names bytes, objects, basis and person and
 * is never changed; one copy per version and zone. Jobs that name the target zone read the copy (scheduler/jobs/submit.c).
 * Scope: w->tenant_id, inside a transaction. Memory: the content is held once, outside the arena, at most TRANSFER_MAX bytes.
 * Errors: RESIDENCY, NOT_FOUND, EXISTS (a copy is there), UNPROCESSABLE (the policy is for something else), LIMIT, those of object.h. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

enum { TRANSFER_MAX = 1 << 30 };

struct transfer {
    struct uuid transfer_id, policy_id;
    struct str rule, legal_basis, from_zone, to_zone, data_class, purpose;
    struct uuid dataset_id;
    int64_t dataset_version;
    struct uuid from_object, to_object;
    int64_t bytes;
    struct uuid by_user;
    struct timestamp at;
};
extern const struct schema transfer_schema;

struct transfer_ask {
    struct uuid dataset_id;
    int64_t version;
    struct str to_zone, purpose;        /* purpose STR_NULL: the policy's */
    struct uuid policy_id;              /* nil: whatever allows it */
};
/* In two steps: the copy is read and sealed without a transaction (w->tx is NULL); then, judged again, it is booked inside one.
 * A copy that is not booked is dropped. */
struct transfer_copy;
enum errc transfer_seal(struct work *w, const struct transfer_ask *in, const struct transfer_copy **ret,
                        struct err *e) MUST_CHECK;
enum errc transfer_execute(struct work *w, const struct transfer_ask *in, const struct transfer_copy *c, struct transfer *ret,
                           struct err *e) MUST_CHECK;
void transfer_drop(struct work *w, const struct transfer_copy *c);

struct transfer_filter { struct str zone; struct timestamp from, to; };     /* absent: any */
enum errc transfer_list(struct work *w, const struct transfer_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* The register as CSV (RFC 4180) with a head line. */
void transfer_csv(const struct slice *rows, struct buf *out);
