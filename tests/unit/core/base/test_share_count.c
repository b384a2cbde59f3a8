/* SPDX-License-Identifier: Apache-2.0 */
/* test_share_count.c - who has how many, by keys of every length, however many owners there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "core/base/share_count.h"

enum { OWNERS = 5000 };

static void each_has_its_own(void **state)
{
    (void)state;
    static const uint8_t KEY[SHARE_KEY_MAX] = { 10, 0, 0, 1, 10, 0, 0, 1, 10, 0, 0, 1, 10, 0, 0, 1 };
    struct share_count *c = share_count_new();
    struct share *of[SHARE_KEY_MAX + 1];
    for (size_t n = 1; n <= SHARE_KEY_MAX; n++)         /* a key is not the beginning of another */
        of[n] = share_count_take(c, KEY, n);
    struct share *again = share_count_take(c, KEY, 4);
    assert_ptr_equal(again, of[4]);
    assert_int_equal(share_count_of(c, KEY, 4), 2);
    share_count_give(NULL);
    share_count_give(again);
    for (size_t n = 1; n <= SHARE_KEY_MAX; n++) {
        assert_int_equal(share_count_of(c, KEY, n), 1);
        share_count_give(of[n]);
        assert_int_equal(share_count_of(c, KEY, n), 0);
    }
    share_count_free(c);
}

/* More than there are chains: taken in order, given back in another; none is mistaken for another. */
static void however_many(void **state)
{
    (void)state;
    struct share_count *c = share_count_new();
    struct share **s = calloc(OWNERS, sizeof(struct share *));
    for (uint32_t i = 0; i < OWNERS; i++)
        s[i] = share_count_take(c, &i, sizeof i);
    for (uint32_t step = 0; step < 3; step++)
        for (uint32_t i = step; i < OWNERS; i += 3) {
            assert_int_equal(share_count_of(c, &i, sizeof i), 1);
            share_count_give(s[i]);
            assert_int_equal(share_count_of(c, &i, sizeof i), 0);
        }
    free(s);
    share_count_free(c);
}

static void many_at_once(void **state)
{
    (void)state;
    struct share_count *c = share_count_new();
    struct share *s = share_count_take_many(c, "a", 1, 1000);
    assert_ptr_equal(share_count_take_many(c, "a", 1, 24), s);
    share_count_give_many(s, 1000);
    assert_int_equal(share_count_of(c, "a", 1), 24);
    share_count_give_many(s, 24);
    assert_int_equal(share_count_of(c, "a", 1), 0);
    share_count_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_has_its_own), cmocka_unit_test(however_many),
                                         cmocka_unit_test(many_at_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
