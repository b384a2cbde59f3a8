/* SPDX-License-Identifier: Apache-2.0 */
/* test_fetch.c - leases that are taken: after the machine was forgotten, with sleep in them, and twice. */
#include "agent_kit.h"
#include "../compute/ort/ort_kit.h"

static void test_a_machine_that_was_forgotten_registers_again(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 200, .spec = "{}", .forgets_at = 20 };
    double rate;
    int64_t stop_us;
    with_agent(&k, 200, &rate, &stop_us);
    assert_int_equal(k.finished, 200);
    assert_int_equal(k.enrolled, 3);
    assert_true(k.asked_anew);
}

static void test_sleepers_end_and_are_returned(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 10, .spec = "{\"sleep_ms\":50}" }, late = { .to_grant = 10, .spec = "{\"sleep_ms\":60000}" };
    double rate;
    int64_t stop_us;
    with_agent(&k, 10, &rate, &stop_us);
    assert_int_equal(k.finished, 10);
    with_agent(&late, 0, &rate, &stop_us);
    assert_int_equal(late.returned, 10);
    assert_true(stop_us < 3000000);
}

static void test_a_lease_that_comes_again_is_run_once(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 10, .spec = "{\"sleep_ms\":500}", .repeats = true };
    double rate;
    int64_t stop_us;
    with_agent(&k, 10, &rate, &stop_us);
    assert_int_equal(k.finished + k.returned, 10);
}

static void test_an_api_of_the_release_before_is_told_what_it_knows(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 10, .spec = "{}", .is_before = true, .onnxruntime = kit_fake_path() };
    double rate;
    int64_t stop_us;
    with_agent(&k, 10, &rate, &stop_us);
    assert_int_equal(k.finished, 10);
    assert_int_equal(k.said_engines, 1);        /* once, and then what it knows */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_machine_that_was_forgotten_registers_again),
                                        cmocka_unit_test(test_sleepers_end_and_are_returned),
                                        cmocka_unit_test(test_a_lease_that_comes_again_is_run_once),
                                        cmocka_unit_test(test_an_api_of_the_release_before_is_told_what_it_knows) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
