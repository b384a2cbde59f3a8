/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_apply.c - a plan is made from what was read; what holds when it is applied decides. Each test changes the world between the
 * two, and books what it admits: slots and GPUs, of the machine and of the tenant. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan_apply.h"

static struct machine m;

struct planned {
    struct work w;
    struct snapshot s;
    struct plan p;
};

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static int fresh(void **state)
{
    (void)state;
    machine_up(&f, &m, "ae-dxb-1", "w1", 4, 4);
    return 0;
}

/* What still waits is cancelled, what runs is done. */
static int done(void **state)
{
    (void)state;
    struct lease_grant g[8];
    for (size_t n; (n = take(&f, &m, 8, g)) > 0;)
        assert_int_equal(run_through(&f, &m, g, n), 2 * n);
    fixture_check(&f);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live"), 0);
    return 0;
}

static void cancel_all(const struct uuid *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(state_of(&f, ids[i]), "PENDING") == 0)
            cancel_job(&f, f.tenant_a, ids[i]);
}

static void make(struct planned *x, size_t places)
{
    *x = (struct planned){ .w = { .app = &f.scheduler, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) } };
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_READ_ONLY, x->w.arena, &x->w.tx, e));
    OK(snapshot_read(&x->w, 64, true, &x->s, e));
    OK(db_commit(x->w.tx, e));
    placement_plan(&x->s, x->w.arena, &x->p);
    assert_int_equal(x->p.places.n, places);
}

/* Applies the plan; how many lines became attempts. */
static int64_t apply(struct planned *x)
{
    struct plan_result r;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, x->w.arena, &x->w.tx, e));
    OK(plan_apply(&x->w, &x->s, &x->p, 60000, &r, e));
    OK(db_commit(x->w.tx, e));
    assert_int_equal(r.admitted + r.refused, x->p.places.n);
    arena_free(x->w.arena);
    return r.admitted;
}

static void a_machine_that_is_no_longer_ready_gets_nothing(void **state)
{
    (void)state;
    static const char *const states[] = { "DRAINING", "LOST", "QUARANTINED" };
    struct uuid id;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    for (size_t i = 0; i < 3; i++) {
        struct planned x;
        make(&x, 1);
        fixture_exec(&f, "UPDATE node SET state = '%s'", states[i]);
        assert_int_equal(apply(&x), 0);
        assert_string_equal(state_of(&f, id), "PENDING");
        fixture_exec(&f, "UPDATE node SET state = 'READY'");
    }
    struct planned x;
    make(&x, 1);
    assert_int_equal(apply(&x), 1);
}

/* Four jobs of one slot fit the machine as it was read; meanwhile two slots of it are gone. */
static void slots_that_are_gone_are_not_given(void **state)
{
    (void)state;
    struct uuid ids[4];
    struct planned x;
    submit(&f, f.tenant_a, 4, 1, 3, ids);
    make(&x, 4);
    fixture_exec(&f, "UPDATE node SET slots = 2");
    assert_int_equal(apply(&x), 2);
    assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM attempt WHERE live"), 2);
    fixture_exec(&f, "UPDATE node SET slots = 4");
    cancel_all(ids, 4);
}

/* A plan of one transaction: who would raise what machines and tenants hold, or a limit, waits until it is written. */
static void a_quick_plan_holds_the_planners_lock_from_its_first_read(void **state)
{
    (void)state;
    struct uuid ids[4];
    struct plan_result r;
    struct planned x = { .w = { .app = &f.scheduler, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) } };
    submit(&f, f.tenant_a, 4, 1, 3, ids);
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_ENDS, x.w.arena, &x.w.tx, e));
    plan_turn_take(x.w.tx);
    OK(snapshot_read(&x.w, 64, false, &x.s, e));
    assert_int_equal(fixture_count(&f, "SELECT pg_try_advisory_xact_lock(4630123712)::int"), 0);
    char text[UUID_TEXT];
    uuid_text(ids[3], text);
    fixture_exec(&f, "UPDATE job SET cancel_requested = true WHERE job_id = '%s'", text);
    placement_plan(&x.s, x.w.arena, &x.p);
    assert_int_equal(x.p.places.n, 4);
    OK(plan_admit(&x.w, &x.s, &x.p, 60000, &r, e));
    OK(db_commit(x.w.tx, e));
    assert_int_equal(r.admitted, 3);                        /* the job that is to be cancelled stays */
    assert_int_equal(r.refused, 1);
    assert_int_equal(r.nodes.n, 1);
    assert_string_equal(state_of(&f, ids[3]), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT pg_try_advisory_xact_lock(4630123712)::int"), 1);
    assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM attempt WHERE live"), 3);
    arena_free(x.w.arena);
    cancel_all(ids, 4);
}

