/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_told.c - the wait of a job as a collector sees it: from its submission for the first attempt, a moment for
 * a later one. */
#include "tests/lib/collector.h"
#include "scheduler/plan_told.h"

static void a_first_wait_and_a_later_placement(void **state)
{
    (void)state;
    struct collector c;
    struct otlp *o = collector_begin(&c, "falaj-scheduler");
    struct arena *a = arena_new(1 << 20);
    struct app app = { .clock = &clock_system, .otlp = o };
    struct work w = { .app = &app, .arena = a };
    struct snap_node node = { .zone = STR("ae-dxb-1") };
    struct snapshot s = { .nodes = { &node, 1 } };
    struct snap_job first = { .job_id = uuid_v7(1700000000123000), .tenant_id = { { 3 } }, .slots = 2,
                              .reason = STR("Resources") };
    struct snap_job again = { .job_id = uuid_v7(1600000000456000), .tenant_id = { { 3 } }, .slots = 2, .fence = 1 };
    struct plan_line lines[] = { { .job = &first, .step.attempt_id = { { 7 } } }, { .job = &again } };
    plan_told(&w, &s, lines, 2);
    otlp_free(o);
    assert_int_equal(collector_count(&c, "\"name\":\"wait\""), 1);
    assert_int_equal(collector_count(&c, "\"startTimeUnixNano\":\"1700000000123000000\""), 1);
    assert_int_equal(collector_count(&c, "\"name\":\"place again\""), 1);
    assert_int_equal(collector_count(&c, "1600000000456"), 0);
    assert_int_equal(collector_count(&c, "\"falaj.waited_for\",\"value\":{\"stringValue\":\"Resources\"}"), 1);
    assert_int_equal(collector_count(&c, "att_07000000000000000000000000000000"), 1);
    assert_int_equal(collector_count(&c, "\"stringValue\":\"ae-dxb-1\""), 2);
    arena_free(a);
    collector_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_first_wait_and_a_later_placement) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
