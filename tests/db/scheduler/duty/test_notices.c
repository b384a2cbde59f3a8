/* SPDX-License-Identifier: Apache-2.0 */
/* test_notices.c - what stands in a log is told once to those who want it, what came before a rule is not, a project's rule
 * has its own jobs,
 * and a log that nobody wants is passed over. The reading itself is audit/tail.c's. */
#include "tests/db/scheduler/fixture.h"
#include "audit/tail.h"
#include "core/db/run_tx.h"
#include "scheduler/duty/notices.h"

static void begin(void);
FIXTURE_GROUP(begin(), NOTHING_MORE)

static int64_t tseq;
static char ta[UUID_TEXT], huda[UUID_TEXT], prj[UUID_TEXT];

static void begin(void)
{
    uuid_text(f.tenant_a, ta);
    uuid_text(uuid_v7(clock_wall_us(&clock_system)), huda);
    uuid_text(uuid_v7(clock_wall_us(&clock_system)), prj);
    fixture_exec(&f, "INSERT INTO app_user (tenant_id, user_id, name) VALUES ('%s', '%s', 'Huda')", ta, huda);
    fixture_exec(&f, "INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ('%s', '%s', 'herons', '%s')", ta,
        prj, huda);
    fixture_exec(&f, "INSERT INTO audit_log_state (tenant_id, size, chain, frontier) VALUES ('%s', 0, '', '')"
                     " ON CONFLICT (tenant_id) DO UPDATE SET size = 0", ta);
    fixture_exec(&f, "INSERT INTO notice_cursor (tenant_id, tseq) VALUES ('%s', 0)", ta);
}

static void entry(const char *code, const char *kind, const char *id)
{
    tseq++;
    fixture_exec(&f, "INSERT INTO audit_seq (tenant_id, tseq, event_id, leaf, chain, at, code, resource_kind, resource_id) VALUES"
                     " ('%s', %lld, gen_random_uuid(), decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), "
                     "clock_timestamp(),"
                     " '%s', '%s', '%s')", ta, (long long)tseq, code, kind, id);
    fixture_exec(&f, "UPDATE audit_log_state SET size = %lld WHERE tenant_id = '%s'", (long long)tseq, ta);
}

/* A job that ended so, as its id in the log. */
static const char *job_that(const char *ended, const char *project)
{
    static char id[40];
    struct uuid u = uuid_v7(clock_wall_us(&clock_system));
    char text[UUID_TEXT];
    uuid_text(u, text);
    fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by, state, queued, finished_at, "
        "project_id) VALUES"
                     " ('%s', '%s', 'herons', 'noop', '{}', '%s', '%s', %s, %s, %s)", ta, text, huda, ended ? ended : "PENDING",
                 ended ? "false" : "true", ended ? "now()" : "NULL", project ? project : "NULL");
    memcpy(id, "job_", 4);
    hex_encode(u.b, 16, id + 4);
    return id;
}

static void rule(const char *name, const char *events, const char *project)
{
    fixture_exec(&f, "INSERT INTO notice_rule (tenant_id, notification_id, name, kind, events, url, sealed, zone, created_by, "
        "project_id) VALUES"
                     " ('%s', gen_random_uuid(), '%s', 'webhook', '{%s}', 'https://x.example/', 'x', 'z', '%s', %s)", ta,
                         name, events, huda,
                 project ? project : "NULL");
}

static void look(bool is_patrol)
{
    struct work w = { .app = &f.scheduler, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) };
    int64_t after = fixture_count(&f, "SELECT tseq AS n FROM notice_cursor WHERE tenant_id = '%s'", ta);
    bool more;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, notices_tenant(&w, f.tenant_a, after, is_patrol, &more, e), e));
    assert_false(more);
    arena_free(w.arena);
}
#define TOLD(event) fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery WHERE event = '%s'", event)

static void nobody_wants_it(void **state)
{
    (void)state;
    entry("FLJ-JOB-006S", "job", job_that("FAILED", NULL));
    look(true);
    rule("ends", "job-failed,job-completed,approval-waiting", NULL);
    look(false);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery"), 0);    /* it was before the rule */
}

