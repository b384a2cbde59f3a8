/* SPDX-License-Identifier: Apache-2.0 */
/* test_fair_pick.c - turns of owners, whatever the order in which they came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "core/base/fair_pick.h"

enum { QUEUE_MAX = 4096 };
static struct uuid owners[QUEUE_MAX];
static bool picked[QUEUE_MAX];

static size_t of(char name)
{
    size_t n = 0;
    for (size_t i = 0; i < QUEUE_MAX; i++)
        n += picked[i] && owners[i].b[0] == (uint8_t)name;
    return n;
}

/* A letter is an owner. */
static void pick(const char *queue, size_t most, const char *want)
{
    size_t n = strlen(queue);
    for (size_t i = 0; i < n; i++)
        owners[i] = (struct uuid){ { (uint8_t)queue[i] } };
    fair_pick(owners, n, most, picked);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(picked[i], want[i] != '.');
}

static void one_of_each_in_turn(void **state)
{
    (void)state;
    pick("", 4, "");
    pick("aaab", 4, "aaab");
    pick("aaab", 5, "aaab");
    pick("aaab", 2, "a..b");
    pick("aaab", 3, "aa.b");
    pick("aabbcc", 5, "aabbc.");
    pick("abcd", 2, "ab..");                /* more owners than room: who came first */
    pick("aaaaaaaa", 3, "aaa.....");
    pick("ab", 0, "..");
}

static void a_flood_takes_what_is_left_only(void **state)
{
    (void)state;
    memset(owners, 0, sizeof owners);
    for (size_t i = 0; i < QUEUE_MAX; i++)
        owners[i].b[0] = i >= QUEUE_MAX - 20 ? 'b' : i == 4000 ? 'c' : 'a';
    fair_pick(owners, QUEUE_MAX, 256, picked);
    assert_int_equal(of('a'), 235);
    assert_int_equal(of('b'), 20);
    assert_int_equal(of('c'), 1);
}

/* What must hold of any queue: the room is used, the earliest of an owner are taken, and no owner has two more than one that
 * waits. */
static void whatever_the_queue(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 200; round++) {
        size_t n = (size_t)rand() % 600, most = (size_t)rand() % 300, all = 0, taken[256] = { 0 }, left[256] = { 0 };
        int kinds = 1 + rand() % 200;
        for (size_t i = 0; i < n; i++)
            owners[i] = (struct uuid){ { (uint8_t)(rand() % kinds) } };
        fair_pick(owners, n, most, picked);
        for (size_t i = 0; i < n; i++) {
            uint8_t o = owners[i].b[0];
            all += picked[i];
            taken[o] += picked[i];
            left[o] += !picked[i];
            assert_true(!picked[i] || !left[o]);
        }
        assert_int_equal(all, n < most ? n : most);
        for (int a = 0; a < 256; a++)
            for (int b = 0; b < 256; b++)
                assert_true(!left[b] || taken[a] <= taken[b] + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_of_each_in_turn), cmocka_unit_test(a_flood_takes_what_is_left_only),
                                        cmocka_unit_test(whatever_the_queue) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
