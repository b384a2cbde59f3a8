/* SPDX-License-Identifier: Apache-2.0 */
/* test_preempt_gang.c - room on several machines at once, and an attempt on several machines that makes room: all or nobody, the
 * cheapest machines, each victim once and for a reason. */
#include "tests/unit/scheduler/plan/backfill_world.h"
#include "scheduler/plan/claims.h"
#include "scheduler/plan/preempt.h"

static struct w_world w;
static struct claims claims;
static struct arena *arena;
static struct holders h;
static struct preemption made;
static bool leaves[W_RUNS];
static struct uuid for_whom;

static int fresh(void **state)
{
    (void)state;
    arena_reset(arena);
    w = (struct w_world){ .seed = 1, .now_us = W_SECOND, .limit = { 1000, 1000, 1000 } };
    claims = (struct claims){ 0 };
    memset(leaves, 0, sizeof leaves);
    return 0;
}

static struct snap_job *add(int64_t nodes, int64_t slots, int64_t value)
{
    struct snap_job *j = w_job(&w, 0, nodes, slots, 1000);
    j->class_value = value;
    j->queue = STR("default");
    return j;
}

/* Who runs has done less the later it began. */
static void holders_of(void)
{
    h = (struct holders){ ARENA_ARRAY(arena, struct snap_holder, W_RUNS * BOOKING_SEATS_MAX), 0 };
    for (size_t r = 0; r < w.nruns; r++)
        for (size_t k = 0; k < w.runs[r].n; k++) {
            const struct w_run *x = &w.runs[r];
            const struct ask a = snap_job_ask(&x->j);
            const bool is_gang = x->n > 1;
            struct snap_holder *o = &h.items[h.n++];
            *o = (struct snap_holder){ .tenant_id = x->j.tenant_id, .job_id = x->j.job_id, .attempt_id = x->j.job_id,
                .slots = a.slots, .cpu_milli = a.cpu_milli, .memory_bytes = a.memory_bytes, .gpu_milli = 1000,
                .class_value = x->j.class_value, .grace_s = 20, .ran_ms = 100000, .lost_ms = 1000 * (int64_t)(W_RUNS - r),
                .is_leaving = leaves[r], .leaves_for = for_whom, .queue = x->j.queue, .rank = (int64_t)k,
                .all_slots = is_gang ? (int64_t)x->n * a.slots : 0 };
            o->node_id.b[0] = (uint8_t)(x->nodes[k] + 1);
        }
}

static void plan(void)
{
    w_plan(&w, false, arena);           /* starts what fits */
    holders_of();
    preempt_plan(&w.s, &w.p, h, &claims, w.now_us, arena, &made);
    for (size_t i = 0; i < made.evictions.n; i++)
        for (size_t r = 0; r < w.nruns; r++)
            if (uuid_eq(w.runs[r].j.job_id, h.items[made.evictions.items[i].holder].job_id)) {
                leaves[r] = true;
                for_whom = w.s.jobs.items[made.evictions.items[i].job].job_id;
            }
}

static size_t leaving(void)
{
    size_t n = 0;
    for (size_t i = 0; i < h.n; i++)
        n += h.items[i].is_leaving;
    return n;
}

static void as_many_go_as_it_has_machines_and_the_cheapest(void **state)
{
    (void)state;
    for (int i = 0; i < W_NODES; i++)
        add(1, 4, -5);
    plan();
    const struct snap_job gang = *add(3, 4, 5);
    plan();
    assert_int_equal(made.evictions.n, 3);
    for (size_t i = 0; i < 3; i++)      /* those that began last */
        assert_true(h.items[made.evictions.items[i].holder].lost_ms <= 1000 * (W_RUNS - 3));
    assert_int_equal(made.waits.n, 1);
    const struct start_booking *b = bookings_find(&w.bookings, gang.tenant_id, gang.job_id);
    assert_non_null(b);
    assert_true(b->n == 3 && b->start_us == w.now_us + 20 * W_SECOND && !b->is_exact);
    for (size_t i = 0; i < h.n; i++)
        assert_int_equal(h.items[i].is_leaving, bookings_at(&w.bookings, h.items[i].node_id) != NULL);
    plan();                             /* they are going: nobody else has to */
    assert_int_equal(made.evictions.n, 0);
    assert_int_equal(made.waits.n, 1);
}

