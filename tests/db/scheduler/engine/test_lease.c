/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease.c - a job's life on a real PostgreSQL: every count of rows, quota and audit exact; fences; repeats; cancels. */
#include "tests/db/scheduler/fixture.h"
#include "core/base/cleanup.h"
#include "core/db/session.h"

static struct fixture f;
static struct machine m;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}
static int64_t used(const char *resource)
{
    if (strcmp(resource, "slots") == 0)
        return fixture_count(&f, "SELECT coalesce(sum(slots), 0) FROM attempt WHERE live");
    return fixture_count(&f, "SELECT sum(" JOBS_USED ") FROM quota WHERE resource = '%s'", resource);
}

static void a_job_from_queued_to_done(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    assert_int_equal(submit(&f, f.tenant_a, 1, 3, 3, &id), 1);
    assert_int_equal(used("jobs"), 1);
    assert_int_equal(plan(&f), 1);
    assert_string_equal(state_of(&f, id), "ADMITTED");
    assert_int_equal(used("slots"), 3);
    assert_int_equal(take(&f, &m, 10, &g), 1);
    assert_int_equal(take(&f, &m, 10, &g + 0), 0);
    assert_string_equal(state_of(&f, id), "STARTING");
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    assert_string_equal(state_of(&f, id), "RUNNING");
    assert_int_equal(tell(&f, &m, &g, 1, LE_RENEW, NULL), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_SUCCEED, NULL), 1);
    assert_string_equal(state_of(&f, id), "COMPLETED");
    assert_int_equal(used("jobs"), 0);
    assert_int_equal(used("slots"), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_event"), 1);    /* that it began */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_step"), 5);        /* that it was taken stands in the attempt */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') NOT LIKE '%%FLJ-AUD-001%%'"), 5);     /* and one of the machine */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM usage_record"), 1);
    assert_int_equal(fixture_count(&f, "SELECT version FROM job"), 5);
    fixture_check(&f);
}

/* Start and end in one report: one write, and still every step with its time, in its order. */
static void a_start_that_comes_with_its_end_is_told(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    char text[UUID_TEXT];
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    uuid_text(id, text);
    plan(&f);
    assert_int_equal(take(&f, &m, 10, &g), 1);
    int64_t audits = fixture_count(&f, "SELECT count(*) FROM audit_event");
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event"), audits + 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_event WHERE job_id = '%s'", text), 0);
    assert_int_equal(fixture_count(&f, "SELECT version FROM job WHERE job_id = '%s' AND started_at IS NOT NULL", text), 5);
    assert_int_equal(fixture_count(&f, "SELECT (string_agg(state, ',' ORDER BY version, at) = 'PENDING,ADMITTED,STARTING,RUNNING,COMPLETED'"
                                       " AND count(DISTINCT version) = 5)::int FROM job_step WHERE job_id = '%s'", text), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM (SELECT at < lag(at) OVER (ORDER BY version) AS back FROM job_step"
                                       " WHERE job_id = '%s') s WHERE back", text), 0);
    fixture_check(&f);
}

/* J6 compares transactions: it notices a submission, admission or end of a job that was not audited where it was written. */
static void a_step_without_its_audit_event_is_noticed(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    plan(&f);
    assert_int_equal(take(&f, &m, 10, &g), 1);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    fixture_check(&f);
    for (int i = 0; i < 3; i++) {
        int64_t ord = fixture_count(&f, "SELECT ord FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%%FLJ-JOB-0%%'"
                                        " ORDER BY ord DESC LIMIT 1 OFFSET %d", i);
        fixture_exec(&f, "SET session_replication_role = replica;"
                         "UPDATE audit_event SET xid = (xid::text::bigint + 1000000)::text::xid8 WHERE ord = %ld", (long)ord);
        assert_int_equal(fixture_count(&f, "SELECT violations FROM invariants_check() WHERE name = 'J6'"), 1);
        fixture_exec(&f, "SET session_replication_role = replica;"
                         "UPDATE audit_event SET xid = (xid::text::bigint - 1000000)::text::xid8 WHERE ord = %ld", (long)ord);
    }
    fixture_check(&f);
}

/* Whoever submits holds the row of the tenant's jobs until the commit: an end passes by. */
static void an_end_waits_for_no_submission(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    CLEANUP(db_session_freep) struct db_session *submitter = NULL;
    int64_t before = used("jobs");
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    plan(&f);
    assert_int_equal(take(&f, &m, 10, &g), 1);
    OK(db_session_new(pg_harness_conninfo(f.pg, NULL, NULL), "test", 30000, &submitter, e));
    OK(db_session_exec_script(submitter, "BEGIN; UPDATE quota SET used = used + 1 WHERE resource = 'jobs'", e));
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    assert_string_equal(state_of(&f, id), "COMPLETED");
    OK(db_session_exec_script(submitter, "ROLLBACK", e));
    assert_int_equal(used("jobs"), before);
    fixture_check(&f);
}

