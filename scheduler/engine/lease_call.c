/* SPDX-License-Identifier: Apache-2.0 */
/* lease_call.c - the row. Each EXISTS is one probe of an index that is nearly always empty of this machine; as statements of
 * their own they cost more to set up than all of this takes. */
#include "scheduler/engine/lease_call.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/engine/lease.h"
#include "scheduler/engine/node_repo.h"

struct call_row {
    struct uuid node_id;
    struct str state;
    bool is_known, is_current, is_run, is_due, is_member, has_late, has_notices, has_sessions;
};
SCHEMA_OF(call_row, "What a machine's call finds", FIELD(call_row, node_id, 0, .doc = "Machine"),
    FIELD(call_row, state, 0, .doc = "Its state"), FIELD(call_row, is_known, 0, .doc = "Its certificate stands in the register"),
    FIELD(call_row, is_current, 0, .doc = "And has not ended"), FIELD(call_row, is_run, 0, .doc = "This run is registered"),
    FIELD(call_row, is_due, 0, .doc = "To be noted"), FIELD(call_row, is_member, 0, .doc = "It has parts"),
    FIELD(call_row, has_late, 0, .doc = "Leases"), FIELD(call_row, has_notices, 0, .doc = "Notices"),
    FIELD(call_row, has_sessions, 0, .doc = "Sessions"));

/* Begins with a row of its own, so there is always one. */
static const struct stmt lease_call_stmt = { .name = "lease_call", .params = "syuuuUi", .row = &call_row_schema,
                                             .card = CARD_MAYBE, .sql =
    "SELECT " GATE_SAYS ",\n"
    "       coalesce(n.node_id = $3 AND n.boot_id = $4, false) AS is_run,\n"
    "       coalesce(" NODE_IS_DUE("n.") ", false) AS is_due,\n"
    "       EXISTS (SELECT FROM attempt_member m WHERE m.node_id = $3 AND m.live AND m.rank > 0) AS is_member,\n"
    "       EXISTS (SELECT FROM attempt a WHERE a.node_id = $3 AND a.attempt_id <= $5 AND a.live AND a.state = 'LEASED'\n"
    "                  AND " LEASE_IS_LATE("a", "$7") ") AS has_late,\n"
    "       EXISTS (SELECT FROM attempt a WHERE a.node_id = $3 AND " LEASE_IS_TOLD("$6") ") AS has_notices,\n"
    "       EXISTS (SELECT FROM job_session s WHERE s.node_id = $3 AND NOT s.joined) AS has_sessions\n"
    "  FROM " GATE_FROM };

const struct stmt *const lease_call_stmts[] = { &lease_call_stmt, NULL };

struct db_ask *lease_call_ask(struct work *w, const struct lease_call *c)
{
    return db_ask(w->tx, &lease_call_stmt, ARGS(A_STR(c->identity), A_BYTES(c->fingerprint.ptr, c->fingerprint.len),
                                                A_UUID(c->node_id), A_UUID(c->boot_id), A_UUID(c->after),
                                                A_UUIDS(c->told.items, c->told.n), A_I64(lease_late_ms(c->lease_ms))));
}

enum errc lease_call_told(struct work *w, struct db_ask *ask, struct lease_call_facts *ret, struct err *e)
{
    struct call_row r = { 0 };
    bool found;
    TRY(db_told_maybe(w->tx, ask, &r, &found, e));
    *ret = (struct lease_call_facts){ .gate = { r.node_id, r.state, r.is_known, r.is_current }, .is_run = r.is_run,
                                      .is_due = r.is_due, .is_member = r.is_member, .has_late = r.has_late,
                                      .has_notices = r.has_notices, .has_sessions = r.has_sessions };
    return ERR_OK;
}

enum errc lease_call_admit(struct work *w, const struct lease_call *c, const struct lease_call_facts *f, struct err *e)
{
    if (!f->is_run)
        return node_not_registered(e);
    if (f->is_due)
        node_repo_beat(w->tx, &(struct node_call){ c->node_id, c->boot_id, c->identity, NULL });
    return ERR_OK;
}
