/* SPDX-License-Identifier: Apache-2.0 */
/* erasure.h - making a person's fields in the log unreadable for good: their key is destroyed, the log is not touched.
 *
 * Leaves commit to the sealed fields, so every proof stays. The user's name becomes "erased-<id>" and the user is disabled: the id that
 * the log knows no longer leads to anybody. A person without a key gets a destroyed one, so that none is made later.
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

MUST_CHECK enum errc audit_erase_person(struct work *w, struct uuid user_id, struct uuid by, struct audit_erasure *ret, struct err *e);
MUST_CHECK enum errc audit_erasure_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e);

extern const struct stmt *const audit_erasure_stmts[];
