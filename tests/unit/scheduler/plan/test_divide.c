/* SPDX-License-Identifier: Apache-2.0 */
/* test_divide.c - fair parts by hand, and what the header promises over 20,000 random cohorts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/divide.h"

enum { PARTS = 6, COHORTS = 20000 };

static uint64_t seed = 4101842887655102017u;
static int64_t pick(int64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)n);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void by_hand(void **state)
{
    (void)state;
    struct divide_part p[3] = { { .nominal = 10, .lendable = 10, .weight = 1000, .most = -1, .request = 2 },
                                { .nominal = 10, .lendable = 10, .weight = 1000, .most = -1, .request = 100 },
                                { .nominal = 10, .lendable = 10, .weight = 3000, .most = -1, .request = 100 } };
    divide(p, 3);                       /* eight are left over: two and six */
    assert_int_equal(p[0].fair, 2);
    assert_int_equal(p[1].fair, 12);
    assert_int_equal(p[2].fair, 16);
    p[0].lendable = 5;                  /* three of the eight are never lent */
    divide(p, 3);
    assert_int_equal(p[1].fair + p[2].fair, 25);
    p[2].most = 11;                     /* what it may not borrow the other one gets */
    divide(p, 3);
    assert_int_equal(p[1].fair, 14);
    assert_int_equal(p[2].fair, 11);
}

static void promises(void **state)
{
    (void)state;
    int64_t shared = 0;
    for (int c = 0; c < COHORTS; c++) {
        struct divide_part p[PARTS];
        int64_t left = 0, given = 0, wanted = 0;
        for (int i = 0; i < PARTS; i++) {
            const int64_t nominal = pick(20);
            p[i] = (struct divide_part){ .nominal = nominal, .lendable = pick(nominal + 1), .weight = pick(4) * 500,
                .request = pick(40),
                                         .most = pick(2) ? -1 : nominal + pick(10) };
            left += least(nominal - least(nominal, p[i].request), p[i].lendable);
        }
        divide(p, PARTS);
        for (int i = 0; i < PARTS; i++) {
            const int64_t own = least(p[i].nominal, p[i].request), most = p[i].most < 0 ? p[i].request : least(p[i].most,
                p[i].request);
            assert_true(p[i].fair >= own && p[i].fair <= p[i].request && (p[i].fair == own || p[i].fair <= most));
            given += p[i].fair - own;
            wanted += p[i].weight && most > p[i].fair ? most - p[i].fair : 0;
        }
        assert_true(given <= left && (given == left || !wanted));       /* nothing is left while somebody may take it */
        shared += given;
    }
    assert_true(shared > COHORTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand), cmocka_unit_test(promises) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
