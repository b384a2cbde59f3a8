/* SPDX-License-Identifier: Apache-2.0 */
/* saved_view.h - views of lists under a name: the query of a list's address, kept for one person or shared within its tenant.
 *
 * A view is its owner's: saving under a name that the owner has for that list replaces it. Others of the tenant see it while it
 * is shared, and change nothing; who manages users may take a shared one away. What a view shows is decided by each reader's own
 * permissions: it holds no rows. A person has VIEWS_OF_LIST views of a list and VIEWS_OF_PERSON in all, at most. A view goes with
 * its owner's erasure (audit/pii.def).
 * Memory: w->arena. Errors: NOT_FOUND (also another's view that is not shared), FORBIDDEN, LIMIT. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { VIEWS_OF_LIST = 20, VIEWS_OF_PERSON = 200 };

struct saved_view {
    struct uuid view_id, owner_id;
    struct str owner_name;
    struct str list, name, query;
    bool shared;
    struct timestamp created_at, updated_at;
};
extern const struct schema saved_view_schema;

/* Of list, name, query and shared. */
enum errc saved_view_put(struct work *w, const struct saved_view *in, struct saved_view *ret, struct err *e) MUST_CHECK;
/* The caller's own and the shared ones of that list, or of all lists (list STR_NULL), newest first. */
enum errc saved_view_list(struct work *w, struct str list, struct uuid position, int64_t limit, struct slice *ret,
                          struct err *e) MUST_CHECK;
enum errc saved_view_delete(struct work *w, struct uuid view_id, struct err *e) MUST_CHECK;

extern const struct stmt *const saved_view_stmts[];
