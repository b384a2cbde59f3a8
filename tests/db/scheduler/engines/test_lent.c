/* SPDX-License-Identifier: Apache-2.0 */
/* test_lent.c - a machine that an engine lends gets one lease in its time, by whatever door: each step is a plan or a transaction
 * of its own, and the engine's turn never comes between them. */
#include "engine_kit.h"
#include "scheduler/engine/node_state.h"
#include "scheduler/engines/lent.h"
#include "scheduler/loop_int.h"
#include "scheduler/mirror/board.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/turnover.h"
#include "scheduler/plan_apply.h"

FIXTURE_GROUP(f.scheduler.machines = machines_new(), machines_free((struct machines *)f.scheduler.machines))

enum { SLOTS = 4 };
static struct machine m[3];             /* two of the engine's, and one of the same pool that stays */
static struct uuid ids[8];

#define LIVE "SELECT count(*) FROM attempt WHERE live"
#define DRAINED "SELECT count(*) FROM node WHERE state = 'DRAINING' AND is_drained AND reason = 'lent for one lease'"

/* As a run made them: `up` of them ready, without a lease. */
static void fresh(int up)
{
    static const char *const names[3] = { "lent-1", "lent-2", "lent-gpu-1" };
    fixture_exec(&f, "DELETE FROM engine");
    kit_engine(&f, "lent", 4);
    for (int i = 0; i < up; i++) {
        machine_up(&f, &m[i], "ae-dxb-1", names[i], SLOTS, 0);
        fixture_exec(&f, "UPDATE node SET pool = 'lent', gangs = true, is_drained = false, is_spent = false,"
                         " state = 'READY', reason = ''"
                         " WHERE name = '%s'", names[i]);
    }
}

static void done(void)
{
    struct lease_grant g[8];
    for (int i = 0; i < 3; i++)
        for (size_t n; m[i].identity.len && (n = take(&f, &m[i], 8, g)) > 0;)
            assert_int_equal(run_through(&f, &m[i], g, n), 2 * n);
    fixture_check(&f);
    fixture_forget_jobs(&f);
    fixture_exec(&f, "UPDATE node SET state = 'LOST'");
}

/* One slot each. */
static void jobs(size_t n)
{
    kit_jobs(&f, f.tenant_a, n, "lent", ids);
    fixture_exec(&f, "UPDATE job SET slots = 1 WHERE queued");
}

static int64_t plan_now(bool is_full)
{
    struct arena *a = arena_new(64 << 20);
    struct plan_outcome o;
    OK(loop_plan(&f.scheduler, a, is_full, &o, e));
    arena_free(a);
    return o.admitted;
}

static void a_plan_gives_one_lease_and_no_other_follows(void **state)
{
    (void)state;
    struct lease_grant g[8];
    for (int is_full = 0; is_full < 2; is_full++) {
        fresh(1);
        jobs(3);
        assert_int_equal(plan_now(is_full), 1);             /* of three that fit */
        assert_int_equal(fixture_count(&f, DRAINED), 1);
        assert_int_equal(plan_now(is_full), 0);
        assert_int_equal(take(&f, &m[0], 8, g), 1);
        assert_int_equal(run_through(&f, &m[0], g, 1), 2);
        assert_int_equal(plan_now(is_full), 0);             /* its worker is on its way out */
        fixture_exec(&f, "UPDATE node SET state = 'LOST'");
        machine_up(&f, &m[0], "ae-dxb-1", "lent-1", SLOTS, 0);
        assert_int_equal(fixture_count(&f, DRAINED), 1);    /* heard again, it is what it was */
        done();
    }
}

/* Before each plan: what a tenant is told of the same machines, by their places in the engine or not. */
static void what_is_told_of_starts_knows_it(void **state)
{
    (void)state;
    struct ahead x;
    size_t now = 0, once = 0, lent = 0;
    fresh(3);
    jobs(8);
    struct work w = fixture_reader(&f, f.tenant_a);
    struct board b;
    w.now_us = clock_wall_us(&clock_system);
    OK(board_read(&w, w.now_us + 3600 * (int64_t)1000000, &b, e));
    assert_int_equal(b.in.base.nodes.n, 3);
    for (size_t i = 0; i < 3; i++)
        once += b.in.base.nodes.items[i].once;
    assert_int_equal(once, 2);
    ahead_run(&b.in, w.arena, &x);
    for (size_t i = 0; i < x.starts.n; i++) {
        now += x.starts.items[i].at_us == w.now_us;
        lent += b.in.base.nodes.items[x.starts.items[i].machine].once;
    }
    fixture_reader_done(&w);
    assert_int_equal(now, 6);
    assert_int_equal(lent, 2);
    assert_int_equal(plan_now(true), 6);
    done();
}

struct planned { struct work w; struct snapshot s; struct plan p; };

static void make(struct planned *x, size_t places)
{
    *x = (struct planned){ .w = { .app = &f.scheduler, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) } };
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, TX_READ_ONLY, x->w.arena, &x->w.tx, e));
    OK(snapshot_read(&x->w, 64, true, &x->s, e));
    OK(db_commit(x->w.tx, e));
    placement_plan(&x->s, x->w.arena, &x->p);
    assert_int_equal(x->p.places.n, places);
}

static int64_t apply(struct planned *x)
{
    struct plan_result r;
    OK(db_begin(f.scheduler.pool, SCOPE_SYSTEM, 0, x->w.arena, &x->w.tx, e));
    OK(plan_apply(&x->w, &x->s, &x->p, 60000, &r, e));
    OK(db_commit(x->w.tx, e));
    arena_free(x->w.arena);
    return r.admitted;
}

