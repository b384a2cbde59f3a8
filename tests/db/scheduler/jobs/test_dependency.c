/* SPDX-License-Identifier: Apache-2.0 */
/* test_dependency.c - who waits for whom is changed while a job waits; cycles are refused and printed; another tenant's jobs
 * are not there; the planner leaves a job alone that waits for another, even by a plan made before. */
#include "tests/db/scheduler/fixture.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/dependency.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan_apply.h"

static struct machine one;
FIXTURE_GROUP(machine_up(&f, &one, "ae-dxb-1", "one", 8, 0), NOTHING_MORE)

static enum errc set(struct uuid tenant, struct uuid id, const struct dependency *d, size_t n, struct err *why)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = tenant, .now_us = clock_wall_us(&clock_system) };
    const struct slice list = { (void *)d, n };
    OK(db_begin(f.api.pool, SCOPE_TENANT(tenant), 0, w.arena, &w.tx, e));
    const enum errc rc = dependency_set(&w, id, &list, why);
    if (rc == ERR_OK)
        OK(db_commit(w.tx, e));
    else
        db_rollback(w.tx);
    arena_free(w.arena);
    return rc;
}

static void a_cycle_is_refused_and_printed(void **state)
{
    (void)state;
    struct uuid ids[3];
    struct err why = { 0 };
    char hex[3][40];
    assert_int_equal(submit(&f, f.tenant_a, 3, 1, 3, ids), 3);
    struct arena *a = arena_new(1 << 20);
    for (int i = 0; i < 3; i++)
        snprintf(hex[i], sizeof hex[i], "%.*s", STR_ARG(id_text(a, "job", ids[i])));
    assert_int_equal(set(f.tenant_a, ids[0], &(struct dependency){ DEP_AFTEROK, ids[1] }, 1, &why), ERR_OK);
    assert_int_equal(set(f.tenant_a, ids[1], &(struct dependency){ DEP_AFTERANY, ids[2] }, 1, &why), ERR_OK);
    assert_int_equal(set(f.tenant_a, ids[2], &(struct dependency){ DEP_AFTER, ids[0] }, 1, &why), ERR_INVALID);
    char *at = strstr(why.msg, hex[2]);
    assert_non_null(at);
    assert_non_null(at = strstr(at, hex[0]));
    assert_non_null(at = strstr(at, hex[1]));
    assert_non_null(strstr(at, hex[2]));
    assert_string_equal(why.field, "/dependencies");
    assert_int_equal(set(f.tenant_a, ids[2], &(struct dependency){ DEP_AFTER, ids[2] }, 1, &why), ERR_INVALID);
    assert_int_equal(plan(&f), 1);              /* the third alone waits for nobody */
    assert_int_equal(set(f.tenant_a, ids[2], NULL, 0, &why), ERR_CONFLICT);     /* and now it has a machine */
    assert_int_equal(set(f.tenant_a, ids[1], NULL, 0, &why), ERR_OK);
    assert_int_equal(plan(&f), 1);
    assert_string_equal(state_of(&f, ids[0]), "PENDING");
    assert_int_equal(set(f.tenant_a, ids[0], NULL, 0, &why), ERR_OK);
    assert_int_equal(plan(&f), 1);
    arena_free(a);
}

static void another_tenants_job_is_not_there(void **state)
{
    (void)state;
    struct uuid mine, theirs;
    struct err why = { 0 };
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &mine), 1);
    assert_int_equal(submit(&f, f.tenant_b, 1, 1, 3, &theirs), 1);
    assert_int_equal(set(f.tenant_a, mine, &(struct dependency){ DEP_AFTEROK, theirs }, 1, &why), ERR_INVALID);
    assert_string_equal(why.field, "/dependencies/0/job_id");
    assert_int_equal(set(f.tenant_b, mine, NULL, 0, &why), ERR_NOT_FOUND);
    cancel_job(&f, f.tenant_a, mine);
    cancel_job(&f, f.tenant_b, theirs);
}

static void a_plan_made_before_admits_it_no_more(void **state)
{
    (void)state;
    struct uuid ids[2];
    struct err why = { 0 };
    struct snapshot s;
    struct plan p;
    struct plan_result r;
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 26), .now_us = clock_wall_us(&clock_system) };
    assert_int_equal(submit(&f, f.tenant_a, 2, 1, 3, ids), 2);
    OK(RUN_SYSTEM(&w, f.scheduler.pool, TX_READ_ONLY, snapshot_read(&w, 100, true, &s, e), e));
    placement_plan(&s, w.arena, &p);
    assert_int_equal(p.places.n, 2);
    assert_int_equal(set(f.tenant_a, ids[0], &(struct dependency){ DEP_AFTEROK, ids[1] }, 1, &why), ERR_OK);
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, plan_apply(&w, &s, &p, 10000, &r, e), e));
    assert_int_equal(r.admitted, 1);
    assert_string_equal(state_of(&f, ids[0]), "PENDING");
    assert_string_equal(state_of(&f, ids[1]), "ADMITTED");
    cancel_job(&f, f.tenant_a, ids[0]);
    arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_cycle_is_refused_and_printed),
                                        cmocka_unit_test(another_tenants_job_is_not_there),
                                        cmocka_unit_test(a_plan_made_before_admits_it_no_more) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