/* Another planner was faster with the same machine. */
static void slots_that_another_plan_took_are_not_given_twice(void **state)
{
    (void)state;
    struct uuid ids[3];
    struct planned x, late;
    submit(&f, f.tenant_a, 1, 3, 3, ids);
    make(&late, 1);
    submit(&f, f.tenant_a, 2, 1, 3, ids + 1);
    fixture_exec(&f, "UPDATE job SET not_before = clock_timestamp() + interval '1 hour' WHERE queued AND slots = 3");
    make(&x, 2);
    assert_int_equal(apply(&x), 2);
    assert_int_equal(apply(&late), 0);
    assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM attempt WHERE live"), 2);
    cancel_all(ids, 3);
}

static void gpus_are_booked_with_the_machine_and_the_tenant(void **state)
{
    (void)state;
    struct uuid ids[3];
    struct lease_grant g[3];
    struct planned x;
    submit(&f, f.tenant_a, 3, 1, 3, ids);
    fixture_exec(&f, "UPDATE job SET gpus = 2 WHERE queued");
    make(&x, 2);                                            /* four GPUs, four slots: the GPUs decide */
    assert_int_equal(apply(&x), 2);
    assert_int_equal(fixture_count(&f, "SELECT sum(gpus) FROM attempt WHERE live"), 4);
    assert_int_equal(take(&f, &m, 8, g), 2);
    assert_int_equal(run_through(&f, &m, g, 1), 2);
    make(&x, 1);
    fixture_exec(&f, "UPDATE node SET gpus = 3");
    assert_int_equal(apply(&x), 0);
    fixture_exec(&f, "UPDATE node SET gpus = 4");
    fixture_exec(&f, "UPDATE quota SET hard_limit = 3 WHERE resource = 'gpus'");
    make(&x, 0);                                            /* the tenant may use one more, the job wants two */
    apply(&x);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 8 WHERE resource = 'gpus'");
    assert_int_equal(run_through(&f, &m, g + 1, 1), 2);
    cancel_all(ids, 3);
}

/* The limit that counts is the one under the planners' lock, not the one that the plan saw. */
static void a_limit_that_was_lowered_under_the_plan_holds(void **state)
{
    (void)state;
    struct uuid ids[4];
    struct planned x;
    submit(&f, f.tenant_a, 4, 1, 3, ids);
    make(&x, 4);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 3 WHERE resource = 'slots'");
    assert_int_equal(apply(&x), 3);
    make(&x, 0);
    apply(&x);
    submit(&f, f.tenant_b, 1, 1, 3, NULL);
    make(&x, 1);                                            /* another tenant's limit is its own */
    assert_int_equal(apply(&x), 1);
    fixture_exec(&f, "UPDATE node SET slots = 8");
    fixture_exec(&f, "UPDATE quota SET hard_limit = 100000 WHERE resource = 'slots'");
    make(&x, 1);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 2 WHERE resource = 'slots'");
    assert_int_equal(apply(&x), 0);                         /* three are in use: none more, and no harm */
    fixture_exec(&f, "UPDATE quota SET hard_limit = 100000 WHERE resource = 'slots'");
    fixture_exec(&f, "UPDATE node SET slots = 4");
    cancel_all(ids, 4);
}

