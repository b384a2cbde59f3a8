/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - budgets as their owners see them. The sums come from the function budget_now, which is also what refuses
 * submissions, so what is shown is what binds. The forecast is linear: what was used so far, spread over the whole period. */
#include "tenants/accounts/budget.h"
#include "core/db/tx.h"
#include "tenants/access/principal.h"

const char *const budget_measure_names[] = { "money", "gpu_hours", "kwh", NULL };
const char *const budget_period_names[] = { "month", "total", NULL };

SCHEMA_EXTERN(budget, "A budget and where it stands",
    FIELD_ID(budget, budget_id, "bdg", F_ALWAYS, .doc = "The budget"),
    FIELD_ID(budget, project_id, "prj", 0, .doc = "Its project; absent: the whole tenant"),
    FIELD(budget, name, F_ALWAYS, .doc = "Name, unique in the tenant"),
    FIELD(budget, measure, F_ALWAYS, .doc = "money, gpu_hours or kwh"),
    FIELD(budget, amount, 0, .doc = "Minor units, hours or kWh"),
    FIELD(budget, currency, F_ALWAYS, .doc = "ISO 4217 code; empty unless money"),
    FIELD(budget, period, F_ALWAYS, .doc = "month (calendar, UTC) or total"),
    FIELD(budget, warn_percent, F_ALWAYS, .doc = "Thresholds that are told of"),
    FIELD_OPT(budget, stop_percent, F_NULLOUT, .doc = "Threshold that stops; null: only warns"),
    FIELD(budget, reserve, 0, .doc = "A job is accepted only if the most it can take still fits"),
    FIELD(budget, state, F_ALWAYS, .doc = "OPEN, or STOPPED: submissions are refused and waiting jobs held"),
    FIELD(budget, warned_percent, 0, .doc = "Highest threshold passed in this period"),
    FIELD(budget, used, 0, .doc = "By ended and live attempts, in the unit of amount"), FIELD(budget, running, 0, .doc = "The live attempts' part"),
    FIELD(budget, reserved, 0, .doc = "Promised to live jobs, if it reserves"),
    FIELD(budget, forecast, 0, .doc = "At the end of the month if it goes on like this; of a total: the same as used"),
    FIELD(budget, period_start, F_ALWAYS, .doc = "Since when it counts"),
    FIELD(budget, version, 0, .doc = "Grows with every change by a person"),
    FIELD(budget, created_at, F_ALWAYS, .doc = "When it was made"));

#define BUDGET_COLUMNS                                                                                                                  \
    "b.budget_id, b.project_id, b.name, b.measure, b.amount, b.currency, b.period, to_jsonb(b.warn_percent) AS warn_percent,\n"          \
    "       b.stop_percent, b.reserve, b.state, b.warned AS warned_percent, (n.settled + n.running)::float8 / u.unit AS used,\n"         \
    "       n.running::float8 / u.unit AS running, n.reserved::float8 / u.unit AS reserved,\n"                                           \
    "       (n.settled + n.running)::float8 / u.unit * CASE b.period WHEN 'total' THEN 1 ELSE\n"                                         \
    "         extract(epoch FROM n.starts + interval '1 month' - n.starts)::float8 / greatest(3600, extract(epoch FROM now() - n.starts)::float8)\n" \
    "       END AS forecast, n.starts AS period_start, b.version, b.created_at\n"                                                        \
    "  FROM budget_now($1) n JOIN budget b ON b.tenant_id = n.tenant_id AND b.budget_id = n.budget_id\n"                                 \
    "  CROSS JOIN LATERAL (SELECT budget_unit(b.measure)::float8 AS unit) u\n"

static const struct stmt budget_insert = { .name = "budget_insert", .params = "uuussissIibu", .card = CARD_NONE, .sql =
    "INSERT INTO budget (tenant_id, budget_id, project_id, name, measure, amount, currency, period, warn_percent, stop_percent, reserve,\n"
    "                    created_by, period_start)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, CASE WHEN $8 = 'month' THEN date_trunc('month', now(), 'UTC') ELSE now() END)" };
static const struct stmt budget_get_stmt = { .name = "budget_get", .params = "uu", .row = &budget_schema, .card = CARD_ONE, .sql =
    "SELECT " BUDGET_COLUMNS " WHERE b.tenant_id = $1 AND b.budget_id = $2" };
static const struct stmt budget_list_stmt = { .name = "budget_list", .params = "uui", .row = &budget_schema, .card = CARD_MANY, .sql =
    "SELECT " BUDGET_COLUMNS " WHERE b.tenant_id = $1 AND ($2::uuid IS NULL OR b.budget_id < $2) ORDER BY b.budget_id DESC LIMIT $3" };
