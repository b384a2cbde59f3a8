/* SPDX-License-Identifier: Apache-2.0 */
/* test_serving.c - targets are remembered for a moment, counts become audit events of the right tenant, an outage loses none. */
#include "tests/db/registry/fixture.h"
#include "serving/serving.h"

static void expect(const char *what, int want)
{
    char sql[2048];
    snprintf(sql, sizeof sql, "DO $$ BEGIN IF (SELECT count(*) FROM %s) <> %d THEN RAISE EXCEPTION 'there are %%', (SELECT count(*) FROM %s); END IF; END $$",
             what, want, what);
    pg_harness_exec(pg, DB, sql);
}

static void test_targets(void **state)
{
    (void)state;
    struct serving *s = serving_new(&app);
    struct deployment_target t = { { { 1 } }, STR("127.0.0.1:4000"), STR("ae-dxb-1"), STR("internal"), 3 }, got;
    struct uuid a = people[0]->tenant_id, b = people[1]->tenant_id;
    assert_false(serving_target_find(s, a, STR("m"), arena, &got));
    serving_target_keep(s, a, STR("m"), &t);
    assert_true(serving_target_find(s, a, STR("m"), arena, &got));
    assert_true(str_eq_c(got.endpoint, "127.0.0.1:4000"));
    assert_int_equal(got.model_version, 3);
    assert_false(serving_target_find(s, b, STR("m"), arena, &got));
    usleep(1100 * 1000);
    assert_false(serving_target_find(s, a, STR("m"), arena, &got));
    serving_target_keep(s, a, STR("m"), &t);
    serving_target_forget(s, a, STR("m"));
    assert_false(serving_target_find(s, a, STR("m"), arena, &got));
    serving_free(s);
}

static void test_counts(void **state)
{
    (void)state;
    struct serving *s = serving_new(&app);
    struct serving_caller a = { people[0]->tenant_id, { { 7 } }, actor_of(people[0]) }, b = a;
    b.tenant_id = people[1]->tenant_id;
    for (int i = 0; i < 5; i++)
        serving_note(s, &a, STR("ae-dxb-1"), i != 0);
    serving_note(s, &b, STR("ae-dxb-1"), true);
    pg_harness_stop(pg);
    serving_flush(s);
    pg_harness_start(pg);
    for (int i = 0; i < 50; i++) {
        struct err ignored;
        if (db_pool_ping(app.pool, &ignored) == ERR_OK)
            break;
        usleep(100000);
    }
    serving_note(s, &a, STR("ae-dxb-1"), true);
    serving_free(s);
    expect("audit_event e JOIN tenant t USING (tenant_id) WHERE t.name = 'aaa' AND convert_from(body, 'UTF8') LIKE '%FLJ-INF-001%'"
           " AND convert_from(body, 'UTF8') LIKE '%\"requests_ok\":5%' AND convert_from(body, 'UTF8') LIKE '%\"requests_failed\":1%'", 1);
    expect("audit_event e JOIN tenant t USING (tenant_id) WHERE t.name = 'bbb' AND convert_from(body, 'UTF8') LIKE '%FLJ-INF-001%'", 1);
    expect("audit_event WHERE convert_from(body, 'UTF8') LIKE '%FLJ-INF-001%'", 2);
}

static void test_unreachable(void **state)
{
    (void)state;
    struct serving *s = serving_new(&app);
    struct http_result r;
    assert_int_equal(serving_call(s, STR("127.0.0.1:1"), "GET", "/ready", STR_NULL, arena, &r, &e), ERR_UNAVAILABLE);
    assert_int_equal(serving_call(s, STR(""), "GET", "/ready", STR_NULL, arena, &r, &e), ERR_UPSTREAM);
    serving_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_targets), cmocka_unit_test(test_counts), cmocka_unit_test(test_unreachable) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
