/* SPDX-License-Identifier: Apache-2.0 */
/* root_key.h - the versions of a zone's root key, as far as the platform knows them. The keys are in the provider and nowhere else.
 *
 * Rotating makes a new version in the provider; the leader then moves every tenant key of the zone to it (registry/vault/key_rewrap.h, kind
 * "root"); data is never touched. An old version is destroyed when no tenant key hangs on it any more: from then on no backup of the key
 * tables from before opens. Both need a second custodian (api/approval_kinds.c).
 * The provider acts before the rows: a crash between is mended by the next call, which finds what the provider has.
 * Scope: the platform's (w->tenant_id nil). Memory: w->arena. Errors: NOT_FOUND, CONFLICT (tenant keys left, the current version),
 * UNAVAILABLE and SEALED. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct root_key {
    int64_t version;
    struct str provider, state;
    int64_t tenant_keys;            /* that hang on it */
    struct timestamp created_at, retired_at, destroyed_at;
};
extern const struct schema root_key_schema;

/* Registers versions that the provider has and the table has not. */
enum errc root_key_list(struct work *w, struct str zone, struct slice *ret, struct err *e) MUST_CHECK;
enum errc root_key_rotate(struct work *w, struct str zone, int64_t *ret_version, struct err *e) MUST_CHECK;
enum errc root_key_destroy_check(struct work *w, struct str zone, int64_t version, struct err *e) MUST_CHECK;
enum errc root_key_destroy(struct work *w, struct str zone, int64_t version, struct err *e) MUST_CHECK;

extern const struct stmt *const root_key_stmts[];
