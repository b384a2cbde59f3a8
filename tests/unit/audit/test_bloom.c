/* SPDX-License-Identifier: Apache-2.0 */
/* test_bloom.c - a filter never denies what was added, admits little else, and its bits are those that are stored already. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "audit/bloom.h"

static struct str name(char buf[32], const char *what, int i)
{
    snprintf(buf, 32, "%s_%027d", what, i);
    return str_n(buf, strlen(buf));
}

static void what_was_added_is_there_and_little_else(void **state)
{
    (void)state;
    struct audit_bloom f = { { 0 } };
    char b[32];
    int wrong = 0;
    for (int i = 0; i < AUDIT_PAGE; i++) {
        audit_bloom_add(&f, AUDIT_WORD_ACTION, name(b, "c", i));
        audit_bloom_add(&f, AUDIT_WORD_ACTOR, name(b, "a", i));
        audit_bloom_add(&f, AUDIT_WORD_RESOURCE, name(b, "r", i));
    }
    for (int i = 0; i < AUDIT_PAGE; i++) {
        assert_true(audit_bloom_has(&f, AUDIT_WORD_ACTION, name(b, "c", i)));
        assert_true(audit_bloom_has(&f, AUDIT_WORD_ACTOR, name(b, "a", i)));
        assert_true(audit_bloom_has(&f, AUDIT_WORD_RESOURCE, name(b, "r", i)));
    }
    for (int i = 0; i < 10000; i++)
        wrong += audit_bloom_has(&f, AUDIT_WORD_RESOURCE, name(b, "x", i));
    assert_in_range(wrong, 1, 250);             /* 768 words of 4 bits among 8192: 0.9 % are expected */
}

static void a_word_is_of_its_kind(void **state)
{
    (void)state;
    struct audit_bloom f = { { 0 } };
    audit_bloom_add(&f, AUDIT_WORD_ACTOR, STR("same"));
    assert_true(audit_bloom_has(&f, AUDIT_WORD_ACTOR, STR("same")));
    assert_false(audit_bloom_has(&f, AUDIT_WORD_RESOURCE, STR("same")));
}

static void an_action_is_found_by_its_beginnings(void **state)
{
    (void)state;
    struct audit_bloom f = { { 0 } };
    audit_bloom_add_action(&f, STR("user.role.grant"));
    assert_true(audit_bloom_has(&f, AUDIT_WORD_ACTION, STR("user.role.grant")));
    assert_true(audit_bloom_has(&f, AUDIT_WORD_ACTION, STR("user.")));
    assert_true(audit_bloom_has(&f, AUDIT_WORD_ACTION, STR("user.role.")));
    assert_false(audit_bloom_has(&f, AUDIT_WORD_ACTION, STR("user")));
    assert_false(audit_bloom_has(&f, AUDIT_WORD_ACTION, STR("job.")));
}

/* Stored filters are read by later programs. */
static void the_bits_of_a_word_never_change(void **state)
{
    (void)state;
    static const int64_t want[AUDIT_WORD_BITS] = { 2700, 1477, 1764, 5448 };
    int64_t bit[AUDIT_WORD_BITS];
    audit_word_bits(AUDIT_WORD_RESOURCE, STR("job_0123456789abcdef0123456789abcdef"), bit);
    assert_memory_equal(bit, want, sizeof want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_there_and_little_else), cmocka_unit_test(a_word_is_of_its_kind),
        cmocka_unit_test(an_action_is_found_by_its_beginnings), cmocka_unit_test(the_bits_of_a_word_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
