/* SPDX-License-Identifier: Apache-2.0 */
/* test_argon.c - PHC strings there and back, and everything that must not pass for one. About a second: each hash takes 19 MiB. */
#include "crypto_test.h"
#include "core/crypto/argon.h"

static const struct argon_cost cost = { 19456, 2, 1 };
static const struct secret32 pepper = { { 1, 2, 3 } }, other = { { 1, 2, 4 } };

static void the_right_password_and_nothing_else(void **state)
{
    (void)state;
    char a[ARGON_PHC], b[ARGON_PHC];
    OK(argon_hash(&cost, &pepper, STR("correct horse battery"), a, NULL));
    OK(argon_hash(&cost, &pepper, STR("correct horse battery"), b, NULL));
    assert_string_not_equal(a, b);                                       /* salted */
    assert_true(str_starts(str_c(a), "$argon2id$v=19$m=19456,t=2,p=1$"));
    assert_true(argon_check(str_c(a), &pepper, STR("correct horse battery")));
    assert_false(argon_check(str_c(a), &pepper, STR("correct horse batterz")));
    assert_false(argon_check(str_c(a), &pepper, STR("correct horse battery ")));
    assert_false(argon_check(str_c(a), &pepper, STR("")));
    assert_false(argon_check(str_c(a), &other, STR("correct horse battery")));
    a[strlen(a) - 2] ^= 1;
    assert_false(argon_check(str_c(a), &pepper, STR("correct horse battery")));
}

static void what_is_no_phc_string_costs_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "$", "$argon2id$", "$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=16$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=4294967295,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=1048577,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=7,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=0,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=65,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=-1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAA",
        "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA$",
        "$argon2id$v=19$m=19456,t=2$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=1$!!!!!!!!!!!!!!!!!!!!!!$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(argon_check(str_c(bad[i]), &pepper, STR("pw")));
        assert_true(argon_is_other_cost(str_c(bad[i]), &cost));
    }
}

static void costs_are_seen_and_bounded(void **state)
{
    (void)state;
    char a[ARGON_PHC];
    struct argon_cost small = { 64, 1, 1 }, none = { 0, 1, 1 }, much = { ARGON_MEMORY_MAX_KIB + 1, 1, 1 };
    OK(argon_hash(&small, &pepper, STR("pw"), a, NULL));
    assert_true(argon_check(str_c(a), &pepper, STR("pw")));
    assert_true(argon_is_other_cost(str_c(a), &cost));
    assert_false(argon_is_other_cost(str_c(a), &small));
    assert_int_equal(argon_hash(&none, &pepper, STR("pw"), a, NULL), ERR_INVALID);
    assert_int_equal(argon_hash(&much, &pepper, STR("pw"), a, NULL), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_right_password_and_nothing_else), cmocka_unit_test(what_is_no_phc_string_costs_nothing),
                                        cmocka_unit_test(costs_are_seen_and_bounded) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
