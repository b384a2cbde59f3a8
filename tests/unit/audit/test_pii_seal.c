/* SPDX-License-Identifier: Apache-2.0 */
/* test_pii_seal.c - a seal opens under its own key and field only, and equal texts are sealed alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "audit/pii_seal.h"
#include "audit/record_read.h"

static struct pii_keys a, b;
static const struct uuid id = { { 1, 2, 3 } }, other = { { 9 } };

static int setup(void **state)
{
    struct secret32 k = { { 7 } }, l = { { 8 } };
    (void)state;
    pii_keys_of(&k, &a);
    pii_keys_of(&l, &b);
    return 0;
}

static void a_seal_opens_at_its_place_only(void **state)
{
    char text[PII_SEALED_MAX], out[PII_TEXT_MAX];
    struct str sealed, plain;
    struct uuid of;
    (void)state;
    assert_true(pii_seal(&a, id, "src_ip", STR("2001:db8::7"), text, &sealed));
    assert_true(audit_text_is_sealed(sealed));
    assert_true(pii_key_id(sealed, &of) && uuid_eq(of, id));
    assert_true(pii_open(&a, id, "src_ip", sealed, out, &plain) && str_eq_c(plain, "2001:db8::7"));
    assert_false(pii_open(&b, id, "src_ip", sealed, out, &plain));
    assert_false(pii_open(&a, id, "name", sealed, out, &plain));
    assert_false(pii_open(&a, other, "src_ip", sealed, out, &plain));
    for (size_t i = 0; i < sealed.len; i++) {
        text[i] ^= 1;
        assert_false(pii_open(&a, id, "src_ip", sealed, out, &plain));
        text[i] ^= 1;
    }
    assert_false(pii_open(&a, id, "src_ip", STR("203.0.113.7"), out, &plain));
}

static void equal_texts_are_sealed_alike_under_one_key(void **state)
{
    char t1[PII_SEALED_MAX], t2[PII_SEALED_MAX];
    struct str s1 = STR(""), s2 = STR("");
    (void)state;
    assert_true(pii_seal(&a, id, "src_ip", STR("10.0.0.1"), t1, &s1));
    assert_true(pii_seal(&a, id, "src_ip", STR("10.0.0.1"), t2, &s2));
    assert_true(str_eq(s1, s2));
    assert_true(pii_seal(&a, id, "src_ip", STR("10.0.0.2"), t2, &s2));
    assert_false(str_eq(s1, s2));
    assert_true(pii_seal(&b, id, "src_ip", STR("10.0.0.1"), t2, &s2));
    assert_false(str_eq(s1, s2));
}

static void limits_hold(void **state)
{
    char text[PII_SEALED_MAX], out[PII_TEXT_MAX], most[PII_TEXT_MAX + 1];
    struct str sealed, plain;
    (void)state;
    memset(most, 'x', sizeof most);
    assert_true(pii_seal(&a, id, "src_ip", str_n(most, PII_TEXT_MAX), text, &sealed));
    assert_true(sealed.len < AUDIT_TEXT_MAX);
    assert_true(pii_open(&a, id, "src_ip", sealed, out, &plain) && plain.len == PII_TEXT_MAX);
    assert_false(pii_seal(&a, id, "src_ip", str_n(most, PII_TEXT_MAX + 1), text, &sealed));
    assert_true(pii_seal(&a, id, "src_ip", STR(""), text, &sealed) && pii_open(&a, id, "src_ip", sealed, out, &plain) && plain.len == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_seal_opens_at_its_place_only), cmocka_unit_test(equal_texts_are_sealed_alike_under_one_key),
                                        cmocka_unit_test(limits_hold) };
    return cmocka_run_group_tests(tests, setup, NULL);
}
