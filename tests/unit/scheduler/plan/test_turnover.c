/* SPDX-License-Identifier: Apache-2.0 */
/* test_turnover.c - whom leases are given in advance, and how many: by how fast those before ended, and never where a job
 * would start sooner elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/claims.h"
#include "scheduler/plan/turnover.h"

enum { MS = 1000, SLOTS = 8 };

struct world {
    struct snap_node nodes[3];
    struct snapshot s;
    struct turnover *t;
    int64_t now_us;
};

static void world_open(struct world *x, size_t n)
{
    *x = (struct world){ .s = { .nodes = { x->nodes, n } }, .t = turnover_new(), .now_us = 1000000000 };
    for (size_t i = 0; i < n; i++)
        x->nodes[i] = (struct snap_node){ .node_id = { { (uint8_t)(i + 1) } }, .zone = STR("z"), .pool = STR("p"),
                                           .slots = SLOTS };
}

/* After `ms`, the machine holds so many slots. */
static void see(struct world *x, int64_t ms, size_t node, int64_t held)
{
    for (size_t i = 0; i < x->s.nodes.n; i++) {
        x->nodes[i].free_slots -= x->nodes[i].lent;
        x->nodes[i].lent = 0;
    }
    x->now_us += ms * MS;
    x->nodes[node].free_slots = SLOTS - held;
    turnover_see(x->t, &x->s, x->now_us);
}

/* Leases that stay for `ms` each, for `rounds` rounds of so long: the machine is filled anew in each. */
static void run(struct world *x, int rounds, int64_t ms)
{
    see(x, 0, 0, 0);
    for (int i = 0; i < rounds; i++) {
        turnover_place(x->t, 0, SLOTS);
        see(x, ms, 0, 0);
    }
    turnover_place(x->t, 0, SLOTS);
    see(x, 0, 0, SLOTS);
}

static int64_t lent(struct world *x, size_t node)
{
    turnover_lend(x->t, &x->s);
    return x->nodes[node].lent;
}

static void quick_machines_are_lent_slots(void **state)
{
    (void)state;
    struct world x;
    world_open(&x, 1);
    run(&x, 100, 20);
    assert_int_equal(lent(&x, 0), LEND_TIMES * SLOTS);                  /* 400 end in a second, 100 in LEND_US */
    assert_int_equal(x.nodes[0].free_slots, LEND_TIMES * SLOTS);
    snapshot_fill(&x.s);
    assert_int_equal(x.nodes[0].free_cpu_milli, LEND_TIMES * SLOTS * SLOT_CPU_MILLI);
    turnover_unlend(&x.s);
    assert_true(x.nodes[0].lent == 0 && x.nodes[0].free_slots == 0);
    turnover_free(x.t);
    world_open(&x, 1);
    run(&x, 40, 100);
    assert_in_range(lent(&x, 0), 12, 20);                               /* about 80 in a second */
    turnover_free(x.t);
}

/* What is held counts what was lent: processors and memory beyond what is left of the machine itself. */
static void lent_slots_stand_for_as_much_as_others(void **state)
{
    (void)state;
    struct world x;
    world_open(&x, 1);
    run(&x, 100, 20);
    x.nodes[0].cpu_milli = 2000;                                        /* less than its slots stand for */
    x.nodes[0].memory_bytes = 1;
    x.nodes[0].used_cpu_milli = SLOTS * SLOT_CPU_MILLI;
    x.nodes[0].used_memory_bytes = SLOTS * SLOT_MEMORY_BYTES;
    assert_int_equal(lent(&x, 0), LEND_TIMES * SLOTS);
    snapshot_fill(&x.s);
    assert_int_equal(x.nodes[0].free_cpu_milli, LEND_TIMES * SLOTS * SLOT_CPU_MILLI);
    assert_int_equal(x.nodes[0].free_memory_bytes, LEND_TIMES * SLOTS * SLOT_MEMORY_BYTES);
    turnover_free(x.t);
}

static void slow_and_unknown_ones_are_not(void **state)
{
    (void)state;
    struct world x;
    world_open(&x, 1);
    run(&x, 0, 0);
    assert_int_equal(lent(&x, 0), 0);
    turnover_free(x.t);
    world_open(&x, 1);
    run(&x, 10, 600);
    assert_int_equal(lent(&x, 0), 0);
    turnover_free(x.t);
    world_open(&x, 1);
    run(&x, 100, 20);
    see(&x, 1000, 0, SLOTS);                                            /* and now nothing ends any more */
    assert_int_equal(lent(&x, 0), 0);
    turnover_free(x.t);
}

