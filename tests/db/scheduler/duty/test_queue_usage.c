/* SPDX-License-Identifier: Apache-2.0 */
/* test_queue_usage.c - what queues hold is summed up, halved in a week, and a long silence counts two periods at most. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/duty/queue_usage.h"

static struct machine m;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0), NOTHING_MORE)

static void pass(void)
{
    struct work w = { .app = &f.scheduler, .arena = arena_new(1 << 24) };
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(queue_usage_pass(&w, e));
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
}

static int64_t usage(void)
{
    return fixture_count(&f, "SELECT slot_usage FROM queue WHERE name = 'default'");
}

static void usage_grows_and_is_halved(void **state)
{
    (void)state;
    char tenant[UUID_TEXT];
    struct uuid job;
    uuid_text(f.tenant_a, tenant);
    fixture_exec(&f,
        "INSERT INTO queue (tenant_id, queue_id, name, created_by) VALUES ('%s', gen_random_uuid(), 'default', '%s'),"
                     " ('%s', gen_random_uuid(), 'other', '%s')", tenant, tenant, tenant, tenant);
    pass();
    assert_int_equal(usage(), 0);
    submit(&f, f.tenant_a, 1, 3, 3, &job);
    assert_int_equal(plan(&f), 1);
    fixture_exec(&f, "UPDATE queue SET usage_at = clock_timestamp() - interval '60 s'");
    pass();
    assert_in_range(usage(), 180, 195);         /* three slots for a minute, and how long the test took */
    fixture_exec(&f, "UPDATE queue SET usage_at = clock_timestamp() - interval '1 hour', slot_usage = 0");
    pass();
    assert_int_equal(usage(), 360);     /* two minutes of it */
    cancel_job(&f, f.tenant_a, job);
    reap(&f);
    fixture_exec(&f, "UPDATE queue SET usage_at = clock_timestamp() - interval '7 days', slot_usage = 100000");
    pass();
    assert_in_range(usage(), 49900, 50000);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM queue WHERE name = 'other' AND slot_usage IN (0, 50000, 49999)"), 1);
    fixture_exec(&f, "DELETE FROM queue");
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(usage_grows_and_is_halved) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
