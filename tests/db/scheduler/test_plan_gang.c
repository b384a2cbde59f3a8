/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_gang.c - jobs on several machines become attempts with a member on each, all or none, whatever changed since they
 * were planned; what members hold counts for their machines and for their tenant, and all of it goes with the attempt. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan_apply.h"

static struct machine m[3];

struct planned {
    struct work w;
    struct snapshot s;
    struct plan p;
};

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static int fresh(void **state)
{
    (void)state;
    static const char *const names[] = { "w1", "w2", "w3" };
    for (int i = 0; i < 3; i++)
        machine_up(&f, &m[i], "ae-dxb-1", names[i], 4, 0);
    fixture_exec(&f, "UPDATE node SET gangs = true");
    return 0;
}

static int done(void **state)
{
    (void)state;
    fixture_check(&f);
    fixture_exec(&f, "UPDATE node SET state = 'QUARANTINED'");
    reap(&f);
    fixture_check(&f);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE live"), 0);
    fixture_exec(&f, "UPDATE node SET state = 'READY'");
    fixture_forget_jobs(&f);
    return 0;
}

static struct uuid submit_gang(int nodes, int slots)
{
    struct uuid id;
    char text[UUID_TEXT];
    submit(&f, f.tenant_a, 1, slots, 3, &id);
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET nodes = %d WHERE job_id = '%s'", nodes, text);
    return id;
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

static int64_t apply(struct planned *x, struct slice *ret_nodes)
{
    struct plan_result r;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_ENDS, x->w.arena, &x->w.tx, e));
    OK(plan_apply(&x->w, &x->s, &x->p, 60000, &r, e));
    OK(db_commit(x->w.tx, e));
    if (ret_nodes)
        ret_nodes->n = r.nodes.n;
    arena_free(x->w.arena);
    return r.admitted;
}

static void a_gang_has_a_member_on_each_machine(void **state)
{
    (void)state;
    struct planned x;
    struct slice told;
    struct uuid id = submit_gang(3, 2);
    make(&x, 1);
    assert_int_equal(apply(&x, &told), 1);
    assert_int_equal(told.n, 3);
    assert_string_equal(state_of(&f, id), "ADMITTED");
    assert_int_equal(fixture_count(&f, "SELECT nodes FROM attempt WHERE live"), 3);
    assert_int_equal(fixture_count(&f, "SELECT slots FROM attempt WHERE live"), 6);
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT node_id) FROM attempt_member WHERE live AND slots = 2"), 3);
    assert_int_equal(fixture_count(&f, "SELECT slots FROM usage_open"), 6);
    assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM machine_hold"), 6);
    assert_int_equal(fixture_count(&f, "SELECT max(slots) FROM machine_hold"), 2);
}

/* A job of one machine beside it has no rows of members. */
static void what_members_hold_is_not_given_again(void **state)
{
    (void)state;
    struct planned x;
    submit_gang(3, 3);
    make(&x, 1);
    assert_int_equal(apply(&x, NULL), 1);
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
    make(&x, 0);                        /* each machine has one slot left */
    apply(&x, NULL);
    submit(&f, f.tenant_a, 3, 1, 3, NULL);
    make(&x, 3);
    assert_int_equal(apply(&x, NULL), 3);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member"), 3);
    assert_int_equal(fixture_count(&f, "SELECT min(n) FROM (SELECT sum(slots)::bigint AS n FROM machine_hold"
                                        " GROUP BY node_id) x"), 4);
}

