/* SPDX-License-Identifier: Apache-2.0 */
/* test_watch.c - what watchers read: only what came after their position, in its order, of their own tenant. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/jobs/watch.h"

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
    OK(lease_report(&w, &m.node, NULL, items, 2, f.config->scheduler_lease_ms, &verdicts, e));
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

static void logs_after_a_position(void **state)
{
    (void)state;
    struct work w = fixture_reader(&f, f.tenant_a);
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
    fixture_reader_done(&w);
}

static void metrics_and_attempts(void **state)
{
    (void)state;
    struct work w = fixture_reader(&f, f.tenant_a);
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
    fixture_reader_done(&w);
}

static void another_tenant_sees_nothing(void **state)
{
    (void)state;
    struct work w = fixture_reader(&f, f.tenant_b);
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
    fixture_reader_done(&w);
}

/* Ids of lines are of the whole table; the number is the job's own. */
static void lines_are_numbered_within_their_job(void **state)
{
    (void)state;
    struct slice rows;
    struct job_log_ask ask = { .is_newest = true, .is_numbered = true };
    struct err refused = { 0 };
    fixture_exec(&f, "SELECT setval('job_log_log_id_seq', (SELECT max(log_id) + 1000 FROM job_log));"
                     "INSERT INTO job_log (tenant_id, job_id, fence, stream, text)"
                     " SELECT tenant_id, job_id, 9, 'stdout', 'far' FROM job_log WHERE text = 'one'");
    struct work w = fixture_reader(&f, f.tenant_a);
    OK(job_log_page(&w, job, &ask, 2, &rows, e));
    const struct job_log_line *l = rows.items;
    assert_int_equal(rows.n, 2);
    assert_true(l[0].has_line && l[0].line == 3 && l[1].line == 4 && l[1].log_id > 1000);
    ask = (struct job_log_ask){ .before = l[1].log_id, .is_newest = true };
    OK(job_log_page(&w, job, &ask, 2, &rows, e));
    assert_false(((const struct job_log_line *)rows.items)[0].has_line);
    ask = (struct job_log_ask){ .errors_only = true, .is_numbered = true };
    assert_int_equal(job_log_page(&w, job, &ask, 2, &rows, &refused), ERR_INVALID);
    fixture_exec(&f, "DELETE FROM job_log WHERE text = 'far'");
    fixture_reader_done(&w);
}

static void a_page_of_the_log_from_either_end(void **state)
{
    (void)state;
    struct slice rows;
    fixture_exec(&f, "INSERT INTO job_log (tenant_id, job_id, fence, stream, text) SELECT tenant_id, job_id, 9, 'stdout', CASE i WHEN 30 THEN 'ValueError: no'"
                     " WHEN 31 THEN 'mean error 0.25' WHEN 32 THEN '0 errors' WHEN 33 THEN 'OOM, 100%% full' WHEN 34 THEN 'Итог: حُفظ النموذج' WHEN 35 THEN 'error: the job failed: 1 row' WHEN 36 THEN 'info: epoch 3: loss 0.2' WHEN 40 THEN repeat('x', 3000000) ELSE 'line ' || i END"
                     " FROM job_log, generate_series(1, 60) i WHERE text = 'one' ORDER BY i");
    struct work w = fixture_reader(&f, f.tenant_a);
    OK(job_log_page(&w, job, &(struct job_log_ask){ .is_newest = true }, 5, &rows, e));
    const struct job_log_line *l = rows.items;
    assert_int_equal(rows.n, 5);
    assert_true(str_eq_c(l[0].text, "line 56") && str_eq_c(l[4].text, "line 60"));
    OK(job_log_page(&w, job, &(struct job_log_ask){ .is_newest = true, .before = l[0].log_id }, 3, &rows, e));
    l = rows.items;
    assert_true(str_eq_c(l[0].text, "line 53") && str_eq_c(l[2].text, "line 55"));
    OK(job_log_page(&w, job, &(struct job_log_ask){ .errors_only = true }, 100, &rows, e));
    l = rows.items;
    assert_int_equal(rows.n, 3);
    assert_true(str_eq_c(l[0].text, "ValueError: no") && str_eq_c(l[1].text, "OOM, 100% full") && str_eq_c(l[2].text, "error: the job failed: 1 row"));
    OK(job_log_page(&w, job, &(struct job_log_ask){ .part = STR("00% F") }, 100, &rows, e));
    assert_int_equal(rows.n, 1);
    /* In any case, beyond ASCII, too; Arabic has none. */
    OK(job_log_page(&w, job, &(struct job_log_ask){ .part = STR("LinE 5") }, 100, &rows, e));
    assert_int_equal(rows.n, 11);
    OK(job_log_page(&w, job, &(struct job_log_ask){ .part = STR("ИТОГ") }, 100, &rows, e));
    assert_int_equal(rows.n, 1);
    OK(job_log_page(&w, job, &(struct job_log_ask){ .part = STR("النموذج") }, 100, &rows, e));
    assert_int_equal(rows.n, 1);
    /* The long line ends the page, from whichever end it is met; the rest is behind it. */
    OK(job_log_page(&w, job, &(struct job_log_ask){ 0 }, 1000, &rows, e));
    assert_int_equal(rows.n, 43);
    assert_int_equal(((struct job_log_line *)rows.items)[42].text.len, 3000000);
    OK(job_log_page(&w, job, &(struct job_log_ask){ .is_newest = true }, 1000, &rows, e));
    assert_int_equal(rows.n, 21);
    fixture_reader_done(&w);
    w = fixture_reader(&f, f.tenant_b);
    w.tenant_id = f.tenant_a;
    OK(job_log_page(&w, job, &(struct job_log_ask){ 0 }, 1000, &rows, e));
    assert_int_equal(rows.n, 0);
    fixture_reader_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_after_a_position),
        cmocka_unit_test(metrics_and_attempts),
        cmocka_unit_test(another_tenant_sees_nothing),
        cmocka_unit_test(lines_are_numbered_within_their_job), cmocka_unit_test(a_page_of_the_log_from_either_end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
