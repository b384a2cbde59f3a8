/* SPDX-License-Identifier: Apache-2.0 */
/* test_usage.c - samples of a process that works, their pace, and the one of a short life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <time.h>
#include <unistd.h>
#include "workers/agent/usage.h"

enum { SECOND = 1000000 };

static void our_own_account_is_read(void **state)
{
    (void)state;
    int64_t before, after, bytes, more;
    assert_true(usage_read(getpid(), &before, &bytes));
    assert_true(bytes > 1 << 20 && bytes < INT64_C(1) << 46);
    for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;)
        ;
    assert_true(usage_read(getpid(), &after, &more));
    assert_true(after - before >= SECOND / 10 && after - before < 5 * SECOND);
    assert_false(usage_read(-7, &after, &more));
}

static void samples_keep_their_pace_and_thin_out(void **state)
{
    (void)state;
    struct usage u;
    struct usage_sample s;
    int64_t now = SECOND, taken = 0, last = 0, interval = 5;
    usage_begin(&u, getpid(), 2, 5000, now);
    assert_false(usage_due(&u, now + 5 * SECOND - 1, &s));
    for (int64_t t = 0; t < 24 * 3600; t++)
        if (usage_due(&u, now + t * SECOND, &s)) {
            taken++;
            assert_int_equal(s.step, t);
            assert_int_equal(t - last, interval);           /* none comes sooner, and after each thinning half as often */
            last = t;
            interval = u.interval_us / SECOND;
        }
    /* 720 each: 1 h, 2 h, 4 h, 8 h, and 9 h at 80 s */
    assert_in_range(taken, 4 * USAGE_SAMPLES_EACH + 390, 4 * USAGE_SAMPLES_EACH + 410);
    assert_int_equal(u.interval_us, 80 * SECOND);
    assert_non_null(strstr(s.json, "{\"system.cpu_percent\":"));
    assert_false(usage_end(&u, now + SECOND, 1, 1, &s));
}

static void a_short_life_has_one_sample(void **state)
{
    (void)state;
    struct usage u;
    struct usage_sample s;
    usage_begin(&u, getpid(), 2, 5000, SECOND);
    assert_true(usage_end(&u, 3 * SECOND, SECOND, 4096, &s));
    assert_string_equal(s.json, "{\"system.cpu_percent\":25,\"system.memory_bytes\":4096}");
    assert_int_equal(s.step, 2);
    assert_false(usage_end(&u, 3 * SECOND, SECOND, 4096, &s));
    usage_begin(&u, getpid(), 2, 0, SECOND);
    assert_false(usage_due(&u, INT64_MAX - 1, &s));
    assert_false(usage_end(&u, 3 * SECOND, SECOND, 4096, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(our_own_account_is_read), cmocka_unit_test(samples_keep_their_pace_and_thin_out),
                                        cmocka_unit_test(a_short_life_has_one_sample) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
