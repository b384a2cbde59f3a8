/* SPDX-License-Identifier: Apache-2.0 */
/* test_arrays.c - each index of an array becomes one job, never more at once than it allows; what refuses a submission only
 * delays it; arrays and tenants take turns; a pass that is lost leaves nothing behind. */
#include "scheduler/duty/dependencies.h"
#include "scheduler/jobs/dependency.h"
#include "tests/db/scheduler/jobs/array_kit.h"

static struct machine m;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "one", 64, 0), NOTHING_MORE)

static int wipe(void **state)
{
    (void)state;
    fixture_forget_jobs(&f);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 100000 WHERE resource = 'jobs'; DELETE FROM quota WHERE resource = "
                     "'pending_jobs'");
    return 0;
}

static void each_index_runs_once_and_few_at_a_time(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "5-23:2%4");
    size_t ran = 0;
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job"), 0);
    for (int i = 0; i < 20 && kit_look(&f, f.tenant_a, id).state.ptr[0] == 'O'; i++) {
        (void)kit_pass(&f);
        const struct job_array a = kit_look(&f, f.tenant_a, id);
        assert_in_range(a.live, 0, 4);
        assert_int_equal(a.live + a.waiting + a.completed, 10);
        kit_check(&f);
        ran += kit_run(&f, &m, 3, LE_SUCCEED);
    }
    assert_int_equal(ran, 10);
    const struct job_array a = kit_look(&f, f.tenant_a, id);
    assert_true(str_eq_c(a.state, "ENDED"));
    assert_int_equal(a.completed, 10);
    assert_true(a.ended_at.us > 0);
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT task_index) FROM array_task WHERE task_index %% 2 = 1"
                                       "  AND task_index BETWEEN 5 AND 23 AND try = 1"), 10);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job j JOIN array_task t USING (job_id) WHERE j.name = 'sweep[' || "
                                       "task_index || ']'"), 10);
    assert_int_equal(kit_pass(&f).started, 0);
    kit_check(&f);
}

/* As if the leader had been killed between the submissions and the commit. */
static void a_pass_that_is_lost_leaves_nothing(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-9");
    struct work w = kit_work(&f, &f.scheduler, UUID_NIL);
    struct arrays_result r;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(arrays_pass(&w, &r, e));
    assert_int_equal(r.started, 10);
    db_rollback(w.tx);
    arena_free(w.arena);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job"), 0);
    assert_int_equal(kit_pass(&f).started, 10);
    assert_int_equal(kit_look(&f, f.tenant_a, id).live, 10);
    kit_check(&f);
}

