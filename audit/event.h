/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - writing audit events: in the caller's transaction, so that no change is without its record and no record without
 * its change.
 *
 * Calling order: audit_event_of -> set actor, resource, outcome -> audit_append(w, …) -> the edge commits.
 * audit_append only queues the statement: it travels with the next one that waits, and its failure fails the transaction.
 * An event gets its number and its place in the chain later, by the sequencer.
 * Memory: the bytes live in w->arena. Errors: those of the transaction. */
#pragma once
#include "audit/record.h"
#include "core/db/tx.h"

/* An event with a new id, and time, tenant, request and source of w; the rest zero (success, allowed, actor system). */
struct audit_event audit_event_of(const struct work *w, enum audit_code code);
/* Queue the INSERT of ev in w->tx. */
MUST_CHECK enum errc audit_append(struct work *w, const struct audit_event *ev, struct err *e);
/* Commit ev by itself: what was refused must be written down though its own transaction is gone. w->tx may be open and stays as it is. */
MUST_CHECK enum errc audit_append_apart(struct work *w, struct db_pool *pool, struct db_scope scope, const struct audit_event *ev, struct err *e);

/* For a combiner that inserts many rows in a statement of its own:
 *   INSERT INTO audit_event (tenant_id, event_id, body) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) */
struct audit_rows {
    size_t count;
    struct uuid *tenant_ids, *event_ids;
    struct str *bodies;
};
MUST_CHECK enum errc audit_encode_many(struct arena *a, const struct audit_event *evs, size_t n, struct audit_rows *ret,
                                       struct err *e);

/* For the pool's check at start; NULL-terminated. */
extern const struct stmt *const audit_event_stmts[];
