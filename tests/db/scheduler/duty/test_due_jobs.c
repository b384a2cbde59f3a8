/* SPDX-License-Identifier: Apache-2.0 */
/* test_due_jobs.c - the planner does not see a job before its time, and does when it was let in; a deadline ends what
 * still waits or is held, and nothing that has started or has time left. */
#include "tests/db/scheduler/fixture.h"
#include "audit/event.h"
#include "core/db/run_tx.h"
#include "scheduler/duty/due_jobs.h"
#include "scheduler/jobs/job_hold.h"

static struct machine one;
FIXTURE_GROUP(machine_up(&f, &one, "ae-dxb-1", "one", 8, 0), NOTHING_MORE)

static int64_t pass(int64_t limit)
{
    int64_t n = -1;
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 24), .now_us = clock_wall_us(&clock_system) };
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, due_jobs_pass(&w, limit, &n, e), e));
    arena_free(w.arena);
    return n;
}

static void hold(struct uuid id)
{
    struct job j;
    struct work w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = f.tenant_a,
                      .now_us = clock_wall_us(&clock_system) };
    const struct audit_event ev = audit_event_of(&w, AUDIT_JOB_HOLD);
    OK(RUN_WRITE(&w, job_hold(&w, id, &j, e) == ERR_OK ? audit_append(&w, &ev, e) : e->code, e));
    arena_free(w.arena);
}

static void deadline(struct uuid id, const char *interval)
{
    char hex[UUID_TEXT];
    uuid_text(id, hex);
    fixture_exec(&f, "UPDATE job SET deadline_at = now() + interval '%s' WHERE job_id = '%s'", interval, hex);
}

static void what_waits_too_long_ends(void **state)
{
    (void)state;
    struct uuid ids[4];
    char hex[UUID_TEXT];
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &ids[0]), 1);
    deadline(ids[0], "-1 second");
    assert_int_equal(plan(&f), 1);              /* it has a machine: the deadline is about its start */
    assert_int_equal(pass(10), 0);
    assert_int_equal(submit(&f, f.tenant_a, 3, 1, 3, &ids[1]), 3);
    deadline(ids[1], "-1 second");
    deadline(ids[2], "-1 second");
    deadline(ids[3], "1 hour");
    hold(ids[2]);
    assert_int_equal(pass(1), 1);
    assert_int_equal(pass(10), 1);
    assert_int_equal(pass(10), 0);
    assert_string_equal(state_of(&f, ids[0]), "ADMITTED");
    assert_string_equal(state_of(&f, ids[1]), "DEADLINE");
    assert_string_equal(state_of(&f, ids[2]), "DEADLINE");
    assert_string_equal(state_of(&f, ids[3]), "PENDING");
    cancel_job(&f, f.tenant_a, ids[3]);
    uuid_text(ids[1], hex);
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM job WHERE job_id = '%s' AND finished_at IS NOT NULL"
                                       " AND message = 'It had not started by its deadline'", hex), 1);
    fixture_check(&f);
}

static int64_t begin(int64_t limit)
{
    int64_t n = -1;
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 24), .now_us = clock_wall_us(&clock_system) };
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, due_jobs_begin(&w, limit, &n, e), e));
    arena_free(w.arena);
    return n;
}

static void not_before(struct uuid id, const char *when)
{
    char hex[UUID_TEXT];
    uuid_text(id, hex);
    fixture_exec(&f, "UPDATE job SET not_before = %s, reason = 'BeginTime' WHERE job_id = '%s'", when, hex);
}

static void what_may_begin_is_let_in(void **state)
{
    (void)state;
    struct uuid ids[5];
    assert_int_equal(submit(&f, f.tenant_a, 5, 1, 3, ids), 5);
    not_before(ids[0], "now() - interval '2 seconds'");
    not_before(ids[1], "now() - interval '1 second'");
    not_before(ids[2], "now() + interval '1 hour'");
    not_before(ids[3], "'infinity'");
    not_before(ids[4], "now() - interval '1 second'");
    hold(ids[4]);
    assert_int_equal(plan(&f), 0);
    assert_int_equal(begin(1), 1);              /* who may begin longest is let in first */
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM job WHERE queued AND not_before IS NULL"
                                       " AND reason = 'Resources'"), 1);
    assert_int_equal(plan(&f), 1);
    assert_string_equal(state_of(&f, ids[0]), "ADMITTED");
    assert_int_equal(begin(10), 1);
    assert_int_equal(begin(10), 0);
    assert_int_equal(plan(&f), 1);
    assert_string_equal(state_of(&f, ids[1]), "ADMITTED");
    assert_string_equal(state_of(&f, ids[2]), "PENDING");
    assert_string_equal(state_of(&f, ids[3]), "PENDING");
    assert_string_equal(state_of(&f, ids[4]), "HELD");
    assert_int_equal(fixture_count(&f, "SELECT count(*) AS n FROM job WHERE reason = 'BeginTime' AND not_before > now()"), 2);
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_waits_too_long_ends), cmocka_unit_test(what_may_begin_is_let_in) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
