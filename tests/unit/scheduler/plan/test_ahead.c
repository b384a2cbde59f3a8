/* SPDX-License-Identifier: Apache-2.0 */
/* test_ahead.c - what waits starts when what holds its room ends, in the planner's order; and what is said before holds when time
 * goes by: a second run from the moment of the first start places the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/random.h"
#include "tests/unit/scheduler/plan/ahead_world.h"

static void each_starts_when_its_room_ends(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    world_init(&x, 2, 8, 0, 2);
    live_add(&x, 0, 1, 8, 0, 0, 1100);
    live_add(&x, 1, 1, 6, 0, 0, 1500);
    wait_add(&x, 0, 2, 0, 50);          /* fits now on the second machine */
    wait_add(&x, 0, 8, 0, 1000);        /* when the first machine is free */
    wait_add(&x, 0, 8, 0, 10);          /* when the second is: at 1500 */
    wait_add(&x, 0, 9, 0, 10);          /* never */
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 1000 * SEC);
    assert_int_equal(start_of(&r, 0)->after, AHEAD_NONE);
    assert_int_equal(start_of(&r, 1)->at_us, 1100 * SEC);
    assert_int_equal(start_of(&r, 1)->machine, 0);
    assert_int_equal(start_of(&r, 1)->after, 0);
    assert_int_equal(start_of(&r, 1)->ends_us, 2100 * SEC);
    assert_true(str_eq_c(r.why[1].reason, "Resources"));
    assert_int_equal(start_of(&r, 2)->at_us, 1500 * SEC);
    assert_int_equal(start_of(&r, 2)->after, 1);
    assert_null(start_of(&r, 3));
    assert_true(str_eq_c(r.why[3].reason, "NoMatchingFlavor"));
    arena_free(a);
}

static void devices_and_quotas_hold_others_up(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    world_init(&x, 1, 100, 4, 2);
    x.tenants[0].slots_limit = 10;
    live_add(&x, 0, 1, 1, 2, 3, 1200);
    live_add(&x, 0, 0, 8, 0, 0, 1300);
    wait_add(&x, 1, 1, 3, 100);         /* two of four devices are held until 1200 */
    wait_add(&x, 0, 4, 0, 100);         /* the tenant has 8 of 10 slots until 1300 */
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 1200 * SEC);
    assert_int_equal(start_of(&r, 1)->at_us, 1300 * SEC);
    assert_true(str_eq_c(r.why[1].reason, "QuotaExceeded"));
    assert_int_equal(start_of(&r, 1)->after, 1);
    arena_free(a);
}

/* Thousands of shares of a machine's GPUs need room in proportion, not to their square. */
static void many_shares_of_gpus_fit(void **state)
{
    (void)state;
    enum { NODES = 4, SHARES = 4000 };
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    static struct ahead_live live[NODES * SHARES];
    struct ahead r;
    world_init(&x, NODES, 4096, 64, 1);
    x.tenants[0].slots_limit = x.tenants[0].gpus_limit = 1000000;
    for (size_t i = 0; i < NODES * SHARES; i++) {
        live[i] = (struct ahead_live){ i % NODES, &x.nodes[i % NODES], job_of(1000 + i, 0, 1, 1), UINT64_C(1) << 63,
                                       1100 * SEC };
        live[i].job.gpu_milli = 1;
    }
    x.in.live = live;
    x.in.nlive = NODES * SHARES;
    wait_add(&x, 0, 1, 64, 10);         /* all of a machine's, when its shares are back */
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 1100 * SEC);
    arena_free(a);
}

static void rules_free_what_ends(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    world_init(&x, 1, 100, 0, 1);
    struct rule rule = { .tenant_id = id_of(2, 0), .place = RULE_TENANT, .resource = RULE_SLOTS, .queue = STR(""),
                         .flavor = STR(""),
                         .zone = STR(""), .nominal = 10, .borrowing_limit = 0, .lending_limit = 0, .weight = 1000 };
    x.tenants[0].guarded = true;
    x.tenants[0].slots_weight = x.tenants[0].gpus_weight = 1000;
    x.in.base.book.rules.items = &rule;
    x.in.base.book.rules.n = 1;
    rulebook_link(&x.in.base.book, a);
    live_add(&x, 0, 0, 6, 0, 0, 1200);
    wait_add(&x, 0, 6, 0, 100);
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, 1200 * SEC);
    assert_int_equal(x.in.base.book.rules.items[0].used, 0);    /* the base is as it was */
    arena_free(a);
}

