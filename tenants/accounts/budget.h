/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - what a tenant or one of its projects may spend in a month or in all: money, GPU hours or energy.
 *
 * Use is what ended attempts were charged (the ledger) and what live ones have run up. At each threshold an audit event is written; at the
 * stop threshold new submissions are refused (BUDGET) and waiting jobs are held (reason BudgetExhausted) until the budget is raised or the
 * next period begins; what runs is finished. A reserving budget moreover accepts a job only if the most that it can take, its whole
 * max_runtime on the dearest flavor, still fits: then nothing is ever spent beyond it by first attempts.
 * Who holds jobs and counts is the scheduler's leader (scheduler/duty/budget_watch.h). Errors: EXISTS, PRECONDITION, NOT_FOUND, INVALID. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

/* Of a query over j, a job: one of its budgets is spent, so that it would be held if it waited. */
#define BUDGET_IS_SPENT(j)                                                                                                 \
    "EXISTS (SELECT FROM budget b WHERE b.tenant_id = " j ".tenant_id AND b.state = 'STOPPED'\n"                           \
    "                AND (b.project_id IS NULL OR b.project_id = " j ".project_id))"

struct budget {
    struct uuid budget_id, project_id;
    struct str name, measure;
    int64_t amount;
    struct str currency, period;
    struct json warn_percent;
    bool has_stop_percent;
    int64_t stop_percent;
    bool reserve;
    struct str state;
    int64_t warned_percent;
    double used, running, reserved, forecast;
    struct timestamp period_start;
    int64_t version;
    struct timestamp created_at;
};
extern const struct schema budget_schema;
extern const char *const budget_measure_names[];
extern const char *const budget_period_names[];

struct budget_new {
    struct uuid project_id;
    struct str name;
    int measure;
    int64_t amount;
    struct str currency;
    int period;
    struct slice warn_percent;          /* int64_t */
    bool has_stop_percent;
    int64_t stop_percent;
    bool reserve;
};

struct budget_change {
    int64_t amount;                     /* 0: as it is */
    bool has_stop_percent;
    int64_t stop_percent;               /* 0: only warn */
    struct slice warn_percent;          /* none: as they are */
};

enum errc budget_create(struct work *w, const struct budget_new *in, struct budget *ret, struct err *e) MUST_CHECK;
enum errc budget_get(struct work *w, struct uuid budget_id, struct budget *ret, struct err *e) MUST_CHECK;
enum errc budget_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* expected_version -1: any. */
enum errc budget_set(struct work *w, struct uuid budget_id, const struct budget_change *in, int64_t expected_version, struct budget *ret,
                     struct err *e) MUST_CHECK;
enum errc budget_delete(struct work *w, struct uuid budget_id, int64_t expected_version, struct err *e) MUST_CHECK;

extern const struct stmt *const budget_stmts[];
