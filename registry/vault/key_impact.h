/* SPDX-License-Identifier: Apache-2.0 */
/* key_impact.h - what hangs on a version of a tenant's key, and what each act on it would do, before anybody asks for it.
 *
 * A rehearsal changes nothing and asks no key: what hangs is read from the rows that reading and serving join, so it is what
 * would stop. Whether an act would be accepted now is judged by what judges the act itself: the edges of a version's life
 * (key_edge), the check of a destruction (key_life.h), the zones that answer. Things are cut at KEY_IMPACT_ROWS; `is_cut` says
 * so, and the sums count the listed ones. The tenant is w->tenant_id. Memory: w->arena. Errors: NOT_FOUND (no such version). */
#pragma once
#include "registry/vault/key_life.h"
#include "tenants/home/shown_name.h"

enum { KEY_IMPACT_ROWS = 500 };

struct key_thing { struct str kind, id, name; SHOWN_NAME; int64_t objects, bytes; };
/* stops: what the act would stop at once. moves: data keys that would be wrapped anew. */
struct key_rehearsal { struct str act; bool allowed; struct str why, stops; int64_t moves; bool takes_approval; };
struct key_impact {
    struct key_version key;
    struct timestamp generated_at;
    bool is_cut;
    int64_t destroy_days;               /* between approval and destruction */
    struct slice things;                /* struct key_thing */
    struct slice acts;                  /* struct key_rehearsal: rotate, disable, destroy */
};
extern const struct schema key_impact_schema;

enum errc key_impact_read(struct work *w, struct str zone, int64_t version, struct key_impact *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const key_impact_stmts[];
