/* SPDX-License-Identifier: Apache-2.0 */
/* test_levels.c - the gauges say what the database holds, of all tenants, and nothing when another scheduler leads. */
#include "tests/db/scheduler/fixture.h"
#include "core/base/cleanup.h"
#include "core/table/metrics.h"
#include "scheduler/duty/levels.h"

static struct machine m;

FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0), NOTHING_MORE)

static void measure(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    OK(levels_measure(&w, e));
}

static void levels_follow_what_waits_and_runs(void **state)
{
    (void)state;
    struct lease_grant g[3];
    struct machine other;
    assert_int_equal(submit(&f, f.tenant_a, 6, 2, 1, NULL), 6);
    assert_int_equal(submit(&f, f.tenant_b, 5, 2, 1, NULL), 5);
    measure();
    assert_true(metrics_value(M_jobs_waiting) == 11 && metrics_value(M_attempts_running) == 0);
    assert_true(metrics_value(M_slots, "used") == 0 && metrics_value(M_slots, "free") == 8);
    assert_int_equal(plan(&f), 4);
    assert_int_equal(take(&f, &m, 3, g), 3);
    machine_up(&f, &other, "ae-auh-1", "w2", 4, 0);
    fixture_exec(&f, "UPDATE node SET state = 'QUARANTINED' WHERE name = 'w2'");
    measure();
    assert_true(metrics_value(M_jobs_waiting) == 7 && metrics_value(M_attempts_running) == 4);
    assert_true(metrics_value(M_slots, "used") == 8 && metrics_value(M_slots, "free") == 0);
    assert_true(metrics_value(M_machines, "READY") == 1 && metrics_value(M_machines, "QUARANTINED") == 1);
    levels_clear();
    assert_true(metrics_value(M_jobs_waiting) == 0 && metrics_value(M_machines, "READY") == 0);
    assert_true(metrics_value(M_slots, "used") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(levels_follow_what_waits_and_runs) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
