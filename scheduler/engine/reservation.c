/* SPDX-License-Identifier: Apache-2.0 */
/* reservation.c - making one: the planners' lock, then the machines, then their other windows, then the rows. */
#include "scheduler/engine/reservation.h"
#include "core/db/tx.h"
#include "core/redis/wake.h"
#include "scheduler/engines/lent.h"
#include "scheduler/jobs/job.h"
#include "scheduler/plan/reserved_fit.h"
#include "tenants/access/principal.h"

#include <stdio.h>

const char *const reservation_purposes[] = { "maintenance", "tenant", NULL };
const char *const reservation_states[] = { "PLANNED", "ACTIVE", "ENDED", NULL };
enum { FLEET_MAX = 100000, WINDOWS_MAX = 1000000 };
static const int64_t SECOND_US = 1000000, DAY_US = (int64_t)86400 * 1000000;

SCHEMA_EXTERN(reservation_create, "Machines to keep for a window of time",
    FIELD_ENUM(reservation_create, purpose, F_REQ, reservation_purposes,
               .doc = "maintenance: nobody's jobs; tenant: those of tenant_id, of its project_id alone where that is named"),
    FIELD_ID(reservation_create, tenant_id, "tnt", 0, .doc = "Of the purpose tenant: whose jobs the machines are kept for"),
    FIELD_ID(reservation_create, project_id, "prj", 0, .doc = "Only jobs of this project of the tenant"),
    FIELD(reservation_create, from_at, 0, .doc = "When it begins; absent: now"),
    FIELD(reservation_create, until_at, F_REQ, .doc = "When it ends"),
    FIELD_STRS(reservation_create, nodes, F_NOEMPTY, .min = 0, .max = RESERVATION_MACHINES, .example = "w1",
               .doc = "The machines by id or name; or zone, flavor and machines instead"),
    FIELD(reservation_create, zone, 0, .min = 2, .max = 31, .check = check_slug, .doc = "Machines of this zone"),
    FIELD(reservation_create, flavor, 0, .min = 1, .max = 63, .check = check_slug, .doc = "Machines of this flavor"),
    FIELD(reservation_create, machines, 0, .min = 0, .max = RESERVATION_MACHINES, .dflt = "0",
          .doc = "So many of the zone and flavor, whichever are free then"),
    FIELD(reservation_create, reason, 0, .max = 256, .dflt = "", .doc = "Why; shown to staff alone"));

SCHEMA_EXTERN(reservation, "Machines that are kept for a window of time",
    FIELD_ID(reservation, reservation_id, "rsv", F_ALWAYS, .doc = "The reservation"),
    FIELD(reservation, purpose, F_ALWAYS, .doc = "maintenance or tenant"),
    FIELD(reservation, state, F_ALWAYS, .doc = "PLANNED, ACTIVE or ENDED"),
    FIELD_ID(reservation, tenant_id, "tnt", 0, .doc = "Whose jobs the machines are kept for; absent: nobody's"),
    FIELD_ID(reservation, project_id, "prj", 0, .doc = "Of this project alone; absent: of the whole tenant"),
    FIELD(reservation, zone, F_ALWAYS, .doc = "By what the machines were chosen; empty: each was named"),
    FIELD(reservation, flavor, F_ALWAYS, .doc = "By what the machines were chosen; empty: each was named"),
    FIELD(reservation, machines, F_ALWAYS, .doc = "How many machines it has"),
    FIELD_IDS(reservation, node_ids, "nod", F_NOCOL | F_NOEMPTY, .max = RESERVATION_MACHINES,
              .doc = "Its machines; not in lists"),
    FIELD(reservation, from_at, F_ALWAYS, .doc = "When it begins"), FIELD(reservation, until_at, F_ALWAYS, .doc = "When it ends"),
    FIELD(reservation, reason, F_ALWAYS, .doc = "Why"), FIELD(reservation, created_at, F_ALWAYS, .doc = "When it was made"));

static const struct stmt turn = { .name = "reservation_turn", .params = "", .card = CARD_NONE, .sql =
    "SELECT pg_advisory_xact_lock(4630123712)" };       /* plan_apply's */

