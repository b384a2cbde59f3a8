/* SPDX-License-Identifier: Apache-2.0 */
/* test_beat.c - turns come one after the other, a wake is told once and never lost, and the end takes no further turn. */
#include "tests/lib/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include "core/base/beat.h"

enum { LONG_US = 1800 * 1000000 };

struct count {
    atomic_int turns, woken, inside, overlaps;
    atomic_bool is_held;                /* a turn in progress waits while it is set */
    int64_t rest_us;
    char name[16];
};

static int64_t turn(void *ctx, bool is_woken)
{
    struct count *c = ctx;
    pthread_getname_np(pthread_self(), c->name, sizeof c->name);
    c->overlaps += c->inside++ > 0;
    c->woken += is_woken;
    c->turns++;
    while (c->is_held)
        ;
    c->inside--;
    return c->rest_us;
}

static void turns_follow_each_other(void **state)
{
    (void)state;
    struct count c = { .rest_us = 0 };
    struct beat *b = beat_new("fifteen-letters", 0, turn, &c);
    WAIT_WHILE(c.turns < 1000);
    beat_free(b);
    int at_end = c.turns;
    assert_int_equal(c.overlaps, 0);
    assert_int_equal(c.woken, 0);
    assert_int_equal(c.inside, 0);                              /* the one in progress was waited for */
    assert_string_equal(c.name, "fifteen-letters");
    assert_int_equal(c.turns, at_end);
}

static void a_wake_ends_the_rest_and_is_told_once(void **state)
{
    (void)state;
    struct count c = { .rest_us = LONG_US };
    struct beat *b = beat_new("beat", LONG_US, turn, &c);
    for (int i = 1; i <= 3; i++) {
        beat_wake(b);
        WAIT_WHILE(c.turns < i);
    }
    beat_free(b);
    assert_int_equal(c.turns, 3);
    assert_int_equal(c.woken, 3);
}

static void a_wake_during_a_turn_is_not_lost(void **state)
{
    (void)state;
    struct count c = { .rest_us = LONG_US, .is_held = true };
    struct beat *b = beat_new("beat", 0, turn, &c);
    WAIT_WHILE(c.turns < 1);
    beat_wake(b);
    beat_wake(b);                                               /* two before the next turn are one */
    c.is_held = false;
    WAIT_WHILE(c.turns < 2);
    beat_free(b);
    assert_int_equal(c.turns, 2);
    assert_int_equal(c.woken, 1);
}

static void a_rest_is_ended_by_the_end(void **state)
{
    (void)state;
    struct count c = { .rest_us = LONG_US };
    beat_free(beat_new("beat", LONG_US, turn, &c));             /* would take half an hour */
    assert_int_equal(c.turns, 0);
    beat_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_follow_each_other),
        cmocka_unit_test(a_wake_ends_the_rest_and_is_told_once),
        cmocka_unit_test(a_wake_during_a_turn_is_not_lost),
        cmocka_unit_test(a_rest_is_ended_by_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
