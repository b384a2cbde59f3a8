/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a cluster with two zones, two tenants and the pools of the three roles that move jobs; short words for each move. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/work.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "scheduler/jobs/job.h"
#include "scheduler/engine/lease.h"
#include "scheduler/engine/lease_call.h"
#include "scheduler/loop.h"
#include "scheduler/engine/node.h"
#include "scheduler/duty/reaper.h"
#include "tests/db/harness.h"

struct fixture {
    struct pg_harness *pg;
    struct config *config;
    struct app api, scheduler;          /* pool: falaj_app, node_pool: falaj_worker_api; pool: falaj_scheduler */
    struct db_pool *probe;              /* superuser, for counting */
    struct uuid tenant_a, tenant_b;
};

#define OK(call)                                                                                        \
    do {                                                                                                \
        struct err e_ = { 0 };                                                                          \
        struct err *e = &e_;                                                                            \
        if ((call) != ERR_OK)                                                                           \
            fail_msg("%s: %s (%s) at %s:%d", #call, e->msg, e->detail, e->file ? e->file : "?", e->line); \
    } while (0)

void fixture_open(struct fixture *f);
/* With room for so many transactions of the scheduler at once, and twice as many of the API. */
void fixture_open_wide(struct fixture *f, int connections);
/* The fixture `f` of a group of tests, its setup() and teardown(); `more` comes after the one's beginning, `less` before the
 * other's end: expressions, or NOTHING_MORE. */
#define NOTHING_MORE (void)0
#define FIXTURE_GROUP(more, less)       \
    static struct fixture f;            \
    static int setup(void **state)      \
    {                                   \
        (void)state;                    \
        fixture_open(&f);               \
        more;                           \
        return 0;                       \
    }                                   \
    static int teardown(void **state)   \
    {                                   \
        (void)state;                    \
        less;                           \
        fixture_close(&f);              \
        return 0;                       \
    }
void fixture_close(struct fixture *f);
/* A read-only transaction of the tenant, as a route has it; end it by fixture_reader_done. */
struct work fixture_reader(struct fixture *f, struct uuid tenant);
void fixture_reader_done(struct work *w);
void fixture_exec(struct fixture *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* As if no job had ever been: for tests that share a database, which is dear to make. */
void fixture_forget_jobs(struct fixture *f);
/* Between two tests of one database: what runs ends with its machines, invariants before and after, and all jobs are forgotten. */
void fixture_end_all(struct fixture *f);
/* One bigint of a query. */
int64_t fixture_count(struct fixture *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* All invariants hold. */
void fixture_check(struct fixture *f);

struct machine {
    struct node node;
    struct str identity;
    char identity_text[128];
};
void machine_up(struct fixture *f, struct machine *m, const char *zone, const char *name, int64_t slots, int64_t gpus);
/* The same run of an agent that is up registers again, with these engines. */
void machine_says(struct fixture *f, struct machine *m, const char *zone, const char *name, int64_t slots, const char *engines);

/* n noop jobs; ids may be NULL. Returns how many the quota let in. */
size_t submit(struct fixture *f, struct uuid tenant, size_t n, int64_t slots, int64_t max_attempts, struct uuid *ids);
int64_t plan(struct fixture *f);
struct lease_grant;
/* Copies up to max grants out; only ids, fence and slots stay valid. */
size_t take(struct fixture *f, const struct machine *m, int64_t max, struct lease_grant *out);
/* The same by reading alone: what is greater than *after, which moves on. */
size_t offer(struct fixture *f, const struct machine *m, struct uuid *after, int64_t max, struct lease_grant *out);
size_t say_all(struct fixture *f, const struct machine *m, const struct lease_item *items, size_t n, bool *cancel);
/* One event for each; returns how many verdicts were ok, last cancel flag in *cancel (may be NULL). */
size_t tell(struct fixture *f, const struct machine *m, const struct lease_grant *g, size_t n, enum lease_event event, bool *cancel);
/* start and succeed in one call. */
size_t run_through(struct fixture *f, const struct machine *m, const struct lease_grant *g, size_t n);
void reap(struct fixture *f);
void cancel_job(struct fixture *f, struct uuid tenant, struct uuid job);
const char *state_of(struct fixture *f, struct uuid job);
