/* SPDX-License-Identifier: Apache-2.0 */
/* test_leader.c - of two schedulers one leads; when it goes, or its connection is killed, the other one takes over. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"
#include "scheduler/leader.h"

#include <string.h>
#include <time.h>

static struct pg_harness *pg;
static int64_t now_us = 1000000;

static int64_t now(void *ctx)
{
    (void)ctx;
    return now_us;
}
static const struct clock turned = { .wall_us = now, .mono_us = now };

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    pg_harness_free(pg);
    return 0;
}

static bool later(struct leader *l)
{
    now_us += 1000000;
    return leader_check(l);
}

static void one_leads_and_the_other_takes_over(void **state)
{
    (void)state;
    struct leader *a = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned), *b = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned);
    assert_true(later(a));
    assert_false(later(b));
    assert_true(later(a));
    assert_false(later(b));
    leader_free(a);
    WAIT_WHILE(!later(b));
    leader_free(b);
}

static void a_broken_connection_is_no_leadership(void **state)
{
    (void)state;
    struct leader *a = leader_new(pg_harness_conninfo(pg, NULL, NULL), &turned);
    WAIT_WHILE(!later(a));
    pg_harness_exec(pg, NULL, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'falaj-scheduler-leader'");
    WAIT_WHILE(later(a));
    assert_true(later(a));                                      /* and asks again with a new one */
    leader_free(a);
}

static void between_two_looks_nothing_is_asked(void **state)
{
    (void)state;
    struct leader *a = leader_new("host=/nonexistent", &turned);
    assert_false(later(a));
    assert_false(leader_check(a));
    leader_free(a);
    leader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_leads_and_the_other_takes_over),
        cmocka_unit_test(a_broken_connection_is_no_leadership),
        cmocka_unit_test(between_two_looks_nothing_is_asked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
