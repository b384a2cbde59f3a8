/* SPDX-License-Identifier: Apache-2.0 */
/* price.c - the price book has no tenant: every tenant is charged by the same one and may read it. */
#include "tenants/accounts/price.h"
#include "core/db/tx.h"
#include "tenants/access/principal.h"

SCHEMA_EXTERN(price, "A price of one flavor from a moment on",
    FIELD_ID(price, price_id, "prc", F_ALWAYS, .doc = "The price"), FIELD(price, flavor, F_ALWAYS, .doc = "Flavor of machine"),
    FIELD(price, valid_from, F_ALWAYS, .doc = "For attempts leased from then on, until the next row"),
    FIELD(price, currency, F_ALWAYS, .doc = "ISO 4217 code"),
    FIELD(price, slot_hour, 0, .doc = "Minor units for a slot and hour"), FIELD(price, gpu_hour, 0, .doc = "Minor units for a GPU and hour"),
    FIELD(price, kwh, 0, .doc = "Minor units for a kWh"), FIELD(price, slot_watts, 0, .doc = "Watts that a booked slot counts for"),
    FIELD(price, gpu_watts, 0, .doc = "Watts that a booked GPU counts for"),
    FIELD(price, created_at, F_ALWAYS, .doc = "When it was entered"));

static const struct stmt price_insert = { .name = "price_insert", .params = "ustsiiiiiu", .row = &price_schema, .card = CARD_ONE, .sql =
    "INSERT INTO price (price_id, flavor, valid_from, currency, slot_hour, gpu_hour, kwh, slot_watts, gpu_watts, created_by)\n"
    "VALUES ($1, $2, coalesce($3, clock_timestamp()), $4, $5, $6, $7, $8, $9, $10) RETURNING " ROW_COLUMNS };
static const struct stmt price_list_stmt = { .name = "price_list", .params = "sui", .row = &price_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM price\n"
    " WHERE ($1::text IS NULL OR flavor = $1) AND ($2::uuid IS NULL OR price_id < $2) ORDER BY price_id DESC LIMIT $3" };

const struct stmt *const price_stmts[] = { &price_insert, &price_list_stmt, NULL };

bool check_currency(struct str s, const char **why)
{
    *why = "be an ISO 4217 code of three capital letters";
    bool ok = s.len == 3;
    for (size_t i = 0; ok && i < s.len; i++)
        ok = s.ptr[i] >= 'A' && s.ptr[i] <= 'Z';
    return ok;
}

bool check_flavor(struct str s, const char **why)
{
    return !s.len || check_slug(s, why);
}

enum errc price_add(struct work *w, const struct price *in, struct price *ret, struct err *e)
{
    if (in->valid_from.us && in->valid_from.us < w->now_us)
        return FAIL_AT(e, INVALID, "/valid_from", "valid_from must be in the future: what was already charged does not change");
    return db_one(w->tx, &price_insert, ARGS(A_UUID(uuid_v7(w->now_us)), A_STR(in->flavor), A_TIME(in->valid_from), A_STR(in->currency),
                  A_I64(in->slot_hour), A_I64(in->gpu_hour), A_I64(in->kwh), A_I64(in->slot_watts), A_I64(in->gpu_watts),
                  A_UUID(w->principal->user_id)), ret, e);
}

enum errc price_list(struct work *w, struct str flavor, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &price_list_stmt, ARGS(A_STR(flavor), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}
