/* SPDX-License-Identifier: Apache-2.0 */
/* test_race.c - many at once: two schedulers, sixty-four submitters at the limit, machines that take, finish and expire together, a
 * cancellation that meets a return. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"
#include "core/base/clock.h"

#include <pthread.h>
#include <unistd.h>

static struct fixture f;
static struct machine machines[2];

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &machines[0], "ae-dxb-1", "w1", 40, 0);
    machine_up(&f, &machines[1], "ae-dxb-1", "w2", 40, 0);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static void *plan_thread(void *arg)
{
    int64_t *admitted = arg;
    for (int i = 0; i < 10; i++) {
        struct arena *a = arena_new(256 << 20);
        int64_t k = 0;
        bool more;
        struct err e = { 0 };
        if (loop_plan_once(&f.scheduler, a, true, &k, &more, &e) == ERR_OK)
            *admitted += k;
        arena_free(a);
    }
    return NULL;
}

static void two_schedulers_admit_each_job_once(void **state)
{
    (void)state;
    int64_t admitted[2] = { 0 };
    pthread_t threads[2];
    submit(&f, f.tenant_a, 100, 1, 3, NULL);
    submit(&f, f.tenant_b, 100, 1, 3, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, plan_thread, &admitted[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(admitted[0] + admitted[1], 80);        /* all slots of both machines and no more */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live"), 80);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'ADMITTED' AND tenant_id = (SELECT tenant_id FROM tenant WHERE name = 'aaa')"), 40);
    fixture_check(&f);
}

static void *work_thread(void *arg)
{
    const struct machine *m = arg;
    struct lease_grant g[64];
    for (int i = 0; i < 60; i++) {
        size_t n = take(&f, m, 7, g);
        if (n)
            assert_int_equal(run_through(&f, m, g, n), 2 * n);
    }
    return NULL;
}

static void machines_and_schedulers_together(void **state)
{
    (void)state;
    int64_t admitted[2] = { 0 };
    pthread_t threads[4];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, plan_thread, &admitted[i]);
        pthread_create(&threads[2 + i], NULL, work_thread, &machines[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 20 && fixture_count(&f, "SELECT count(*) FROM job WHERE finished_at IS NULL"); i++) {
        plan(&f);
        work_thread(&machines[0]);
        work_thread(&machines[1]);
    }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'COMPLETED'"), 200);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt"), 200);
    assert_int_equal(fixture_count(&f, "SELECT sum(" JOBS_USED ") FROM quota"), 0);
    fixture_check(&f);
}

static void *submit_thread(void *arg)
{
    *(size_t *)arg = submit(&f, f.tenant_a, 1, 1, 3, NULL);
    return NULL;
}

static void sixty_four_at_the_limit_less_one(void **state)
{
    (void)state;
    pthread_t threads[64];
    size_t stored[64] = { 0 }, all = 0;
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1, used = " JOBS_USED ", ended = " JOBS_ENDED " WHERE resource = 'jobs'");
    for (int i = 0; i < 64; i++)
        pthread_create(&threads[i], NULL, submit_thread, &stored[i]);
    for (int i = 0; i < 64; i++) {
        pthread_join(threads[i], NULL);
        all += stored[i];
    }
    assert_int_equal(all, 1);
    assert_int_equal(fixture_count(&f, "SELECT max(" JOBS_USED ") FROM quota WHERE resource = 'jobs'"), 1);
    fixture_check(&f);
}

static void *cancel_thread(void *arg)
{
    cancel_job(&f, f.tenant_a, *(struct uuid *)arg);
    return NULL;
}

/* The cancellation finds the job running; while it waits for the row, the machine gives the job back. */
static void a_cancellation_that_meets_a_return(void **state)
{
    (void)state;
    struct arena *a = arena_new(64 << 20);
    struct work w = { .app = &f.api, .arena = a, .now_us = clock_wall_us(&clock_system) };
    struct lease_grant g;
    struct slice verdicts;
    struct uuid job;
    struct db_tx *tx;
    pthread_t t;
    fixture_exec(&f, "UPDATE quota SET hard_limit = 10 WHERE resource = 'jobs'");
    fixture_forget_jobs(&f);
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &job), 1);
    assert_int_equal(plan(&f), 1);
    const struct machine *m = take(&f, &machines[0], 1, &g) ? &machines[0] : &machines[1];
    assert_true(m == &machines[0] || take(&f, m, 1, &g) == 1);
    tell(&f, m, &g, 1, LE_START, NULL);
    struct lease_item item = { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence, .event = LE_RETURN, .message = STR("") };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &tx, e));
    w.tx = tx;
    OK(lease_report(&w, &m->node, NULL, &item, 1, 30000, &verdicts, e));
    pthread_create(&t, NULL, cancel_thread, &job);
    WAIT_WHILE(!fixture_count(&f, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"));
    OK(db_commit(tx, e));
    pthread_join(t, NULL);
    arena_free(a);
    assert_string_equal(state_of(&f, job), "CANCELLED");
    assert_int_equal(fixture_count(&f, "SELECT sum(" JOBS_USED ") FROM quota"), 0);
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(two_schedulers_admit_each_job_once), cmocka_unit_test(machines_and_schedulers_together),
                                        cmocka_unit_test(sixty_four_at_the_limit_less_one),
                                        cmocka_unit_test(a_cancellation_that_meets_a_return) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
