/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c - a generated cluster of the shape of a real one, filled by each policy: the default one allocates most; and timed
 * runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "scheduler/simulate/run.h"
#include "tests/unit/scheduler/simulate/trace_files.h"

static void free_list(void *p)
{
    free(p);
}

struct world { struct files f; struct arena *a; struct trace *t; };

static void world_init(struct world *w, int machines, int tasks)
{
    struct err e = { 0 };
    files_init(&w->f);
    w->a = arena_new((size_t)1 << 28);
    w->t = ARENA_NEW(w->a, struct trace);
    if (machines)
        files_generate(&w->f, machines, tasks);
    assert_int_equal(trace_read_machines(w->a, w->f.nodes, w->t, &e), ERR_OK);
    assert_int_equal(trace_read_tasks(w->a, w->f.tasks, w->t, &e), ERR_OK);
}

static void world_release(struct world *w)
{
    files_release(&w->f);
    arena_free(w->a);
}

/* Seats by themselves, without the fleet: each task fits when its turn comes, and one that was not placed fitted nowhere. */
static void check_seats(const struct trace *t, const struct run_result *r, const uint32_t *order, size_t n)
{
    struct room *free = calloc(t->machines.n, sizeof *free);
    size_t next = 0;
    for (size_t m = 0; m < t->machines.n; m++)
        free[m] = t->machines.items[m].all;
    for (size_t i = 0; i < n; i++) {
        const struct ask *a = &t->tasks.items[order[i]].ask;
        if (next < r->seats.n && r->seats.items[next].task == order[i]) {
            struct seat s = r->seats.items[next++].seat;
            assert_true(groups_has(&a->groups, free[s.machine].group));
            resource_take(&free[s.machine], a, s.devices);
            continue;
        }
        for (size_t m = 0; m < t->machines.n; m++)
            assert_false(resource_fits(&free[m], a));
    }
    assert_int_equal(next, r->seats.n);
    free_list(free);
}

static void the_default_policy_allocates_most(void **state)
{
    (void)state;
    struct world w;
    int64_t gpu[SCORE_COUNT];
    size_t n;
    world_init(&w, 40, 300);
    uint32_t *order = run_shuffled(w.a, w.t, 1, 1300, &n);
    for (int p = 0; p < SCORE_COUNT; p++) {
        struct run_result r, again;
        run_untimed(w.a, w.t, (enum score_policy)p, 1, order, n, &r);
        check_seats(w.t, &r, order, n);
        run_untimed(w.a, w.t, (enum score_policy)p, 1, order, n, &again);
        assert_memory_equal(r.seats.items, again.seats.items, r.seats.n * sizeof *r.seats.items);
        gpu[p] = r.gpu_ppm;
        printf("%s: %ld millionths of the GPUs\n", score_row((enum score_policy)p)->name, (long)r.gpu_ppm);
    }
    for (int p = 0; p < SCORE_COUNT; p++)
        assert_true(gpu[SCORE_DEFAULT] >= gpu[p]);
    assert_true(gpu[SCORE_DEFAULT] > gpu[SCORE_RANDOM] + 30000);
    world_release(&w);
}

static void drawing_again_stops_at_the_share_that_was_asked(void **state)
{
    (void)state;
    struct world w;
    int64_t all = 0, asked = 0;
    size_t n;
    world_init(&w, 60, 100);
    uint32_t *order = run_shuffled(w.a, w.t, 5, 1300, &n);
    for (size_t i = 0; i < w.t->machines.n; i++)
        all += room_milli(&w.t->machines.items[i].all);
    for (size_t i = 0; i < n; i++)
        asked += ask_milli(&w.t->tasks.items[order[i]].ask);
    assert_true(asked * 10 >= all * 13);
    assert_true((asked - ask_milli(&w.t->tasks.items[order[n - 1]].ask)) * 10 < all * 13);
    world_release(&w);
}

/* One machine with one GPU, three tasks of 100 s that come at 0, 10 and 20 s: they wait 0, 90 and 180 s. */
static void timed_tasks_wait_for_those_before_them(void **state)
{
    (void)state;
    struct world w;
    struct run_result r;
    struct err e = { 0 };
    world_init(&w, 0, 0);
    *w.t = (struct trace){ 0 };
    files_write(w.f.nodes, "sn,cpu_milli,memory_mib,gpu,model\na,8000,8192,1,T4\n");
    files_write(w.f.tasks, "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,qos\n"
                           "z,1,1,1,1000,20,120,LS\nx,1,1,1,1000,0,100,LS\ny,1,1,1,1000,10,110,LS\nn,1,1,2,1000,5,6,LS\n");
    assert_int_equal(trace_read_machines(w.a, w.f.nodes, w.t, &e), ERR_OK);
    assert_int_equal(trace_read_tasks(w.a, w.f.tasks, w.t, &e), ERR_OK);
    run_timed(w.a, w.t, SCORE_DEFAULT, 1, &r);
    assert_int_equal(r.placed, 3);
    assert_int_equal(r.failed, 1);      /* asks for two GPUs: waits for ever */
    assert_int_equal(r.seats.items[0].task, 1);
    assert_int_equal(r.seats.items[2].task, 0);
    assert_int_equal(r.wait_s_sum, 270);
    assert_int_equal(r.wait_s_p50, 90);
    assert_int_equal(r.wait_s_max, 180);
    assert_int_equal(r.gpu_ppm, 1000000);
    world_release(&w);
}

static void a_timed_cluster_empties_and_is_fair_among_equals(void **state)
{
    (void)state;
    struct world w;
    struct run_result r;
    world_init(&w, 12, 250);
    run_timed(w.a, w.t, SCORE_DEFAULT, 1, &r);
    assert_int_equal(r.placed, 250);    /* whatever ends makes room: nobody waits for ever */
    assert_true(r.fairness_ppm > 900000);
    assert_true(r.gpu_ppm > 0 && r.gpu_ppm <= 1000000);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_policy_allocates_most),
        cmocka_unit_test(drawing_again_stops_at_the_share_that_was_asked),
        cmocka_unit_test(timed_tasks_wait_for_those_before_them),
        cmocka_unit_test(a_timed_cluster_empties_and_is_fair_among_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
