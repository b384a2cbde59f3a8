/* SPDX-License-Identifier: Apache-2.0 */
/* test_array_act.c - a whole array is cancelled, held, suspended and tried again: its jobs hear it, and tasks that are none yet,
    too. */
#include "tests/db/scheduler/jobs/array_kit.h"

static struct machine m;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "one", 2, 0), NOTHING_MORE)

static int wipe(void **state)
{
    (void)state;
    fixture_forget_jobs(&f);
    return 0;
}

static int64_t jobs(const char *where)
{
    return fixture_count(&f, "SELECT count(*) FROM job WHERE %s", where);
}

static struct lease_grant one_running(void)
{
    struct lease_grant g[2];
    assert_int_equal(plan(&f), 2);
    assert_int_equal(take(&f, &m, 2, g), 2);
    assert_int_equal(tell(&f, &m, g, 1, LE_START, NULL), 1);
    return g[0];
}

static void cancelling_ends_what_waits_and_asks_what_runs(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-99%6"), other = kit_array(&f, f.tenant_b, "0-1");
    (void)kit_pass(&f);
    (void)one_running();
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_CANCEL), ERR_OK);
    const struct job_array a = kit_look(&f, f.tenant_a, id);
    assert_true(str_eq_c(a.state, "CANCELLED"));
    assert_int_equal(a.waiting, 94);
    assert_int_equal(jobs("state = 'CANCELLED'") + jobs("cancel_requested AND ended IS NULL"), 6);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_CANCEL), ERR_OK);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_HOLD), ERR_CONFLICT);
    assert_int_equal(kit_act(&f, f.tenant_b, id, ARRAY_CANCEL), ERR_NOT_FOUND);
    (void)kit_pass(&f);
    assert_int_equal(jobs("true"), 8);
    assert_int_equal(kit_look(&f, f.tenant_b, other).live, 2);
    kit_check(&f);
}

static void held_ones_wait_and_go_on(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-9%4");
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_HOLD), ERR_OK);
    assert_int_equal(kit_pass(&f).started, 0);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RELEASE), ERR_OK);
    assert_int_equal(kit_pass(&f).started, 4);
    (void)one_running();
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_HOLD), ERR_OK);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_HOLD), ERR_OK);
    assert_int_equal(jobs("state = 'HELD' AND reason = 'HeldByUser'"), 2);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_SUSPEND), ERR_CONFLICT);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RESUME), ERR_CONFLICT);
    fixture_check(&f);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RELEASE), ERR_OK);
    assert_int_equal(jobs("state = 'PENDING' AND reason = 'Resources'"), 2);
    kit_check(&f);
}

static void suspended_ones_give_their_machine_back(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-9%4");
    (void)kit_pass(&f);
    (void)one_running();
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_SUSPEND), ERR_OK);
    assert_true(str_eq_c(kit_look(&f, f.tenant_a, id).state, "SUSPENDED"));
    assert_int_equal(jobs("state = 'SUSPENDED'"), 2);
    assert_int_equal(jobs("suspend_requested"), 2);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_HOLD), ERR_CONFLICT);
    assert_int_equal(kit_pass(&f).started, 0);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RESUME), ERR_OK);
    assert_int_equal(jobs("state = 'PENDING'"), 2);
    assert_int_equal(jobs("suspend_requested"), 0);
    kit_check(&f);
}

static void what_failed_runs_once_more(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-3");
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RETRY), ERR_CONFLICT);
    kit_start(&f, 4);
    assert_int_equal(kit_run(&f, &m, 2, LE_FAIL), 2);
    assert_int_equal(kit_run(&f, &m, 2, LE_SUCCEED), 2);
    (void)kit_pass(&f);
    struct job_array a = kit_look(&f, f.tenant_a, id);
    assert_int_equal(a.failed, 2);
    assert_true(str_eq_c(a.state, "ENDED"));
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_HOLD), ERR_CONFLICT);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RETRY), ERR_OK);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RETRY), ERR_CONFLICT);
    a = kit_look(&f, f.tenant_a, id);
    assert_int_equal(a.again, 2);
    assert_int_equal(a.failed, 0);
    kit_check(&f);
    kit_start(&f, 2);
    kit_check(&f);
    assert_int_equal(kit_run(&f, &m, 2, LE_SUCCEED), 2);
    (void)kit_pass(&f);
    a = kit_look(&f, f.tenant_a, id);
    assert_int_equal(a.completed, 4);
    assert_true(str_eq_c(a.state, "ENDED"));
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM array_task WHERE try = 2 AND newest"), 2);
    kit_check(&f);
}

static void a_cancelled_one_goes_on_when_it_is_tried_again(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-3%2");
    (void)kit_pass(&f);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_CANCEL), ERR_OK);
    (void)kit_pass(&f);
    assert_true(kit_look(&f, f.tenant_a, id).ended_at.us > 0);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_CANCEL), ERR_OK);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RETRY), ERR_OK);
    assert_true(str_eq_c(kit_look(&f, f.tenant_a, id).state, "OPEN"));
    /* Told to run again, and cancelled before they do. */
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_CANCEL), ERR_OK);
    kit_check(&f);
    assert_true(kit_look(&f, f.tenant_a, id).ended_at.us > 0);
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_RETRY), ERR_OK);
    size_t ran = 0;
    for (int i = 0; i < 8 && kit_look(&f, f.tenant_a, id).state.ptr[0] == 'O'; i++) {
        (void)kit_pass(&f);
        ran += kit_run(&f, &m, 2, LE_SUCCEED);
    }
    assert_int_equal(ran, 4);
    assert_int_equal(kit_look(&f, f.tenant_a, id).completed, 4);
    kit_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cancelling_ends_what_waits_and_asks_what_runs, NULL, wipe),
        cmocka_unit_test_setup_teardown(held_ones_wait_and_go_on, NULL, wipe),
        cmocka_unit_test_setup_teardown(suspended_ones_give_their_machine_back, NULL, wipe),
        cmocka_unit_test_setup_teardown(what_failed_runs_once_more, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_cancelled_one_goes_on_when_it_is_tried_again, NULL, wipe) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
