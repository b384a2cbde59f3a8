/* SPDX-License-Identifier: Apache-2.0 */
/* test_share.c - who goes next by what is borrowed, at each place; weights moved by usage; queues in strict order and stopped
 * ones; and a simulated week in which what queues used is within 2 % of their weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "scheduler/plan/placement.h"
#include "scheduler/plan/share.h"

static struct str zone = { "z-a", 3 }, names[4] = { { "day", 3 }, { "night", 5 }, { "week", 4 }, { "lender", 6 } };

static struct uuid id(int64_t n)
{
    struct uuid u = { { 0 } };
    for (int i = 0; i < 8; i++)
        u.b[15 - i] = (uint8_t)(n >> (8 * i));
    return u;
}

static struct rule rule_of(int place, int64_t project, int queue, int64_t nominal, int64_t used, int64_t weight)
{
    return (struct rule){ .tenant_id = id(1), .project_id = id(project), .place = place,
        .queue = queue < 0 ? STR("") : names[queue],
                          .resource = RULE_SLOTS, .nominal = nominal, .borrowing_limit = -1, .lending_limit = -1,
                              .weight = weight,
                          .used = used };
}

static void borrowed_goes_before_filled(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)1 << 20);
    struct rule r[3] = { rule_of(RULE_QUEUE, 0, 0, 10, 12, 1000), rule_of(RULE_QUEUE, 0, 1, 10, 10, 1000),
                         rule_of(RULE_QUEUE, 0, 2, 20, 1, 500) };
    struct rulebook b = { .rules = { r, 3 } };
    struct rule_ask day = { .tenant_id = id(1), .queue = names[0] }, night = day, week = day, other = day;
    night.queue = names[1];
    week.queue = names[2];
    other.queue = STR("other");
    rulebook_link(&b, a);
    const struct lane_share x = share_of(&b, &day), y = share_of(&b, &night), z = share_of(&b, &week), o = share_of(&b, &other);
    assert_int_equal(x.queue_borrowed, 50000);          /* 2 of the 40 that are lent */
    assert_int_equal(y.queue_borrowed, 0);
    assert_int_equal(y.queue_filled, 1000000);
    assert_int_equal(z.queue_filled, 100000);           /* 1 of 20, by half a weight */
    assert_true(share_compare(&y, &x) < 0 && share_compare(&z, &y) < 0 && share_compare(&o, &z) < 0);
    assert_int_equal(share_compare(&x, &x), 0);
    arena_free(a);
}

/* A queue that borrows nothing waits while its project borrows and another does not. */
static void projects_before_queues(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)1 << 20);
    struct rule r[4] = { rule_of(RULE_PROJECT, 1, -1, 10, 15, 1000), rule_of(RULE_PROJECT, 2, -1, 10, 5, 1000),
                         rule_of(RULE_QUEUE, 1, 0, 10, 0, 1000), rule_of(RULE_QUEUE, 2, 0, 1, 5, 1000) };
    struct rulebook b = { .rules = { r, 4 } };
    const struct rule_ask one = { .tenant_id = id(1), .project_id = id(1), .queue = names[0] },
                          two = { .tenant_id = id(1), .project_id = id(2), .queue = names[0] };
    rulebook_link(&b, a);
    const struct lane_share x = share_of(&b, &one), y = share_of(&b, &two);
    assert_true(x.project_borrowed > 0 && y.project_borrowed == 0 && y.queue_borrowed > 0);
    assert_true(share_compare(&y, &x) < 0);
    arena_free(a);
}