static void an_end_is_told_once_and_by_the_job(void **state)
{
    (void)state;
    const char *bad = job_that("OUT_OF_MEMORY", NULL);
    entry("FLJ-JOB-007S", "job", bad);          /* the lease ran out, then the job ended: one end */
    entry("FLJ-JOB-006S", "job", bad);
    entry("FLJ-JOB-006S", "job", job_that("COMPLETED", NULL));
    entry("FLJ-JOB-006S", "job", job_that("CANCELLED", NULL));
    entry("FLJ-JOB-007S", "job", job_that(NULL, NULL));
    entry("FLJ-JOB-009S", "job", job_that("REJECTED", NULL));       /* what it waited for can never be */
    entry("FLJ-APR-001S", "approval", "apr_1");
    entry("FLJ-KEY-006S", "key", "3");          /* nobody wants it */
    look(false);
    look(false);
    assert_int_equal(TOLD("job-failed"), 2);
    assert_int_equal(TOLD("job-completed"), 1);
    assert_int_equal(TOLD("approval-waiting"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery"), 4);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery WHERE name = 'herons'"
                                       " AND detail ->> 'state' = 'OUT_OF_MEMORY'"), 1);
}

static void a_project_has_its_own_jobs(void **state)
{
    (void)state;
    char quoted[UUID_TEXT + 2];
    snprintf(quoted, sizeof quoted, "'%s'", prj);
    fixture_exec(&f, "DELETE FROM notice_delivery");
    rule("of the project", "job-failed", quoted);
    entry("FLJ-JOB-006S", "job", job_that("FAILED", quoted));
    entry("FLJ-JOB-006S", "job", job_that("FAILED", NULL));
    look(false);
    assert_int_equal(TOLD("job-failed"), 3);    /* the tenant's rule has both, the project's one */
}

static void people_are_told_of_their_own(void **state)
{
    (void)state;
    fixture_exec(&f, "DELETE FROM notice_delivery");
    fixture_exec(&f, "INSERT INTO notice_person (tenant_id, user_id, address, confirmed_at, events) VALUES"
                     " ('%s', '%s', 'h@x.example', now(), '{job-failed}')", ta, huda);
    entry("FLJ-JOB-006S", "job", job_that("FAILED", NULL));
    char mine[UUID_TEXT];
    memcpy(mine, huda, sizeof mine);
    uuid_text(uuid_v7(clock_wall_us(&clock_system)), huda);
    entry("FLJ-JOB-006S", "job", job_that("FAILED", NULL));
    memcpy(huda, mine, sizeof mine);
    look(false);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery WHERE kind = 'mail' AND user_id = '%s'",
        huda), 1);
}

static void what_waits_is_told_once(void **state)
{
    (void)state;
    struct uuid old = uuid_v7(clock_wall_us(&clock_system) - INT64_C(70) * 60000000),
        fresh = uuid_v7(clock_wall_us(&clock_system));
    char o[UUID_TEXT], n[UUID_TEXT];
    uuid_text(old, o);
    uuid_text(fresh, n);
    fixture_exec(&f, "DELETE FROM notice_delivery");
    fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by) VALUES ('%s', '%s', 'old', 'noop', "
        "'{}', '%s'),"
                     " ('%s', '%s', 'new', 'noop', '{}', '%s')", ta, o, huda, ta, n, huda);
    rule("waits", "job-waiting", NULL);
    look(false);
    assert_int_equal(TOLD("job-waiting"), 0);
    look(true);
    look(true);
    assert_int_equal(TOLD("job-waiting"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery WHERE name = 'old'"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nobody_wants_it), cmocka_unit_test(an_end_is_told_once_and_by_the_job),
        cmocka_unit_test(a_project_has_its_own_jobs), cmocka_unit_test(people_are_told_of_their_own),
            cmocka_unit_test(what_waits_is_told_once) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
