/* SPDX-License-Identifier: Apache-2.0 */
/* test_snapshot.c - whatever waits before it, a job that fits starts within one cycle; and nobody is overtaken by that. */
#include "tests/db/scheduler/fixture.h"

#include <stdio.h>

enum { MANY = 2000 };
static struct fixture f;
static struct machine m;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static int64_t cycle(bool is_full)
{
    struct arena *a = arena_new(256 << 20);
    int64_t admitted = 0;
    bool more;
    OK(loop_plan_once(&f.scheduler, a, is_full, &admitted, &more, e));
    arena_free(a);
    return admitted;
}

static void clear(void)
{
    fixture_exec(&f, "SET session_replication_role = replica; DELETE FROM attempt; DELETE FROM job_event; DELETE FROM idempotency; DELETE FROM job;"
                     "DELETE FROM job_end;"
                     "UPDATE quota SET used = 0, ended = 0, hard_limit = 100000 WHERE resource IN ('jobs', 'slots')");
}

/* The job behind many starts in a short cycle, and in a full one. */
static void starts_behind(void)
{
    for (int full = 0; full < 2; full++) {
        struct uuid id;
        submit(&f, f.tenant_a, 1, 1, 3, &id);
        assert_int_equal(cycle(full), 1);
        assert_string_equal(state_of(&f, id), "ADMITTED");
    }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE queued"), MANY);
    fixture_check(&f);
    clear();
}

static void behind_jobs_without_room(void **state)
{
    (void)state;
    submit(&f, f.tenant_a, 1, 10, 3, NULL);
    assert_int_equal(cycle(true), 1);
    submit(&f, f.tenant_a, MANY, 60, 3, NULL);
    assert_int_equal(cycle(true), 0);
    assert_true(fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND reason = 'Resources'") > 0);
    starts_behind();
}

static void behind_jobs_without_quota(void **state)
{
    (void)state;
    fixture_exec(&f, "UPDATE quota SET hard_limit = 20 WHERE resource = 'slots'");
    submit(&f, f.tenant_a, MANY, 30, 3, NULL);
    assert_int_equal(cycle(true), 0);
    assert_true(fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND reason = 'QuotaExceeded'") > 0);
    starts_behind();
}

/* No two of the many are alike. */
static void behind_jobs_of_as_many_shapes(void **state)
{
    (void)state;
    submit(&f, f.tenant_a, MANY, 65, 3, NULL);
    fixture_exec(&f, "UPDATE job SET slots = n.i FROM (SELECT job_id, 64 + row_number() OVER () AS i FROM job) n WHERE n.job_id = job.job_id");
    assert_int_equal(cycle(true), 0);
    starts_behind();
}

/* Of one tenant, what goes first is what the priority says, though 41 shapes are read only a few jobs deep each. */
static void nobody_is_overtaken(void **state)
{
    (void)state;
    struct uuid low[60], high[100];
    submit(&f, f.tenant_a, 60, 1, 3, low);
    fixture_exec(&f, "UPDATE job SET queue = 'slow' || n.i %% 40, priority = -5 FROM (SELECT job_id, row_number() OVER () AS i FROM job) n"
                     " WHERE n.job_id = job.job_id");
    submit(&f, f.tenant_a, 100, 1, 3, high);
    for (int i = 0; i < 60 && fixture_count(&f, "SELECT count(*) FROM attempt WHERE live") < 64; i++)
        (void)cycle(false);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt a JOIN job j USING (tenant_id, job_id) WHERE j.priority = 0"), 64);
    fixture_exec(&f, "UPDATE node SET slots = 140");
    for (int i = 0; i < 60 && fixture_count(&f, "SELECT count(*) FROM attempt WHERE live") < 140; i++)
        (void)cycle(false);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt a JOIN job j USING (tenant_id, job_id) WHERE j.priority = 0"), 100);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live"), 140);
    fixture_exec(&f, "UPDATE node SET slots = 64");
    clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(behind_jobs_without_room), cmocka_unit_test(behind_jobs_without_quota),
                                        cmocka_unit_test(behind_jobs_of_as_many_shapes), cmocka_unit_test(nobody_is_overtaken) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
