/* SPDX-License-Identifier: Apache-2.0 */
/* test_reclaim.c - who is owed what by rules; and 10,000 cycles of four queues of two tenants that borrow from each other: who
 * goes was
 * beyond its nominal or is of the own queue, nobody loses to another tenant but what it borrows, the one who sent away is
 * within its
 * nominal, no pair is seen twice while nothing comes or ends, and then all comes to rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "scheduler/plan/placement.h"
#include "scheduler/plan/preempt.h"
#include "scheduler/plan/reclaim.h"

enum { QUEUES = 4, NODES = 3, SLOTS = 16, JOBS = 48, CYCLES = 10000, CALM = 40, SECOND = 1000000 };

static uint64_t seed = 88172645463325252u;
static int64_t pick(int64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)n);
}

static struct uuid id_of(int kind, int64_t n)
{
    struct uuid u = { { (uint8_t)kind } };
    memcpy(u.b + 8, &n, sizeof n);
    return u;
}

static struct str zone = { "z-a", 3 }, names[2] = { { "day", 3 }, { "night", 5 } };
static struct claims claims;
static int64_t evicted, across, rested;

static struct life {
    enum { GONE, WAITS, RUNS, LEAVES } at;
    int number, queue, sent_by[JOBS];
    int64_t slots, priority, node, since, leaves_at, preempted;
    struct uuid leaves_for;
} lives[JOBS];

static struct uuid job_id(int i)
{
    return id_of(3, (int64_t)lives[i].number * JOBS + i);
}

static int who_is(struct uuid id)
{
    for (int i = 0; i < JOBS; i++)
        if (uuid_eq(job_id(i), id))
            return i;
    fail_msg("no such job");
    return -1;
}

static int64_t held_by(int queue, int tenant)
{
    int64_t n = 0;
    for (int i = 0; i < JOBS; i++)
        n += lives[i].at >= RUNS && (queue < 0 ? lives[i].queue / 2 == tenant : lives[i].queue == queue) ? lives[i].slots : 0;
    return n;
}

/* Both tenants have 24 of the 48 slots; of one of them each queue has a half of that, so that all its own is divided, and the
 * other's
 * queues take from the whole. */
static void rules_of(struct rulebook *b, struct arena *a)
{
    b->rules.items = ARENA_ARRAY(a, struct rule, QUEUES + 2);
    b->queues.items = ARENA_ARRAY(a, struct rule_queue, QUEUES);
    b->rules.n = QUEUES;
    b->queues.n = QUEUES;
    for (int q = 0; q < QUEUES; q++) {
        if (q / 2)
            b->rules.items[q - 2] = (struct rule){ .tenant_id = id_of(2, q / 2), .place = RULE_QUEUE, .queue = names[q % 2],
                .nominal = 12, .weight = 1000,
                                           .borrowing_limit = -1, .lending_limit = -1, .used = held_by(q, 0) };
        b->queues.items[q] = (struct rule_queue){ .tenant_id = id_of(2, q / 2), .name = names[q % 2],
            .mode = QUEUE_BEST_EFFORT_FIFO,
            .within_cluster_queue = q % 3, .reclaim_within_cohort = q == 3 ? RECLAIM_LOWER_PRIORITY : RECLAIM_ANY };
    }
    for (int t = 0; t < 2; t++)
        b->rules.items[2 + t] = (struct rule){ .tenant_id = id_of(2, t), .place = RULE_TENANT, .queue = STR(""), .nominal = 24,
            .weight = 1000,
                                                    .borrowing_limit = -1, .lending_limit = -1, .used = held_by(-1, t) };
    rulebook_link(b, a);
}

static struct snapshot picture(struct arena *a, int64_t now, struct holders *h, int *of)
{
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, NODES), NODES }, .tenants = { ARENA_ARRAY(a,
        struct snap_tenant, 2), 2 },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, JOBS), 0 }, .claims = &claims };
    h->items = ARENA_ARRAY(a, struct snap_holder, JOBS);
    h->n = 0;
    for (int64_t i = 0; i < NODES; i++)
        s.nodes.items[i] = (struct snap_node){ .node_id = id_of(1, i), .zone = zone, .pool = STR("p"), .flavor = STR("cpu"),
            .slots = SLOTS,
                                               .free_slots = SLOTS };
    for (int64_t t = 0; t < 2; t++)
        s.tenants.items[t] = (struct snap_tenant){ .tenant_id = id_of(2, t), .slots_limit = 100, .guarded = true,
            .slots_weight = 1000,
                                                   .gpus_weight = 1000, .slots_used = held_by(-1, (int)t) };
    rules_of(&s.book, a);
    for (int i = 0; i < JOBS; i++) {
        const struct life *l = &lives[i];
        const struct str queue = names[l->queue % 2];
        if (l->at == WAITS)
            s.jobs.items[s.jobs.n++] = (struct snap_job){ .tenant_id = id_of(2, l->queue / 2), .job_id = job_id(i),
                .pool = STR("p"), .queue = queue,
                .zones = { &zone, 1 }, .slots = l->slots, .cls = STR("c"), .shape = i, .priority = l->priority,
                    .submitted_at = { l->since } };
        if (l->at < RUNS)
            continue;
        s.nodes.items[l->node].free_slots -= l->slots;
        assert_true(s.nodes.items[l->node].free_slots >= 0);
        of[h->n] = i;
        h->items[h->n++] = (struct snap_holder){ .tenant_id = id_of(2, l->queue / 2), .job_id = job_id(i),
            .attempt_id = id_of(4, i),
            .node_id = id_of(1, l->node), .slots = l->slots, .cpu_milli = l->slots * 1000, .memory_bytes = l->slots << 30,
                .gpu_milli = 1000,
            .priority = l->priority, .ran_ms = 1000, .lost_ms = (now - l->since) / 1000, .preempted = l->preempted,
                .queue = queue,
            .is_leaving = l->at == LEAVES, .leaves_for = l->leaves_for, .submitted_at = { l->since } };
    }
    snapshot_link(&s);
    return s;
}

