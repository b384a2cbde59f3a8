/* SPDX-License-Identifier: Apache-2.0 */
/* test_clock.c - RFC 3339 over the whole range 0001..9999, against the C library where it agrees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "core/base/clock.h"

static const int64_t first_us = -62135596800000000, last_us = 253402300799999000;

static void every_day(void **state)
{
    (void)state;
    char text[TIME_TEXT], expect[64];
    int64_t back;
    for (int64_t day = first_us / 86400000000; day <= last_us / 86400000000; day++) {
        int64_t us = day * 86400000000 + (day * 7919 % 86400 + 86400) % 86400 * 1000000;
        assert_int_equal(time_text(us, text), 24);
        if (!time_parse(str_c(text), &back) || back != us)
            fail_msg("%s", text);
        if (day % 37)
            continue;
        time_t t = (time_t)(us / 1000000);
        struct tm tm;
        assert_non_null(gmtime_r(&t, &tm));
        snprintf(expect, sizeof expect, "%04d-%02d-%02dT%02d:%02d:%02d.000Z", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                 tm.tm_hour, tm.tm_min, tm.tm_sec);
        assert_string_equal(text, expect);
    }
}

static void random_times(void **state)
{
    (void)state;
    char text[TIME_TEXT];
    int64_t back;
    srand(6);
    for (int i = 0; i < 50000; i++) {
        int64_t ms = (int64_t)(((uint64_t)rand() << 31 ^ (uint64_t)rand()) % (uint64_t)((last_us - first_us) / 1000));
        int64_t us = first_us + ms * 1000;
        time_text(us, text);
        assert_true(time_parse(str_c(text), &back) && back == us);
    }
    time_text(last_us, text);
    assert_string_equal(text, "9999-12-31T23:59:59.999Z");
    time_text(first_us, text);
    assert_string_equal(text, "0001-01-01T00:00:00.000Z");
    time_text(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
}

static void parsing(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t us; } good[] = {
        { "1970-01-01T00:00:00Z", 0 },
        { "1970-01-01t00:00:00z", 0 },
        { "1970-01-01 00:00:01.5Z", 1500000 },
        { "1970-01-01T01:00:00+01:00", 0 },
        { "1969-12-31T23:30:00.000001-00:30", 1 },
        { "1970-01-01T00:00:00.123456789Z", 123456 },
        { "2000-02-29T00:00:00Z", 951782400000000 },
        { "2016-12-31T23:59:60Z", 1483228800000000 },
    };
    static const char *const bad[] = {
        "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00.Z", "1970-13-01T00:00:00Z", "1970-00-01T00:00:00Z",
        "1970-01-00T00:00:00Z", "1970-04-31T00:00:00Z", "1900-02-29T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:61Z", "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+0100", "1970-01-01T00:00:00Zx",
        "1970-1-01T00:00:00.0Z", "-970-01-01T00:00:00Z", "1970/01/01T00:00:00Z", "1970-01-01T00:00:00+01:60",
        "0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
    };
    int64_t us = 42;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(time_parse(str_c(good[i].text), &us));
        assert_int_equal(us, good[i].us);
    }
    us = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (time_parse(str_c(bad[i]), &us))
            fail_msg("%s was taken", bad[i]);
    assert_int_equal(us, 42);
}

static void calendar_months(void **state)
{
    (void)state;
    static const struct { const char *from; int months; const char *to; } rows[] = {
        { "2026-01-31T10:00:00Z", 1, "2026-02-28T10:00:00.000Z" }, { "2028-01-31T10:00:00Z", 1, "2028-02-29T10:00:00.000Z" },
        { "2026-12-15T23:59:59Z", 1, "2027-01-15T23:59:59.000Z" }, { "2026-03-31T00:00:00Z", 1, "2026-04-30T00:00:00.000Z" },
        { "2026-11-30T00:00:00Z", 3, "2027-02-28T00:00:00.000Z" }, { "2024-02-29T00:00:00Z", 12, "2025-02-28T00:00:00.000Z" },
        { "1969-12-31T23:00:00Z", 2, "1970-02-28T23:00:00.000Z" }, { "2026-05-05T05:05:05Z", 0, "2026-05-05T05:05:05.000Z" },
        { "2000-02-29T00:00:00Z", 1200, "2100-02-28T00:00:00.000Z" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t us;
        char text[TIME_TEXT];
        assert_true(time_parse(str_c(rows[i].from), &us));
        time_text(time_add_months(us, rows[i].months), text);
        assert_string_equal(text, rows[i].to);
    }
}

static int64_t fake(void *ctx)
{
    return *(int64_t *)ctx;
}

static void clocks(void **state)
{
    (void)state;
    int64_t t = 5;
    struct clock c = { fake, fake, &t };
    assert_int_equal(clock_wall_us(&c), 5);
    assert_true(clock_wall_us(&clock_system) > 1600000000000000);
    int64_t a = clock_mono_us(&clock_system), b = clock_mono_us(&clock_system);
    assert_true(b >= a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_day), cmocka_unit_test(random_times), cmocka_unit_test(parsing),
                                        cmocka_unit_test(calendar_months), cmocka_unit_test(clocks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
