/* SPDX-License-Identifier: Apache-2.0 */
/* test_reserved.c - a machine with windows gets only jobs that end before them or that they are for, whichever way a plan finds
 * it a place, and everybody else is told why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/bookings.h"
#include "scheduler/plan/explain.h"
#include "scheduler/plan/ground.h"
#include "scheduler/plan/placement.h"

#define S ((int64_t)1000000)
#define NOW (1000000000 * S)
enum { NODES = 12, NODES_MOST = 160, TENANTS = 3, JOBS = 40, WINDOWS = 3 };

static struct str zone = { "z", 1 };
static uint64_t seed;

static int64_t pick(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static struct uuid id_of(int kind, int64_t n)
{
    struct uuid u = { { 0 } };
    u.b[0] = (uint8_t)kind;
    u.b[15] = (uint8_t)(n + 1);
    return u;
}

struct world {
    struct snap_node nodes[NODES_MOST];
    struct snap_tenant tenants[TENANTS];
    struct snap_job jobs[JOBS];
    struct reserved windows[NODES_MOST * WINDOWS];
    struct snapshot s;
};

static struct snap_node machine(int64_t i)
{
    return (struct snap_node){ .node_id = id_of(1, i), .zone = zone, .pool = STR("p"), .flavor = STR("f"), .slots = 4,
                               .free_slots = 4, .gangs = true, .build = STR("b"), .held = STR("") };
}

static struct snap_job job_of(int64_t tenant, int64_t n, int64_t runs_s)
{
    return (struct snap_job){ .tenant_id = id_of(2, tenant), .job_id = id_of(3, n), .project_id = id_of(4, n % 2),
                              .tenant = tenant, .pool = STR("p"), .slots = 1, .max_runtime_s = runs_s, .zones = { &zone, 1 },
                              .cls = STR("default"), .shape = runs_s };
}

static void world_of(struct world *w, size_t nodes, size_t jobs)
{
    *w = (struct world){ .s = { .now_us = NOW } };
    w->s.nodes.items = w->nodes;
    w->s.tenants.items = w->tenants;
    w->s.jobs.items = w->jobs;
    w->s.reserved.items = w->windows;
    for (w->s.nodes.n = 0; w->s.nodes.n < nodes; w->s.nodes.n++)
        w->nodes[w->s.nodes.n] = machine((int64_t)w->s.nodes.n);
    for (w->s.tenants.n = 0; w->s.tenants.n < TENANTS; w->s.tenants.n++)
        w->tenants[w->s.tenants.n] = (struct snap_tenant){ .tenant_id = id_of(2, (int64_t)w->s.tenants.n), .slots_limit = 1000,
                                                           .allowed_zones = { &zone, 1 } };
    w->s.jobs.n = jobs;
}

static void window(struct world *w, int64_t node, int64_t from_s, int64_t until_s, struct uuid tenant, struct uuid project)
{
    w->windows[w->s.reserved.n++] = (struct reserved){ id_of(1, node), tenant, project, NOW + from_s * S, NOW + until_s * S };
}

static void who_ends_before_or_owns_it_starts(void **state)
{
    (void)state;
    struct world w;
    world_of(&w, 1, 1);
    window(&w, 0, 3600, 7200, id_of(2, 1), id_of(4, 0));
    struct snap_job j = job_of(0, 0, 3570);
    snapshot_fill(&w.s);
    const struct snap_node *n = &w.nodes[0];
    assert_true(reserved_lets(n, &j));          /* with the slack it has ended at that very moment */
    j.max_runtime_s = 3571;
    assert_false(reserved_lets(n, &j));
    assert_true(reserved_lets_at(n, &j, NOW - S) && reserved_lets_at(n, &j, NOW + 7200 * S));
    assert_false(reserved_lets_at(n, &j, NOW + 7199 * S));
    j.tenant_id = id_of(2, 1);                  /* whom it is for, but another project: the first has an even number */
    j.project_id = id_of(4, 1);
    assert_false(reserved_lets(n, &j));
    j.project_id = id_of(4, 0);
    assert_true(reserved_lets(n, &j));
    w.windows[0].project_id = UUID_NIL;
    j.project_id = id_of(4, 1);
    assert_true(reserved_lets(n, &j));
    w.windows[0].tenant_id = UUID_NIL;          /* maintenance is for nobody */
    j.tenant_id = UUID_NIL;
    assert_false(reserved_lets(n, &j));
}

