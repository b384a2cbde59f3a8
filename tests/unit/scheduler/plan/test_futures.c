/* SPDX-License-Identifier: Apache-2.0 */
/* test_futures.c - played by masks, a future leaves exactly what it leaves when each step is looked at in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/futures.h"
#include "tests/unit/scheduler/plan/fleet_cases.h"

/* The reference: the header's sentence, step by step. */
static int32_t plainly(const struct workload *w, int future, struct room r)
{
    size_t n;
    const struct workload_type *types = workload_types(w, &n);
    for (int i = 0; i < WORKLOAD_STEPS; i++) {
        const struct ask *a = &types[(*workload_drawn(w))[future][i]].ask;
        if (!resource_fits(&r, a))
            continue;
        int level = a->gpu_milli;
        room_sort(&r);
        for (int g = r.gpus - 1; g >= 0; g--)
            level = r.milli[g] >= a->gpu_milli ? r.milli[g] : level;
        resource_take(&r, a, resource_devices(&r, a, a->gpu_milli == GPU_MILLI ? GPU_MILLI : level));
    }
    return room_milli(&r);
}

/* A room somewhere between empty and full. */
static struct room begun(struct random *rnd)
{
    struct room r = any_machine(rnd);
    for (int i = (int)random_below(rnd, 12); i > 0; i--) {
        struct ask a = any_ask(rnd);
        int g = 0;
        while (g < r.gpus && r.milli[g] < a.gpu_milli)
            g++;
        if (a.gpus == 1 && a.gpu_milli < GPU_MILLI && g < r.gpus && resource_fits(&r, &a))
            resource_take(&r, &a, 1u << g);
    }
    room_sort(&r);
    return r;
}

static void compare(struct workload *w, uint64_t seed, int rooms)
{
    struct random rnd = { seed };
    for (int i = 0; i < rooms; i++) {
        struct room r = begun(&rnd);
        const struct futures *f = workload_futures_of(w, r.group);
        for (int k = 0; k < WORKLOAD_FUTURES; k++)
            assert_int_equal(futures_left(f, k, &r), plainly(w, k, r));
    }
}

static void leaves_what_the_plain_play_leaves(void **state)
{
    (void)state;
    struct workload *w = workload_new();
    struct random rnd = { 3 };
    for (int i = 0; i < 2000; i++) {
        struct ask a = any_ask(&rnd);
        workload_arrive(w, &a);
    }
    compare(w, 11, 300);
    workload_free(w);
}

/* More different amounts than a ladder has rungs. */
static void leaves_it_with_thousands_of_types_too(void **state)
{
    (void)state;
    struct workload *w = workload_new();
    struct random rnd = { 4 };
    for (int i = 0; i < 4000; i++) {
        struct ask a = ask_of(500 + (int64_t)random_below(&rnd, 9000), 1, 1 + (int)random_below(&rnd, GPU_MILLI));
        a.memory_bytes += (int64_t)random_below(&rnd, 1 << 30);
        workload_arrive(w, &a);
    }
    compare(w, 12, 300);
    workload_free(w);
}

static void a_lump_weighs_less_than_its_parts(void **state)
{
    (void)state;
    struct workload *w = workload_new();
    struct ask a = ask_of(1000, 8, 1000);           /* fits neither room, so all is left */
    for (int i = 0; i < WORKLOAD_FIRST; i++)
        workload_arrive(w, &a);
    struct room one = machine_of(16000, 1, 0), four = machine_of(16000, 4, 0);
    const struct futures *f = workload_futures_of(w, 0);
    assert_true(futures_worth(f, &four) > futures_worth(f, &one));
    assert_int_equal(futures_worth(f, &four) / 1000, 2 * futures_worth(f, &one) / 1000);
    workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(leaves_what_the_plain_play_leaves),
                                        cmocka_unit_test(leaves_it_with_thousands_of_types_too),
                                        cmocka_unit_test(a_lump_weighs_less_than_its_parts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
