/* SPDX-License-Identifier: Apache-2.0 */
/* test_grow.c - who starts again on more machines: only where the next plan gives it twice as many, only while nobody waits in
 * its pool, and never for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/grow.h"
#include "scheduler/plan/placement.h"

enum { MOST = 8, JOBS = 3 };

static struct str zones[1] = { { "z-a", 3 } };

/* Jobs run where at says, by machine. */
struct world {
    struct arena *a;
    struct snap_node nodes[MOST];
    struct snap_tenant tenants[1];
    struct snap_job jobs[JOBS];
    int64_t free[MOST];
    bool at[JOBS][MOST], leaves[JOBS];
    size_t nnodes, njobs;
    struct grow_wait busy[1];
    size_t nbusy;
    int64_t has, gets;
};

static struct world begin(size_t nodes, int64_t slots)
{
    struct world w = { .a = arena_new(64 << 20), .nnodes = nodes };
    w.tenants[0] = (struct snap_tenant){ .allowed_zones = { zones, 1 }, .slots_limit = 1000 };
    for (size_t i = 0; i < nodes; i++) {
        w.free[i] = slots;
        w.nodes[i] = (struct snap_node){ .zone = zones[0], .pool = STR("default"), .flavor = STR("cpu"), .slots = slots,
                                         .gpu_model = STR(""), .gangs = true, .held = STR("") };
        w.nodes[i].node_id.b[0] = (uint8_t)(i + 1);
    }
    return w;
}

/* It runs on the machines [from, from + n). */
static struct snap_job *runs(struct world *w, int64_t min, int64_t max, int64_t slots, size_t from, size_t n)
{
    struct snap_job *j = &w->jobs[w->njobs++];
    *j = (struct snap_job){ .pool = STR("default"), .zones = { zones, 1 }, .slots = slots, .nodes = min, .nodes_max = max };
    j->job_id.b[15] = (uint8_t)w->njobs;
    for (size_t i = from; i < from + n; i++) {
        w->at[w->njobs - 1][i] = true;
        w->free[i] -= slots;
    }
    return j;
}

static struct snapshot snapshot_of(struct world *w, const struct snap_job *jobs, size_t n)
{
    struct snapshot s = { .nodes = { ARENA_ARRAY(w->a, struct snap_node, MOST), w->nnodes },
                          .tenants = { ARENA_ARRAY(w->a, struct snap_tenant, 1), 1 },
                          .jobs = { ARENA_ARRAY(w->a, struct snap_job, JOBS), n } };
    memcpy(s.nodes.items, w->nodes, sizeof w->nodes);
    memcpy(s.jobs.items, jobs, n * sizeof *jobs);
    s.tenants.items[0] = w->tenants[0];
    for (size_t i = 0; i < w->nnodes; i++)
        s.nodes.items[i].free_slots = w->free[i];
    for (size_t j = 0; j < w->njobs; j++)
        for (size_t i = 0; i < w->nnodes; i++)
            s.tenants.items[0].slots_used += w->at[j][i] * w->jobs[j].slots;
    return s;
}

/* The job that is to grow, or -1; nothing else has changed. */
static int chosen(struct world *w)
{
    struct grow_seat seats[JOBS * MOST];
    struct grow_in in = { .seats = seats, .busy = w->busy, .nbusy = w->nbusy };
    for (size_t j = 0; j < w->njobs; j++)
        for (size_t i = 0; i < w->nnodes; i++)
            if (w->at[j][i])
                seats[in.nseats++] = (struct grow_seat){ w->jobs[j].tenant_id, w->jobs[j].job_id, i, 0,
                                                             w->leaves[j] };
    struct snapshot s = snapshot_of(w, w->jobs, w->njobs);
    size_t job;
    snapshot_fill(&s);
    const struct snapshot was = { .nodes = { ARENA_ARRAY(w->a, struct snap_node, MOST), w->nnodes } };
    memcpy(was.nodes.items, s.nodes.items, MOST * sizeof *s.nodes.items);
    const int64_t used = s.tenants.items[0].slots_used;
    const bool is_found = grow_choose(&s, &in, w->a, &job, &w->has, &w->gets);
    assert_memory_equal(was.nodes.items, s.nodes.items, MOST * sizeof *s.nodes.items);
    assert_int_equal(s.tenants.items[0].slots_used, used);
    return is_found ? (int)job : -1;
}

