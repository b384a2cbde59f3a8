/* SPDX-License-Identifier: Apache-2.0 */
/* test_dependencies.c - for each name and each way in which a job may stand: met, never met, or neither yet; rejected jobs
 * reject those behind them; a held job is not rejected. */
#include "tests/db/scheduler/fixture.h"
#include "core/db/run_tx.h"
#include "scheduler/duty/dependencies.h"
#include "scheduler/jobs/dependency.h"

static struct machine one;
FIXTURE_GROUP(machine_up(&f, &one, "ae-dxb-1", "one", 64, 0), NOTHING_MORE)

static struct dependencies_result pass(void)
{
    struct dependencies_result r;
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 24), .now_us = clock_wall_us(&clock_system) };
    int64_t n;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, dependencies_pass(&w, 1000, &r, e), e));
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, dependencies_tidy(&w, 1000, &n, e), e));
    arena_free(w.arena);
    return r;
}

static void depend(struct uuid job, int type, struct uuid on)
{
    const struct dependency d = { type, on };
    const struct slice list = { (void *)&d, 1 };
    struct work w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = f.tenant_a,
                      .now_us = clock_wall_us(&clock_system) };
    OK(RUN_WRITE(&w, dependency_set(&w, job, &list, e), e));
    arena_free(w.arena);
}

enum way { WAITS, RUNS, SUCCEEDS, FAILS, IS_CANCELLED, WAYS };

/* A job that stands so. */
static struct uuid job_that(enum way way)
{
    struct uuid id;
    struct lease_grant g[4];
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 1, &id), 1);
    if (way == IS_CANCELLED)
        cancel_job(&f, f.tenant_a, id);
    if (way == WAITS || way == IS_CANCELLED)
        return id;
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &one, 4, g), 1);
    assert_int_equal(tell(&f, &one, g, 1, LE_START, NULL), 1);
    if (way != RUNS)
        assert_int_equal(tell(&f, &one, g, 1, way == SUCCEEDS ? LE_SUCCEED : LE_FAIL, NULL), 1);
    return id;
}

static void each_name_has_its_moment(void **state)
{
    (void)state;
    static const char *const wanted[DEP_COUNT][WAYS] = {
        [DEP_AFTER] = { "waits", "free", "free", "free", "free" },
        [DEP_AFTERANY] = { "waits", "waits", "free", "free", "free" },
        [DEP_AFTEROK] = { "waits", "waits", "free", "REJECTED", "REJECTED" },
        [DEP_AFTERNOTOK] = { "waits", "waits", "REJECTED", "free", "free" },
    };
    for (int way = 0; way < WAYS; way++)
        for (int type = 0; type < DEP_COUNT; type++) {
            struct uuid id, on = job_that((enum way)way);
            char hex[UUID_TEXT];
            assert_int_equal(submit(&f, f.tenant_a, 1, 1, 1, &id), 1);
            depend(id, type, on);
            pass();
            uuid_text(id, hex);
            const bool is_free = fixture_count(&f, "SELECT count(*) AS n FROM job WHERE job_id = '%s' AND state = 'PENDING'"
                                                   " AND not_before IS NULL AND reason = 'Resources'", hex) == 1;
            const bool is_bound = fixture_count(&f, "SELECT count(*) AS n FROM job WHERE job_id = '%s' AND state = 'PENDING'"
                                                    " AND not_before = 'infinity' AND reason = 'Dependency'", hex) == 1;
            const char *got = is_free ? "free" : is_bound ? "waits" : state_of(&f, id);
            if (strcmp(got, wanted[type][way]))
                fail_msg("%s, way %d: %s, not %s", dependency_type_names[type], way, got, wanted[type][way]);
            if (!strcmp(got, "REJECTED"))
                assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM job WHERE job_id = '%s' AND message"
                                                   " LIKE 'after%%ok job_%% can never be met: that job ended as %%'", hex), 1);
            else
                cancel_job(&f, f.tenant_a, id);
            if (way == WAITS)
                cancel_job(&f, f.tenant_a, on);
        }
    pass();                                     /* rows of jobs that were cancelled themselves are closed as well */
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM job_dependency WHERE open"), 0);
    assert_int_equal(pass().closed, 0);
    fixture_check(&f);
}

static void all_must_be_met_and_a_rejection_goes_down_the_line(void **state)
{
    (void)state;
    struct uuid ids[4];
    assert_int_equal(submit(&f, f.tenant_a, 4, 1, 1, ids), 4);
    const struct dependency two[] = { { DEP_AFTERANY, ids[0] }, { DEP_AFTERANY, ids[1] } };
    const struct slice list = { (void *)two, 2 };
    struct work w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = f.tenant_a,
                      .now_us = clock_wall_us(&clock_system) };
    OK(RUN_WRITE(&w, dependency_set(&w, ids[2], &list, e), e));
    arena_free(w.arena);
    depend(ids[3], DEP_AFTERNOTOK, ids[2]);
    cancel_job(&f, f.tenant_a, ids[0]);
    assert_int_equal(pass().closed, 1);
    assert_int_equal(plan(&f), 1);              /* the second; the third waits for it still */
    struct lease_grant g[4];
    assert_int_equal(take(&f, &one, 4, g), 1);
    assert_int_equal(run_through(&f, &one, g, 1), 2);
    assert_int_equal(pass().closed, 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &one, 4, g), 1);
    assert_int_equal(run_through(&f, &one, g, 1), 2);
    assert_int_equal(pass().rejected, 1);
    assert_string_equal(state_of(&f, ids[3]), "REJECTED");
    pass();
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_name_has_its_moment),
                                        cmocka_unit_test(all_must_be_met_and_a_rejection_goes_down_the_line) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
