/* SPDX-License-Identifier: Apache-2.0 */
/* join_token.c - join tokens and their SQL. */
#include "scheduler/engine/join_token.h"
#include "core/db/tx.h"
#include "tenants/access/principal.h"

SCHEMA_EXTERN(join_token, "The right to enrol machines, without its secret",
    FIELD_ID(join_token, join_token_id, "jtk", F_ALWAYS, .doc = "The join token"),
    FIELD(join_token, zone, F_ALWAYS, .doc = "Zone of the machines"),
    FIELD(join_token, pool, F_ALWAYS, .doc = "Pool of the machines"),
    FIELD(join_token, node_name, 0, .doc = "The one machine it is for; absent: any whose name is not taken"),
    FIELD(join_token, hint, F_ALWAYS, .doc = "Its last characters"),
    FIELD(join_token, cidrs, F_ALWAYS, .doc = "Networks it is taken from; empty: any"),
    FIELD(join_token, uses, 0, .doc = "Machines it enrols"), FIELD(join_token, used, 0, .doc = "Machines it has enrolled"),
    FIELD(join_token, expires_at, F_ALWAYS, .doc = "When it ends"),
    FIELD(join_token, revoked_at, 0, .doc = "When it was withdrawn"),
    FIELD(join_token, last_used_at, 0, .doc = "When it was last used"),
    FIELD_ID(join_token, created_by, "usr", F_ALWAYS, .doc = "Who made it"),
    FIELD(join_token, created_at, F_ALWAYS, .doc = "When it was made"));

#define JOIN_COLUMNS                                                                                                     \
    "join_token_id, zone, pool, node_name, hint, to_jsonb(cidrs::text[]) AS cidrs, uses, used, expires_at, revoked_at, " \
    "last_used_at, created_by, created_at"

static const struct stmt join_insert = { .name = "join_insert", .params = "usssysSitu", .row = &join_token_schema, .card = CARD_ONE, .sql =
    "INSERT INTO join_token (join_token_id, zone, pool, node_name, hash, hint, cidrs, uses, expires_at, created_by)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7::text[]::cidr[], $8, $9, $10) RETURNING " JOIN_COLUMNS };
static const struct stmt join_list = { .name = "join_list", .params = "ssui", .row = &join_token_schema, .card = CARD_MANY, .sql =
    "SELECT " JOIN_COLUMNS " FROM join_token\n"
    " WHERE ($1::text IS NULL OR zone = $1) AND ($2::text IS NULL OR pool = $2) AND ($3::uuid IS NULL OR join_token_id < $3)\n"
    " ORDER BY join_token_id DESC LIMIT $4" };
static const struct stmt join_get = { .name = "join_get", .params = "u", .row = &join_token_schema, .card = CARD_ONE, .sql =
    "SELECT " JOIN_COLUMNS " FROM join_token WHERE join_token_id = $1" };
static const struct stmt join_revoke = { .name = "join_revoke", .params = "u", .row = &join_token_schema, .card = CARD_ONE, .sql =
    "UPDATE join_token SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE join_token_id = $1 RETURNING " JOIN_COLUMNS };
static const struct stmt join_take = { .name = "join_take", .params = "yss", .row = &join_token_schema, .card = CARD_MAYBE, .sql =
    "UPDATE join_token SET used = used + 1, last_used_at = clock_timestamp()\n"
    " WHERE hash = $1 AND revoked_at IS NULL AND used < uses AND expires_at > clock_timestamp()\n"
    "   AND (node_name IS NULL OR node_name = $2) AND (cidrs = '{}' OR $3::inet <<= ANY (cidrs))\n"
    "RETURNING " JOIN_COLUMNS };

static const struct stmt join_by_hash = { .name = "join_by_hash", .params = "y", .row = &join_token_schema, .card = CARD_MAYBE, .sql =
    "SELECT " JOIN_COLUMNS " FROM join_token WHERE hash = $1" };

const struct stmt *const join_token_stmts[] = { &join_insert, &join_list, &join_get, &join_revoke, &join_take, &join_by_hash, NULL };

enum errc join_token_create(struct work *w, const struct join_token_new *n, struct join_token *ret, char *text, struct err *e)
{
    uint8_t hash[32];
    TRY(token_make("join", text, e));
    struct str token = str_c(text);
    token_hash(token, hash);
    struct str hint = str_fmt(w->arena, "…%.*s", 4, token.ptr + token.len - 4);
    return db_one(w->tx, &join_insert, ARGS(A_UUID(uuid_v7(w->now_us)), A_STR(n->zone), A_STR(n->pool), A_STR(n->node_name), A_BYTES(hash, 32),
        A_STR(hint), A_STRS(n->cidrs.items, n->cidrs.n), A_I64(n->uses), A_TIME_US(w->now_us + n->minutes * INT64_C(60000000)),
        A_UUID(w->principal->user_id)), ret, e);
}

enum errc join_token_list(struct work *w, struct str zone, struct str pool, struct uuid position, int64_t limit, struct slice *ret,
                          struct err *e)
{
    return db_many(w->tx, &join_list, ARGS(A_STR(zone), A_STR(pool), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc join_token_get(struct work *w, struct uuid id, struct join_token *ret, struct err *e)
{
    return db_one(w->tx, &join_get, ARGS(A_UUID(id)), ret, e);
}

enum errc join_token_revoke(struct work *w, struct uuid id, struct err *e)
{
    struct join_token row;
    return db_one(w->tx, &join_revoke, ARGS(A_UUID(id)), &row, e);
}

enum errc join_token_take(struct work *w, struct str text, struct str node_name, struct join_token *ret, struct err *e)
{
    struct str kind;
    uint8_t hash[32];
    bool found = false;
    struct str address = str_starts(w->source_ip, "::ffff:") && memchr(w->source_ip.ptr, '.', w->source_ip.len)
                         ? str_n(w->source_ip.ptr + 7, w->source_ip.len - 7) : w->source_ip;
    if (token_check(text, &kind) && str_eq_c(kind, "join")) {
        token_hash(text, hash);
        TRY(db_maybe(w->tx, &join_take, ARGS(A_BYTES(hash, 32), A_STR(node_name), A_STR(address)), ret, &found, e));
    }
    return found ? ERR_OK : FAIL(e, UNAUTHENTICATED, "The join token is not known here, for this machine, or any more");
}

const char *join_token_why(struct work *w, struct str text, struct str node_name, struct str zone, struct str pool, struct uuid *ret_id)
{
    struct str kind;
    uint8_t hash[32];
    struct join_token t;
    struct err e;
    bool found = false;
    *ret_id = UUID_NIL;
    if (!token_check(text, &kind) || !str_eq_c(kind, "join"))
        return "malformed";
    token_hash(text, hash);
    if (db_maybe(w->tx, &join_by_hash, ARGS(A_BYTES(hash, 32)), &t, &found, &e) != ERR_OK || !found)
        return "unknown";
    *ret_id = t.join_token_id;
    if (t.revoked_at.us)
        return "revoked";
    if (t.expires_at.us <= w->now_us)
        return "expired";
    if (t.node_name.ptr && !str_eq(t.node_name, node_name))
        return "name";
    if ((zone.ptr && !str_eq(zone, t.zone)) || (pool.ptr && !str_eq(pool, t.pool)))
        return "place";
    return t.used >= t.uses ? "used" : "address";
}
