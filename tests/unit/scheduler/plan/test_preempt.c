/* SPDX-License-Identifier: Apache-2.0 */
/* test_preempt.c - who makes room for whom: single choices by hand, and 10,000 cycles of a small cluster in which nothing is
 * overbooked, nobody is sent away by who goes behind it, nobody more than PREEMPTIONS_MAX times, no two send each other away, and
 * who has sent others away starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "scheduler/plan/placement.h"
#include "scheduler/plan/preempt.h"

enum { NODES = 4, SLOTS = 8, GPUS = 4, TENANTS = 3, JOBS = 60, CYCLES = 10000, SECOND = 1000000, SOON = 8, LIVES = 20 };

static uint64_t seed = 88172645463325252u;
static int64_t pick(int64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)n);
}

enum at { GONE, WAITS, RUNS, LEAVES };

/* A job as the cluster knows it. */
static struct life {
    enum at at;
    int number;                         /* a job that has ended is followed by another with the next one */
    int64_t tenant, slots, gpus, value, node, devices, since, preempted, leaves_at, must_start;
    struct uuid leaves_for;
} lives[JOBS];

static struct claims claims;
static struct str zone = { "z-a", 3 };
static int64_t evicted, by[JOBS][JOBS];

static struct uuid id_of(int kind, int64_t n)
{
    struct uuid u = { { (uint8_t)kind } };
    memcpy(u.b + 8, &n, sizeof n);
    return u;
}

static struct uuid job_id(int i)
{
    return id_of(3, (int64_t)lives[i].number * JOBS + i);
}

static struct snap_node node_of(struct arena *a, int64_t n)
{
    struct buf held = BUF(1024);
    struct snap_node r = { .node_id = id_of(1, n), .zone = zone, .pool = STR("default"), .slots = SLOTS, .gpus = GPUS,
                           .free_slots = SLOTS, .free_gpus = GPUS };
    for (int i = 0; i < JOBS; i++) {
        const struct life *l = &lives[i];
        if (l->at < RUNS || l->node != n)
            continue;
        r.free_slots -= l->slots;
        r.free_gpus -= l->gpus;
        if (l->gpus)
            buf_printf(&held, "%s%ld:%ld:1000", held.len ? "," : "", (long)l->devices, (long)l->gpus);
    }
    assert_true(r.free_slots >= 0 && r.free_gpus >= 0);
    r.held = held.len ? str_dup(a, buf_str(&held)) : STR("");
    buf_release(&held);
    return r;
}

/* No device is held twice. */
static void check_devices(void)
{
    for (int64_t n = 0; n < NODES; n++) {
        int64_t seen = 0;
        for (int i = 0; i < JOBS; i++) {
            if (lives[i].at < RUNS || lives[i].node != n)
                continue;
            assert_int_equal(__builtin_popcountll((uint64_t)lives[i].devices), lives[i].gpus);
            assert_int_equal(seen & lives[i].devices, 0);
            seen |= lives[i].devices;
        }
    }
}

static struct snap_job job_of(int i, int64_t now)
{
    const struct life *l = &lives[i];
    return (struct snap_job){ .tenant_id = id_of(2, l->tenant), .job_id = job_id(i), .pool = STR("default"),
                              .queue = STR("default"), .kind = STR("train"), .data_class = STR("internal"), .zones = { &zone, 1 },
                              .slots = l->slots,
                              .gpus = l->gpus, .cls = STR("c"), .class_value = l->value, .shape = i, .priority = i % 3,
                              .submitted_at = { now / SECOND } };
}

static struct snap_holder holder_of(int i, int64_t now)
{
    const struct life *l = &lives[i];
    return (struct snap_holder){ .tenant_id = id_of(2, l->tenant), .job_id = job_id(i), .attempt_id = id_of(4, i),
                                 .node_id = id_of(1, l->node), .slots = l->slots, .gpus = l->gpus, .cpu_milli = l->slots * 1000,
                                 .memory_bytes = l->slots << 30, .gpu_milli = 1000, .devices = l->devices,
                                 .class_value = l->value, .min_runtime_s = 2, .ran_ms = (now - l->since) / 1000,
                                 .lost_ms = (now - l->since) / 1000 % 5000, .preempted = l->preempted,
                                 .is_leaving = l->at == LEAVES, .leaves_for = l->leaves_for };
}