/* Two leaders for a moment: the second passes over what the first has under lock. */
static void two_leaders_start_nothing_twice(void **state)
{
    (void)state;
    (void)kit_array(&f, f.tenant_a, "0-9%5");
    struct work w = kit_work(&f, &f.scheduler, UUID_NIL);
    struct arrays_result r;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(arrays_pass(&w, &r, e));
    assert_int_equal(r.started, 5);
    assert_int_equal(kit_pass(&f).started, 0);
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
    assert_int_equal(kit_pass(&f).started, 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job"), 5);
    kit_check(&f);
}

static void a_quota_only_delays(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-9");
    fixture_exec(&f, "UPDATE quota SET hard_limit = 3 WHERE resource = 'jobs'");
    assert_int_equal(kit_pass(&f).started, 3);
    struct work w = fixture_reader(&f, f.tenant_a);
    struct job_array a;
    OK(job_array_get(&w, id, &a, e));
    assert_true(str_starts(a.message, "The quota of jobs does not allow this"));
    fixture_reader_done(&w);
    assert_int_equal(kit_pass(&f).started, 0);                          /* not at once again */
    fixture_exec(&f, "UPDATE quota SET hard_limit = 6 WHERE resource = 'jobs'; UPDATE job_array SET turn_at = now()");
    assert_int_equal(kit_pass(&f).started, 3);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 100000 WHERE resource = 'jobs'; UPDATE job_array SET turn_at = now()");
    assert_int_equal(kit_pass(&f).started, 4);
    w = fixture_reader(&f, f.tenant_a);
    OK(job_array_get(&w, id, &a, e));
    assert_int_equal(a.message.len, 0);
    fixture_reader_done(&w);
    kit_check(&f);
}

/* A limit of waiting jobs counts jobs: tasks that are none yet do not pass it, nor does a pass. */
static void the_limit_of_waiting_jobs_holds(void **state)
{
    (void)state;
    char t[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    const struct uuid id = kit_array(&f, f.tenant_a, "0-9");
    fixture_exec(&f, "INSERT INTO quota (tenant_id, resource, hard_limit) VALUES ('%s', 'pending_jobs', 2);"
                     "UPDATE quota SET guarded = true WHERE resource = 'jobs'", t);
    assert_int_equal(kit_pass(&f).started, 2);
    assert_int_equal(kit_look(&f, f.tenant_a, id).waiting, 8);
    kit_check(&f);
    fixture_exec(&f, "UPDATE quota SET guarded = false WHERE resource = 'jobs'");
}

static void arrays_take_turns(void **state)
{
    (void)state;
    const struct uuid one = kit_array(&f, f.tenant_a, "0-9999"), two = kit_array(&f, f.tenant_b, "0-9999");
    const struct arrays_result r = kit_pass(&f);
    const int64_t first = kit_look(&f, f.tenant_a, one).live, second = kit_look(&f, f.tenant_b, two).live;
    assert_true(r.is_more);
    assert_int_equal(r.started, first + second);
    assert_int_equal(first, second);
    const struct uuid late = kit_array(&f, f.tenant_b, "7");
    fixture_exec(&f, "UPDATE job_array SET turn_at = now() - interval '1 s' WHERE total = 1");
    (void)kit_pass(&f);
    assert_int_equal(kit_look(&f, f.tenant_b, late).live, 1);
    kit_check(&f);
}

static void nothing_starts_for_a_tenant_that_is_stopped(void **state)
{
    (void)state;
    (void)kit_array(&f, f.tenant_a, "0-9");
    fixture_exec(&f, "UPDATE tenant SET state = 'SUSPENDED'");
    assert_int_equal(kit_pass(&f).started, 0);
    fixture_exec(&f, "UPDATE tenant SET state = 'ACTIVE'");
    assert_int_equal(kit_pass(&f).started, 10);
    kit_check(&f);
}

/* It takes nothing new, tasks of an array that it has neither. */
static void nothing_starts_of_a_project_that_is_closed(void **state)
{
    (void)state;
    char t[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    const struct uuid id = kit_array(&f, f.tenant_a, "0-9"), other = kit_array(&f, f.tenant_a, "5");
    fixture_exec(&f, "INSERT INTO project (tenant_id, project_id, name, state, created_by)"
                     " VALUES ('%s', '%s', 'red', 'CLOSED', '%s');"
                     "UPDATE job_array SET project_id = '%s' WHERE total = 10", t, t, t, t);
    assert_int_equal(kit_pass(&f).started, 1);
    assert_int_equal(kit_look(&f, f.tenant_a, other).live, 1);
    struct work w = fixture_reader(&f, f.tenant_a);
    struct job_array a;
    OK(job_array_get(&w, id, &a, e));
    assert_int_equal(a.waiting, 10);
    assert_true(str_eq_c(a.message, "The project is closed"));
    fixture_reader_done(&w);
    fixture_exec(&f, "UPDATE project SET state = 'ACTIVE'; UPDATE job_array SET turn_at = now()");
    assert_int_equal(kit_pass(&f).started, 10);
    kit_check(&f);
}

/* Nobody can start a task that reads what is not there: the array ends where it stands. */
static void an_input_that_is_gone_ends_the_array(void **state)
{
    (void)state;
    struct job_submission s = kit_job(f.tenant_a, "sweep");
    const struct job_input in = { STR("data"), uuid_v7(7) };
    struct job_array a;
    s.inputs = (struct slice){ (void *)(uintptr_t)&in, 1 };
    OK(kit_try(&f, "0-9", &s, &a, e));
    assert_int_equal(kit_pass(&f).started, 0);
    a = kit_look(&f, f.tenant_a, a.array_id);
    assert_true(str_eq_c(a.state, "CANCELLED"));
    assert_true(a.ended_at.us > 0);
    assert_int_equal(a.waiting, 10);
    kit_check(&f);
}

/* What few submissions have goes by statements of their own, which the leader may run, too. */
static void all_that_a_job_may_say_reaches_its_tasks(void **state)
{
    (void)state;
    struct job_submission s = kit_job(f.tenant_a, "sweep");
    struct job_array a;
    s.job.nodes = 2;
    s.job.retry.text = STR("{\"max\": 2, \"on\": [\"program\"], \"backoff_s\": 1}");
    s.job.deadline_at.us = clock_wall_us(&clock_system) + 3600000000;
    OK(kit_try(&f, "0-1", &s, &a, e));
    assert_int_equal(kit_pass(&f).started, 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE nodes = 2 AND retry ->> 'max' = '2'"
                                       " AND deadline_at > now() + interval '59 min' AND max_attempts = 1"), 2);
    assert_int_equal(kit_act(&f, f.tenant_a, a.array_id, ARRAY_CANCEL), ERR_OK);
    (void)kit_pass(&f);
    kit_check(&f);
}

/* A text that only another program could have written holds up its own array alone. */
static void one_that_cannot_be_read_holds_up_no_other(void **state)
{
    (void)state;
    const struct uuid bad = kit_array(&f, f.tenant_a, "0-9"), good = kit_array(&f, f.tenant_b, "0-4");
    fixture_exec(&f, "UPDATE job_array SET template = '{\"kind\": \"noop\"}' WHERE total = 10");
    assert_int_equal(kit_pass(&f).started, 5);
    assert_int_equal(kit_look(&f, f.tenant_b, good).live, 5);
    assert_int_equal(kit_look(&f, f.tenant_a, bad).waiting, 10);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_array WHERE message LIKE 'Its tasks cannot be made:%%'"), 1);
    kit_check(&f);
}

/* A job that waits for the array in this way. */
static struct uuid behind(struct uuid array, enum dependency_type type)
{
    struct work w = kit_work(&f, &f.api, f.tenant_a);
    const struct dependency d = { .type = type, .array_id = array };
    struct job_submission s = kit_job(f.tenant_a, "behind"), *one = &s;
    const struct audit_event ev = audit_event_of(&w, AUDIT_JOB_SUBMIT);
    struct audit_rows rows;
    OK(audit_encode_many(w.arena, &ev, 1, &rows, e));
    s.kind_name = STR("noop");
    s.route = STR("job_submit");
    s.key = id_text(w.arena, "", s.job.job_id);
    s.sha = STR("01234567890123456789012345678901");
    s.event_id = rows.event_ids[0];
    s.event = rows.bodies[0];
    s.dependencies = (struct slice){ (void *)(uintptr_t)&d, 1 };
    OK(job_submit_many(&w, &one, 1, e));
    assert_int_equal(s.verdict, JOB_STORED);
    arena_free(w.arena);
    return s.job.job_id;
}

static struct dependencies_result look(void)
{
    struct work w = kit_work(&f, &f.scheduler, UUID_NIL);
    struct dependencies_result r;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, dependencies_pass(&w, 100, &r, e), e));
    arena_free(w.arena);
    return r;
}

