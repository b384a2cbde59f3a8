/* SPDX-License-Identifier: Apache-2.0 */
/* test_idle_watch.c - from what a machine said to the notice, its being taken back, and the job that is put aside with its
 * checkpoint kept; times are given by moving what is written. */
#include "core/db/run_tx.h"
#include "scheduler/duty/idle_watch.h"
#include "scheduler/evict.h"
#include "tests/db/scheduler/fixture.h"

static struct machine m;
static struct lease_grant g;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "one", 8, 0), NOTHING_MORE)

static void rule(int64_t after_minutes)
{
    char tenant[UUID_TEXT];
    uuid_text(f.tenant_a, tenant);
    fixture_exec(&f, "DELETE FROM idle_policy");
    fixture_exec(&f, "INSERT INTO idle_policy (tenant_id, after_minutes, notice_minutes, changed_by)\n"
                     "VALUES ('%s', %ld, 10, '%s')", tenant, (long)after_minutes, tenant);
}

static int64_t most = IDLE_WATCH_MAX;

static struct idle_watch_result look(void)
{
    struct idle_watch_result r;
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 24), .now_us = clock_wall_us(&clock_system) };
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, idle_watch_pass(&w, most, &r, e), e));
    arena_free(w.arena);
    return r;
}

static void assert_look(int64_t noticed, int64_t withdrawn, int64_t stopped)
{
    const struct idle_watch_result r = look();
    assert_true(r.noticed == noticed && r.withdrawn == withdrawn && r.stopped == stopped);
}

static void say(int64_t idle_minutes)
{
    const struct lease_item it = { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence, .event = LE_RENEW,
                                   .has_idle_ms = true, .idle_ms = idle_minutes * 60000 };
    assert_int_equal(say_all(&f, &m, &it, 1, NULL), 1);
}

static int64_t is(const char *what)
{
    return fixture_count(&f, "SELECT count(*) FROM job WHERE %s", what);
}

static void started(void)
{
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 1, NULL), 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
}

static int wipe(void **state)
{
    (void)state;
    fixture_forget_jobs(&f);
    fixture_exec(&f, "DELETE FROM idle_policy");
    fixture_exec(&f, "DELETE FROM job_session");
    return 0;
}

static void it_is_told_and_then_put_aside(void **state)
{
    (void)state;
    struct slice told = { 0 };
    started();
    rule(30);
    say(29);
    assert_look(0, 0, 0);
    say(31);
    assert_look(1, 0, 0);
    assert_look(0, 0, 0);                                       /* once */
    assert_int_equal(is("state = 'RUNNING' AND reason = 'Idle' AND message LIKE"
                        " 'What it holds was not used for 30 minutes: it is put aside at %'"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_step WHERE state = 'RUNNING' AND reason = 'Idle'"), 1);
    fixture_exec(&f, "UPDATE attempt_idle SET noticed_at = noticed_at - interval '9 minutes'");
    assert_look(0, 0, 0);
    fixture_exec(&f, "UPDATE attempt_idle SET noticed_at = noticed_at - interval '61 seconds',\n"
                     "       idle_since = idle_since - interval '11 minutes'");
    assert_look(0, 0, 1);
    assert_look(0, 0, 0);
    assert_int_equal(is("state = 'RUNNING' AND suspend_requested AND suspend_why = 'Idle'"), 1);
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 24), .now_us = clock_wall_us(&clock_system) };
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, evict_suspend(&w, &told, e), e));
    assert_int_equal(told.n, 1);
    arena_free(w.arena);
    assert_int_equal(is("state = 'PREEMPTING' AND message = 'is put aside: what it holds was not used'"), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);
    assert_int_equal(is("state = 'SUSPENDED' AND reason = 'Idle' AND NOT suspend_requested AND suspend_why = ''"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event"
                                       " WHERE convert_from(body, 'UTF8') LIKE '%%job.idle%%'"), 2);
    look();
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_idle"), 0);
}

