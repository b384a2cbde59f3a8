/* SPDX-License-Identifier: Apache-2.0 */
/* test_sight.c - the reason and the words for a job that has no place: the first thing that keeps it off every machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/sight.h"

static struct str zone = { "z", 1 };

static void says(struct snap_job j, const char *reason, const char *words)
{
    struct arena *a = arena_new(1 << 20);
    struct snap_node n = { .zone = zone, .pool = STR("p"), .slots = 8, .gpus = 1, .free_slots = 4, .free_gpus = 1,
                           .cpu_milli = 8000, .memory_bytes = (int64_t)16 << 30, .used_memory_bytes = (int64_t)10 << 30,
                           .gpu_model = STR("A") };
    struct snap_tenant t = { .allowed_zones = { &zone, 1 } };
    struct snapshot s = { .nodes = { &n, 1 }, .tenants = { &t, 1 } };
    struct sight see;
    struct str code, said;
    size_t at;
    snapshot_fill(&s);
    j.zones = j.zone.ptr ? (struct slice){ 0 } : t.allowed_zones;
    assert_false(sight_search(&s, &t, &j, &at, &see));
    sight_say(&s, a, &t, &j, &see, &code, &said);
    assert_true(str_eq(code, str_c(reason)));
    assert_true(str_eq(said, str_c(words)));
    arena_free(a);
}

static void the_first_thing_that_keeps_it_off_is_said(void **state)
{
    (void)state;
    const struct snap_job any = { .pool = STR("p"), .slots = 1 };
    struct snap_job j = any;
    j.zone = STR("y");
    says(j, "ZoneUnavailable", "zone y has no ready machine");
    j = any;
    j.pool = STR("q");
    says(j, "NoMatchingFlavor", "pool q has no ready machine there");
    j = any;
    j.needs_programs = true;
    says(j, "NoMatchingFlavor", "no ready machine of the pool p there runs programs (worker.programs)");
    j = any;
    j.engine = STR("onnxruntime");
    says(j, "NoMatchingFlavor", "no ready machine of the pool p there has the engine onnxruntime (worker.onnxruntime), which "
                                "computes its model; 1 there are without it");
    j.engine = STR("falaj-rank");
    says(j, "NoMatchingFlavor", "no ready machine of the pool p there has falaj-rank, which comes with workers of this release; "
                                "1 there are without it");
    j = any;
    j.gpus = 1;
    j.gpu_models = STR("B");
    says(j, "NoMatchingFlavor", "no ready machine there has a GPU of the models B");
    j.gpu_milli = 500;
    says(j, "NoMatchingFlavor", "no ready machine there keeps shares of a GPU apart");
    j = any;
    j.slots = 9;
    says(j, "NoMatchingFlavor", "no ready machine has 9 slots and 0 GPUs");
    j.slots = 5;
    says(j, "Resources", "needs 5 slots, the freest machine has 4 free");
    j.slots = 1;
    j.memory_bytes = (int64_t)7 << 30;
    says(j, "Resources", "needs 7168 MiB of memory, the freest machine with 1 slots has 6144 MiB free");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_first_thing_that_keeps_it_off_is_said) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
