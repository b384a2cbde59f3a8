/* SPDX-License-Identifier: Apache-2.0 */
/* test_fleet_score.c - where a job goes when not every room is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/fleet.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

/* More different rooms than are looked at each time: still nothing is skipped that fits, down to the last machine. */
static void many_different_rooms_are_filled_to_the_last(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct workload *w = workload_new();
    struct fleet *f = fleet_new(SCORE_BESTFIT, w, 1);
    struct ask a = ask_of(MANY, 0, 0);
    struct seat s;
    for (int i = 0; i < MANY; i++) {
        struct room m = machine_of(MANY + i, 0, 0);     /* one job each, and all different */
        fleet_add(f, &m, &m);
    }
    uint32_t class = fleet_class(f, &a);
    for (int i = 0; i < MANY; i++)
        assert_true(fleet_place(f, class, &s));
    assert_false(fleet_place(f, class, &s));
    fleet_give(f, class, s);
    assert_true(fleet_place(f, class, &s));
    fleet_free(f);
    workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(many_different_rooms_are_filled_to_the_last) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
