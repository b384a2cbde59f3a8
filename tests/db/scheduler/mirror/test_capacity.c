/* SPDX-License-Identifier: Apache-2.0 */
/* test_capacity.c - the memory of the largest machines: per zone and pool, two seconds old at most, without which all is accepted. */
#include "tests/db/scheduler/engines/engine_kit.h"
#include "scheduler/mirror/capacity.h"
#include "scheduler/plan/miss.h"

static struct fixture f;
static struct machine small, large, away;
static int64_t now_us = 5000000;
static bool needs_programs;
static struct str engine;
static int64_t nodes = 1, runtime_s = 600;
static char said[256];                  /* of the last answer */

static int64_t now(void *ctx)
{
    (void)ctx;
    return now_us;
}
static const struct clock turned = { .wall_us = now, .mono_us = now };

static int setup(void **state)
{
    (void)state;
    fixture_open(&f);
    machine_up(&f, &small, "ae-dxb-1", "small", 4, 2);
    machine_up(&f, &large, "ae-dxb-1", "large", 16, 0);
    machine_up(&f, &away, "ae-auh-1", "away", 64, 8);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static struct capacity_answer ask(struct capacity_cache *c, const char *zone, const char *pool, int64_t slots, int64_t gpus)
{
    struct app app = f.api;
    struct work w = { .app = &app, .arena = arena_new(16 << 20), .tenant_id = f.tenant_a };
    struct capacity_answer a;
    struct str zones[] = { STR("nowhere"), str_c(zone) };
    app.clock = &turned;
    app.capacity = c;
    const struct snap_job job = { .pool = str_c(pool), .slots = slots, .gpus = gpus, .needs_programs = needs_programs,
                                  .engine = engine, .nodes = nodes, .max_runtime_s = runtime_s };
    OK(capacity_ask(&w, zones, 2, &job, &a, e));
    snprintf(said, sizeof said, "%.*s", STR_ARG(a.miss));
    arena_free(w.arena);
    return a;
}

static void the_machines_of_a_zone(void **state)
{
    (void)state;
    struct capacity_cache *c = capacity_cache_new();
    struct capacity_answer a = ask(c, "ae-dxb-1", "default", 16, 0);
    assert_true(a.known && a.fits);
    assert_false(ask(c, "ae-dxb-1", "default", 17, 0).fits);
    assert_string_equal(said, "flavor cpu, zone ae-dxb-1: asked 17 slots, it has 16");
    assert_true(ask(c, "ae-dxb-1", "default", 4, 2).fits);
    assert_false(ask(c, "ae-dxb-1", "default", 5, 2).fits);     /* the slots of one with the GPUs of another are no machine */
    assert_true(ask(c, "ae-auh-1", "default", 64, 8).fits);
    assert_false(ask(c, "ae-auh-1", "other", 1, 0).known);
    assert_true(ask(c, "ae-auh-1", "other", 1, 1).any_gpu);     /* in another pool */
    assert_false(ask(c, "ae-fjr-1", "default", 1, 1).any_gpu);
    capacity_cache_free(c);
}

static void a_program_goes_to_a_machine_that_runs_them(void **state)
{
    (void)state;
    struct capacity_cache *c = capacity_cache_new();
    fixture_exec(&f, "UPDATE node SET programs = false WHERE zone = 'ae-auh-1'");
    needs_programs = true;
    assert_true(ask(c, "ae-dxb-1", "default", 1, 0).fits);
    const struct capacity_answer a = ask(c, "ae-auh-1", "default", 1, 0);
    assert_true(a.known && !a.fits);
    assert_int_equal(a.lacks, MISS_PROGRAMS);
    assert_string_equal(said, "flavor gpu, zone ae-auh-1: asked to run a program, it runs none");
    needs_programs = false;
    assert_true(ask(c, "ae-auh-1", "default", 1, 0).fits);
    capacity_cache_free(c);
}

/* Two machines of one shape that differ in their engines alone are two. */
static void a_model_goes_to_a_machine_with_its_engine(void **state)
{
    (void)state;
    struct capacity_cache *c = capacity_cache_new();
    fixture_exec(&f, "UPDATE node SET engines = 'onnxruntime 1.30.0' WHERE name = 'small'");
    engine = STR("onnxruntime");
    assert_true(ask(c, "ae-dxb-1", "default", 4, 0).fits);
    struct capacity_answer a = ask(c, "ae-dxb-1", "default", 5, 0);         /* the slots of one with the engine of another */
    assert_true(a.known && !a.fits);
    a = ask(c, "ae-auh-1", "default", 1, 0);
    assert_true(a.known && !a.fits && a.lacks == MISS_ENGINE);
    assert_string_equal(said, "flavor gpu, zone ae-auh-1: asked the engine onnxruntime, it has none");
    engine = STR_NULL;
    assert_true(ask(c, "ae-auh-1", "default", 1, 0).fits);
    capacity_cache_free(c);
}

static void it_is_two_seconds_old_at_most(void **state)
{
    (void)state;
    struct capacity_cache *c = capacity_cache_new();
    assert_true(ask(c, "ae-dxb-1", "default", 16, 0).fits);
    fixture_exec(&f, "UPDATE node SET state = 'QUARANTINED' WHERE name = 'large'");
    now_us += 1900000;
    assert_true(ask(c, "ae-dxb-1", "default", 16, 0).fits);
    now_us += 200000;
    assert_false(ask(c, "ae-dxb-1", "default", 16, 0).fits);
    fixture_exec(&f, "UPDATE node SET state = 'READY' WHERE name = 'large'");
    capacity_cache_free(c);
}

static void without_it_nothing_is_known(void **state)
{
    (void)state;
    struct capacity_answer a = ask(NULL, "ae-dxb-1", "default", 1000, 1000);
    assert_false(a.known || a.fits);
    capacity_cache_free(NULL);
}

/* What an engine lends is as large as is asked; what it is beside that is told by what it lent within an hour. */
static void an_engine_lends_what_no_machine_has(void **state)
{
    (void)state;
    struct capacity_cache *c = capacity_cache_new();
    fixture_exec(&f, "UPDATE node SET pool = 'hpc' WHERE name = 'small'");
    assert_false(ask(c, "ae-dxb-1", "hpc", 5, 8).fits);
    now_us += 2000000;
    kit_engine(&f, "hpc", 2);
    assert_true(ask(c, "ae-dxb-1", "hpc", 500, 8).fits);
    assert_false(ask(c, "ae-auh-1", "hpc", 500, 8).known);          /* in its zone alone */
    needs_programs = true;
    engine = STR("onnxruntime");
    assert_true(ask(c, "ae-dxb-1", "hpc", 500, 8).fits);            /* it lent none yet: nobody knows */
    now_us += 2000000;
    fixture_exec(&f, "UPDATE node SET name = 'hpc-1', programs = false, engines = '' WHERE name = 'small'");
    assert_int_equal(ask(c, "ae-dxb-1", "hpc", 500, 8).lacks, MISS_PROGRAMS);
    needs_programs = false;
    assert_int_equal(ask(c, "ae-dxb-1", "hpc", 500, 8).lacks, MISS_ENGINE);
    now_us += 2000000;
    fixture_exec(&f, "UPDATE node SET engines = 'onnxruntime 1.30.0' WHERE name = 'hpc-1'");
    assert_true(ask(c, "ae-dxb-1", "hpc", 500, 8).fits);
    engine = STR_NULL;
    nodes = 3;
    assert_false(ask(c, "ae-dxb-1", "hpc", 500, 8).fits);           /* of two machines */
    nodes = 1;
    runtime_s = 86401;
    assert_false(ask(c, "ae-dxb-1", "hpc", 500, 8).fits);           /* for a day at most */
    runtime_s = 0;
    assert_false(ask(c, "ae-dxb-1", "hpc", 500, 8).fits);           /* a deployment */
    runtime_s = 600;
    now_us += 2000000;
    fixture_exec(&f, "UPDATE engine SET enabled = false");
    assert_false(ask(c, "ae-dxb-1", "hpc", 500, 8).fits);
    fixture_exec(&f, "DELETE FROM engine");
    fixture_exec(&f, "UPDATE node SET pool = 'default', name = 'small', engines = '', programs = true WHERE name = 'hpc-1'");
    capacity_cache_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machines_of_a_zone),
        cmocka_unit_test(a_program_goes_to_a_machine_that_runs_them),
        cmocka_unit_test(a_model_goes_to_a_machine_with_its_engine),
        cmocka_unit_test(it_is_two_seconds_old_at_most),
        cmocka_unit_test(without_it_nothing_is_known),
        cmocka_unit_test(an_engine_lends_what_no_machine_has),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