/* It goes back and is planned alone; it runs where the plan says. Returns on how many machines. */
static int64_t starts_again(struct world *w, size_t job)
{
    for (size_t i = 0; i < w->nnodes; i++)
        w->free[i] += w->at[job][i] * w->jobs[job].slots;
    memset(w->at[job], 0, sizeof w->at[job]);
    struct snapshot s = snapshot_of(w, &w->jobs[job], 1);
    struct plan p;
    placement_plan(&s, w->a, &p);
    assert_int_equal(p.places.n, 1);
    for (size_t k = 0; k <= p.places.items[0].nmore; k++) {
        const size_t node = k ? p.places.items[0].more[k - 1].node : p.places.items[0].node;
        assert_false(w->at[job][node]);
        w->at[job][node] = true;
        w->free[node] -= w->jobs[job].slots;
        assert_true(w->free[node] >= 0);
    }
    return (int64_t)p.places.items[0].nmore + 1;
}

static void it_grows_once_its_machines_are_there(void **state)
{
    (void)state;
    struct world w = begin(4, 4);
    runs(&w, 1, 4, 3, 0, 1);
    w.free[3] = 0;                      /* others hold it: two are there, not four */
    assert_int_equal(chosen(&w), 0);
    assert_int_equal(w.has, 1);
    assert_int_equal(w.gets, 2);
    assert_int_equal(starts_again(&w, 0), 2);
    assert_int_equal(chosen(&w), -1);   /* a third machine is no reason */
    w.free[3] = 4;
    assert_int_equal(chosen(&w), 0);
    assert_int_equal(starts_again(&w, 0), 4);
    assert_int_equal(chosen(&w), -1);
    arena_free(w.a);
}

static void it_does_not_go_where_others_wait_or_nothing_is_left(void **state)
{
    (void)state;
    struct world w = begin(4, 4);
    struct snap_job *j = runs(&w, 1, 4, 3, 0, 1);
    w.busy[0].pool = STR("other");
    w.nbusy = 1;
    assert_int_equal(chosen(&w), 0);
    w.busy[0].pool = STR("default");
    assert_int_equal(chosen(&w), -1);
    w.busy[0] = (struct grow_wait){ .tenant_id.b[0] = 7 };      /* for the quota of another tenant */
    assert_int_equal(chosen(&w), 0);
    j->tenant_id = w.busy[0].tenant_id;
    assert_int_equal(chosen(&w), -1);
    j->tenant_id = (struct uuid){ 0 };
    w.nbusy = 0;
    w.tenants[0].slots_limit = 6;
    assert_int_equal(chosen(&w), 0);
    assert_int_equal(w.gets, 2);
    w.tenants[0].slots_limit = 5;
    assert_int_equal(chosen(&w), -1);
    w.tenants[0].slots_limit = 1000;
    j->denied = STR("no zone may hold its data");
    assert_int_equal(chosen(&w), -1);
    arena_free(w.a);
}

/* The order of the seats, by when they began (scheduler/grow.c), and not that of the jobs' ids. */
static void who_ran_longest_is_asked_first(void **state)
{
    (void)state;
    struct world w = begin(4, 4);
    runs(&w, 1, 2, 3, 0, 1);
    runs(&w, 1, 2, 3, 1, 1);
    struct snapshot s = snapshot_of(&w, w.jobs, 2);
    snapshot_fill(&s);
    for (size_t first = 0; first < 2; first++) {
        const struct grow_seat seats[] = { { .job_id = w.jobs[first].job_id, .node = first },
                                           { .job_id = w.jobs[!first].job_id, .node = !first } };
        const struct grow_in in = { .seats = seats, .nseats = 2 };
        size_t job;
        assert_true(grow_choose(&s, &in, w.a, &job, &w.has, &w.gets));
        assert_int_equal(job, first);
    }
    arena_free(w.a);
}

