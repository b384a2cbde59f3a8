/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_hold.c - a held job is not placed and keeps its time to begin; each state but waiting refuses; a budget's hold is
 * not a person's to lift. */
#include "tests/db/scheduler/fixture.h"
#include "audit/event.h"
#include "scheduler/jobs/job_hold.h"

static struct machine one;
FIXTURE_GROUP(machine_up(&f, &one, "ae-dxb-1", "one", 8, 0), NOTHING_MORE)

static enum errc turn(struct uuid tenant, struct uuid id, bool is_hold, struct err *why)
{
    struct job j;
    struct work w = { .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = tenant, .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(f.api.pool, SCOPE_TENANT(tenant), 0, w.arena, &w.tx, e));
    const enum errc rc = is_hold ? job_hold(&w, id, &j, why) : job_release(&w, id, &j, why);
    const struct audit_event ev = audit_event_of(&w, AUDIT_JOB_HOLD);      /* as the route writes it */
    if (rc == ERR_OK) {
        OK(audit_append(&w, &ev, e));
        OK(db_commit(w.tx, e));
    } else {
        db_rollback(w.tx);
    }
    arena_free(w.arena);
    return rc;
}

static enum errc hold(struct uuid id)
{
    struct err e = { 0 };
    return turn(f.tenant_a, id, true, &e);
}

static enum errc release(struct uuid id)
{
    struct err e = { 0 };
    return turn(f.tenant_a, id, false, &e);
}

static const char *reason_of(struct uuid id)
{
    static const char *const all[] = { "Resources", "HeldByUser", "BeginTime", "BudgetExhausted" };
    char hex[UUID_TEXT];
    uuid_text(id, hex);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (fixture_count(&f, "SELECT count(*) AS n FROM job WHERE job_id = '%s' AND reason = '%s'", hex, all[i]))
            return all[i];
    return "another";
}

static void a_held_job_waits_until_it_is_released(void **state)
{
    (void)state;
    struct uuid id;
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &id), 1);
    assert_int_equal(release(id), ERR_OK);      /* it waits already */
    assert_int_equal(hold(id), ERR_OK);
    assert_int_equal(hold(id), ERR_OK);
    assert_string_equal(state_of(&f, id), "HELD");
    assert_string_equal(reason_of(id), "HeldByUser");
    assert_int_equal(plan(&f), 0);
    struct err e = { 0 };
    assert_int_equal(turn(f.tenant_b, id, false, &e), ERR_NOT_FOUND);
    assert_int_equal(release(id), ERR_OK);
    assert_string_equal(reason_of(id), "Resources");
    assert_int_equal(plan(&f), 1);
    assert_int_equal(hold(id), ERR_CONFLICT);
    assert_int_equal(release(id), ERR_CONFLICT);
    fixture_check(&f);
}

static void its_time_to_begin_stays_with_it(void **state)
{
    (void)state;
    struct uuid id;
    char hex[UUID_TEXT];
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &id), 1);
    uuid_text(id, hex);
    fixture_exec(&f, "UPDATE job SET not_before = now() + interval '1 hour' WHERE job_id = '%s'", hex);
    assert_int_equal(hold(id), ERR_OK);
    assert_int_equal(release(id), ERR_OK);
    assert_string_equal(reason_of(id), "BeginTime");
    assert_int_equal(plan(&f), 0);
    cancel_job(&f, f.tenant_a, id);
    assert_int_equal(hold(id), ERR_CONFLICT);
}

static void what_a_budget_holds_a_person_does_not_release(void **state)
{
    (void)state;
    struct uuid id;
    char hex[UUID_TEXT];
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &id), 1);
    assert_int_equal(hold(id), ERR_OK);
    uuid_text(id, hex);
    fixture_exec(&f, "UPDATE job SET reason = 'BudgetExhausted' WHERE job_id = '%s'", hex);
    assert_int_equal(release(id), ERR_CONFLICT);
    assert_int_equal(hold(id), ERR_CONFLICT);
    assert_string_equal(state_of(&f, id), "HELD");
    cancel_job(&f, f.tenant_a, id);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_held_job_waits_until_it_is_released),
                                        cmocka_unit_test(its_time_to_begin_stays_with_it),
                                        cmocka_unit_test(what_a_budget_holds_a_person_does_not_release) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
