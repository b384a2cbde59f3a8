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

/* A clock that is due then, of a term of so many days. */
static void clock_due(const char *reference, const char *due, int days)
{
    fixture_exec(&f, "INSERT INTO legal_clock (tenant_id, clock_id, kind, zone, reference, opened_at, first_due_at, due_at, "
                     "opened_by) SELECT '%s', gen_random_uuid(), 'access', '%s', '%s', d - %d * interval '1 day', d, d, '%s'"
                     "  FROM (SELECT now() + interval '%s' AS d) x", ta, "ae-dxb-1", reference, days, huda, due);
}
#define OF_CASE(event, reference) fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery WHERE event = '%s'" \
                                                    " AND name = '%s'", event, reference)

static void a_clock_is_told_of_when_it_is_due(void **state)
{
    (void)state;
    fixture_exec(&f, "DELETE FROM notice_delivery");
    clock_due("week", "6 days", 30);
    clock_due("later", "8 days", 30);
    clock_due("breach early", "20 hours", 3);       /* more than a quarter of its term is left */
    clock_due("breach", "17 hours", 3);
    clock_due("late", "-1 second", 30);
    clock_due("closed", "-1 day", 30);
    fixture_exec(&f, "UPDATE legal_clock SET closed_at = now(), closed_by = opened_by, note = 'n' WHERE reference = 'closed'");
    look(true);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM legal_clock WHERE told > 0"), 0);  /* nobody wants it yet */
    rule("clocks", "clock-due-soon,clock-overdue", NULL);
    look(false);
    assert_int_equal(TOLD("clock-overdue"), 0);
    look(true);
    look(true);
    assert_int_equal(TOLD("clock-due-soon"), 2);
    assert_int_equal(OF_CASE("clock-due-soon", "week"), 1);
    assert_int_equal(OF_CASE("clock-due-soon", "breach"), 1);
    assert_int_equal(TOLD("clock-overdue"), 1);
    assert_int_equal(OF_CASE("clock-overdue", "late"), 1);
    /* Once, whatever became of the rows of the outbox; an extension is a new term. */
    fixture_exec(&f, "DELETE FROM notice_delivery");
    look(true);
    assert_int_equal(TOLD("clock-due-soon") + TOLD("clock-overdue"), 0);
    fixture_exec(&f, "UPDATE legal_clock SET due_at = due_at + interval '12 hours', extended_at = now(), extension_reason = 'r',"
                     " told = 0 WHERE reference = 'week'");
    look(true);
    assert_int_equal(OF_CASE("clock-due-soon", "week"), 1);
}

static void who_manages_clocks_may_choose_them(void **state)
{
    (void)state;
    char officer[UUID_TEXT];
    uuid_text(uuid_v7(clock_wall_us(&clock_system)), officer);
    fixture_exec(&f, "DELETE FROM notice_delivery");
    fixture_exec(&f, "INSERT INTO app_user (tenant_id, user_id, name) VALUES ('%s', '%s', 'Noor')", ta, officer);
    fixture_exec(&f, "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by) VALUES"
                     " ('%s', gen_random_uuid(), '%s', 'compliance-officer', '%s')", ta, officer, huda);
    fixture_exec(&f, "INSERT INTO notice_person (tenant_id, user_id, address, confirmed_at, events) VALUES"
                     " ('%s', '%s', 'n@x.example', now(), '{clock-overdue}')", ta, officer);
    fixture_exec(&f, "UPDATE notice_person SET events = '{clock-overdue}' WHERE user_id = '%s'", huda);
    clock_due("for Noor", "-1 minute", 30);
    look(true);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery WHERE kind = 'mail'"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM notice_delivery WHERE user_id = '%s'", officer), 1);
}

#define NOT_SEEN() \
    fixture_count(&f, "SELECT count(*) AS n FROM notice_cursor WHERE patrolled_at < now() - interval '30 minutes'")

static void a_round_comes_to_every_tenant(void **state)
{
    (void)state;
    struct arena *list = arena_new(64 << 20), *each = arena_new(64 << 20);
    struct uuid turn = UUID_NIL;
    struct err e = { 0 };
    bool more;
    /* More than was ever read at once, all before the fixture's own; they have no log. */
    fixture_exec(&f, "INSERT INTO notice_cursor (tenant_id, tseq)"
                     " SELECT ('00000000-0000-0000-0000-' || lpad(to_hex(i), 12, '0'))::uuid, 0"
                     "   FROM generate_series(1, 10001) i");
    fixture_exec(&f, "DELETE FROM notice_delivery");
    entry("FLJ-APR-001S", "approval", "apr_2");
    assert_int_equal(notices_round(&f.scheduler, list, each, &turn, &more, &e), ERR_OK);
    assert_int_equal(TOLD("approval-waiting"), 1);
    assert_false(more);
    /* With more to look at than a round takes, the next one goes on behind it, and around. */
    fixture_exec(&f, "UPDATE notice_cursor SET patrolled_at = now() - interval '1 hour'"
                     " WHERE tenant_id <= '00000000-0000-0000-0000-0000000000fa'");     /* 250 */
    assert_int_equal(NOT_SEEN(), 250);
    assert_int_equal(notices_round(&f.scheduler, list, each, &turn, &more, &e), ERR_OK);
    assert_true(more);
    assert_int_equal(NOT_SEEN(), 250 - NOTICES_TENANTS);
    entry("FLJ-APR-001S", "approval", "apr_3");
    assert_int_equal(notices_round(&f.scheduler, list, each, &turn, &more, &e), ERR_OK);
    assert_int_equal(NOT_SEEN(), 0);
    assert_int_equal(TOLD("approval-waiting"), 2);
    fixture_exec(&f, "DELETE FROM notice_cursor WHERE tenant_id < '00000000-0000-0000-0000-100000000000'");
    arena_free(list);
    arena_free(each);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nobody_wants_it), cmocka_unit_test(an_end_is_told_once_and_by_the_job),
        cmocka_unit_test(a_project_has_its_own_jobs), cmocka_unit_test(people_are_told_of_their_own),
            cmocka_unit_test(what_waits_is_told_once), cmocka_unit_test(a_clock_is_told_of_when_it_is_due),
            cmocka_unit_test(who_manages_clocks_may_choose_them), cmocka_unit_test(a_round_comes_to_every_tenant) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
