/* SPDX-License-Identifier: Apache-2.0 */
/* test_devices.c - what attempts hold of a machine's devices is read back, and what is picked is free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/devices.h"
#include "scheduler/plan/random.h"

static void what_is_held_is_read_numbered_attempts_first(void **state)
{
    (void)state;
    struct devices d;
    assert_true(devices_read(&d, 4, STR("0:1:1000,1:1:250,1:1:250,8:1:1000")));     /* the first has no number: device 1 */
    assert_int_equal(d.milli[0], 500);
    assert_int_equal(d.milli[1], 0);
    assert_int_equal(d.milli[2], 1000);
    assert_int_equal(d.milli[3], 0);
    assert_int_equal(devices_whole(&d), 1);
    assert_int_equal(devices_level(&d), 1000);
    assert_true(devices_read(&d, 3, STR("12:2:1000")));                             /* one of them is gone */
    assert_int_equal(devices_pick(&d, 1, 1000), 1);
    assert_int_equal(devices_whole(&d), 1);
    static const char *const wrong[] = { "1", "1:1", "1:1:0", "1:1:1001", "1:65:1000", "x:1:1000", "1:1:1000:1", "1:1:1000,," };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(devices_read(&d, 2, str_c(wrong[i])));
}

static void a_share_takes_the_fullest_device_that_is_enough(void **state)
{
    (void)state;
    struct devices d;
    assert_true(devices_read(&d, 3, STR("1:1:300,2:1:600")));
    assert_int_equal(devices_pick(&d, 1, 400), 2);
    assert_int_equal(devices_pick(&d, 1, 500), 1);
    assert_int_equal(devices_pick(&d, 1, 1000), 4);
    assert_int_equal(devices_pick(&d, 2, 1000), 0);
    assert_false(devices_take(&d, 4, 2, 1000));
    assert_false(devices_take(&d, 8, 1, 100));
    assert_false(devices_take(&d, 2, 1, 401));
    assert_true(devices_take(&d, 2, 1, 400));
    assert_int_equal(d.milli[1], 0);
}

/* By chance: what is picked can be taken, and what cannot be picked is not there. */
static void what_is_picked_is_free(void **state)
{
    (void)state;
    struct random r = { 3 };
    size_t none = 0;
    for (int i = 0; i < 20000; i++) {
        struct devices d = { .n = (int)random_below(&r, DEVICES_MAX + 1) };
        for (int k = 0; k < d.n; k++)
            d.milli[k] = (uint16_t)(random_below(&r, 3) ? 250 * random_below(&r, 5) : GPU_MILLI);
        int64_t gpus = 1 + (int64_t)random_below(&r, 8), milli = gpus > 1 ? GPU_MILLI : 50 * (1 + (int64_t)random_below(&r, 20));
        const bool is_there = milli < GPU_MILLI ? devices_level(&d) >= milli : devices_whole(&d) >= gpus;
        const uint64_t mask = devices_pick(&d, gpus, milli);
        assert_int_equal(mask != 0, is_there);
        none += !mask;
        if (mask)
            assert_true(devices_take(&d, mask, gpus, milli));
    }
    assert_true(none > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_held_is_read_numbered_attempts_first),
                                        cmocka_unit_test(a_share_takes_the_fullest_device_that_is_enough),
                                        cmocka_unit_test(what_is_picked_is_free) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
