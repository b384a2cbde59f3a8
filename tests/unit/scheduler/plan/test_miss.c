/* SPDX-License-Identifier: Apache-2.0 */
/* test_miss.c - what a machine lacks is what keeps the job off it, in all and now; the nearest lacks least. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/miss.h"
#include "scheduler/plan/random.h"

static struct snap_node node = { .zone = { "z", 1 }, .pool = { "p", 1 }, .flavor = { "f", 1 }, .slots = 8, .gpus = 2,
                                 .free_slots = 3, .free_gpus = 1, .cpu_milli = 8000, .memory_bytes = (int64_t)64 << 30,
                                 .used_cpu_milli = 5000, .used_memory_bytes = (int64_t)60 << 30, .gpu_model = { "A", 1 },
                                 .held = { "2:1:1000", 8 } };

static void lacks(struct snap_job j, bool is_free, const char *words)
{
    struct arena *a = arena_new(1 << 20);
    struct snap_node n = node;
    struct snapshot s = { .nodes = { &n, 1 } };
    snapshot_fill(&s);
    const struct miss m = miss_of(&n, &j, is_free);
    const struct str said = miss_words(&m, &j, is_free, a);
    assert_int_equal(said.len, strlen(words));
    assert_memory_equal(said.ptr, words, said.len);
    assert_int_equal(m.lacks == 0, words[0] == 0);
    arena_free(a);
}

static void each_thing_is_named_with_both_numbers(void **state)
{
    (void)state;
    lacks((struct snap_job){ .slots = 8, .gpus = 2 }, false, "");
    lacks((struct snap_job){ .slots = 9, .gpus = 3 }, false, "asked 3 GPUs, it has 2; asked 9 slots, it has 8");
    lacks((struct snap_job){ .slots = 1, .memory_bytes = (int64_t)65 << 30 }, false, "asked 66560 MiB of memory, it has 65536");
    lacks((struct snap_job){ .slots = 1, .gpus = 1, .gpu_models = STR("B,C") }, false, "asked a GPU of B,C, it has A");
    lacks((struct snap_job){ .slots = 1, .gpus = 1, .gpu_milli = 100 }, false,
          "asked a share of a GPU, it keeps no shares apart");
    lacks((struct snap_job){ .slots = 1, .needs_programs = true }, false, "asked to run a program, it runs none");
    lacks((struct snap_job){ .slots = 9, .needs_programs = true }, true,
          "asked to run a program, it runs none; asked 9 slots, it has 3 free");
    node.programs = true;
    lacks((struct snap_job){ .slots = 1, .needs_programs = true }, false, "");
    node.programs = false;
    lacks((struct snap_job){ .slots = 1, .engine = STR("onnxruntime") }, false, "asked the engine onnxruntime, it has none");
    node.engines = STR("onnxruntime2 1.0,other 1.30.0");
    lacks((struct snap_job){ .slots = 9, .engine = STR("onnxruntime") }, true,
          "asked the engine onnxruntime, it has onnxruntime2 1.0,other 1.30.0; asked 9 slots, it has 3 free");
    node.engines = STR("other 2,onnxruntime 1.30.0");
    lacks((struct snap_job){ .slots = 1, .engine = STR("onnxruntime") }, false, "");
    node.engines = STR("onnxruntime");
    lacks((struct snap_job){ .slots = 1, .engine = STR("onnxruntime") }, false, "");
    lacks((struct snap_job){ .slots = 1, .engine = STR("onnx") }, false, "asked the engine onnx, it has onnxruntime");
    node.engines = STR("other 2, onnxruntime 1.30.0");              /* as of several machines that an engine lent */
    lacks((struct snap_job){ .slots = 1, .engine = STR("onnxruntime") }, false, "");
    lacks((struct snap_job){ .slots = 1, .engine = STR("falaj-rank") }, false,
          "asked a worker with falaj-rank, it has none");
    node.engines = STR_NULL;
    lacks((struct snap_job){ .slots = 3, .gpus = 1 }, true, "");
    lacks((struct snap_job){ .slots = 4, .gpus = 2 }, true, "asked 2 GPUs, it has 1 free; asked 4 slots, it has 3 free");
    node.gpus = node.free_gpus = 0;
    lacks((struct snap_job){ .slots = 1, .gpus = 1, .gpu_milli = 100 }, true, "asked 1 GPUs, it has 0 free");
    lacks((struct snap_job){ .slots = 1, .gpus = 1, .gpu_milli = 100 }, false, "asked 1 GPUs, it has 0");
    node.gpus = 2, node.free_gpus = 1;
    lacks((struct snap_job){ .slots = 3, .memory_bytes = (int64_t)5 << 30 }, true, "asked 5120 MiB of memory, it has 4096 free");
}

/* By chance: nothing lacks exactly where the planner would place the job. */
static void nothing_lacks_where_it_fits(void **state)
{
    (void)state;
    struct random r = { 7 };
    size_t fits = 0;
    for (int i = 0; i < 20000; i++) {
        struct snap_node n = { .slots = 1 + (int64_t)random_below(&r, 16), .gpus = (int64_t)random_below(&r, 4),
                               .cpu_milli = (int64_t)random_below(&r, 20000), .memory_bytes = (int64_t)random_below(&r, 32) << 30,
                               .gpu_shared = random_below(&r, 2), .programs = random_below(&r, 2),
                               .engines = random_below(&r, 3) ? STR("x 1,onnxruntime 2") : STR("x 1"),
                               .gpu_model = random_below(&r, 2) ? STR("A") : STR("B") };
        n.free_slots = (int64_t)random_below(&r, (uint64_t)n.slots + 1);
        n.free_gpus = (int64_t)random_below(&r, (uint64_t)n.gpus + 1);
        struct snap_job j = { .slots = 1 + (int64_t)random_below(&r, 12), .gpus = (int64_t)random_below(&r, 3),
                              .memory_bytes = (int64_t)random_below(&r, 20) << 30,
                              .gpu_models = random_below(&r, 2) ? STR("A") : STR(""), .needs_programs = random_below(&r, 2),
                              .engine = random_below(&r, 2) ? STR("onnxruntime") : STR("") };
        j.gpu_milli = j.gpus == 1 ? 100 * (1 + (int64_t)random_below(&r, 10)) : 1000;
        struct snapshot s = { .nodes = { &n, 1 } };
        snapshot_fill(&s);
        const struct ask a = snap_job_ask(&j);
        const bool is_fit = snap_job_takes(&j, &n) && snap_node_fits(&n, &a);
        assert_int_equal(miss_of(&n, &j, true).lacks == 0, is_fit);
        assert_true(!is_fit || miss_of(&n, &j, false).lacks == 0);
        fits += is_fit;
    }
    assert_in_range(fits, 1000, 19000);
}

static void the_nearest_lacks_fewest_things_then_least(void **state)
{
    (void)state;
    const struct miss none = { 0 }, one = { .lacks = 2, .shortage = 900 }, less = { .lacks = 4, .shortage = 100 },
                      two = { .lacks = 1u << MISS_SHARE | 1u << MISS_GPUS, .shortage = 2 };
    assert_true(miss_is_nearer(&none, &less) && miss_is_nearer(&less, &one) && miss_is_nearer(&one, &two));
    assert_false(miss_is_nearer(&one, &one));
    assert_int_equal(miss_first(&two), MISS_SHARE);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_thing_is_named_with_both_numbers),
                                        cmocka_unit_test(nothing_lacks_where_it_fits),
                                        cmocka_unit_test(the_nearest_lacks_fewest_things_then_least) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
