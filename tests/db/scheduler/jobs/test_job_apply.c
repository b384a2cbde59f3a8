/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_apply.c - moves that are legal are made whole; those that are not, or come too late, leave everything as it was. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/jobs/job_apply.h"

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

/* Applies in a transaction of the scheduler; returns how many moved, and which was the first. */
static size_t apply(const struct job_move *moves, size_t n, int64_t *ret_first)
{
    struct arena *a = arena_new(16 << 20);
    struct db_tx *tx;
    struct slice moved;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, a, &tx, e));
    OK(job_apply(tx, moves, n, &moved, e));
    OK(db_commit(tx, e));
    if (ret_first && moved.n)
        *ret_first = *(const int64_t *)moved.items;
    size_t k = moved.n;
    arena_free(a);
    return k;
}

static struct job_move move_of(struct uuid job, enum job_event_kind event, int64_t version)
{
    return (struct job_move){ .tenant_id = f.tenant_a, .job_id = job, .event = event, .version = version, .fence = JOB_ANY_FENCE };
}

static int64_t events(void)
{
    return fixture_count(&f, "SELECT count(*) FROM job_event");
}

static void from_each_state_only_its_edges_lead_on(void **state)
{
    (void)state;
    for (int from = 0; from < JOB_STATE_COUNT; from++) {
        for (int ev = 0; ev < JE_COUNT; ev++) {
            struct uuid id;
            char text[UUID_TEXT];
            int to = job_state_next((enum job_state)from, (enum job_event_kind)ev);
            submit(&f, f.tenant_a, 1, 1, 3, &id);
            uuid_text(id, text);
            fixture_exec(&f, "SET session_replication_role = replica; UPDATE job SET state = '%s', queued = '%s' = 'PENDING', version = 7,"
                             " finished_at = CASE WHEN %s THEN now() END WHERE job_id = '%s'", job_state_names[from], job_state_names[from],
                         job_state_is_terminal((enum job_state)from) ? "true" : "false", text);
            int64_t before = events();
            struct job_move m = move_of(id, (enum job_event_kind)ev, 7);
            m.reason = STR("Resources");
            assert_int_equal(apply(&m, 1, NULL), to >= 0);
            assert_string_equal(state_of(&f, id), job_state_names[to >= 0 ? to : from]);
            assert_int_equal(events(), before + (to >= 0));
            assert_int_equal(fixture_count(&f, "SELECT version FROM job WHERE job_id = '%s'", text), to >= 0 ? 8 : 7);
            assert_int_equal(fixture_count(&f, "SELECT fence FROM job WHERE job_id = '%s'", text), ev == JE_ADMIT && to >= 0);
            assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE job_id = '%s' AND finished_at IS NOT NULL", text),
                             job_state_is_terminal((enum job_state)(to >= 0 ? to : from)));
        }
    }
    fixture_exec(&f, "DELETE FROM job_event; DELETE FROM idempotency; DELETE FROM job;"
                 "DELETE FROM job_end; UPDATE quota SET used = 0, ended = 0");
}

static void who_comes_late_moves_nothing(void **state)
{
    (void)state;
    struct uuid ids[3];
    int64_t first = -1;
    submit(&f, f.tenant_a, 3, 1, 3, ids);
    struct job_move m[3] = { move_of(ids[0], JE_HOLD, 2), move_of(ids[1], JE_HOLD, 1), move_of(ids[2], JE_HOLD, 1) };
    m[2].fence = 1;
    for (int i = 0; i < 3; i++)
        m[i].reason = STR("BudgetExhausted");
    assert_int_equal(apply(m, 3, &first), 1);       /* another version, as it is, another fence */
    assert_int_equal(first, 1);
    assert_string_equal(state_of(&f, ids[1]), "HELD");
    assert_int_equal(apply(m, 3, NULL), 0);         /* the one that moved is at another version now */
    struct job_move other = move_of(ids[0], JE_HOLD, 1);
    other.tenant_id = f.tenant_b;
    assert_int_equal(apply(&other, 1, NULL), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE queued"), 2);
}

/* Who asked for the end before the plan came is not admitted. */
static void a_job_that_is_to_end_is_not_admitted(void **state)
{
    (void)state;
    struct uuid id;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    char text[UUID_TEXT];
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET cancel_requested = true WHERE job_id = '%s'", text);
    struct job_move m = move_of(id, JE_ADMIT, 1);
    assert_int_equal(apply(&m, 1, NULL), 0);
    fixture_exec(&f, "UPDATE job SET cancel_requested = false WHERE job_id = '%s'", text);
    assert_int_equal(apply(&m, 1, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(from_each_state_only_its_edges_lead_on), cmocka_unit_test(who_comes_late_moves_nothing),
                                        cmocka_unit_test(a_job_that_is_to_end_is_not_admitted) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