static void one_without_a_bound_stays_away_inside_the_horizon(void **state)
{
    (void)state;
    struct world w;
    world_of(&w, 1, 1);
    window(&w, 0, RESERVED_HORIZON_S, RESERVED_HORIZON_S + 60, UUID_NIL, UUID_NIL);
    const struct snap_job j = job_of(0, 0, 0);
    snapshot_fill(&w.s);
    assert_true(reserved_lets(&w.nodes[0], &j));
    assert_false(reserved_lets_at(&w.nodes[0], &j, NOW + 1));
}

static void an_own_window_does_not_hide_the_one_behind_it(void **state)
{
    (void)state;
    struct world w;
    world_of(&w, 1, 1);
    window(&w, 0, -60, 60, id_of(2, 0), UUID_NIL);
    window(&w, 0, 120, 180, UUID_NIL, UUID_NIL);
    struct snap_job j = job_of(0, 0, 90);
    snapshot_fill(&w.s);
    assert_true(reserved_lets(&w.nodes[0], &j));
    j.max_runtime_s = 91;
    assert_false(reserved_lets(&w.nodes[0], &j));
}

/* The rule once more, by all windows and not by the first. */
static bool is_clear(const struct world *w, struct uuid node, const struct snap_job *j)
{
    const int64_t ends_us = NOW + (j->max_runtime_s ? (j->max_runtime_s + RESERVED_SLACK_S) * S : RESERVED_HORIZON_S * S);
    for (size_t i = 0; i < w->s.reserved.n; i++) {
        const struct reserved *r = &w->windows[i];
        const bool is_own = uuid_eq(r->tenant_id, j->tenant_id) &&
                            (uuid_is_nil(r->project_id) || uuid_eq(r->project_id, j->project_id));
        if (uuid_eq(r->node_id, node) && !is_own && r->until_us > NOW && r->from_us < ends_us)
            return false;
    }
    return true;
}

static void random_world(struct world *w, uint64_t of, bool in_order, size_t nodes)
{
    seed = of;
    world_of(w, nodes, JOBS);
    for (int64_t i = 0; i < (int64_t)nodes; i++) {
        int64_t at = pick(2) ? -pick(300) : pick(4000);
        for (int64_t k = pick(WINDOWS + 1); k > 0; k--) {
            const int64_t len = 1 + pick(2000);
            const bool is_for_one = pick(2);
            window(w, i, at, at + len, is_for_one ? id_of(2, pick(TENANTS)) : UUID_NIL,
                   is_for_one && pick(2) ? id_of(4, pick(2)) : UUID_NIL);
            at += len + pick(3000);
        }
    }
    for (int64_t i = 0; i < JOBS; i++) {
        const int64_t runs_s = pick(6) ? 1 + pick(4) * 900 : 0;
        w->jobs[i] = job_of(pick(TENANTS), i, runs_s);
        w->jobs[i].slots = 1 + pick(3);
        w->jobs[i].nodes = pick(8) ? 0 : 2;
        w->jobs[i].shape = i;
    }
    for (size_t i = 0; !in_order && i < nodes / 2; i++) {   /* machines need not stand by their ids */
        const struct snap_node n = w->nodes[i];
        w->nodes[i] = w->nodes[nodes - 1 - i];
        w->nodes[nodes - 1 - i] = n;
    }
}

