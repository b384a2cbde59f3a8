/* SPDX-License-Identifier: Apache-2.0 */
/* bench_clock.c - the queue clock's run ahead at its largest, without a database: 5,000 machines, 2,000 waiting jobs of 200
 * shapes and 20 tenants, 10,000 that run, a day.
 *
 *     ninja bench_clock && bench_clock [DIVISOR]        DIVISOR 10: a tenth of all
 *
 * Prints the processor time of one plan of now, of a run where nobody may be sent away, of one where half of what runs may, and
 * of one where a third of the waiting jobs wait for others besides; the runs also as multiples of the one plan. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scheduler/plan/ahead.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/random.h"

#define SEC ((int64_t)1000000)
enum { MACHINES = 5000, WAITING = 2000, RUNNING = 10000, TENANTS = 20, SHAPES = 10, DAY_S = 86400 };

static struct str home = { "home", 4 };

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct uuid id_of(uint8_t kind, size_t i)
{
    struct uuid u = { { kind } };
    u.b[13] = (uint8_t)(i >> 16);
    u.b[14] = (uint8_t)(i >> 8);
    u.b[15] = (uint8_t)i;
    return u;
}

static struct snap_job job_of(struct random *r, size_t i)
{
    const int64_t tenant = (int64_t)random_below(r, TENANTS), shape = (int64_t)random_below(r, SHAPES);
    return (struct snap_job){ .tenant_id = id_of(2, (size_t)tenant), .job_id = id_of(3, i), .tenant = tenant, .pool = STR("p"),
                              .zones = { &home, 1 }, .slots = 1 + shape % 5, .gpus = shape % 3, .gpu_milli = 1000,
                              .shape = shape, .submitted_at = { (int64_t)i } };
}

/* Machines of 16 slots and 4 GPUs that are full or nearly so. */
static struct ahead_in world(struct arena *a, size_t divisor)
{
    struct random r = { 5 };
    struct ahead_in in = { .now_us = 1000 * SEC, .until_us = (1000 + DAY_S) * SEC };
    const size_t machines = MACHINES / divisor, waiting = WAITING / divisor, running = RUNNING / divisor;
    struct ahead_wait *waits = ARENA_ARRAY(a, struct ahead_wait, waiting);
    struct ahead_live *live = ARENA_ARRAY(a, struct ahead_live, running);
    in.base.nodes.items = ARENA_ARRAY(a, struct snap_node, machines);
    in.base.tenants.items = ARENA_ARRAY(a, struct snap_tenant, TENANTS);
    in.base.jobs.items = ARENA_ARRAY(a, struct snap_job, waiting);
    for (size_t i = 0; i < machines; i++)
        in.base.nodes.items[in.base.nodes.n++] = (struct snap_node){ .node_id = id_of(1, i), .zone = home, .pool = STR("p"),
            .flavor = STR("f"), .slots = 6, .gpus = 4, .free_slots = 6, .free_gpus = 4 };
    for (size_t i = 0; i < TENANTS; i++)
        in.base.tenants.items[in.base.tenants.n++] = (struct snap_tenant){ .tenant_id = id_of(2, i), .slots_limit = 1000000,
                                                                           .gpus_limit = 1000000 };
    for (size_t i = 0; i < running; i++) {
        struct snap_job j = job_of(&r, 100000 + i);
        j.slots = 3;
        j.gpus = 2;
        live[i] = (struct ahead_live){ .machine = i % machines, .where = &in.base.nodes.items[i % machines], .job = j,
            .devices = i < machines ? 3 : 12, .began_us = SEC, .ends_us = (1000 + 60 + (int64_t)random_below(&r, DAY_S)) * SEC };
    }
    for (size_t i = 0; i < waiting; i++) {
        in.base.jobs.items[in.base.jobs.n++] = job_of(&r, i);
        waits[i] = (struct ahead_wait){ .runs_us = (600 + (int64_t)random_below(&r, 20000)) * SEC, .is_told = i % 20 == 0 };
    }
    in.waits = waits;
    in.live = live;
    in.nlive = running;
    return in;
}

static int64_t one_plan(const struct ahead_in *in, struct arena *a)
{
    size_t machine;
    const int64_t from = now_us();
    (void)ahead_starts_now(in, 0, &machine);
    arena_reset(a);
    return now_us() - from;
}

static void run(const char *what, const struct ahead_in *in, int64_t plan_us)
{
    struct arena *a = arena_new((size_t)512 << 20);
    struct ahead x;
    const int64_t from = now_us();
    ahead_run(in, a, &x);
    const int64_t took = now_us() - from;
    printf("%-28s %8.1f ms, %6.1f plans, %ld moments, %zu starts%s\n", what, (double)took / 1e3, (double)took / (double)plan_us,
           (long)x.steps, x.starts.n, x.is_cut ? ", cut" : "");
    arena_free(a);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const size_t divisor = argc > 1 && atol(argv[1]) > 0 ? (size_t)atol(argv[1]) : 1;
    struct arena *a = arena_new((size_t)512 << 20), *scratch = arena_new(1 << 20);
    struct ahead_in in = world(a, divisor);
    struct ahead_wait *waits = (struct ahead_wait *)in.waits;
    struct ahead_live *live = (struct ahead_live *)in.live;
    const int64_t plan_us = one_plan(&in, scratch);
    printf("%zu machines, %zu wait, %zu run; one plan of now: %.1f ms\n", in.base.nodes.n, in.base.jobs.n, in.nlive,
           (double)plan_us / 1e3);
    run("nobody may be sent away", &in, plan_us);
    for (size_t i = 0; i < in.nlive; i += 2)
        live[i].leave = (struct ahead_leave){ .may = true, .grace_s = 60 };
    for (size_t i = 0; i < in.base.jobs.n; i += 10)
        in.base.jobs.items[i].class_value = 10;
    run("half may, a tenth goes first", &in, plan_us);
    struct ahead_need *needs = ARENA_ARRAY(a, struct ahead_need, in.base.jobs.n + 1);
    for (size_t i = 3; i < in.base.jobs.n; i += 3) {
        needs[i] = (struct ahead_need){ i - 1, false };
        waits[i].needs = &needs[i];
        waits[i].nneeds = 1;
    }
    run("a third waits for another", &in, plan_us);
    arena_free(scratch);
    arena_free(a);
    return 0;
}
