/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_pages.c - searches by pages beside a look at each row: every kind of filter, with pages and young jobs together, jobs
 * that come late, and who sees what. */
#include "tests/db/scheduler/fixture.h"
#include "core/base/cleanup.h"
#include "scheduler/duty/job_pages.h"
#include "scheduler/jobs/job_search.h"

enum { JOBS = 12000, YOUNG = 40, LIST = 50, WALK_MAX = 2 };
static const int64_t FIRST_MS = INT64_C(1760000000000);
static struct fixture f;

/* Job i, one a second: 4,800 wait, 24 run, the rest has ended; so many that neither is looked through. */
static const char FILL[] =
    "INSERT INTO job (tenant_id, job_id, name, kind, state, queued, spec, zone, pool, created_by,"
    " submitted_at, finished_at, priority)"
    " SELECT '%s', (lpad(to_hex(%lld + i * 1000), 12, '0') || '7000800000000000' || lpad(to_hex(i), 4, '0'))::uuid,"
    "  CASE i %% 10 WHEN 0 THEN 'Tune_Llama ' || i WHEN 1 THEN 'درب نموذج ' || i WHEN 2 THEN 'sweep%%' || i "
    "   WHEN 3 THEN 'ÉTUDE ' || i"
    "    WHEN 4 THEN 'a' || chr(1) || 'b-' || i ELSE 'job-' || i END,"
    "  CASE WHEN i %% 3 = 0 THEN 'noop' ELSE 'train' END, s, s = 'PENDING', '{}',"
    "  CASE WHEN i = 77 THEN 'far-1' WHEN i %% 4 = 0 THEN 'ae-dxb-1' END, CASE WHEN i %% 4001 = 7 THEN 'rare' ELSE 'default' END,"
    "  md5((i %% 7)::text)::uuid, to_timestamp((%lld + i * 1000) / 1000.0), "
    "  CASE WHEN s IN ('COMPLETED', 'FAILED') THEN now() END, i %% 11"
    " FROM generate_series(0, %d) i, LATERAL (SELECT CASE WHEN i %% 5 < 2 THEN 'PENDING' WHEN i %% 500 = 2 THEN 'RUNNING'"
    "  WHEN i %% 5 = 4 THEN 'FAILED' ELSE 'COMPLETED' END AS s) x";

static char tenant_text[UUID_HEX + 1], other_text[UUID_HEX + 1];

static int64_t pass(int64_t now_us)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = now_us };
    int64_t made = -1;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(job_pages_pass(&w, 8, &made, e));
    OK(db_commit(w.tx, e));
    return made;
}