static size_t plan_and_check(struct world *w, struct arena *a)
{
    struct plan p;
    placement_plan(&w->s, a, &p);
    for (size_t i = 0; i < p.places.n; i++)
        for (size_t k = 0; k <= p.places.items[i].nmore; k++) {
            const struct placement *x = &p.places.items[i];
            const size_t node = k ? x->more[k - 1].node : x->node;
            assert_true(is_clear(w, w->nodes[node].node_id, &w->jobs[x->job]));
        }
    /* Nobody waits who could have a machine alone: what is left free is kept from him. */
    for (size_t i = 0; i < p.waits.n; i++) {
        const struct snap_job *j = &w->jobs[p.waits.items[i].job];
        const struct ask ask = snap_job_ask(j);
        bool fits = false, is_free = false;
        for (size_t k = 0; k < w->s.nodes.n; k++) {
            is_free |= snap_node_fits(&w->nodes[k], &ask);
            fits |= snap_node_fits(&w->nodes[k], &ask) && is_clear(w, w->nodes[k].node_id, j);
        }
        if (snap_job_nodes(j) > 1)
            continue;
        assert_false(fits);
        assert_true(!is_free || str_eq_c(p.waits.items[i].reason, "Reserved"));
    }
    return p.places.n;
}

/* 2,000 worlds; every third has so many different machines that no fleet holds them. */
static void no_plan_breaks_a_window_and_none_wastes_a_machine(void **state)
{
    (void)state;
    size_t placed = 0, waited = 0;
    for (uint64_t i = 1; i <= 2000; i++) {
        struct arena *a = arena_new(64 << 20);
        struct world w;
        random_world(&w, i, i % 2, NODES);
        if (i % 3 == 0)
            for (size_t k = 0; k < NODES; k++)
                w.nodes[k].gpus = w.nodes[k].free_gpus = 17;    /* more than a fleet has place for */
        const size_t n = plan_and_check(&w, a);
        placed += n;
        waited += JOBS - n;
        arena_free(a);
    }
    assert_true(placed > 20000 && waited > 20000);
}

/* More kinds of windows than the fleet takes: the rest is looked at one by one, with the same promises. */
static void many_kinds_of_windows_break_none(void **state)
{
    (void)state;
    size_t outside = 0, placed = 0;
    static struct world w;
    for (uint64_t i = 1; i <= 40; i++) {
        struct arena *a = arena_new(64 << 20);
        random_world(&w, i, i % 2, NODES_MOST);
        for (size_t k = 0; k < JOBS; k++) {
            w.jobs[k].max_runtime_s = 100 * (int64_t)(k + 1);
            w.jobs[k].slots = 3 + pick(2);
        }
        for (size_t k = 0; k < NODES_MOST / 2; k++)     /* few machines are left for many */
            w.nodes[2 * k].free_slots = 2;
        struct ground g;
        snapshot_link(&w.s);
        snapshot_fill(&w.s);
        ground_init(&g, &w.s, a);
        assert_non_null(g.fleet);
        for (size_t k = 0; g.is_out && k < NODES_MOST; k++)
            outside += g.is_out[k];
        placed += plan_and_check(&w, a);
        arena_free(a);
    }
    assert_true(outside > 400 && placed > 400);
}

