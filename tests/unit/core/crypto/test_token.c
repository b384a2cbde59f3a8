/* SPDX-License-Identifier: Apache-2.0 */
/* test_token.c - shape, checksum, and that one changed character is always noticed. */
#include "crypto_test.h"
#include "core/crypto/token.h"

static void test_tokens(void **state)
{
    char t[TOKEN_TEXT], u[TOKEN_TEXT];
    struct str kind;
    uint8_t a[32], b[32];
    (void)state;
    OK(token_make("api", t, NULL));
    OK(token_make("api", u, NULL));
    assert_string_not_equal(t, u);
    assert_int_equal(strlen(t), 4 + 3 + 1 + 30 + 1 + 6);
    assert_true(token_check(str_c(t), &kind));
    assert_true(str_eq_c(kind, "api"));
    token_hash(str_c(t), a);
    token_hash(str_c(u), b);
    assert_memory_not_equal(a, b, 32);
    for (size_t i = 0; t[i]; i++) {
        char old = t[i];
        t[i] = old == 'a' ? 'b' : 'a';
        assert_false(token_check(str_c(t), NULL));
        t[i] = old;
    }
    assert_true(token_check(str_c(t), NULL));
    assert_false(token_check(str_n(t, strlen(t) - 1), NULL));
    assert_false(token_check(STR(""), NULL));
    assert_false(token_check(STR("flj_api_short_000000"), NULL));
    assert_int_equal(token_make("", t, NULL), ERR_INVALID);
    assert_int_equal(token_make("UPPER", t, NULL), ERR_INVALID);
    assert_int_equal(token_make("thirteenchars", t, NULL), ERR_INVALID);
    OK(token_make("twelvechars0", t, NULL));
    assert_true(token_check(str_c(t), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_tokens) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
