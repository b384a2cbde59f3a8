/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c - runs for jobs that wait in an engine's pool: one for each, tenants in turns, never more than its places; a try is
 * counted by one who saw the number before it, and its tokens are the only good ones. */
#include "engine_kit.h"
#include "tests/lib/wait.h"

#include <pthread.h>
#include <stdatomic.h>

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static struct engine g;

static void who_waits_gets_a_run_in_turns_and_within_its_places(void **state)
{
    (void)state;
    struct uuid a[6], b[2];
    struct slice rows = { 0 };
    kit_jobs(&f, f.tenant_a, 6, "turns", a);
    kit_jobs(&f, f.tenant_b, 2, "turns", b);
    const struct uuid id = kit_engine(&f, "turns", 4);
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    g = kit_engine_of(&w, id);
    kit_read(&w, &g, &rows);
    assert_int_equal(rows.n, 4);
    const struct run_row *r = rows.items;
    size_t of_b = 0;
    for (size_t i = 0; i < rows.n; i++) {
        of_b += uuid_eq(r[i].tenant_id, f.tenant_b);
        assert_true(r[i].job_waits && !r[i].is_held && str_eq_c(r[i].state, "WANTED") && r[i].slots == 2 && r[i].cpus == 2);
    }
    assert_int_equal(of_b, 2);                          /* six of another's do not stand before them */
    kit_read(&w, &g, &rows);
    assert_int_equal(rows.n, 4);                        /* one for each job, and no place is free */
    kit_end(&w);
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT s) FROM engine_run, unnest(seats) s"), 4);
    fixture_exec(&f, "UPDATE engine SET enabled = false");
    fixture_exec(&f, "UPDATE engine_run SET state = 'ENDED', ended_at = now() - interval '1 hour'");
    w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    kit_read(&w, &g, &rows);
    assert_int_equal(rows.n, 0);                        /* switched off */
    kit_end(&w);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 90000");
    fixture_exec(&f, "UPDATE engine SET enabled = true");
    w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    kit_read(&w, &g, &rows);
    assert_int_equal(rows.n, 0);                        /* longer than it lends */
    kit_end(&w);
    fixture_exec(&f, "DELETE FROM engine_run");
    fixture_exec(&f, "DELETE FROM engine");
    fixture_forget_jobs(&f);
}

/* Of a removal that was not seen to its end: until it was, and not before a call that was given up is surely over. */
static void what_is_left_is_kept_in_mind(struct uuid run_id)
{
    struct run_left left[2] = { 0 };
    size_t n = 9;
    struct slice rows = { 0 };
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    OK(engine_run_left(&w, &g, left, 2, &n, e));
    assert_int_equal(n, 0);
    kit_end(&w);
    fixture_exec(&f, "UPDATE engine_run SET ended_at = ended_at - interval '1 minute'; UPDATE engine SET enabled = false");
    w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    OK(engine_run_engines(&w, &rows, e));
    assert_int_equal(rows.n, 1);                        /* a disabled one is looked after for it */
    OK(engine_run_left(&w, &g, left, 2, &n, e));
    assert_true(n == 1 && uuid_eq(left[0].run_id, run_id) && str_ends(str_c(left[0].name), "-2"));
    OK(engine_run_removed(&w, &run_id, 1, e));
    OK(engine_run_left(&w, &g, left, 2, &n, e));
    assert_int_equal(n, 0);
    OK(engine_run_engines(&w, &rows, e));
    assert_int_equal(rows.n, 0);
    kit_end(&w);
    fixture_exec(&f, "UPDATE engine_run SET ended_at = ended_at + interval '1 minute'; UPDATE engine SET enabled = true");
}

