/* SPDX-License-Identifier: Apache-2.0 */
/* key_shred.h - destroying keys whose time has come, and saying so in a certificate.
 *
 * A version in DESTROY_SCHEDULED whose days are over, of a tenant without legal hold, loses its wrapped key (a sovereign one also its
 * object in the token); the row and the digest of the blob stay. Nothing that was sealed below it opens any more here; copies of the
 * blob in backups open only under the root version they were wrapped by, so they die with that root (registry/vault/root_key.h) or with the
 * last backup, whichever comes first. The certificate says both and is signed by the zone's signing key.
 * Calling order: key_shred_due by the leader, in the system scope; the edge commits. The token's object is destroyed before the row:
 * a crash between leaves a row that the next call finishes.
 * A key whose zone's falaj-keyd is sealed or does not answer is logged and waits; those of other zones do not wait for it.
 * Memory: w->arena. Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct erasure_certificate {
    struct uuid certificate_id;
    struct str zone;
    int64_t key_version, objects, root_version;
    struct timestamp destroyed_at, backups_until;
    struct str body;
    struct bytes signature;
    struct str key_id;
    struct timestamp created_at;
};
extern const struct schema erasure_certificate_schema;

enum errc key_shred_due(struct work *w, int64_t limit, int64_t *ret_destroyed, struct err *e) MUST_CHECK;
enum errc erasure_certificate_get(struct work *w, struct uuid id, struct erasure_certificate *ret, struct err *e) MUST_CHECK;
enum errc erasure_certificate_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const key_shred_stmts[];          /* falaj-api */
extern const struct stmt *const key_shred_leader_stmts[];   /* falaj-scheduler */
