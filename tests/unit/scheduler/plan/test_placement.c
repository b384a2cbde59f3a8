/* SPDX-License-Identifier: Apache-2.0 */
/* test_placement.c - properties over random snapshots (nothing overbooked, zones kept, same in same out), fairness, words of
 * refusals, and a simulated run of 10,000 ticks in which a small tenant beside a flood is never starved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/placement.h"

enum { NODES = 8, TENANTS = 5, JOBS = 120, TICKS = 10000 };

static uint64_t seed;
static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}
static int64_t pick(int64_t n)
{
    return (int64_t)(next_random() % (uint64_t)n);
}

static struct str zone_names[3] = { { "z-a", 3 }, { "z-b", 3 }, { "z-c", 3 } };
static struct str pools[2] = { { "default", 7 }, { "gpu", 3 } };

static struct str models[3] = { { "A", 1 }, { "B", 1 }, { "C,B", 3 } };

static struct snapshot random_snapshot(struct arena *a, uint64_t s)
{
    struct snapshot r = { .nodes = { ARENA_ARRAY(a, struct snap_node, NODES), NODES }, .tenants = { ARENA_ARRAY(a, struct snap_tenant, TENANTS), TENANTS },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, JOBS), JOBS } };
    seed = s * 2654435761u + 1;
    for (int i = 0; i < NODES; i++) {
        struct snap_node *n = &r.nodes.items[i];
        *n = (struct snap_node){ .zone = zone_names[pick(3)], .pool = pools[pick(2)], .slots = 1 + pick(16), .gpus = pick(5) };
        n->free_slots = pick(n->slots + 1);
        n->free_gpus = pick(n->gpus + 1);
        n->node_id.b[0] = (uint8_t)i;
        if (pick(2)) {                  /* it says what it has; else its slots stand for it */
            n->cpu_milli = 1000 * pick(24);
            n->memory_bytes = pick(32) << 30;
            n->used_cpu_milli = 1000 * (n->slots - n->free_slots);
            n->used_memory_bytes = pick(n->slots - n->free_slots + 1) << 30;
        }
        n->gpu_model = n->gpus ? models[pick(2)] : STR("");
        n->gpu_shared = pick(2);
    }
    for (int i = 0; i < TENANTS; i++) {
        struct snap_tenant *t = &r.tenants.items[i];
        *t = (struct snap_tenant){ .allowed_zones = { zone_names, (size_t)pick(4) }, .slots_limit = pick(40), .gpus_limit = pick(6) };
        t->slots_used = pick(t->slots_limit + 1);
        t->gpus_used = pick(t->gpus_limit + 1);
        t->tenant_id.b[0] = (uint8_t)i;
    }
    for (int i = 0; i < JOBS; i++) {
        struct snap_job *j = &r.jobs.items[i];
        *j = (struct snap_job){ .zone = pick(3) ? STR_NULL : zone_names[pick(3)], .pool = pools[pick(2)], .slots = 1 + pick(6), .gpus = pick(3) ? 0 : pick(3),
                                .priority = pick(3), .submitted_at = { pick(50) }, .tenant = pick(TENANTS) };
        j->job_id.b[0] = (uint8_t)i;
        j->cpu_milli = pick(3) ? 0 : 1 + pick(j->slots * 1000);
        j->memory_bytes = pick(3) ? 0 : (1 + pick(12)) << 30;
        j->gpu_milli = j->gpus == 1 && pick(2) ? 100 + pick(800) : 0;
        j->gpu_models = pick(3) ? STR("") : models[pick(3)];
        j->zones = r.tenants.items[j->tenant].allowed_zones;      /* what the judge says of one class */
    }
    return r;
}

