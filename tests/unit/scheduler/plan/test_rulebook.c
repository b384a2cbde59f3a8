/* SPDX-License-Identifier: Apache-2.0 */
/* test_rulebook.c - the arithmetic of rules against a slow reference that knows no cohort sums, the two promises over random books, the
 * edges of borrowing and lending, and shares by weight that converge in a simulated run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/placement.h"

enum { RULES = 24, STEPS = 300, SEEDS = 1500, FOREIGN = 100 };

static uint64_t seed;
static int64_t pick(int64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)n);
}
static struct uuid id(int64_t n)
{
    struct uuid u = { { 0 } };
    u.b[15] = (uint8_t)n;
    return u;
}

static struct str flavors[3] = { { "", 0 }, { "cpu", 3 }, { "gpu", 3 } }, zones[3] = { { "", 0 }, { "z-a", 3 }, { "z-b", 3 } };
static struct str queues[2] = { { "default", 7 }, { "night", 5 } };

static bool same_key(const struct rule *a, const struct rule *b)
{
    return uuid_eq(a->tenant_id, b->tenant_id) && uuid_eq(a->project_id, b->project_id) && a->place == b->place && a->resource == b->resource &&
           str_eq(a->queue, b->queue) && str_eq(a->flavor, b->flavor) && str_eq(a->zone, b->zone);
}

static void random_book(struct rulebook *b, struct arena *a, uint64_t s)
{
    seed = s * 2654435761u + 7;
    *b = (struct rulebook){ 0 };
    b->rules.items = ARENA_ARRAY(a, struct rule, RULES + FOREIGN);
    b->rules.n = 0;
    for (int i = 0; i < RULES; i++) {
        struct rule r = { .tenant_id = id(1 + pick(3)), .place = (int)pick(3), .resource = (int)pick(2), .flavor = flavors[pick(3)],
                          .zone = zones[pick(3)], .nominal = pick(20), .borrowing_limit = pick(3) - 1 ? pick(10) : -1, .weight = 1 + pick(3000) };
        r.lending_limit = pick(2) ? pick(r.nominal + 1) : -1;
        r.project_id = r.place == RULE_TENANT ? UUID_NIL : id(r.place == RULE_PROJECT ? 1 + pick(2) : pick(3));
        r.queue = r.place == RULE_QUEUE ? queues[pick(2)] : STR("");
        bool is_new = true;
        for (size_t k = 0; k < b->rules.n; k++)
            is_new &= !same_key(&b->rules.items[k], &r);
        if (is_new)
            b->rules.items[b->rules.n++] = r;
    }
    /* Of other tenants, before and behind: what was walked is found by bisection then. */
    for (int i = 0; s % 8 == 0 && i < FOREIGN; i++)
        b->rules.items[b->rules.n++] = (struct rule){ .tenant_id = id(i % 2 ? 0 : 200), .place = RULE_QUEUE, .project_id = id(i),
                                                      .queue = queues[0], .borrowing_limit = -1, .weight = 1000 };
    rulebook_link(b, a);
}

/* ------------------------------------------------------------------------- the slow reference: every sum from the start, each time */
static bool in_cohort(const struct rule *a, const struct rule *b)
{
    return a->place == b->place && a->resource == b->resource && str_eq(a->flavor, b->flavor) && str_eq(a->zone, b->zone) &&
           (a->place == RULE_TENANT || uuid_eq(a->tenant_id, b->tenant_id)) && (a->place != RULE_QUEUE || uuid_eq(a->project_id, b->project_id));
}
static bool about(const struct rule *r, const struct rule_ask *k)
{
    return uuid_eq(r->tenant_id, k->tenant_id) && (!r->flavor.len || str_eq(r->flavor, k->flavor)) && (!r->zone.len || str_eq(r->zone, k->zone)) &&
           (r->place == RULE_TENANT || uuid_eq(r->project_id, k->project_id)) && (r->place != RULE_QUEUE || str_eq(r->queue, k->queue));
}
static int64_t asked(const struct rule *r, const struct rule_ask *k)
{
    return r->resource == RULE_SLOTS ? k->slots : k->gpus;
}
/* After the taking, would both promises hold for this rule and its cohort? */
static bool reference_allows(const struct rulebook *b, const struct rule_ask *k)
{
    for (size_t i = 0; i < b->rules.n; i++) {
        const struct rule *r = &b->rules.items[i];
        if (!about(r, k) || !asked(r, k))
            continue;
        if (r->borrowing_limit >= 0 && r->used + asked(r, k) > r->nominal + r->borrowing_limit)
            return false;
        int64_t lent = 0, lendable = 0;
        for (size_t m = 0; m < b->rules.n; m++) {
            const struct rule *o = &b->rules.items[m];
            if (!in_cohort(r, o))
                continue;
            int64_t lend = o->lending_limit < 0 ? o->nominal : o->lending_limit, used = o->used + (o == r ? asked(r, k) : 0);
            lendable += lend;
            lent += used > o->nominal - lend ? used - (o->nominal - lend) : 0;
        }
        if (lent > lendable)
            return false;
    }
    return true;
}

