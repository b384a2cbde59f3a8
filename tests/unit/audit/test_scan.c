/* SPDX-License-Identifier: Apache-2.0 */
/* test_scan.c - one spelling of everything: what differs is refused, and nothing is read past the end. */
#include "audit/scan_int.h"
#include "tests/unit/audit/fixture.h"

static void numbers_have_one_spelling(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "x", "-1", "01", "+1", " 1", "9007199254740992", "18446744073709551621",
            "99999999999999999999999" };
    uint64_t v;
    int64_t i;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        struct str s = str_c(bad[k]);
        assert_false(scan_u64(&s, &v));
    }
    struct str s = STR("9007199254740991,");
    assert_true(scan_u64(&s, &v) && v == (1ULL << 53) - 1 && str_eq_c(s, ","));
    s = STR("-9007199254740991");
    assert_true(scan_i53(&s, &i) && i == -((1LL << 53) - 1));
    s = STR("-9007199254740992");
    assert_false(scan_i53(&s, &i));
    s = STR("9007199254740992");
    assert_false(scan_i53(&s, &i));
    s = STR("-7}");
    assert_true(scan_i64(&s, &i) && i == -7 && str_eq_c(s, "}"));
    s = STR("-9223372036854775808");
    assert_true(scan_i64(&s, &i) && i == INT64_MIN && s.len == 0);
    s = STR("9223372036854775807");
    assert_true(scan_i64(&s, &i) && i == INT64_MAX && s.len == 0);
    static const char *const none[] = { "-0", "", "-", "00", "9223372036854775808", "-9223372036854775809", "99999999999999999999" };
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
        s = str_c(none[k]);
        assert_false(scan_i64(&s, &i));
    }
}

static void hashes_are_lower_case_and_whole(void **state)
{
    (void)state;
    struct merkle_hash h[2];
    size_t n = 9;
    struct buf b = BUF(1000);
    memset(h, 0xab, sizeof h);
    scan_put_hashes(&b, h, 2);
    struct str s = buf_str(&b);
    assert_true(scan_hashes(&s, h, 2, &n) && n == 2 && s.len == 0);
    s = buf_str(&b);
    assert_false(scan_hashes(&s, h, 1, &n));
    for (size_t len = 0; len < b.len; len++) {
        s = str_n(b.ptr, len);
        assert_false(scan_hashes(&s, h, 2, &n));
    }
    b.ptr[2] = 'A';
    s = buf_str(&b);
    assert_false(scan_hashes(&s, h, 2, &n));
    buf_release(&b);
    s = STR("[]");
    assert_true(scan_hashes(&s, h, 2, &n) && n == 0);
}

static void words_hold_only_their_characters(void **state)
{
    (void)state;
    char w[8];
    struct str s = STR("\"ae-dxb\"x");
    assert_true(scan_word(&s, w, sizeof w) && str_eq_c(s, "x"));
    assert_string_equal(w, "ae-dxb");
    s = STR("\"12345678\"");
    assert_false(scan_word(&s, w, sizeof w));
    s = STR("\"a b\"");
    assert_false(scan_word(&s, w, sizeof w));
    s = STR("\"a");
    assert_false(scan_word(&s, w, sizeof w));
    assert_false(scan_is_word(STR("a\"b")));
}

/* Eight digits are read at once and the rest one by one: each byte at each place of a length that takes both ways. */
static void every_byte_is_a_digit_or_refused_at_every_place(void **state)
{
    (void)state;
    enum { BYTES = 7 };
    static const char digits[] = "0123456789abcdef";
    char text[2 * BYTES];
    uint8_t out[BYTES];
    for (size_t at = 0; at < sizeof text; at++)
        for (int c = 0; c < 256; c++) {
            const char *found = c ? strchr(digits, c) : NULL;
            for (size_t i = 0; i < sizeof text; i++)
                text[i] = digits[(i * 5 + 3) % 16];
            text[at] = (char)c;
            struct str s = str_n(text, sizeof text);
            assert_int_equal(scan_hex(&s, out, BYTES), found != NULL);
            for (size_t i = 0; found && i < sizeof text; i++)
                assert_int_equal((out[i / 2] >> (i % 2 ? 0 : 4)) & 15, strchr(digits, text[i]) - digits);
        }
}

static void uuids_and_base64_round_trip(void **state)
{
    (void)state;
    struct uuid u = uuid_v7(1700000000000000), v;
    struct buf b = BUF(200);
    char out[8];
    size_t n;
    scan_put_uuid(&b, u);
    struct str s = str_n(b.ptr + 1, b.len - 2);
    assert_true(scan_uuid(&s, &v) && uuid_eq(u, v) && s.len == 0);
    buf_clear(&b);
    scan_put_base64(&b, "hello", 5);
    s = buf_str(&b);
    assert_true(scan_base64(&s, out, sizeof out, &n) && n == 5 && s.len == 0);
    s = buf_str(&b);
    assert_false(scan_base64(&s, out, 4, &n));
    s = str_n(b.ptr, b.len - 1);
    assert_false(scan_base64(&s, out, sizeof out, &n));
    scan_put_base64(&b, b.ptr, HEAD_BODY_MAX + 1);
    assert_true(b.overflow);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(numbers_have_one_spelling), cmocka_unit_test(hashes_are_lower_case_and_whole),
        cmocka_unit_test(words_hold_only_their_characters),
        cmocka_unit_test(every_byte_is_a_digit_or_refused_at_every_place), cmocka_unit_test(uuids_and_base64_round_trip) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