static void a_finish_told_twice_counts_once(void **state)
{
    (void)state;
    struct lease_grant g;
    submit(&f, f.tenant_a, 1, 1, 3, NULL);
    plan(&f);
    assert_int_equal(take(&f, &m, 10, &g), 1);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    int64_t events = fixture_count(&f, "SELECT count(*) FROM audit_event");
    assert_int_equal(tell(&f, &m, &g, 1, LE_SUCCEED, NULL), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_FAIL, NULL), 0);
    assert_int_equal(tell(&f, &m, &g, 1, LE_RENEW, NULL), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event"), events);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE result->>'ok' = 'true'"), 1);
    fixture_check(&f);
}

static void an_old_fence_writes_nothing(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant old, now;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    plan(&f);
    assert_int_equal(take(&f, &m, 10, &old), 1);
    assert_int_equal(tell(&f, &m, &old, 1, LE_START, NULL), 1);
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() - interval '1 s' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, id), "PENDING");
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE queued");
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 10, &now), 1);
    assert_int_equal(now.fence, old.fence + 1);
    assert_int_equal(tell(&f, &m, &old, 1, LE_SUCCEED, NULL), 0);
    old.attempt_id = now.attempt_id;                /* the right attempt with an old number */
    assert_int_equal(tell(&f, &m, &old, 1, LE_SUCCEED, NULL), 0);
    assert_string_equal(state_of(&f, id), "STARTING");
    struct machine other;
    machine_up(&f, &other, "ae-dxb-1", "w-other", 0, 0);
    assert_int_equal(tell(&f, &other, &now, 1, LE_SUCCEED, NULL), 0);
    assert_int_equal(run_through(&f, &m, &now, 1), 2);
    assert_string_equal(state_of(&f, id), "COMPLETED");
    fixture_check(&f);
}

static void a_cancel_in_each_state(void **state)
{
    (void)state;
    struct uuid ids[4];
    struct lease_grant g[4];
    bool asked = false;
    submit(&f, f.tenant_a, 1, 1, 3, &ids[0]);
    cancel_job(&f, f.tenant_a, ids[0]);
    assert_string_equal(state_of(&f, ids[0]), "CANCELLED");
    submit(&f, f.tenant_a, 1, 1, 3, &ids[1]);
    plan(&f);
    cancel_job(&f, f.tenant_a, ids[1]);
    assert_int_equal(take(&f, &m, 10, g), 0);       /* nobody takes what is cancelled */
    reap(&f);
    assert_string_equal(state_of(&f, ids[1]), "CANCELLED");
    submit(&f, f.tenant_a, 1, 1, 3, &ids[2]);
    plan(&f);
    assert_int_equal(take(&f, &m, 10, &g[2]), 1);
    cancel_job(&f, f.tenant_a, ids[2]);
    assert_int_equal(tell(&f, &m, &g[2], 1, LE_RENEW, &asked), 1);
    assert_true(asked);
    assert_int_equal(tell(&f, &m, &g[2], 1, LE_CANCEL, NULL), 1);
    assert_string_equal(state_of(&f, ids[2]), "CANCELLED");
    submit(&f, f.tenant_a, 1, 1, 3, &ids[3]);
    plan(&f);
    assert_int_equal(take(&f, &m, 10, &g[3]), 1);
    assert_int_equal(tell(&f, &m, &g[3], 1, LE_START, NULL), 1);
    cancel_job(&f, f.tenant_a, ids[3]);
    assert_int_equal(tell(&f, &m, &g[3], 1, LE_RETURN, NULL), 1);       /* given back while cancelled: not queued again */
    assert_string_equal(state_of(&f, ids[3]), "CANCELLED");
    assert_int_equal(used("jobs"), 0);
    assert_int_equal(used("slots"), 0);
    fixture_check(&f);
}