struct machine { struct uuid node_id; struct str name, zone; };
SCHEMA_OF(machine, "A machine to keep", FIELD(machine, node_id, 0, .doc = "Machine"), FIELD(machine, name, 0, .doc = "Its name"),
    FIELD(machine, zone, 0, .doc = "Its zone"));
struct counted { int64_t n; };
SCHEMA_OF(counted, "A number", FIELD(counted, n, 0, .doc = "How many"));
SCHEMA_OF(reserved, "A window of a machine", FIELD(reserved, node_id, 0, .doc = "Machine"),
    FIELD(reserved, tenant_id, F_NOCOL, .doc = "Not asked"), FIELD(reserved, project_id, F_NOCOL, .doc = "Not asked"),
    FIELD(reserved, from_us, 0, .doc = "From"), FIELD(reserved, until_us, 0, .doc = "Until"));

/* An id in words is its digits behind nod_; whoever names a machine so means no other by its name. */
static const struct stmt machines_named = { .name = "reservation_named", .params = "Si", .row = &machine_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM node\n"
    " WHERE name = ANY ($1) OR 'nod_' || replace(node_id::text, '-', '') = ANY ($1) ORDER BY node_id LIMIT $2" };
static const struct stmt machines_alike = { .name = "reservation_alike", .params = "ssi", .row = &machine_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM node n\n"
    " WHERE zone = $1 AND flavor = $2 AND state IN ('READY', 'DRAINING') AND " NODE_STAYS " ORDER BY node_id LIMIT $3" };
static const struct stmt windows_of = { .name = "reservation_windows", .params = "Uti", .row = &reserved_schema,
    .card = CARD_MANY, .sql =
    "SELECT m.node_id, (extract(epoch FROM r.from_at) * 1000000)::bigint AS from_us,\n"
    "       (extract(epoch FROM r.until_at) * 1000000)::bigint AS until_us\n"
    "  FROM reservation r JOIN reservation_machine m ON m.reservation_id = r.reservation_id\n"
    " WHERE r.until_at > $2 AND m.node_id = ANY ($1) ORDER BY m.node_id, from_us LIMIT $3" };
static const struct stmt open_count = { .name = "reservation_count", .params = "i", .row = &counted_schema, .card = CARD_ONE,
    .sql = "SELECT count(*) AS n FROM (SELECT FROM reservation WHERE until_at > now() LIMIT $1) r" };
/* NULL: no such tenant or project. */
struct outside { bool has_n; int64_t n; };
SCHEMA_OF(outside, "Zones that a tenant may not use", FIELD_OPT(outside, n, 0, .doc = "How many"));
static const struct stmt tenant_ok = { .name = "reservation_tenant", .params = "uuS", .row = &outside_schema, .card = CARD_ONE,
    .sql = "SELECT reservation_for($1, $2, $3) AS n" };
static const struct stmt insert = { .name = "reservation_insert", .params = "usuussttsU", .card = CARD_NONE, .sql =
    "WITH r AS (INSERT INTO reservation (reservation_id, purpose, for_tenant, for_project, zone, flavor, from_at, until_at,\n"
    "                                    reason)\n"
    "           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING reservation_id)\n"
    "INSERT INTO reservation_machine (reservation_id, node_id)\n"
    "SELECT r.reservation_id, m.node_id FROM r, unnest($10) AS m(node_id)" };
#define FROM_RESERVATIONS                                                                                        \
    " FROM (SELECT r.*, r.for_tenant AS tenant_id, r.for_project AS project_id,\n"                               \
    "              CASE WHEN r.until_at <= now() THEN 'ENDED' WHEN r.from_at <= now() THEN 'ACTIVE'\n"            \
    "                   ELSE 'PLANNED' END AS state,\n"                                                            \
    "              (SELECT count(*) FROM reservation_machine m WHERE m.reservation_id = r.reservation_id) AS machines\n" \
    "         FROM reservation r) r WHERE "