static struct rule_ask random_ask(void)
{
    return (struct rule_ask){ .tenant_id = id(1 + pick(3)), .project_id = id(pick(3)), .queue = queues[pick(2)], .flavor = flavors[1 + pick(2)],
                              .zone = zones[1 + pick(2)], .slots = 1 + pick(5), .gpus = pick(2) ? 0 : pick(3) };
}

static void agrees_with_the_slow_reference(void **state)
{
    (void)state;
    int64_t allowed = 0, refused = 0, borrowed = 0;
    for (uint64_t s = 1; s <= SEEDS; s++) {
        struct arena *a = arena_new(1 << 20);
        struct rulebook b;
        random_book(&b, a, s);
        for (int i = 0; i < STEPS; i++) {
            struct rule_ask k = random_ask();
            const struct rule *no = rulebook_refuses(&b, &k);
            if ((no == NULL) != reference_allows(&b, &k))
                fail_msg("seed %lu step %d: the reference says %s", (unsigned long)s, i, no ? "yes" : "no");
            allowed += no == NULL;
            refused += no != NULL;
            if (no)
                assert_true(asked(no, &k) > rulebook_room(&b, no));
            else
                rulebook_take(&b, &k);
        }
        for (size_t i = 0; i < b.rules.n; i++)
            borrowed += b.rules.items[i].used > b.rules.items[i].nominal;
        arena_free(a);
    }
    assert_true(allowed > 1000 && refused > 1000 && borrowed > 100);       /* the random books reach both sides */
}

static void what_is_guaranteed_is_never_lent(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct rule two[2] = { { .tenant_id = id(1), .resource = RULE_SLOTS, .nominal = 10, .borrowing_limit = -1, .lending_limit = 4, .weight = 1000 },
                           { .tenant_id = id(2), .resource = RULE_SLOTS, .nominal = 2, .borrowing_limit = -1, .lending_limit = -1, .weight = 1000 } };
    struct rulebook b = { .rules = { two, 2 } };
    struct rule_ask one = { .tenant_id = id(1), .slots = 1 }, other = { .tenant_id = id(2), .slots = 1 };
    int64_t got = 0;
    rulebook_link(&b, a);
    for (; !rulebook_refuses(&b, &other); got++)
        rulebook_take(&b, &other);
    assert_int_equal(got, 6);                   /* 2 of its own and the 4 that are lent */
    for (got = 0; !rulebook_refuses(&b, &one); got++)
        rulebook_take(&b, &one);
    assert_int_equal(got, 6);                   /* 10 less the 4 that are lent out: nothing is taken back */
    assert_int_equal(two[0].used + two[1].used, 12);
    struct str words = rulebook_words(&b, rulebook_refuses(&b, &one), &one, a);
    assert_true(str_starts(words, "needs 1 slots, the tenant uses 6 of its 10 and may take 0 more"));
    arena_free(a);
}

static void a_borrowing_limit_of_nothing_keeps_to_the_nominal(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct rule two[2] = { { .tenant_id = id(1), .nominal = 3, .borrowing_limit = 0, .lending_limit = -1, .weight = 1000 },
                           { .tenant_id = id(2), .nominal = 9, .borrowing_limit = 2, .lending_limit = -1, .weight = 1000 } };
    struct rulebook b = { .rules = { two, 2 } };
    rulebook_link(&b, a);
    assert_int_equal(rulebook_room(&b, &b.rules.items[0]), 3);
    assert_int_equal(rulebook_room(&b, &b.rules.items[1]), 11);
    arena_free(a);
}

static void ratios_do_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(rulebook_ratio(1, 4, 1000), 250000);
    assert_int_equal(rulebook_ratio(1, 4, 2000), 125000);
    assert_int_equal(rulebook_ratio(0, 0, 0), 0);
    assert_true(rulebook_ratio(1, 1, 0) == INT64_MAX);
    assert_true(rulebook_ratio(INT64_MAX, 1, 1) == INT64_MAX);
    assert_int_equal(rulebook_ratio(INT64_MAX, INT64_MAX, 1000), 1000000);
}

