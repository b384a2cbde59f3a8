/* SPDX-License-Identifier: Apache-2.0 */
/* legal_clock.c - one row a clock; its state is told from the row and the time. */
#include "tenants/home/legal_clock.h"
#include "core/db/tx.h"
#include "tenants/access/principal.h"

const char *const legal_clock_kinds[] = { "access", "erasure", "rectification", "objection", "breach", "retention", NULL };
const char *const legal_clock_states[] = { "OPEN", "OVERDUE", "CLOSED", NULL };

/* The zone's clock of a kind bears the kind's name, or this one for all kinds of its sort. */
static const char *const law_names[] = { "dsar", "dsar", "dsar", "dsar", "breach-notify", "retention" };

SCHEMA_EXTERN(legal_clock, "A term that a law sets",
    FIELD_ID(legal_clock, clock_id, "clk", F_ALWAYS, .doc = "The clock"),
    FIELD(legal_clock, kind, F_ALWAYS, .doc = "access, erasure, rectification, objection, breach or retention"),
    FIELD(legal_clock, state, F_ALWAYS, .doc = "OPEN, OVERDUE or CLOSED"),
    FIELD(legal_clock, zone, F_ALWAYS, .doc = "Under the law of this zone"),
    FIELD(legal_clock, reference, F_ALWAYS, .doc = "What it runs for: the number of a case"),
    FIELD(legal_clock, law, F_ALWAYS, .doc = "What sets the term, as it stood at the opening; empty: not told"),
    FIELD(legal_clock, opened_at, F_ALWAYS, .doc = "When the term began"),
    FIELD(legal_clock, due_at, F_ALWAYS, .doc = "When it ends, with its extension"),
    FIELD(legal_clock, first_due_at, F_ALWAYS, .doc = "When it would end without one"),
    FIELD_ID(legal_clock, opened_by, "usr", F_ALWAYS, .doc = "Who opened it"),
    FIELD(legal_clock, extended_at, 0, .doc = "When it was extended; absent: never"),
    FIELD(legal_clock, extension_reason, 0, .max = 1024, .doc = "Why it was extended"),
    FIELD(legal_clock, closed_at, 0, .doc = "When it was closed; absent: it runs"),
    FIELD_ID(legal_clock, closed_by, "usr", 0, .doc = "Who closed it"),
    FIELD(legal_clock, note, 0, .max = 1024, .doc = "How it ended"));

struct law_term { struct str regime, source_text; int64_t hours; bool has_hours; };
SCHEMA_OF(law_term, "The term of a zone's law", FIELD(law_term, regime, 0, .doc = "The law"),
    FIELD(law_term, source_text, 0, .doc = "Where it stands"),
    FIELD_OPT(law_term, hours, 0, .doc = "How long; absent: no number"));
struct open_count { int64_t clocks; };
SCHEMA_OF(open_count, "How many clocks run", FIELD(open_count, clocks, 0, .doc = "Clocks that are not closed"));
struct clock_ref { struct uuid clock_id; };
SCHEMA_OF(clock_ref, "Which clock", FIELD(clock_ref, clock_id, 0, .doc = "The clock"));

#define FROM_CLOCKS                                                                                              \
    " FROM legal_clock CROSS JOIN LATERAL (SELECT CASE WHEN closed_at IS NOT NULL THEN 'CLOSED'\n"               \
    "   WHEN due_at < now() THEN 'OVERDUE' ELSE 'OPEN' END AS state) s WHERE tenant_id = $1"
#define BEHIND                                                                                                   \
    "   AND ($3::uuid IS NULL OR (due_at, clock_id) > (SELECT p.due_at, p.clock_id FROM legal_clock p\n"         \
    "                                                  WHERE p.tenant_id = $1 AND p.clock_id = $3))\n"           \
    " ORDER BY due_at, clock_id LIMIT $4"

