/* SPDX-License-Identifier: Apache-2.0 */
/* test_deal.c - random pools, second by second: with the rule a job on several machines begins within a bounded time while small
 * ones never cease, without it there are pools where it never does; and places are kept for one at a time, within its share and
 * its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/engines/deal.h"

enum { POOLS = 100, PLACES = 12, JOBS = 16, SECONDS = 1500 };

static uint64_t seed;

static int64_t pick(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static int64_t given(const struct deal_job *jobs, const bool *gets, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += gets[i] ? jobs[i].nodes : 0;
    return sum;
}

static void never_more_than_is_free_and_kept_for_one_within_its_share(void **state)
{
    (void)state;
    int held_often = 0;
    seed = 3;
    for (int k = 0; k < 30000; k++) {
        struct deal_job jobs[JOBS];
        const struct deal_rule rule = { 1 + pick(PLACES), 1 + pick(4), pick(4) ? 60 : 0, 1 + pick(90) };
        const struct deal_rule off = { rule.places, 1, 0, 0 };
        const size_t n = (size_t)pick(JOBS + 1);
        const int64_t free = pick(rule.places + 1);
        bool gets[JOBS], plain[JOBS];
        for (size_t i = 0; i < n; i++)
            jobs[i] = (struct deal_job){ pick(3) ? 1 : 2 + pick(5), pick(400), pick(3) };
        const struct deal_held held = engine_deal(jobs, n, free, &rule, gets);
        (void)engine_deal(jobs, n, free, &off, plain);
        assert_true(given(jobs, gets, n) <= free && held.job <= n);
        if (held.job == n) {
            assert_int_equal(held.places, 0);
            if (!rule.wait_s)
                assert_memory_equal(gets, plain, n * sizeof *gets);
            continue;
        }
        const struct deal_job *j = &jobs[held.job];
        held_often++;
        assert_int_equal(given(jobs, gets, n), 0);          /* all that is free is kept, and it is not enough */
        assert_int_equal(held.places, free);
        assert_true(j->nodes > free && j->nodes > 1 && j->nodes <= rule.places && j->waits_s >= rule.wait_s);
        assert_true(!j->tenant_places || j->tenant_places + j->nodes <= deal_share(&rule));
        assert_true(held.left_s > 0 && held.left_s <= rule.hold_s);
        for (size_t i = 0; i < held.job; i++)
            assert_int_equal(deal_hold_left(&jobs[i], &rule), 0);
    }
    assert_true(held_often > 300);
}

/* A gang of another tenant among small jobs that never cease, each for at most `longest` seconds. Seconds until it begins. */
static int64_t begins_after(const struct deal_rule *rule, int64_t nodes, int64_t longest, int64_t *kept_in_a_row)
{
    int64_t ends[PLACES], row = 0;
    for (int64_t p = 0; p < PLACES; p++)
        ends[p] = 1 + pick(longest);
    *kept_in_a_row = 0;
    for (int64_t now = 0; now < SECONDS; now++) {
        struct deal_job jobs[1 + PLACES];
        bool gets[1 + PLACES];
        int64_t free = 0, small;
        for (int64_t p = 0; p < rule->places; p++)
            free += ends[p] <= now;
        small = rule->places - free;
        for (size_t i = 0; i <= PLACES; i++)
            jobs[i] = (struct deal_job){ 1, 0, small };
        jobs[3] = (struct deal_job){ nodes, now, 0 };        /* some small ones stand before it */
        const struct deal_held held = engine_deal(jobs, 1 + PLACES, free, rule, gets);
        row = held.places ? row + 1 : 0;
        *kept_in_a_row = row > *kept_in_a_row ? row : *kept_in_a_row;
        if (gets[3])
            return now;
        for (int64_t p = 0, begun = given(jobs, gets, 1 + PLACES); p < rule->places && begun; p++)
            if (ends[p] <= now) {
                ends[p] = now + 1 + pick(longest);
                begun--;
            }
    }
    return SECONDS;
}

static void a_gang_begins_while_small_jobs_never_cease(void **state)
{
    (void)state;
    int starved = 0;
    for (int i = 0; i < POOLS; i++) {
        seed = (uint64_t)i + 1;
        const int64_t places = 4 + pick(PLACES - 3), nodes = places / 2 + 1, longest = 20 + pick(100);
        struct deal_rule rule = { places, 2, 300, longest + 1 }, off = rule;
        int64_t row;
        rule.tenants = 1 + pick(2);
        off.wait_s = 0;
        assert_true(begins_after(&rule, nodes, longest, &row) <= rule.wait_s + longest + 1);
        assert_true(row <= rule.hold_s);
        starved += begins_after(&off, nodes, longest, &row) == SECONDS;
        assert_int_equal(row, 0);
        rule.hold_s = 5;                                     /* too short for most: what is kept is bounded all the same */
        (void)begins_after(&rule, nodes, longest, &row);
        assert_true(row <= rule.hold_s);
    }
    assert_true(starved > POOLS / 2);
}

static void each_case_by_itself(void **state)
{
    (void)state;
    const struct deal_rule rule = { 4, 2, 600, 3600 };
    struct deal_job j = { 2, 599, 0 };
    assert_int_equal(deal_hold_left(&j, &rule), 0);
    j.waits_s = 600;
    assert_int_equal(deal_hold_left(&j, &rule), 3600);
    j.waits_s = 600 + 3599;
    assert_int_equal(deal_hold_left(&j, &rule), 1);
    j.waits_s = 600 + 3600;
    assert_int_equal(deal_hold_left(&j, &rule), 0);          /* its time is over */
    j.waits_s = 600 + 3600 + 600;
    assert_int_equal(deal_hold_left(&j, &rule), 3600);       /* and begins anew */
    j.tenant_places = 1;
    assert_int_equal(deal_hold_left(&j, &rule), 0);          /* one and two are more than its half of four */
    j = (struct deal_job){ 4, 600, 0 };
    assert_true(deal_hold_left(&j, &rule) > 0);              /* more than its share, and it has nothing besides */
    j.nodes = 5;
    assert_int_equal(deal_hold_left(&j, &rule), 0);
    j.nodes = 1;
    assert_int_equal(deal_hold_left(&j, &rule), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_more_than_is_free_and_kept_for_one_within_its_share),
        cmocka_unit_test(a_gang_begins_while_small_jobs_never_cease), cmocka_unit_test(each_case_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
