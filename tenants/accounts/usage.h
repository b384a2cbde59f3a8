/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - what was used and what it cost, from the ledger: sums by day, project, queue, flavor and zone, and the lines themselves.
 *
 * Only ended attempts are in the ledger; what live ones have run up is told by budgets. Days are UTC days of the attempt's end.
 * Errors: INVALID (a span without end, too long). Memory: w->arena. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct usage_sum {
    struct str day;
    struct uuid project_id;
    struct str queue, flavor, zone, pool;
    int64_t attempts, slot_ms, gpu_ms, energy_mj;
    double amount_minor;
    struct str currency;
};
extern const struct schema usage_sum_schema;

enum usage_by { USAGE_DAY = 1, USAGE_PROJECT = 2, USAGE_QUEUE = 4, USAGE_FLAVOR = 8, USAGE_ZONE = 16, USAGE_POOL = 32 };
/* by: comma-separated names of the dimensions; what is not named is summed up and left out. */
enum errc usage_by_parse(struct str by, unsigned *ret, struct err *e) MUST_CHECK;
/* from and to may be 0: the last 30 days, until now. At most 5000 rows: LIMIT. */
enum errc usage_sums(struct work *w, int64_t from_us, int64_t to_us, unsigned by, struct slice *ret, struct err *e) MUST_CHECK;

/* One debit: an attempt. */
struct usage_line {
    struct timestamp at;
    struct uuid attempt_id, project_id;
    struct str queue, flavor, zone, pool;
    int64_t slot_ms, gpu_ms, energy_mj, money_micro;
    struct str currency;
};
/* The next lines after (at, id), oldest first; for the export. */
enum errc usage_lines(struct work *w, int64_t from_us, int64_t to_us, struct timestamp after, struct uuid after_id, int64_t limit, struct slice *ret,
                      struct err *e) MUST_CHECK;
/* As CSV, without header: text that a spreadsheet would take for a formula gets an apostrophe, quotes are doubled. Pure. */
void usage_line_csv(const struct usage_line *l, struct buf *out);
extern const char usage_csv_header[];
void csv_cell(struct buf *out, struct str text);

extern const struct stmt *const usage_stmts[];
