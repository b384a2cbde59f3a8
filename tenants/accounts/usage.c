/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - reads of the ledger. The export pages by (at, attempt), which the indexes of debits serve, and keeps no transaction open
 * between its pages: what is ended meanwhile lies after the span's end or is found by a later page. CSV after RFC 4180; the guard against
 * formulas is the usual one (a leading =, +, -, @, tab or carriage return is preceded by an apostrophe). */
#include "tenants/accounts/usage.h"
#include "core/db/tx.h"

#include <string.h>

enum { SUMS_MAX = 5000, DAYS_MAX = 400, DAYS_USUAL = 30 };
#define DAY_US INT64_C(86400000000)

SCHEMA_EXTERN(usage_sum, "A sum of use",
    FIELD(usage_sum, day, 0, .doc = "UTC day"), FIELD_ID(usage_sum, project_id, "prj", 0, .doc = "Project"), FIELD(usage_sum, queue, 0, .doc = "Queue"),
    FIELD(usage_sum, flavor, 0, .doc = "Flavor of machine"), FIELD(usage_sum, zone, 0, .doc = "Zone"), FIELD(usage_sum, pool, 0, .doc = "Pool"),
    FIELD(usage_sum, attempts, 0, .doc = "Attempts ended"), FIELD(usage_sum, slot_ms, 0, .doc = "Slot milliseconds"),
    FIELD(usage_sum, gpu_ms, 0, .doc = "GPU milliseconds"), FIELD(usage_sum, energy_mj, 0, .doc = "Millijoules: measured, or by the price book's watts"),
    FIELD(usage_sum, amount_minor, 0, .doc = "Minor units of the currency"), FIELD(usage_sum, currency, 0, .doc = "ISO 4217 code; empty: without price"));
SCHEMA_OF(usage_line, "A debit of the ledger", FIELD(usage_line, at, 0, .doc = "When it ended"), FIELD(usage_line, attempt_id, 0, .doc = "Attempt"),
    FIELD(usage_line, project_id, 0, .doc = "Project"), FIELD(usage_line, queue, 0, .doc = "Queue"), FIELD(usage_line, flavor, 0, .doc = "Flavor"),
    FIELD(usage_line, zone, 0, .doc = "Zone"), FIELD(usage_line, pool, 0, .doc = "Pool"), FIELD(usage_line, slot_ms, 0, .doc = "Slots"),
    FIELD(usage_line, gpu_ms, 0, .doc = "GPUs"), FIELD(usage_line, energy_mj, 0, .doc = "Energy"), FIELD(usage_line, money_micro, 0, .doc = "Money"),
    FIELD(usage_line, currency, 0, .doc = "Currency"));

static const struct stmt usage_sum_stmt = { .name = "usage_sum", .params = "uttii", .row = &usage_sum_schema, .card = CARD_MANY, .sql =
    "SELECT CASE WHEN $4 & 1 > 0 THEN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') END AS day, CASE WHEN $4 & 2 > 0 THEN project_id END AS project_id,\n"
    "       CASE WHEN $4 & 4 > 0 THEN queue END AS queue, CASE WHEN $4 & 8 > 0 THEN flavor END AS flavor, CASE WHEN $4 & 16 > 0 THEN zone END AS zone,\n"
    "       CASE WHEN $4 & 32 > 0 THEN pool END AS pool, count(*) AS attempts, sum(slot_ms)::bigint AS slot_ms, sum(gpu_ms)::bigint AS gpu_ms,\n"
    "       sum(energy_mj)::bigint AS energy_mj, (sum(money_micro) / 1000000.0)::float8 AS amount_minor, currency\n"
    "  FROM usage_debit WHERE tenant_id = $1 AND at >= $2 AND at < $3\n"
    " GROUP BY 1, 2, 3, 4, 5, 6, currency ORDER BY 1 DESC, 2, 3, 4, 5, 6, currency LIMIT $5" };
static const struct stmt usage_lines_stmt = { .name = "usage_lines", .params = "utttui", .row = &usage_line_schema, .card = CARD_MANY, .sql =
    "SELECT at, attempt_id, project_id, queue, flavor, zone, pool, slot_ms, gpu_ms, energy_mj, money_micro, currency\n"
    "  FROM usage_debit WHERE tenant_id = $1 AND at >= $2 AND at < $3 AND (at, attempt_id) > ($4, $5)\n"
    " ORDER BY at, attempt_id LIMIT $6" };