/* One that was told to go comes back and takes what is free then: another one grows into what that leaves, and not into the
 * same. */
static void what_those_that_leave_get_is_not_there(void **state)
{
    (void)state;
    struct world w = begin(3, 4);
    runs(&w, 1, 2, 3, 0, 1);
    runs(&w, 1, 2, 3, 1, 1);
    assert_int_equal(chosen(&w), 0);
    w.leaves[0] = true;
    assert_int_equal(chosen(&w), -1);   /* the third machine is the first one's */
    w.jobs[0].nodes_max = 1;
    assert_int_equal(chosen(&w), 1);
    w.jobs[0].nodes_max = 2;
    w.nnodes = 4;
    w.free[3] = 4;
    w.nodes[3] = w.nodes[2];
    w.nodes[3].node_id.b[0] = 4;
    assert_int_equal(chosen(&w), 1);
    assert_int_equal(w.gets, 2);
    w.tenants[0].slots_limit = 11;      /* six and six, of the same tenant */
    assert_int_equal(chosen(&w), -1);
    arena_free(w.a);
}

/* Back in a stopped queue it would not come out again. */
static void it_stays_where_its_queue_is_stopped(void **state)
{
    (void)state;
    for (int stop = QUEUE_GOES; stop <= QUEUE_HOLD_AND_DRAIN; stop++) {
        struct world w = begin(2, 4);
        struct rule_queue queue = { .name = STR("night"), .stop_policy = stop };
        runs(&w, 1, 2, 1, 0, 1)->queue = STR("night");
        w.tenants[0].guarded = true;
        struct snapshot s = snapshot_of(&w, w.jobs, 1);
        s.book.queues.items = &queue;
        s.book.queues.n = 1;
        rulebook_link(&s.book, w.a);
        const struct grow_seat seat = { .job_id = w.jobs[0].job_id };
        const struct grow_in in = { .seats = &seat, .nseats = 1 };
        size_t job;
        snapshot_fill(&s);
        assert_int_equal(grow_choose(&s, &in, w.a, &job, &w.has, &w.gets), stop == QUEUE_GOES);
        arena_free(w.a);
    }
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* What was promised is what the next plan gives, and after at most three times each of them grows no more. */
static void growing_comes_to_an_end(void **state)
{
    (void)state;
    uint64_t seed = 20261127;
    int64_t grown = 0;
    for (int round = 0; round < 2000; round++) {
        struct world w = begin(1 + next(&seed) % MOST, 4);
        int steps = 0, job;
        for (size_t i = 0; i < w.nnodes; i++)
            w.free[i] = next(&seed) % 4 ? 4 : (int64_t)(next(&seed) % 4);
        for (size_t k = 0; k < JOBS; k++) {
            const size_t at = next(&seed) % w.nnodes;
            const int64_t slots = 1 + (int64_t)(next(&seed) % 3);
            if (w.free[at] >= slots)
                runs(&w, 1, 1 << next(&seed) % 4, slots, at, 1);
        }
        w.tenants[0].slots_limit = 3 + (int64_t)(next(&seed) % 30);
        while ((job = chosen(&w)) >= 0) {
            assert_true(w.gets >= 2 * w.has && w.gets <= w.jobs[job].nodes_max);
            assert_int_equal(starts_again(&w, (size_t)job), w.gets);
            assert_true(++steps <= 3 * JOBS);
        }
        grown += steps;
        arena_free(w.a);
    }
    assert_true(grown > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_once_its_machines_are_there),
        cmocka_unit_test(it_does_not_go_where_others_wait_or_nothing_is_left),
        cmocka_unit_test(who_ran_longest_is_asked_first),
        cmocka_unit_test(what_those_that_leave_get_is_not_there),
                                        cmocka_unit_test(it_stays_where_its_queue_is_stopped),
        cmocka_unit_test(growing_comes_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
