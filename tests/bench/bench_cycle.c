/* SPDX-License-Identifier: Apache-2.0 */
/* bench_cycle.c - a whole cycle of the planner by the size of its snapshot, and what keeping it as a file costs the planner's
 * thread and the writer's.
 *
 *     ninja bench_cycle && bench_cycle [RUNS]
 *
 * Machines of eight slots, of which one in eight is free; jobs of so many shapes, half of which fit nowhere. Prints the least
 * processor time of RUNS (5): the plan, putting the cycle into a buffer, its checksums, and its size. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scheduler/plan/placement.h"
#include "scheduler/replay/record.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct uuid id(int kind, size_t n)
{
    struct uuid u = { { (uint8_t)kind } };
    for (int i = 0; i < 8; i++)
        u.b[15 - i] = (uint8_t)(n >> 8 * i);
    return u;
}

static struct snapshot cluster(struct arena *a, size_t nodes, size_t jobs)
{
    static struct str zone = { "z", 1 };
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, nodes), nodes },
                          .tenants = { ARENA_ARRAY(a, struct snap_tenant, 100), 100 },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, jobs), jobs } };
    for (size_t i = 0; i < 100; i++)
        s.tenants.items[i] = (struct snap_tenant){ .tenant_id = id(2, i), .allowed_zones = { &zone, 1 }, .slots_limit = 1 << 20 };
    for (size_t i = 0; i < nodes; i++)
        s.nodes.items[i] = (struct snap_node){ .node_id = id(1, i), .zone = zone, .pool = STR("default"), .flavor = STR("cpu"),
            .gpu_model = STR(""), .held = STR(""), .build = STR("0.1.0 cpu"), .slots = 8, .free_slots = i % 8 ? 0 : 8 };
    for (size_t i = 0; i < jobs; i++)
        s.jobs.items[i] = (struct snap_job){ .tenant_id = id(2, i % 100), .job_id = id(3, i), .pool = STR("default"),
            .queue = STR("default"), .kind = STR("train"), .data_class = STR("internal"), .cls = STR("default"),
            .zones = { &zone, 1 }, .slots = 1 + (int64_t)(i % 16), .shape = (int64_t)i, .depth = 1,
            .submitted_at = { (int64_t)i } };
    snapshot_link(&s);
    return s;
}

static void run(size_t nodes, size_t jobs, int runs)
{
    double least[3] = { 1e9, 1e9, 1e9 };
    size_t bytes = 0, placed = 0;
    struct recorder *r = recorder_new((size_t)1 << 30);
    for (int i = 0; i < runs; i++) {
        struct arena *a = arena_new((size_t)4 << 30);
        struct snapshot s = cluster(a, nodes, jobs);
        const struct cycle_head head = { .number = i, .version = STR("bench") };
        struct plan p;
        const double began = now_ms();
        record_inputs(r, &head, &s, a);
        const double planning = now_ms();
        placement_plan(&s, a, &p);
        const double planned = now_ms();
        record_plan(r, &s, &p, a);
        struct buf b = record_take(r);
        const double recorded = now_ms();
        tables_seal(b.ptr, b.len, FILE_HEAD);
        const double took[3] = { planned - planning, planning - began + recorded - planned, now_ms() - recorded };
        for (int k = 0; k < 3; k++)
            least[k] = took[k] < least[k] ? took[k] : least[k];
        bytes = b.len;
        placed = p.places.n;
        buf_release(&b);
        arena_free(a);
    }
    recorder_free(r);
    printf("%zu machines, %zu jobs read, %zu placed: plan %.2f ms, keeping it %.2f ms, checksums %.2f ms, %zu bytes\n", nodes,
           jobs, placed, least[0], least[1], least[2], bytes);
}

int main(int argc, char **argv)
{
    const int runs = argc > 1 ? atoi(argv[1]) : 5;
    run(10, 100, runs);
    run(100, 512, runs);
    run(1000, 2000, runs);
    run(10000, 2000, runs);
    run(10000, 20000, runs);
    return 0;
}