/* Of several laws the shortest term counts, of retentions ($5) the longest. */
static const struct stmt term_find = { .name = "legal_clock_term", .params = "ssstb", .row = &law_term_schema,
    .card = CARD_ONE, .sql =
    "SELECT c.regime, c.source_text, c.hours FROM zone z LEFT JOIN LATERAL (\n"
    "  SELECT k.regime, k.source_text, k.hours FROM zone_clock k\n"
    "   WHERE k.zone = z.code AND k.version = z.law_version AND k.name IN ($2, $3) AND k.hours IS NOT NULL\n"
    "     AND k.valid_from <= $4 AND (k.valid_to IS NULL OR k.valid_to > $4)\n"
    "   ORDER BY k.name = $2 DESC, CASE WHEN $5 THEN -k.hours ELSE k.hours END, k.n LIMIT 1) c ON true WHERE z.code = $1" };
static const struct stmt open_count = { .name = "legal_clock_count", .params = "ui", .row = &open_count_schema,
    .card = CARD_ONE, .sql =
    "SELECT count(*) AS clocks FROM (SELECT FROM legal_clock WHERE tenant_id = $1 AND closed_at IS NULL LIMIT $2) c" };
static const struct stmt clock_open = { .name = "legal_clock_open", .params = "uussssttu", .row = &clock_ref_schema,
    .card = CARD_ONE, .sql =
    "INSERT INTO legal_clock (tenant_id, clock_id, kind, zone, reference, law, opened_at, first_due_at, due_at, opened_by)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9) RETURNING clock_id" };
static const struct stmt clock_get = { .name = "legal_clock_get", .params = "uu", .row = &legal_clock_schema,
    .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS FROM_CLOCKS " AND clock_id = $2" };
static const struct stmt clock_lock = { .name = "legal_clock_lock", .params = "uu", .card = CARD_NONE, .sql =
    "SELECT FROM legal_clock WHERE tenant_id = $1 AND clock_id = $2 FOR UPDATE" };
static const struct stmt list_all = { .name = "legal_clock_list", .params = "usui", .row = &legal_clock_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS FROM_CLOCKS " AND ($2::text IS NULL OR state = $2)\n" BEHIND };
/* Of those that run alone, which are few beside what was closed in years. */
static const struct stmt list_open = { .name = "legal_clock_list_open", .params = "usui", .row = &legal_clock_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS FROM_CLOCKS " AND closed_at IS NULL AND (due_at < now()) = ($2 = 'OVERDUE')\n" BEHIND };
static const struct stmt clock_extend = { .name = "legal_clock_extend", .params = "uuts", .card = CARD_NONE, .sql =
    "UPDATE legal_clock SET due_at = $3, extended_at = clock_timestamp(), extension_reason = $4, told = 0\n"
    " WHERE tenant_id = $1 AND clock_id = $2 AND closed_at IS NULL AND extended_at IS NULL" };
static const struct stmt clock_close = { .name = "legal_clock_close", .params = "uuus", .card = CARD_NONE, .sql =
    "UPDATE legal_clock SET closed_at = clock_timestamp(), closed_by = $3, note = $4\n"
    " WHERE tenant_id = $1 AND clock_id = $2 AND closed_at IS NULL" };

const struct stmt *const legal_clock_stmts[] = { &term_find, &open_count, &clock_open, &clock_get, &clock_lock,
                                                 &list_all, &list_open, &clock_extend, &clock_close, NULL };

SCHEMA_OF(legal_clock_untold, "A clock that nobody was told of", FIELD(legal_clock_untold, clock_id, 0, .doc = "The clock"),
    FIELD(legal_clock_untold, kind, 0, .doc = "Its kind"), FIELD(legal_clock_untold, reference, 0, .doc = "The case"),
    FIELD(legal_clock_untold, due_at, 0, .doc = "When it is due"));
/* Soon: a week before, or with a quarter of the term left where that is later (of 72 hours, the last 18). */
static const struct stmt clock_untold = { .name = "legal_clock_untold", .params = "uii", .row = &legal_clock_untold_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM legal_clock WHERE tenant_id = $1 AND closed_at IS NULL AND told < 2 AND told < $2\n"
    "   AND CASE WHEN $2 = 2 THEN due_at <= now() ELSE due_at > now() AND due_at <= now() + interval '7 days'\n"
    "            AND due_at - (due_at - opened_at) / 4 <= now() END\n"
    " ORDER BY due_at LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED" };