static void its_own_time_comes_first(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    static struct world x;
    struct ahead r;
    world_init(&x, 1, 8, 0, 1);
    wait_add(&x, 0, 8, 0, 100);
    x.waits[0].ready_us = 1400 * SEC;
    wait_add(&x, 0, 8, 0, 50);
    wait_add(&x, 0, 8, 0, 0);           /* stays: nothing starts behind it */
    wait_add(&x, 0, 8, 0, 10);
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 1)->at_us, 1000 * SEC);
    assert_int_equal(start_of(&r, 2)->at_us, 1050 * SEC);
    assert_int_equal(start_of(&r, 2)->ends_us, AHEAD_NEVER);
    assert_null(start_of(&r, 0));
    assert_null(start_of(&r, 3));
    arena_free(a);
}

/* Random worlds: at the first later start, what has ended has ended, and asked again from there the same job starts at once. */
static void what_is_said_before_comes_true(void **state)
{
    (void)state;
    struct random rnd = { 7 };
    size_t compared = 0;
    for (int round = 0; round < 200; round++) {
        struct arena *a = arena_new(1 << 26);
        static struct world x;
        struct ahead r;
        size_t machine;
        world_init(&x, 3, 8, 4, 3);
        for (size_t i = 0; i < 3; i++)
            live_add(&x, i, (int64_t)random_below(&rnd, 3), 4 + (int64_t)random_below(&rnd, 5), 2, 3, 1100 + 400 * (int64_t)i);
        for (size_t i = 0; i < 12; i++)
            wait_add(&x, (int64_t)random_below(&rnd, 3), 1 + (int64_t)random_below(&rnd, 8), (int64_t)random_below(&rnd, 4),
                     20000 + (int64_t)random_below(&rnd, 500))->priority = (int64_t)random_below(&rnd, 3);
        ahead_run(&x.in, a, &r);
        const struct ahead_start *later = NULL;
        for (size_t i = 0; i < r.starts.n && !later; i++)
            if (r.starts.items[i].at_us > x.in.now_us)
                later = &r.starts.items[i];
        if (later) {
            struct ahead_in then = x.in;
            static struct ahead_live live[MOST];
            static struct ahead_wait waits[MOST];
            static struct snap_job jobs[MOST];
            size_t n = 0, job = AHEAD_NONE;
            then.now_us = later->at_us;
            then.nlive = 0;
            for (size_t i = 0; i < x.in.nlive; i++)
                if (x.live[i].ends_us > then.now_us)
                    live[then.nlive++] = x.live[i];
            for (size_t i = 0; i < x.in.base.jobs.n; i++) {
                const struct ahead_start *s = start_of(&r, i);
                if (s && s->at_us < then.now_us) {
                    live[then.nlive++] = (struct ahead_live){ s->machine, &x.nodes[s->machine], x.jobs[i], s->devices,
                                                              s->ends_us };
                    continue;
                }
                if (i == later->job)
                    job = n;
                waits[n] = x.waits[i];
                jobs[n++] = x.jobs[i];
            }
            then.live = live;
            then.waits = waits;
            then.base.jobs.items = jobs;
            then.base.jobs.n = n;
            assert_true(ahead_starts_now(&then, job, &machine));
            assert_int_equal(machine, later->machine);
            compared++;
        }
        arena_free(a);
    }
    assert_true(compared > 100);
}

/* Two machines with eight slots; a job on both waits until the later of them is free, and is one start. */
static void a_job_on_two_machines_starts_when_both_are_free(void **state)
{
    (void)state;
    static struct world x;
    struct arena *a = arena_new(64 << 20);
    struct ahead r;
    world_init(&x, 2, 8, 0, 1);
    x.nodes[0].gangs = x.nodes[1].gangs = true;
    live_add(&x, 0, 0, 8, 0, 0, NOW_S + 100);
    live_add(&x, 1, 0, 8, 0, 0, NOW_S + 300);
    wait_add(&x, 0, 6, 0, 50)->nodes = 2;
    wait_add(&x, 0, 5, 0, 50);          /* beside it there is no room for this one on either machine, but before it is */
    ahead_run(&x.in, a, &r);
    assert_int_equal(r.starts.n, 2);
    assert_int_equal(start_of(&r, 1)->at_us, (NOW_S + 100) * SEC);
    assert_int_equal(start_of(&r, 0)->at_us, (NOW_S + 300) * SEC);
    assert_int_equal(start_of(&r, 0)->ends_us, (NOW_S + 350) * SEC);
    arena_free(a);
}

