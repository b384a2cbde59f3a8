/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_array.c - arrays are stored as one row, listed, and their tasks looked through;
what is no array is refused with its place. */
#include "tests/db/scheduler/jobs/array_kit.h"

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static int wipe(void **state)
{
    (void)state;
    fixture_forget_jobs(&f);
    return 0;
}

static void an_array_is_one_row(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "0-9999%64"), second = kit_array(&f, f.tenant_a, "3");
    const struct job_array a = kit_look(&f, f.tenant_a, id);
    assert_int_equal(a.total, 10000);
    assert_int_equal(a.most, 64);
    assert_int_equal(a.waiting, 10000);
    assert_int_equal(a.live + a.completed + a.failed + a.again, 0);
    assert_true(str_eq_c(a.state, "OPEN"));
    assert_int_equal(fixture_count(&f, "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM array_task)"), 0);
    struct work w = fixture_reader(&f, f.tenant_a);
    struct slice rows;
    OK(job_array_list(&w, UUID_NIL, 1, &rows, e));
    assert_int_equal(rows.n, 1);
    assert_true(uuid_eq(((struct job_array *)rows.items)->array_id, second));
    OK(job_array_list(&w, second, 5, &rows, e));
    assert_int_equal(rows.n, 1);
    fixture_reader_done(&w);
    w = fixture_reader(&f, f.tenant_b);
    struct job_array none;
    struct err err = { 0 };
    assert_int_equal(job_array_get(&w, id, &none, &err), ERR_NOT_FOUND);
    fixture_reader_done(&w);
}

static void tasks_are_listed_by_index_and_state(void **state)
{
    (void)state;
    const struct uuid id = kit_array(&f, f.tenant_a, "10-19");
    (void)kit_pass(&f);
    fixture_exec(&f, "UPDATE job SET state = 'HELD', queued = false, reason = 'HeldByUser', version = version + 1 WHERE name IN "
                     "('sweep[12]', 'sweep[15]')");
    struct work w = fixture_reader(&f, f.tenant_a);
    struct slice rows;
    OK(job_array_tasks(&w, id, -1, -1, 3, &rows, e));
    assert_int_equal(rows.n, 3);
    assert_int_equal(((struct array_task *)rows.items)[2].index, 12);
    OK(job_array_tasks(&w, id, -1, 12, 100, &rows, e));
    assert_int_equal(rows.n, 7);
    OK(job_array_tasks(&w, id, JOB_HELD, -1, 100, &rows, e));
    assert_int_equal(rows.n, 2);
    assert_int_equal(((struct array_task *)rows.items)[1].index, 15);
    OK(job_array_counts(&w, id, &rows, e));
    const struct array_count *c = rows.items;
    assert_int_equal(rows.n, 2);
    assert_int_equal(c[0].state, JOB_HELD);
    assert_int_equal(c[0].count, 2);
    assert_int_equal(c[1].count, 8);
    fixture_reader_done(&w);
}

static void what_is_none_is_refused(void **state)
{
    (void)state;
    struct err bad = { 0 };
    struct job_array a;
    struct job_submission s = kit_job(f.tenant_a, "sweep");
    assert_int_equal(kit_try(&f, "5-1", &s, &a, &bad), ERR_UNPROCESSABLE);
    assert_string_equal(bad.field, "/array");
    char name[ARRAY_NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    s.job.name = str_c(name);
    bad = (struct err){ 0 };
    assert_int_equal(kit_try(&f, "0-1", &s, &a, &bad), ERR_UNPROCESSABLE);
    assert_string_equal(bad.field, "/job/name");
    s.job.name.len--;
    OK(kit_try(&f, "0-1", &s, &a, e));
    s = kit_job(f.tenant_a, "sweep");
    s.job.spec.text = STR("{\"sleep_ms\":\"{{index}}\"}");
    bad = (struct err){ 0 };
    assert_int_not_equal(kit_try(&f, "0-1", &s, &a, &bad), ERR_OK);
    assert_string_equal(bad.field, "/job/spec/sleep_ms");
}

static void there_are_at_most_so_many(void **state)
{
    (void)state;
    struct err bad = { 0 };
    struct job_array a;
    char t[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    fixture_exec(&f, "INSERT INTO job_array (tenant_id, array_id, name, tasks, first_index, step, total, most, template, "
                     "created_by)"
                     " SELECT '%s', gen_random_uuid(), 'n', '0', 0, 1, 1, 1, '{}', gen_random_uuid() FROM generate_series(2, %d)",
                         t, ARRAYS_MAX);
    struct job_submission s = kit_job(f.tenant_a, "last");
    OK(kit_try(&f, "0", &s, &a, e));
    s = kit_job(f.tenant_a, "too many");
    assert_int_equal(kit_try(&f, "0", &s, &a, &bad), ERR_LIMIT);
    s = kit_job(f.tenant_b, "of another tenant");
    OK(kit_try(&f, "0", &s, &a, e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_array_is_one_row, NULL, wipe),
        cmocka_unit_test_setup_teardown(tasks_are_listed_by_index_and_state, NULL, wipe),
        cmocka_unit_test_setup_teardown(what_is_none_is_refused, NULL, wipe),
        cmocka_unit_test_setup_teardown(there_are_at_most_so_many, NULL, wipe) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