static void a_gang_whose_machine_filled_up_is_left_out_whole(void **state)
{
    (void)state;
    struct planned x, late;
    struct uuid id = submit_gang(3, 3);
    make(&late, 1);
    fixture_exec(&f, "UPDATE job SET not_before = clock_timestamp() + interval '1 hour' WHERE queued");
    submit(&f, f.tenant_a, 1, 2, 3, NULL);
    make(&x, 1);
    assert_int_equal(apply(&x, NULL), 1);
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE queued");
    assert_int_equal(apply(&late, NULL), 0);
    assert_string_equal(state_of(&f, id), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member"), 0);
    assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM machine_hold"), 2);
}

/* The others of the plan keep their places, and get the room that the gang does not take. */
static void those_behind_a_gang_that_is_left_out_are_admitted(void **state)
{
    (void)state;
    struct planned x;
    struct uuid id = submit_gang(3, 2);
    submit(&f, f.tenant_a, 3, 2, 3, NULL);
    fixture_exec(&f, "UPDATE job SET priority = 5 WHERE nodes = 3");
    make(&x, 4);
    fixture_exec(&f, "UPDATE node SET slots = 1 WHERE name = 'w3'");
    assert_int_equal(apply(&x, NULL), 2);
    assert_string_equal(state_of(&f, id), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM machine_hold"), 4);
    fixture_exec(&f, "UPDATE node SET slots = 4");
}

static void a_limit_that_was_lowered_under_the_plan_counts_all_members(void **state)
{
    (void)state;
    struct planned x;
    submit_gang(3, 2);
    make(&x, 1);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 5 WHERE resource = 'slots'");
    assert_int_equal(apply(&x, NULL), 0);
    make(&x, 0);
    apply(&x, NULL);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 6 WHERE resource = 'slots'");
    make(&x, 1);
    assert_int_equal(apply(&x, NULL), 1);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 100000 WHERE resource = 'slots'");
}

/* Whoever ends the attempt ends its members: here the reaper, for its lease ran out. */
static void members_end_with_their_attempt(void **state)
{
    (void)state;
    struct planned x;
    struct uuid id = submit_gang(2, 1);
    make(&x, 1);
    assert_int_equal(apply(&x, NULL), 1);
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() - interval '1 second'");
    reap(&f);
    assert_string_equal(state_of(&f, id), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE NOT live AND state = 'LEASE_EXPIRED'"), 2);
    assert_int_equal(fixture_count(&f, "SELECT slots FROM usage_record"), 2);
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE queued");
    make(&x, 1);
    assert_int_equal(apply(&x, NULL), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE live"), 2);
}

/* Of two to four it gets two where three machines are, and the numbers of the attempt are those of its machines. One of one or
 * two is a gang where there is room for both. */
static void an_elastic_gang_takes_what_is_free(void **state)
{
    (void)state;
    struct planned x;
    struct uuid id = submit_gang(2, 2);
    fixture_exec(&f, "UPDATE job SET nodes_max = 4 WHERE queued");
    make(&x, 1);
    assert_int_equal(apply(&x, NULL), 1);
    assert_string_equal(state_of(&f, id), "ADMITTED");
    assert_int_equal(fixture_count(&f, "SELECT nodes * 100 + slots FROM attempt WHERE live"), 204);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE live"), 2);
    assert_int_equal(fixture_count(&f, "SELECT slots FROM usage_open"), 4);
    submit_gang(1, 1);
    fixture_exec(&f, "UPDATE job SET nodes_max = 2 WHERE queued");
    make(&x, 1);
    assert_int_equal(apply(&x, NULL), 1);
    assert_int_equal(fixture_count(&f, "SELECT sum(nodes) FROM attempt WHERE live"), 4);
}

/* A gang waits as a shape of its own: it does not stand in the way of jobs that want one machine of the same size. */
static void a_gang_is_another_shape(void **state)
{
    (void)state;
    submit(&f, f.tenant_a, 1, 1, 3, NULL);
    submit_gang(2, 1);
    submit_gang(3, 1);
    submit_gang(2, 1);
    fixture_exec(&f, "UPDATE job SET nodes_max = 4 WHERE nodes = 2 AND job_id = (SELECT max(job_id::text)::uuid FROM job)");
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT shape) FROM job"), 4);
    /* nor does one that wants three machines stand for one that takes up to three */
    fixture_exec(&f, "UPDATE job SET nodes_max = 3 WHERE nodes = 1");
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT shape) FROM job"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_gang_has_a_member_on_each_machine, fresh, done),
        cmocka_unit_test_setup_teardown(what_members_hold_is_not_given_again, fresh, done),
        cmocka_unit_test_setup_teardown(a_gang_whose_machine_filled_up_is_left_out_whole, fresh, done),
        cmocka_unit_test_setup_teardown(those_behind_a_gang_that_is_left_out_are_admitted, fresh, done),
        cmocka_unit_test_setup_teardown(a_limit_that_was_lowered_under_the_plan_counts_all_members, fresh, done),
        cmocka_unit_test_setup_teardown(members_end_with_their_attempt, fresh, done),
        cmocka_unit_test_setup_teardown(an_elastic_gang_takes_what_is_free, fresh, done),
        cmocka_unit_test_setup_teardown(a_gang_is_another_shape, fresh, done),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
