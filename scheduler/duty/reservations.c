/* SPDX-License-Identifier: Apache-2.0 */
/* reservations.c - a machine says in its reason which reservation drained it, so that what a person ordered meanwhile stays. */
#include "scheduler/duty/reservations.h"
#include "audit/event.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/plan_apply.h"
#include "scheduler/engine/reservation.h"
#include "scheduler/engines/lent.h"

#define BY "'maintenance by rsv_' || replace("

enum { MOVES_MAX = 100000 };

struct moved { struct uuid node_id, reservation_id; struct str zone; };
SCHEMA_OF(moved, "A machine that was moved", FIELD(moved, node_id, 0, .doc = "Machine"), FIELD(moved, reservation_id, 0,
    .doc = "By which reservation; nil: it has ended"), FIELD(moved, zone, 0, .doc = "Its zone"));
static const struct stmt begin = { .name = "reservations_begin", .params = "", .row = &moved_schema, .card = CARD_MANY, .sql =
    "UPDATE node n SET state = 'DRAINING', is_drained = true, reason = " BY "r.reservation_id::text, '-', '')\n"
    "  FROM reservation r JOIN reservation_machine m ON m.reservation_id = r.reservation_id\n"
    " WHERE r.purpose = 'maintenance' AND r.from_at <= now() AND r.until_at > now() AND n.node_id = m.node_id\n"
    "   AND n.state = 'READY' RETURNING n.node_id, r.reservation_id, n.zone" };
static const struct stmt end = { .name = "reservations_end", .params = "", .row = &moved_schema, .card = CARD_MANY, .sql =
    "UPDATE node n SET state = 'READY', is_drained = false, reason = ''\n"
    " WHERE n.state = 'DRAINING' AND n.reason LIKE 'maintenance by rsv\\_%' AND NOT EXISTS (\n"
    "   SELECT FROM reservation_machine m JOIN reservation r ON r.reservation_id = m.reservation_id\n"
    "    WHERE m.node_id = n.node_id AND r.until_at > now() AND n.reason = " BY "r.reservation_id::text, '-', ''))\n"
    "RETURNING n.node_id, '00000000-0000-0000-0000-000000000000'::uuid AS reservation_id, n.zone" };
static const struct stmt purge = { .name = "reservations_purge", .params = "i", .card = CARD_NONE, .sql =
    "DELETE FROM reservation WHERE reservation_id IN (\n"
    "  (SELECT reservation_id FROM reservation WHERE until_at < now() - $1 * interval '1 day' ORDER BY until_at LIMIT 100)\n"
    "  UNION ALL\n"
    "  SELECT r.reservation_id FROM reservation r WHERE r.for_tenant IS NOT NULL AND NOT tenant_goes(r.for_tenant))" };

/* A reservation by number has so many machines that work: one that was not heard for $1 seconds, or that is quarantined,
 * gives its place to a ready one of the same zone and flavor that has no window in that time, an empty one first. One that a
 * person named stays. */
#define GONE                                                                                                                 \
    "  FROM reservation r JOIN reservation_machine m ON m.reservation_id = r.reservation_id\n"                               \
    "  JOIN node g ON g.node_id = m.node_id\n"                                                                               \
    " WHERE r.purpose = 'tenant' AND r.flavor <> '' AND r.until_at > now() AND (g.state = 'QUARANTINED' OR\n"                \
    "       (g.state = 'LOST' AND g.last_seen_at < now() - $1 * interval '1 second'))\n"
struct gone { int64_t n; };
SCHEMA_OF(gone, "Machines of reservations that are gone", FIELD(gone, n, 0, .doc = "How many"));
static const struct stmt any_gone = { .name = "reservations_gone", .params = "i", .row = &gone_schema, .card = CARD_ONE,
                                      .sql = "SELECT count(*) AS n" GONE };
struct replaced { struct uuid node_id, reservation_id, lost_id; struct str zone; };
SCHEMA_OF(replaced, "A machine that took a place", FIELD(replaced, node_id, 0, .doc = "Machine"), FIELD(replaced,
    reservation_id, 0, .doc = "Of this reservation"), FIELD(replaced, lost_id, 0, .doc = "Whose place it was"),
    FIELD(replaced, zone, 0, .doc = "Its zone"));