static void machines_that_differ_to_no_job_are_alike(void **state)
{
    (void)state;
    struct arena *a = arena_new(16 << 20);
    struct world w;
    world_of(&w, 8, 2);
    w.jobs[0] = job_of(0, 0, 600);
    w.jobs[1] = job_of(0, 1, 1200);
    snapshot_link(&w.s);
    window(&w, 1, 100000, 100060, UUID_NIL, UUID_NIL);              /* far away: as if there were none */
    window(&w, 2, 700, 760, UUID_NIL, UUID_NIL);                    /* between the two bounds */
    window(&w, 3, 900, 960, UUID_NIL, UUID_NIL);                    /* and so */
    window(&w, 4, 100, 160, UUID_NIL, UUID_NIL);                    /* before both */
    window(&w, 5, 100, 160, id_of(2, 0), UUID_NIL);                 /* the same for one who waits */
    window(&w, 6, 100, 160, id_of(2, 9), UUID_NIL);                 /* for one who does not */
    window(&w, 7, -160, -100, UUID_NIL, UUID_NIL);                  /* over */
    snapshot_fill(&w.s);
    const uint32_t *k = reserved_kinds(&w.s, a);
    assert_true(!k[0] && !k[1] && !k[7]);
    assert_true(k[2] && k[2] == k[3] && k[4] && k[4] == k[6]);
    assert_true(k[5] && k[5] != k[4] && k[4] != k[2]);
    arena_free(a);
}

static void it_is_told_for_whom_and_until_when_and_no_name(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct world w;
    world_of(&w, 1, 1);
    window(&w, 0, 3600, 7200, id_of(2, 1), UUID_NIL);
    struct snap_job j = job_of(0, 0, 86400);
    assert_true(str_eq_c(reserved_words(&w.windows[0], &j, NOW, a),
                         "the machines with room are kept for another tenant from 2001-09-09T02:46Z until 2001-09-09T03:46Z, and "
                         "it might not end before (max_runtime_seconds 86400)"));
    w.windows[0].tenant_id = UUID_NIL;
    assert_true(str_eq_c(reserved_words(&w.windows[0], &j, NOW + 3600 * S, a),
                         "the machines with room are kept for maintenance until 2001-09-09T03:46Z"));
    const int64_t alike = 5;
    struct explain x;
    snapshot_fill(&w.s);
    explain_job(&w.s, &alike, &w.tenants[0], &j, a, &x);
    bool found = false;
    for (size_t i = 0; i < x.n; i++)
        if (str_eq_c(x.steps[i].constraint, "reserved")) {
            found = true;
            assert_int_equal(x.steps[i].machines, 0);
            assert_true(str_starts(x.steps[i].detail, "the machines with room are kept for maintenance"));
        }
    assert_true(found && !x.has_nearest);
    arena_free(a);
}

/* Against a look at every second of the time in which windows are. */
static void the_next_start_is_the_first_that_windows_let(void **state)
{
    (void)state;
    enum { SPAN = 400, MOST = 6 };
    static struct world w;
    size_t later = 0;
    for (uint64_t of = 1; of <= 300; of++) {
        seed = of;
        world_of(&w, 1, 1);
        struct snap_node *n = &w.nodes[0];
        for (int64_t from = pick(60), k = 0; from < SPAN && k < MOST; k++) {
            const int64_t until = from + 1 + pick(60);
            window(&w, 0, from, until, pick(3) ? UUID_NIL : id_of(2, pick(2)), pick(2) ? UUID_NIL : id_of(4, pick(2)));
            from = until + (pick(3) ? pick(90) : 0);
        }
        reserved_fill(&w.s);
        const struct snap_job j = job_of(pick(2), pick(2), 1 + pick(50));
        for (int64_t at = -100; at < SPAN; at += 7) {
            int64_t first = at;
            while (!reserved_lets_at(n, &j, NOW + first * S))
                first++;
            later += first > at;
            assert_int_equal(reserved_next_start(n, &j, NOW + at * S), NOW + first * S);
        }
    }
    assert_true(later > 1000);
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        T(who_ends_before_or_owns_it_starts),
        T(one_without_a_bound_stays_away_inside_the_horizon),
        T(an_own_window_does_not_hide_the_one_behind_it),
        T(the_next_start_is_the_first_that_windows_let),
        T(no_plan_breaks_a_window_and_none_wastes_a_machine),
        T(many_kinds_of_windows_break_none),
        T(machines_that_differ_to_no_job_are_alike),
        T(it_is_told_for_whom_and_until_when_and_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
