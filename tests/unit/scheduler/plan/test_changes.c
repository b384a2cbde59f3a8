/* SPDX-License-Identifier: Apache-2.0 */
/* test_changes.c - each kind of change is found where it is enough, with the least number, and nothing where nothing is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/changes.h"

#define SEC ((int64_t)1000000)

static struct str home = { "home", 4 }, both[2] = { { "home", 4 }, { "away", 4 } };

static const struct change *change_of(const struct change *c, size_t n, int what)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].what == what)
            return &c[i];
    return NULL;
}

struct world {
    struct snap_node nodes[3];
    struct snap_tenant tenant;
    struct snap_job jobs[3];
    struct ahead_wait waits[3];
    struct ahead_live live[2];
    struct ahead_in in;
};

static struct snap_job job_of(uint8_t i, int64_t slots, int64_t gpus)
{
    return (struct snap_job){ .tenant_id = { { 1 } }, .job_id = { { 2, i } }, .pool = STR("p"), .zones = { &home, 1 },
                              .slots = slots,
                              .gpus = gpus, .cls = STR("default"), .submitted_at = { i } };
}

/* One machine in the home zone with 8 slots and 4 GPUs, of which live work holds 6 and 2; a free one of another pool; one
 * away. */
static void world_init(struct world *x)
{
    memset(x, 0, sizeof *x);
    x->nodes[0] = (struct snap_node){ .zone = home, .pool = STR("p"), .flavor = STR("f"), .slots = 8, .gpus = 4,
                                      .gpu_model = STR("A") };
    x->nodes[1] = (struct snap_node){ .zone = home, .pool = STR("q"), .flavor = STR("g"), .slots = 8, .gpus = 4,
                                      .gpu_model = STR("A") };
    x->nodes[2] = (struct snap_node){ .zone = STR("away"), .pool = STR("p"), .slots = 8, .gpus = 4, .gpu_model = STR("A") };
    for (int i = 0; i < 3; i++) {
        x->nodes[i].free_slots = x->nodes[i].slots;
        x->nodes[i].free_gpus = x->nodes[i].gpus;
    }
    x->tenant = (struct snap_tenant){ .tenant_id = { { 1 } }, .slots_limit = 100, .gpus_limit = 100 };
    x->live[0] = (struct ahead_live){ 0, &x->nodes[0], job_of(90, 6, 2), 3, 2000 * SEC };
    x->in = (struct ahead_in){ .base = { .nodes = { x->nodes, 3 }, .tenants = { &x->tenant, 1 }, .jobs = { x->jobs, 1 } },
                               .waits = x->waits, .live = x->live, .nlive = 1, .now_us = 1000 * SEC, .until_us = 5000 * SEC };
    for (int i = 0; i < 3; i++)
        x->waits[i] = (struct ahead_wait){ 0, 100 * SEC, true };
}

static void room_is_found_elsewhere_or_with_less(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    struct world x;
    struct change c[CHANGES];
    struct change_room room = { .zones = { both, 2 }, .best_priority = -1000 };
    size_t n;
    world_init(&x);
    x.jobs[0] = job_of(1, 5, 1);
    x.jobs[0].zone = home;
    n = changes_find(&x.in, 0, &room, a, c);
    assert_true(str_eq_c(change_of(c, n, CHANGE_ZONE)->to, "away"));
    assert_true(str_eq_c(change_of(c, n, CHANGE_POOL)->to, "q"));
    assert_true(str_eq_c(change_of(c, n, CHANGE_POOL)->flavor, "g"));
    assert_true(str_eq_c(change_of(c, n, CHANGE_SLOTS)->from, "5"));
    assert_true(str_eq_c(change_of(c, n, CHANGE_SLOTS)->to, "2"));     /* two of eight are free: three would not do */
    assert_null(change_of(c, n, CHANGE_GPUS));
    assert_null(change_of(c, n, CHANGE_QUOTA_SLOTS));
    assert_int_equal(c[0].what, CHANGE_ZONE);
    x.jobs[0] = job_of(1, 1, 4);
    n = changes_find(&x.in, 0, &room, a, c);
    assert_true(str_eq_c(change_of(c, n, CHANGE_GPUS)->to, "2"));
    assert_null(change_of(c, n, CHANGE_ZONE));                          /* it is pinned to none */
    arena_free(a);
}

static void models_and_memory_are_tried(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    struct world x;
    struct change c[CHANGES];
    const struct change_room room = { .best_priority = -1000 };
    size_t n;
    world_init(&x);
    x.jobs[0] = job_of(1, 1, 1);
    x.jobs[0].gpu_models = STR("B,C");
    n = changes_find(&x.in, 0, &room, a, c);
    assert_int_equal(n, 1);
    assert_true(str_eq_c(change_of(c, n, CHANGE_GPU_MODELS)->to, "A"));
    world_init(&x);
    x.in.base.nodes.n = 1;
    x.jobs[0] = job_of(1, 1, 0);
    x.jobs[0].memory_bytes = (int64_t)5 << 30;
    n = changes_find(&x.in, 0, &room, a, c);
    assert_true(str_eq_c(change_of(c, n, CHANGE_MEMORY)->to, "2147483648"));
    arena_free(a);
}

