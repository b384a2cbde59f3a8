/* SPDX-License-Identifier: Apache-2.0 */
/* test_gang.c - machines for jobs that want several: all or none, of one kind, never one twice; and the plan that takes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/gang.h"
#include "scheduler/plan/placement.h"

enum { MOST = 8 };

static struct str zones[2] = { { "z-a", 3 }, { "z-b", 3 } };

struct world {
    struct arena *a;
    struct snap_node nodes[MOST];
    struct snap_tenant tenants[1];
    struct snap_job jobs[MOST];
    struct snapshot s;
    struct plan p;
};

static void machine(struct world *w, struct str zone, struct str flavor, int64_t slots, int64_t free, bool gangs)
{
    struct snap_node *n = &w->nodes[w->s.nodes.n];
    *n = (struct snap_node){ .zone = zone, .pool = STR("default"), .flavor = flavor, .slots = slots, .free_slots = free,
                             .gpu_model = STR(""), .gangs = gangs };
    n->node_id.b[0] = (uint8_t)++w->s.nodes.n;
}

static struct snap_job *job(struct world *w, int64_t nodes, int64_t slots)
{
    struct snap_job *j = &w->jobs[w->s.jobs.n++];
    *j = (struct snap_job){ .pool = STR("default"), .zones = { zones, 2 }, .slots = slots, .nodes = nodes };
    j->job_id.b[15] = (uint8_t)w->s.jobs.n;
    return j;
}

static struct world begin(void)
{
    struct world w = { .a = arena_new(64 << 20) };
    w.tenants[0] = (struct snap_tenant){ .allowed_zones = { zones, 2 }, .slots_limit = 100, .gpus_limit = 10 };
    return w;
}

static void plan(struct world *w)
{
    w->s.nodes.items = w->nodes;
    w->s.tenants.items = w->tenants;
    w->s.tenants.n = 1;
    w->s.jobs.items = w->jobs;
    placement_plan(&w->s, w->a, &w->p);
}

static bool says(const struct world *w, const char *reason, const char *part)
{
    assert_int_equal(w->p.waits.n, 1);
    return str_eq_c(w->p.waits.items[0].reason, reason) && memmem(w->p.waits.items[0].message.ptr,
        w->p.waits.items[0].message.len, part, strlen(part));
}

/* As in the middle of an upgrade: parts of two versions would refuse each other when they meet. */
static void all_machines_are_of_one_version(void **state)
{
    (void)state;
    struct world w = begin();
    for (int i = 0; i < 3; i++) {
        machine(&w, zones[0], STR("cpu"), 4, 4, true);
        w.nodes[i].build = i == 1 ? STR("2.0 avx2") : STR("1.0 avx2");
    }
    job(&w, 2, 1);
    job(&w, 3, 1);
    plan(&w);
    assert_int_equal(w.p.places.n, 1);
    assert_true(says(&w, "NoMatchingFlavor", "needs 3 machines of one zone, flavor and version at once"));
    arena_free(w.a);
}

/* Those of the release before would run each part of a program as a whole one. */
static void programs_go_to_machines_that_join_them(void **state)
{
    (void)state;
    for (int can = 1; can <= 2; can++) {
        struct world w = begin();
        for (int i = 0; i < 2; i++) {
            machine(&w, zones[0], STR("cpu"), 4, 4, true);
            w.nodes[i].programs = true;
            w.nodes[i].gang_programs = i < can;
        }
        job(&w, 2, 1)->needs_programs = true;
        plan(&w);
        assert_int_equal(w.p.places.n, can - 1);
        assert_true(can == 2 || says(&w, "NoMatchingFlavor", "1 that run parts of such jobs are ready"));
        arena_free(w.a);
    }
}

/* A worker without the helper would run the whole command on every rank. */
static void ranks_of_mpirun_go_where_its_helper_is(void **state)
{
    (void)state;
    for (int can = 0; can <= 2; can++) {
        struct world w = begin();
        for (int i = 0; i < 2; i++) {
            machine(&w, zones[0], STR("cpu"), 4, 4, true);
            w.nodes[i].programs = w.nodes[i].gang_programs = true;
            w.nodes[i].engines = i < can ? STR("onnxruntime 1.30.0,falaj-rank 1") : STR("onnxruntime 1.30.0");
        }
        struct snap_job *j = job(&w, 2, 1);
        j->needs_programs = true;
        j->engine = STR("falaj-rank");
        plan(&w);
        assert_int_equal(w.p.places.n, can == 2);
        assert_true(can != 1 || says(&w, "NoMatchingFlavor", "1 that run parts of such jobs are ready"));
        assert_true(can != 0 || says(&w, "NoMatchingFlavor", "has falaj-rank, which comes with workers"));
        arena_free(w.a);
    }
}

