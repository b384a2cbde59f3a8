/* SPDX-License-Identifier: Apache-2.0 */
/* bench_mirror.c - what a round of planning costs by how many machines there are and how many jobs wait of which none fits: with
 * what is kept of machines from plan to plan (scheduler/mirror/machines.h), and with all read each time, in turns. Each round one
 * job that fits is submitted and must start. Usage: bench_mirror [machines [waiting [rounds]]]
 *
 * Prints the mean time of a quick round and the process's own processor time in it, rows of machines read, and the first round of
 * a new leader. The cluster of the harness does not fsync. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scheduler/mirror/machines.h"
#include "tests/db/scheduler/fixture.h"

static struct fixture f;
static struct machine m;

static int64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t round_us(int64_t *ret_cpu_us, bool is_full)
{
    struct arena *a = arena_new((size_t)2 << 30);
    int64_t admitted = 0, cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID), wall = clock_us(CLOCK_MONOTONIC);
    bool more;
    OK(loop_plan_once(&f.scheduler, a, is_full, &admitted, &more, e));
    wall = clock_us(CLOCK_MONOTONIC) - wall;
    *ret_cpu_us += clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (admitted != 1)
        printf("%ld admitted, 1 expected\n", (long)admitted);
    arena_free(a);
    return wall;
}

static void one_more(void)
{
    struct lease_grant g[2];
    const size_t n = take(&f, &m, 2, g);
    if (n)
        (void)run_through(&f, &m, g, n);
    (void)submit(&f, f.tenant_b, 1, 1, 3, NULL);
}

int main(int argc, char **argv)
{
    const int64_t nodes = argc > 1 ? strtol(argv[1], NULL, 10) : 1000, waiting = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    const int rounds = argc > 3 ? atoi(argv[3]) : 20;
    int64_t wall[2] = { 0 }, cpu[2] = { 0 }, none = 0;
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "bench", 8, 0);
    fixture_exec(&f, "INSERT INTO node (node_id, zone, pool, name, identity, slots, cpus, memory_bytes, version, boot_id)\n"
                     " SELECT gen_random_uuid(), zone, 'other', 'm' || i, 'i' || i, 4, 4, memory_bytes, version,\n"
                     "        gen_random_uuid()\n"
                     "   FROM node, generate_series(1, %ld) i WHERE name = 'bench'; ANALYZE", (long)nodes);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 10000000 WHERE resource IN ('jobs', 'slots', 'pending_jobs')");
    for (int64_t i = 0; i < waiting; i += 1000)
        (void)submit(&f, f.tenant_a, waiting - i < 1000 ? (size_t)(waiting - i) : 1000, 64, 3, NULL);
    fixture_exec(&f, "ANALYZE");
    struct machines *kept = machines_new();
    one_more();
    f.scheduler.machines = kept;
    const int64_t first = round_us(&none, true);
    for (int i = 0; i < 2 * rounds; i++) {
        one_more();
        f.scheduler.machines = i % 2 ? kept : NULL;
        wall[i % 2] += round_us(&cpu[i % 2], false);
    }
    const struct machines_count c = machines_counted(kept);
    printf("%ld machines, %ld waiting: a new leader's first round %ld us; a round %ld us (processor %ld) with all read,\n"
           "  %ld us (%ld) with changes; %ld rows of machines in %d rounds\n", (long)nodes + 1, (long)waiting, (long)first,
           (long)(wall[0] / rounds), (long)(cpu[0] / rounds), (long)(wall[1] / rounds), (long)(cpu[1] / rounds),
           (long)c.changed, rounds + 1);
    machines_free(kept);
    f.scheduler.machines = NULL;
    fixture_close(&f);
    return 0;
}