static const struct stmt clock_told = { .name = "legal_clock_told", .params = "uUi", .card = CARD_NONE, .sql =
    "UPDATE legal_clock SET told = $3 WHERE tenant_id = $1 AND clock_id = ANY ($2)" };

const struct stmt *const legal_clock_daemon_stmts[] = { &clock_untold, &clock_told, NULL };

static const int64_t HOUR_US = 3600000000;

/* As how many whole months a law may have said these hours; 0: none. */
static int months_of(int64_t hours)
{
    enum { YEAR = 365 * 24, MONTH = 730, SHORT = 28 * 24, LONG = 31 * 24 };
    if (hours % YEAR == 0)
        return (int)(hours / YEAR * 12);
    const int64_t n = (hours + MONTH / 2) / MONTH;
    return n >= 1 && n <= 12 && hours >= n * SHORT && hours <= n * LONG ? (int)n : 0;
}

int64_t legal_clock_due(int kind, int64_t opened_us, int64_t hours)
{
    const int64_t by_hours = opened_us + hours * HOUR_US;
    const int months = months_of(hours);
    if (!months)
        return by_hours;
    const int64_t by_months = time_add_months(opened_us, months);
    return (by_months < by_hours) == (kind != LCK_RETENTION) ? by_months : by_hours;
}

/* The term by the zone's law into due_at and law, or the caller's own where that names none. */
static enum errc term(struct work *w, struct legal_clock_new *in, struct err *e)
{
    struct law_term t;
    enum errc rc = db_one(w->tx, &term_find, ARGS(A_STR(in->zone), A_STR(str_c(legal_clock_kinds[in->kind])),
                                                  A_STR(str_c(law_names[in->kind])), A_TIME(in->opened_at),
                                                  A_BOOL(in->kind == LCK_RETENTION)), &t, e);
    if (rc != ERR_OK)
        return rc == ERR_NOT_FOUND ? FAIL_AT(e, UNPROCESSABLE, "/zone", "There is no zone %.*s", STR_ARG(in->zone)) : rc;
    if (!t.has_hours) {
        if (!in->due_at.us)
            return FAIL_AT(e, UNPROCESSABLE, "/due_at",
                           "The law of zone %.*s names no term of this kind; give the moment that it is due", STR_ARG(in->zone));
        if (in->due_at.us <= in->opened_at.us || in->due_at.us > time_add_months(in->opened_at.us, 12 * 100))
            return FAIL_AT(e, UNPROCESSABLE, "/due_at", "A clock is due after it was opened, and within 100 years");
        return ERR_OK;
    }
    if (in->due_at.us)
        return FAIL_AT(e, UNPROCESSABLE, "/due_at", "The law of zone %.*s sets this term (%.*s); leave due_at out",
                       STR_ARG(in->zone), STR_ARG(t.regime));
    if (in->law.len)
        return FAIL_AT(e, UNPROCESSABLE, "/law", "The law of zone %.*s sets this term (%.*s); leave law out",
                       STR_ARG(in->zone), STR_ARG(t.regime));
    in->due_at.us = legal_clock_due(in->kind, in->opened_at.us, t.hours);
    in->law = str_fmt(w->arena, "%.*s: %.*s", STR_ARG(t.regime), STR_ARG(t.source_text));
    return ERR_OK;
}

enum errc legal_clock_open(struct work *w, const struct legal_clock_new *asked, struct legal_clock *ret, struct err *e)
{
    struct legal_clock_new in = *asked;
    struct open_count n;
    struct clock_ref ref;
    if (!in.opened_at.us)
        in.opened_at.us = w->now_us;
    if (in.opened_at.us < 0 || in.opened_at.us > w->now_us)
        return FAIL_AT(e, UNPROCESSABLE, "/opened_at", "A clock is opened since 1970, and not in the future");
    TRY(term(w, &in, e));
    TRY(db_one(w->tx, &open_count, ARGS(A_UUID(w->tenant_id), A_I64(LEGAL_CLOCKS_OPEN)), &n, e));
    if (n.clocks >= LEGAL_CLOCKS_OPEN)
        return FAIL(e, LIMIT, "At most %d legal clocks run at a time; close some first", LEGAL_CLOCKS_OPEN);
    TRY(db_one(w->tx, &clock_open, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)),
                                        A_STR(str_c(legal_clock_kinds[in.kind])), A_STR(in.zone), A_STR(in.reference),
                                        A_STR(in.law.ptr ? in.law : STR("")), A_TIME(in.opened_at), A_TIME(in.due_at),
                                        A_UUID(w->principal->user_id)), &ref, e));
    return legal_clock_get(w, ref.clock_id, ret, e);
}