static void machines_that_are_free_cost_nobody(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        add(1, 4, -5);
    plan();
    add(3, 4, 5);
    plan();
    assert_int_equal(made.evictions.n, 1);
}

/* A machine that is free and kept for another tenant's job on several is none that a job of a high class comes to. */
static void what_is_kept_for_another_is_no_room(void **state)
{
    (void)state;
    for (int i = 0; i < W_NODES - 1; i++)
        add(1, 4, -5)->max_runtime_s = 1000 * (i + 1);
    plan();
    assert_int_equal(w.nruns, W_NODES - 1);
    w_job(&w, 1, 2, 4, 1000)->queue = STR("default");
    w_plan(&w, true, arena);
    assert_int_equal(w.bookings.n, 1);
    add(1, 4, 5);
    plan();
    assert_int_equal(w.nruns, W_NODES - 1);
    assert_int_equal(made.evictions.n, 1);
    assert_int_equal(made.waits.n, 1);
}

static void nobody_goes_where_not_all_can(void **state)
{
    (void)state;
    for (int i = 0; i < W_NODES; i++)
        add(1, 4, i ? -5 : 5);
    plan();
    add(W_NODES, 4, 5);                 /* one of them is of its own class */
    plan();
    assert_int_equal(made.evictions.n, 0);
    assert_int_equal(w.bookings.n, 0);
}

static void an_attempt_on_several_machines_goes_whole_and_once(void **state)
{
    (void)state;
    add(3, 4, -5);
    for (int i = 0; i < 3; i++)
        add(1, 4, 5);
    plan();
    assert_int_equal(w.nruns, 4);
    add(1, 2, 5);
    plan();
    assert_int_equal(made.evictions.n, 1);
    assert_int_equal(leaving(), 3);
    assert_int_equal(h.items[made.evictions.items[0].holder].rank, 0);
    add(2, 4, 6);                       /* what it leaves on its other two machines */
    plan();
    assert_int_equal(made.evictions.n, 0);
}

static void one_victim_on_both_machines_is_told_once(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        add(1, 4, 9);
    plan();
    add(2, 4, -5);
    plan();
    assert_int_equal(w.nruns, 5);
    add(2, 4, 5);
    plan();
    assert_int_equal(made.evictions.n, 1);
    assert_int_equal(leaving(), 2);
}

static void what_its_tenant_may_hold_counts_all_machines(void **state)
{
    (void)state;
    w.limit[0] = W_NODES * 4;
    for (int i = 0; i < W_NODES; i++)
        add(1, 4, -5);
    plan();
    w.limit[0] = W_NODES * 4 - 1;       /* somebody lowered it */
    add(2, 4, 5);
    plan();
    assert_int_equal(made.evictions.n, 0);
    w.limit[0] = W_NODES * 4;
    plan();
    assert_int_equal(made.evictions.n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(as_many_go_as_it_has_machines_and_the_cheapest, fresh),
        cmocka_unit_test_setup(machines_that_are_free_cost_nobody, fresh),
        cmocka_unit_test_setup(what_is_kept_for_another_is_no_room, fresh),
        cmocka_unit_test_setup(nobody_goes_where_not_all_can, fresh),
        cmocka_unit_test_setup(an_attempt_on_several_machines_goes_whole_and_once, fresh),
        cmocka_unit_test_setup(one_victim_on_both_machines_is_told_once, fresh),
        cmocka_unit_test_setup(what_its_tenant_may_hold_counts_all_machines, fresh),
    };
    arena = arena_new((size_t)64 << 20);
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(arena);
    return rc;
}
