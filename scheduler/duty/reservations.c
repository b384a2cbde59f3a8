/* SPDX-License-Identifier: Apache-2.0 */
/* reservations.c - a machine says in its reason which reservation drained it, so that what a person ordered meanwhile stays. */
#include "scheduler/duty/reservations.h"
#include "audit/event.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/engine/reservation.h"

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

const struct stmt *const reservations_stmts[] = { &begin, &end, &purge, NULL };

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

enum errc reservations_pass(struct work *w, struct err *e)
{
    struct slice rows = { 0 };
    int64_t gone;
    TRY(db_many(w->tx, &begin, NO_ARGS, &rows, MOVES_MAX, e));
    TRY(note(w, &rows, "drain", e));
    TRY(db_many(w->tx, &end, NO_ARGS, &rows, MOVES_MAX, e));
    TRY(note(w, &rows, "undrain", e));
    return db_exec(w->tx, &purge, ARGS(A_I64(RESERVATION_KEPT_DAYS)), &gone, e);
}
