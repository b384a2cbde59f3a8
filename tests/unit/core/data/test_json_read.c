/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_read.c - the next thing is taken, or nothing is; lists have their lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/data/json_read.h"

static struct json_scan over(const char *s)
{
    return (struct json_scan){ s, s + strlen(s), NULL };
}

static void test_members_in_order(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct json_scan s = over(" \"n\" : -12 , \"t\":\"a\\u00e9\", \"f\":1.5e2, \"l\":[1, -2,3] ");
    struct str text;
    int64_t n = 0, list[3] = { 0 };
    size_t count = 0;
    double f = 0;
    assert_true(json_read_key(&s, "n") && json_read_i64(&s, &n) && json_scan_take(&s, ','));
    assert_true(json_read_key(&s, "t") && json_read_text(&s, a, 8, &text) && json_scan_take(&s, ','));
    assert_true(json_read_key(&s, "f") && json_read_f64(&s, &f) && json_scan_take(&s, ','));
    assert_true(json_read_key(&s, "l") && json_read_i64s(&s, list, 3, &count));
    assert_true(n == -12 && str_eq_c(text, "a\xc3\xa9") && f == 150 && count == 3 && list[1] == -2);
}

static void test_refusals(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct str text;
    int64_t n, list[3];
    size_t count;
    struct json_scan s = over("\"x\":1");
    assert_false(json_read_key(&s, "y"));
    s = over("[1,2,3,4]");
    assert_false(json_read_i64s(&s, list, 3, &count));
    s = over("[1,2");
    assert_false(json_read_i64s(&s, list, 3, &count));
    s = over("[1 2]");
    assert_false(json_read_i64s(&s, list, 3, &count));
    s = over("9223372036854775808");
    assert_false(json_read_i64(&s, &n));
    s = over("\"abcdefghi\"");
    assert_false(json_read_text(&s, a, 8, &text));
    s = over("\"abc");
    assert_false(json_read_text(&s, a, 8, &text));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_members_in_order), cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