/* Two tenants, then two queues of one tenant, with weights 3 : 1, on a machine that is never idle: what they hold is 3 : 1. */
static int64_t held_by_first(bool are_queues)
{
    struct arena *a = arena_new(16 << 20);
    enum { JOBS = 200, ROOM = 40 };
    struct snap_node node = { .zone = zones[1], .pool = STR("p"), .flavor = flavors[1], .slots = ROOM, .free_slots = ROOM };
    struct snap_tenant *t = ARENA_ARRAY(a, struct snap_tenant, 2);
    struct snap_job *jobs = ARENA_ARRAY(a, struct snap_job, JOBS);
    struct rule *r = ARENA_ARRAY(a, struct rule, 2);
    for (int i = 0; i < 2; i++) {
        t[i] = (struct snap_tenant){ .tenant_id = id(1 + i), .allowed_zones = { zones + 1, 1 }, .slots_limit = 1000, .guarded = true };
        r[i] = (struct rule){ .tenant_id = id(are_queues ? 1 : 1 + i), .place = are_queues ? RULE_QUEUE : RULE_TENANT, .nominal = 100, .lending_limit = -1,
                              .borrowing_limit = -1, .weight = i ? 1000 : 3000, .queue = are_queues ? queues[i] : STR("") };
    }
    for (int i = 0; i < JOBS; i++)
        jobs[i] = (struct snap_job){ .zones = { zones + 1, 1 }, .job_id = id(i), .tenant = are_queues ? 0 : i % 2, .queue = queues[i % 2], .pool = STR("p"), .slots = 1,
                                     .submitted_at = { i } };
    struct snapshot s = { .nodes = { &node, 1 }, .tenants = { t, are_queues ? 1 : 2 }, .jobs = { jobs, JOBS }, .book.rules = { r, 2 } };
    rulebook_link(&s.book, a);
    for (size_t i = 0; i < s.tenants.n; i++)
        t[i].slots_weight = t[i].gpus_weight = rulebook_weight(&s.book, t[i].tenant_id, RULE_SLOTS);
    struct plan p;
    placement_plan(&s, a, &p);
    assert_int_equal(p.places.n, ROOM);
    int64_t first = 0;
    for (size_t i = 0; i < p.places.n; i++) {
        const struct snap_job *j = &s.jobs.items[p.places.items[i].job];
        first += are_queues ? str_eq(j->queue, queues[0]) : j->tenant == 0;
    }
    arena_free(a);
    return first;
}

static void weights_divide_what_is_there(void **state)
{
    (void)state;
    assert_int_equal(held_by_first(false), 30);
    assert_int_equal(held_by_first(true), 30);
}

/* Of a book that is walked and of one that is searched: those about the ask, of that place and resource, and no others. */
static void runs_are_of_one_place_and_resource(void **state)
{
    (void)state;
    for (uint64_t s = 1; s <= 400; s++) {
        struct arena *a = arena_new(1 << 20);
        struct rulebook b;
        random_book(&b, a, s % 2 ? s : s * 8);
        const struct rule_ask ask = { .tenant_id = id(1 + pick(3)), .project_id = id(pick(3)), .queue = queues[pick(2)] };
        for (int place = RULE_TENANT; place <= RULE_QUEUE; place++)
            for (int resource = RULE_SLOTS; resource <= RULE_JOBS; resource++) {
                size_t n = 0, want = 0;
                const struct rule *run = rulebook_run(&b, &ask, place, resource, &n), *first = NULL;
                for (size_t i = 0; i < b.rules.n; i++) {
                    const struct rule *r = &b.rules.items[i];
                    if (!uuid_eq(r->tenant_id, ask.tenant_id) || r->place != place || r->resource != resource ||
                        (place != RULE_TENANT && !uuid_eq(r->project_id, ask.project_id)) ||
                        (place == RULE_QUEUE && !str_eq(r->queue, ask.queue)))
                        continue;
                    first = first ? first : r;
                    want++;
                }
                assert_int_equal(n, want);
                assert_ptr_equal(run, first);
            }
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_slow_reference), cmocka_unit_test(what_is_guaranteed_is_never_lent),
        cmocka_unit_test(a_borrowing_limit_of_nothing_keeps_to_the_nominal), cmocka_unit_test(ratios_do_not_overflow),
        cmocka_unit_test(weights_divide_what_is_there), cmocka_unit_test(runs_are_of_one_place_and_resource),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