/* Three shares of 400 and a whole GPU on two devices that keep shares apart; memory that is gone since the plan is not given. */
static void devices_and_memory_are_booked_by_their_amounts(void **state)
{
    (void)state;
    struct uuid ids[4];
    struct lease_grant g[8];
    struct planned x;
    fixture_exec(&f, "UPDATE node SET gpus = 2, gpu_shared = true, memory_bytes = 16::bigint << 30, cpu_milli = 8000");
    submit(&f, f.tenant_a, 4, 1, 3, ids);
    fixture_exec(&f, "UPDATE job SET gpus = 1, gpu_milli = 400, memory_bytes = 4::bigint << 30, cpu_milli = 250 WHERE queued");
    make(&x, 4);
    fixture_exec(&f, "UPDATE node SET memory_bytes = 15::bigint << 30");
    assert_int_equal(apply(&x), 3);
    assert_int_equal(fixture_count(&f, "SELECT sum(gpu_milli) FROM attempt WHERE live AND devices = 1"), 800);
    assert_int_equal(fixture_count(&f, "SELECT sum(gpu_milli) FROM attempt WHERE live AND devices = 2"), 400);
    assert_int_equal(fixture_count(&f, "SELECT sum(memory_bytes) / 1073741824 FROM attempt WHERE live"), 12);
    assert_int_equal(fixture_count(&f, "SELECT sum(cpu_milli) FROM attempt WHERE live"), 750);
    make(&x, 0);                                            /* 3 GiB are left, it wants four */
    apply(&x);
    fixture_exec(&f, "UPDATE node SET memory_bytes = 16::bigint << 30");
    fixture_exec(&f, "UPDATE job SET gpu_milli = 1000 WHERE queued");
    make(&x, 0);                                            /* no device is whole */
    apply(&x);
    assert_int_equal(take(&f, &m, 8, g), 3);
    assert_int_equal(run_through(&f, &m, g, 3), 6);
    cancel_all(ids, 4);
    fixture_exec(&f, "UPDATE node SET gpus = 4, gpu_shared = false, memory_bytes = 1, cpu_milli = 0");
}

/* A job of a class with a higher value goes before one of a higher priority, and jobs of no class keep their order. */
static void a_higher_class_goes_first(void **state)
{
    (void)state;
    struct uuid ids[2];
    struct lease_grant g[8];
    struct planned x;
    fixture_exec(&f, "INSERT INTO priority_class (class, value) VALUES ('urgent', 10)");
    submit(&f, f.tenant_a, 2, 3, 3, ids);
    char text[UUID_TEXT];
    uuid_text(ids[0], text);
    fixture_exec(&f, "UPDATE job SET priority = 100 WHERE job_id = '%s'", text);
    uuid_text(ids[1], text);
    fixture_exec(&f, "UPDATE job SET class = 'urgent' WHERE job_id = '%s'", text);
    make(&x, 1);                                            /* four slots, each wants three */
    assert_int_equal(apply(&x), 1);
    assert_string_equal(state_of(&f, ids[1]), "ADMITTED");
    assert_int_equal(take(&f, &m, 8, g), 1);
    assert_int_equal(run_through(&f, &m, g, 1), 2);
    cancel_all(ids, 2);
    fixture_exec(&f, "DELETE FROM priority_class WHERE class = 'urgent'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_machine_that_is_no_longer_ready_gets_nothing, fresh, done),
        cmocka_unit_test_setup_teardown(slots_that_are_gone_are_not_given, fresh, done),
        cmocka_unit_test_setup_teardown(slots_that_another_plan_took_are_not_given_twice, fresh, done),
        cmocka_unit_test_setup_teardown(a_quick_plan_holds_the_planners_lock_from_its_first_read, fresh, done),
        cmocka_unit_test_setup_teardown(gpus_are_booked_with_the_machine_and_the_tenant, fresh, done),
        cmocka_unit_test_setup_teardown(devices_and_memory_are_booked_by_their_amounts, fresh, done),
        cmocka_unit_test_setup_teardown(a_higher_class_goes_first, fresh, done),
        cmocka_unit_test_setup_teardown(a_limit_that_was_lowered_under_the_plan_holds, fresh, done),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