static void all_machines_are_of_one_zone_and_flavor(void **state)
{
    (void)state;
    struct world w = begin();
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    machine(&w, zones[1], STR("cpu"), 4, 4, true);
    machine(&w, zones[0], STR("big"), 4, 4, true);
    job(&w, 2, 1);
    plan(&w);
    assert_int_equal(w.p.places.n, 0);
    assert_true(says(&w, "NoMatchingFlavor", "needs 2 machines of one zone, flavor and version at once"));
    arena_free(w.a);

    w = begin();
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    machine(&w, zones[1], STR("cpu"), 4, 4, true);
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    job(&w, 2, 1);
    plan(&w);
    assert_int_equal(w.p.places.n, 1);
    assert_int_equal(w.p.places.items[0].nmore, 1);
    assert_int_equal(w.p.places.items[0].node, 0);
    assert_int_equal(w.p.places.items[0].more[0].node, 2);
    arena_free(w.a);
}

/* One machine has room for both ranks, and gets one. */
static void no_machine_holds_two_ranks(void **state)
{
    (void)state;
    struct world w = begin();
    machine(&w, zones[0], STR("cpu"), 8, 8, true);
    machine(&w, zones[0], STR("cpu"), 4, 0, true);
    job(&w, 2, 1);
    plan(&w);
    assert_int_equal(w.p.places.n, 0);
    assert_true(says(&w, "Resources", "1 have room now"));
    assert_int_equal(w.nodes[0].free_slots, 8);         /* half a gang takes nothing */
    assert_int_equal(w.tenants[0].slots_used, 0);
    arena_free(w.a);
}

static void what_its_ranks_hold_is_gone_for_those_behind_it(void **state)
{
    (void)state;
    struct world w = begin();
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    job(&w, 2, 3)->priority = 10;
    job(&w, 1, 2);
    plan(&w);
    assert_int_equal(w.p.places.n, 1);
    assert_int_equal(w.p.waits.n, 1);
    assert_int_equal(w.nodes[0].free_slots, 1);
    assert_int_equal(w.nodes[1].free_slots, 1);
    assert_int_equal(w.tenants[0].slots_used, 6);
    arena_free(w.a);
}

static void the_tenants_limit_counts_all_its_machines(void **state)
{
    (void)state;
    struct world w = begin();
    w.tenants[0].slots_limit = 5;
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    job(&w, 2, 3);
    plan(&w);
    assert_int_equal(w.p.places.n, 0);
    assert_true(says(&w, "QuotaExceeded", "needs 6 slots, 0 of the tenant's 5"));
    arena_free(w.a);
}

static void machines_that_do_not_know_how_get_none(void **state)
{
    (void)state;
    struct world w = begin();
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    machine(&w, zones[0], STR("cpu"), 4, 4, false);
    job(&w, 2, 1);
    plan(&w);
    assert_int_equal(w.p.places.n, 0);
    assert_true(says(&w, "NoMatchingFlavor", "1 that run parts of such jobs are ready"));
    arena_free(w.a);
}

/* The kind with the fewest to spare, and of it the fullest machines. */
static void what_is_left_is_left_whole(void **state)
{
    (void)state;
    struct world w = begin();
    for (int i = 0; i < 4; i++)
        machine(&w, zones[0], STR("cpu"), 8, 8, true);
    machine(&w, zones[1], STR("cpu"), 8, 8, true);
    machine(&w, zones[1], STR("cpu"), 8, 3, true);
    machine(&w, zones[1], STR("cpu"), 8, 4, true);
    job(&w, 2, 2);
    plan(&w);
    assert_int_equal(w.p.places.n, 1);
    assert_int_equal(w.p.places.items[0].node, 5);
    assert_int_equal(w.p.places.items[0].more[0].node, 6);
    arena_free(w.a);
}

