/* SPDX-License-Identifier: Apache-2.0 */
/* test_watch.c - what watchers read: only what came after their position, in its order, of their own tenant. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/watch.h"

static struct fixture f;
static struct machine m;
static struct uuid job;

static int setup(void **state)
{
    (void)state;
    struct lease_grant g;
    struct arena *a = arena_new(16 << 20);
    struct lease_log logs[3] = { { STR("stdout"), STR("one") }, { STR("stderr"), STR("two") }, { STR("stdout"), STR("three") } };
    struct lease_metric metrics[2] = { { 1, { STR("{\"loss\":0.5}") } }, { 2, { STR("{\"loss\":0.25}") } } };
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0);
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &job), 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    struct lease_item items[2] = { { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence, .event = LE_START,
                                     .logs = { logs, 3 }, .metrics = { metrics, 2 } } };
    items[1] = (struct lease_item){ .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence, .event = LE_FAIL,
                                    .has_exit_code = true, .exit_code = 3, .message = STR("it broke") };
    struct work w = { .app = &f.api, .arena = a, .now_us = clock_wall_us(&clock_system) };
    struct slice verdicts;
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(lease_report(&w, &m.node, items, 2, f.config->scheduler_lease_ms, &verdicts, e));
    OK(db_commit(w.tx, e));
    arena_free(a);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static struct work reader(struct uuid tenant)
{
    struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .tenant_id = tenant };
    OK(db_begin(f.api.pool, SCOPE_TENANT(tenant), TX_READ_ONLY, w.arena, &w.tx, e));
    return w;
}
static void done(struct work *w)
{
    db_rollback(w->tx);
    arena_free(w->arena);
}

static void logs_after_a_position(void **state)
{
    (void)state;
    struct work w = reader(f.tenant_a);
    struct slice rows;
    OK(job_logs(&w, job, 0, 10, &rows, e));
    assert_int_equal(rows.n, 3);
    const struct job_log_line *l = rows.items;
    assert_true(str_eq_c(l[0].text, "one") && str_eq_c(l[1].text, "two") && str_eq_c(l[2].text, "three"));
    assert_true(str_eq_c(l[1].stream, "stderr"));
    assert_true(l[0].log_id < l[1].log_id && l[1].log_id < l[2].log_id);
    int64_t second = l[1].log_id, last = l[2].log_id;
    OK(job_logs(&w, job, second, 10, &rows, e));
    assert_int_equal(rows.n, 1);
    OK(job_logs(&w, job, last, 10, &rows, e));
    assert_int_equal(rows.n, 0);
    OK(job_logs(&w, job, 0, 2, &rows, e));
    assert_int_equal(rows.n, 2);
    done(&w);
}

static void metrics_and_attempts(void **state)
{
    (void)state;
    struct work w = reader(f.tenant_a);
    struct slice rows;
    OK(job_metrics(&w, job, 0, 10, &rows, e));
    assert_int_equal(rows.n, 2);
    assert_int_equal(((struct job_metric *)rows.items)[1].step, 2);
    OK(job_metrics(&w, job, ((struct job_metric *)rows.items)[0].metric_id, 10, &rows, e));
    assert_int_equal(rows.n, 1);
    OK(job_attempts(&w, job, 10, &rows, e));
    assert_int_equal(rows.n, 1);
    const struct attempt_view *v = rows.items;
    assert_true(uuid_eq(v->node_id, m.node.node_id));
    assert_int_equal(v->fence, 1);
    assert_true(v->has_exit_code);
    assert_int_equal(v->exit_code, 3);
    assert_true(str_eq_c(v->message, "it broke"));
    assert_true(v->finished_at.us >= v->started_at.us && v->started_at.us >= v->leased_at.us);
    done(&w);
}

static void another_tenant_sees_nothing(void **state)
{
    (void)state;
    struct work w = reader(f.tenant_b);
    struct slice rows;
    OK(job_logs(&w, job, 0, 10, &rows, e));
    assert_int_equal(rows.n, 0);
    OK(job_metrics(&w, job, 0, 10, &rows, e));
    assert_int_equal(rows.n, 0);
    OK(job_attempts(&w, job, 10, &rows, e));
    assert_int_equal(rows.n, 0);
    w.tenant_id = f.tenant_a;                       /* even when it claims to be the other one: the wall is in the database */
    OK(job_logs(&w, job, 0, 10, &rows, e));
    assert_int_equal(rows.n, 0);
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_after_a_position),
        cmocka_unit_test(metrics_and_attempts),
        cmocka_unit_test(another_tenant_sees_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