static void every_end_is_its_own_state(void **state)
{
    (void)state;
    static const struct { enum lease_event event; const char *state; } ends[] = {
        { LE_FAIL, "FAILED" }, { LE_TIMEOUT, "TIMEOUT" }, { LE_OOM, "OUT_OF_MEMORY" }, { LE_CANCEL, "CANCELLED" }, { LE_PREEMPT, "PENDING" },
        { LE_RETURN, "PENDING" } };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct uuid id;
        struct lease_grant g;
        submit(&f, f.tenant_b, 1, 1, 3, &id);
        assert_int_equal(plan(&f), 1);
        assert_int_equal(take(&f, &m, 1, &g), 1);
        assert_int_equal(tell(&f, &m, &g, 1, ends[i].event, NULL), 1);      /* the start is added where the edges want it */
        assert_string_equal(state_of(&f, id), ends[i].state);
        assert_int_equal(tell(&f, &m, &g, 1, ends[i].event, NULL), 1);
        if (strcmp(ends[i].state, "PENDING") == 0)
            cancel_job(&f, f.tenant_b, id);
    }
    fixture_check(&f);
}

/* What never ran for long waits twice as long with each return, a minute or so at most; what did, a second. */
static void what_keeps_coming_back_waits_longer(void **state)
{
    (void)state;
    enum { SLOW_MS = 5000 };            /* between the statements that write the two times */
    static const struct { int before, hours; int64_t least_ms, most_ms; } returns[] = {
        { 0, 0, 700, 1200 }, { 3, 0, 6300, 9600 }, { 6, 0, 51100, 64000 }, { 40, 0, 64000, 64000 }, { 40, 1, 900, 1000 } };
    for (size_t i = 0; i < sizeof returns / sizeof *returns; i++) {
        struct uuid id;
        struct lease_grant g;
        char j[UUID_TEXT];
        submit(&f, f.tenant_b, 1, 1, 100, &id);
        uuid_text(id, j);
        assert_int_equal(plan(&f), 1);
        assert_int_equal(take(&f, &m, 1, &g), 1);
        assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
        fixture_exec(&f, "UPDATE job SET requeue_count = %d WHERE job_id = '%s'", returns[i].before, j);
        fixture_exec(&f, "UPDATE attempt SET started_at = started_at - %d * interval '1 hour', leased_at = leased_at - interval"
                         " '2 hours', taken_at = taken_at - interval '2 hours' WHERE job_id = '%s'", returns[i].hours, j);
        assert_int_equal(tell(&f, &m, &g, 1, LE_RETURN, NULL), 1);
        int64_t ms = fixture_count(&f, "SELECT (extract(epoch FROM j.not_before - a.finished_at) * 1000)::bigint FROM job j JOIN"
                                       " attempt a USING (tenant_id, job_id) WHERE j.job_id = '%s'", j);
        if (ms < returns[i].least_ms - SLOW_MS || ms > returns[i].most_ms + SLOW_MS)
            fail_msg("after %d returns and %d h: %ld ms", returns[i].before, returns[i].hours, (long)ms);
        cancel_job(&f, f.tenant_b, id);
    }
    fixture_check(&f);
}

static void a_waiting_job_says_why(void **state)
{
    (void)state;
    struct uuid id;
    submit(&f, f.tenant_a, 1, 100, 3, &id);
    assert_int_equal(plan(&f), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND reason = 'NoMatchingFlavor' AND message LIKE '%%100 slots%%'"), 1);
    assert_int_equal(fixture_count(&f, "SELECT version FROM job WHERE queued"), 1);
    cancel_job(&f, f.tenant_a, id);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 2 WHERE resource = 'slots'");
    submit(&f, f.tenant_a, 1, 3, 3, &id);
    assert_int_equal(plan(&f), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND reason = 'QuotaExceeded'"), 1);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 100000 WHERE resource = 'slots'");
    cancel_job(&f, f.tenant_a, id);
    fixture_check(&f);
}

static enum errc check(const struct lease_grant *g, struct str identity, int64_t fence)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.api, .arena = a, .now_us = 1 };
    struct lease l;
    struct err why = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    enum errc rc = lease_check(&w, g->tenant_id, g->attempt_id, fence, identity, &l, &why);
    db_rollback(w.tx);
    arena_free(a);
    return rc;
}

static enum errc had(struct uuid tenant, struct uuid job, struct str identity)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.api, .arena = a, .now_us = 1 };
    struct lease l;
    struct err why = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    enum errc rc = lease_had(&w, tenant, job, identity, &l, &why);
    if (rc == ERR_OK)
        assert_true(uuid_eq(l.node_id, m.node.node_id) && uuid_eq(l.job_id, job) && !l.rank && str_eq_c(l.zone, "ae-dxb-1"));
    db_rollback(w.tx);
    arena_free(a);
    return rc;
}

