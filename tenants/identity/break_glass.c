/* SPDX-License-Identifier: Apache-2.0 */
/* break_glass.c - the request's subject is the zone's code, so there is one pending request per zone. */
#include "tenants/identity/break_glass.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/home/zone.h"

enum { REQUEST_HOURS = 4 };

struct glass_user { struct uuid user_id; };
SCHEMA_OF(glass_user, "The account behind glass", FIELD(glass_user, user_id, 0, .doc = "The user"));
struct glass_opened { struct uuid user_id; struct timestamp until; };
SCHEMA_OF(glass_opened, "An opened glass", FIELD(glass_opened, user_id, 0, .doc = "The user"), FIELD(glass_opened, until, 0, .doc = "Its end"));

static const struct stmt glass_user_stmt = { .name = "glass_user", .params = "uusu", .row = &glass_user_schema, .card = CARD_ONE,
    .sql =
    "INSERT INTO app_user (tenant_id, user_id, name, created_by) VALUES ($1, $2, $3, $4)\n"
    "ON CONFLICT (tenant_id, name) DO UPDATE SET state = 'ACTIVE', created_by = excluded.created_by RETURNING user_id" };
static const struct stmt glass_unbind = { .name = "glass_unbind", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM role_binding WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt glass_bind = { .name = "glass_bind", .params = "uuussut", .card = CARD_ONE, .sql =
    "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, place, zone, created_by, valid_until)\n"
    "VALUES ($1, $2, $3, $4, 'zone', $5, $6, $7)" };
static const struct stmt glass_insert = { .name = "glass_insert", .params = "uusuuut", .card = CARD_ONE, .sql =
    "INSERT INTO break_glass (tenant_id, approval_id, zone, user_id, requested_by, approved_by, until) VALUES ($1, $2, $3, $4, $5, $6, $7)" };
static const struct stmt glass_open = { .name = "glass_open", .params = "uuut", .row = &glass_opened_schema, .card = CARD_MAYBE, .sql =
    "UPDATE break_glass SET opened_at = $4\n"
    " WHERE tenant_id = $1 AND approval_id = $2 AND requested_by = $3 AND opened_at IS NULL AND until > $4 RETURNING user_id, until" };

const struct stmt *const break_glass_stmts[] = { &glass_user_stmt, &glass_unbind, &glass_bind, &glass_insert, &glass_open, NULL };

/* In the transaction of the second custodian's approval. */
static enum errc execute(struct work *w, const struct approval *a, struct err *e)
{
    struct glass_user user;
    struct timestamp until = { w->now_us + BREAK_GLASS_MINUTES * INT64_C(60000000) };
    TRY(db_one(w->tx, &glass_user_stmt, ARGS(A_UUID(UUID_NIL), A_UUID(uuid_v7(w->now_us)),
               A_STR(str_fmt(w->arena, "break-glass-%.*s", STR_ARG(a->subject))), A_UUID(a->requested_by)), &user, e));
    db_queue(w->tx, &glass_unbind, ARGS(A_UUID(UUID_NIL), A_UUID(user.user_id)), false);
    TRY(db_exec(w->tx, &glass_bind, ARGS(A_UUID(UUID_NIL), A_UUID(uuid_v7(w->now_us)), A_UUID(user.user_id), A_TEXT(role_row(ROLE_ZONE_OPERATOR)->wire),
                A_STR(a->subject), A_UUID(w->principal->user_id), A_TIME(until)), NULL, e));
    return db_exec(w->tx, &glass_insert, ARGS(A_UUID(UUID_NIL), A_UUID(a->approval_id), A_STR(a->subject), A_UUID(user.user_id), A_UUID(a->requested_by),
                   A_UUID(w->principal->user_id), A_TIME(until)), NULL, e);
}

const struct approval_kind break_glass_kind = { "break_glass.open", PERM_KEY_ROOT, 1, REQUEST_HOURS, execute,
    "Open the account behind glass of a zone for an hour (second custodian)" };

enum errc break_glass_request(struct work *w, struct str zone, struct str reason, struct approval *ret, struct err *e)
{
    struct zone z;
    if (!uuid_is_nil(w->tenant_id))
        return FAIL(e, FORBIDDEN, "Only custodians of the platform can open a break-glass account");
    if (zone_get(w, zone, &z, e) != ERR_OK)
        return e->code == ERR_NOT_FOUND ? FAIL_AT(e, UNPROCESSABLE, "/zone", "There is no zone %.*s", STR_ARG(zone)) : e->code;
    return approval_request(w, &break_glass_kind, UUID_NIL, zone, str_fmt(w->arena, "{\"zone\":\"%.*s\",\"minutes\":%d}", STR_ARG(zone), BREAK_GLASS_MINUTES),
                            reason, ret, e);
}

enum errc break_glass_open(struct work *w, struct uuid approval_id, struct uuid *ret_user, int64_t *ret_left_ms, struct err *e)
{
    struct glass_opened g;
    bool found;
    TRY(db_maybe(w->tx, &glass_open, ARGS(A_UUID(UUID_NIL), A_UUID(approval_id), A_UUID(w->principal->user_id), A_TIME_US(w->now_us)), &g, &found, e));
    if (!found)
        return FAIL(e, NOT_FOUND,
            "No approved request of yours is waiting to be opened: it is unknown, not approved yet, or already used");
    *ret_user = g.user_id;
    *ret_left_ms = (g.until.us - w->now_us) / 1000;
    return ERR_OK;
}
