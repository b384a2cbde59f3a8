/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_turn.c - one look at an engine that is not there. Turns with real ones are tests/engines'. */
#include "tests/db/scheduler/engines/engine_kit.h"
#include "scheduler/duty/engine_turn.h"

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

static void one_that_is_away_changes_nothing_but_what_its_jobs_say(void **state)
{
    (void)state;
    struct uuid job;
    struct engine_memory memory = { 0 };
    struct slice rows = { 0 };
    kit_jobs(&f, f.tenant_a, 1, "away", &job);
    (void)kit_engine(&f, "away", 2);
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    OK(engine_run_engines(&w, &rows, e));
    OK(db_commit(w.tx, e));
    struct arena *a = arena_new((size_t)64 << 20);
    for (int i = 0; i < 3; i++)
        engine_turn(&f.scheduler, a, rows.items, &memory, never, NULL);
    arena_free(a);
    arena_free(w.arena);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine WHERE health = 'DOWN' AND health_says <> ''"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine_run WHERE state = 'WANTED' AND tries = 0"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE reason = 'Engine' AND message LIKE 'Engine away: %%'"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job, engine g WHERE message LIKE '%%' || health_says || '%%'"), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM join_token"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_away_changes_nothing_but_what_its_jobs_say),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
