/* SPDX-License-Identifier: Apache-2.0 */
/* test_roomset.c - each room once, its first machine at hand, through thousands of moves and a reset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/roomset.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

enum { MACHINES = 200, ROOMS = 24 };

struct world { struct roomset *set; uint32_t number[MACHINES]; int where[MACHINES]; };

static struct room room_number(int i)
{
    return machine_of(1000 * (i + 1), i % 5, (unsigned)(i % 2));
}

/* What the set says of each room is what the plain list says. */
static void agrees(const struct world *w)
{
    size_t live, rooms = 0;
    (void)roomset_live(w->set, &live);
    for (int i = 0; i < ROOMS; i++) {
        uint32_t n = 0, first = UINT32_MAX;
        for (int m = 0; m < MACHINES; m++)
            if (w->where[m] == i) {
                n++;
                first = first == UINT32_MAX ? (uint32_t)m : first;
            }
        struct room r = room_number(i);
        const struct roomset_item *it = roomset_at(w->set, roomset_find(w->set, &r));
        assert_int_equal(it->n, n);
        rooms += n > 0;
        if (n)
            assert_int_equal(it->machines[0], first);
    }
    assert_int_equal(live, rooms);
}

static void moved(void *ctx, uint32_t machine, uint32_t number)
{
    ((struct world *)ctx)->number[machine] = number;
}

static void the_first_machine_of_each_room_stays_at_hand(void **state)
{
    (void)state;
    struct world w = { .set = roomset_new() };
    struct random rnd = { 1 };
    for (int m = 0; m < MACHINES; m++) {
        struct room r = room_number(w.where[m] = (int)random_below(&rnd, ROOMS));
        w.number[m] = roomset_find(w.set, &r);
        roomset_enter(w.set, w.number[m], (uint32_t)m);
    }
    for (int i = 0; i < 4000; i++) {
        int m = (int)random_below(&rnd, MACHINES);
        roomset_leave(w.set, w.number[m], (uint32_t)m);
        struct room r = room_number(w.where[m] = (int)random_below(&rnd, 1 + (unsigned)i % ROOMS));
        w.number[m] = roomset_find(w.set, &r);
        roomset_enter(w.set, w.number[m], (uint32_t)m);
        if (i % 100 == 0)
            agrees(&w);
        if (i % 1000 == 999)
            roomset_reset(w.set, moved, &w);
    }
    agrees(&w);
    roomset_free(w.set);
}

static void a_reset_forgets_rooms_that_nobody_has(void **state)
{
    (void)state;
    struct world w = { .set = roomset_new() };
    for (int i = 0; i < 5000; i++) {
        struct room r = machine_of(i, 1, 0);
        (void)roomset_find(w.set, &r);
    }
    struct room r = machine_of(17, 1, 0);
    roomset_enter(w.set, roomset_find(w.set, &r), 3);
    assert_int_equal(roomset_size(w.set), 5000);
    roomset_reset(w.set, moved, &w);
    assert_int_equal(roomset_size(w.set), 1);
    assert_int_equal(roomset_at(w.set, w.number[3])->room.cpu_milli, 17);
    roomset_free(w.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_first_machine_of_each_room_stays_at_hand),
                                        cmocka_unit_test(a_reset_forgets_rooms_that_nobody_has) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
