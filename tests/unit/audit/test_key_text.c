/* SPDX-License-Identifier: Apache-2.0 */
/* test_key_text.c - the forms in which a key is handed on, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>
#include "audit/key_text.h"

#define B64 "RDls4pqltzsGO8zS3Tqp1OaXbmlGKFc9h9sjk7cAbGM="
#define HEX "44396ce29aa5b73b063bccd2dd3aa9d4e6976e694628573d87db2393b7006c63"
#define PEM "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEARDls4pqltzsGO8zS3Tqp1OaXbmlGKFc9h9sjk7cAbGM=\n-----END PUBLIC KEY-----\n"

static void every_form_is_the_same_key(void **state)
{
    (void)state;
    static const char *const forms[] = { B64, B64 "\n", HEX "\r\n", "# the zone's\n\n" HEX "\n", PEM, PEM "\n" };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        uint8_t key[2][AUDIT_PUB] = { { 0 } }, want[AUDIT_PUB];
        struct err e = { 0 };
        size_t n = 0;
        assert_true(hex_decode(STR(HEX), want, AUDIT_PUB));
        assert_int_equal(key_text_parse(str_c(forms[i]), key, 2, &n, &e), ERR_OK);
        assert_int_equal(n, 1);
        assert_memory_equal(key[0], want, AUDIT_PUB);
    }
}

static void what_is_none_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "there is no key" },
        { "# nothing\n", "there is no key" },
        { "RDls4pqltzsGO8zS\n", "a key is a PEM public key" },
        { HEX "44\n", "a key is a PEM public key" },
        { B64 "\n" HEX "\n" B64 "\n", "at most 2 keys" },
        { "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t key[2][AUDIT_PUB];
        struct err e = { 0 };
        size_t n = 7;
        assert_int_not_equal(key_text_parse(str_c(cases[i].text), key, 2, &n, &e), ERR_OK);
        assert_int_equal(n, 7);
        assert_non_null(strstr(e.msg, cases[i].says));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_form_is_the_same_key), cmocka_unit_test(what_is_none_is_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