static void use_takes_the_notice_back(void **state)
{
    (void)state;
    started();
    rule(30);
    say(31);
    assert_look(1, 0, 0);
    say(0);
    assert_look(0, 1, 0);
    assert_int_equal(is("state = 'RUNNING' AND reason = '' AND message = ''"), 1);
    assert_look(0, 0, 0);
    say(31);
    assert_look(1, 0, 0);
    rule(0);                                                    /* there is no rule any more */
    assert_look(0, 1, 0);
    rule(30);
    assert_look(1, 0, 0);
    fixture_exec(&f, "UPDATE attempt_idle SET told_at = told_at - interval '4 minutes'");   /* no word any more */
    assert_look(0, 1, 0);
}

static void no_figures_no_rule_no_notice(void **state)
{
    (void)state;
    started();
    rule(5);
    assert_look(0, 0, 0);
    fixture_exec(&f, "DELETE FROM idle_policy");
    say(100000);
    assert_look(0, 0, 0);
    rule(5);
    fixture_exec(&f, "UPDATE attempt SET nodes = 2");           /* the other machine says nothing */
    assert_look(0, 0, 0);
    fixture_exec(&f, "UPDATE attempt SET nodes = 1");
    fixture_exec(&f, "UPDATE job SET cancel_requested = true");
    assert_look(0, 0, 0);
    fixture_exec(&f, "UPDATE job SET cancel_requested = false");
    assert_look(1, 0, 0);
}

static void enters(const char *kind)
{
    fixture_exec(&f, "INSERT INTO job_session (tenant_id, session_id, job_id, attempt_id, node_id, user_id, kind, ask)\n"
                     "SELECT tenant_id, gen_random_uuid(), job_id, attempt_id, node_id, gen_random_uuid(), '%s', '{}'\n"
                     "  FROM attempt WHERE live", kind);
}

static void who_is_inside_uses_it_but_not_an_open_page(void **state)
{
    (void)state;
    started();
    rule(30);
    say(60);
    enters("shell");
    assert_look(0, 0, 0);
    fixture_exec(&f, "DELETE FROM job_session");
    assert_look(0, 0, 0);                                       /* a moment ago somebody was */
    fixture_exec(&f, "UPDATE attempt_idle SET visited_at = visited_at - interval '31 minutes'");
    enters("forward");
    assert_look(1, 0, 0);
    enters("exec");
    assert_look(0, 1, 0);
}

/* A pass with two places: two jobs of the one organisation, used or not, leave one to the other. */
static void each_organisation_has_its_share_of_a_pass(void **state)
{
    (void)state;
    struct lease_grant all[3];
    char tenants[2][UUID_TEXT];
    assert_int_equal(submit(&f, f.tenant_a, 2, 1, 1, NULL), 2);
    assert_int_equal(submit(&f, f.tenant_b, 1, 1, 1, NULL), 1);
    assert_int_equal(plan(&f), 3);
    assert_int_equal(take(&f, &m, 3, all), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tell(&f, &m, &all[i], 1, LE_START, NULL), 1);
    uuid_text(f.tenant_a, tenants[0]);
    uuid_text(f.tenant_b, tenants[1]);
    fixture_exec(&f, "INSERT INTO idle_policy (tenant_id, after_minutes, notice_minutes, changed_by)\n"
                     "SELECT u, 30, 10, u FROM unnest('{%s, %s}'::uuid[]) u", tenants[0], tenants[1]);
    for (int i = 0; i < 3; i++) {
        g = all[i];
        say(31);
    }
    most = 2;
    assert_look(2, 0, 0);
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT tenant_id) FROM job WHERE reason = 'Idle'"), 2);
    fixture_exec(&f, "UPDATE attempt_idle SET idle_since = NULL, noticed_at = NULL WHERE noticed_at > '-infinity'");
    most = 1;
    assert_look(1, 0, 0);                                       /* what is used takes no place */
    most = IDLE_WATCH_MAX;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(it_is_told_and_then_put_aside, wipe),
        cmocka_unit_test_teardown(use_takes_the_notice_back, wipe),
        cmocka_unit_test_teardown(no_figures_no_rule_no_notice, wipe),
        cmocka_unit_test_teardown(who_is_inside_uses_it_but_not_an_open_page, wipe),
        cmocka_unit_test_teardown(each_organisation_has_its_share_of_a_pass, wipe),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
