/* SPDX-License-Identifier: Apache-2.0 */
/* test_backfill.c - a job on several machines gets a start which nobody placed behind it moves, and has begun by then while
 * small jobs stream in; and what is kept for it serves those who end before. */
#include "tests/unit/scheduler/plan/backfill_world.h"

static struct w_world w;
static struct arena *round_arena;       /* until the next round */

static void begin(uint64_t seed)
{
    w = (struct w_world){ .seed = seed * 2654435761u + 1, .now_us = W_SECOND, .limit = { 1000, 1000, 1000 } };
}

static void plan(bool is_full)
{
    arena_reset(round_arena);
    w_plan(&w, is_full, round_arena);
}

static void small_jobs_come(int64_t most)
{
    for (int64_t n = w_pick(&w, most); n > 0 && w.nwaits < 40; n--) {
        const int64_t slots = 1 + w_pick(&w, 2), limit_s = 1 + w_pick(&w, 120);
        w_job(&w, (int)w_pick(&w, W_TENANTS), 1, slots, limit_s);
    }
}

/* 300 worlds, with full and quick rounds in turns. */
static void nobody_behind_it_moves_its_start(void **state)
{
    (void)state;
    int64_t lent = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        begin(seed);
        w.gpus = seed % 2 ? 0 : 2;
        w.limit[1] = seed % 3 ? 1000 : W_NODES * W_SLOTS;
        for (int i = 0; i < 20; i++) {
            small_jobs_come(8);
            plan(false);
            w.now_us += W_SECOND;
        }
        struct snap_job *j = w_job(&w, 1, 2 + w_pick(&w, W_NODES - 1), 2 + w_pick(&w, W_SLOTS - 1), 30);
        j->gpus = w.gpus ? w_pick(&w, 3) : 0;
        const struct snap_job gang = *j;
        int64_t start_us = 0;
        plan(true);
        for (int i = 0; i < 150 && !w.gang_began_us; i++) {
            const struct start_booking *b = bookings_find(&w.bookings, gang.tenant_id, gang.job_id);
            assert_non_null(b);
            assert_true(!start_us || b->start_us <= start_us);
            start_us = b->start_us;
            w.now_us += W_SECOND;
            small_jobs_come(8);
            const size_t before = w.nruns;
            plan(i % 5 == 0 || w_pick(&w, 3) == 0);
            lent += w.nruns > before;
        }
        assert_true(w.gang_began_us && (!start_us || w.gang_began_us <= start_us));
    }
    assert_true(lent > 300);            /* and the machines were not left empty for it */
}

/* The whole cluster, of a tenant whose own small jobs stream in too and whose limit is the cluster. */
static void a_job_on_all_machines_starts_while_small_ones_stream_in(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        begin(seed);
        w.limit[0] = W_NODES * W_SLOTS;
        for (int i = 0; i < 30; i++) {
            small_jobs_come(10);
            plan(i % 3 == 0);
            w.now_us += W_SECOND;
        }
        w_job(&w, 0, W_NODES, W_SLOTS, 10);
        const int64_t came_us = w.now_us;
        while (!w.gang_began_us && w.now_us < came_us + 200 * W_SECOND) {
            w.now_us += W_SECOND;
            small_jobs_come(10);
            plan(w.now_us / W_SECOND % 5 == 0 || w_pick(&w, 3) == 0);
        }
        assert_true(w.gang_began_us && w.gang_began_us <= came_us + 123 * W_SECOND);
    }
}

