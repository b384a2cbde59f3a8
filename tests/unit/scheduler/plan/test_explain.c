/* SPDX-License-Identifier: Apache-2.0 */
/* test_explain.c - each constraint leaves the machines it should, the nearest miss is named, and what the last step says is
 * what a plan of that job alone does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/explain.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/random.h"

enum { NODES = 6 };

static struct str home = { "home", 4 };

static int64_t step(const struct explain *x, const char *name, const char **detail)
{
    for (size_t i = 0; i < x->n; i++)
        if (str_eq_c(x->steps[i].constraint, name)) {
            *detail = x->steps[i].detail.ptr ? x->steps[i].detail.ptr : "";
            return x->steps[i].machines;
        }
    fail_msg("there is no step %s", name);
    return -1;
}

static bool has_step(const struct explain *x, const char *name)
{
    for (size_t i = 0; i < x->n; i++)
        if (str_eq_c(x->steps[i].constraint, name))
            return true;
    return false;
}

static void explain(struct arena *a, struct snapshot *s, const int64_t *alike, struct explain *ret)
{
    snapshot_fill(s);
    explain_job(s, alike, &s->tenants.items[0], &s->jobs.items[0], a, ret);
}

static void each_constraint_leaves_what_passes_it(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct snap_node n[NODES] = {
        { .zone = STR("away"), .pool = STR("p"), .slots = 64, .free_slots = 64, .gpus = 8, .free_gpus = 8,
            .gpu_model = STR("A") },
        { .zone = home, .pool = STR("q"), .slots = 64, .free_slots = 64, .gpus = 8, .free_gpus = 8, .gpu_model = STR("A") },
        { .zone = home, .pool = STR("p"), .slots = 64, .free_slots = 64, .gpus = 8, .free_gpus = 8, .gpu_model = STR("B") },
        { .zone = home, .pool = STR("p"), .slots = 2, .free_slots = 2, .gpus = 8, .free_gpus = 8, .gpu_model = STR("A") },
        { .zone = home, .pool = STR("p"), .flavor = STR("big"), .slots = 16, .free_slots = 3, .gpus = 4, .free_gpus = 4,
          .gpu_model = STR("A") },
        { .zone = home, .pool = STR("p"), .flavor = STR("big"), .slots = 16, .free_slots = 1, .gpus = 4, .free_gpus = 4,
          .gpu_model = STR("A") },
    };
    const int64_t alike[NODES] = { 10, 20, 30, 40, 50, 60 };
    struct snap_tenant t = { .allowed_zones = { &home, 1 }, .slots_limit = 100, .gpus_limit = 100 };
    struct snap_job j = { .zones = { &home, 1 }, .pool = STR("p"), .slots = 4, .gpus = 2, .gpu_models = STR("A") };
    struct snapshot s = { .nodes = { n, NODES }, .tenants = { &t, 1 }, .jobs = { &j, 1 } };
    struct explain x;
    const char *why;
    explain(a, &s, alike, &x);
    assert_int_equal(step(&x, "zone", &why), 200);
    assert_int_equal(step(&x, "pool", &why), 180);
    assert_int_equal(step(&x, "gpu_models", &why), 150);
    assert_int_equal(step(&x, "gpus", &why), 150);
    assert_int_equal(step(&x, "slots", &why), 110);
    assert_int_equal(step(&x, "memory_bytes", &why), 110);
    assert_int_equal(step(&x, "free_gpus", &why), 110);
    assert_string_equal(why, "");
    assert_int_equal(step(&x, "free_slots", &why), 0);
    assert_string_equal(why, "asked 4 slots, it has 3 free");
    assert_int_equal(step(&x, "quota", &why), 0);
    assert_string_equal(why, "");       /* nothing was left before it */
    assert_false(has_step(&x, "gpu_milli") || has_step(&x, "quota_rule"));
    assert_true(x.has_nearest && !x.is_never && str_eq_c(x.nearest.flavor, "big"));

    j.slots = 17;                       /* larger than every machine whose GPUs will do */
    explain(a, &s, alike, &x);
    assert_int_equal(step(&x, "slots", &why), 0);
    assert_true(x.has_nearest && x.is_never);
    assert_string_equal(x.lacks.ptr, "asked 17 slots, it has 16");

    j.slots = 3;
    t.gpus_limit = 1;
    explain(a, &s, alike, &x);
    assert_int_equal(step(&x, "free_slots", &why), 50);
    assert_int_equal(step(&x, "quota", &why), 0);
    assert_string_equal(why, "needs 2 GPUs, 0 of the tenant's 1 are in use");
    assert_false(x.has_nearest);
    explain_gate(&x, STR("hold"), STR("by a person"));
    assert_int_equal(step(&x, "hold", &why), 0);
    assert_string_equal(why, "by a person");

    j.denied = STR("not there");        /* the judge lets it in nowhere */
    j.zones.n = 0;
    explain(a, &s, alike, &x);
    assert_int_equal(step(&x, "zone", &why), 0);
    assert_string_equal(why, "not there");
    assert_false(x.has_nearest);
    arena_free(a);
}

