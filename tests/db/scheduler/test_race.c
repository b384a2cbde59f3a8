/* SPDX-License-Identifier: Apache-2.0 */
/* test_race.c - many at once: two schedulers, sixty-four submitters at the limit, machines that take, finish and expire together. */
#include "tests/db/scheduler/fixture.h"

#include <pthread.h>

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
    assert_int_equal(fixture_count(&f, "SELECT sum(used) FROM quota"), 0);
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
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1 WHERE resource = 'jobs'");
    for (int i = 0; i < 64; i++)
        pthread_create(&threads[i], NULL, submit_thread, &stored[i]);
    for (int i = 0; i < 64; i++) {
        pthread_join(threads[i], NULL);
        all += stored[i];
    }
    assert_int_equal(all, 1);
    assert_int_equal(fixture_count(&f, "SELECT max(used) FROM quota WHERE resource = 'jobs'"), 1);
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(two_schedulers_admit_each_job_once), cmocka_unit_test(machines_and_schedulers_together),
                                        cmocka_unit_test(sixty_four_at_the_limit_less_one) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
