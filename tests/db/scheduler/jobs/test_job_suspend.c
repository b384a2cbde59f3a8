/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_suspend.c - a job is put aside in each of its states and goes on; what comes at the same moment (its end, a cancel, a
 * lost machine) is in one order or the other. */
#include <pthread.h>

#include "audit/event.h"
#include "core/db/run_tx.h"
#include "scheduler/evict.h"
#include "scheduler/jobs/job_suspend.h"
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"

static struct machine m;
FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "one", 8, 0),
               fixture_exec(&f, "UPDATE priority_class SET grace_s = 40 WHERE class = 'default'")), NOTHING_MORE)

static int wipe(void **state)
{
    (void)state;
    fixture_forget_jobs(&f);
    return 0;
}

/* A transaction of the tenant, as a route has it, that is not committed yet. */
struct act {
    struct work w;
    enum errc rc;
    struct err e;
};

static struct act begin(struct uuid id, bool is_suspend)
{
    struct job j;
    struct act a = { .w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = f.tenant_a,
                            .now_us = clock_wall_us(&clock_system) } };
    OK(db_begin(f.api.pool, SCOPE_TENANT(f.tenant_a), 0, a.w.arena, &a.w.tx, e));
    a.rc = is_suspend ? job_suspend(&a.w, id, &j, &a.e) : job_resume(&a.w, id, &j, &a.e);
    return a;
}

static enum errc finish(struct act *a)
{
    const struct audit_event ev = audit_event_of(&a->w, AUDIT_JOB_SUSPEND);
    if (a->rc == ERR_OK) {
        OK(audit_append(&a->w, &ev, e));
        OK(db_commit(a->w.tx, e));
    } else {
        db_rollback(a->w.tx);
    }
    arena_free(a->w.arena);
    return a->rc;
}

static enum errc suspend(struct uuid id)
{
    struct act a = begin(id, true);
    return finish(&a);
}

static enum errc resume(struct uuid id)
{
    struct act a = begin(id, false);
    return finish(&a);
}

static struct uuid one(void)
{
    struct uuid id;
    assert_int_equal(submit(&f, f.tenant_a, 1, 4, 3, &id), 1);
    return id;
}

static struct lease_grant started(void)
{
    struct lease_grant g;
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    return g;
}

/* The leader's look; how many it told. */
static size_t look(void)
{
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 24), .now_us = clock_wall_us(&clock_system) };
    struct slice told = { 0 };
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, evict_suspend(&w, &told, e), e));
    arena_free(w.arena);
    return told.n;
}

static int64_t is(struct uuid id, const char *what)
{
    char text[UUID_TEXT];
    uuid_text(id, text);
    return fixture_count(&f, "SELECT (%s)::int::bigint FROM job WHERE job_id = '%s'", what, text);
}

/* A program of the release before ended its attempt: it waits, and what was asked of it stands yet. */
static void what_was_asked_before_is_taken_back(void **state)
{
    (void)state;
    char text[UUID_TEXT];
    const struct uuid id = one();
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET suspend_requested = true WHERE job_id = '%s'", text);
    assert_int_equal(suspend(id), ERR_OK);
    assert_int_equal(resume(id), ERR_OK);
    assert_int_equal(is(id, "state = 'PENDING' AND NOT suspend_requested"), 1);
    started();
    assert_int_equal(look(), 0);
}

static void a_waiting_job_is_put_aside_and_goes_on(void **state)
{
    (void)state;
    const struct uuid id = one();
    assert_int_equal(suspend(id), ERR_OK);
    assert_string_equal(state_of(&f, id), "SUSPENDED");
    assert_int_equal(is(id, "reason = 'Suspended' AND NOT queued AND finished_at IS NULL"), 1);
    assert_int_equal(suspend(id), ERR_OK);
    assert_int_equal(plan(&f), 0);
    fixture_check(&f);
    assert_int_equal(resume(id), ERR_OK);
    assert_int_equal(resume(id), ERR_OK);
    assert_int_equal(is(id, "reason = 'Resources' AND queued AND requeue_count = 0"), 1);
    struct lease_grant g = started();
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    assert_int_equal(suspend(id), ERR_CONFLICT);
    assert_int_equal(resume(id), ERR_CONFLICT);
    fixture_check(&f);
}

