/* SPDX-License-Identifier: Apache-2.0 */
/* test_preempt_choice.c - one machine and one job: as few go as make room, the cheapest first, and nobody in vain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/preempt_int.h"

enum { HOLDERS = 4 };

static struct str zone = { "z-a", 3 };
static struct arena *arena;
static struct snapshot snap;
static struct snap_holder holders[HOLDERS];
static struct choice choice;
static struct victims found;

/* One machine of eight slots, all taken: by attempts of 4, 2, 1 and 1 slots, of the classes 0, 0, -5 and 0. */
static int setup(void **state)
{
    (void)state;
    static const struct { int64_t slots, value, lost_ms; } taken[HOLDERS] = { { 4, 0, 9000 }, { 2, 0, 1000 }, { 1, -5, 90000 },
                                                                              { 1, 0, 10 } };
    arena = arena_new(1 << 22);
    snap = (struct snapshot){ .nodes = { ARENA_ARRAY(arena, struct snap_node, 1), 1 },
                              .tenants = { ARENA_ARRAY(arena, struct snap_tenant, 1), 1 } };
    snap.tenants.items[0] = (struct snap_tenant){ .allowed_zones = { &zone, 1 }, .slots_used = 8, .slots_limit = 8 };
    snap.nodes.items[0] = (struct snap_node){ .zone = zone, .pool = STR("default"), .slots = 8, .used_cpu_milli = 8000,
                                              .used_memory_bytes = 8 * SLOT_MEMORY_BYTES };
    snapshot_fill(&snap);
    choice = (struct choice){ .s = &snap, .h = { holders, HOLDERS }, .a = arena, .rooms = snap.nodes.items };
    choice.slots = ARENA_ARRAY(arena, int64_t, 1);
    choice.gpus = ARENA_ARRAY(arena, int64_t, 1);
    choice.slots[0] = 8;
    choice.first = ARENA_ARRAY(arena, size_t, 1);
    choice.next = ARENA_ARRAY(arena, size_t, HOLDERS);
    choice.at = ARENA_ARRAY(arena, size_t, HOLDERS);
    choice.borrows = ARENA_ARRAY(arena, bool, HOLDERS);
    for (size_t i = 0; i < HOLDERS; i++) {
        holders[i] = (struct snap_holder){ .slots = taken[i].slots, .gpu_milli = 1000, .cpu_milli = 1000 * taken[i].slots,
                                           .memory_bytes = taken[i].slots * SLOT_MEMORY_BYTES, .class_value = taken[i].value,
                                           .lost_ms = taken[i].lost_ms, .queue = STR("default") };
        choice.next[i] = choice.first[0];
        choice.first[0] = i + 1;
    }
    found = (struct victims){ .items = ARENA_ARRAY(arena, size_t, HOLDERS + 1) };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static bool choose(int64_t slots, int64_t value)
{
    const struct snap_job j = { .slots = slots, .class_value = value, .pool = STR("default"), .queue = STR("default"),
                                .gpu_milli = 1000, .zones = { &zone, 1 } };
    return choice_on(&choice, &j, 0, &found);
}

static void the_lowest_class_goes_first_then_the_least_work(void **state)
{
    (void)state;
    assert_true(choose(1, 5));
    assert_true(found.n == 1 && found.items[0] == 2 && found.class_value == -5);
    assert_true(choose(2, 5));
    assert_true(found.n == 2 && found.class_value == 0);
    assert_int_equal(choice.rooms[0].free_slots, 0);            /* it was only tried */
    assert_int_equal(choice.slots[0], 8);
}

static void who_turns_out_not_to_be_needed_stays(void **state)
{
    (void)state;
    assert_true(choose(6, 5));          /* in their order 1, 1, 2 and 4 slots would go */
    int64_t slots = 0;
    for (size_t i = 0; i < found.n; i++)
        slots += holders[found.items[i]].slots;
    assert_int_equal(slots, 6);
}

static void nobody_goes_in_vain_or_for_an_equal(void **state)
{
    (void)state;
    assert_false(choose(9, 5));
    assert_false(choose(2, 0));                                 /* one of the class below is not enough */
    assert_true(choose(1, 0));
    assert_false(choose(1, -5));
    holders[2].preempted = PREEMPTIONS_MAX;
    assert_false(choose(1, 0));
    holders[2].preempted = 0;
    holders[2].min_runtime_s = 60;
    assert_false(choose(1, 0));
}

static void machines_are_compared_by_class_work_and_number(void **state)
{
    (void)state;
    const struct victims low = { .class_value = -1, .lost = 9, .n = 9 }, cheap = { .class_value = 0, .lost = 1, .n = 2 },
                         few = { .class_value = 0, .lost = 1, .n = 1 };
    assert_true(choice_is_better(&low, &few) && choice_is_better(&few, &cheap) && !choice_is_better(&cheap, &cheap));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_lowest_class_goes_first_then_the_least_work, setup, teardown),
        cmocka_unit_test_setup_teardown(who_turns_out_not_to_be_needed_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_goes_in_vain_or_for_an_equal, setup, teardown),
        cmocka_unit_test_setup_teardown(machines_are_compared_by_class_work_and_number, setup, teardown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