/* The time at which job i is just old enough for a page. */
static int64_t when_old(int i)
{
    return (FIRST_MS + INT64_C(1000) * (i + 1)) * 1000 + JOB_PAGE_AFTER_US;
}

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    hex_encode(f.tenant_a.b, 16, tenant_text);
    hex_encode(f.tenant_b.b, 16, other_text);
    fixture_exec(&f, FILL, tenant_text, (long long)FIRST_MS, (long long)FIRST_MS, JOBS - 1);
    fixture_exec(&f, FILL, other_text, (long long)FIRST_MS, (long long)FIRST_MS, JOBS - 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

/* The list is what `where` says of each row: as many, from the newest down, for at most WALK_MAX pages of it; and so are the
 * counts. */
static void expect(const struct job_filter *filter, const char *where)
{
    int64_t all = fixture_count(&f, "SELECT count(*) FROM job WHERE tenant_id = '%s' AND %s", tenant_text, where), seen = 0;
    struct uuid at = UUID_NIL;
    struct work w = fixture_reader(&f, f.tenant_a);
    struct slice rows = { 0 };
    int walked = 0;
    do {
        OK(job_list(&w, filter, at, LIST, &rows, e));
        const struct job *j = rows.items;
        char last[UUID_HEX + 1] = "";
        for (size_t i = 0; i < rows.n; at = j[i++].job_id)
            assert_true(uuid_is_nil(at) || uuid_cmp(j[i].job_id, at) < 0);
        seen += (int64_t)rows.n;
        if (rows.n)
            hex_encode(at.b, 16, last);
        if (rows.n)
            assert_int_equal(seen, fixture_count(&f, "SELECT count(*) FROM job WHERE tenant_id = '%s' AND %s AND job_id >= '%s'",
                                                 tenant_text,
                                                 where, last));
    } while (rows.n == LIST && ++walked < WALK_MAX);
    if (rows.n < LIST)
        assert_int_equal(seen, all);
    if (!filter->has_state && !filter->has_group) {
        struct job_count c[JOB_STATE_COUNT];
        int64_t counted = 0;
        bool is_exact = true;
        OK(job_count_states(&w, filter, c, e));
        for (int s = 0; s < JOB_STATE_COUNT; s++) {
            counted += c[s].jobs;
            is_exact &= c[s].is_exact;
        }
        assert_true(is_exact ? counted == all : counted <= all && counted >= JOB_COUNT_CAP);
    }
    fixture_reader_done(&w);
}

static void filters_find_what_each_row_says(void)
{
    expect(&(struct job_filter){ .q = STR("TUNE_llama") }, "name ILIKE '%tune\\_llama%'");
    expect(&(struct job_filter){ .q = STR("étude 1") }, "name ILIKE '%étude 1%'");
    expect(&(struct job_filter){ .q = STR("نموذج 11") }, "name LIKE '%نموذج 11%'");
    expect(&(struct job_filter){ .q = STR("p%3") }, "name LIKE '%p\\%3%'");
    expect(&(struct job_filter){ .q = STR("p_3") }, "false");
    expect(&(struct job_filter){ .q = STR("a\1b-99") }, "name LIKE '%a' || chr(1) || 'b-99%'");
    expect(&(struct job_filter){ .q = STR("a b-99") }, "false");
    expect(&(struct job_filter){ .q = STR("job-1\1job") }, "false");
    expect(&(struct job_filter){ .q = STR("job-7777") }, "name = 'job-7777'");
    expect(&(struct job_filter){ .q = STR("-123"), .has_state = true, .state = JOB_FAILED },
           "name LIKE '%-123%' AND state = 'FAILED'");
    expect(&(struct job_filter){ .q = STR("llama"), .has_group = true, .group = JG_WAITING },
           "name ILIKE '%llama%' AND state = 'PENDING'");
    expect(&(struct job_filter){ .q = STR("sweep"), .has_state = true, .state = JOB_RUNNING },
           "name LIKE '%sweep%' AND state = 'RUNNING'");
    expect(&(struct job_filter){ .q = STR("job"), .pool = STR("rare") }, "name LIKE '%job%' AND pool = 'rare'");
    expect(&(struct job_filter){ .pool = STR("rare") }, "pool = 'rare'");
    expect(&(struct job_filter){ .pool = STR("default"), .has_kind = true, .kind = JOB_NOOP },
           "pool = 'default' AND kind = 'noop'");
    expect(&(struct job_filter){ .zone = STR("far-1") }, "zone = 'far-1'");
    expect(&(struct job_filter){ .zone = STR("ae-dxb-1"), .has_state = true, .state = JOB_FAILED },
           "zone = 'ae-dxb-1' AND state = 'FAILED'");
    expect(&(struct job_filter){ .pool = STR("nobody") }, "pool = 'nobody'");
    expect(&(struct job_filter){ .q = STR("job"), .submitted_after = { (FIRST_MS + 3000000) * 1000 },
                                 .submitted_before = { (FIRST_MS + 3100000) * 1000 } },
           "name LIKE '%job%' AND submitted_at >= to_timestamp(1760003000) AND submitted_at < to_timestamp(1760003100)");
}

static void before_there_are_pages(void **state)
{
    (void)state;
    filters_find_what_each_row_says();
}

static void a_page_waits_until_all_its_ids_are_a_minute_old(void **state)
{
    (void)state;
    assert_int_equal(pass(when_old(JOB_PAGE - 2)), 0);
    assert_int_equal(pass(when_old(JOB_PAGE - 1)), 2);              /* one of each tenant */
    assert_int_equal(pass(when_old(JOB_PAGE - 1)), 0);
}

static void pages_follow_each_other_and_find_the_same(void **state)
{
    (void)state;
    for (int64_t made = 1; made;)
        made = pass(when_old(JOBS - YOUNG));
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_page WHERE tenant_id = '%s' AND jobs = %d", tenant_text,
                                   JOB_PAGE), JOBS / JOB_PAGE);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_page p WHERE EXISTS (SELECT FROM job_page b"
                                       "  WHERE b.tenant_id = p.tenant_id AND b.last_id = p.after_id)"),
                     2 * (JOBS / JOB_PAGE - 1));
    filters_find_what_each_row_says();
}

