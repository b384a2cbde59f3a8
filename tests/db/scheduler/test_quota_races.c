/* SPDX-License-Identifier: Apache-2.0 */
/* test_quota_races.c - sixty-four at the limit less one, two hundred times for each limit (12 in the default tier): exactly one
 * gets in, and what is counted anew is what the books say. Submitters race through job_submit_many; planners race with plans made of
 * the same old snapshot, each for another job, which is the worst that any number of schedulers could do.
 *
 * One argument names the limit, so that each is a test of its own (tests/db/scheduler/CMakeLists.txt); none: all. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/share.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan_apply.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 64, ROUNDS = 200, ROUNDS_PART = 12, CONNECTIONS = 24, CHECK_EVERY = 11 };

static int rounds;
static struct fixture f;
static struct machine m;
static pthread_barrier_t begin, end;
static pthread_t threads[THREADS];
static atomic_int admitted;
static atomic_bool is_over;
static enum { SUBMITTERS, PLANNERS } kind;
static struct snapshot shared;

/* A plan of one line, for the job of this thread; the snapshot is only read. */
static void plan_one(size_t i)
{
    struct arena *a = arena_new(8 << 20);
    struct err mine = { 0 };
    struct placement line = { i, 0 };
    struct plan p = { .places = { &line, 1 } };
    struct plan_result r = { 0 };
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    if (plan_apply(&w, &shared, &p, 60000, &r, &mine) == ERR_OK && db_commit(w.tx, &mine) == ERR_OK)
        atomic_fetch_add(&admitted, (int)r.admitted);
    else
        db_rollback(w.tx);
    arena_free(a);
}

static void *racer(void *arg)
{
    for (;;) {
        pthread_barrier_wait(&begin);
        if (is_over)
            return NULL;
        if (kind == SUBMITTERS)
            atomic_fetch_add(&admitted, (int)submit(&f, f.tenant_a, 1, 1, 3, NULL));
        else
            plan_one((size_t)arg);
        pthread_barrier_wait(&end);
    }
}

static int round_of(int which)
{
    kind = which;
    admitted = 0;
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    return admitted;
}

static void clear(void)
{
    static int times;
    fixture_exec(&f, "DELETE FROM job_event; DELETE FROM audit_event; DELETE FROM idempotency; DELETE FROM attempt; DELETE FROM job;"
                 "DELETE FROM job_end; UPDATE quota SET used = 0, ended = 0");
    if (++times % 25 == 0)              /* or the rows that are gone are looked at by all that follow */
        fixture_exec(&f, "VACUUM job_event, audit_event, idempotency, attempt, job, quota");
}

static int setup(void **state)
{
    (void)state;
    fixture_open_wide(&f, CONNECTIONS);
    machine_up(&f, &m, "ae-dxb-1", "w", 4096, 0);
    /* The submitters' statements planned once for a connection: planning the same ones anew was two fifths of the processor's time. */
    fixture_exec(&f, "ALTER ROLE falaj_app SET plan_cache_mode = force_generic_plan");
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&end, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, racer, (void *)i);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    is_over = true;
    pthread_barrier_wait(&begin);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    fixture_close(&f);
    return 0;
}

static void race_submitters(const char *what)
{
    clear();
    for (int i = 0; i < rounds; i++) {
        int n = round_of(SUBMITTERS);
        if (n != 1)
            fail_msg("%s, round %d: %d got in", what, i, n);
        assert_int_equal(fixture_count(&f, "SELECT " JOBS_USED " FROM quota WHERE resource = 'jobs' AND (" JOBS_USED ") ="
                                           " (SELECT count(*) FROM job j WHERE j.tenant_id = quota.tenant_id AND finished_at IS NULL)"
                                           " AND (" JOBS_USED ") > 0"), 1);
        if (i % CHECK_EVERY == 0)
            fixture_check(&f);
        clear();
    }
}

static void jobs(void **state)
{
    (void)state;
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1 WHERE resource = 'jobs'");
    race_submitters("jobs");
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1000 WHERE resource = 'jobs'");
}

static void pending_jobs(void **state)
{
    (void)state;
    fixture_exec(&f, "INSERT INTO quota (tenant_id, resource, hard_limit) SELECT tenant_id, 'pending_jobs', 1 FROM tenant WHERE name = 'aaa'");
    race_submitters("pending_jobs");
    fixture_exec(&f, "DELETE FROM quota WHERE resource = 'pending_jobs'");
}

/* A job of 60 seconds at 3600 an hour takes at most 60; the budget has room for one and a half. */
static void a_reserving_budget(void **state)
{
    (void)state;
    fixture_exec(&f, "INSERT INTO price (price_id, flavor, valid_from, currency, slot_hour, gpu_hour, kwh, slot_watts, gpu_watts, created_by) VALUES"
                     " (gen_random_uuid(), 'cpu', now(), 'AED', 3600, 0, 0, 0, 0, gen_random_uuid());"
                     "INSERT INTO budget (tenant_id, budget_id, name, measure, amount, currency, period, period_start, stop_percent, reserve, created_by)"
                     " SELECT tenant_id, gen_random_uuid(), 'b', 'money', 90, 'AED', 'total', now(), 100, true, gen_random_uuid() FROM tenant WHERE name = 'aaa'");
    race_submitters("budget");
    fixture_exec(&f, "DELETE FROM budget");
}

static void race_planners(const char *what)
{
    for (int i = 0; i < rounds; i++) {
        struct arena *a = arena_new(64 << 20);
        clear();
        submit(&f, f.tenant_a, THREADS, 1, 3, NULL);
        struct work w = { .app = &f.scheduler, .arena = a };
        OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_READ_ONLY, a, &w.tx, e));
        OK(snapshot_read(&w, THREADS, true, &shared, e));
        OK(db_commit(w.tx, e));
        assert_int_equal(shared.jobs.n, THREADS);
        int n = round_of(PLANNERS);
        if (n != 1)
            fail_msg("%s, round %d: %d were admitted", what, i, n);
        assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM attempt WHERE live"), 1);
        if (i % CHECK_EVERY == 0)
            fixture_check(&f);
        arena_free(a);
    }
    clear();
}

static void slots(void **state)
{
    (void)state;
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1 WHERE resource = 'slots'");
    race_planners("slots");
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1000 WHERE resource = 'slots'");
}

static void running_jobs(void **state)
{
    (void)state;
    fixture_exec(&f, "INSERT INTO quota (tenant_id, resource, hard_limit) SELECT tenant_id, 'running_jobs', 1 FROM tenant WHERE name = 'aaa'");
    race_planners("running_jobs");
    fixture_exec(&f, "DELETE FROM quota WHERE resource = 'running_jobs'");
}

static void a_rule_of_a_queue(void **state)
{
    (void)state;
    fixture_exec(&f, "INSERT INTO quota_rule (tenant_id, rule_id, place, queue, resource, nominal, borrowing_limit, created_by)"
                     " SELECT tenant_id, gen_random_uuid(), 'queue', 'default', 'slots', 1, 0, gen_random_uuid() FROM tenant WHERE name = 'aaa'");
    race_planners("rule");
}

int main(int argc, char **argv)
{
    rounds = share_of("rounds at each limit", ROUNDS_PART, ROUNDS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs), cmocka_unit_test(pending_jobs), cmocka_unit_test(a_reserving_budget),
        cmocka_unit_test(slots), cmocka_unit_test(running_jobs), cmocka_unit_test(a_rule_of_a_queue),
    };
    if (argc > 1) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
            is_known = is_known || strcmp(tests[i].name, argv[1]) == 0;
        if (!is_known)
            return 2;
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, setup, teardown);
}
