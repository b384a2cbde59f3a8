/* SPDX-License-Identifier: Apache-2.0 */
/* test_evict.c - a job of a high class sends one of a low class away, on a real database: states, notices to the machine, what
 * starts when, and how an attempt that was told may end. */
#include "core/base/cleanup.h"
#include "scheduler/plan/claims.h"
#include "tests/db/scheduler/fixture.h"

static struct machine m;
static struct claims claims;

FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "w1", 4, 0), f.scheduler.claims = &claims,
               fixture_exec(&f, "INSERT INTO priority_class (class, value, preemptible, grace_s, min_runtime_s) VALUES"
                                " ('low', -10, true, 40, 0), ('high', 10, false, 0, 0)")),
              NOTHING_MORE)

static struct uuid one(const char *cls, int64_t slots)
{
    struct uuid id;
    char text[UUID_TEXT];
    assert_int_equal(submit(&f, f.tenant_a, 1, slots, 3, &id), 1);
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET class = '%s' WHERE job_id = '%s'", cls, text);
    return id;
}

static struct lease_grant started(struct uuid id)
{
    struct lease_grant g;
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_true(uuid_eq(g.job_id, id));
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    return g;
}

static size_t notices(struct slice told, struct lease_notice *ret)
{
    struct arena *a = arena_new(1 << 20);
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    struct slice rows = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, TX_READ_ONLY, a, &tx, e));
    struct work w = { .app = &f.api, .arena = a, .tx = tx };
    OK(lease_notices_told(&w, lease_notices_ask(&w, m.node.node_id, told), &rows, e));
    if (rows.n)
        *ret = *(const struct lease_notice *)rows.items;
    db_rollbackp(&tx);
    const size_t n = rows.n;
    arena_free(a);
    return n;
}

static int64_t words(struct uuid id, const char *reason)
{
    char text[UUID_TEXT];
    uuid_text(id, text);
    return fixture_count(&f, "SELECT count(*) FROM job WHERE job_id = '%s' AND reason = '%s'", text, reason);
}

static void test_makes_room(void **state)
{
    (void)state;
    struct lease_notice n = { .attempt_id = UUID_LEAST };
    struct uuid low = one("low", 4);
    struct lease_grant g = started(low), h;
    struct uuid high = one("high", 2);
    assert_int_equal(plan(&f), 0);
    assert_string_equal(state_of(&f, low), "PREEMPTING");
    assert_int_equal(words(high, "Preempting"), 1);
    assert_int_equal(notices((struct slice){ 0 }, &n), 1);
    assert_true(uuid_eq(n.attempt_id, g.attempt_id) && !n.cancel && n.preempt_ms > 1000 && n.preempt_ms <= 40000);
    assert_int_equal(notices((struct slice){ &g.attempt_id, 1 }, &n), 0);      /* it knows */
    assert_int_equal(plan(&f), 0);      /* nothing starts, nobody else is told, and it is told once */
    assert_int_equal(tell(&f, &m, &g, 1, LE_RENEW, NULL), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event"
                                       " WHERE convert_from(body, 'UTF8') LIKE '%%job.preempt%%'"), 1);
    struct uuid other = one("default", 2);              /* goes behind the one that room is made for */
    assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);
    assert_string_equal(state_of(&f, low), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE state = 'PREEMPTED' AND evict_until IS NOT NULL"), 1);
    fixture_check(&f);
    assert_int_equal(plan(&f), 2);
    assert_string_equal(state_of(&f, high), "ADMITTED");
    assert_string_equal(state_of(&f, other), "ADMITTED");
    struct lease_grant two[2];
    assert_int_equal(take(&f, &m, 2, two), 2);
    assert_int_equal(run_through(&f, &m, two, 2), 4);
    h = started(low);
    assert_int_equal(h.fence, 2);
    assert_int_equal(run_through(&f, &m, &h, 1), 2);
    assert_string_equal(state_of(&f, low), "COMPLETED");
    fixture_check(&f);
}

