/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_search.c - every filter of the list beside a look at each row, pages without gaps, counts, and who sees what. */
#include "tests/db/tenants/fixture.h"
#include "scheduler/jobs/job_search.h"

enum { JOBS = 400, PAGE = 7, ALL = 1000 };
static struct uuid tenant, other, maker, second, project, neighbour;

static struct uuid project_make(struct uuid t, const char *name)
{
    struct uuid id = new_id();
    sql("INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ('%s', '%s', '%s', '%s')", hex(t), hex(id), name, hex(maker));
    return id;
}

/* Job i of 400, one a minute: what a filter must find is computed from i by the tests below. */
static const char FILL[] =
    "INSERT INTO job (tenant_id, job_id, name, kind, state, queued, spec, zone, pool, created_by, project_id, submitted_at, finished_at,"
    " priority)"
    " SELECT '%s', (lpad(to_hex(1760000000000 + i * 60000), 12, '0') || '7000800000000000' || lpad(to_hex(i), 4, '0'))::uuid,"
    "  CASE WHEN i %% 10 = 0 THEN 'Tune_Llama ' || i WHEN i %% 10 = 1 THEN 'درب نموذج ' || i ELSE 'sweep%%' || i END,"
    "  CASE WHEN i %% 3 = 0 THEN 'noop' WHEN i %% 3 = 1 THEN 'train' ELSE 'serve' END, s, s = 'PENDING', '{}',"
    "  CASE WHEN i %% 4 = 0 THEN 'ae-dxb-1' WHEN i %% 4 = 1 THEN 'ae-auh-1' END, CASE WHEN i %% 5 = 0 THEN 'big' ELSE 'default' END,"
    "  CASE WHEN i %% 7 = 0 THEN '%s'::uuid ELSE '%s'::uuid END, CASE WHEN i %% 6 = 0 THEN '%s'::uuid WHEN i %% 6 = 1 THEN '%s'::uuid END,"
    "  to_timestamp(1760000000 + i * 60), CASE WHEN n > 6 THEN to_timestamp(1760000000 + i * 60) END, i %% 11 * 200 - 1000"
    " FROM generate_series(0, 399) i, LATERAL (SELECT i %% 15 AS n, (ARRAY['PENDING','HELD','SUSPENDED','ADMITTED',"
    "'STARTING','RUNNING',"
    "'PREEMPTING','COMPLETED','FAILED','CANCELLED','TIMEOUT','DEADLINE','OUT_OF_MEMORY','NODE_FAIL','REJECTED'])"
    "[i %% 15 + 1] AS s) x";

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { job_stmts, job_search_stmts, NULL };
    world_new(lists, 4);
    tenant = new_id();
    other = new_id();
    tenant_make(tenant, "searched");
    tenant_make(other, "another");
    maker = user_make(tenant, "maker", "ml-engineer");
    second = user_make(tenant, "second", "ml-engineer");
    project = project_make(tenant, "one");
    neighbour = project_make(tenant, "two");
    sql(FILL, hex(tenant), hex(second), hex(maker), hex(project), hex(neighbour));
    sql(FILL, hex(other), hex(second), hex(maker), hex(project), hex(neighbour));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

/* Every job that the filter lets through, page by page; how many of the 400 `want` says yes to must be all of them and in order. */
static void expect_in(struct work *w, const struct job_filter *f, bool (*want)(int))
{
    struct uuid at = UUID_NIL;
    struct slice page = { 0 };
    int i = JOBS;
    do {
        OK(job_list(w, f, at, PAGE, &page, &e));
        const struct job *j = page.items;
        for (size_t k = 0; k < page.n; k++) {
            for (i--; i >= 0 && !want(i);)
                i--;
            int64_t minute = (j[k].submitted_at.us / 1000000 - 1760000000) / 60;
            assert_int_equal(minute, i);
            assert_true(uuid_eq(j[k].tenant_id, tenant));
            at = j[k].job_id;
        }
    } while (page.n == PAGE);
    for (i--; i >= 0; i--)
        assert_false(want(i));
}

static void expect(const struct job_filter *f, bool (*want)(int))
{
    struct work *w = unit_open(tenant, NULL);
    expect_in(w, f, want);
    unit_drop(w);
}

