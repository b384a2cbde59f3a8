/* SPDX-License-Identifier: Apache-2.0 */
/* test_encoding.c - hexadecimal and base64 there and back, at every length; what is no such text is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/str.h"

static void hex_and_base64(void **state)
{
    (void)state;
    static const struct { const char *raw, *text; } rows[] = {      /* RFC 4648 section 10 */
        { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };
    char text[BASE64_MAX(100)], raw[100], back[100];
    size_t n;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(base64_encode(rows[i].raw, strlen(rows[i].raw), text, false), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
    srand(5);
    for (int i = 0; i < 5000; i++) {
        size_t len = (size_t)rand() % 70;
        for (size_t k = 0; k < len; k++)
            raw[k] = (char)rand();
        size_t m = base64_encode(raw, len, text, i & 1);
        assert_true(m < BASE64_MAX(len) + 1);
        assert_true(base64_decode(str_n(text, m), back, sizeof back, &n, i & 1) && n == len && !memcmp(raw, back, n));
        if (len)
            assert_false(base64_decode(str_n(text, m), back, len - 1, &n, i & 1));
        m = hex_encode(raw, len < 40 ? len : 40, text);
        assert_true(hex_decode(str_n(text, m), back, m / 2) && !memcmp(raw, back, m / 2));
    }
    static const char *const bad[] = { "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====", "Zm9v\n", "Z g=", "Zm8-" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(base64_decode(str_c(bad[i]), back, sizeof back, &n, false));
    assert_false(base64_decode(STR("Zg=="), back, sizeof back, &n, true));
    assert_false(base64_decode(STR("Zh"), back, sizeof back, &n, true));
    assert_true(hex_decode(STR("aBcD"), back, 2));
    assert_false(hex_decode(STR("aBc"), back, 1) || hex_decode(STR("ag"), back, 1) || hex_decode(STR("aa"), back, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(hex_and_base64) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
