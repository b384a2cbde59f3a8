/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_back.c - leases given in advance to a machine whose leases end quickly: how many a round gives, that its
 * machine gets no more than it has slots, and that those for which no slot gets free go back at no cost. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/plan/turnover.h"

enum { SLOTS = 4, WAITING = 30 };

static struct fixture f;
static struct machine m;
static int64_t now_us = 1000000000;

static int64_t test_mono(void *ctx)
{
    (void)ctx;
    return now_us;
}
static int64_t test_wall(void *ctx)
{
    (void)ctx;
    return clock_wall_us(&clock_system);
}
static const struct clock test_clock = { test_wall, test_mono, NULL };

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w1", SLOTS, 0);
    f.scheduler.clock = &test_clock;
    f.scheduler.turnover = turnover_new();
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    turnover_free(f.scheduler.turnover);
    fixture_close(&f);
    return 0;
}

static int64_t plan_quickly(void)
{
    struct arena *a = arena_new(64 << 20);
    int64_t admitted = 0;
    bool more;
    OK(loop_plan_once(&f.scheduler, a, false, &admitted, &more, e));
    arena_free(a);
    return admitted;
}

/* What the machine's call gets; *after moves on. */
static size_t call(struct uuid *after, int64_t free_slots, struct lease_grant *out)
{
    struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .now_us = clock_wall_us(&clock_system) };
    struct slice rows = { 0 };
    bool left;
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(lease_offer(&w, &m.node, *after, free_slots, 100, f.config->scheduler_lease_ms, &rows, &left, e));
    if (rows.n)
        memcpy(out, rows.items, rows.n * sizeof *out);
    for (size_t i = 0; i < rows.n; i++)
        *after = out[i].attempt_id;
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
    return rows.n;
}

/* The machine ends all it gets, round after round, until it is known for that. */
static void learn(struct uuid *after)
{
    struct lease_grant g[WAITING];
    for (int i = 0; i < 6; i++) {
        submit(&f, f.tenant_a, SLOTS, 1, 2, NULL);
        assert_int_equal(plan_quickly(), SLOTS);
        now_us += 10000;
        const size_t n = call(after, SLOTS, g);
        assert_int_equal(n, SLOTS);
        assert_int_equal(run_through(&f, &m, g, n), 2 * n);
    }
}

static int64_t count_of(const char *what)
{
    return fixture_count(&f, "SELECT count(*) FROM attempt JOIN job USING (tenant_id, job_id) WHERE %s", what);
}

static void they_go_back_where_no_slot_gets_free(void **state)
{
    (void)state;
    struct uuid after = UUID_LEAST, jobs[WAITING];
    struct lease_grant g[WAITING];
    learn(&after);
    const int64_t usage = fixture_count(&f, "SELECT count(*) FROM usage_record");
    submit(&f, f.tenant_a, WAITING, 1, 2, jobs);
    const int64_t admitted = plan_quickly();
    assert_in_range(admitted, SLOTS + 1, SLOTS + LEND_TIMES * SLOTS);
    assert_int_equal(plan_quickly(), 0);                        /* those were all that may be lent */
    /* They count against quotas. */
    assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM attempt WHERE live"), admitted);
    assert_int_equal(call(&after, SLOTS, g), SLOTS);
    assert_int_equal(call(&after, 0, g + SLOTS), 0);            /* its slots are full: the others wait */
    assert_int_equal(count_of("live AND attempt.state = 'LEASED'"), admitted);
    fixture_exec(&f, "UPDATE job SET suspend_requested = true WHERE job_id = (SELECT job_id FROM attempt WHERE live\n"
                     " ORDER BY attempt_id DESC LIMIT 1)");
    fixture_exec(&f, "UPDATE attempt SET leased_at = leased_at - interval '3 s',\n"
                     " lease_until = lease_until - interval '3 s' WHERE live");
    assert_int_equal(call(&after, 0, g + SLOTS), 0);
    assert_int_equal(count_of("live"), SLOTS);                  /* what the machine has stays its own, as old as it is */
    assert_int_equal(count_of("attempt.state = 'LEASE_RETURNED' AND taken_at IS NULL AND NOT live"), admitted - SLOTS);
    assert_int_equal(count_of("attempt.state = 'LEASE_RETURNED' AND job.state = 'SUSPENDED' AND NOT suspend_requested"), 1);
    assert_int_equal(count_of("attempt.state = 'LEASE_RETURNED' AND job.queued AND not_before IS NULL AND reason = 'Resources'"),
                     admitted - SLOTS - 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM usage_record") - usage, admitted - SLOTS);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM usage_record u JOIN attempt a USING (tenant_id, attempt_id)\n"
                                       " WHERE a.state = 'LEASE_RETURNED' AND u.wall_ms <> 0"), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event\n"
                                       " WHERE convert_from(body, 'UTF8') LIKE '%%job.requeue%%'"), admitted - SLOTS - 1);
    assert_int_equal(run_through(&f, &m, g, SLOTS), 2 * SLOTS);
    fixture_check(&f);
    assert_int_equal(plan_quickly(), SLOTS);                    /* what came back waits for a slot that is free */
    fixture_exec(&f, "UPDATE attempt SET leased_at = leased_at - interval '30 s',\n"
                     " lease_until = clock_timestamp() - interval '1 s' WHERE live");
    fixture_exec(&f, "UPDATE job SET cancel_requested = true WHERE job_id = (SELECT job_id FROM attempt WHERE live LIMIT 1)");
    reap(&f);
    assert_int_equal(count_of("attempt.state IN ('LEASE_EXPIRED', 'CANCELLED') AND taken_at IS NULL"), SLOTS);
    assert_int_equal(count_of("attempt.state = 'CANCELLED'"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM usage_record u JOIN attempt a USING (tenant_id, attempt_id)\n"
                                       " WHERE a.taken_at IS NULL AND u.wall_ms <> 0"), 0);     /* no machine had them */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE state = 'NODE_FAIL'"), 0);      /* no try was spent */
    fixture_check(&f);
    fixture_forget_jobs(&f);
}

/* What asks for more than its slots stand for, or was tried before, would start behind those in advance: while it waits
 * there are none. */
static void none_are_given_beside_other_jobs(void **state)
{
    (void)state;
    static const char *const others[] = { "memory_bytes = 2::bigint << 30", "cpu_milli = 2000", "fence = 1", "nodes = 2",
                                          "kind = 'serve'" };
    struct lease_grant g[WAITING];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct uuid after = UUID_LEAST;
        learn(&after);
        submit(&f, f.tenant_a, WAITING, 1, 2, NULL);
        fixture_exec(&f, "UPDATE job SET %s WHERE job_id = (SELECT job_id FROM job WHERE queued ORDER BY job_id LIMIT 1)",
                     others[i]);
        const int64_t admitted = plan_quickly();
        if (!(admitted > 0 && admitted <= SLOTS))
            fail_msg("%s: %ld", others[i], (long)admitted);
        const size_t n = call(&after, SLOTS, g);
        assert_int_equal(n, admitted);
        fixture_forget_jobs(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(they_go_back_where_no_slot_gets_free),
                                        cmocka_unit_test(none_are_given_beside_other_jobs) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