/* What is asked before a key is given, an input read or an output written. The reaper has not been here yet. */
static void a_lease_that_has_run_out_neither_reads_nor_writes(void **state)
{
    (void)state;
    struct lease_grant g;
    struct uuid id;
    char j[UUID_TEXT];
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    uuid_text(id, j);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(check(&g, STR("spiffe://ae-dxb-1/worker/default/w1"), g.fence), ERR_OK);
    assert_int_equal(check(&g, STR("spiffe://ae-dxb-1/worker/default/other"), g.fence), ERR_STALE);
    assert_int_equal(check(&g, STR("spiffe://ae-dxb-1/worker/default/w1"), g.fence + 1), ERR_STALE);
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 millisecond' WHERE job_id = '%s'", j);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live AND job_id = '%s'", j), 1);
    assert_int_equal(check(&g, STR("spiffe://ae-dxb-1/worker/default/w1"), g.fence), ERR_STALE);
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() + interval '1 minute' WHERE job_id = '%s'", j);
    assert_int_equal(check(&g, STR("spiffe://ae-dxb-1/worker/default/w1"), g.fence), ERR_OK);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    fixture_check(&f);
}

/* Of which lease a machine is judged when it keeps something of it: also after its end, and never of another machine's. */
static void a_machine_had_the_leases_that_it_had(void **state)
{
    (void)state;
    struct lease_grant g;
    struct uuid id;
    const struct str own = STR("spiffe://ae-dxb-1/worker/default/w1");
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    assert_int_equal(had(f.tenant_a, id, own), ERR_NOT_FOUND);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(had(f.tenant_a, id, own), ERR_OK);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    assert_int_equal(had(f.tenant_a, id, own), ERR_OK);
    assert_int_equal(had(f.tenant_b, id, own), ERR_NOT_FOUND);
    assert_int_equal(had(f.tenant_a, id, STR("spiffe://ae-dxb-1/worker/default/other")), ERR_NOT_FOUND);
    fixture_exec(&f, "UPDATE node SET state = 'QUARANTINED' WHERE name = 'w1'");
    assert_int_equal(had(f.tenant_a, id, own), ERR_NOT_FOUND);
    fixture_exec(&f, "UPDATE node SET state = 'READY' WHERE name = 'w1'");
    assert_int_equal(had(f.tenant_a, id, own), ERR_OK);
    fixture_check(&f);
}

static void logs_and_metrics_are_kept(void **state)
{
    (void)state;
    struct lease_grant g;
    submit(&f, f.tenant_a, 1, 1, 3, NULL);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    struct lease_log logs[2] = { { STR("stdout"), STR("one") }, { STR("odd"), STR("two") } };
    struct lease_metric metric = { 7, { STR("{\"loss\":0.5}") } };
    struct lease_item items[2] = { { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence, .event = LE_START, .message = STR(""),
                                     .logs = { logs, 2 }, .metrics = { &metric, 1 } } };
    items[1] = items[0];
    items[1].fence++;                       /* stale: its lines are not taken */
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.api, .arena = a, .now_us = 1 };
    struct slice rows;
    struct lease held;
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(lease_report(&w, &m.node, NULL, items, 2, 30000, &rows, e));
    OK(lease_check(&w, g.tenant_id, g.attempt_id, g.fence, m.identity, &held, e));
    assert_int_equal(lease_check(&w, g.tenant_id, g.attempt_id, g.fence + 1, m.identity, &held, NULL), ERR_STALE);
    assert_int_equal(lease_check(&w, g.tenant_id, g.attempt_id, g.fence, STR("spiffe://x"), &held, NULL), ERR_STALE);
    OK(db_commit(w.tx, e));
    arena_free(a);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_log WHERE stream = 'stdout'"), 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_metric WHERE values->>'loss' = '0.5' AND step = 7"), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_FAIL, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_from_queued_to_done), cmocka_unit_test(a_finish_told_twice_counts_once),
        cmocka_unit_test(an_old_fence_writes_nothing), cmocka_unit_test(a_cancel_in_each_state), cmocka_unit_test(every_end_is_its_own_state),
        cmocka_unit_test(a_waiting_job_says_why), cmocka_unit_test(what_keeps_coming_back_waits_longer),
        cmocka_unit_test(a_lease_that_has_run_out_neither_reads_nor_writes),
        cmocka_unit_test(a_machine_had_the_leases_that_it_had),
        cmocka_unit_test(logs_and_metrics_are_kept), cmocka_unit_test(a_start_that_comes_with_its_end_is_told),
        cmocka_unit_test(a_step_without_its_audit_event_is_noticed), cmocka_unit_test(an_end_waits_for_no_submission) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