/* Both were read while the machine was free; a person made it ready before the second one came. */
static void what_was_planned_before_is_looked_at_again(void **state)
{
    (void)state;
    struct planned first, second;
    fresh(1);
    jobs(2);
    make(&first, 1);
    fixture_exec(&f, "UPDATE job SET priority = 5 WHERE NOT EXISTS (SELECT FROM job o WHERE o.job_id > job.job_id)");
    make(&second, 1);
    assert_int_equal(apply(&first), 1);
    fixture_exec(&f, "UPDATE node SET state = 'READY' WHERE name = 'lent-1'");
    assert_int_equal(apply(&second), 0);
    assert_int_equal(fixture_count(&f, LIVE), 1);
    assert_int_equal(plan_now(true) + plan_now(false), 0);  /* nor does a new plan see room there */
    done();
}

static void machines_of_a_gang_and_of_two_jobs_take_no_more(void **state)
{
    (void)state;
    fresh(2);
    jobs(1);
    fixture_exec(&f, "UPDATE job SET nodes = 2 WHERE queued");
    assert_int_equal(plan_now(true), 1);
    assert_int_equal(fixture_count(&f, DRAINED), 2);
    jobs(2);
    assert_int_equal(plan_now(true), 0);
    done();
    fresh(2);
    jobs(4);
    assert_int_equal(plan_now(false), 2);
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT node_id) FROM attempt WHERE live"), 2);
    done();
}

static void one_of_the_pool_that_stays_takes_what_it_has_room_for(void **state)
{
    (void)state;
    fresh(3);
    fixture_exec(&f, "UPDATE node SET state = 'LOST' WHERE name <> 'lent-gpu-1'");
    jobs(6);
    assert_int_equal(plan_now(true), SLOTS);
    assert_int_equal(fixture_count(&f, DRAINED), 0);
    done();
}

/* An engine that comes or goes is seen by a mirror that knew the machine before. */
static void the_mirror_follows_the_engine(void **state)
{
    (void)state;
    fresh(1);
    fixture_exec(&f, "DELETE FROM engine");
    assert_int_equal(plan_now(true), 0);
    kit_engine(&f, "lent", 4);
    jobs(3);
    assert_int_equal(plan_now(false), 1);
    done();
    fresh(1);
    assert_int_equal(plan_now(true), 0);
    fixture_exec(&f, "DELETE FROM engine");
    jobs(6);
    assert_int_equal(plan_now(false), SLOTS);
    done();
}

static enum errc move(enum node_act act, const char *reason)
{
    struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .tenant_id = UUID_NIL };
    struct node n;
    struct node_moved moved;
    struct err why = { 0 };
    OK(db_begin(f.api.pool, SCOPE_TENANT(UUID_NIL), 0, w.arena, &w.tx, e));
    OK(node_get(&w, m[0].node.node_id, &n, e));
    const enum errc rc = node_move(&w, &n, act, str_c(reason), &moved, &why);
    OK(db_commit(w.tx, e));
    assert_true(rc == ERR_OK || strstr(why.msg, "lent for one lease"));
    arena_free(w.arena);
    return rc;
}

static void nobody_makes_it_ready_again(void **state)
{
    (void)state;
    fresh(1);
    assert_int_equal(move(NODE_DRAIN, "by hand"), ERR_OK);
    assert_int_equal(move(NODE_UNDRAIN, ""), ERR_OK);       /* it has had none */
    jobs(1);
    assert_int_equal(plan_now(true), 1);
    assert_int_equal(move(NODE_UNDRAIN, ""), ERR_CONFLICT);
    assert_int_equal(move(NODE_DRAIN, "by hand"), ERR_OK);
    assert_int_equal(move(NODE_UNDRAIN, ""), ERR_CONFLICT);
    assert_int_equal(fixture_count(&f, DRAINED), 1);
    done();
}

/* The mark is a column; a scheduler of the release before has the words alone, and a trigger marks what that one says. */
static void words_of_people_are_no_mark(void **state)
{
    (void)state;
    fresh(1);
    assert_int_equal(move(NODE_DRAIN, LENT_WORDS), ERR_OK);
    assert_int_equal(move(NODE_UNDRAIN, ""), ERR_OK);
    fixture_exec(&f, "SET SESSION AUTHORIZATION falaj_scheduler; UPDATE node SET state = 'DRAINING', is_drained = true,"
                     " reason = '" LENT_WORDS "' WHERE name = 'lent-1'; RESET SESSION AUTHORIZATION");
    assert_int_equal(fixture_count(&f, DRAINED " AND is_spent"), 1);
    assert_int_equal(move(NODE_UNDRAIN, ""), ERR_CONFLICT);
    fixture_exec(&f, "SET SESSION AUTHORIZATION falaj_scheduler; UPDATE node SET state = 'LOST', is_drained = false, reason = ''"
                     " WHERE name = 'lent-1'; RESET SESSION AUTHORIZATION");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node WHERE is_spent"), 0);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_gives_one_lease_and_no_other_follows),
        cmocka_unit_test(what_is_told_of_starts_knows_it),
        cmocka_unit_test(what_was_planned_before_is_looked_at_again),
        cmocka_unit_test(machines_of_a_gang_and_of_two_jobs_take_no_more),
        cmocka_unit_test(one_of_the_pool_that_stays_takes_what_it_has_room_for),
        cmocka_unit_test(the_mirror_follows_the_engine),
        cmocka_unit_test(nobody_makes_it_ready_again), cmocka_unit_test(words_of_people_are_no_mark),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
