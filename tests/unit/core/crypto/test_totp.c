/* SPDX-License-Identifier: Apache-2.0 */
/* test_totp.c - the vectors of RFC 4226 appendix D and RFC 6238 appendix B, the window, and what is no code. */
#include "crypto_test.h"
#include "core/crypto/totp.h"

static const uint8_t secret[] = "12345678901234567890";

static void hotp_as_in_rfc_4226(void **state)
{
    (void)state;
    static const uint32_t want[] = { 755224, 287082, 359152, 969429, 338314, 254676, 287922, 162583, 399871, 520489 };
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(hotp_code(secret, 20, i, 6), want[i]);
}

static void totp_as_in_rfc_6238(void **state)
{
    (void)state;
    static const struct { int64_t at; uint32_t code; } v[] = { { 59, 94287082 }, { 1111111109, 7081804 }, { 1111111111, 14050471 },
                                                               { 1234567890, 89005924 }, { 2000000000, 69279037 }, { 20000000000, 65353130 } };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        char digits[16];
        assert_int_equal(hotp_code(secret, 20, (uint64_t)(v[i].at / 30), 8), v[i].code);
        snprintf(digits, sizeof digits, "%06u", v[i].code % 1000000);
        assert_int_equal(totp_step_of(secret, str_c(digits), v[i].at), v[i].at / 30);
    }
}

static void one_step_of_either_side(void **state)
{
    (void)state;
    const int64_t at = 1234567890, step = at / 30;
    for (int64_t d = -3; d <= 3; d++) {
        char digits[16];
        snprintf(digits, sizeof digits, "%06u", hotp_code(secret, 20, (uint64_t)(step + d), 6));
        assert_int_equal(totp_step_of(secret, str_c(digits), at), d >= -1 && d <= 1 ? step + d : -1);
    }
}

static void what_is_no_code(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "00592", "0059244", "00592a", "-05924", "005924\n", "٠٠٥٩٢٤", "0x5924", "      " };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(totp_step_of(secret, str_c(bad[i]), 1234567890), -1);
    assert_int_equal(totp_step_of(secret, STR("005 924"), 1234567890), 1234567890 / 30);
    assert_int_equal(totp_step_of(secret, STR("005924"), 0), -1);
}

static void base32_as_in_rfc_4648(void **state)
{
    (void)state;
    char out[BASE32_SECRET];
    base32_secret(secret, out);
    assert_string_equal(out, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(hotp_as_in_rfc_4226), cmocka_unit_test(totp_as_in_rfc_6238),
                                        cmocka_unit_test(one_step_of_either_side), cmocka_unit_test(what_is_no_code),
                                        cmocka_unit_test(base32_as_in_rfc_4648) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