static const struct stmt get = { .name = "reservation_get", .params = "u", .row = &reservation_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS FROM_RESERVATIONS "r.reservation_id = $1" };
static const struct stmt get_machines = { .name = "reservation_machines", .params = "ui", .row = &machine_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM reservation_machine JOIN node USING (node_id)\n"
    " WHERE reservation_id = $1 ORDER BY node_id LIMIT $2" };
#define BEHIND                                                                                                   \
    "   AND ($1::uuid IS NULL OR (r.from_at, r.reservation_id) > (SELECT p.from_at, p.reservation_id FROM reservation p\n" \
    "                                                              WHERE p.reservation_id = $1))\n"                \
    "   AND ($3::uuid IS NULL OR EXISTS (SELECT FROM reservation_machine m\n"                                     \
    "                                     WHERE m.reservation_id = r.reservation_id AND m.node_id = $3))\n"        \
    " ORDER BY r.from_at, r.reservation_id LIMIT $2"
static const struct stmt list[] = {
    [RESERVATION_PLANNED] = { .name = "reservation_planned", .params = "uiu", .row = &reservation_schema, .card = CARD_MANY,
        .sql = "SELECT " ROW_COLUMNS FROM_RESERVATIONS "r.from_at > now()\n" BEHIND },
    [RESERVATION_ACTIVE] = { .name = "reservation_active", .params = "uiu", .row = &reservation_schema, .card = CARD_MANY,
        .sql = "SELECT " ROW_COLUMNS FROM_RESERVATIONS "r.from_at <= now() AND r.until_at > now()\n" BEHIND },
    [RESERVATION_ENDED] = { .name = "reservation_ended", .params = "uiu", .row = &reservation_schema, .card = CARD_MANY,
        .sql = "SELECT " ROW_COLUMNS FROM_RESERVATIONS "r.until_at <= now()\n" BEHIND },
    [RESERVATION_OPEN] = { .name = "reservation_open", .params = "uiu", .row = &reservation_schema, .card = CARD_MANY,
        .sql = "SELECT " ROW_COLUMNS FROM_RESERVATIONS "r.until_at > now()\n" BEHIND },
};
static const struct stmt delete = { .name = "reservation_delete", .params = "u", .card = CARD_NONE, .sql =
    "DELETE FROM reservation WHERE reservation_id = $1" };

const struct stmt *const reservation_stmts[] = { &turn, &machines_named, &machines_alike, &windows_of, &open_count,
    &tenant_ok, &insert, &get, &get_machines, &list[0], &list[1], &list[2], &list[3], &delete, NULL };

static enum errc check_times(struct work *w, struct reservation_create *in, struct err *e)
{
    if (!in->from_at.us)
        in->from_at.us = w->now_us;
    if (in->from_at.us < w->now_us - 60 * SECOND_US)
        return FAIL_AT(e, INVALID, "/from_at", "must not lie in the past");
    if (in->until_at.us <= in->from_at.us || in->until_at.us <= w->now_us)
        return FAIL_AT(e, INVALID, "/until_at", "must be later than from_at and than now");
    if (in->until_at.us > w->now_us + RESERVATION_AHEAD_DAYS * DAY_US)
        return FAIL_AT(e, INVALID, "/until_at", "must lie within %d days from now", RESERVATION_AHEAD_DAYS);
    return ERR_OK;
}

static enum errc check_whom(const struct reservation_create *in, struct err *e)
{
    const bool is_tenant = in->purpose == RESERVE_TENANT, is_named = in->nodes.n > 0;
    if (is_tenant == uuid_is_nil(in->tenant_id))
        return FAIL_AT(e, INVALID, "/tenant_id", is_tenant ? "is needed: whose jobs the machines are kept for"
                                                           : "must be left away: maintenance is for nobody's jobs");
    if (!is_tenant && !uuid_is_nil(in->project_id))
        return FAIL_AT(e, INVALID, "/project_id", "must be left away: maintenance is for nobody's jobs");
    if (is_named == (in->machines > 0))
        return FAIL_AT(e, INVALID, "/nodes", "name either machines by nodes, or how many of which zone and flavor");
    if (!is_named && (!in->zone.len || !in->flavor.len))
        return FAIL_AT(e, INVALID, in->zone.len ? "/flavor" : "/zone", "is needed where machines are not named one by one");
    if (is_named && (in->zone.len || in->flavor.len))
        return FAIL_AT(e, INVALID, "/zone", "zone and flavor must be left away where machines are named one by one");
    return ERR_OK;
}

