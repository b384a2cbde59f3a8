/* SPDX-License-Identifier: Apache-2.0 */
/* test_machines.c - a plan reads the machines that changed and no others; a change that was under way when the last one
 * read is not missed; what a mirror cannot have noticed is found by comparing, and machines that go are forgotten. */
#include "tests/db/scheduler/fixture.h"
#include "core/db/run_tx.h"
#include "scheduler/loop_int.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/snapshot.h"

enum { MANY = 600 };
static struct machine m;
FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0), f.scheduler.machines = machines_new()),
              machines_free(f.scheduler.machines))

/* Machines like the first one, which nobody asks for work. */
static void many_machines(void)
{
    fixture_exec(&f, "INSERT INTO node (node_id, zone, pool, name, identity, slots, cpus, memory_bytes, version, boot_id)\n"
                     " SELECT gen_random_uuid(), zone, 'other', 'm' || i, 'i' || i, 4, 4, memory_bytes, version,\n"
                     "        gen_random_uuid()\n"
                     "   FROM node, generate_series(1, %d) i WHERE name = 'w1'", MANY);
}

/* Machines that a plan sees now, with `slots` and the state READY. */
static size_t sees(int64_t slots, bool compares)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct work w = loop_work(&f.scheduler, a);
    struct snapshot s;
    size_t n = 0;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, TX_READ_ONLY, snapshot_read(&w, 10, compares, &s, e), e));
    for (size_t i = 0; i < s.nodes.n; i++) {
        n += s.nodes.items[i].slots == slots;
        assert_true(!i || uuid_cmp(s.nodes.items[i - 1].node_id, s.nodes.items[i].node_id) < 0);
    }
    arena_free(a);
    return n;
}

static int64_t changed(void)
{
    return machines_counted(f.scheduler.machines).changed;
}

static void only_changes_are_read(void **state)
{
    (void)state;
    many_machines();
    assert_int_equal(sees(4, false), MANY);
    assert_int_equal(machines_counted(f.scheduler.machines).loads, 1);
    const int64_t all = changed();
    assert_int_equal(all, MANY + 1);
    for (int i = 0; i < 10; i++)
        assert_int_equal(sees(4, false), MANY);
    assert_int_equal(changed(), all);                   /* nothing changed: no row */
    fixture_exec(&f, "UPDATE node SET last_seen_at = clock_timestamp(), reason = 'x' WHERE pool = 'other'");
    assert_int_equal(sees(4, false), MANY);
    assert_int_equal(changed(), all);                   /* nor is a heartbeat a change */
    fixture_exec(&f, "UPDATE node SET slots = 5 WHERE name IN ('m1', 'm2', 'm3')");
    assert_int_equal(sees(5, false), 3);
    assert_int_equal(changed(), all + 3);
    fixture_exec(&f, "UPDATE node SET state = 'DRAINING' WHERE name = 'm1'");
    assert_int_equal(sees(5, false), 2);
    fixture_exec(&f, "UPDATE node SET state = 'READY' WHERE name = 'm1'");
    assert_int_equal(sees(5, false), 3);
    assert_int_equal(changed(), all + 5);
    assert_int_equal(machines_counted(f.scheduler.machines).loads, 1);
}

static const struct stmt slow = { .name = "slow", .params = "", .card = CARD_NONE,
    .sql = "UPDATE node SET slots = 7 WHERE name = 'm10'" };

/* One transaction changes a machine and waits; a later one changes another and commits; plans go on meanwhile. */
static void what_was_under_way_is_not_missed(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct db_tx *tx;
    static const struct stmt *const stmts[] = { &slow, NULL }, *const *const lists[] = { stmts, NULL };
    struct db_pool *other = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(f.pg, NULL, NULL), .size = 1,
        .lists = lists, .role_allow = DB_ALLOW_SUPERUSER | DB_ALLOW_BYPASSRLS | DB_ALLOW_OWNER });
    const int64_t loads = machines_counted(f.scheduler.machines).loads;
    OK(db_begin(other, SCOPE_SYSTEM, 0, a, &tx, e));
    OK(db_exec(tx, &slow, NO_ARGS, NULL, e));
    fixture_exec(&f, "UPDATE node SET slots = 7 WHERE name = 'm11'");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sees(7, false), 1);            /* and the horizon does not pass the first one */
        fixture_exec(&f, "UPDATE node SET slots = %d WHERE name = 'm12'", 8 + i);
    }
    OK(db_commit(tx, e));
    assert_int_equal(sees(7, false), 2);
    assert_int_equal(machines_counted(f.scheduler.machines).loads, loads);
    arena_free(a);
    db_pool_free(other);
}