static void a_try_has_tokens_of_its_own_and_one_who_began_it(void **state)
{
    (void)state;
    struct uuid job;
    struct slice rows = { 0 };
    struct engine_ask ask, second;
    struct err why;
    kit_jobs(&f, f.tenant_a, 1, "try", &job);
    const struct uuid id = kit_engine(&f, "try", 1);
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    g = kit_engine_of(&w, id);
    kit_read(&w, &g, &rows);
    assert_int_equal(rows.n, 1);
    struct run_row r = *(struct run_row *)rows.items, other = r;
    OK(engine_run_begin(&w, &g, &r, &ask, e));
    const struct str token = str_dup(w.arena, ask.variables[1].value);
    assert_true(str_starts(token, "flj_join_") && str_starts(ask.name, "falaj-") && str_ends(ask.name, "-1"));
    assert_true(str_find(ask.comment, '_') < 0);        /* a digest, no token */
    assert_null(strstr(ask.script.ptr, "flj_"));
    OK(engine_run_tell(&w, &r, STR("77"), STR("PENDING"), STR("waits"), e));
    OK(engine_run_reasons(&w, &g, e));
    OK(db_commit(w.tx, e));
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE reason = 'Engine' AND message = 'waits'"), 1);
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    assert_int_equal(engine_run_begin(&w, &g, &other, &second, &why), ERR_CONFLICT);      /* another leader, who read before */
    db_rollback(w.tx);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM join_token WHERE node_name = 'try-1' AND revoked_at IS NULL"), 1);
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(engine_run_begin(&w, &g, &r, &second, e));
    OK(db_commit(w.tx, e));
    assert_false(str_eq(token, second.variables[1].value));
    assert_int_equal(r.tries, 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM join_token WHERE revoked_at IS NULL"), 1);
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(engine_run_end(&w, &g, &r, "LOST", STR("NODE_FAIL"), false, true, e));
    kit_end(&w);
    what_is_left_is_kept_in_mind(r.run_id);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM join_token WHERE revoked_at IS NULL"), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE reason = 'Resources' AND message = ''"), 1);
    w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    kit_read(&w, &g, &rows);
    assert_int_equal(rows.n, 0);                        /* a pause before the next one */
    kit_end(&w);
    fixture_exec(&f, "UPDATE engine_run SET ended_at = ended_at - interval '1 minute'");
    w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    kit_read(&w, &g, &rows);
    assert_int_equal(rows.n, 1);
    OK(engine_run_purge(&w, e));
    kit_end(&w);
}

static void *read_late(void *arg)
{
    _Atomic bool *is_read = arg;
    struct slice rows = { 0 };
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    kit_read(&w, &g, &rows);
    kit_end(&w);
    *is_read = true;
    return NULL;
}

/* The first one's job waits no longer when the second one looks, so only the place is there to meet at. */
static void of_two_that_believe_they_lead_one_gives_the_place(void **state)
{
    (void)state;
    struct uuid job[2];
    struct slice rows = { 0 };
    _Atomic bool is_read = false;
    pthread_t other;
    kit_jobs(&f, f.tenant_a, 1, "both", &job[0]);
    const struct uuid id = kit_engine(&f, "both", 1);
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    g = kit_engine_of(&w, id);
    kit_read(&w, &g, &rows);
    assert_int_equal(rows.n, 1);
    fixture_exec(&f, "UPDATE job SET state = 'HELD', queued = false, version = version + 1");
    kit_jobs(&f, f.tenant_b, 1, "both", &job[1]);
    pthread_create(&other, NULL, read_late, &is_read);
    WAIT_WHILE(!is_read && !fixture_count(&f, "SELECT count(*) FROM pg_locks WHERE NOT granted"));
    kit_end(&w);
    pthread_join(other, NULL);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine_run"), 1);
    fixture_exec(&f, "DELETE FROM engine_run");
    fixture_exec(&f, "DELETE FROM engine");
    fixture_forget_jobs(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_gets_a_run_in_turns_and_within_its_places),
        cmocka_unit_test(of_two_that_believe_they_lead_one_gives_the_place),
        cmocka_unit_test(a_try_has_tokens_of_its_own_and_one_who_began_it),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
