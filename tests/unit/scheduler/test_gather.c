/* SPDX-License-Identifier: Apache-2.0 */
/* test_gather.c - rounds wait for each other under load and never else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/gather.h"

enum { MS = 1000 };

/* `rounds` rounds, one each every_us, which place so many; whether the next one waits. */
static int64_t wait_after(int rounds, int64_t every_us, int64_t placed)
{
    struct gather g = { 0 };
    int64_t now = 1000000000;
    for (int i = 0; i < rounds; i++, now += every_us)
        gather_note(&g, now, placed);
    assert_true(!g.until_us || g.until_us == now - every_us + GATHER_US);
    return g.until_us;
}

static void few_jobs_wait_for_nobody(void **state)
{
    (void)state;
    assert_int_equal(wait_after(500, 20 * MS, 1), 0);                   /* 50 a second */
    assert_int_equal(wait_after(500, 2 * MS, 1), 0);                    /* 500, one by one */
    assert_int_equal(wait_after(50, 1000 * MS, 150), 0);                /* many at once, and then nothing */
}

static void many_gather(void **state)
{
    (void)state;
    assert_true(wait_after(200, 8 * MS, 30) > 0);                       /* 3,750 a second */
    assert_true(wait_after(200, GATHER_US, 100) > 0);                   /* and it stays so once rounds are far between */
    assert_true(wait_after(1, 0, 2000) > 0);
}

static void a_pause_is_forgotten(void **state)
{
    (void)state;
    struct gather g = { 0 };
    gather_note(&g, 1000 * MS, 5000);
    assert_int_equal(g.until_us, 1000 * MS + GATHER_US);
    gather_note(&g, 1000 * MS + RECENT_US, 1);
    assert_int_equal(g.until_us, 0);
    gather_note(&g, 1000 * MS, 0);                                      /* a clock that stands still, or worse */
    assert_int_equal(g.until_us, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(few_jobs_wait_for_nobody), cmocka_unit_test(many_gather),
                                        cmocka_unit_test(a_pause_is_forgotten) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