static void usage_moves_weights(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)1 << 20);
    struct rule r[2] = { rule_of(RULE_QUEUE, 0, 0, 10, 0, 1000), rule_of(RULE_QUEUE, 0, 1, 10, 0, 3000) };
    struct rule_queue q[2] = { { .tenant_id = id(1), .name = names[1], .slot_usage = 300 }, { .tenant_id = id(1),
        .name = names[0], .slot_usage = 100 } };
    struct rulebook b = { .rules = { r, 2 }, .queues = { q, 2 } };
    rulebook_link(&b, a);
    assert_int_equal(share_weight(&b, &b.rules.items[0]), 1000);        /* in proportion: as they were set */
    assert_int_equal(share_weight(&b, &b.rules.items[1]), 3000);
    b.queues.items[0].slot_usage = 0;   /* the other one used all: it keeps a thousandth, this one has twice its own */
    b = (struct rulebook){ .rules = { r, 2 }, .queues = { q, 2 } };
    rulebook_link(&b, a);
    assert_int_equal(share_weight(&b, &b.rules.items[0]), 2000);
    assert_int_equal(share_weight(&b, &b.rules.items[1]), 2000);
    r[1].weight = 0;
    assert_int_equal(share_weight(&b, &r[1]), 0);
    arena_free(a);
}

/* One machine of so many free slots and the jobs in that order, of the queue `day` that was declared so; ret: reasons by job. */
static size_t planned(struct arena *a, const struct rule_queue *declared, const int64_t *slots, size_t n, int64_t room,
    struct str *reasons)
{
    struct snap_node node = { .zone = zone, .pool = STR("p"), .flavor = STR("cpu"), .slots = 100, .free_slots = room };
    struct snap_tenant t = { .tenant_id = id(1), .slots_limit = 1000, .guarded = true, .slots_weight = 1000,
        .gpus_weight = 1000 };
    struct snap_job *jobs = ARENA_ARRAY(a, struct snap_job, n);
    struct rule_queue *q = ARENA_ARRAY(a, struct rule_queue, 1);
    struct plan p;
    *q = *declared;
    q->tenant_id = id(1);
    q->name = names[0];
    for (size_t i = 0; i < n; i++)
        jobs[i] = (struct snap_job){ .zones = { &zone, 1 }, .job_id = id((int64_t)i), .queue = names[0], .pool = STR("p"),
            .slots = slots[i],
                                     .shape = slots[i], .submitted_at = { (int64_t)i } };
    struct snapshot s = { .nodes = { &node, 1 }, .tenants = { &t, 1 }, .jobs = { jobs, n }, .book.queues = { q, 1 } };
    rulebook_link(&s.book, a);
    placement_plan(&s, a, &p);
    for (size_t i = 0; i < p.waits.n; i++)
        reasons[p.waits.items[i].job] = p.waits.items[i].reason;
    return p.places.n;
}

static void modes_and_stops(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)1 << 20);
    struct str why[3] = { { 0 } };
    const int64_t slots[3] = { 2, 9, 1 };
    struct rule_queue q = { .mode = QUEUE_BEST_EFFORT_FIFO };
    assert_int_equal(planned(a, &q, slots, 3, 4, why), 2);
    assert_true(str_eq_c(why[1], "Resources"));
    q.mode = QUEUE_STRICT_FIFO;
    assert_int_equal(planned(a, &q, slots, 3, 4, why), 1);
    assert_true(str_eq_c(why[1], "Resources") && str_eq_c(why[2], "Priority"));
    q.stop_policy = QUEUE_HOLD;
    assert_int_equal(planned(a, &q, slots, 3, 40, why), 0);
    for (int i = 0; i < 3; i++)
        assert_true(str_eq_c(why[i], "QueueStopped"));
    arena_free(a);
}

/* ------------------------------------------------------------------------------------------------------------ a simulated
 * week */
enum { QUEUES = 3, ROOM = 60, WEEK = 7 * 24 * 60, RUNS = 2000 };

static struct run { int queue; int64_t slots, ends_at; } runs[RUNS];
static size_t nruns;
static uint64_t seed = 88172645463325252u;
static int64_t pick(int64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)n);
}