static void a_rule_is_a_step_of_a_tenant_that_has_rules(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct snap_node n = { .zone = home, .pool = STR("p"), .flavor = STR("cpu"), .slots = 8, .free_slots = 8 };
    struct rule r = { .place = RULE_TENANT, .resource = RULE_SLOTS, .nominal = 4, .borrowing_limit = 0, .lending_limit = 0,
                      .weight = 1000, .used = 3 };
    struct snap_tenant t = { .allowed_zones = { &home, 1 }, .slots_limit = 100, .guarded = true };
    struct snap_job j = { .zones = { &home, 1 }, .pool = STR("p"), .slots = 2 };
    struct snapshot s = { .nodes = { &n, 1 }, .tenants = { &t, 1 }, .jobs = { &j, 1 }, .book = { .rules = { &r, 1 } } };
    const int64_t alike = 7;
    struct explain x;
    const char *why;
    rulebook_link(&s.book, a);
    explain(a, &s, &alike, &x);
    assert_int_equal(step(&x, "free_slots", &why), 7);
    assert_int_equal(step(&x, "quota_rule", &why), 0);
    assert_string_equal(why, "needs 2 slots, the tenant uses 3 of its 4 and may take 1 more");
    j.slots = 1;
    explain(a, &s, &alike, &x);
    assert_int_equal(step(&x, "quota_rule", &why), 7);
    assert_int_equal(step(&x, "quota", &why), 7);
    arena_free(a);
}

