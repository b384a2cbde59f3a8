/* SPDX-License-Identifier: Apache-2.0 */
/* test_resource.c - what fits a machine, at its edges, and that what is taken and given back leaves no trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/scheduler/plan/fleet_cases.h"

static void fits_to_the_last_unit_and_not_past_it(void **state)
{
    (void)state;
    struct room r = machine_of(8000, 2, 3);
    struct ask a = ask_of(8000, 2, 1000);
    a.memory_bytes = r.memory_bytes;
    assert_true(resource_fits(&r, &a));
    a.cpu_milli++;
    assert_false(resource_fits(&r, &a));
    a.cpu_milli--;
    a.memory_bytes++;
    assert_false(resource_fits(&r, &a));
    a.memory_bytes--;
    a.gpus = 3;
    assert_false(resource_fits(&r, &a));
    a.gpus = 2;
    a.groups = (struct groups){ 0 };
    assert_false(resource_fits(&r, &a));
    groups_add(&a.groups, 3);
    assert_true(resource_fits(&r, &a));
}

static void a_share_lies_on_one_device(void **state)
{
    (void)state;
    struct room r = machine_of(8000, 2, 0);
    struct ask half = ask_of(1000, 1, 600), whole = ask_of(1000, 1, 1000);
    resource_take(&r, &half, resource_devices(&r, &half, 1000));
    resource_take(&r, &half, resource_devices(&r, &half, 1000));
    assert_int_equal(room_milli(&r), 800);
    assert_false(resource_fits(&r, &half));
    assert_false(resource_fits(&r, &whole));
    struct ask small = ask_of(1000, 1, 400);
    assert_int_equal(resource_devices(&r, &small, 400), 1);
}

static void refuses_asks_that_mean_nothing(void **state)
{
    (void)state;
    static const int bad[][2] = { { 0, 1 }, { 1, 0 }, { 1, 1001 }, { 2, 500 }, { -1, 1000 }, { MACHINE_GPUS_MAX + 1, 1000 } };
    static const int good[][2] = { { 0, 0 }, { 1, 1 }, { 1, 1000 }, { MACHINE_GPUS_MAX, 1000 } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ask a = ask_of(1, bad[i][0], bad[i][1]);
        assert_false(ask_is_valid(&a));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct ask a = ask_of(1, good[i][0], good[i][1]);
        assert_true(ask_is_valid(&a));
    }
    struct ask a = ask_of(CPU_MILLI_MAX, 0, 0);
    a.memory_bytes = MEMORY_BYTES_MAX;
    assert_true(ask_is_valid(&a));
    a.cpu_milli++;
    assert_false(ask_is_valid(&a));
}

static void what_is_given_back_leaves_no_trace(void **state)
{
    (void)state;
    struct random rnd = { 7 };
    for (int i = 0; i < 20000; i++) {
        struct room r = any_machine(&rnd), before = r;
        struct ask a = any_ask(&rnd);
        if (!resource_fits(&r, &a))
            continue;
        uint32_t devices = resource_devices(&r, &a, a.gpus ? 1000 : 0);
        resource_take(&r, &a, devices);
        assert_true(room_is_valid(&r));
        assert_int_equal(room_milli(&before) - room_milli(&r), ask_milli(&a));
        resource_give(&r, &a, devices);
        assert_memory_equal(&r, &before, sizeof r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_to_the_last_unit_and_not_past_it),
        cmocka_unit_test(a_share_lies_on_one_device),
        cmocka_unit_test(refuses_asks_that_mean_nothing),
        cmocka_unit_test(what_is_given_back_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
