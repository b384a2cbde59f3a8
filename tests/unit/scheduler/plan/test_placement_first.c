/* SPDX-License-Identifier: Apache-2.0 */
/* test_placement_first.c - who has a claim or a booking goes before all lines, and is not given what is kept for others. */
#include "tests/unit/scheduler/plan/backfill_world.h"
#include "scheduler/plan/claims.h"

static struct w_world w;
static struct claims claims;

static void begin(void)
{
    w = (struct w_world){ .seed = 1, .now_us = W_SECOND, .limit = { 1000, 1000, 1000 } };
    claims = (struct claims){ 0 };
}

static void plan(struct arena *a)
{
    w.s = w_snapshot(&w, a);
    w.s.claims = &claims;
    placement_plan(&w.s, a, &w.p);
    claims_untake(&claims, &w.s);
}

static struct start_booking booking(const struct snap_job *j, size_t first)
{
    struct start_booking b = { .tenant_id = j->tenant_id, .job_id = j->job_id, .ask = snap_job_ask(j), .n = (size_t)j->nodes,
                               .start_us = 1000 * W_SECOND };
    for (size_t i = 0; i < b.n; i++)
        b.seats[i].node_id.b[0] = (uint8_t)(first + i + 1);
    return b;
}

/* The job that came first asks for as much, and would have had the room. */
static void a_claim_goes_first_to_its_machine(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)64 << 20);
    begin();
    for (int i = 0; i < W_NODES; i++)
        w_job(&w, 0, 1, 4, 10);
    w.now_us += W_SECOND;
    const struct snap_job *j = w_job(&w, 0, 1, 4, 10);
    struct claim k = { .tenant_id = j->tenant_id, .job_id = j->job_id, .ask = snap_job_ask(j), .until_us = 100 };
    k.node_id.b[0] = 3;
    assert_true(claims_put(&claims, &k));
    plan(a);
    assert_int_equal(w.p.places.n, W_NODES);
    assert_true(uuid_eq(w.s.jobs.items[w.p.places.items[0].job].job_id, k.job_id));
    assert_int_equal(w.p.places.items[0].node, 2);
    arena_free(a);
}

static void a_booking_starts_as_soon_as_there_is_room(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)64 << 20);
    begin();
    for (int i = 0; i < W_NODES; i++)
        w_job(&w, 0, 1, 4, 10);
    w.now_us += W_SECOND;
    const struct snap_job *j = w_job(&w, 0, W_NODES, 4, 10);
    const struct start_booking b = booking(j, 0);
    assert_true(bookings_put(&w.bookings, &b));
    plan(a);
    assert_int_equal(w.p.places.n, 1);
    assert_true(uuid_eq(w.s.jobs.items[w.p.places.items[0].job].job_id, b.job_id));
    assert_true(w.bookings.items[0].is_started);
    arena_free(a);
}

static void it_is_not_given_the_machines_of_another(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)64 << 20);
    begin();
    const struct snap_job first = *w_job(&w, 0, W_NODES, 4, 10), second = *w_job(&w, 1, 2, 3, 10);
    struct start_booking b = booking(&first, 0);
    b.n = 4;
    assert_true(bookings_put(&w.bookings, &b));
    b = booking(&second, 4);
    assert_true(bookings_put(&w.bookings, &b));
    plan(a);
    assert_int_equal(w.p.places.n, 1);
    assert_true(uuid_eq(w.s.jobs.items[w.p.places.items[0].job].job_id, second.job_id));
    assert_true(w.p.places.items[0].node >= 4 && w.p.places.items[0].more[0].node >= 4);
    arena_free(a);
}

/* It goes before who came first, but with no more than it waits for; with more where nobody else waits. */
static void a_range_takes_its_least_before_others(void **state)
{
    (void)state;
    for (int others = 0; others < 2; others++) {
        struct arena *a = arena_new((size_t)64 << 20);
        begin();
        for (int i = 0; i < others * (W_NODES - 2); i++)
            w_job(&w, 0, 1, 4, 10);
        w.now_us += W_SECOND;
        struct snap_job *j = w_job(&w, 0, 2, 4, 10);
        j->nodes_max = 4;
        const struct start_booking b = booking(j, 0);
        assert_true(bookings_put(&w.bookings, &b));
        plan(a);
        assert_int_equal(w.p.places.n, others ? W_NODES - 1 : 1);
        assert_true(uuid_eq(w.s.jobs.items[w.p.places.items[0].job].job_id, b.job_id));
        assert_int_equal(w.p.places.items[0].nmore, others ? 1 : 3);
        arena_free(a);
    }
}

static void a_stopped_quota_starts_nobody(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)64 << 20);
    begin();
    const struct snap_job j = *w_job(&w, 0, 2, 4, 10);
    const struct start_booking b = booking(&j, 0);
    assert_true(bookings_put(&w.bookings, &b));
    w.limit[0] = 7;
    plan(a);
    assert_int_equal(w.p.places.n, 0);
    w.limit[0] = 8;
    plan(a);
    assert_int_equal(w.p.places.n, 1);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_goes_first_to_its_machine),
        cmocka_unit_test(a_booking_starts_as_soon_as_there_is_room),
        cmocka_unit_test(it_is_not_given_the_machines_of_another),
        cmocka_unit_test(a_range_takes_its_least_before_others),
        cmocka_unit_test(a_stopped_quota_starts_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
