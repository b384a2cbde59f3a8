/* SPDX-License-Identifier: Apache-2.0 */
/* test_waiting_load.c - all that waits is read in parts, by when it came or, where one transaction stored more than a part, by a
 * walk; what comes, changes and leaves between two parts is known too, and it stops where somebody waits for a plan. */
#include "tests/db/scheduler/fixture.h"
#include "core/db/run_tx.h"
#include "scheduler/loop_int.h"
#include "scheduler/mirror/waiting_int.h"

enum { PART = 7 };
FIXTURE_GROUP((f.scheduler.waiting = waiting_new(), f.scheduler.waiting->part = PART), waiting_free(f.scheduler.waiting))

static int64_t waiting_now(void)
{
    return fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND not_before IS NULL");
}

/* What is known is what waits, row by row. */
static void all_is_known(void)
{
    struct waiters *m = f.scheduler.waiting;
    struct arena *a = arena_new((size_t)64 << 20);
    struct work w = loop_work(&f.scheduler, a);
    OK(RUN_SYSTEM(&w, f.scheduler.pool, TX_READ_ONLY, waiting_read(&w, waiting_asked(&w, true), e), e));
    assert_true(waiting_is_whole(m));
    assert_int_equal(m->count.differing, 0);
    assert_int_equal(waiting_counted(m).jobs, waiting_now());
    arena_free(a);
}

/* Transactions of one to five jobs: parts end within them. */
static void come_in_turns(void)
{
    for (int i = 0; i < 15; i++)
        submit(&f, i % 3 ? f.tenant_a : f.tenant_b, (size_t)(1 + i % 5), 1 + i % 4, 100, NULL);
}

struct between { int asked, until; };

/* Between two parts: jobs come, are held, leave and change. */
static bool things_happen(void *ctx)
{
    struct between *b = ctx;
    submit(&f, f.tenant_b, 2, 2, 100, NULL);
    fixture_exec(&f, "UPDATE job SET state = 'HELD', queued = false, version = version + 1 WHERE (tenant_id, job_id) IN"
                     " (SELECT tenant_id, job_id FROM job WHERE queued ORDER BY job_id DESC LIMIT 1);"
                     " DELETE FROM job WHERE (tenant_id, job_id) IN (SELECT tenant_id, job_id FROM job WHERE queued"
                     " ORDER BY job_id LIMIT 1);"
                     " UPDATE job SET priority = priority + 1, version = version + 1 WHERE (tenant_id, job_id) IN"
                     " (SELECT tenant_id, job_id FROM job WHERE queued ORDER BY job_id DESC OFFSET 3 LIMIT 2)");
    return ++b->asked == b->until;
}

static bool never(void *ctx)
{
    ++*(int *)ctx;
    return false;
}

static void by_when_they_came(void **state)
{
    (void)state;
    struct waiters *m = f.scheduler.waiting;
    struct between b = { .until = 4 };
    bool more = false;
    come_in_turns();
    OK(waiting_load(&f.scheduler, things_happen, &b, &more, e));
    assert_true(more && b.asked == 4);          /* it was enough, and it goes on there */
    assert_true(m->from.came > 0 && !m->from.walks && waiting_counted(m).jobs > 0);
    b.until = -1;
    OK(waiting_load(&f.scheduler, things_happen, &b, &more, e));
    assert_false(more);
    all_is_known();
}

static void a_large_transaction_by_a_walk(void **state)
{
    (void)state;
    int parts = 0;
    bool more = false;
    come_in_turns();
    fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, pool, data_class, slots, priority, max_runtime_s,"
                     " created_by) SELECT tenant_id, gen_random_uuid(), 'j', 'noop', '{}', 'default', 'internal', 1 + i %% 3,"
                     " i %% 2, 60, gen_random_uuid() FROM generate_series(1, %d) i,"
                     " (SELECT tenant_id FROM job LIMIT 1) t", 3 * PART);
    come_in_turns();
    waiting_forget(f.scheduler.waiting);
    OK(waiting_load(&f.scheduler, never, &parts, &more, e));
    assert_false(more);
    assert_true(parts > waiting_now() / PART);  /* some were read by when they came first */
    all_is_known();
}

static void one_part_where_a_plan_is_wanted(void **state)
{
    (void)state;
    struct waiters *m = f.scheduler.waiting;
    bool more = false;
    waiting_forget(m);
    OK(waiting_load(&f.scheduler, waiting_one_part, NULL, &more, e));
    assert_true(more);
    assert_int_equal(waiting_counted(m).jobs, PART);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_when_they_came), cmocka_unit_test(a_large_transaction_by_a_walk),
                                        cmocka_unit_test(one_part_where_a_plan_is_wanted) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