static struct snapshot picture(struct arena *a, int64_t now, struct holders *h, int *of)
{
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, NODES), NODES },
                          .tenants = { ARENA_ARRAY(a, struct snap_tenant, TENANTS), TENANTS },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, JOBS), 0 }, .claims = &claims };
    h->items = ARENA_ARRAY(a, struct snap_holder, JOBS);
    h->n = 0;
    for (int64_t i = 0; i < NODES; i++)
        s.nodes.items[i] = node_of(a, i);
    for (int64_t i = 0; i < TENANTS; i++)
        s.tenants.items[i] = (struct snap_tenant){ .tenant_id = id_of(2, i), .slots_limit = 20, .gpus_limit = 10 };
    for (int i = 0; i < JOBS; i++) {
        const struct life *l = &lives[i];
        if (l->at >= RUNS) {
            s.tenants.items[l->tenant].slots_used += l->slots;
            s.tenants.items[l->tenant].gpus_used += l->gpus;
        }
        if (l->at == WAITS)
            s.jobs.items[s.jobs.n++] = job_of(i, now);
        if (l->at >= RUNS && l->value < 20) {           /* the highest class is not preemptible */
            of[h->n] = i;
            h->items[h->n++] = holder_of(i, now);
        }
    }
    snapshot_link(&s);
    return s;
}

static int who_is(struct uuid id)
{
    for (int i = 0; i < JOBS; i++)
        if (uuid_eq(job_id(i), id))
            return i;
    fail_msg("no such job");
    return -1;
}

static void evict(const struct snapshot *s, const struct preemption *r, struct holders h, const int *of, int64_t now)
{
    for (size_t i = 0; i < r->evictions.n; i++) {
        const int a = who_is(s->jobs.items[r->evictions.items[i].job].job_id), b = of[r->evictions.items[i].holder];
        struct life *l = &lives[b];
        assert_true(lives[a].tenant == l->tenant && lives[a].value > l->value);
        assert_true(l->at == RUNS && l->preempted < PREEMPTIONS_MAX && now - l->since >= 2 * SECOND);
        assert_true(h.items[r->evictions.items[i].holder].is_leaving);
        assert_int_equal(by[b][a], 0);
        by[a][b]++;
        l->at = LEAVES;
        l->leaves_at = now + (1 + pick(4)) * SECOND;
        l->leaves_for = job_id(a);
        lives[a].must_start = now + SOON * SECOND;
        evicted++;
    }
}

static void come(int i, int64_t now)
{
    static const int64_t values[4] = { -10, 0, 10, 20 };
    const int64_t gpus = pick(3) ? 0 : 1 + pick(GPUS);
    const int number = lives[i].number + 1;
    lives[i] = (struct life){ .at = WAITS, .number = number, .tenant = pick(TENANTS), .slots = 1 + pick(SLOTS), .gpus = gpus,
                              .value = values[pick(4)], .since = now };
    for (int k = 0; k < JOBS; k++)
        by[i][k] = by[k][i] = 0;        /* another job */
}

static void pass_time(int64_t now)
{
    for (int i = 0; i < JOBS; i++) {
        struct life *l = &lives[i];
        if (l->at == GONE && pick(LIVES) == 0) {
            come(i, now);
        } else if (l->at == RUNS && pick(LIVES) == 0) {
            l->at = GONE;
        } else if (l->at == LEAVES && now >= l->leaves_at) {
            l->at = WAITS;
            l->preempted++;
        }
        if (l->at == WAITS && l->must_start)
            assert_true(now <= l->must_start);
    }
}

static void test_cycles(void **state)
{
    (void)state;
    for (int64_t cycle = 1; cycle <= CYCLES; cycle++) {
        struct arena *a = arena_new((size_t)16 << 20);
        const int64_t now = cycle * SECOND;
        struct holders h = { 0 };
        struct plan p;
        struct preemption r;
        int of[JOBS];
        pass_time(now);
        struct snapshot s = picture(a, now, &h, of);
        claims_end(&claims, now);
        placement_plan(&s, a, &p);
        preempt_plan(&s, &p, h, &claims, now, a, &r);
        for (size_t i = 0; i < p.places.n; i++) {
            struct life *l = &lives[who_is(s.jobs.items[p.places.items[i].job].job_id)];
            struct claim *k = claims_find(&claims, id_of(2, l->tenant), s.jobs.items[p.places.items[i].job].job_id);
            if (k)
                claims_drop(&claims, k);
            l->at = RUNS;
            l->since = now;
            l->must_start = 0;
            l->node = (int64_t)p.places.items[i].node;
            l->devices = (int64_t)p.places.items[i].devices;
        }
        evict(&s, &r, h, of, now);
        check_devices();
        arena_free(a);
    }
    print_message("%ld attempts made room in %d cycles\n", (long)evicted, CYCLES);
    assert_true(evicted > 500);
}