static void nothing_is_overbooked_and_zones_hold(void **state)
{
    (void)state;
    size_t placed = 0;
    for (uint64_t s = 1; s <= 2000; s++) {
        struct arena *a = arena_new(8 << 20);
        struct snapshot x = random_snapshot(a, s), before = random_snapshot(a, s);
        struct plan p;
        int64_t slots[NODES] = { 0 }, cpu[NODES] = { 0 }, memory[NODES] = { 0 }, tslots[TENANTS] = { 0 }, tgpus[TENANTS] = { 0 };
        bool seen[JOBS] = { false };
        placement_plan(&x, a, &p);
        snapshot_fill(&before);
        assert_int_equal(p.places.n + p.waits.n, JOBS);
        for (size_t i = 0; i < p.places.n; i++) {
            const struct snap_job *j = &x.jobs.items[p.places.items[i].job];
            size_t n = p.places.items[i].node;
            const struct snap_tenant *t = &before.tenants.items[j->tenant];
            bool allowed = false;
            for (size_t z = 0; z < t->allowed_zones.n; z++)
                allowed |= str_eq(((const struct str *)t->allowed_zones.items)[z], x.nodes.items[n].zone);
            assert_true(allowed);
            assert_true(!j->zone.ptr || str_eq(j->zone, x.nodes.items[n].zone));
            assert_true(str_eq(j->pool, x.nodes.items[n].pool));
            assert_false(seen[p.places.items[i].job]);
            seen[p.places.items[i].job] = true;
            const struct ask ask = snap_job_ask(j);
            assert_true(snap_job_takes(j, &x.nodes.items[n]));
            assert_true(devices_take(&before.nodes.items[n].devices, p.places.items[i].devices, ask.gpus, ask.gpu_milli));
            slots[n] += ask.slots;
            cpu[n] += ask.cpu_milli;
            memory[n] += ask.memory_bytes;
            tslots[j->tenant] += j->slots;
            tgpus[j->tenant] += j->gpus;
        }
        for (int i = 0; i < NODES; i++)
            assert_true(slots[i] <= before.nodes.items[i].free_slots && cpu[i] <= before.nodes.items[i].free_cpu_milli &&
                        memory[i] <= before.nodes.items[i].free_memory_bytes);
        for (int i = 0; i < TENANTS; i++) {
            assert_true(before.tenants.items[i].slots_used + tslots[i] <= before.tenants.items[i].slots_limit);
            assert_true(!tgpus[i] || before.tenants.items[i].gpus_used + tgpus[i] <= before.tenants.items[i].gpus_limit);
        }
        for (size_t i = 0; i < p.waits.n; i++) {
            const struct snap_job *j = &x.jobs.items[p.waits.items[i].job];
            const struct snap_tenant *t = &before.tenants.items[j->tenant];
            assert_true(!seen[p.waits.items[i].job] && p.waits.items[i].reason.len && p.waits.items[i].message.len);
            if (t->slots_used + tslots[j->tenant] + j->slots > t->slots_limit ||
                (j->gpus && t->gpus_used + tgpus[j->tenant] + j->gpus > t->gpus_limit))
                continue;
            for (int n = 0; n < NODES; n++) {               /* who waits within its tenant's quota fits nowhere */
                const struct snap_node *node = &x.nodes.items[n];       /* with what the plan left */
                const struct ask ask = snap_job_ask(j);
                bool allowed = false;
                for (size_t z = 0; z < t->allowed_zones.n; z++)
                    allowed |= str_eq(((const struct str *)t->allowed_zones.items)[z], node->zone);
                assert_false(allowed && str_eq(j->pool, node->pool) && (!j->zone.ptr || str_eq(j->zone, node->zone)) &&
                             snap_job_takes(j, node) && snap_node_fits(node, &ask));
            }
        }
        placed += p.places.n;
        arena_free(a);
    }
    assert_in_range(placed, 10000, 2000 * JOBS);            /* else there was nothing to see */
}

static void the_same_snapshot_gives_the_same_plan(void **state)
{
    (void)state;
    for (uint64_t s = 1; s <= 200; s++) {
        struct arena *a = arena_new(8 << 20);
        struct snapshot x = random_snapshot(a, s), y = random_snapshot(a, s);
        struct plan p, q;
        for (int i = 0; i < JOBS / 2; i++) {            /* read in another order */
            struct snap_job j = y.jobs.items[i];
            y.jobs.items[i] = y.jobs.items[JOBS - 1 - i];
            y.jobs.items[JOBS - 1 - i] = j;
        }
        placement_plan(&x, a, &p);
        placement_plan(&y, a, &q);
        assert_int_equal(p.places.n, q.places.n);
        for (size_t i = 0; i < p.places.n; i++) {
            assert_true(uuid_eq(x.jobs.items[p.places.items[i].job].job_id, y.jobs.items[q.places.items[i].job].job_id));
            assert_int_equal(p.places.items[i].node, q.places.items[i].node);
        }
        arena_free(a);
    }
}

static void what_the_judge_refused_is_placed_nowhere_and_told(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct snap_node node = { .zone = zone_names[0], .pool = pools[0], .slots = 10, .free_slots = 10 };
    struct snap_tenant t = { .allowed_zones = { zone_names, 3 }, .slots_limit = 12 };
    struct snap_job jobs[2] = { { .pool = pools[0], .slots = 1, .zones = { zone_names, 0 }, .denied = STR("By uae-health-ict health data leaves no zone"), .submitted_at = { 1 } },
                                { .pool = pools[0], .slots = 1, .zones = { zone_names + 1, 2 }, .submitted_at = { 2 } } };
    struct snapshot s = { .nodes = { &node, 1 }, .tenants = { &t, 1 }, .jobs = { jobs, 2 } };
    struct plan p;
    placement_plan(&s, a, &p);
    assert_int_equal(p.places.n, 0);
    assert_int_equal(p.waits.n, 2);
    assert_true(p.waits.items[0].is_denied && str_eq(p.waits.items[0].message, jobs[0].denied));
    assert_false(p.waits.items[1].is_denied);
    arena_free(a);
}

