/* SPDX-License-Identifier: Apache-2.0 */
/* bench_mirror.c - what a round of planning costs by how many machines there are and how many jobs wait of which none fits:
 * with all read each time, with what is kept of machines from plan to plan (scheduler/mirror/machines.h), and with waiting
 * jobs kept as well (waiting.h), in turns. Each round one job that fits is submitted and must start.
 * Usage: bench_mirror [machines [waiting [rounds [classes]]]]
 *
 * Prints the mean time of a quick round and the process's own processor time in it, rows read, what a new leader's first
 * round takes and when it knows all that waits: with a plan before each part and
 * as the loop reads, by a walk and by when jobs came; the memory of that; and what standing by costs, and the first round of
 * one that stood by, with the processor time of PostgreSQL's sessions in ticks of 10 ms. The cluster of the harness does not
 * fsync. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scheduler/loop_int.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/waiting_int.h"
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

/* Jobs that fit nowhere, of so many classes, a thousand in a transaction. */
static void wait_for(int64_t n, int64_t classes)
{
    char tenant[33] = { 0 };
    hex_encode(f.tenant_a.b, 16, tenant);
    for (int64_t from = 0; from < n; from += 1000)
        fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, pool, data_class, slots, priority,\n"
                         "                 max_runtime_s, created_by, submitted_xid)\n"
                         " SELECT '%s', gen_random_uuid(), 'j', 'noop', '{}', 'default', 'internal', 64 + i %% %ld, 0, 60,\n"
                         "        gen_random_uuid(), pg_current_xact_id() FROM generate_series(%ld, %ld) i",
                     tenant, (long)classes, (long)from + 1, (long)(from + 1000 < n ? from + 1000 : n));
    fixture_exec(&f, "ANALYZE");
}

static bool is_second_over(void *until_us)
{
    return clock_us(CLOCK_MONOTONIC) >= *(int64_t *)until_us;
}

/* Of the scheduler's sessions, all since they began. */
static int64_t server_ms(void)
{
    return fixture_count(&f, "SELECT 10 * sum(split_part(s, ' ', 14)::bigint + split_part(s, ' ', 15)::bigint)\n"
                             "  FROM (SELECT pg_read_file(format('/proc/%%s/stat', pid), 0, 1000) AS s FROM pg_stat_activity\n"
                             "         WHERE usename = 'falaj_scheduler') x");
}

/* Until a new leader has planned once, and until it knows all that waits: with a plan before each part, or as the loop does
 * while nobody waits for a plan. */
static void take_over(struct waiters *waiting, bool reads_on, bool walks)
{
    int64_t cpu = 0, first = 0;
    const int64_t server = server_ms(), from = clock_us(CLOCK_MONOTONIC), cpu_from = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    machines_forget(f.scheduler.machines);
    waiting_forget(waiting);
    one_more();
    waiting->from.walks = walks;
    first = round_us(&cpu, true);
    while (!waiting_is_whole(waiting)) {
        int64_t until_us = clock_us(CLOCK_MONOTONIC) + 1000000;
        bool more;
        if (reads_on)
            OK(waiting_load(&f.scheduler, is_second_over, &until_us, &more, e));
        one_more();
        (void)round_us(&cpu, false);
    }
    const struct waiting_count c = waiting_counted(waiting);
    printf("a new leader%s%s: first round %ld us, all known after %ld us (processor %ld, of the server %ld ms);"
           " %zu jobs in %zu bytes, %zu each\n",
           reads_on ? " that reads on" : "", walks ? " by a walk" : "", (long)first, (long)(clock_us(CLOCK_MONOTONIC) - from),
           (long)(clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu_from), (long)(server_ms() - server), c.jobs, c.bytes,
           c.bytes / (c.jobs ? c.jobs : 1));
}

