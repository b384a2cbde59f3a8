/* SPDX-License-Identifier: Apache-2.0 */
/* test_loop_plan.c - what a round of planning leaves: how many were admitted, whether there is room, and that after an error
 * there may be. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/loop_int.h"

static struct fixture f;
static struct machine m;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static struct plan_outcome plan_now(bool is_full)
{
    struct arena *a = arena_new(64 << 20);
    struct plan_outcome o;
    OK(loop_plan(&f.scheduler, a, is_full, &o, e));
    arena_free(a);
    return o;
}

static void assert_outcome(bool is_full, int64_t admitted, bool has_room)
{
    const struct plan_outcome o = plan_now(is_full);
    assert_int_equal(o.admitted, admitted);
    assert_int_equal(o.has_room, has_room);
    assert_false(o.more);
}

/* The loop rests on has_room when it lets submissions wait, so it must never say no while a slot is free. */
static void a_round_says_whether_there_is_room(void **state)
{
    (void)state;
    struct uuid job;
    struct lease_grant g[3];
    for (int is_full = 0; is_full < 2; is_full++) {
        fixture_exec(&f, "UPDATE node SET state = 'DRAINING'");
        assert_outcome(is_full, 0, false);                      /* no machine at all */
        if (!is_full)
            machine_up(&f, &m, "ae-dxb-1", "w1", 3, 0);
        fixture_exec(&f, "UPDATE node SET state = 'READY'");
        assert_outcome(is_full, 0, true);
        submit(&f, f.tenant_a, 1, 2, 3, &job);
        assert_outcome(is_full, 1, true);                       /* one slot is left */
        submit(&f, f.tenant_a, 1, 2, 3, &job);
        assert_outcome(is_full, 0, true);                       /* and stays, though nothing that waits fits */
        cancel_job(&f, f.tenant_a, job);
        submit(&f, f.tenant_b, 1, 1, 3, &job);
        assert_outcome(is_full, 1, false);
        submit(&f, f.tenant_b, 1, 1, 3, &job);
        assert_outcome(is_full, 0, false);
        assert_int_equal(take(&f, &m, 3, g), 2);
        assert_int_equal(run_through(&f, &m, g, 2), 4);
        assert_outcome(is_full, 1, true);
        assert_int_equal(take(&f, &m, 3, g), 1);
        assert_int_equal(run_through(&f, &m, g, 1), 2);
    }
    fixture_check(&f);
}

/* What is left is not known then, so there is some. */
static void an_error_leaves_room(void **state)
{
    (void)state;
    struct arena *a = arena_new(64 << 20);
    struct plan_outcome o = { 0 };
    fixture_exec(&f, "ALTER TABLE node RENAME TO node_away");
    assert_int_not_equal(loop_plan(&f.scheduler, a, false, &o, NULL), ERR_OK);
    fixture_exec(&f, "ALTER TABLE node_away RENAME TO node");
    assert_true(o.has_room && !o.admitted && !o.more);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_round_says_whether_there_is_room),
                                        cmocka_unit_test(an_error_leaves_room) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