static void evict(const struct snapshot *s, const struct preemption *r, const int *of, int64_t now)
{
    int64_t queues[QUEUES], tenants[2];
    for (int q = 0; q < QUEUES; q++)
        queues[q] = held_by(q, 0);
    for (int t = 0; t < 2; t++)
        tenants[t] = held_by(-1, t);
    for (size_t i = 0; i < r->evictions.n; i++) {
        const int a = who_is(s->jobs.items[r->evictions.items[i].job].job_id), b = of[r->evictions.items[i].holder];
        struct life *x = &lives[a], *y = &lives[b];
        assert_true(y->at == RUNS && y->preempted < PREEMPTIONS_MAX);
        assert_true(!x->sent_by[b] && !y->sent_by[a]);  /* no pair twice, in either direction, while nothing changed */
        if (x->queue / 2 != y->queue / 2) {
            assert_true(tenants[y->queue / 2] > 24);    /* it borrows, before anybody of this plan goes */
            across++;
        } else if (x->queue != y->queue) {
            assert_true(y->queue / 2 && queues[y->queue] > 12);
        } else {
            assert_true(y->priority < x->priority || x->queue % 3 == 2);
        }
        y->sent_by[a]++;
        y->at = LEAVES;
        y->leaves_at = now + (1 + pick(3)) * SECOND;
        y->leaves_for = job_id(a);
        evicted++;
    }
}

static void pass_time(int64_t now, bool is_calm)
{
    const int64_t phase = now / SECOND / 200 % 3;       /* one tenant comes alone, then the other, then both */
    for (int i = 0; i < JOBS; i++) {
        struct life *l = &lives[i];
        if (!is_calm)                   /* things change: who borrows may be another one */
            memset(l->sent_by, 0, sizeof l->sent_by);
        if (l->at == GONE && !is_calm && pick(12) == 0) {
            *l = (struct life){ .at = WAITS, .number = l->number + 1,
                .queue = (int)(phase < 2 ? 2 * phase + pick(2) : pick(QUEUES)), .slots = 1 + pick(8), .priority = pick(3),
                                .since = now };
        } else if (l->at == RUNS && !is_calm && pick(20) == 0) {
            l->at = GONE;
        } else if (l->at == LEAVES && now >= l->leaves_at) {
            l->at = WAITS;
            l->preempted += !is_calm;                   /* so that rest is not what their number brings */
        }
    }
}

static void test_cycles(void **state)
{
    (void)state;
    int64_t last = 0;
    for (int64_t cycle = 1; cycle <= CYCLES; cycle++) {
        struct arena *a = arena_new((size_t)16 << 20);
        const int64_t now = cycle * SECOND;
        const bool is_calm = cycle / CALM % 2;
        struct holders h;
        struct plan p;
        struct preemption r;
        int of[JOBS];
        pass_time(now, is_calm);
        struct snapshot s = picture(a, now, &h, of);
        claims_end(&claims, now);
        placement_plan(&s, a, &p);
        preempt_plan(&s, &p, h, &claims, now, a, &r);
        for (size_t i = 0; i < p.places.n; i++) {
            const struct snap_job *j = &s.jobs.items[p.places.items[i].job];
            struct claim *k = claims_find(&claims, j->tenant_id, j->job_id);
            struct life *l = &lives[who_is(j->job_id)];
            if (k)
                claims_drop(&claims, k);
            l->at = RUNS;
            l->node = (int64_t)p.places.items[i].node;
        }
        evict(&s, &r, of, now);
        last = r.evictions.n ? cycle : last;
        if (cycle % (2 * CALM) == 2 * CALM - 1) {       /* the end of a calm */
            assert_true(cycle - last > CALM / 4);
            rested++;
        }
        arena_free(a);
    }
    print_message("%ld attempts made room in %d cycles, %ld for another tenant; %ld times all came to rest\n", (long)evicted,
        CYCLES,
                  (long)across, (long)rested);
    assert_true(evicted > 500 && across > 50);
}

static void test_owes(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)1 << 20);
    struct rule r[2] = { { .tenant_id = id_of(2, 0), .place = RULE_QUEUE, .queue = names[0], .nominal = 10, .borrowing_limit = -1,
                           .lending_limit = -1, .weight = 1000, .used = 6 },
                         { .tenant_id = id_of(2, 0), .place = RULE_QUEUE, .queue = names[1], .nominal = 2, .borrowing_limit = -1,
                           .lending_limit = -1, .weight = 1000, .used = 6 } };
    struct rulebook b = { .rules = { r, 2 } };
    struct rule_ask day = { .tenant_id = id_of(2, 0), .queue = names[0], .slots = 4 }, night = { .tenant_id = id_of(2, 0),
        .queue = names[1], .slots = 3 };
    rulebook_link(&b, a);
    assert_true(reclaim_owes(&b, &b, &day, &night));
    assert_false(reclaim_owes(&b, &b, &night, &day));
    day.slots = 5;                      /* that would be more than its own */
    assert_false(reclaim_owes(&b, &b, &day, &night));
    day.slots = 4;
    rulebook_give(&b, &night);          /* 3 of 2 are left */
    assert_true(reclaim_owes(&b, &b, &day, &night));
    rulebook_give(&b, &night);
    assert_false(reclaim_owes(&b, &b, &day, &night));
    assert_false(reclaim_owes(&b, &b, &night, &day));       /* what was sent away is not owed what it lost */
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_owes), cmocka_unit_test(test_cycles) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