enum errc legal_clock_get(struct work *w, struct uuid clock_id, struct legal_clock *ret, struct err *e)
{
    return db_one(w->tx, &clock_get, ARGS(A_UUID(w->tenant_id), A_UUID(clock_id)), ret, e);
}

enum errc legal_clock_list(struct work *w, enum legal_clock_state state, struct uuid position, int64_t limit, struct slice *ret,
                           struct err *e)
{
    const struct str name = state == LCS_ANY ? STR_NULL : str_c(legal_clock_states[state]);
    return db_many(w->tx, state <= LCS_OVERDUE ? &list_open : &list_all,
                   ARGS(A_UUID(w->tenant_id), A_STR(name), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

/* The clock, locked, if it still runs. */
static enum errc running(struct work *w, struct uuid clock_id, struct legal_clock *ret, struct err *e)
{
    TRY(db_exec(w->tx, &clock_lock, ARGS(A_UUID(w->tenant_id), A_UUID(clock_id)), NULL, e));
    TRY(legal_clock_get(w, clock_id, ret, e));
    return ret->closed_at.us ? FAIL(e, CONFLICT, "The legal clock is closed already") : ERR_OK;
}

enum errc legal_clock_extend(struct work *w, struct uuid clock_id, struct timestamp due_at, struct str reason,
                             struct legal_clock *ret, struct err *e)
{
    TRY(running(w, clock_id, ret, e));
    if (str_eq_c(ret->kind, legal_clock_kinds[LCK_BREACH]) || str_eq_c(ret->kind, legal_clock_kinds[LCK_RETENTION]))
        return FAIL(e, UNPROCESSABLE, "A clock of kind %.*s cannot be extended", STR_ARG(ret->kind));
    if (ret->extended_at.us)
        return FAIL(e, CONFLICT, "The legal clock was extended already; that is possible once");
    if (ret->due_at.us <= w->now_us)
        return FAIL(e, CONFLICT, "The legal clock is overdue; an extension must be told before it is due");
    const int64_t most = time_add_months(ret->first_due_at.us, LEGAL_CLOCK_EXTENSION_MONTHS);
    if (due_at.us <= ret->first_due_at.us || due_at.us > most) {
        char from[TIME_TEXT], to[TIME_TEXT];
        time_text(ret->first_due_at.us, from);
        time_text(most, to);
        return FAIL_AT(e, UNPROCESSABLE, "/due_at", "The new moment lies after %s and not after %s", from, to);
    }
    TRY(db_exec(w->tx, &clock_extend, ARGS(A_UUID(w->tenant_id), A_UUID(clock_id), A_TIME(due_at), A_STR(reason)), NULL, e));
    return legal_clock_get(w, clock_id, ret, e);
}

enum errc legal_clock_close(struct work *w, struct uuid clock_id, struct str note, struct legal_clock *ret, struct err *e)
{
    TRY(running(w, clock_id, ret, e));
    TRY(db_exec(w->tx, &clock_close, ARGS(A_UUID(w->tenant_id), A_UUID(clock_id), A_UUID(w->principal->user_id), A_STR(note)),
                NULL, e));
    return legal_clock_get(w, clock_id, ret, e);
}

enum errc legal_clocks_untold(struct work *w, struct uuid tenant, enum legal_clock_told what, int64_t limit, struct slice *ret,
                              struct err *e)
{
    return db_many(w->tx, &clock_untold, ARGS(A_UUID(tenant), A_I64(what), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc legal_clocks_tell(struct work *w, struct uuid tenant, enum legal_clock_told what, const struct uuid *ids, size_t n,
                            struct err *e)
{
    return n ? db_exec(w->tx, &clock_told, ARGS(A_UUID(tenant), A_UUIDS(ids, n), A_I64(what)), NULL, e) : ERR_OK;
}
