/* SPDX-License-Identifier: Apache-2.0 */
/* test_ground.c - a snapshot's machines as a fleet: groups, what is not free, what a fleet cannot hold, and the policy once
 * futures are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/ground.h"
#include "scheduler/plan/placement.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

static struct snap_node node(struct str flavor, int64_t slots, int64_t gpus, int64_t free_slots, int64_t free_gpus)
{
    return (struct snap_node){ .zone = STR("z"), .pool = STR("p"), .flavor = flavor, .slots = slots, .gpus = gpus,
                               .free_slots = free_slots, .free_gpus = free_gpus };
}

static void places_in_the_groups_that_are_allowed(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 22);
    struct snap_node nodes[] = { node(STR("a"), 8, 2, 8, 2), node(STR("b"), 8, 2, 8, 2), node(STR("a"), 8, 2, 8, 1) };
    struct snapshot s = { .nodes = { nodes, 3 } };
    struct ground g;
    struct ask one = { .slots = 1, .groups = { { 0 } } }, two = { .slots = 1, .gpus = 2, .gpu_milli = 1000, .groups = { { 2 } } };
    struct seat at = { 99, 0 };
    snapshot_fill(&s);
    ground_init(&g, &s, a);
    assert_int_equal(g.ngroups, 2);
    assert_false(ground_place(&g, &one, &at));
    assert_true(ground_place(&g, &two, &at));
    assert_int_equal(at.machine, 1);
    assert_int_equal(at.devices, 3);
    two.gpus = 1;
    assert_false(ground_place(&g, &two, &at));
    arena_free(a);
}

static void a_machine_with_less_than_nothing_free_takes_nothing(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 22);
    struct snap_node nodes[] = { node(STR("a"), 8, 2, 4, -1), node(STR("a"), 8, 2, -1, 2) };
    struct snapshot s = { .nodes = { nodes, 2 } };
    struct ground g;
    struct ask one = { .slots = 1, .groups = { { 1 } } };
    struct seat at;
    snapshot_fill(&s);
    ground_init(&g, &s, a);
    assert_false(ground_place(&g, &one, &at));
    arena_free(a);
}

static void what_a_fleet_cannot_hold_has_no_ground(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    struct snap_node large = node(STR("a"), 8, MACHINE_GPUS_MAX + 1, 8, 1), *many = ARENA_ARRAY(a, struct snap_node,
                                                                                                GROUPS_MAX + 1);
    struct snapshot s = { .nodes = { &large, 1 } };
    struct ground g;
    snapshot_fill(&s);
    ground_init(&g, &s, a);
    assert_null(g.fleet);
    for (int i = 0; i <= GROUPS_MAX; i++)
        many[i] = node(str_fmt(a, "flavor %d", i), 8, 0, 8, 0);
    s.nodes.items = many;
    s.nodes.n = GROUPS_MAX;
    snapshot_fill(&s);
    ground_init(&g, &s, a);
    assert_non_null(g.fleet);
    s.nodes.n++;
    snapshot_fill(&s);
    ground_init(&g, &s, a);
    assert_null(g.fleet);
    arena_free(a);
}

/* Jobs of 8 GPUs have come. A job of one goes to the begun machine, though the whole one has fewer slots left over. */
static void plans_keep_machines_whole_for_what_usually_comes(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    struct workload *w = workload_new();
    struct str zone = STR("z");
    struct snap_tenant tenant = { .slots_limit = 100, .gpus_limit = 100 };
    struct plan p;
    for (int i = 0; i < WORKLOAD_FIRST; i++) {
        struct ask usual = ask_of(8000, 8, 1000);
        workload_arrive(w, &usual);
    }
    for (int learned = 0; learned < 2; learned++) {
        struct snap_node nodes[] = { node(STR("a"), 8, 8, 8, 8), node(STR("a"), 64, 8, 60, 7) };
        struct snap_job job = { .pool = STR("p"), .slots = 1, .gpus = 1, .zones = { &zone, 1 } };
        struct snapshot s = { .nodes = { nodes, 2 }, .tenants = { &tenant, 1 }, .jobs = { &job, 1 },
                              .workload = learned ? w : NULL };
        placement_plan(&s, a, &p);
        assert_int_equal(p.places.n, 1);
        assert_int_equal(p.places.items[0].node, learned ? 1 : 0);
    }
    workload_free(w);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_in_the_groups_that_are_allowed),
        cmocka_unit_test(a_machine_with_less_than_nothing_free_takes_nothing),
        cmocka_unit_test(what_a_fleet_cannot_hold_has_no_ground),
        cmocka_unit_test(plans_keep_machines_whole_for_what_usually_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