static void who_goes_first_may_be_passed(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    struct world x;
    struct change c[CHANGES];
    const struct change_class classes[] = { { STR("default"), 0 }, { STR("urgent"), 20 }, { STR("soon"), 10 },
                                            { STR("night"), -5 } };
    const struct change_room room = { .classes = classes, .nclasses = 4, .best_priority = 7 };
    size_t n;
    world_init(&x);
    x.in.base.nodes.n = 1;
    x.in.base.jobs.n = 2;
    x.jobs[0] = job_of(1, 2, 0);
    x.jobs[0].priority = 7;
    x.jobs[1] = job_of(2, 2, 0);
    n = changes_find(&x.in, 1, &room, a, c);
    assert_int_equal(n, 2);
    assert_true(str_eq_c(change_of(c, n, CHANGE_CLASS)->to, "soon"));   /* the least that is enough */
    assert_true(str_eq_c(change_of(c, n, CHANGE_PRIORITY)->to, "8"));
    arena_free(a);
}

static void a_quota_is_raised_by_what_lacks(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    struct world x;
    struct change c[CHANGES];
    const struct change_room room = { .best_priority = -1000 };
    struct rule rule = { .tenant_id = { { 1 } }, .place = RULE_TENANT, .resource = RULE_GPUS, .queue = STR(""), .flavor = STR(""),
                         .zone = STR(""), .nominal = 2, .borrowing_limit = 0, .lending_limit = 0, .weight = 1000 };
    size_t n;
    world_init(&x);
    x.tenant.slots_limit = 7;
    x.jobs[0] = job_of(1, 2, 0);
    n = changes_find(&x.in, 0, &room, a, c);
    assert_true(str_eq_c(change_of(c, n, CHANGE_QUOTA_SLOTS)->to, "8"));
    assert_true(str_eq_c(change_of(c, n, CHANGE_SLOTS)->to, "1"));
    world_init(&x);
    x.tenant.guarded = true;
    x.tenant.slots_weight = x.tenant.gpus_weight = 1000;
    x.in.base.book.rules.items = &rule;
    x.in.base.book.rules.n = 1;
    rulebook_link(&x.in.base.book, a);
    x.jobs[0] = job_of(1, 1, 2);
    n = changes_find(&x.in, 0, &room, a, c);
    assert_int_equal(n, 1);
    assert_true(str_eq_c(change_of(c, n, CHANGE_RULE)->to, "4"));
    arena_free(a);
}

/* A rule of another queue stands in nobody's way and is not tried, however many there are. */
static void rules_of_other_queues_are_not_tried(void **state)
{
    (void)state;
    enum { RULES = 20000 };
    struct arena *a = arena_new(1 << 26);
    static struct rule rules[RULES];
    struct world x;
    struct change c[CHANGES];
    const struct change_room room = { .best_priority = -1000 };
    size_t n;
    for (int i = 0; i < RULES; i++)
        rules[i] = (struct rule){ .tenant_id = { { 1 } }, .place = RULE_QUEUE, .resource = RULE_SLOTS,
                                  .queue = str_fmt(a, "q%d", i), .flavor = STR(""), .zone = STR(""), .nominal = 1,
                                  .lending_limit = 0, .weight = 1000 };
    world_init(&x);
    x.tenant.guarded = true;
    x.tenant.slots_weight = x.tenant.gpus_weight = 1000;
    x.in.base.book.rules.items = rules;
    x.in.base.book.rules.n = RULES;
    rulebook_link(&x.in.base.book, a);
    x.jobs[0] = job_of(1, 2, 0);
    x.jobs[0].queue = STR("q77");
    n = changes_find(&x.in, 0, &room, a, c);
    assert_true(str_eq_c(change_of(c, n, CHANGE_RULE)->to, "2"));
    x.jobs[0].queue = STR("other");
    x.jobs[0].zones.n = 0;
    assert_int_equal(changes_find(&x.in, 0, &room, a, c), 0);
    arena_free(a);
}

static void nothing_is_said_where_nothing_helps(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 24);
    struct world x;
    struct change c[CHANGES];
    const struct change_room room = { .best_priority = -1000 };
    world_init(&x);
    x.jobs[0] = job_of(1, 1, 0);
    x.jobs[0].zones.n = 0;              /* the judge lets it run nowhere */
    assert_int_equal(changes_find(&x.in, 0, &room, a, c), 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_found_elsewhere_or_with_less), cmocka_unit_test(models_and_memory_are_tried),
        cmocka_unit_test(who_goes_first_may_be_passed), cmocka_unit_test(a_quota_is_raised_by_what_lacks),
        cmocka_unit_test(rules_of_other_queues_are_not_tried), cmocka_unit_test(nothing_is_said_where_nothing_helps) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