/* Who asks a job to stop is heard by the machine that holds it, by its newest attempt alone, and whatever program asked. */
static void test_cancel_is_told(void **state)
{
    (void)state;
    struct lease_notice n = { .attempt_id = UUID_LEAST };
    struct uuid job = one("default", 1);
    char text[UUID_TEXT];
    uuid_text(job, text);
    struct lease_grant g = started(job);
    assert_int_equal(notices((struct slice){ 0 }, &n), 0);
    assert_int_equal(tell(&f, &m, &g, 1, LE_RETURN, NULL), 1);
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE job_id = '%s'", text);
    g = started(job);
    assert_int_equal(g.fence, 2);
    cancel_job(&f, f.tenant_a, job);
    assert_int_equal(notices((struct slice){ 0 }, &n), 1);
    assert_true(uuid_eq(n.attempt_id, g.attempt_id) && n.cancel && !n.preempt_ms);
    assert_int_equal(notices((struct slice){ &g.attempt_id, 1 }, &n), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE cancel_asked AND job_id = '%s'", text), 1);
    fixture_exec(&f, "UPDATE job SET cancel_requested = false WHERE job_id = '%s'", text);
    assert_int_equal(notices((struct slice){ 0 }, &n), 0);
    fixture_exec(&f, "UPDATE job SET cancel_requested = true WHERE job_id = '%s'", text);
    assert_int_equal(notices((struct slice){ 0 }, &n), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_CANCEL, NULL), 1);
    assert_int_equal(notices((struct slice){ 0 }, &n), 0);
    fixture_check(&f);
}

static void of_project(struct uuid id, int project)
{
    char text[UUID_TEXT], tenant[UUID_TEXT];
    uuid_text(id, text);
    uuid_text(f.tenant_a, tenant);
    fixture_exec(&f, "INSERT INTO project (tenant_id, project_id, name, created_by) SELECT '%s', md5('p%d')::uuid, 'p%d', user_id"
                     " FROM app_user WHERE tenant_id = '%s' LIMIT 1 ON CONFLICT DO NOTHING", tenant, project, project, tenant);
    fixture_exec(&f, "UPDATE job SET project_id = md5('p%d')::uuid WHERE job_id = '%s'", project, text);
}

/* What is said of it to everybody who may see the job names the other one only where both are of one project. */
static void test_another_project_is_not_named(void **state)
{
    (void)state;
    for (int other = 1; other <= 2; other++) {
        char text[UUID_TEXT];
        struct uuid low = one("low", 4), high;
        of_project(low, 1);
        struct lease_grant g = started(low), h;
        high = one("high", 4);
        of_project(high, other);
        uuid_text(high, text);
        assert_int_equal(plan(&f), 0);
        assert_string_equal(state_of(&f, low), "PREEMPTING");
        const int64_t named = other == 1;
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live AND evict_why LIKE '%%job\\_%%'"), named);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live AND evict_why LIKE '%%class high%%'"), 1);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_event WHERE message LIKE '%%' || replace('%s', '-', '')"
                                           " || '%%'", text), named);
        assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);
        h = started(high);
        assert_int_equal(run_through(&f, &m, &h, 1), 2);
        cancel_job(&f, f.tenant_a, low);
        fixture_check(&f);
    }
}

/* An attempt that was told may still end in each other way. */
static void test_other_ends(void **state)
{
    (void)state;
    static const struct { enum lease_event how; const char *state; bool cancelled; } ends[] = {
        { LE_SUCCEED, "COMPLETED", false }, { LE_FAIL, "FAILED", false }, { LE_OOM, "OUT_OF_MEMORY", false },
        { LE_TIMEOUT, "TIMEOUT", false }, { LE_RETURN, "PENDING", false }, { LE_PREEMPT, "CANCELLED", true },
        { LE_CANCEL, "CANCELLED", true } };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct uuid low = one("low", 4);
        struct lease_grant g = started(low), h;
        struct uuid high = one("high", 4);
        bool cancel = false;
        assert_int_equal(plan(&f), 0);
        assert_string_equal(state_of(&f, low), "PREEMPTING");
        if (ends[i].cancelled)
            cancel_job(&f, f.tenant_a, low);
        assert_int_equal(tell(&f, &m, &g, 1, LE_RENEW, &cancel), 1);
        assert_int_equal(cancel, ends[i].cancelled);
        assert_int_equal(tell(&f, &m, &g, 1, ends[i].how, NULL), 1);
        assert_string_equal(state_of(&f, low), ends[i].state);
        h = started(high);
        assert_int_equal(run_through(&f, &m, &h, 1), 2);
        if (str_eq_c(str_c(ends[i].state), "PENDING"))
            cancel_job(&f, f.tenant_a, low);
        fixture_check(&f);
    }
}

