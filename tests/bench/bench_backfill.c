/* SPDX-License-Identifier: Apache-2.0 */
/* bench_backfill.c - what it costs to say when jobs on several machines start: MACHINES machines (10,000) with two attempts on
 * each, GANGS tenants (8) whose job wants eight whole machines, and 1,000 small jobs that wait behind them.
 *
 *     ninja bench_backfill && bench_backfill [MACHINES [GANGS [RUNS]]]
 *
 * Prints the least processor time of RUNS (5): a plan without bookings, one that makes them, and one that counts them anew and
 * keeps to them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scheduler/plan/backfill.h"
#include "scheduler/plan/placement.h"

enum { SMALL = 1000 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct str zone = { "z", 1 };

static struct uuid id_of(size_t kind, size_t n)
{
    return (struct uuid){ { (uint8_t)kind, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n } };
}

static struct snapshot cluster(size_t machines, size_t gangs, struct bookings *b, struct arena *a)
{
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, machines), machines },
                          .tenants = { ARENA_ARRAY(a, struct snap_tenant, gangs + 1), gangs + 1 },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, gangs + SMALL), gangs + SMALL }, .bookings = b,
                          .now_us = 1000000 };
    for (size_t i = 0; i < machines; i++)
        s.nodes.items[i] = (struct snap_node){ .node_id = id_of(1, i), .zone = zone, .pool = STR("default"), .flavor = STR("cpu"),
                                               .slots = 64, .gangs = true };
    for (size_t i = 0; i <= gangs; i++)
        s.tenants.items[i] = (struct snap_tenant){ .tenant_id = id_of(2, i), .slots_limit = 1 << 30 };
    for (size_t i = 0; i < gangs + SMALL; i++)
        s.jobs.items[i] = (struct snap_job){
            .tenant_id = id_of(2, i < gangs ? i : gangs), .tenant = (int64_t)(i < gangs ? i : gangs), .job_id = id_of(3, i),
            .pool = STR("default"), .zones = { &zone, 1 }, .slots = i < gangs ? 64 : 1, .nodes = i < gangs ? 8 : 1,
            .max_runtime_s = 86400, .submitted_at = { (int64_t)i } };
    return s;
}

static struct ends ends_of(size_t machines, struct arena *a)
{
    struct ends e = { ARENA_ARRAY(a, struct snap_end, 2 * machines), 2 * machines };
    for (size_t i = 0; i < e.n; i++)
        e.items[i] = (struct snap_end){ .tenant_id = id_of(4, 0), .node_id = id_of(1, i / 2),
                                        .ask = { .slots = 32, .cpu_milli = 32000, .memory_bytes = (int64_t)32 << 30 },
                                        .is_first = true, .all_slots = 32,
                                        .ends_us = 2000000 + (int64_t)((i * 7919) % e.n) * 1000000 };
    return e;
}

int main(int argc, char **argv)
{
    const size_t machines = argc > 1 ? (size_t)atoi(argv[1]) : 10000, gangs = argc > 2 ? (size_t)atoi(argv[2]) : 8;
    const int runs = argc > 3 ? atoi(argv[3]) : 5;
    double least[3] = { 0 };
    static struct bookings b;
    for (int i = 0; i < runs; i++) {
        double took[3];
        b.n = 0;
        for (int k = 0; k < 3; k++) {
            struct arena *a = arena_new((size_t)1 << 30);
            struct snapshot s = cluster(machines, gangs, k ? &b : NULL, a);
            const struct ends e = ends_of(machines, a);
            struct plan p;
            const double began = now_ms();
            if (k == 2)
                backfill_renew(&s, e, a);
            placement_plan(&s, a, &p);
            if (k)
                backfill_plan(&s, &p, e, a);
            took[k] = now_ms() - began;
            arena_free(a);
            least[k] = !i || took[k] < least[k] ? took[k] : least[k];
        }
    }
    printf("%zu machines, %zu attempts, %zu gangs: %.1f ms without, %.1f ms to book %zu, %.1f ms to keep to them\n", machines,
           2 * machines, gangs, least[0], least[1], b.n, least[2]);
    return 0;
}
