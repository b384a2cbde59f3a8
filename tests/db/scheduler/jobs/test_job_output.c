/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_output.c - what a job left: of its last attempt, once it is COMPLETED, and not before. */
#include "tests/db/scheduler/jobs/submit_kit.h"

#include "core/db/run_tx.h"
#include "scheduler/jobs/job_output.h"

static enum errc list(struct uuid job, struct slice *ret, struct err *e)
{
    struct work w = { .app = &f.api, .arena = arena, .tenant_id = f.tenant_a, .now_us = clock_wall_us(&clock_system) };
    *e = (struct err){ 0 };
    return RUN_READ(&w, job_output_list(&w, job, ret, e), e);
}

static enum errc get(struct uuid job, const char *name, struct job_output *ret, struct err *e)
{
    struct work w = { .app = &f.api, .arena = arena, .tenant_id = f.tenant_a, .now_us = clock_wall_us(&clock_system) };
    *e = (struct err){ 0 };
    return RUN_READ(&w, job_output_get(&w, job, str_c(name), ret, e), e);
}

/* Its data set's object stands for what it made. */
static void add_rows(struct uuid job)
{
    char t[UUID_TEXT], j[UUID_TEXT], o[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    uuid_text(job, j);
    uuid_text(object, o);
    fixture_exec(&f, "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id, fence) SELECT tenant_id, job_id, "
        "d, n,"
                     " '%s', CASE n WHEN 'new' THEN fence ELSE fence + 7 END FROM job, (VALUES ('output','new'), "
                         "('output','old'),"
                     " ('input','in')) v(d, n) WHERE tenant_id = '%s' AND job_id = '%s'", o, t, j);
}

static void outputs_are_those_of_the_attempt_that_ended_well(void **state)
{
    (void)state;
    struct uuid job;
    struct lease_grant g;
    struct slice all;
    struct job_output o;
    struct err e;
    arena = arena_new(64 << 20);
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &job), 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    add_rows(job);
    assert_int_equal(list(job, &all, &e), ERR_OK);
    assert_int_equal(all.n, 0);                     /* it runs */
    assert_int_equal(run_through(&f, &m, &g, 1), 2);       /* started, and ended well */
    char j[UUID_TEXT];
    uuid_text(job, j);
    fixture_exec(&f, "UPDATE job_object SET fence = job.fence FROM job WHERE job.job_id = job_object.job_id AND job.job_id = '%s'"
                     " AND job_object.name = 'new'", j);
    assert_int_equal(list(job, &all, &e), ERR_OK);
    assert_int_equal(all.n, 1);
    assert_int_equal(get(job, "new", &o, &e), ERR_OK);
    assert_true(uuid_eq(o.object_id, object) && str_eq_c(o.zone, "ae-dxb-1") && o.sha256.len == 64);
    assert_int_equal(get(job, "old", &o, &e), ERR_NOT_FOUND);
    assert_int_equal(get(job, "in", &o, &e), ERR_NOT_FOUND);
    assert_int_equal(get(object, "new", &o, &e), ERR_NOT_FOUND);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(outputs_are_those_of_the_attempt_that_ended_well) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