static enum errc check_named(const struct reservation_create *in, const struct machine *m, size_t n, struct err *e)
{
    const struct str *names = in->nodes.items;
    for (size_t i = 0; i < in->nodes.n; i++) {
        size_t found = 0;
        for (size_t k = 0; k < n; k++) {
            char id[4 + UUID_HEX + 1] = "nod_";
            hex_encode(m[k].node_id.b, 16, id + 4);
            found += str_eq(names[i], m[k].name) || str_eq_c(names[i], id);
        }
        char at[32];
        snprintf(at, sizeof at, "/nodes/%zu", i);
        if (!found)
            return FAIL_AT(e, INVALID, at, "no machine has the id or name %.*s", STR_ARG(names[i]));
        if (found > 1)
            return FAIL_AT(e, INVALID, at, "%zu machines are named %.*s; name one by its id", found, STR_ARG(names[i]));
    }
    return ERR_OK;
}

/* The machines that may be taken, by id, and how many of them are wanted. */
static enum errc read_fleet(struct work *w, const struct reservation_create *in, struct slice *ret, size_t *wanted, struct err *e)
{
    if (in->nodes.n) {
        TRY(db_many(w->tx, &machines_named, ARGS(A_STRS(in->nodes.items, in->nodes.n), A_I64(FLEET_MAX)), ret, FLEET_MAX, e));
        *wanted = ret->n;
        return check_named(in, ret->items, ret->n, e);
    }
    TRY(db_many(w->tx, &machines_alike, ARGS(A_STR(in->zone), A_STR(in->flavor), A_I64(FLEET_MAX)), ret, FLEET_MAX, e));
    *wanted = (size_t)in->machines;
    if (ret->n < *wanted)
        return FAIL_AT(e, INVALID, "/machines", "zone %.*s has %zu machines of flavor %.*s, and %zu were asked for",
                       STR_ARG(in->zone), ret->n, STR_ARG(in->flavor), *wanted);
    return ERR_OK;
}

static enum errc check_tenant(struct work *w, const struct reservation_create *in, const struct machine *m, size_t n,
                              struct err *e)
{
    struct outside outside;
    if (in->purpose != RESERVE_TENANT)
        return ERR_OK;
    TRY(db_one(w->tx, &tenant_ok, ARGS(A_UUID(in->tenant_id), A_UUID_OR_NULL(in->project_id), A_STRS_OF(m, n, zone)), &outside,
               e));
    if (!outside.has_n)
        return FAIL_AT(e, INVALID, uuid_is_nil(in->project_id) ? "/tenant_id" : "/project_id",
                       "there is no such tenant or project, or the tenant is not active");
    if (outside.n)
        return FAIL_AT(e, INVALID, in->nodes.n ? "/nodes" : "/zone", "%ld of these machines stand in zones that the "
                       "tenant may not use, where none of its jobs would start", (long)outside.n);
    return ERR_OK;
}

static struct str minute_of(struct arena *a, int64_t us)
{
    char text[TIME_TEXT];
    time_text((us + 60 * SECOND_US - 1) / (60 * SECOND_US) * (60 * SECOND_US), text);
    return str_dup(a, str_c(text));
}

