/* SPDX-License-Identifier: Apache-2.0 */
/* invariants.c - the promises as invariants_check and invariants_quota count them. */
#include "scheduler/invariants.h"
#include "core/db/tx.h"

enum { INVARIANTS_MAX = 64 };

SCHEMA_EXTERN(invariant, "A promise and how often it is broken",
    FIELD(invariant, name, F_ALWAYS, .doc = "Short name"), FIELD(invariant, doc, F_ALWAYS, .doc = "What is promised"),
    FIELD(invariant, violations, 0, .doc = "Rows that break it; anything but 0 is a bug"));

static const struct stmt invariants_read = { .name = "invariants_check", .params = "", .row = &invariant_schema, .card = CARD_MANY, .sql =
    "SELECT name, doc, violations FROM invariants_check() UNION ALL SELECT name, doc, violations FROM invariants_quota() ORDER BY name" };
/* Whole tables are read, so no limit for searches fits: 100 µs a job, ten million in a quarter of an hour. */
static const struct stmt patience = { .name = "invariants_patience", .params = "", .card = CARD_NONE, .sql =
    "SELECT FROM set_config('statement_timeout', '900000', true)" };
const struct stmt *const invariants_stmts[] = { &patience, &invariants_read, NULL };

enum errc invariants_check(struct work *w, struct slice *ret, struct err *e)
{
    int64_t none;
    TRY(db_exec(w->tx, &patience, NO_ARGS, &none, e));
    return db_many(w->tx, &invariants_read, NO_ARGS, ret, INVARIANTS_MAX, e);
}