static void a_running_job_is_sent_away_and_its_room_is_free(void **state)
{
    (void)state;
    const struct uuid id = one(), other = one();
    fixture_exec(&f, "UPDATE quota SET hard_limit = 4 WHERE resource = 'slots'");
    struct lease_grant g = started();
    assert_int_equal(suspend(id), ERR_OK);
    assert_string_equal(state_of(&f, id), "RUNNING");
    assert_int_equal(is(id, "suspend_requested"), 1);
    assert_int_equal(look(), 1);
    assert_int_equal(look(), 0);
    assert_string_equal(state_of(&f, id), "PREEMPTING");
    assert_int_equal(suspend(id), ERR_OK);
    assert_int_equal(plan(&f), 0);                                      /* the quota of slots is still its */
    assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);
    assert_string_equal(state_of(&f, id), "SUSPENDED");
    assert_int_equal(is(id, "NOT suspend_requested AND reason = 'Suspended'"), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);        /* told twice */
    fixture_check(&f);
    struct lease_grant h = started();
    assert_true(uuid_eq(h.job_id, other));
    assert_int_equal(run_through(&f, &m, &h, 1), 2);
    assert_int_equal(resume(id), ERR_OK);
    g = started();
    assert_int_equal(g.fence, 2);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    assert_string_equal(state_of(&f, id), "COMPLETED");
    fixture_check(&f);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 64 WHERE resource = 'slots'");
}

/* Before it runs nobody can send it away; as soon as it runs it is. */
static void one_that_is_on_its_way_is_caught_where_it_arrives(void **state)
{
    (void)state;
    const struct uuid id = one();
    struct lease_grant g;
    assert_int_equal(plan(&f), 1);
    assert_int_equal(suspend(id), ERR_OK);
    assert_int_equal(look(), 0);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_RETURN, NULL), 1);
    assert_string_equal(state_of(&f, id), "SUSPENDED");
    const struct uuid lost = one();
    assert_int_equal(plan(&f), 1);
    assert_int_equal(suspend(lost), ERR_OK);
    fixture_exec(&f, "UPDATE attempt SET lease_until = 'epoch' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, lost), "SUSPENDED");
    fixture_check(&f);
}

static void an_end_is_an_end(void **state)
{
    (void)state;
    static const struct { enum lease_event how; const char *state; } ends[] = {
        { LE_SUCCEED, "COMPLETED" }, { LE_FAIL, "FAILED" }, { LE_OOM, "OUT_OF_MEMORY" }, { LE_TIMEOUT, "TIMEOUT" } };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct uuid id = one();
        struct lease_grant g = started();
        assert_int_equal(suspend(id), ERR_OK);
        assert_int_equal(look(), 1);
        assert_int_equal(tell(&f, &m, &g, 1, ends[i].how, NULL), 1);
        assert_string_equal(state_of(&f, id), ends[i].state);
    }
    assert_int_equal(look(), 0);
    fixture_check(&f);
}

static void a_failure_that_is_tried_again_is_put_aside_first(void **state)
{
    (void)state;
    const struct uuid id = one();
    fixture_exec(&f, "UPDATE job SET retry = '{\"max\": 3, \"on\": [\"program\"], \"backoff_s\": 600}'");
    struct lease_grant g = started();
    assert_int_equal(suspend(id), ERR_OK);
    assert_int_equal(tell(&f, &m, &g, 1, LE_FAIL, NULL), 1);
    assert_string_equal(state_of(&f, id), "SUSPENDED");
    assert_int_equal(resume(id), ERR_OK);
    assert_int_equal(is(id, "not_before IS NULL"), 1);
    fixture_check(&f);
}

static void what_was_asked_is_taken_back(void **state)
{
    (void)state;
    const struct uuid id = one();
    struct lease_grant g = started();
    assert_int_equal(suspend(id), ERR_OK);
    assert_int_equal(resume(id), ERR_OK);
    assert_int_equal(look(), 0);
    assert_string_equal(state_of(&f, id), "RUNNING");
    assert_int_equal(suspend(id), ERR_OK);
    assert_int_equal(look(), 1);
    assert_int_equal(resume(id), ERR_OK);                               /* it is leaving already, and goes on elsewhere */
    assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);
    assert_string_equal(state_of(&f, id), "PENDING");
    fixture_check(&f);
}

