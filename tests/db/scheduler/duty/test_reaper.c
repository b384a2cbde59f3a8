/* SPDX-License-Identifier: Apache-2.0 */
/* test_reaper.c - silence: expiry, pauses, NODE_FAIL, lost machines, new boots; and the edges of code and database are the same. */
#include "tests/db/scheduler/fixture.h"
#include "core/db/run_tx.h"
#include "scheduler/duty/reaper.h"

static struct fixture f;
static struct machine m;

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static void expiry_requeues_then_fails(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    for (int attempt = 1; attempt <= 3; attempt++) {
        assert_int_equal(plan(&f), 1);
        if (attempt > 1)
            assert_int_equal(take(&f, &m, 1, &g), 1);
        if (attempt > 2)
            assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
        fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 s' WHERE live");
        reap(&f);
        assert_string_equal(state_of(&f, id), attempt < 3 ? "PENDING" : "NODE_FAIL");
        if (attempt < 3) {
            assert_int_equal(plan(&f), 0);                  /* it pauses first */
            assert_in_range(fixture_count(&f, "SELECT extract(epoch FROM not_before - clock_timestamp()) * 1000 FROM job WHERE queued"),
                            attempt == 1 ? 700 : 1500, attempt == 1 ? 1200 : 2400);
            fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE queued");
        }
    }
    assert_int_equal(fixture_count(&f, "SELECT requeue_count FROM job"), 2);
    assert_int_equal(fixture_count(&f, "SELECT (SELECT sum(" JOBS_USED ") FROM quota WHERE resource = 'jobs') +"
                                       " (SELECT count(*) FROM attempt WHERE live)"), 0);
    fixture_check(&f);
}

static void a_serving_job_is_tried_without_end(void **state)
{
    (void)state;
    struct uuid id;
    submit(&f, f.tenant_a, 1, 1, 1, &id);
    fixture_exec(&f, "UPDATE job SET kind = 'serve' WHERE queued");
    assert_int_equal(plan(&f), 1);
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 s' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, id), "PENDING");
    cancel_job(&f, f.tenant_a, id);
}

static void a_cancelled_job_that_expires_is_cancelled(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    cancel_job(&f, f.tenant_a, id);
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 s' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, id), "CANCELLED");
    fixture_check(&f);
}

static void a_silent_machine_is_lost_and_comes_back(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    plan(&f);
    fixture_exec(&f, "UPDATE node SET last_seen_at = clock_timestamp() - interval '31 s'");
    reap(&f);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node WHERE state = 'LOST'"), 1);
    assert_string_equal(state_of(&f, id), "PENDING");
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE queued");
    assert_int_equal(plan(&f), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE queued AND reason = 'ZoneUnavailable'"), 1);
    assert_int_equal(take(&f, &m, 1, &g), 0);               /* it is heard again */
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(run_through(&f, &m, &g, 1), 2);
    fixture_check(&f);
}

static void a_new_boot_voids_old_leases(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    struct machine old = m;
    struct node n;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    old.identity = str_c(old.identity_text);
    machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0);
    assert_true(uuid_eq(old.node.node_id, m.node.node_id));
    assert_string_equal(state_of(&f, id), "PENDING");
    assert_int_equal(tell(&f, &m, &g, 1, LE_SUCCEED, NULL), 0);
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.api, .arena = a };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    assert_int_equal(node_beat(&w, old.node.node_id, old.node.boot_id, old.identity, &n, NULL), ERR_STALE);
    struct node_register lie = { .name = STR("w2"), .zone = STR("ae-dxb-1"), .pool = STR("default"), .boot_id = old.node.boot_id };
    assert_int_equal(node_register(&w, &lie, m.identity, &n, NULL), ERR_FORBIDDEN);
    /* The run before does not take the machine back while the later one is heard of; afterwards it may. */
    struct node_register late = { .name = STR("w1"), .zone = STR("ae-dxb-1"), .pool = STR("default"), .slots = 64, .cpus = 1, .backend = STR("ref"),
                                  .version = STR("0"), .boot_id = old.node.boot_id };
    assert_int_equal(node_register(&w, &late, m.identity, &n, NULL), ERR_STALE);
    db_rollback(w.tx);
    fixture_exec(&f, "UPDATE node SET last_seen_at = last_seen_at - interval '31 s' WHERE name = 'w1'");
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(node_register(&w, &late, m.identity, &n, e));
    db_rollback(w.tx);
    fixture_exec(&f, "UPDATE node SET last_seen_at = clock_timestamp() WHERE name = 'w1'");
    arena_free(a);
    cancel_job(&f, f.tenant_a, id);
    fixture_check(&f);
}

