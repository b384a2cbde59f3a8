/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_repo_read.c - jobs are read by pairs of tenant and job, by pages and by filters, and are cancelled by their state. */
#include "tests/db/scheduler/jobs/job_repo_kit.h"

static void reads_match_the_pair(void **state)
{
    (void)state;
    struct job_submission *a = item(0, "a", "a"), *b = item(1, "b", "b");
    struct job_submission *both[] = { a, b };
    submit(both, 2);
    struct uuid t[] = { tenants[0], tenants[1], tenants[0], tenants[1], tenants[0] };
    struct uuid j[] = { a->job.job_id, b->job.job_id, b->job.job_id, a->job.job_id, new_id() };
    struct job got[5];
    bool found[5];
    struct work w = a_work();
    OK(job_get_many(&w, t, j, 5, got, found, &e));
    assert_true(found[0] && found[1] && !found[2] && !found[3] && !found[4]);
    assert_true(uuid_eq(got[0].tenant_id, tenants[0]) && str_eq_c(got[1].name, "b"));
    assert_true(got[0].submitted_at.us == a->job.submitted_at.us && got[1].submitted_at.us == b->job.submitted_at.us);
    /* The same pair asked twice, as two callers of one batch would. */
    struct uuid t2[] = { tenants[0], tenants[0] }, j2[] = { a->job.job_id, a->job.job_id };
    OK(job_get_many(&w, t2, j2, 2, got, found, &e));
    assert_true(found[0] && found[1]);
    struct work *u = unit_open(tenants[0], NULL);
    REFUSED(job_get(u, b->job.job_id, got, &e), NOT_FOUND);
    unit_drop(u);
}

static void a_task_knows_its_array(void **state)
{
    (void)state;
    struct job_submission *task = item(0, "a", "sweep[0]"), *alone = item(0, "b", "b[0]"), *both[] = { task, alone };
    submit(both, 2);
    char sql[1024];
    const struct uuid id = new_id();
    snprintf(sql, sizeof sql, "INSERT INTO job_array (tenant_id, array_id, name, tasks, first_index, step, total, most, template,"
             " created_by) SELECT tenant_id, '%s', 'sweep', '0', 0, 1, 1, 1, '{}', created_by FROM job WHERE name = 'b[0]';"
             "INSERT INTO array_task (tenant_id, array_id, task_index, try, job_id)"
             " SELECT a.tenant_id, array_id, 0, 1, '", hex(id));
    strcat(strcat(sql, hex(task->job.job_id)), "' FROM job_array a");
    pg_harness_exec(pg, DB, sql);
    struct uuid t[] = { tenants[0], tenants[0] }, j[] = { alone->job.job_id, task->job.job_id };
    struct job got[2];
    bool found[2];
    struct work w = a_work();
    OK(job_get_many(&w, t, j, 2, got, found, &e));
    pg_harness_exec(pg, DB, "DELETE FROM array_task; DELETE FROM job_array");
    assert_true(uuid_eq(got[1].array_id, id) && uuid_is_nil(got[0].array_id));
}

static void pages_and_filters(void **state)
{
    (void)state;
    struct job_submission *items[25];
    char key[16];
    for (int i = 0; i < 25; i++) {
        snprintf(key, sizeof key, "k%d", i);
        items[i] = item(i < 20 ? 0 : 1, key, "a");
    }
    submit(items, 25);
    struct slice page = { 0 };
    struct uuid at = UUID_NIL;
    size_t seen = 0;
    struct work *w = unit_open(tenants[0], NULL);
    do {
        OK(job_list(w, &(struct job_filter){ 0 }, at, 7, &page, &e));
        const struct job *j = page.items;
        for (size_t i = 0; i < page.n; i++, seen++) {
            assert_true(uuid_eq(j[i].tenant_id, tenants[0]));
            assert_true(uuid_is_nil(at) || uuid_cmp(j[i].job_id, at) < 0);
            at = j[i].job_id;
        }
    } while (page.n == 7);
    assert_int_equal(seen, 20);
    unit_drop(w);
}

static void a_pending_job_is_cancelled_at_once(void **state)
{
    (void)state;
    struct job_submission *s = item(0, "a", "a");
    struct job job;
    struct slice events = { 0 };
    submit(&s, 1);
    struct work *w = unit_open(tenants[1], NULL);
    REFUSED(job_cancel(w, s->job.job_id, &job, &e), NOT_FOUND);
    unit_drop(w);
    w = unit_open(tenants[0], NULL);
    OK(job_cancel(w, s->job.job_id, &job, &e));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_true(job.cancel_requested && job.finished_at.us > 0 && job.version == 2);
    OK(job_events(w, s->job.job_id, 0, 10, &events, &e));
    assert_int_equal(events.n, 2);
    assert_true(str_eq_c(((struct job_event *)events.items)[1].state, "CANCELLED"));
    OK(job_events(w, s->job.job_id, 1, 10, &events, &e));
    assert_int_equal(events.n, 1);
    REFUSED(job_cancel(w, s->job.job_id, &job, &e), CONFLICT);
    unit_commit(w);
    assert_int_equal(used(0), 0);
}

static void one_that_a_worker_holds_is_asked_to_stop(void **state)
{
    (void)state;
    struct job_submission *s = item(0, "a", "a");
    struct job job;
    submit(&s, 1);
    sql("UPDATE job SET state = 'ADMITTED', queued = false, version = 2 WHERE job_id = '%s'", hex(s->job.job_id));
    struct work *w = unit_open(tenants[0], NULL);
    OK(job_cancel(w, s->job.job_id, &job, &e));
    unit_commit(w);
    assert_int_equal(job.state, JOB_ADMITTED);
    assert_true(job.cancel_requested);
    assert_int_equal(used(0), 1);                       /* the worker's report gives it back */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(reads_match_the_pair), T(a_task_knows_its_array), T(pages_and_filters), T(a_pending_job_is_cancelled_at_once),
        T(one_that_a_worker_holds_is_asked_to_stop),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