static void who_ends_before_may_use_what_is_kept(void **state)
{
    (void)state;
    begin(1);
    for (int i = 0; i < W_NODES; i++)   /* half of each machine for ever so long, but for the last */
        w_job(&w, 0, 1, 3, i == W_NODES - 1 ? 5 : 100);
    plan(true);
    assert_int_equal(w.nruns, W_NODES);
    for (size_t i = 0; i < w.nruns; i++)
        w.runs[i].ends_us = w.runs[i].limit_us;
    struct snap_job gang = *w_job(&w, 1, 2, 4, 10);
    plan(true);
    const struct start_booking *b = bookings_find(&w.bookings, gang.tenant_id, gang.job_id);
    assert_non_null(b);
    assert_int_equal(b->start_us, W_SECOND + 100 * W_SECOND);
    struct snap_job late = *w_job(&w, 2, 1, 1, 101);
    plan(true);
    assert_int_equal(w.p.places.n, 1);  /* on a machine that nobody keeps */
    assert_null(bookings_at(&w.bookings, w.s.nodes.items[w.p.places.items[0].node].node_id));
    for (int i = 0; i < 8; i++)
        w_job(&w, 2, 1, 1, 101);
    plan(true);
    assert_int_equal(w.p.places.n, 3);  /* one slot on each of the four machines that are left, of which one is taken */
    for (size_t i = 0; i < w.p.waits.n; i++)
        if (w.p.waits.items[i].message.len && w.s.jobs.items[w.p.waits.items[i].job].nodes == 1)
            assert_true(str_starts(w.p.waits.items[i].message, "the machines with room are kept"));
    w_job(&w, 2, 1, 1, 70);
    plan(false);
    assert_int_equal(w.p.places.n, 1);
    assert_non_null(bookings_at(&w.bookings, w.s.nodes.items[w.p.places.items[0].node].node_id));
    (void)late;
}

static void where_something_stays_nothing_is_kept(void **state)
{
    (void)state;
    begin(1);
    w_job(&w, 0, 1, 3, 0);
    plan(true);
    w_job(&w, 1, W_NODES, 2, 10);
    plan(true);
    assert_int_equal(w.bookings.n, 0);
    w_job(&w, 2, 1, 4, 0);
    plan(true);
    assert_int_equal(w.p.places.n, 1);
}

static void a_higher_class_of_its_tenant_goes_before_it(void **state)
{
    (void)state;
    begin(1);
    w_job(&w, 0, 1, 3, 50);
    plan(true);
    w_job(&w, 1, W_NODES, 4, 10)->class_value = 5;
    plan(true);
    assert_int_equal(w.bookings.n, 1);
    w_job(&w, 2, 1, 1, 100)->class_value = 9;
    plan(true);
    assert_int_equal(w.p.places.n, 0);  /* another tenant's class is none of its business */
    w_job(&w, 1, 1, 1, 100)->class_value = 6;
    plan(true);
    assert_int_equal(w.p.places.n, 1);
    assert_int_equal(w.p.places.items[0].nmore, 0);
}

static void one_of_a_tenant_has_a_booking(void **state)
{
    (void)state;
    begin(1);
    w_job(&w, 0, 1, 4, 50);
    plan(true);
    struct snap_job first = *w_job(&w, 1, W_NODES, 1, 10);
    w_job(&w, 1, W_NODES, 2, 10);
    plan(true);
    assert_int_equal(w.bookings.n, 1);
    assert_non_null(bookings_find(&w.bookings, first.tenant_id, first.job_id));
    struct snap_job *j = w_job(&w, 1, W_NODES, 3, 10);
    j->priority = 7;
    const struct snap_job more = *j;
    plan(true);
    assert_int_equal(w.bookings.n, 1);
    assert_non_null(bookings_find(&w.bookings, more.tenant_id, more.job_id));
    w.nwaits = 0;
    plan(true);
    assert_int_equal(w.bookings.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_behind_it_moves_its_start),
        cmocka_unit_test(a_job_on_all_machines_starts_while_small_ones_stream_in),
        cmocka_unit_test(who_ends_before_may_use_what_is_kept),
        cmocka_unit_test(where_something_stays_nothing_is_kept),
        cmocka_unit_test(a_higher_class_of_its_tenant_goes_before_it),
        cmocka_unit_test(one_of_a_tenant_has_a_booking),
    };
    round_arena = arena_new((size_t)64 << 20);
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(round_arena);
    return rc;
}