/* What waited in vain and went back all at once has stayed long, so it is no quick end. */
static void what_comes_back_lends_nothing(void **state)
{
    (void)state;
    struct world x;
    world_open(&x, 1);
    run(&x, 0, 0);
    turnover_place(x.t, 0, LEND_TIMES * SLOTS);
    for (int i = 0; i < 20; i++)
        see(&x, 100, 0, SLOTS + LEND_TIMES * SLOTS);
    see(&x, 0, 0, SLOTS);
    assert_int_equal(lent(&x, 0), 0);
    turnover_free(x.t);
}

static void a_free_slot_elsewhere_goes_first(void **state)
{
    (void)state;
    struct world x;
    world_open(&x, 3);
    run(&x, 100, 20);
    assert_int_equal(lent(&x, 0), LEND_TIMES * SLOTS);
    assert_int_equal(x.nodes[1].lent, 0);
    turnover_unlend(&x.s);
    x.nodes[2].free_slots = 1;
    assert_int_equal(lent(&x, 0), 0);
    x.nodes[2].pool = STR("another");
    assert_int_equal(lent(&x, 0), LEND_TIMES * SLOTS);
    turnover_unlend(&x.s);
    x.nodes[0].free_slots = 3;                                          /* its own do not count */
    assert_int_equal(lent(&x, 0), LEND_TIMES * SLOTS);
    turnover_free(x.t);
}

static void room_that_is_made_and_large_jobs_forbid_it(void **state)
{
    (void)state;
    static struct claims c;
    struct world x;
    world_open(&x, 1);
    run(&x, 100, 20);
    x.nodes[0].outsized = true;
    assert_int_equal(lent(&x, 0), 0);
    x.nodes[0].outsized = false;
    x.s.claims = &c;
    assert_int_equal(lent(&x, 0), LEND_TIMES * SLOTS);
    turnover_unlend(&x.s);
    assert_true(claims_put(&c, &(struct claim){ .job_id = { { 9 } } }));
    assert_int_equal(lent(&x, 0), 0);
    turnover_free(x.t);
}

/* Machines come and go between two snapshots: each keeps what is known of it. */
static void lines_follow_their_machines(void **state)
{
    (void)state;
    struct world x;
    world_open(&x, 3);
    x.s.nodes.n = 1;
    x.nodes[0].node_id = (struct uuid){ { 2 } };
    run(&x, 100, 20);
    x.nodes[2].node_id = (struct uuid){ { 3 } };
    x.nodes[1] = x.nodes[0];
    x.nodes[0] = (struct snap_node){ .node_id = { { 1 } }, .zone = STR("z"), .pool = STR("p"), .slots = SLOTS };
    x.s.nodes.n = 3;
    turnover_see(x.t, &x.s, x.now_us);
    assert_int_equal(lent(&x, 1), LEND_TIMES * SLOTS);
    assert_true(!x.nodes[0].lent && !x.nodes[2].lent);
    turnover_unlend(&x.s);
    x.s = (struct snapshot){ .nodes = { x.nodes + 1, 2 } };
    turnover_see(x.t, &x.s, x.now_us);
    assert_int_equal(lent(&x, 1), LEND_TIMES * SLOTS);
    turnover_free(x.t);
    turnover_see(NULL, &x.s, 0);
    turnover_lend(NULL, &x.s);
    turnover_place(NULL, 0, 1);
    turnover_free(NULL);
}

/* Its worker takes one lease and ends, so what it were given in advance would never start. */
static void a_machine_for_one_lease_is_given_none_in_advance(void **state)
{
    (void)state;
    struct world x;
    world_open(&x, 2);
    x.nodes[1].node_id.b[0] = 2;
    run(&x, 100, 20);
    x.nodes[0].once = true;
    assert_int_equal(lent(&x, 0), 0);
    x.nodes[0].once = false;
    assert_int_equal(lent(&x, 0), LEND_TIMES * SLOTS);
    turnover_free(x.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quick_machines_are_lent_slots), cmocka_unit_test(lent_slots_stand_for_as_much_as_others),
        cmocka_unit_test(slow_and_unknown_ones_are_not), cmocka_unit_test(what_comes_back_lends_nothing),
        cmocka_unit_test(a_free_slot_elsewhere_goes_first), cmocka_unit_test(room_that_is_made_and_large_jobs_forbid_it),
        cmocka_unit_test(lines_follow_their_machines),
        cmocka_unit_test(a_machine_for_one_lease_is_given_none_in_advance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
