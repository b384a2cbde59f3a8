/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_scan.c - what is JSON is moved over whole, what parsers differ on is refused, and nothing is read past the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/json_scan.h"

/* In memory that ends where the text ends, so that a byte too far is seen. */
static struct json_scan scan_of(char *copy, const char *text)
{
    size_t n = strlen(text);
    memcpy(copy, text, n);
    return (struct json_scan){ copy, copy + n, NULL };
}

static bool whole(const char *text, int depth)
{
    char *copy = malloc(strlen(text) + !*text);
    struct json_scan s = scan_of(copy, text);
    bool ok = json_scan_value(&s, depth);
    assert_true(ok || s.why);
    json_scan_space(&s);
    ok = ok && s.at == s.end;
    free(copy);
    return ok;
}

static void values(void **state)
{
    (void)state;
    static const char *const good[] = { "0", "-0", "1.5e-3", "\"\"", "\"a\\n\\u00e9\\ud83d\\ude00\"", "[]", "{}",
                                        " [ 1 , {\"a\":[true,false,null]} ] ", "1E+9", NULL };
    static const char *const bad[] = {
        "", " ", "01", "-", "-01", "1.", ".5", "+1", "1e", "1e+", "1.e1", "1.2.3", "--1", "0x1", "NaN", "Infinity", "tru", "nul",
        "'a'", "\"", "\"a", "\"\\\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u0000\"", "\"\\ud83d\"",
        "\"\\ud83d\\u0041\"",
        "\"\\ude00\"", "\"\x01\"", "\"\n\"",
        "[", "[1", "[1,", "[1,]", "[,1]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{1:1}",
        "[1}", "1 2", "[]]", NULL };
    for (int i = 0; good[i]; i++)
        if (!whole(good[i], 4))
            fail_msg("refused: %s", good[i]);
    for (int i = 0; bad[i]; i++)
        if (whole(bad[i], 4))
            fail_msg("taken: %s", bad[i]);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    char text[] = "{\"a\\u00e9\":[1,-2.5e3,\"b\\\\\",{\"c\":null}],\"d\":{\"e\":[true,false]}}";
    assert_true(whole(text, 4));
    for (size_t n = strlen(text); n-- > 0;) {
        text[n] = 0;
        if (whole(text, 4))
            fail_msg("taken: %s", text);
    }
}

static void levels(void **state)
{
    (void)state;
    assert_true(whole("[[[1]]]", 4));
    assert_false(whole("[[[1]]]", 3));
    char deep[20001];
    memset(deep, '[', 20000);
    deep[20000] = 0;
    assert_false(whole(deep, 16));
}

static void strings(void **state)
{
    (void)state;
    static const struct { const char *text, *want; } cases[] = {
        { "\"\"", "" }, { "\"abc\"", "abc" }, { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
        { "\"\\u0041\\u00e9\"", "A\xc3\xa9" },
        { "\"\\u20ac\"", "\xe2\x82\xac" }, { "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
        { "\"\\ud800\\udc00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[64];
        size_t n = 99, measured = 98;
        struct json_scan s = { cases[i].text, cases[i].text + strlen(cases[i].text), NULL }, m = s;
        assert_true(json_scan_string(&m, NULL, &measured));
        assert_true(json_scan_string(&s, out, &n));
        assert_int_equal(n, measured);
        assert_int_equal(n, strlen(cases[i].want));
        assert_memory_equal(out, cases[i].want, n);
        assert_ptr_equal(s.at, s.end);
        assert_true(n <= strlen(cases[i].text) - 2);        /* never longer than written */
    }
}

static void integers(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "-1", "01", "00", "18446744073709551616", "99999999999999999999", "a", " 1", NULL };
    uint64_t v = 7;
    struct json_scan s = { "18446744073709551615,", NULL, NULL };
    s.end = s.at + 21;
    assert_true(json_scan_u64(&s, &v) && v == UINT64_MAX && *s.at == ',');
    s = (struct json_scan){ "0", NULL, NULL };
    s.end = s.at + 1;
    assert_true(json_scan_u64(&s, &v) && v == 0);
    for (int i = 0; bad[i]; i++) {
        s = (struct json_scan){ bad[i], bad[i] + strlen(bad[i]), NULL };
        if (json_scan_u64(&s, &v))
            fail_msg("taken: %s", bad[i]);
        assert_ptr_equal(s.at, bad[i]);                     /* a refusal moves nothing */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(values), cmocka_unit_test(every_cut_is_refused),
                                        cmocka_unit_test(levels), cmocka_unit_test(strings), cmocka_unit_test(integers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