static const struct stmt replace = { .name = "reservations_replace", .params = "i", .row = &replaced_schema,
                                     .card = CARD_MANY, .sql =
    "WITH pick AS MATERIALIZED (\n"
    "  SELECT x.reservation_id, x.lost_id, o.node_id, o.zone FROM (\n"
    "    SELECT r.reservation_id, r.zone, r.flavor, r.from_at, r.until_at, m.node_id AS lost_id" GONE ") x\n"
    "  CROSS JOIN LATERAL (\n"
    "    SELECT n.node_id, n.zone FROM node n\n"
    "     WHERE n.zone = x.zone AND n.flavor = x.flavor AND n.state = 'READY' AND " NODE_STAYS " AND NOT EXISTS (\n"
    "       SELECT FROM reservation_machine y JOIN reservation w ON w.reservation_id = y.reservation_id\n"
    "        WHERE y.node_id = n.node_id AND w.from_at < x.until_at AND w.until_at > greatest(x.from_at, now()))\n"
    "     ORDER BY EXISTS (SELECT FROM machine_hold h WHERE h.node_id = n.node_id), n.node_id LIMIT 1) o\n"
    "   ORDER BY x.from_at, x.reservation_id, x.lost_id LIMIT 1),\n"
    "out AS (DELETE FROM reservation_machine m USING pick p\n"
    "         WHERE m.reservation_id = p.reservation_id AND m.node_id = p.lost_id),\n"
    "into_it AS (INSERT INTO reservation_machine (reservation_id, node_id) SELECT reservation_id, node_id FROM pick)\n"
    "SELECT node_id, reservation_id, lost_id, zone FROM pick" };

const struct stmt *const reservations_stmts[] = { &begin, &end, &purge, &any_gone, &replace, NULL };

static enum errc note(struct work *w, const struct slice *rows, const char *act, struct err *e)
{
    const struct moved *m = rows->items;
    for (size_t i = 0; i < rows->n; i++) {
        struct audit_event ev = audit_event_of(w, AUDIT_NODE_DRAIN);
        ev.resource_kind = STR("node");
        ev.resource_prefix = "nod";
        ev.resource_id = m[i].node_id;
        ev.zone = m[i].zone;
        audit_event_detail(&ev, AUDIT_D_STR("act", str_c(act)));
        if (!uuid_is_nil(m[i].reservation_id))
            audit_event_detail(&ev, AUDIT_D_STR("reservation", id_text(w->arena, "rsv", m[i].reservation_id)));
        TRY(audit_append(w, &ev, e));
        log_event(LOG_INFO, "scheduler.reservation", "node", LOG_ID("nod", m[i].node_id), "act", LOG_S(act), NULL);
    }
    return ERR_OK;
}

/* One after the other, so that no two places get one machine; under the lock that whoever makes a reservation holds. */
static enum errc replace_lost(struct work *w, struct err *e)
{
    struct gone gone;
    TRY(db_one(w->tx, &any_gone, ARGS(A_I64(RESERVATION_LOST_S)), &gone, e));
    if (gone.n)
        plan_turn_take(w->tx);
    for (int64_t i = 0; i < gone.n && i < RESERVATION_REPLACED_MAX; i++) {
        struct slice rows = { 0 };
        TRY(db_many(w->tx, &replace, ARGS(A_I64(RESERVATION_LOST_S)), &rows, 1, e));
        const struct replaced *r = rows.items;
        if (!rows.n)
            return ERR_OK;
        struct audit_event ev = audit_event_of(w, AUDIT_RESERVATION_SET);
        ev.resource_kind = STR("reservation");
        ev.resource_prefix = "rsv";
        ev.resource_id = r->reservation_id;
        ev.zone = r->zone;
        audit_event_detail(&ev, AUDIT_D_STR("act", STR("replace")));
        audit_event_detail(&ev, AUDIT_D_STR("node", id_text(w->arena, "nod", r->node_id)));
        audit_event_detail(&ev, AUDIT_D_STR("lost", id_text(w->arena, "nod", r->lost_id)));
        TRY(audit_append(w, &ev, e));
        log_event(LOG_INFO, "scheduler.reservation", "node", LOG_ID("nod", r->node_id), "act", LOG_S("replace"), NULL);
    }
    return ERR_OK;
}

enum errc reservations_pass(struct work *w, struct err *e)
{
    struct slice rows = { 0 };
    int64_t gone;
    TRY(db_many(w->tx, &begin, NO_ARGS, &rows, MOVES_MAX, e));
    TRY(note(w, &rows, "drain", e));
    TRY(db_many(w->tx, &end, NO_ARGS, &rows, MOVES_MAX, e));
    TRY(note(w, &rows, "undrain", e));
    TRY(replace_lost(w, e));
    return db_exec(w->tx, &purge, ARGS(A_I64(RESERVATION_KEPT_DAYS)), &gone, e);
}
