/* SPDX-License-Identifier: Apache-2.0 */
/* test_deprecation.c - the headers of a route that ends, and the ends that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "api/deprecation.h"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

/* Dates by `date -ud DAY +%s` and `date -ud DAY '+%a, %d %b %Y %T GMT'`. */
static void headers_of_a_row(void **state)
{
    (void)state;
    struct end_headers h = { 0 };
    struct err e = { 0 };
    const struct route_end end = { "2026-12-01", "2027-09-01", "/v1/queues" };
    assert_int_equal(deprecation_read(&end, "queue_old", arena, &h, &e), ERR_OK);
    assert_true(str_eq_c(h.deprecation, "@1796083200"));
    assert_true(str_eq_c(h.sunset, "Wed, 01 Sep 2027 00:00:00 GMT"));
    assert_true(str_eq_c(h.link, "<https://falaj.ae/upgrade#queue_old>; rel=\"deprecation\"; type=\"text/html\", "
                                 "</v1/queues>; rel=\"successor-version\""));
    const struct route_end alone = { "2028-02-29", "2028-08-27", NULL };       /* 180 days to the day */
    assert_int_equal(deprecation_read(&alone, "x", arena, &h, &e), ERR_OK);
    assert_null(strstr(h.link.ptr, "successor"));
}

static void ends_that_are_refused(void **state)
{
    (void)state;
    static const struct { struct route_end end; const char *why; } bad[] = {
        { { "2026-12-01", "2027-05-29", NULL }, "179 days" },
        { { "2026-12-01", "2026-11-01", NULL }, "-30 days" },
        { { NULL, "2027-09-01", NULL }, ".deprecated is \"\"" },
        { { "2026-12-01", NULL, NULL }, ".sunset is \"\"" },
        { { "1 December 2026", "2027-09-01", NULL }, "1 December 2026" },
        { { "2026-12-01", "2027-02-30", NULL }, "2027-02-30" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct end_headers h = { 0 };
        struct err e = { 0 };
        assert_int_equal(deprecation_read(&bad[i].end, "old_op", arena, &h, &e), ERR_INTERNAL);
        if (!strstr(e.msg, bad[i].why) || !strstr(e.msg, "old_op"))
            fail_msg("row %zu: %s", i, e.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(headers_of_a_row), cmocka_unit_test(ends_that_are_refused) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