/* A change that left no trace, as one by hand around the triggers may, is found within a walk over all machines. */
static void what_differs_is_found(void **state)
{
    (void)state;
    const struct machines_count before = machines_counted(f.scheduler.machines);
    const int walk = MANY / MACHINES_SLICE + 2;
    for (int i = 0; i < 2 * walk; i++)
        (void)sees(9, true);
    assert_int_equal(machines_counted(f.scheduler.machines).differing, before.differing);
    assert_true(machines_counted(f.scheduler.machines).compared - before.compared >= MANY);
    fixture_exec(&f, "SET session_replication_role = replica; UPDATE node SET slots = 99 WHERE name = 'm200'");
    assert_int_equal(sees(99, false), 0);               /* nobody told */
    size_t seen = 0;
    for (int i = 0; i < walk && !seen; i++)
        seen = sees(99, true);
    assert_int_equal(seen, 1);
    assert_int_equal(machines_counted(f.scheduler.machines).differing, before.differing + 1);
    assert_int_equal(machines_counted(f.scheduler.machines).loads, before.loads + 1);
}

static void who_is_gone_is_forgotten(void **state)
{
    (void)state;
    const int64_t loads = machines_counted(f.scheduler.machines).loads;
    assert_int_equal(sees(7, false), 2);
    fixture_exec(&f, "DELETE FROM node WHERE name = 'm10'");
    assert_int_equal(sees(7, false), 1);
    assert_int_equal(machines_counted(f.scheduler.machines).loads, loads + 1);
}

/* With jobs, as the loop does it. */
static void rounds_go_on(void **state)
{
    (void)state;
    struct lease_grant g[8];
    for (int i = 0; i < 3; i++) {
        submit(&f, f.tenant_a, 8, 1, 3, NULL);
        assert_int_equal(plan(&f), 8);
        assert_int_equal(take(&f, &m, 8, g), 8);
        assert_int_equal(run_through(&f, &m, g, 8), 16);
    }
    fixture_exec(&f, "UPDATE node SET state = 'DRAINING' WHERE name = 'w1'");
    submit(&f, f.tenant_a, 1, 1, 3, NULL);
    assert_int_equal(plan(&f), 0);
    fixture_exec(&f, "UPDATE node SET state = 'READY' WHERE name = 'w1'");
    assert_int_equal(plan(&f), 1);
    fixture_check(&f);
}

/* From the words of an agent to the machine that gets the job: the last of two, which another agent takes the place of. */
static void a_job_goes_to_the_machine_with_its_engine(void **state)
{
    (void)state;
    static struct machine other;
    struct uuid id[2];
    struct lease_grant g[2];
    assert_int_equal(run_through(&f, &m, g, take(&f, &m, 2, g)), 2);        /* what the test before left */
    machine_up(&f, &other, "ae-dxb-1", "w2", 8, 0);
    assert_int_equal(submit(&f, f.tenant_a, 2, 1, 3, id), 2);
    fixture_exec(&f, "UPDATE job SET engine = 'onnxruntime' WHERE queued");
    assert_int_equal(plan(&f), 0);
    fixture_exec(&f, "DO $$ BEGIN ASSERT (SELECT count(*) = 2 FROM job WHERE queued\n"
                     " AND reason = 'NoMatchingFlavor' AND message LIKE\n"
                     " '%%has the engine onnxruntime (worker.onnxruntime)%%; 2 there are without it'); END $$");
    machine_says(&f, &other, "ae-dxb-1", "w2", 8, "onnxruntime 1.30.0");
    assert_int_equal(plan(&f), 2);
    assert_int_equal(take(&f, &m, 2, g), 0);
    assert_int_equal(take(&f, &other, 2, g), 2);
    assert_int_equal(run_through(&f, &other, g, 2), 4);
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_changes_are_read),
                                        cmocka_unit_test(what_was_under_way_is_not_missed),
                                        cmocka_unit_test(what_differs_is_found), cmocka_unit_test(who_is_gone_is_forgotten),
                                        cmocka_unit_test(rounds_go_on),
                                        cmocka_unit_test(a_job_goes_to_the_machine_with_its_engine) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