static void a_cancel_ends_it_wherever_it_is(void **state)
{
    (void)state;
    const struct uuid aside = one();
    assert_int_equal(suspend(aside), ERR_OK);
    cancel_job(&f, f.tenant_a, aside);
    assert_string_equal(state_of(&f, aside), "CANCELLED");
    const struct uuid id = one();
    struct lease_grant g = started();
    assert_int_equal(suspend(id), ERR_OK);
    assert_int_equal(look(), 1);
    cancel_job(&f, f.tenant_a, id);
    assert_int_equal(suspend(id), ERR_CONFLICT);
    assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);
    assert_string_equal(state_of(&f, id), "CANCELLED");
    fixture_check(&f);
}

static void what_holds_it_back_besides_stays(void **state)
{
    (void)state;
    const struct uuid early = one(), held = one(), serving = one();
    fixture_exec(&f, "UPDATE job SET not_before = now() + interval '1 hour', reason = 'BeginTime' WHERE queued");
    assert_int_equal(suspend(early), ERR_OK);
    assert_int_equal(resume(early), ERR_OK);
    assert_int_equal(is(early, "reason = 'BeginTime' AND not_before > now()"), 1);
    fixture_exec(&f, "UPDATE job SET deadline_at = now() - interval '1 s' WHERE queued");
    char text[UUID_TEXT];
    uuid_text(held, text);
    fixture_exec(&f, "UPDATE job SET state = 'HELD', queued = false, version = version + 1, reason = 'BudgetExhausted'"
                     " WHERE job_id = '%s'", text);
    assert_int_equal(suspend(held), ERR_CONFLICT);
    uuid_text(serving, text);
    fixture_exec(&f, "UPDATE job SET kind = 'serve' WHERE job_id = '%s'", text);
    assert_int_equal(suspend(serving), ERR_CONFLICT);
}

/* One that holds the job's row, and one that waits for it. */
struct racer {
    pthread_t thread;
    struct uuid id;
    struct lease_grant g;
    enum errc rc;
    bool is_end;
};

static void *race(void *ctx)
{
    struct racer *r = ctx;
    if (r->is_end)
        (void)tell(&f, &m, &r->g, 1, LE_SUCCEED, NULL);
    else
        r->rc = suspend(r->id);
    return NULL;
}

static void a_suspension_and_an_end_are_in_one_order(void **state)
{
    (void)state;
    for (int is_first = 0; is_first < 2; is_first++) {
        struct racer r = { .id = one(), .is_end = is_first };
        r.g = started();
        struct act a = { 0 };
        struct arena *arena = arena_new(1 << 24);
        struct work w = { .app = &f.api, .arena = arena, .now_us = 1 };
        struct slice rows;
        if (is_first) {
            a = begin(r.id, true);
        } else {
            const struct lease_item it = { .tenant_id = r.g.tenant_id, .attempt_id = r.g.attempt_id, .fence = r.g.fence,
                                           .event = LE_SUCCEED, .message = STR("") };
            OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, arena, &w.tx, e));
            OK(lease_report(&w, &m.node, NULL, &it, 1, 30000, &rows, e));
        }
        pthread_create(&r.thread, NULL, race, &r);
        WAIT_WHILE(!fixture_count(&f, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"));
        if (is_first)
            assert_int_equal(finish(&a), ERR_OK);
        else
            OK(db_commit(w.tx, e));
        pthread_join(r.thread, NULL);
        arena_free(arena);
        assert_string_equal(state_of(&f, r.id), "COMPLETED");
        assert_int_equal(r.rc, is_first ? ERR_OK : ERR_CONFLICT);
        fixture_check(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_waiting_job_is_put_aside_and_goes_on, NULL, wipe),
        cmocka_unit_test_setup_teardown(what_was_asked_before_is_taken_back, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_running_job_is_sent_away_and_its_room_is_free, NULL, wipe),
        cmocka_unit_test_setup_teardown(one_that_is_on_its_way_is_caught_where_it_arrives, NULL, wipe),
        cmocka_unit_test_setup_teardown(an_end_is_an_end, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_failure_that_is_tried_again_is_put_aside_first, NULL, wipe),
        cmocka_unit_test_setup_teardown(what_was_asked_is_taken_back, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_cancel_ends_it_wherever_it_is, NULL, wipe),
        cmocka_unit_test_setup_teardown(what_holds_it_back_besides_stays, NULL, wipe),
        cmocka_unit_test_setup_teardown(a_suspension_and_an_end_are_in_one_order, NULL, wipe) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