const struct stmt *const usage_stmts[] = { &usage_sum_stmt, &usage_lines_stmt, NULL };

enum errc usage_by_parse(struct str by, unsigned *ret, struct err *e)
{
    static const char *const names[] = { "day", "project", "queue", "flavor", "zone", "pool", NULL };
    struct str one;
    *ret = 0;
    for (bool more = by.len > 0; more;) {
        more = str_cut(by, ',', &one, &by);
        int k = name_index(names, one);
        if (k < 0)
            return FAIL_AT(e, INVALID, "/by", "Expected some of: day, project, queue, flavor, zone, pool");
        *ret |= 1u << k;
    }
    return ERR_OK;
}

static enum errc span(const struct work *w, int64_t *from_us, int64_t *to_us, struct err *e)
{
    *to_us = *to_us ? *to_us : w->now_us + DAY_US;
    *from_us = *from_us ? *from_us : *to_us - DAYS_USUAL * DAY_US;
    if (*from_us >= *to_us)
        return FAIL_AT(e, INVALID, "/from", "The end of the period is before its begin");
    if (*to_us - *from_us > DAYS_MAX * DAY_US)
        return FAIL_AT(e, INVALID, "/from", "A period has at most %d days", DAYS_MAX);
    return ERR_OK;
}

enum errc usage_sums(struct work *w, int64_t from_us, int64_t to_us, unsigned by, struct slice *ret, struct err *e)
{
    TRY(span(w, &from_us, &to_us, e));
    return db_many(w->tx, &usage_sum_stmt, ARGS(A_UUID(w->tenant_id), A_TIME_US(from_us), A_TIME_US(to_us), A_I64(by), A_I64(SUMS_MAX + 1)), ret,
                   SUMS_MAX, e);
}

enum errc usage_lines(struct work *w, int64_t from_us, int64_t to_us, struct timestamp after, struct uuid after_id, int64_t limit, struct slice *ret,
                      struct err *e)
{
    TRY(span(w, &from_us, &to_us, e));
    struct timestamp from = { after.us ? after.us : from_us - 1 };
    return db_many(w->tx, &usage_lines_stmt, ARGS(A_UUID(w->tenant_id), A_TIME_US(from_us), A_TIME_US(to_us), A_TIME(from), A_UUID(after_id),
                   A_I64(limit)), ret, (size_t)limit, e);
}

const char usage_csv_header[] = "\xef\xbb\xbf" "ended_at,attempt_id,project_id,queue,flavor,zone,pool,slot_seconds,gpu_seconds,kwh,amount_minor,currency\r\n";

void csv_cell(struct buf *out, struct str text)
{
    bool is_formula = text.len && memchr("=+-@\t\r", text.ptr[0], 6);
    bool is_quoted = is_formula;
    for (size_t i = 0; i < text.len; i++)
        is_quoted |= text.ptr[i] == ',' || text.ptr[i] == '"' || text.ptr[i] == '\n' || text.ptr[i] == '\r';
    if (is_quoted)
        buf_add_c(out, "\"");
    if (is_formula)
        buf_add_c(out, "'");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_add_c(out, "\"");
        buf_add_str(out, str_n(text.ptr + i, 1));
    }
    if (is_quoted)
        buf_add_c(out, "\"");
}

void usage_line_csv(const struct usage_line *l, struct buf *out)
{
    char hex[UUID_HEX], when[TIME_TEXT];
    time_text(l->at.us, when);
    hex_encode(l->attempt_id.b, 16, hex);
    buf_printf(out, "%s,att_%s,", when, hex);
    hex_encode(l->project_id.b, 16, hex);
    if (!uuid_is_nil(l->project_id))
        buf_printf(out, "prj_%s", hex);
    const struct str words[] = { l->queue, l->flavor, l->zone, l->pool };
    for (size_t i = 0; i < 4; i++) {
        buf_add_c(out, ",");
        csv_cell(out, words[i]);
    }
    buf_printf(out, ",%ld.%03ld,%ld.%03ld,%.9f,%ld.%06ld,", (long)(l->slot_ms / 1000), (long)(l->slot_ms % 1000), (long)(l->gpu_ms / 1000),
               (long)(l->gpu_ms % 1000), (double)l->energy_mj / 3.6e9, (long)(l->money_micro / 1000000), (long)(l->money_micro % 1000000));
    csv_cell(out, l->currency);
    buf_add_c(out, "\r\n");
}
