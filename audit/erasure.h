/* SPDX-License-Identifier: Apache-2.0 */
/* erasure.h - making a person's fields in the log unreadable for good: their key is destroyed, the log is not touched.
 *
 * Leaves commit to the sealed fields, so every proof stays. The columns of pii.def are emptied (the name becomes "erased-<id>"), all
 * credentials end and the user is disabled: the id that the log knows no longer leads to anybody. A person without a key gets a
 * destroyed one, so that none is made later.
 * Copies of the wrapped key live on in backups until the tenant's key of that time is destroyed (keys: rotation, destruction).
 * In w->tx; the route writes the event. Errors: NOT_FOUND (no such user), CONFLICT (held, or erased already). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct audit_erasure {
    struct uuid user_id;
    struct timestamp erased_at;
    bool had_fields;                /* there was a key, so fields may stand in the log */
};
extern const struct schema audit_erasure_schema;

/* The order stands in the journal (erasure_keeper.h) before this returns. */
MUST_CHECK enum errc audit_erase_person(struct work *w, struct uuid user_id, struct uuid by, struct audit_erasure *ret, struct err *e);
/* The same for somebody whom a restore brought back: the journal has the order. */
MUST_CHECK enum errc audit_erase_restored(struct work *w, struct uuid user_id, struct uuid by, struct audit_erasure *ret,
                                          struct err *e);
/* What the columns of pii.def that are SHOWN say of a person, at most AUDIT_PERSON_MAX values. NOT_FOUND: no such user. */
enum { AUDIT_PERSON_MAX = 1000 };
struct person_datum { struct str place, field, means, value; };
extern const struct schema person_datum_schema;
struct audit_person { struct slice data; struct timestamp erased_at; bool held; };
extern const struct schema audit_person_schema;
MUST_CHECK enum errc audit_person_data(struct work *w, struct uuid user_id, struct audit_person *ret, struct err *e);
MUST_CHECK enum errc audit_erasure_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e);

extern const struct stmt *const audit_erasure_stmts[];