static void reasons_carry_numbers(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct snap_node node = { .zone = zone_names[0], .pool = pools[0], .slots = 10, .free_slots = 5 };
    struct snap_tenant t = { .allowed_zones = { zone_names, 2 }, .slots_used = 1, .slots_limit = 12, .gpus_limit = 4 };
    struct snap_job jobs[6] = {
        { .pool = pools[0], .slots = 8, .submitted_at = { 1 } }, { .pool = pools[0], .slots = 12, .submitted_at = { 2 } },
        { .pool = pools[0], .slots = 1, .zone = zone_names[1], .submitted_at = { 3 } }, { .pool = pools[1], .slots = 1, .submitted_at = { 4 } },
        { .pool = pools[0], .slots = 1, .gpus = 1, .zone = zone_names[0], .submitted_at = { 5 } },
        { .pool = pools[1], .slots = 1, .gpus = 1, .submitted_at = { 6 } } };
    static const char *const want[6] = { "needs 8 slots, the freest machine has 5 free", "needs 12 slots, 1 of the tenant's 12 are in use",
                                         "zone z-b has no ready machine", "pool gpu has no ready machine there",
                                         "no machine with a GPU is registered and ready in zone z-a",
                                         "no machine with a GPU is registered and ready in a zone that the tenant may use" };
    for (int i = 0; i < 6; i++)
        jobs[i].zones = t.allowed_zones;
    struct snapshot s = { .nodes = { &node, 1 }, .tenants = { &t, 1 }, .jobs = { jobs, 6 } };
    struct plan p;
    placement_plan(&s, a, &p);
    assert_int_equal(p.waits.n, 6);
    for (int i = 0; i < 6; i++)
        assert_true(str_eq_c(p.waits.items[i].message, want[i]));
    node.gpus = 1;                              /* taken, but there */
    placement_plan(&s, a, &p);
    assert_true(str_eq_c(p.waits.items[4].message, "needs 1 slots and 1 GPUs on one machine, the most GPUs free on one are 0"));
    arena_free(a);
}

/* One tenant floods, the other sends one job now and then; a job runs three ticks. */
static void nobody_starves(void **state)
{
    (void)state;
    int64_t free_at[TICKS + 4] = { 0 }, freed[2][TICKS + 4] = { { 0 } };
    int64_t used[2] = { 0 }, free_slots = 8, waiting_since = -1, longest = 0, done = 0;
    seed = 42;
    for (int64_t tick = 0; tick < TICKS; tick++) {
        struct arena *a = arena_new(1 << 20);
        free_slots += free_at[tick];
        used[0] -= freed[0][tick];
        used[1] -= freed[1][tick];
        if (waiting_since < 0 && !pick(4))
            waiting_since = tick;
        struct snap_node node = { .zone = zone_names[0], .pool = pools[0], .slots = 8, .free_slots = free_slots };
        struct snap_tenant t[2] = { { .allowed_zones = { zone_names, 1 }, .slots_used = used[0], .slots_limit = 64 },
                                    { .allowed_zones = { zone_names, 1 }, .slots_used = used[1], .slots_limit = 64 } };
        t[1].tenant_id.b[0] = 1;
        struct snap_job jobs[21];
        for (int i = 0; i < 20; i++)
            jobs[i] = (struct snap_job){ .zones = { zone_names, 1 }, .pool = pools[0], .slots = 1, .priority = 1000, .submitted_at = { 0 } };
        jobs[20] = (struct snap_job){ .zones = { zone_names, 1 }, .pool = pools[0], .slots = 1, .tenant = 1, .submitted_at = { tick } };
        struct snapshot s = { .nodes = { &node, 1 }, .tenants = { t, 2 }, .jobs = { jobs, waiting_since < 0 ? 20 : 21 } };
        struct plan p;
        placement_plan(&s, a, &p);
        for (size_t i = 0; i < p.places.n; i++) {
            int64_t who = s.jobs.items[p.places.items[i].job].tenant;
            free_slots--;
            used[who]++;
            free_at[tick + 3]++;
            freed[who][tick + 3]++;
            if (who == 1) {
                longest = tick - waiting_since > longest ? tick - waiting_since : longest;
                waiting_since = -1;
                done++;
            }
        }
        assert_true(free_slots >= 0);
        arena_free(a);
    }
    assert_true(done > 1000);
    assert_true(longest <= 3);
}