static bool all(int i) { return i >= 0; }
static bool none(int i) { return i < 0; }
static bool noop(int i) { return i % 3 == 0; }
static bool dxb(int i) { return i % 4 == 0; }
static bool big(int i) { return i % 5 == 0; }
static bool by_second(int i) { return i % 7 == 0; }
static bool in_project(int i) { return i % 6 == 0; }
static bool running(int i) { return i % JOB_STATE_COUNT == JOB_RUNNING; }
static bool timed_out(int i) { return i % JOB_STATE_COUNT == JOB_TIMEOUT; }
static bool llama(int i) { return i % 10 == 0; }
static bool arabic(int i) { return i % 10 == 1; }
static bool percent(int i) { return i % 10 > 1; }
static bool some_minutes(int i) { return i >= 100 && i < 200; }
static bool many_at_once(int i) { return i % 3 == 0 && i % 7 == 0 && i % 10 == 0 && i >= 50; }
static bool failed_by_second(int i) { return i % 7 == 0 && job_state_group((enum job_state)(i % JOB_STATE_COUNT)) == JG_FAILED; }

static void each_filter_alone(void **state)
{
    (void)state;
    expect(&(struct job_filter){ 0 }, all);
    expect(&(struct job_filter){ .has_kind = true, .kind = JOB_NOOP }, noop);
    expect(&(struct job_filter){ .zone = STR("ae-dxb-1") }, dxb);
    expect(&(struct job_filter){ .zone = STR("nowhere") }, none);
    expect(&(struct job_filter){ .pool = STR("big") }, big);
    expect(&(struct job_filter){ .created_by = second }, by_second);
    expect(&(struct job_filter){ .project_id = project }, in_project);
    expect(&(struct job_filter){ .has_state = true, .state = JOB_RUNNING }, running);
    expect(&(struct job_filter){ .has_state = true, .state = JOB_TIMEOUT }, timed_out);
    expect(&(struct job_filter){ .submitted_after = { (1760000000 + INT64_C(100) * 60) * 1000000 },
                                 .submitted_before = { (1760000000 + INT64_C(200) * 60) * 1000000 } }, some_minutes);
}

static void names_in_any_case_and_their_signs_as_they_are(void **state)
{
    (void)state;
    expect(&(struct job_filter){ .q = STR("TUNE_llama") }, llama);
    expect(&(struct job_filter){ .q = STR("نموذج") }, arabic);
    expect(&(struct job_filter){ .q = STR("eep%") }, percent);
    expect(&(struct job_filter){ .q = STR("tune%llama") }, none);
    expect(&(struct job_filter){ .q = STR("tuneXllama") }, none);
    expect(&(struct job_filter){ .q = STR("eep\\") }, none);
}

static enum job_group wanted_group;
static bool of_group(int i) { return job_state_group((enum job_state)(i % JOB_STATE_COUNT)) == wanted_group; }

static void groups_part_the_states(void **state)
{
    (void)state;
    for (wanted_group = JG_WAITING; wanted_group < JG_COUNT; wanted_group++)
        expect(&(struct job_filter){ .has_group = true, .group = (int)wanted_group }, of_group);
    expect(&(struct job_filter){ .has_group = true, .group = JG_DONE, .has_state = true, .state = JOB_RUNNING }, none);
}

static void filters_together(void **state)
{
    (void)state;
    expect(&(struct job_filter){ .has_kind = true, .kind = JOB_NOOP, .created_by = second, .q = STR("llama"),
                                 .submitted_after = { (1760000000 + INT64_C(50) * 60) * 1000000 } }, many_at_once);
    expect(&(struct job_filter){ .has_group = true, .group = JG_FAILED, .created_by = second }, failed_by_second);
}

static void who_is_held_to_a_project_finds_its_jobs_only(void **state)
{
    (void)state;
    struct work *w = unit_open(tenant, NULL);
    db_rollback(w->tx);
    OK(db_begin(app_pool, SCOPE_PROJECTS(tenant, &project, 1), 0, w->arena, &w->tx, &e));
    expect_in(w, &(struct job_filter){ 0 }, in_project);
    expect_in(w, &(struct job_filter){ .project_id = neighbour }, none);
    expect_in(w, &(struct job_filter){ .q = STR("نموذج") }, none);
    struct job_count c[JOB_STATE_COUNT];
    int64_t total = 0;
    OK(job_count_states(w, &(struct job_filter){ 0 }, c, &e));
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        total += c[s].jobs;
    assert_int_equal(total, 67);
    unit_drop(w);
}

