/* SPDX-License-Identifier: Apache-2.0 */
/* test_series.c - a thinned series keeps its peaks and its order, a short one is whole, and another tenant's is empty. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/jobs/series.h"

enum { MANY = 20000, POINTS = 500 };
static struct fixture f;
static struct uuid job;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &job), 1);
    fixture_exec(&f, "INSERT INTO job_metric (tenant_id, job_id, fence, step, values) SELECT tenant_id, job_id, 1, i,"
                     " jsonb_build_object('loss', CASE i WHEN 7777 THEN 1e6 WHEN 12345 THEN -1e6 ELSE i %% 97 END) ||"
                     " CASE WHEN i %% 1000 = 0 THEN jsonb_build_object('eval', i / 1000.0, 'note', 'text') ELSE '{}' END"
                     " FROM job, generate_series(1, %d) i ORDER BY i", MANY);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static void a_thinned_series_keeps_its_peaks(void **state)
{
    (void)state;
    struct work w = fixture_reader(&f, f.tenant_a);
    struct str names[] = { STR("loss") };
    struct slice all = { 0 };
    OK(job_series_read(&w, job, (struct slice){ names, 1 }, POINTS, &all, e));
    const struct job_series *s = all.items;
    const double *v = s->values.items;
    const int64_t *steps = s->steps.items;
    double least = 0, greatest = 0;
    assert_int_equal(s->total, MANY);
    assert_in_range(s->values.n, POINTS / 2, POINTS);
    for (size_t i = 0; i < s->values.n; i++) {
        assert_true(!i || steps[i] > steps[i - 1]);
        least = v[i] < least ? v[i] : least;
        greatest = v[i] > greatest ? v[i] : greatest;
    }
    assert_true(least == -1e6 && greatest == 1e6);
    fixture_reader_done(&w);
}

static void a_short_series_is_whole_and_text_is_none(void **state)
{
    (void)state;
    struct work w = fixture_reader(&f, f.tenant_a);
    struct slice all = { 0 };
    OK(job_series_read(&w, job, (struct slice){ 0 }, SERIES_POINTS, &all, e));
    const struct job_series *s = all.items;
    assert_int_equal(all.n, 2);
    assert_true(str_eq_c(s[0].name, "eval") && str_eq_c(s[1].name, "loss"));
    assert_int_equal(s[0].values.n, MANY / 1000);
    assert_int_equal(s[0].total, MANY / 1000);
    assert_int_equal(((const int64_t *)s[0].steps.items)[1], 2000);
    assert_true(((const double *)s[0].values.items)[1] == 2.0);
    assert_int_equal(s[1].values.n, MANY);
    struct err over = { 0 };
    struct str five[] = { STR("a"), STR("b"), STR("c"), STR("d"), STR("e") };
    assert_int_equal(job_series_read(&w, job, (struct slice){ five, 5 }, SERIES_POINTS, &all, &over), ERR_INVALID);
    fixture_reader_done(&w);
}

static void another_tenants_series_is_empty(void **state)
{
    (void)state;
    struct work w = fixture_reader(&f, f.tenant_b);
    struct str names[] = { STR("loss") };
    struct slice all = { 0 };
    w.tenant_id = f.tenant_a;
    OK(job_series_read(&w, job, (struct slice){ names, 1 }, POINTS, &all, e));
    assert_int_equal(((const struct job_series *)all.items)->values.n, 0);
    fixture_reader_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thinned_series_keeps_its_peaks),
        cmocka_unit_test(a_short_series_is_whole_and_text_is_none),
        cmocka_unit_test(another_tenants_series_is_empty),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
