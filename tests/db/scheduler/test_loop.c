/* SPDX-License-Identifier: Apache-2.0 */
/* test_loop.c - the loop as the scheduler runs it, in a thread: a wake-up plans at once, the tick plans without one, silence is reaped. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/leader.h"
#include "scheduler/mirror/machines.h"
#include "tests/lib/wait.h"

#include <string.h>
#include <time.h>

#include <pthread.h>

static struct fixture f;
static struct machine m;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static void *run(void *arg)
{
    loop_run(arg);
    return NULL;
}

static bool comes(struct uuid job, const char *want)
{
    WAIT_WHILE(strcmp(state_of(&f, job), want));
    return true;
}

static void a_loop_plans_and_reaps(void **state)
{
    (void)state;
    struct uuid first, second;
    struct lease_grant g;
    pthread_t thread;
    struct loop *l = loop_new(&f.scheduler, NULL);
    assert_int_equal(pthread_create(&thread, NULL, run, l), 0);
    submit(&f, f.tenant_a, 1, 1, 3, &first);
    assert_true(loop_wake(l, false));
    assert_true(comes(first, "ADMITTED"));
    assert_true(loop_is_leading(l));
    assert_int_equal(take(&f, &m, 1, &g), 1);
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() - interval '1 s' WHERE live");
    assert_true(comes(first, "PENDING"));                       /* by the tick: nobody woke it */
    submit(&f, f.tenant_a, 1, 1, 3, &second);
    assert_true(comes(second, "ADMITTED"));
    loop_stop(l);
    pthread_join(thread, NULL);
    loop_free(l);
    fixture_check(&f);
}

static void a_loop_that_does_not_lead_plans_nothing(void **state)
{
    (void)state;
    struct uuid job;
    pthread_t thread;
    struct leader *other = leader_new(pg_harness_conninfo(f.pg, NULL, NULL), &clock_system);
    struct leader *mine = leader_new(pg_harness_conninfo(f.pg, NULL, NULL), &clock_system);
    assert_true(leader_check(other));
    struct loop *l = loop_new(&f.scheduler, mine);
    assert_int_equal(pthread_create(&thread, NULL, run, l), 0);
    submit(&f, f.tenant_b, 1, 1, 3, &job);
    assert_true(loop_wake(l, false));
    nanosleep(&(struct timespec){ 1, 0 }, NULL);
    assert_false(loop_is_leading(l));
    assert_string_equal(state_of(&f, job), "PENDING");
    leader_free(other);
    assert_true(comes(job, "ADMITTED"));
    assert_true(loop_is_leading(l));
    loop_stop(l);
    pthread_join(thread, NULL);
    loop_free(l);
    leader_free(mine);
}

static int64_t leader_pid(void)
{
    return fixture_count(&f, "SELECT coalesce(max(l.pid), 0)::bigint FROM pg_locks l JOIN pg_stat_activity s USING (pid)\n"
                             " WHERE s.application_name = 'falaj-scheduler-leader' AND l.locktype = 'advisory' AND l.granted");
}

/* The connection that is the leadership breaks and comes again within a round: of the same database, so what is known of it
 * stands. */
static void a_new_term_keeps_what_the_last_one_knew(void **state)
{
    (void)state;
    struct uuid before, after;
    pthread_t thread;
    int64_t pid = 0, next = 0;
    struct leader *mine = leader_new(pg_harness_conninfo(f.pg, NULL, NULL), &clock_system);
    f.scheduler.machines = machines_new();
    struct loop *l = loop_new(&f.scheduler, mine);
    assert_int_equal(pthread_create(&thread, NULL, run, l), 0);
    submit(&f, f.tenant_b, 1, 1, 3, &before);
    assert_true(comes(before, "ADMITTED"));
    WAIT_WHILE(!(pid = leader_pid()));
    assert_int_equal(fixture_count(&f, "SELECT pg_terminate_backend(%ld)::int::bigint", (long)pid), 1);
    WAIT_WHILE((next = leader_pid()) == pid || !next);
    submit(&f, f.tenant_b, 1, 1, 3, &after);
    assert_true(loop_wake(l, false));
    assert_true(comes(after, "ADMITTED"));
    loop_stop(l);
    pthread_join(thread, NULL);
    loop_free(l);
    leader_free(mine);
    assert_int_equal(machines_counted(f.scheduler.machines).loads, 1);
    assert_int_equal(machines_counted(f.scheduler.machines).differing, 0);
    machines_free(f.scheduler.machines);
    f.scheduler.machines = NULL;
}

/* While every slot is held, a submission wakes nobody; an end does, and so does a submission as soon as there is room. */
static void a_full_loop_waits_for_room(void **state)
{
    (void)state;
    struct uuid jobs[2], last;
    struct lease_grant g, before[8];
    pthread_t thread;
    const int64_t tick_ms = f.config->scheduler_tick_ms;
    const size_t n = take(&f, &m, 8, before);
    assert_int_equal(run_through(&f, &m, before, n), 2 * n);
    fixture_exec(&f, "UPDATE job SET not_before = 'infinity' WHERE queued");    /* what came back in an earlier test stays away */
    f.config->scheduler_tick_ms = 600000;
    fixture_exec(&f, "UPDATE node SET slots = 2, cpu_milli = 2000 WHERE node_id IS NOT NULL");
    struct loop *l = loop_new(&f.scheduler, NULL);
    assert_true(loop_wake(l, true));
    assert_int_equal(pthread_create(&thread, NULL, run, l), 0);
    submit(&f, f.tenant_a, 1, 2, 3, &jobs[0]);
    assert_true(loop_wake(l, true));
    assert_true(comes(jobs[0], "ADMITTED"));
    submit(&f, f.tenant_a, 1, 2, 3, &jobs[1]);
    WAIT_WHILE(loop_wake(l, true));                             /* until that round is over */
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    assert_false(loop_wake(l, true));                           /* nobody said that there is room */
    assert_string_equal(state_of(&f, jobs[1]), "PENDING");
    assert_true(loop_wake(l, false));
    assert_true(comes(jobs[1], "ADMITTED"));
    WAIT_WHILE(loop_wake(l, true));
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    assert_true(loop_wake(l, false));
    WAIT_WHILE(!loop_wake(l, true));                            /* a round found room, and no job */
    submit(&f, f.tenant_a, 1, 1, 3, &last);
    assert_true(loop_wake(l, true));
    assert_true(comes(last, "ADMITTED"));
    loop_stop(l);
    pthread_join(thread, NULL);
    loop_free(l);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    f.config->scheduler_tick_ms = tick_ms;
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_plans_and_reaps),
        cmocka_unit_test(a_loop_that_does_not_lead_plans_nothing),
        cmocka_unit_test(a_new_term_keeps_what_the_last_one_knew), cmocka_unit_test(a_full_loop_waits_for_room),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
