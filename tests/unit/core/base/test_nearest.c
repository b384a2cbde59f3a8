/* SPDX-License-Identifier: Apache-2.0 */
/* test_nearest.c - distances of words, and which one somebody may have meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/base/nearest.h"

static size_t far(const char *a, const char *b)
{
    const size_t there = nearest_distance(str_c(a), str_c(b)), back = nearest_distance(str_c(b), str_c(a));
    assert_int_equal(there, back);
    return there;
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(far("", ""), 0);
    assert_int_equal(far("", "night"), 5);
    assert_int_equal(far("kitten", "sitting"), 3);
    assert_int_equal(far("nihgt", "night"), 2);
    assert_int_equal(far("night", "nights"), 1);
    static const char long_word[] = "0123456789012345678901234567890123456789012345678901234567890123456789";
    assert_int_equal(far(long_word, long_word), NEAREST_MAX);
}

static void the_nearest_that_is_near(void **state)
{
    (void)state;
    static const struct str known[] = { { "default", 7 }, { "night", 5 }, { "nightly", 7 } };
    assert_true(str_eq_c(nearest_of(STR("nigth"), known, 3), "night"));
    assert_true(str_eq_c(nearest_of(STR("nightl"), known, 3), "night"));       /* the first of equals */
    assert_null(nearest_of(STR("weekend"), known, 3).ptr);
    assert_null(nearest_of(STR("night"), known, 0).ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(distances), cmocka_unit_test(the_nearest_that_is_near) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
