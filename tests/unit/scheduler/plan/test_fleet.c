/* SPDX-License-Identifier: Apache-2.0 */
/* test_fleet.c - by chance and by every policy: no machine over its capacity, nothing skipped that fits, the same calls give the
 * same seats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/fleet.h"
#include "tests/lib/share.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

enum { MACHINES = 40, SEATS_MAX = 4096 };

struct run {
    struct workload *w;
    struct fleet *f;
    struct room free[MACHINES];         /* kept beside the fleet, plainly */
    struct { uint32_t class; struct seat seat; } seats[SEATS_MAX];
    size_t nseats;
    uint64_t digest;
};

static void begin(struct run *r, enum score_policy p, uint64_t seed)
{
    struct random rnd = { seed };
    *r = (struct run){ .w = workload_new() };
    r->f = fleet_new(p, r->w, seed);
    for (int i = 0; i < MACHINES; i++) {
        r->free[i] = any_machine(&rnd);
        fleet_add(r->f, &r->free[i], &r->free[i]);
    }
}

static void end(struct run *r)
{
    fleet_free(r->f);
    workload_free(r->w);
}

static void comes(struct run *r, struct ask a)
{
    struct seat s;
    uint32_t class = fleet_class(r->f, &a);
    bool fits = false;
    fleet_arrive(r->f, class);
    for (int i = 0; i < MACHINES; i++)
        fits |= resource_fits(&r->free[i], &a);
    assert_int_equal(fleet_place(r->f, class, &s), fits);
    if (!fits)
        return;
    assert_true(groups_has(&a.groups, r->free[s.machine].group));
    resource_take(&r->free[s.machine], &a, s.devices);      /* asserts that it fits on those devices */
    assert_memory_equal(&r->free[s.machine], fleet_free_room(r->f, s.machine), sizeof(struct room));
    r->seats[r->nseats].class = class;
    r->seats[r->nseats++].seat = s;
    r->digest = (r->digest ^ s.machine ^ (uint64_t)s.devices << 32) * 0x9e3779b97f4a7c15u;
}

static void goes(struct run *r, size_t i)
{
    struct ask a = *fleet_ask(r->f, r->seats[i].class);
    fleet_give(r->f, r->seats[i].class, r->seats[i].seat);
    resource_give(&r->free[r->seats[i].seat.machine], &a, r->seats[i].seat.devices);
    r->seats[i] = r->seats[--r->nseats];
}

static uint64_t schedule(enum score_policy p, uint64_t seed, int steps)
{
    struct run r;
    struct random rnd = { seed * 31 };
    begin(&r, p, seed);
    for (int i = 0; i < steps; i++)
        if (r.nseats && (random_below(&rnd, 5) == 0 || r.nseats == SEATS_MAX))
            goes(&r, random_below(&rnd, r.nseats));
        else
            comes(&r, any_ask(&rnd));
    while (r.nseats)
        goes(&r, 0);
    for (uint32_t i = 0; i < MACHINES; i++)
        assert_memory_equal(fleet_free_room(r.f, i), fleet_all_room(r.f, i), sizeof(struct room));
    end(&r);
    return r.digest;
}

static void never_over_capacity_and_nothing_skipped_that_fits(void **state)
{
    (void)state;
    int seeds = share_of("seeded schedules for each policy", 2, 200);
    for (int p = 0; p < SCORE_COUNT; p++)
        for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++)
            assert_int_equal(schedule((enum score_policy)p, seed, 300), schedule((enum score_policy)p, seed, 300));
}

/* A score that was kept from before other machines changed is as good as one computed now: a new fleet in the same state chooses
 * the same. */
static void kept_scores_choose_as_new_ones_do(void **state)
{
    (void)state;
    for (int p = 0; p < SCORE_COUNT; p++) {
        struct run r;
        struct random rnd = { 77 };
        if (p == SCORE_RANDOM)
            continue;
        begin(&r, (enum score_policy)p, 9);
        for (int i = 0; i < 300; i++)
            comes(&r, any_ask(&rnd));
        for (int i = 0; i < 20; i++) {
            struct ask a = any_ask(&rnd);
            struct fleet *again = fleet_new((enum score_policy)p, r.w, 9);
            struct seat s, t;
            for (uint32_t m = 0; m < MACHINES; m++)
                fleet_add(again, fleet_all_room(r.f, m), fleet_free_room(r.f, m));
            bool is_placed = fleet_place(again, fleet_class(again, &a), &t);
            assert_int_equal(fleet_place(r.f, fleet_class(r.f, &a), &s), is_placed);
            if (is_placed)
                assert_memory_equal(&s, &t, sizeof s);
            fleet_free(again);
        }
        end(&r);
    }
}

static void a_seat_that_is_not_free_is_not_taken(void **state)
{
    (void)state;
    struct workload *w = workload_new();
    struct fleet *f = fleet_new(SCORE_DEFAULT, w, 1);
    struct room m = machine_of(4000, 2, 0);
    uint32_t at = fleet_add(f, &m, &m);
    struct ask a = ask_of(1000, 1, 600), two = ask_of(1000, 2, 1000);
    uint32_t class = fleet_class(f, &a);
    assert_int_equal(class, fleet_class(f, &a));
    assert_true(fleet_take(f, class, (struct seat){ at, 2 }));
    assert_false(fleet_take(f, class, (struct seat){ at, 2 }));         /* 400 left there */
    assert_false(fleet_take(f, class, (struct seat){ at, 4 }));         /* no such device */
    assert_false(fleet_take(f, class, (struct seat){ at, 3 }));         /* a share is on one device */
    assert_false(fleet_take(f, fleet_class(f, &two), (struct seat){ at, 3 }));
    assert_true(fleet_take(f, class, (struct seat){ at, 1 }));
    fleet_free(f);
    workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_over_capacity_and_nothing_skipped_that_fits),
        cmocka_unit_test(kept_scores_choose_as_new_ones_do),
        cmocka_unit_test(a_seat_that_is_not_free_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