static void jobs_wait_for_an_array(void **state)
{
    (void)state;
    for (size_t failed = 0; failed < 2; failed++) {
        const struct uuid id = kit_array(&f, f.tenant_a, "0-1");
        const struct uuid any = behind(id, DEP_AFTERANY), ok = behind(id, DEP_AFTEROK), bad = behind(id, DEP_AFTERNOTOK),
                          begun = behind(id, DEP_AFTER);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE reason = 'Dependency' AND not_before = 'infinity'"),
                         4);
        assert_int_equal(plan(&f), 0);
        assert_int_equal(look().closed, 0);
        kit_start(&f, 2);
        assert_int_equal(look().closed, 1);
        cancel_job(&f, f.tenant_a, begun);
        assert_int_equal(kit_run(&f, &m, 2, failed ? LE_FAIL : LE_SUCCEED), 2);
        (void)kit_pass(&f);
        const struct dependencies_result r = look();
        assert_int_equal(r.closed, 2);
        assert_int_equal(r.rejected, 1);
        assert_string_equal(state_of(&f, any), "PENDING");
        assert_string_equal(state_of(&f, failed ? bad : ok), "PENDING");
        assert_string_equal(state_of(&f, failed ? ok : bad), "REJECTED");
        assert_int_equal(kit_run(&f, &m, 2, LE_SUCCEED), 2);
        kit_check(&f);
        wipe(NULL);
    }
}

/* With no way left to be met it is told so, also where the array was cancelled before it began. */
static void nobody_waits_for_an_array_that_was_cancelled(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-1"), ok = behind(id, DEP_AFTEROK), any = behind(id, DEP_AFTERANY);
    char text[UUID_TEXT];
    assert_int_equal(kit_act(&f, f.tenant_a, id, ARRAY_CANCEL), ERR_OK);
    const struct dependencies_result r = look();
    assert_int_equal(r.closed, 1);
    assert_int_equal(r.rejected, 1);
    assert_string_equal(state_of(&f, any), "PENDING");
    uuid_text(ok, text);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'REJECTED' AND job_id = '%s'"
                                       " AND message LIKE '%%0 of 2 completed'", text), 1);
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_index_runs_once_and_few_at_a_time, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_pass_that_is_lost_leaves_nothing, NULL, wipe),
        cmocka_unit_test_setup_teardown(two_leaders_start_nothing_twice, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_quota_only_delays, NULL, wipe),
        cmocka_unit_test_setup_teardown(the_limit_of_waiting_jobs_holds, NULL, wipe),
        cmocka_unit_test_setup_teardown(arrays_take_turns, NULL, wipe),
        cmocka_unit_test_setup_teardown(nothing_starts_for_a_tenant_that_is_stopped, NULL, wipe),
        cmocka_unit_test_setup_teardown(nothing_starts_of_a_project_that_is_closed, NULL, wipe),
        cmocka_unit_test_setup_teardown(an_input_that_is_gone_ends_the_array, NULL, wipe),
        cmocka_unit_test_setup_teardown(all_that_a_job_may_say_reaches_its_tasks, NULL, wipe),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_read_holds_up_no_other, NULL, wipe),
        cmocka_unit_test_setup_teardown(jobs_wait_for_an_array, NULL, wipe),
        cmocka_unit_test_setup_teardown(nobody_waits_for_an_array_that_was_cancelled, NULL, wipe) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