/* The definer's functions see every tenant, so they are asked for another one than the transaction's. */
static void the_functions_answer_for_the_transactions_tenant_alone(void **state)
{
    (void)state;
    struct work *w = unit_open(tenant, NULL);
    w->tenant_id = other;
    struct slice page = { 0 };
    struct job_count c[JOB_STATE_COUNT];
    OK(job_list(w, &(struct job_filter){ 0 }, UUID_NIL, ALL, &page, &e));
    assert_int_equal(page.n, 0);
    OK(job_count_states(w, &(struct job_filter){ 0 }, c, &e));
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        assert_int_equal(c[s].jobs, 0);
    unit_drop(w);
}

static void counts_are_those_of_the_list(void **state)
{
    (void)state;
    const struct job_filter filters[] = { { 0 }, { .created_by = second }, { .q = STR("llama") }, { .has_kind = true, .kind = JOB_TRAIN, .pool = STR("big") },
                                          { .submitted_after = { (1760000000 + INT64_C(300) * 60) * 1000000 } }, { .zone = STR("ae-auh-1") } };
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        struct work *w = unit_open(tenant, NULL);
        struct job_count c[JOB_STATE_COUNT];
        OK(job_count_states(w, &filters[i], c, &e));
        for (int s = 0; s < JOB_STATE_COUNT; s++) {
            struct job_filter f = filters[i];
            struct slice page = { 0 };
            f.has_state = true;
            f.state = s;
            OK(job_list(w, &f, UUID_NIL, ALL, &page, &e));
            assert_int_equal(c[s].jobs, page.n);
            assert_true(c[s].is_exact);
        }
        unit_drop(w);
    }
}

static void ids_of_a_time_are_all_between_its_least_and_its_greatest(void **state)
{
    (void)state;
    int64_t at = INT64_C(1700000000123456);
    struct uuid least = job_id_at(at, false), greatest = job_id_at(at, true), one = uuid_v7(at);
    assert_true(uuid_cmp(least, one) < 0 && uuid_cmp(one, greatest) < 0);
    for (size_t i = 6; i < sizeof least.b; i++)
        assert_true(least.b[i] == 0 && greatest.b[i] == 0xFF);
    assert_true(uuid_is_nil(job_id_at(-1, false)));
}

/* One past the cap. Last, because it adds many. */
static void past_the_cap_a_count_is_at_least(void **state)
{
    (void)state;
    struct job_count c[JOB_STATE_COUNT];
    sql("INSERT INTO job (tenant_id, job_id, name, kind, state, queued, spec, created_by, finished_at) SELECT '%s', gen_random_uuid(), 'more', 'noop',"
        " 'REJECTED', false, '{}', '%s', now() FROM generate_series(1, %d)", hex(tenant), hex(maker), JOB_COUNT_CAP + 1);
    struct work *w = unit_open(tenant, NULL);
    OK(job_count_states(w, &(struct job_filter){ 0 }, c, &e));
    assert_int_equal(c[JOB_REJECTED].jobs, JOB_COUNT_CAP);
    assert_false(c[JOB_REJECTED].is_exact);
    assert_true(c[JOB_FAILED].is_exact && c[JOB_RUNNING].is_exact);
    OK(job_count_states(w, &(struct job_filter){ .created_by = second }, c, &e));
    assert_true(c[JOB_REJECTED].is_exact);
    OK(job_count_states(w, &(struct job_filter){ .created_by = maker }, c, &e));
    assert_false(c[JOB_REJECTED].is_exact || c[JOB_FAILED].is_exact);
    assert_true(c[JOB_RUNNING].is_exact);
    OK(job_count_states(w, &(struct job_filter){ .q = STR("more") }, c, &e));
    assert_false(c[JOB_REJECTED].is_exact);
    assert_in_range(c[JOB_REJECTED].jobs, JOB_COUNT_CAP / 2, JOB_COUNT_CAP);
    /* What is rarer than a page of the newest is found behind them. */
    struct slice page = { 0 };
    OK(job_list(w, &(struct job_filter){ .q = STR("tune_llama 40") }, UUID_NIL, ALL, &page, &e));
    assert_int_equal(page.n, 1);
    unit_drop(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_filter_alone), cmocka_unit_test(names_in_any_case_and_their_signs_as_they_are), cmocka_unit_test(groups_part_the_states),
        cmocka_unit_test(filters_together), cmocka_unit_test(who_is_held_to_a_project_finds_its_jobs_only),
        cmocka_unit_test(the_functions_answer_for_the_transactions_tenant_alone), cmocka_unit_test(counts_are_those_of_the_list),
        cmocka_unit_test(ids_of_a_time_are_all_between_its_least_and_its_greatest),
        cmocka_unit_test(past_the_cap_a_count_is_at_least),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