/* By chance: counts only fall, and a machine is left at the end exactly where the planner places the job. */
static void the_last_step_is_what_a_plan_does(void **state)
{
    (void)state;
    struct random r = { 11 };
    size_t placed = 0;
    for (int i = 0; i < 5000; i++) {
        struct arena *a = arena_new(1 << 20);
        struct snap_node n[NODES];
        int64_t alike[NODES];
        for (int k = 0; k < NODES; k++) {
            n[k] = (struct snap_node){ .zone = random_below(&r, 4) ? home : STR("away"), .pool = random_below(&r,
                4) ? STR("p") : STR("q"),
                                       .slots = 1 + (int64_t)random_below(&r, 8), .gpus = (int64_t)random_below(&r, 3),
                                       .memory_bytes = (int64_t)random_below(&r, 16) << 30, .gpu_shared = random_below(&r, 2),
                                       .programs = random_below(&r, 2),
                                       .engines = random_below(&r, 3) ? STR("onnxruntime 1.30.0") : STR(""),
                                       .gpu_model = random_below(&r, 2) ? STR("A") : STR("B") };
            n[k].free_slots = (int64_t)random_below(&r, (uint64_t)n[k].slots + 1);
            n[k].free_gpus = (int64_t)random_below(&r, (uint64_t)n[k].gpus + 1);
            alike[k] = 1 + (int64_t)random_below(&r, 9);
        }
        struct snap_tenant t = { .allowed_zones = { &home, 1 }, .slots_limit = (int64_t)random_below(&r, 20),
            .gpus_limit = 1 };
        struct snap_job j = { .zones = { &home, 1 }, .pool = STR("p"), .slots = 1 + (int64_t)random_below(&r, 6),
                              .gpus = (int64_t)random_below(&r, 3), .memory_bytes = (int64_t)random_below(&r, 12) << 30,
                              .gpu_models = random_below(&r, 2) ? STR("A") : STR(""), .needs_programs = random_below(&r, 2),
                              .engine = random_below(&r, 3) ? STR("") : STR("onnxruntime") };
        j.gpu_milli = j.gpus == 1 ? 100 * (1 + (int64_t)random_below(&r, 10)) : 1000;
        struct snapshot s = { .nodes = { n, NODES }, .tenants = { &t, 1 }, .jobs = { &j, 1 } };
        struct explain x;
        struct plan plan;
        explain(a, &s, alike, &x);
        for (size_t k = 1; k < x.n; k++)
            assert_true(x.steps[k].machines <= x.steps[k - 1].machines && x.steps[k].machines >= 0);
        placement_plan(&s, a, &plan);
        assert_int_equal(plan.places.n == 1, x.steps[x.n - 1].machines > 0);
        assert_true(!x.has_nearest || !plan.places.n);
        placed += plan.places.n;
        arena_free(a);
    }
    assert_in_range(placed, 500, 4500);
}

/* Two kinds with three and four machines that have room: a job on four may use the four of one. */
static void several_machines_are_of_one_kind(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct snap_node n[3] = {
        { .zone = home, .pool = STR("p"), .flavor = STR("big"), .slots = 16, .free_slots = 16, .gpu_model = STR("") },
        { .zone = home, .pool = STR("p"), .flavor = STR("big"), .slots = 16, .free_slots = 3, .gpu_model = STR("") },
        { .zone = home, .pool = STR("p"), .flavor = STR("small"), .slots = 8, .free_slots = 8, .gpu_model = STR("") },
    };
    for (size_t i = 0; i < 3; i++)
        n[i].gangs = true;
    int64_t alike[3] = { 3, 9, 4 };
    struct snap_tenant t = { .allowed_zones = { &home, 1 }, .slots_limit = 100 };
    struct snap_job j = { .zones = { &home, 1 }, .pool = STR("p"), .slots = 4, .nodes = 4 };
    struct snapshot s = { .nodes = { n, 3 }, .tenants = { &t, 1 }, .jobs = { &j, 1 } };
    struct explain x;
    const char *why;
    explain(a, &s, alike, &x);
    assert_int_equal(step(&x, "free_slots", &why), 7);
    assert_int_equal(step(&x, "nodes", &why), 4);
    assert_string_equal(why, "");
    assert_int_equal(step(&x, "quota", &why), 4);
    n[2].gangs = false;                 /* they run no parts of such jobs */
    explain(a, &s, alike, &x);
    assert_int_equal(step(&x, "nodes", &why), 0);
    n[2].gangs = true;
    alike[2] = 3;
    explain(a, &s, alike, &x);
    assert_int_equal(step(&x, "free_slots", &why), 6);
    assert_int_equal(step(&x, "nodes", &why), 0);
    assert_string_equal(why, "needs 4 machines of one zone and flavor at once, each with 4 slots and 0 GPUs; 3 have room now");
    j.nodes = 1;
    explain(a, &s, alike, &x);
    assert_false(has_step(&x, "nodes"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(several_machines_are_of_one_kind),
        cmocka_unit_test(each_constraint_leaves_what_passes_it),
                                        cmocka_unit_test(a_rule_is_a_step_of_a_tenant_that_has_rules),
                                        cmocka_unit_test(the_last_step_is_what_a_plan_does) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