static const struct stmt budget_update = { .name = "budget_update", .params = "uuibibIi", .card = CARD_NONE, .sql =
    "UPDATE budget SET amount = CASE WHEN $3 > 0 THEN $3 ELSE amount END,\n"
    "       stop_percent = CASE WHEN $4 THEN nullif($5, 0) ELSE stop_percent END,\n"
    "       warn_percent = CASE WHEN $6 THEN $7::bigint[] ELSE warn_percent END, warned = 0, version = version + 1\n"
    " WHERE tenant_id = $1 AND budget_id = $2 AND ($8 < 0 OR version = $8)" };
static const struct stmt budget_remove = { .name = "budget_delete", .params = "uui", .card = CARD_NONE, .sql =
    "DELETE FROM budget WHERE tenant_id = $1 AND budget_id = $2 AND ($3 < 0 OR version = $3)" };

const struct stmt *const budget_stmts[] = { &budget_insert, &budget_get_stmt, &budget_list_stmt, &budget_update, &budget_remove, NULL };

static enum errc check_warn(struct slice list, struct err *e)
{
    const int64_t *p = list.items;
    for (size_t i = 0; i < list.n; i++)
        if (p[i] < 1 || p[i] > 1000 || (i && p[i] <= p[i - 1]))
            return FAIL_AT(e, INVALID, "/warn_percent", "Thresholds must be 1 to 1000 percent, in ascending order");
    return ERR_OK;
}

enum errc budget_create(struct work *w, const struct budget_new *in, struct budget *ret, struct err *e)
{
    static const int64_t usual[] = { 80, 100 };
    struct uuid id = uuid_v7(w->now_us);
    const bool is_money = in->measure == 0;
    if (is_money != (in->currency.len > 0))
        return FAIL_AT(e, INVALID, "/currency",
            is_money ? "A budget in money needs a currency" : "Only a budget in money has a currency");
    TRY(check_warn(in->warn_percent, e));
    const int64_t *warn = in->warn_percent.n ? in->warn_percent.items : usual;
    size_t n = in->warn_percent.n ? in->warn_percent.n : 2;
    TRY(db_exec(w->tx, &budget_insert, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_UUID_OR_NULL(in->project_id), A_STR(in->name),
                A_TEXT(budget_measure_names[in->measure]), A_I64(in->amount), A_STR(in->currency), A_TEXT(budget_period_names[in->period]),
                A_I64S(warn, n), in->has_stop_percent ? A_I64(in->stop_percent) : A_NULL('i'), A_BOOL(in->reserve),
                A_UUID(w->principal->user_id)), NULL, e));
    return budget_get(w, id, ret, e);
}

enum errc budget_get(struct work *w, struct uuid budget_id, struct budget *ret, struct err *e)
{
    return db_one(w->tx, &budget_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(budget_id)), ret, e);
}

enum errc budget_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &budget_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

/* Why a change touched no row. */
static enum errc not_changed(struct work *w, struct uuid budget_id, int64_t expected, struct err *e)
{
    struct budget b;
    TRY(budget_get(w, budget_id, &b, e));
    return FAIL(e, PRECONDITION, "The budget has changed since it was read (version %ld, not %ld)", (long)b.version, (long)expected);
}

enum errc budget_set(struct work *w, struct uuid budget_id, const struct budget_change *in, int64_t expected_version, struct budget *ret,
                     struct err *e)
{
    int64_t rows = 0;
    TRY(check_warn(in->warn_percent, e));
    TRY(db_exec(w->tx, &budget_update, ARGS(A_UUID(w->tenant_id), A_UUID(budget_id), A_I64(in->amount), A_BOOL(in->has_stop_percent),
                A_I64(in->stop_percent), A_BOOL(in->warn_percent.n > 0), A_I64S((const int64_t *)in->warn_percent.items, in->warn_percent.n),
                A_I64(expected_version)), &rows, e));
    return rows ? budget_get(w, budget_id, ret, e) : not_changed(w, budget_id, expected_version, e);
}

enum errc budget_delete(struct work *w, struct uuid budget_id, int64_t expected_version, struct err *e)
{
    int64_t rows = 0;
    TRY(db_exec(w->tx, &budget_remove, ARGS(A_UUID(w->tenant_id), A_UUID(budget_id), A_I64(expected_version)), &rows, e));
    return rows ? ERR_OK : not_changed(w, budget_id, expected_version, e);
}