static void ranks_get_devices_of_their_own_machines(void **state)
{
    (void)state;
    struct world w = begin();
    for (int i = 0; i < 2; i++) {
        machine(&w, zones[0], STR("gpu"), 4, 4, true);
        w.nodes[i].gpus = w.nodes[i].free_gpus = 2;
        w.nodes[i].gpu_model = STR("A");
    }
    w.nodes[1].held = STR("1:1:1000");
    w.nodes[1].free_gpus = 1;
    job(&w, 2, 1)->gpus = 1;
    plan(&w);
    assert_int_equal(w.p.places.n, 1);
    assert_int_equal(w.p.places.items[0].node, 1);      /* fewer GPUs left */
    assert_int_equal(w.p.places.items[0].devices, 2);
    assert_int_equal(w.p.places.items[0].more[0].devices, 1);
    assert_int_equal(w.tenants[0].gpus_used, 2);
    arena_free(w.a);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* What it should get: the most, or half, or half of that, that one zone has room for and the tenant may hold. */
static int64_t largest(const struct world *w, const struct snap_job *j)
{
    int64_t free[2] = { 0, 0 };
    for (size_t i = 0; i < w->s.nodes.n; i++)
        free[str_eq(w->nodes[i].zone, zones[1])] += w->nodes[i].free_slots >= j->slots;
    for (int64_t n = j->nodes_max; n >= j->nodes; n /= 2)
        if (n * j->slots <= w->tenants[0].slots_limit && (free[0] >= n || free[1] >= n))
            return n;
    return 0;
}

static void an_elastic_job_gets_as_many_as_are_there(void **state)
{
    (void)state;
    uint64_t seed = 20261127;
    int64_t seen[9] = { 0 };
    for (int round = 0; round < 3000; round++) {
        struct world w = begin();
        const size_t n = next(&seed) % 2 ? MOST : 1 + next(&seed) % MOST;
        for (size_t i = 0; i < n; i++)
            machine(&w, zones[next(&seed) % 4 == 0], STR("cpu"), 4, next(&seed) % 4 ? 4 : (int64_t)(next(&seed) % 4), true);
        struct snap_job *j = job(&w, 1 << next(&seed) % 3, 1 + (int64_t)(next(&seed) % 3));
        j->nodes_max = j->nodes << next(&seed) % 3;
        w.tenants[0].slots_limit = (int64_t)(next(&seed) % 40);
        const struct snap_job was = *j;
        const int64_t expected = largest(&w, j);
        plan(&w);
        assert_int_equal(w.p.places.n, expected > 0);
        if (expected) {
            const struct placement *p = &w.p.places.items[0];
            bool taken[MOST] = { false };
            assert_int_equal(p->nmore + 1, expected);
            for (size_t k = 0; k <= p->nmore; k++) {
                const size_t at = k ? p->more[k - 1].node : p->node;
                assert_false(taken[at]);
                taken[at] = true;
                assert_true(str_eq(w.nodes[at].zone, w.nodes[p->node].zone));
                assert_true(w.nodes[at].free_slots >= 0);
            }
            assert_int_equal(w.tenants[0].slots_used, expected * was.slots);
        }
        seen[expected]++;
        arena_free(w.a);
    }
    for (int i = 0; i < 9; i++)         /* the worlds are not all alike */
        assert_true(seen[i] > 0 || (i & (i - 1)));
}

/* On machines that run no parts of gangs, like any other job on one machine. */
static void an_elastic_job_may_run_alone(void **state)
{
    (void)state;
    struct world w = begin();
    machine(&w, zones[0], STR("cpu"), 4, 4, false);
    machine(&w, zones[0], STR("cpu"), 4, 4, false);
    job(&w, 1, 2)->nodes_max = 2;
    plan(&w);
    assert_int_equal(w.p.places.n, 1);
    assert_int_equal(w.p.places.items[0].nmore, 0);
    arena_free(w.a);
}

/* Those behind it stand where it takes none, and it is asked for what it needs at least, not for its most. */
static void its_least_number_is_what_it_waits_for(void **state)
{
    (void)state;
    struct world w = begin();
    machine(&w, zones[0], STR("cpu"), 4, 4, true);
    machine(&w, zones[0], STR("cpu"), 4, 1, true);
    job(&w, 2, 2)->nodes_max = 4;
    plan(&w);
    assert_int_equal(w.p.places.n, 0);
    assert_true(says(&w, "Resources", "needs 2 machines"));
    arena_free(w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_machines_are_of_one_zone_and_flavor),
        cmocka_unit_test(all_machines_are_of_one_version),
        cmocka_unit_test(programs_go_to_machines_that_join_them),
        cmocka_unit_test(ranks_of_mpirun_go_where_its_helper_is),
        cmocka_unit_test(no_machine_holds_two_ranks),
        cmocka_unit_test(what_its_ranks_hold_is_gone_for_those_behind_it),
        cmocka_unit_test(the_tenants_limit_counts_all_its_machines),
        cmocka_unit_test(machines_that_do_not_know_how_get_none),
        cmocka_unit_test(what_is_left_is_left_whole),
        cmocka_unit_test(ranks_get_devices_of_their_own_machines),
        cmocka_unit_test(an_elastic_job_gets_as_many_as_are_there),
        cmocka_unit_test(an_elastic_job_may_run_alone),
        cmocka_unit_test(its_least_number_is_what_it_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