/* Its machine falls silent: the lease runs out as any other, and only then the room is given. */
static void test_silence(void **state)
{
    (void)state;
    struct uuid low = one("low", 4);
    (void)started(low);
    struct uuid high = one("high", 4);
    assert_int_equal(plan(&f), 0);
    fixture_exec(&f, "UPDATE attempt SET evict_until = now() - interval '1 hour' WHERE live");
    assert_int_equal(plan(&f), 0);      /* its time is over, but nobody knows that it has ended */
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() - interval '1 minute' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, low), "PENDING");
    struct lease_grant h = started(high);
    assert_int_equal(run_through(&f, &m, &h, 1), 2);
    cancel_job(&f, f.tenant_a, low);
    fixture_check(&f);
}

/* Its machine reports it on and on, long after its time: the machine is drained, then the attempt is fenced, which counts as made
 * room. Nothing starts there before somebody has looked. */
static void test_hangs(void **state)
{
    (void)state;
    struct uuid low = one("low", 4);
    struct lease_grant g = started(low), h;
    struct uuid high = one("high", 4);
    assert_int_equal(plan(&f), 0);
    fixture_exec(&f, "UPDATE attempt SET evict_until = now() - interval '29 s' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, low), "PREEMPTING");       /* scheduler.fence_ms is 30 s */
    fixture_exec(&f, "UPDATE attempt SET evict_until = now() - interval '31 s' WHERE live");
    fixture_exec(&f, "UPDATE job SET max_attempts = 1 WHERE state = 'PREEMPTING'");
    reap(&f);
    assert_string_equal(state_of(&f, low), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE state = 'FENCED' AND NOT live"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node WHERE state = 'DRAINING' AND is_drained AND reason <> ''"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event"
                                       " WHERE convert_from(body, 'UTF8') LIKE '%%node.drain%%'"), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_RENEW, NULL), 0);   /* the machine learns that it is stale */
    assert_int_equal(plan(&f), 0);
    reap(&f);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event"
                                       " WHERE convert_from(body, 'UTF8') LIKE '%%node.drain%%'"), 1);
    fixture_exec(&f, "UPDATE node SET state = 'READY', is_drained = false, reason = ''");
    h = started(high);
    assert_int_equal(run_through(&f, &m, &h, 1), 2);
    h = started(low);
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() - interval '1 minute' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, low), "NODE_FAIL");        /* of its one attempt this was the first that counts */
    fixture_check(&f);
}

/* Who was sent away three times stays, and three of its attempts do not count against max_attempts. */
static void test_at_most(void **state)
{
    (void)state;
    struct uuid low = one("low", 4);
    for (int i = 0; i < 3; i++) {
        struct lease_grant g = started(low);
        struct uuid high = one("high", 4);
        assert_int_equal(plan(&f), 0);
        assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);
        g = started(high);
        assert_int_equal(run_through(&f, &m, &g, 1), 2);
    }
    (void)started(low);
    struct uuid high = one("high", 4);
    assert_int_equal(plan(&f), 0);
    assert_string_equal(state_of(&f, low), "RUNNING");
    assert_int_equal(words(high, "Resources"), 1);
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() - interval '1 minute' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, low), "PENDING");
    cancel_job(&f, f.tenant_a, low);
    cancel_job(&f, f.tenant_a, high);
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_makes_room),
                                        cmocka_unit_test(test_another_project_is_not_named),
                                        cmocka_unit_test(test_other_ends), cmocka_unit_test(test_cancel_is_told),
                                        cmocka_unit_test(test_silence),
                                        cmocka_unit_test(test_hangs), cmocka_unit_test(test_at_most) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