/* Its mirror knows all; a leader plans some rounds; it reads what they changed; and it leads. */
static void stand_by(struct waiters *leaders, int rounds)
{
    struct waiters *own = waiting_new();
    struct app other = f.scheduler;
    struct standing s = { .compare_us = INT64_MAX };
    struct arena *a = arena_new((size_t)2 << 30);
    int64_t cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID), server = server_ms(), unused = 0;
    other.waiting = own;
    while (!waiting_is_whole(own))
        loop_stand_by(&other, a, &s);
    printf("who stands by loads: processor %ld us, of the server %ld ms\n",
           (long)(clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu), (long)(server_ms() - server));
    f.scheduler.waiting = leaders;
    int64_t rows = waiting_counted(own).changed;
    cpu = 0;
    for (int i = 0; i < rounds; i++) {
        one_more();
        (void)round_us(&unused, false);
        const int64_t from = clock_us(CLOCK_PROCESS_CPUTIME_ID);
        s.read_us = 0;
        loop_stand_by(&other, a, &s);
        cpu += clock_us(CLOCK_PROCESS_CPUTIME_ID) - from;
    }
    printf("  reads %ld rows in %d reads after a round each: processor %ld us a read\n",
           (long)(waiting_counted(own).changed - rows), rounds, (long)(cpu / rounds));
    one_more();
    rows = waiting_counted(own).changed;
    cpu = 0;
    server = server_ms();
    f.scheduler.waiting = own;
    loop_lead(&f.scheduler);
    const int64_t wall = round_us(&cpu, false);
    printf("  leads: first round %ld us (processor %ld, of the server %ld ms), all known before it, %ld rows of waiting jobs\n",
           (long)wall, (long)cpu, (long)(server_ms() - server), (long)(waiting_counted(own).changed - rows));
    f.scheduler.waiting = leaders;
    waiting_free(own);
    arena_free(a);
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "all read", "machines kept", "machines and waiting jobs kept" };
    const int64_t nodes = argc > 1 ? strtol(argv[1], NULL, 10) : 1000, waiting = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    const int rounds = argc > 3 ? atoi(argv[3]) : 20;
    int64_t wall[3] = { 0 }, cpu[3] = { 0 };
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "bench", 8, 0);
    fixture_exec(&f, "INSERT INTO node (node_id, zone, pool, name, identity, slots, cpus, memory_bytes, version, boot_id)\n"
                     " SELECT gen_random_uuid(), zone, 'other', 'm' || i, 'i' || i, 4, 4, memory_bytes, version,\n"
                     "        gen_random_uuid()\n"
                     "   FROM node, generate_series(1, %ld) i WHERE name = 'bench'; ANALYZE", (long)nodes);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 10000000 WHERE resource IN ('jobs', 'slots', 'pending_jobs')");
    wait_for(waiting, argc > 4 ? strtol(argv[4], NULL, 10) : 1);
    struct machines *machines = machines_new();
    struct waiters *jobs = waiting_new();
    f.scheduler.machines = machines;
    f.scheduler.waiting = jobs;
    for (int i = 0; i < 4; i++)
        take_over(jobs, i % 2, i < 2);
    stand_by(jobs, rounds);
    const struct machines_count mc = machines_counted(machines);
    const struct waiting_count wc = waiting_counted(jobs);
    for (int i = 0; i < 3 * rounds; i++) {
        one_more();
        f.scheduler.machines = i % 3 ? machines : NULL;
        f.scheduler.waiting = i % 3 == 2 ? jobs : NULL;
        wall[i % 3] += round_us(&cpu[i % 3], false);
    }
    printf("%ld machines, %ld waiting, mean of %d rounds:\n", (long)nodes + 1, (long)waiting, rounds);
    for (int i = 0; i < 3; i++)
        printf("  %s: %ld us (processor %ld)\n", names[i], (long)(wall[i] / rounds), (long)(cpu[i] / rounds));
    printf("  rows read in rounds of what is kept: %ld of machines, %ld of waiting jobs\n",
           (long)(machines_counted(machines).changed - mc.changed), (long)(waiting_counted(jobs).changed - wc.changed));
    f.scheduler.machines = NULL;
    f.scheduler.waiting = NULL;
    machines_free(machines);
    waiting_free(jobs);
    fixture_close(&f);
    return 0;
}
