/* SPDX-License-Identifier: Apache-2.0 */
/* test_str.c - views, buffers with a maximum, and numbers as text, with random data where a property exists. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/str.h"

static uint64_t random64(void)
{
    return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

static void views(void **state)
{
    (void)state;
    struct str head, rest;
    assert_true(str_eq(STR_NULL, STR("")) && str_eq_c(STR("a"), "a") && !str_eq(STR("a"), STR("b")));
    assert_true(str_starts(STR("abc"), "ab") && !str_starts(STR("a"), "ab") && str_starts(STR("a"), ""));
    assert_true(str_ends(STR("abc"), "bc") && !str_ends(STR("c"), "bc"));
    assert_true(str_cmp(STR("a"), STR("ab")) < 0 && str_cmp(STR("b"), STR("ab")) > 0 && str_cmp(STR("\x80"), STR("a")) > 0);
    assert_int_equal(str_cmp(STR_NULL, STR("")), 0);
    assert_int_equal(str_find(STR("abc"), 'c'), 2);
    assert_int_equal(str_find(STR_NULL, 'c'), -1);
    assert_true(str_eq_c(str_trim(STR(" \ta b\t ")), "a b") && str_trim(STR(" \t")).len == 0);
    assert_true(str_cut(STR("a=b=c"), '=', &head, &rest) && str_eq_c(head, "a") && str_eq_c(rest, "b=c"));
    assert_true(str_cut(STR("a="), '=', &head, &rest) && rest.ptr && rest.len == 0);
    assert_false(str_cut(STR("a"), '=', &head, &rest));
    assert_true(str_eq_c(head, "a") && !rest.ptr);
    /* FNV-1a, 64 bits: the test vectors of its authors. */
    assert_true(str_hash(STR("")) == 0xcbf29ce484222325u && str_hash(STR("a")) == 0xaf63dc4c8601ec8cu);
    assert_true(str_hash(STR("foobar")) == 0x85944171f73967e8u);
}

static void copies(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    assert_null(str_dup(a, STR_NULL).ptr);
    assert_string_equal(str_dup(a, STR("x")).ptr, "x");
    assert_string_equal(str_z(a, str_n("xyz", 2)), "xy");
    assert_true(str_eq_c(str_fmt(a, "%03d", 7), "007"));
    char *heap = str_dup_heap(STR("h"));
    assert_string_equal(heap, "h");
    free(heap);
    arena_free(a);
}

static void utf8(void **state)
{
    (void)state;
    static const char *const good[] = { "", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                                        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf" };
    static const char *const bad[] = { "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe2\x82",
                                       "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x9a", "\xf4\x90\x80\x80",
                                       "\xf5\x80\x80\x80", "\xff", "a\xfe" };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(str_is_utf8(str_c(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(str_is_utf8(str_c(bad[i])));
    assert_true(str_is_utf8(STR_NULL));
}

static void integers(void **state)
{
    (void)state;
    int64_t v;
    char text[32];
    srand(2);
    for (int i = 0; i < 20000; i++) {
        int64_t n = (int64_t)(random64() >> (rand() % 64));
        if (rand() % 2)
            n = -n;
        snprintf(text, sizeof text, "%" PRId64, n);
        assert_true(str_to_i64(str_c(text), INT64_MIN, INT64_MAX, &v) && v == n);
        struct buf b = BUF(64);
        buf_add_i64(&b, n);
        assert_string_equal(b.ptr, text);
        buf_release(&b);
    }
    assert_true(str_to_i64(STR("-9223372036854775808"), INT64_MIN, INT64_MAX, &v) && v == INT64_MIN);
    assert_true(str_to_i64(STR("-0"), 0, 0, &v) && v == 0);
    static const char *const bad[] = { "", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "9223372036854775808",
                                       "-9223372036854775809", "99999999999999999999", "000000000000000000000000001" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(str_to_i64(str_c(bad[i]), INT64_MIN, INT64_MAX, &v));
    v = 5;
    assert_false(str_to_i64(STR("11"), 0, 10, &v));
    assert_int_equal(v, 5);
}

static void reals_and_bools(void **state)
{
    (void)state;
    double d;
    bool b;
    char text[64];
    srand(4);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random64();
        double v;
        memcpy(&v, &bits, sizeof v);
        if (v != v || v - v != 0)
            continue;
        snprintf(text, sizeof text, "%.17g", v);
        assert_true(str_to_f64(str_c(text), &d));
        assert_memory_equal(&d, &v, sizeof v);
    }
    static const char *const bad[] = { "", " 1", "1 ", "nan", "inf", "-inf", "0x10", "0X10", "1e999", "1,5", "abc", "1e" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (str_to_f64(str_c(bad[i]), &d))
            fail_msg("\"%s\" was taken", bad[i]);
    assert_true(str_to_bool(STR("yes"), &b) && b && str_to_bool(STR("0"), &b) && !b);
    assert_false(str_to_bool(STR("True"), &b) || str_to_bool(STR(""), &b) || str_to_bool(STR_NULL, &b));
}

static void buffers(void **state)
{
    (void)state;
    struct buf b = BUF(10), unused = BUF(10);
    assert_string_equal(buf_str(&b).ptr, "");
    assert_true(buf_add_c(&b, "12345") && buf_add_char(&b, '6') && buf_printf(&b, "%d", 789));
    assert_string_equal(b.ptr, "123456789");
    assert_false(buf_add_c(&b, "xy"));
    assert_true(b.overflow);
    assert_false(buf_add_c(&b, ""));            /* an overflow stays */
    assert_string_equal(b.ptr, "123456789");
    buf_clear(&b);
    assert_true(!b.overflow && buf_add_c(&b, "0123456789"));
    assert_false(buf_printf(&b, "x"));
    buf_release(&b);
    buf_releasep(&unused);
    struct buf big = BUF(1 << 20);
    for (int i = 0; i < 100000; i++)
        assert_true(buf_add_c(&big, "0123456789"));
    assert_int_equal(big.len, 1000000);
    assert_false(buf_add_hex(&big, big.ptr, 100000));
    buf_release(&big);
}

static void json_text(void **state)
{
    (void)state;
    struct buf b = BUF(200);
    buf_add_json(&b, STR("a\"\\\n\t\x01\x1f\x7f/\xc3\xa9"));
    assert_string_equal(b.ptr, "\"a\\\"\\\\\\n\\t\\u0001\\u001f\x7f/\xc3\xa9\"");
    buf_clear(&b);
    buf_add_json(&b, STR(""));
    buf_add_hex(&b, "\x00\xff", 2);
    assert_string_equal(b.ptr, "\"\"00ff");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(views), cmocka_unit_test(copies), cmocka_unit_test(utf8),
                                        cmocka_unit_test(integers), cmocka_unit_test(reals_and_bools), cmocka_unit_test(buffers),
                                        cmocka_unit_test(json_text) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
