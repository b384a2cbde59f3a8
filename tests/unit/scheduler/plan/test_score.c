/* SPDX-License-Identifier: Apache-2.0 */
/* test_score.c - the rows by name, and each policy on the example that its name stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/fleet.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

static void every_row_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < SCORE_COUNT; i++) {
        const struct score_row *r = score_row((enum score_policy)i);
        assert_int_equal(score_by_name(str_c(r->name)), i);
        assert_false(r->waste && r->direct);
    }
    assert_int_equal(score_by_name(STR("best")), SCORE_COUNT);
}

/* Where an ask goes in a fleet of two machines, of which the first is empty and the second has 400 thousandths free on its only
 * device. */
static uint32_t goes_to(enum score_policy p, struct ask a)
{
    struct workload *w = workload_new();
    struct ask usual = ask_of(1000, 1, 1000);
    for (int i = 0; i < 16; i++)
        workload_arrive(w, &usual);
    workload_draw(w);
    struct fleet *f = fleet_new(p, w, 1);
    struct room empty = machine_of(64000, 1, 0), begun = empty;
    begun.milli[0] = 400;
    fleet_add(f, &empty, &empty);
    fleet_add(f, &empty, &begun);
    struct seat s;
    assert_true(fleet_place(f, fleet_class(f, &a), &s));
    fleet_free(f);
    workload_free(w);
    return s.machine;
}

static void a_share_goes_beside_another_share(void **state)
{
    (void)state;
    static const enum score_policy all[] = { SCORE_DEFAULT, SCORE_FGD, SCORE_BESTFIT, SCORE_DOTPROD, SCORE_PACKING };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_int_equal(goes_to(all[i], ask_of(1000, 1, 400)), 1);
        assert_int_equal(goes_to(all[i], ask_of(1000, 1, 500)), 0);
    }
}

/* Half of the tasks ask for 700 of a device, half for a whole one: on a device with 600 free neither fits, with 900 free the
 * first does. */
static void fragments_are_what_popular_types_cannot_use(void **state)
{
    (void)state;
    struct workload *w = workload_new();
    struct ask share = ask_of(1000, 1, 700), whole = ask_of(1000, 1, 1000);
    for (int i = 0; i < 5; i++) {
        workload_arrive(w, &share);
        workload_arrive(w, &whole);
    }
    workload_draw(w);
    struct room r = machine_of(8000, 2, 0);
    assert_int_equal(waste_fgd(w, &r), 0);
    r.milli[0] = 600;
    assert_int_equal(waste_fgd(w, &r), 10 * 600);
    r.milli[0] = 900;
    assert_int_equal(waste_fgd(w, &r), 5 * 900);
    r.cpu_milli = 999;                  /* no processor left: all of it is fragment for all */
    assert_int_equal(waste_fgd(w, &r), 10 * 1900);
    workload_free(w);
}

/* Packing keeps machines whole: a job goes where less is left, and to an idle machine last of all. */
static void packing_fills_what_is_begun(void **state)
{
    (void)state;
    struct room nearly_full = machine_of(64000, 8, 0), begun = nearly_full, idle = nearly_full;
    for (int i = 2; i < 8; i++)
        nearly_full.milli[i] = 0;
    begun.milli[7] = 0;
    const struct ask whole = ask_of(1000, 1, GPU_MILLI), share = ask_of(1000, 1, 300);
    const int64_t full = direct_packing(NULL, &nearly_full, &whole, GPU_MILLI, false);
    const int64_t half = direct_packing(NULL, &begun, &whole, GPU_MILLI, false);
    assert_true(full > half && half > direct_packing(NULL, &idle, &whole, GPU_MILLI, true));
    assert_true(direct_packing(NULL, &begun, &share, 300, false) > direct_packing(NULL, &begun, &share, 400, false));
    assert_true(direct_packing(NULL, &begun, &share, 900, false) > full);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_row_is_found_by_its_name),
                                        cmocka_unit_test(a_share_goes_beside_another_share),
                                        cmocka_unit_test(fragments_are_what_popular_types_cannot_use),
                                        cmocka_unit_test(packing_fills_what_is_begun) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