/* One machine of eight slots and two running jobs of it; what is asked, and who goes. */
static size_t one_choice(struct arena *a, struct snap_holder *two, struct snap_job job, struct preemption *r)
{
    static struct claims none;
    struct plan p;
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, 1), 1 },
                          .tenants = { ARENA_ARRAY(a, struct snap_tenant, 1), 1 },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, 1), 1 }, .claims = &none };
    none.n = 0;
    s.nodes.items[0] = (struct snap_node){ .node_id = id_of(1, 0), .zone = zone, .pool = STR("default"), .slots = 8,
                                           .free_slots = 8 - two[0].slots - two[1].slots };
    s.tenants.items[0] = (struct snap_tenant){ .tenant_id = id_of(2, 0), .slots_limit = 100,
                                               .slots_used = two[0].slots + two[1].slots };
    s.jobs.items[0] = job;
    snapshot_link(&s);
    placement_plan(&s, a, &p);
    preempt_plan(&s, &p, (struct holders){ two, 2 }, &none, SECOND, a, r);
    assert_int_equal(r->waits.n, r->evictions.n > 0);
    return r->evictions.n;
}

static struct snap_holder runs(int n, int64_t slots, int64_t value)
{
    return (struct snap_holder){ .tenant_id = id_of(2, 0), .job_id = id_of(3, n), .attempt_id = id_of(4, n),
                                 .node_id = id_of(1, 0), .slots = slots, .cpu_milli = slots * 1000, .memory_bytes = slots << 30,
                                 .class_value = value,
                                 .ran_ms = 60000, .lost_ms = 60000 };
}

static void test_choice(void **state)
{
    (void)state;
    struct arena *a = arena_new((size_t)1 << 20);
    struct preemption r;
    struct snap_job j = { .tenant_id = id_of(2, 0), .job_id = id_of(3, 9), .pool = STR("default"), .zones = { &zone, 1 },
                          .slots = 4, .class_value = 10 };
    struct snap_holder h[2] = { runs(0, 4, 0), runs(1, 4, 0) };
    h[1].lost_ms = 10;                  /* it has a checkpoint of just now */
    assert_int_equal(one_choice(a, h, j, &r), 1);
    assert_int_equal(r.evictions.items[0].holder, 1);
    h[0] = runs(0, 4, -5), h[1] = runs(1, 4, 0);        /* the lower class before the least work */
    h[1].lost_ms = 10;
    assert_int_equal(one_choice(a, h, j, &r), 1);
    assert_int_equal(r.evictions.items[0].holder, 0);
    h[0] = runs(0, 6, 0), h[1] = runs(1, 2, -5);        /* the lowest would not be enough, so it is not sent away in vain */
    assert_int_equal(one_choice(a, h, j, &r), 1);
    assert_int_equal(r.evictions.items[0].holder, 0);
    h[0] = runs(0, 4, 10), h[1] = runs(1, 2, -5);       /* the rest of the room is held by its equal */
    assert_int_equal(one_choice(a, h, (j.slots = 5, j), &r), 0);
    j.slots = 4;
    h[0] = runs(0, 8, 0), h[1] = runs(1, 0, 0);
    h[0].preempted = PREEMPTIONS_MAX;
    assert_int_equal(one_choice(a, h, j, &r), 0);
    h[0] = runs(0, 8, 0);
    h[0].min_runtime_s = 61;
    assert_int_equal(one_choice(a, h, j, &r), 0);
    h[0].min_runtime_s = 60;
    assert_int_equal(one_choice(a, h, j, &r), 1);
    h[0] = runs(0, 8, 0);
    h[0].tenant_id = id_of(2, 1);       /* another tenant's */
    assert_int_equal(one_choice(a, h, j, &r), 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_choice), cmocka_unit_test(test_cycles) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
