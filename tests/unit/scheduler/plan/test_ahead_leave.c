/* SPDX-License-Identifier: Apache-2.0 */
/* test_ahead_leave.c - a higher class is given room after the grace of who holds it, who waits again with what it had not saved;
 * not before its least time, not where its class stays, not for ever; and who waits for others begins when they have begun or
 * ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/ahead_int.h"
#include "tests/unit/scheduler/plan/ahead_world.h"

/* One machine of 8 slots, held until 5000 by a job that began at 900; one of a higher class waits for all of it. */
static void contest(struct world *x, int64_t grace_s, int64_t least_s)
{
    world_init(x, 1, 8, 0, 1);
    live_add(x, 0, 0, 8, 0, 0, 5000);
    x->live[0].began_us = 900 * SEC;
    x->live[0].leave = (struct ahead_leave){ .may = true, .grace_s = grace_s, .min_runtime_s = least_s };
    wait_add(x, 0, 8, 0, 100)->class_value = 10;
}

static void a_higher_class_gets_room_after_the_grace(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    contest(&x, 30, 0);
    ahead_run(&x.in, a, &r);
    const struct ahead_start *s = start_of(&r, 0), *again = start_of(&r, 1);
    assert_int_equal(r.leaves_us[0], 1030 * SEC);
    assert_int_equal(s->at_us, 1030 * SEC);
    assert_true(s->is_made && s->after == 0);
    assert_true(str_eq_c(r.why[0].reason, "Preempting"));
    assert_non_null(again);                     /* it waits, and begins anew when the other has ended */
    assert_int_equal(again->at_us, 1130 * SEC);
    assert_int_equal(again->ends_us, (1130 + 4100) * SEC);
    assert_ptr_equal(ahead_job(&x.in, again->job), &x.live[0].job);
    x.live[0].saved_us = 1000 * SEC;            /* a hundred seconds of it are kept */
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 1)->ends_us, (1130 + 4000) * SEC);
    arena_free(a);
}

static void nobody_goes_before_its_least_time_or_against_its_class(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    contest(&x, 30, 200);
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 1130 * SEC);       /* 200 s after 900, and the grace */
    contest(&x, 30, 0);
    x.live[0].leave.may = false;
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 5000 * SEC);
    assert_int_equal(r.leaves_us[0], 0);
    contest(&x, 30, 0);
    x.live[0].leave.preempted = 3;              /* sent away often enough */
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 5000 * SEC);
    contest(&x, 30, 0);
    x.jobs[0].class_value = 0;
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 5000 * SEC);
    arena_free(a);
}

/* One that has been told to go already: its room is the other's. */
static void what_is_under_way_is_played_on(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    contest(&x, 30, 0);
    x.live[0].is_leaving = true;
    x.live[0].leaves_for = x.jobs[0].job_id;
    x.live[0].ends_us = 1010 * SEC;
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 1010 * SEC);
    assert_int_equal(start_of(&r, 1)->at_us, 1110 * SEC);
    arena_free(a);
}

/* What begins in the run may be sent away in the run. */
static void a_start_is_cut_by_a_later_one(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    world_init(&x, 1, 8, 0, 1);
    wait_add(&x, 0, 8, 0, 1000);
    x.waits[0].leave = (struct ahead_leave){ .may = true, .grace_s = 10 };
    wait_add(&x, 0, 8, 0, 100)->class_value = 10;
    x.waits[1].ready_us = 1200 * SEC;
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 1000 * SEC);
    assert_true(start_of(&r, 0)->is_cut);
    assert_int_equal(start_of(&r, 0)->ends_us, 1210 * SEC);
    assert_int_equal(start_of(&r, 1)->at_us, 1210 * SEC);
    assert_int_equal(r.starts.n, 3);
    assert_int_equal(r.starts.items[2].job, 0);
    assert_int_equal(r.starts.items[2].at_us, 1310 * SEC);
    arena_free(a);
}

static void who_waits_for_others_begins_with_them_or_after_them(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    static const struct ahead_need ended = { 0, false }, begun = { 0, true }, live = { 6, false },
                                   unknown = { AHEAD_NONE, false },
                                   both[] = { { 0, false }, { 6, false } };
    const struct ahead_need *needs[] = { NULL, &ended, &begun, &live, &unknown, both };
    world_init(&x, 1, 100, 0, 1);
    live_add(&x, 0, 0, 1, 0, 0, 1500);
    for (size_t i = 0; i < 6; i++) {
        wait_add(&x, 0, 1, 0, 100);
        x.waits[i].needs = needs[i];
        x.waits[i].nneeds = needs[i] ? 1 + (i == 5) : 0;
    }
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 1000 * SEC);
    assert_in_range(start_of(&r, 1)->at_us, 1100 * SEC, 1101 * SEC);    /* ends so near count as one */
    assert_int_equal(start_of(&r, 2)->at_us, 1000 * SEC + 1);
    assert_int_equal(start_of(&r, 3)->at_us, 1500 * SEC);
    assert_null(start_of(&r, 4));
    assert_int_equal(start_of(&r, 5)->at_us, 1500 * SEC);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_higher_class_gets_room_after_the_grace),
                                        cmocka_unit_test(nobody_goes_before_its_least_time_or_against_its_class),
                                        cmocka_unit_test(what_is_under_way_is_played_on),
                                        cmocka_unit_test(a_start_is_cut_by_a_later_one),
                                        cmocka_unit_test(who_waits_for_others_begins_with_them_or_after_them) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
