/* SPDX-License-Identifier: Apache-2.0 */
/* thing_name.h - what the things of a log are called: events hold ids only, people ask by name and read names.
 *
 * Names are those of today; of what was deleted the last one is kept (migrations/functions/audit_thing.sql). People are not
 * among them: audit/actor_name.h. Whoever may read a log may know the names of its things. Everything acts in w->tx.
 * Memory: w->arena. Errors: those of the transaction. */
#pragma once
#include "audit/export.h"

struct stmt;
struct schema;

enum { AUDIT_THINGS_MAX = 50 };

struct audit_thing {
    struct str kind, id, name;      /* id as the log writes it: dst_… */
    struct str display_name, display_name_ar;   /* for people; empty: it has none */
    bool deleted;
};
extern const struct schema audit_thing_schema;
struct audit_called { struct str name, display_name, display_name_ar; };

bool audit_resource_kind_is_known(struct str kind);

/* *ret: one per row; name STR_NULL: a kind without names, or not known any more. */
MUST_CHECK enum errc audit_thing_names(struct work *w, struct uuid tenant, const struct audit_row *rows, size_t n,
                                       struct audit_called **ret, struct err *e);
/* Things one of whose names contains `part` in any case: those that begin so first, today's before deleted ones. Jobs are not
 * looked for: there are too many of one name, and GET /v1/jobs finds them. */
MUST_CHECK enum errc audit_things_find(struct work *w, struct uuid tenant, struct str part, size_t limit,
                                       struct audit_thing **ret,
                                       size_t *ret_n, struct err *e);
/* What a search calls its resource: an id, a kind, or a name of one thing, for people or not; *ret is the id or kind as the
 * log writes it.
 * UNPROCESSABLE at /resource: nothing is or was called so; or several things are, which the text names with their ids. */
MUST_CHECK enum errc audit_thing_resolve(struct work *w, struct uuid tenant, struct str asked, struct str *ret, struct err *e);

extern const struct stmt *const audit_thing_stmts[];
