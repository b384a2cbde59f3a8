/* SPDX-License-Identifier: Apache-2.0 */
/* bench_reserved.c - what windows of machines cost a plan: 3,000 jobs of ten tenants, with limits of one hour to a day, are
 * placed on 10,000 machines, of which reservations keep five each.
 *
 *     ninja bench_reserved && bench_reserved [RUNS [RESERVATIONS]]
 *
 * Four kinds in turns, RUNS times each (9): no reservation; RESERVATIONS (1,000) that begin in a month; as many spread over the
 * next three months; and as many that begin within a day, half of them for the ten tenants. Prints the least processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scheduler/plan/placement.h"

enum { JOBS = 3000, MACHINES = 10000, TENANTS = 10, EACH = 5, KINDS = 4 };
#define HOUR ((int64_t)3600 * 1000000)
#define NOW ((int64_t)1000000000 * 1000000)

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct str zone = { "z", 1 };

static struct uuid id_of(int kind, size_t i)
{
    struct uuid u = { { (uint8_t)kind } };
    u.b[13] = (uint8_t)(i >> 16);
    u.b[14] = (uint8_t)(i >> 8);
    u.b[15] = (uint8_t)i;
    return u;
}

static int64_t begins(int kind, size_t i, size_t n)
{
    const int64_t span = kind == 2 ? 90 * 24 * HOUR : 24 * HOUR;
    return kind == 1 ? NOW + 30 * 24 * HOUR : NOW + span / (int64_t)n * (int64_t)i;
}

static struct snapshot cluster(struct arena *a, int kind, size_t reservations)
{
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, MACHINES), MACHINES }, .now_us = NOW,
                          .tenants = { ARENA_ARRAY(a, struct snap_tenant, TENANTS), TENANTS },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, JOBS), JOBS } };
    struct reserved *r = ARENA_ARRAY(a, struct reserved, reservations * EACH + 1);
    for (size_t i = 0; i < TENANTS; i++)
        s.tenants.items[i] = (struct snap_tenant){ .tenant_id = id_of(2, i), .allowed_zones = { &zone, 1 }, .slots_limit = JOBS };
    for (size_t i = 0; i < MACHINES; i++)
        s.nodes.items[i] = (struct snap_node){ .node_id = id_of(1, i), .zone = zone, .pool = STR("p"), .slots = 4,
                                               .free_slots = 1 + (int64_t)i % 4 };
    for (size_t i = 0; i < JOBS; i++)
        s.jobs.items[i] = (struct snap_job){ .tenant_id = id_of(2, i % TENANTS), .job_id = id_of(3, i),
            .tenant = (int64_t)(i % TENANTS), .pool = STR("p"), .slots = 1, .cls = STR("default"), .zones = { &zone, 1 },
            .max_runtime_s = 3600 * (1 + (int64_t)(i / TENANTS) % 24), .submitted_at = { (int64_t)i } };
    s.reserved.n = kind ? reservations * EACH : 0;
    s.reserved.items = r;
    for (size_t i = 0; i < s.reserved.n; i++) {
        const int64_t from_us = begins(kind, i / EACH, reservations);
        r[i] = (struct reserved){ .node_id = id_of(1, i), .from_us = from_us, .until_us = from_us + 4 * HOUR };
        if (kind == 3 && i / EACH % 2)
            r[i].tenant_id = id_of(2, i / EACH % TENANTS);
    }
    return s;
}

int main(int argc, char **argv)
{
    static const char *const names[KINDS] = { "none", "in a month", "over three months", "within a day" };
    const int runs = argc > 1 ? atoi(argv[1]) : 9;
    const size_t reservations = argc > 2 ? (size_t)atoi(argv[2]) : 1000;
    double least[KINDS] = { 0 };
    size_t placed[KINDS];
    for (int i = 0; i < runs; i++)
        for (int k = 0; k < KINDS; k++) {
            struct arena *a = arena_new((size_t)1 << 30);
            struct snapshot s = cluster(a, k, reservations);
            struct plan p;
            const double began = now_ms();
            placement_plan(&s, a, &p);
            const double ms = now_ms() - began;
            placed[k] = p.places.n;
            least[k] = !i || ms < least[k] ? ms : least[k];
            arena_free(a);
        }
    for (int k = 0; k < KINDS; k++)
        printf("%zu reservations, %s: %zu placed, %.2f ms (%.2f of none)\n", k ? reservations : 0, names[k], placed[k], least[k],
               least[k] / least[0]);
    return 0;
}
