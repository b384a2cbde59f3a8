/* SPDX-License-Identifier: Apache-2.0 */
/* test_idle_policy.c - the rule of each tenant alone, by project, and what is none. */
#include "core/db/run_tx.h"
#include "scheduler/jobs/idle_policy.h"
#include "tenants/access/principal.h"
#include "tests/db/scheduler/fixture.h"

static struct principal *who;
FIXTURE_GROUP(who = principal_new(), principal_unref(who))

static struct work unit(struct uuid tenant)
{
    who->tenant_id = tenant;
    return (struct work){ .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = tenant, .principal = who,
                          .now_us = clock_wall_us(&clock_system) };
}

static struct idle_policy policy_of(struct uuid tenant)
{
    struct idle_policy p;
    struct work w = unit(tenant);
    OK(RUN_READ(&w, idle_policy_get(&w, &p, e), e));
    p.projects.items = NULL;
    arena_free(w.arena);
    return p;
}

static enum errc set(struct uuid tenant, int64_t minutes, const struct str *projects, size_t n, struct err *e)
{
    struct work w = unit(tenant);
    const struct idle_policy p = { minutes, 30, { (void *)(uintptr_t)projects, n } };
    const enum errc rc = RUN_WRITE(&w, idle_policy_set(&w, &p, e), e);
    arena_free(w.arena);
    return rc;
}

static void each_tenant_has_its_own(void **state)
{
    (void)state;
    struct err e = { 0 };
    assert_true(policy_of(f.tenant_a).after_minutes == 0 && policy_of(f.tenant_a).notice_minutes == IDLE_NOTICE_MIN);
    assert_int_equal(set(f.tenant_a, 60, NULL, 0, &e), ERR_OK);
    assert_true(policy_of(f.tenant_a).after_minutes == 60 && policy_of(f.tenant_a).notice_minutes == 30);
    assert_int_equal(policy_of(f.tenant_b).after_minutes, 0);
    assert_int_equal(set(f.tenant_a, 0, NULL, 0, &e), ERR_OK);
    assert_int_equal(policy_of(f.tenant_a).after_minutes, 0);
    assert_int_equal(set(f.tenant_a, 4, NULL, 0, &e), ERR_INVALID);
    assert_string_equal(e.field, "/after_minutes");
}

static void a_project_may_have_minutes_of_its_own(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct uuid id;
    int64_t minutes;
    static const char *const bad[] = { "", "prj_1=5", "job_00000000000000000000000000000001=5",
                                       "prj_00000000000000000000000000000001",
                                       "prj_00000000000000000000000000000001=4", "prj_00000000000000000000000000000001=43201",
                                       "prj_00000000000000000000000000000001=x" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(idle_project(str_c(bad[i]), &id, &minutes));
    const struct str two[] = { STR("prj_00000000000000000000000000000001=0"), STR("prj_00000000000000000000000000000002=600") };
    const struct idle_policy p = { 60, 15, { (void *)(uintptr_t)two, 2 } };
    assert_true(idle_project(two[0], &id, &minutes) && minutes == 0);
    assert_int_equal(idle_policy_after(&p, id), 0);
    assert_true(idle_project(two[1], &id, &minutes));
    assert_int_equal(idle_policy_after(&p, id), 600);
    assert_int_equal(idle_policy_after(&p, UUID_NIL), 60);
    const struct str twice[] = { two[0], two[0] };
    assert_int_equal(set(f.tenant_a, 60, twice, 2, &e), ERR_INVALID);
    assert_string_equal(e.field, "/projects/1");
    assert_int_equal(set(f.tenant_a, 60, two, 2, &e), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_tenant_has_its_own),
                                        cmocka_unit_test(a_project_may_have_minutes_of_its_own) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