/* What a search costs is rows, not time: whether there are many (4,001 of either kind are counted), those that are in no page,
 * live ones, and what is found; never all that the tenant has. */
static const char READS_FEW[] =
    "DO $$ DECLARE found bigint; reads bigint; BEGIN"
    " PERFORM set_config('app.tenant', '%s', true);"
    " SELECT count(*) INTO found FROM job_find('%s', NULL, NULL, true, NULL, ARRAY['COMPLETED', 'FAILED'],"
    "   NULL, NULL, NULL, NULL, NULL, '%s', NULL, NULL, 50);"
    " SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) INTO reads FROM pg_stat_xact_user_tables"
    "  WHERE relid = 'job'::regclass;"
    " IF found <> %d OR reads > %d THEN RAISE EXCEPTION '%% found, %% rows read', found, reads; END IF; END $$";

static void a_search_reads_what_may_have_the_name(void **state)
{
    enum { MANY = 2 * 4001, LIVE = JOBS / 500, IN_NO_PAGE = JOBS % JOB_PAGE };
    (void)state;
    _Static_assert(MANY + LIVE + IN_NO_PAGE + 1 < JOBS, "a look at all jobs would be seen");
    fixture_exec(&f, READS_FEW, tenant_text, tenant_text, "job-7777", 1, MANY + LIVE + IN_NO_PAGE + 1);
    fixture_exec(&f, READS_FEW, tenant_text, tenant_text, "nothing-like-it", 0, MANY + LIVE + IN_NO_PAGE);
}

static void a_job_that_came_late_is_found_when_its_page_is_final(void **state)
{
    (void)state;
    const struct job_filter late = { .q = STR("came late") };
    fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, state, queued, spec, created_by, submitted_at)"
                     " SELECT tenant_id, replace(after_id::text, '-8000-', '-9000-')::uuid, 'Came Late', 'noop', 'PENDING',"
                     "        true, '{}', tenant_id, now()"
                     "   FROM job_page WHERE tenant_id = '%s' ORDER BY last_id DESC LIMIT 1", tenant_text);
    for (int i = 0; i < 2 * JOBS / JOB_PAGE; i++)
        (void)pass(when_old(JOBS - YOUNG));
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_page WHERE is_final"), 2 * (JOBS / JOB_PAGE - 1));
    while (fixture_count(&f, "SELECT count(*) FROM job_page WHERE NOT is_final"))
        (void)pass(when_old(JOBS) + JOB_PAGE_FINAL_US);
    expect(&late, "name = 'Came Late'");
}

static void another_tenant_and_its_projects_stay_apart(void **state)
{
    (void)state;
    struct work w = fixture_reader(&f, f.tenant_b);
    struct slice rows = { 0 };
    OK(job_list(&w, &(struct job_filter){ .q = STR("came late") }, UUID_NIL, LIST, &rows, e));
    assert_int_equal(rows.n, 0);
    fixture_reader_done(&w);
    struct uuid project = uuid_v7(3000000);
    CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
    w = (struct work){ .app = &f.api, .arena = a, .tenant_id = f.tenant_a };
    OK(db_begin(f.api.pool, SCOPE_PROJECTS(f.tenant_a, &project, 1), TX_READ_ONLY, a, &w.tx, e));
    OK(job_list(&w, &(struct job_filter){ .q = STR("job") }, UUID_NIL, LIST, &rows, e));
    assert_int_equal(rows.n, 0);
    db_rollback(w.tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_there_are_pages), cmocka_unit_test(a_page_waits_until_all_its_ids_are_a_minute_old),
        cmocka_unit_test(pages_follow_each_other_and_find_the_same),
        cmocka_unit_test(a_search_reads_what_may_have_the_name),
        cmocka_unit_test(a_job_that_came_late_is_found_when_its_page_is_final),
        cmocka_unit_test(another_tenant_and_its_projects_stay_apart),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