static void minute(int64_t now, int64_t *usage, int64_t *held_minutes)
{
    static const int64_t weights[QUEUES] = { 1000, 2000, 3000 };
    enum { AHEAD = 20 };
    struct arena *a = arena_new((size_t)4 << 20);
    struct snap_job jobs[QUEUES * AHEAD];
    struct rule r[QUEUES + 1];
    struct rule_queue q[QUEUES];
    int64_t held[QUEUES] = { 0 }, all = 0;
    for (size_t i = 0; i < nruns;)
        if (runs[i].ends_at <= now)
            runs[i] = runs[--nruns];
        else
            held[runs[i].queue] += runs[i].slots, all += runs[i].slots, i++;
    for (int i = 0; i < QUEUES; i++) {
        r[i] = rule_of(RULE_QUEUE, 0, i, 0, held[i], weights[i]);
        q[i] = (struct rule_queue){ .tenant_id = id(1), .name = names[i], .slot_usage = usage[i],
            .mode = QUEUE_BEST_EFFORT_FIFO };
    }
    r[QUEUES] = rule_of(RULE_QUEUE, 0, QUEUES, ROOM, 0, 1000);     /* it has all, and lends it */
    size_t n = 0;
    for (int i = 0; i < QUEUES; i++)
        for (int k = 0; k < AHEAD; k++, n++)
            jobs[n] = (struct snap_job){ .zones = { &zone, 1 }, .job_id = id(now * 1000 + (int64_t)n), .queue = names[i],
                .pool = STR("p"),
                                         .slots = 1 + pick(4), .shape = (int64_t)n, .submitted_at = { now * 1000 + (int64_t)n } };
    struct snap_node node = { .zone = zone, .pool = STR("p"), .flavor = STR("cpu"), .slots = ROOM, .free_slots = ROOM - all };
    struct snap_tenant t = { .tenant_id = id(1), .slots_limit = 1000, .slots_used = all, .guarded = true, .slots_weight = 1000,
        .gpus_weight = 1000 };
    struct snapshot s = { .nodes = { &node, 1 }, .tenants = { &t, 1 }, .jobs = { jobs, n }, .book = { .rules = { r,
        QUEUES + 1 }, .queues = { q, QUEUES } } };
    struct plan p;
    rulebook_link(&s.book, a);
    placement_plan(&s, a, &p);
    for (size_t i = 0; i < p.places.n; i++) {
        const struct snap_job *j = &s.jobs.items[p.places.items[i].job];
        int of = 0;
        while (!str_eq(names[of], j->queue))
            of++;
        assert_true(nruns < RUNS);
        runs[nruns++] = (struct run){ of, j->slots, now + 10 + pick(110) };
        held[of] += j->slots;
    }
    for (int i = 0; i < QUEUES; i++) {
        held_minutes[i] += held[i];
        usage[i] = usage[i] - usage[i] / 14543 + held[i] * 60;  /* a minute of a half-life of a week */
    }
    arena_free(a);
}

static void a_week_is_fair(void **state)
{
    (void)state;
    int64_t usage[QUEUES] = { 0 }, held[QUEUES] = { 0 }, sum = 0;
    for (int64_t now = 1; now <= WEEK; now++)
        minute(now, usage, held);
    for (int i = 0; i < QUEUES; i++)
        sum += held[i];
    assert_true(sum > (int64_t)ROOM * WEEK * 95 / 100);
    for (int i = 0; i < QUEUES; i++) {
        const double error = (double)held[i] / (double)sum - (double)(i + 1) / 6;
        print_message("queue of weight %d: %.4f of what was used, error %.4f\n", i + 1, (double)held[i] / (double)sum, error);
        assert_true(error < 0.02 && error > -0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(borrowed_goes_before_filled), cmocka_unit_test(projects_before_queues),
                                        cmocka_unit_test(usage_moves_weights), cmocka_unit_test(modes_and_stops),
                                        cmocka_unit_test(a_week_is_fair) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