/* One that runs on both leaves both, and its tenant's limit counts it twice. */
static void what_runs_on_two_machines_holds_both(void **state)
{
    (void)state;
    static struct world x;
    struct arena *a = arena_new(64 << 20);
    struct seat_of second = { 1, 0 };
    struct ahead r;
    world_init(&x, 2, 8, 0, 2);
    live_add(&x, 0, 0, 6, 0, 0, NOW_S + 100);
    x.live[0].more = &second;
    x.live[0].nmore = 1;
    x.tenants[0].slots_limit = 12;
    wait_add(&x, 1, 4, 0, 50);
    wait_add(&x, 0, 1, 0, 50);
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, (NOW_S + 100) * SEC);
    assert_int_equal(start_of(&r, 1)->at_us, (NOW_S + 100) * SEC);
    arena_free(a);
}

/* Kept for maintenance from 200 s to 500 s: the short one ends before, the long one starts behind it. */
static void windows_come_and_go(void **state)
{
    (void)state;
    static struct world x;
    struct arena *a = arena_new(64 << 20);
    struct reserved w = { .node_id = id_of(1, 0), .from_us = (NOW_S + 200) * SEC, .until_us = (NOW_S + 500) * SEC };
    struct ahead r;
    world_init(&x, 1, 8, 0, 1);
    x.in.base.reserved.items = &w;
    x.in.base.reserved.n = 1;
    wait_add(&x, 0, 4, 0, 50)->max_runtime_s = 100;
    wait_add(&x, 0, 4, 0, 50)->max_runtime_s = 1000;
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->at_us, NOW_S * SEC);
    assert_int_equal(start_of(&r, 1)->at_us, (NOW_S + 500) * SEC);
    assert_true(str_eq_c(r.why[1].reason, "Reserved"));
    arena_free(a);
}

/* A lent machine takes one job, whatever room it has, and is gone with it; nobody is sent away for what is left of it. */
static void a_lent_machine_takes_one(void **state)
{
    (void)state;
    static struct world x;
    struct arena *a = arena_new(64 << 20);
    struct ahead r;
    world_init(&x, 2, 8, 0, 1);
    x.nodes[0].once = true;
    x.nodes[1].free_slots = x.nodes[1].slots = 1;
    for (int i = 0; i < 3; i++)
        wait_add(&x, 0, 2, 0, 100);
    wait_add(&x, 0, 1, 0, 100);
    wait_add(&x, 0, 1, 0, 100);
    x.waits[0].leave = (struct ahead_leave){ .may = true };
    x.jobs[1].class_value = -1;
    x.jobs[2].class_value = 10;
    x.waits[2].ready_us = (NOW_S + 10) * SEC;
    ahead_run(&x.in, a, &r);
    assert_int_equal(start_of(&r, 0)->machine, 0);
    assert_int_equal(start_of(&r, 0)->at_us, NOW_S * SEC);
    assert_false(start_of(&r, 0)->is_cut);
    assert_null(start_of(&r, 1));
    assert_null(start_of(&r, 2));
    assert_int_equal(start_of(&r, 3)->machine, 1);
    assert_int_equal(start_of(&r, 4)->machine, 1);
    assert_int_equal(start_of(&r, 4)->at_us, (NOW_S + 100) * SEC);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_starts_when_its_room_ends),
                                        cmocka_unit_test(devices_and_quotas_hold_others_up),
                                            cmocka_unit_test(many_shares_of_gpus_fit), cmocka_unit_test(rules_free_what_ends),
                                        cmocka_unit_test(its_own_time_comes_first),
                                            cmocka_unit_test(what_is_said_before_comes_true),
                                        cmocka_unit_test(a_job_on_two_machines_starts_when_both_are_free),
                                        cmocka_unit_test(what_runs_on_two_machines_holds_both),
                                        cmocka_unit_test(windows_come_and_go), cmocka_unit_test(a_lent_machine_takes_one) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
