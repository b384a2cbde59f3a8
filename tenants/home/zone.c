/* SPDX-License-Identifier: Apache-2.0 */
/* zone.c - zones and their SQL. */
#include "tenants/home/zone.h"
#include "core/db/tx.h"

SCHEMA_EXTERN(zone, "A residency zone",
    FIELD(zone, code, F_ALWAYS, .doc = "Short name, e.g. ae-dxb-1"), FIELD(zone, name, F_ALWAYS, .doc = "Name for people"),
    FIELD(zone, country, F_ALWAYS, .doc = "ISO 3166 country"),
    FIELD(zone, legal_regimes, F_ALWAYS, .doc = "Laws that apply there"),
    FIELD(zone, regulator, F_ALWAYS, .doc = "Who supervises"), FIELD(zone, provider, F_ALWAYS, .doc = "Who runs the machines"),
    FIELD(zone, data_classes, F_ALWAYS, .doc = "Classes of data that may be there"),
    FIELD(zone, law_version, 0, .doc = "Version of its law, see /law"),
    FIELD(zone, created_at, F_ALWAYS, .doc = "When it was created"));

#define ZONE_COLUMNS "code, name, country, to_jsonb(legal_regimes) AS legal_regimes, regulator, provider, to_jsonb(data_classes) AS data_classes, law_version,\n" \
    "       created_at"

static const struct stmt zone_insert = { .name = "zone_insert", .params = "sssS", .row = &zone_schema, .card = CARD_ONE, .sql =
    "INSERT INTO zone (code, name, country, legal_regimes) VALUES ($1, $2, $3, $4) RETURNING " ZONE_COLUMNS };
static const struct stmt zone_get_stmt = { .name = "zone_get", .params = "s", .row = &zone_schema, .card = CARD_ONE, .sql =
    "SELECT " ZONE_COLUMNS " FROM zone WHERE code = $1" };
static const struct stmt zone_list_stmt = { .name = "zone_list", .params = "si", .row = &zone_schema, .card = CARD_MANY, .sql =
    "SELECT " ZONE_COLUMNS " FROM zone WHERE $1::text IS NULL OR code > $1 ORDER BY code LIMIT $2" };

const struct stmt *const zone_stmts[] = { &zone_insert, &zone_get_stmt, &zone_list_stmt, NULL };

enum errc zone_create(struct work *w, struct str code, struct str name, struct str country, struct slice regimes, struct zone *ret,
                      struct err *e)
{
    enum errc rc = db_one(w->tx, &zone_insert, ARGS(A_STR(code), A_STR(name), A_STR(country), A_STRS(regimes.items, regimes.n)), ret, e);
    return rc == ERR_EXISTS ? FAIL_AT(e, EXISTS, "/code", "Zone %.*s already exists", STR_ARG(code)) : rc;
}

enum errc zone_get(struct work *w, struct str code, struct zone *ret, struct err *e)
{
    return db_one(w->tx, &zone_get_stmt, ARGS(A_STR(code)), ret, e);
}

enum errc zone_list(struct work *w, struct str after, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &zone_list_stmt, ARGS(A_STR(after), A_I64(limit)), ret, (size_t)limit, e);
}