/* The two are alike but for their kind, and the machines run none of the first's. */
static void a_program_without_a_machine_keeps_no_other_job_back(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct snap_node node = { .zone = zone_names[0], .pool = pools[0], .slots = 4, .free_slots = 4 };
    struct snap_tenant t = { .allowed_zones = { zone_names, 1 }, .slots_limit = 10 };
    const struct snap_job one = { .zones = { zone_names, 1 }, .pool = pools[0], .slots = 1 };
    struct snap_job jobs[2] = { one, one };
    jobs[0].priority = 1;
    jobs[0].needs_programs = true;
    jobs[1].job_id.b[0] = 1;
    struct snapshot s = { .nodes = { &node, 1 }, .tenants = { &t, 1 }, .jobs = { jobs, 2 } };
    struct plan p;
    placement_plan(&s, a, &p);
    assert_int_equal(p.places.n, 1);
    assert_false(s.jobs.items[p.places.items[0].job].needs_programs);
    assert_int_equal(p.waits.n, 1);
    assert_true(str_eq_c(p.waits.items[0].reason, "NoMatchingFlavor"));
    arena_free(a);
}

/* Of names of one letter. */
static bool has_engine(const struct snap_node *n, const struct snap_job *j)
{
    return !j->engine.len || (n->engines.len && memchr(n->engines.ptr, j->engine.ptr[0], n->engines.len));
}

/* By chance: jobs whose models need an engine go to machines that have it and to no other, and each that waits finds no room on
 * those alone; jobs without one go anywhere. */
static void jobs_with_an_engine_go_where_it_is(void **state)
{
    (void)state;
    enum { MACHINES = 5, ASKED = 24 };
    static const struct str engines[] = { { "", 0 }, { "a 1", 3 }, { "b 2", 3 }, { "a 2,b 1", 7 } },
                            asks[] = { { "", 0 }, { "a", 1 }, { "b", 1 } };
    struct random r = { 5 };
    size_t placed = 0, waited = 0;
    for (int round = 0; round < 2000; round++) {
        struct arena *a = arena_new(1 << 22);
        struct snap_node n[MACHINES];
        struct snap_job jobs[ASKED];
        struct snap_tenant t = { .allowed_zones = { zone_names, 1 }, .slots_limit = 1000 };
        for (int i = 0; i < MACHINES; i++) {
            const int64_t slots = 1 + (int64_t)random_below(&r, 6);
            n[i] = (struct snap_node){ .zone = zone_names[0], .pool = pools[0], .slots = slots, .free_slots = slots,
                                       .engines = engines[random_below(&r, 4)] };
            n[i].node_id.b[0] = (uint8_t)i;
        }
        for (int i = 0; i < ASKED; i++) {
            jobs[i] = (struct snap_job){ .zones = { zone_names, 1 }, .pool = pools[0], .slots = 1,
                                         .engine = asks[random_below(&r, 3)], .priority = (int64_t)random_below(&r, 2) };
            jobs[i].job_id.b[0] = (uint8_t)(i + 1);
        }
        struct snapshot s = { .nodes = { n, MACHINES }, .tenants = { &t, 1 }, .jobs = { jobs, ASKED } };
        struct plan p;
        int64_t left[MACHINES];
        placement_plan(&s, a, &p);
        for (int i = 0; i < MACHINES; i++)
            left[i] = n[i].slots;
        for (size_t i = 0; i < p.places.n; i++) {
            assert_true(has_engine(&n[p.places.items[i].node], &s.jobs.items[p.places.items[i].job]));
            assert_true(--left[p.places.items[i].node] >= 0);
        }
        for (size_t i = 0; i < p.waits.n; i++)
            for (int k = 0; k < MACHINES; k++)
                assert_true(!left[k] || !has_engine(&n[k], &s.jobs.items[p.waits.items[i].job]));
        placed += p.places.n;
        waited += p.waits.n;
        arena_free(a);
    }
    assert_in_range(placed, 10000, 47000);
    assert_in_range(waited, 5000, 38000);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_overbooked_and_zones_hold), cmocka_unit_test(the_same_snapshot_gives_the_same_plan),
                                        cmocka_unit_test(what_the_judge_refused_is_placed_nowhere_and_told),
                                        cmocka_unit_test(reasons_carry_numbers), cmocka_unit_test(nobody_starves),
                                        cmocka_unit_test(a_program_without_a_machine_keeps_no_other_job_back),
        cmocka_unit_test(jobs_with_an_engine_go_where_it_is) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