static void a_run_far_beyond_its_time_ends(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    fixture_exec(&f, "UPDATE attempt SET started_at = clock_timestamp() - interval '361 s' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, id), "TIMEOUT");
    fixture_check(&f);
}

/* Not one that serves: it has no length, and only its worker's silence ends a run of it. */
static void a_serving_run_has_no_end_of_its_own(void **state)
{
    (void)state;
    struct uuid id;
    struct lease_grant g;
    submit(&f, f.tenant_a, 1, 1, 1, &id);
    fixture_exec(&f, "UPDATE job SET kind = 'serve' WHERE queued");
    assert_int_equal(plan(&f), 1);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    fixture_exec(&f, "UPDATE attempt SET started_at = clock_timestamp() - interval '30 days' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, id), "RUNNING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live"), 1);
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 s' WHERE live");
    reap(&f);
    assert_string_equal(state_of(&f, id), "PENDING");
    cancel_job(&f, f.tenant_a, id);
    fixture_check(&f);
}

static void code_and_database_have_the_same_edges(void **state)
{
    (void)state;
    int64_t n = 0;
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        for (int k = 0; k < JE_COUNT; k++) {
            int to = job_state_next((enum job_state)s, (enum job_event_kind)k);
            if (to < 0)
                continue;
            n++;
            assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_edge WHERE from_state = '%s' AND event = '%s' AND to_state = '%s'",
                                           job_state_names[s], job_event_names[k], job_state_names[to]), 1);
        }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_edge"), n);
}

static enum errc reap_at_most(int64_t limit)
{
    struct arena *a = arena_new(16 << 20);
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    struct reaper_result r;
    struct err why;
    const enum errc rc = RUN_SYSTEM(&w, f.scheduler.pool, 0, reaper_pass(&w, limit, &r, &why), &why);
    arena_free(a);
    return rc;
}

#define DRAINED "SELECT count(*) FROM node WHERE state = 'DRAINING'"
/* More machines hang than one pass takes: it takes some, and the next one the rest. */
static void stuck_machines_are_drained_in_turns(void **state)
{
    (void)state;
    static struct machine other;
    struct uuid ids[2];
    machine_up(&f, &other, "ae-dxb-1", "w2", 64, 0);
    fixture_exec(&f, "UPDATE node SET state = 'READY', is_drained = false, last_seen_at = clock_timestamp()");
    submit(&f, f.tenant_a, 2, 40, 3, ids);
    assert_int_equal(plan(&f), 2);
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() + interval '1 hour', evict_until = now() - interval '1 hour',"
                     " evict_for = gen_random_uuid() WHERE live");
    assert_int_equal(reap_at_most(1), ERR_OK);
    assert_int_equal(fixture_count(&f, DRAINED), 1);
    assert_int_equal(reap_at_most(1), ERR_OK);
    assert_int_equal(fixture_count(&f, DRAINED), 2);
    reap(&f);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(state_of(&f, ids[i]), "PENDING");
        cancel_job(&f, f.tenant_a, ids[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expiry_requeues_then_fails), cmocka_unit_test(a_serving_job_is_tried_without_end),
        cmocka_unit_test(a_cancelled_job_that_expires_is_cancelled), cmocka_unit_test(a_silent_machine_is_lost_and_comes_back),
        cmocka_unit_test(a_new_boot_voids_old_leases), cmocka_unit_test(a_run_far_beyond_its_time_ends),
        cmocka_unit_test(a_serving_run_has_no_end_of_its_own),
        cmocka_unit_test(stuck_machines_are_drained_in_turns), cmocka_unit_test(code_and_database_have_the_same_edges) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
