/* SPDX-License-Identifier: Apache-2.0 */
/* test_workload.c - futures are drawn at the counts that the header names, in proportion to what came, and the same every time.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/workload.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

static void draws_at_the_eighth_arrival_and_then_ever_more_seldom(void **state)
{
    (void)state;
    struct workload *w = workload_new();
    struct ask gpu = ask_of(1000, 1, 500), cpu = ask_of(1000, 0, 0);
    for (int i = 0; i < 100; i++)
        workload_arrive(w, &cpu);
    for (int i = 0; i < WORKLOAD_FIRST - 1; i++)
        workload_arrive(w, &gpu);
    assert_int_equal(workload_epoch(w), 0);
    workload_arrive(w, &gpu);
    assert_int_equal(workload_epoch(w), 1);
    for (int i = 0; i < 10000; i++)
        workload_arrive(w, &gpu);
    assert_in_range(workload_epoch(w), 10, 25);
    workload_free(w);
}

static void a_future_holds_types_in_proportion(void **state)
{
    (void)state;
    struct workload *w = workload_new();
    struct ask often = ask_of(1000, 1, 500), seldom = ask_of(2000, 1, 300);
    size_t n;
    int seen = 0;
    for (int i = 0; i < 1000; i++)
        workload_arrive(w, i % 4 ? &often : &seldom);
    workload_draw(w);
    const struct workload_type *types = workload_types(w, &n);
    assert_int_equal(n, 2);
    for (int k = 0; k < WORKLOAD_FUTURES; k++)
        for (int i = 0; i < WORKLOAD_STEPS; i++)
            seen += types[(*workload_drawn(w))[k][i]].ask.cpu_milli == 2000;
    /* spread evenly: each step has a quarter of the futures, but for one draw at the border */
    assert_in_range(seen, WORKLOAD_STEPS * (WORKLOAD_FUTURES / 4 - 1), WORKLOAD_STEPS * (WORKLOAD_FUTURES / 4 + 1));
    workload_free(w);
}

static void the_same_arrivals_give_the_same_futures(void **state)
{
    (void)state;
    struct workload *a = workload_new(), *b = workload_new();
    struct random x = { 5 }, y = { 5 };
    for (int i = 0; i < 3000; i++) {
        struct ask p = any_ask(&x), q = any_ask(&y);
        workload_arrive(a, &p);
        workload_arrive(b, &q);
    }
    assert_memory_equal(workload_drawn(a), workload_drawn(b), sizeof(workload_futures));
    workload_free(a);
    workload_free(b);
}

static void types_past_the_limit_are_not_learned(void **state)
{
    (void)state;
    struct workload *w = workload_new();
    size_t n;
    for (int i = 0; i < WORKLOAD_TYPES_MAX + 100; i++) {
        struct ask a = ask_of(1000 + i, 1, 1000);
        workload_arrive(w, &a);
    }
    workload_draw(w);
    (void)workload_types(w, &n);
    assert_int_equal(n, WORKLOAD_TYPES_MAX);
    workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(draws_at_the_eighth_arrival_and_then_ever_more_seldom),
                                        cmocka_unit_test(a_future_holds_types_in_proportion),
                                        cmocka_unit_test(the_same_arrivals_give_the_same_futures),
                                        cmocka_unit_test(types_past_the_limit_are_not_learned) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