/* Those without another window then, as many as are wanted; else when there are so many next. */
static enum errc choose(struct work *w, const struct reservation_create *in, const struct machine *m, size_t n, size_t wanted,
                        struct uuid *ret, struct err *e)
{
    struct slice rows = { 0 };
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    bool *is_taken = ARENA_ARRAY(w->arena, bool, n + 1);
    int64_t next_us;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        ids[i] = m[i].node_id;
    TRY(db_many(w->tx, &windows_of, ARGS(A_UUIDS(ids, n), A_TIME(in->from_at), A_I64(WINDOWS_MAX)), &rows, WINDOWS_MAX, e));
    const struct reserved_ask q = { ids, n, rows.items, rows.n, in->from_at.us, in->until_at.us };
    const size_t free = reserved_free(&q, is_taken);
    if (free < wanted) {
        (void)reserved_next(&q, wanted, w->arena, &next_us);    /* there are so many */
        const struct str next = minute_of(w->arena, next_us);
        return FAIL(e, CONFLICT, "%zu machines are wanted; of %zu, %zu are in other reservations in that time and %zu are "
                    "left. The next window of that length in which they are free begins at %.*s",
                    wanted, n, n - free, free, STR_ARG(next));
    }
    for (size_t i = 0; i < n && k < wanted; i++)
        if (!is_taken[i])
            ret[k++] = ids[i];
    return ERR_OK;
}

static void wake(void *redis)
{
    wake_publish(redis, STR(WAKE_SCHEDULER), STR("1"));
}

enum errc reservation_make(struct work *w, const struct reservation_create *in_, struct reservation *ret, struct err *e)
{
    struct reservation_create in = *in_;
    struct slice fleet = { 0 };
    struct counted open;
    size_t wanted = 0;
    TRY(check_times(w, &in, e));
    TRY(check_whom(&in, e));
    db_queue(w->tx, &turn, NO_ARGS, false);
    TRY(db_one(w->tx, &open_count, ARGS(A_I64(RESERVATIONS_MAX)), &open, e));
    if (open.n >= RESERVATIONS_MAX)
        return FAIL(e, LIMIT, "There are %d reservations that have not ended; remove one first", RESERVATIONS_MAX);
    TRY(read_fleet(w, &in, &fleet, &wanted, e));
    TRY(check_tenant(w, &in, fleet.items, fleet.n, e));
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, wanted + 1), id = uuid_v7(w->now_us);
    TRY(choose(w, &in, fleet.items, fleet.n, wanted, ids, e));
    const struct str none = STR("");
    int64_t rows;
    TRY(db_exec(w->tx, &insert, ARGS(A_UUID(id), A_TEXT(reservation_purposes[in.purpose]), A_UUID_OR_NULL(in.tenant_id),
                A_UUID_OR_NULL(in.project_id), A_STR(in.zone.ptr ? in.zone : none), A_STR(in.flavor.ptr ? in.flavor : none),
                A_TIME(in.from_at), A_TIME(in.until_at), A_STR(in.reason), A_UUIDS(ids, wanted)), &rows, e));
    db_after_commit(w->tx, wake, w->app->redis);
    return reservation_get(w, id, ret, e);
}

enum errc reservation_get(struct work *w, struct uuid id, struct reservation *ret, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_one(w->tx, &get, ARGS(A_UUID(id)), ret, e));
    TRY(db_many(w->tx, &get_machines, ARGS(A_UUID(id), A_I64(RESERVATION_MACHINES)), &rows, RESERVATION_MACHINES, e));
    const struct machine *m = rows.items;
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        ids[i] = m[i].node_id;
    ret->node_ids = (struct slice){ ids, rows.n };
    return ERR_OK;
}

enum errc reservation_list(struct work *w, enum reservation_state state, struct uuid node_id, struct uuid after, int64_t limit,
                           struct slice *ret, struct err *e)
{
    return db_many(w->tx, &list[state], ARGS(A_UUID_OR_NULL(after), A_I64(limit), A_UUID_OR_NULL(node_id)), ret,
                   (size_t)limit, e);
}

enum errc reservation_remove(struct work *w, struct uuid id, struct reservation *ret, struct err *e)
{
    int64_t n;
    db_queue(w->tx, &turn, NO_ARGS, false);
    TRY(reservation_get(w, id, ret, e));
    TRY(db_exec(w->tx, &delete, ARGS(A_UUID(id)), &n, e));
    db_after_commit(w->tx, wake, w->app->redis);
    return n ? ERR_OK : FAIL(e, NOT_FOUND, "There is no such object");
}
