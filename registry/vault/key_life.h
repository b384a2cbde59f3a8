/* SPDX-License-Identifier: Apache-2.0 */
/* key_life.h - the life of a tenant's key versions in a zone, as its administrator leads it.
 *
 *     PENDING -> PRIMARY -> DECRYPT_ONLY -> DISABLED -> DESTROY_SCHEDULED -> DESTROYED
 *
 * PRIMARY wraps new data keys; DECRYPT_ONLY only opens old ones; DISABLED and later open nothing, from the commit on, because every read
 * of an object joins its key's state. Edges are rows of key_edge, held by a trigger. A new version is proved before it becomes primary:
 * falaj-keyd must open what it has just made. Processes hold no list of versions, so a promotion has nobody to wait for (the reason for
 * a waiting state in systems that distribute keys to their nodes).
 * Destruction is asked for, approved by another (api/approval_kinds.c), waits its days, is done by the leader (registry/vault/key_shred.h).
 * The tenant is w->tenant_id. Memory: w->arena. Errors: NOT_FOUND (no such version), CONFLICT (state, data keys left below), UNAVAILABLE
 * and SEALED (keyd), DAMAGED (an import that does not open). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct key_version {
    struct str zone;
    int64_t key_version;
    struct str state, origin, tier, provider;
    int64_t root_version, wraps;
    int64_t data_keys;                  /* still wrapped under it */
    struct timestamp created_at, retired_at, disabled_at, destroy_after, destroyed_at;
};
extern const struct schema key_version_schema;

/* A tenant's keys of one zone in one line. */
struct key_summary {
    struct str zone, tier, provider;
    int64_t primary_version, versions, min_version, wraps, data_keys;
    struct timestamp rotated_at;        /* when the primary was made */
    struct timestamp rotate_before;     /* 365 days later (setting keys.rotate_days) */
    struct str advice;                  /* "", "rotate-soon" (age or wraps), "rotate-now" */
};
extern const struct schema key_summary_schema;

enum errc key_summaries(struct work *w, struct str zone, struct slice *ret, struct err *e) MUST_CHECK;  /* zone STR_NULL: all */
/* Newest first. before 0: from the newest. */
enum errc key_versions(struct work *w, struct str zone, int64_t before, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc key_version_get(struct work *w, struct str zone, int64_t version, struct key_version *ret, struct err *e) MUST_CHECK;

/* Make a version, prove it, make it primary, and start moving the data keys to it. sovereign: an object in the zone's token. */
enum errc key_rotate(struct work *w, struct str zone, bool sovereign, struct key_version *ret, struct err *e) MUST_CHECK;
/* The same with the tenant's own 32 bytes, sealed to the zone's import key (docs/howto/keys.md). */
enum errc key_import(struct work *w, struct str zone, struct str ephemeral_public, struct str sealed, struct key_version *ret, struct err *e) MUST_CHECK;
enum errc key_disable(struct work *w, struct str zone, int64_t version, struct key_version *ret, struct err *e) MUST_CHECK;
enum errc key_enable(struct work *w, struct str zone, int64_t version, struct key_version *ret, struct err *e) MUST_CHECK;
/* Versions below min become DISABLED; CONFLICT with the number while data keys are still wrapped under them. */
enum errc key_min_version(struct work *w, struct str zone, int64_t min, struct key_summary *ret, struct err *e) MUST_CHECK;

/* What the approval of a destruction carries out: reads fail from now on, the key is gone after `days`. version 0: all of the zone. */
enum errc key_schedule_destroy(struct work *w, struct str zone, int64_t version, int64_t days, struct err *e) MUST_CHECK;
/* Before the request is stored: does it make sense? */
enum errc key_destroy_check(struct work *w, struct str zone, int64_t version, struct err *e) MUST_CHECK;
enum errc key_cancel_destroy(struct work *w, struct str zone, int64_t version, struct key_version *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const key_life_stmts[];
