/* SPDX-License-Identifier: Apache-2.0 */
/* bench_fleet.c - the scheduler's fleet at scale, without a database: 10,000 machines, 1,000,000 waiting jobs of 2,000 classes
 * in 1,000 queues.
 *
 *     ninja bench_fleet && bench_fleet [DIVISOR]        DIVISOR 10: a tenth of all
 *
 * The fleet is filled first. Then each cycle ends a hundredth of the machines' worth of jobs, and offers what waits: queues in
 * turns from where the last
 * cycle stopped, each its classes until one fits; a class that fitted nowhere costs a compare until something ends. Prints the
 * time of the filling,
 * p50, p99 and the longest of 300 cycles, and decisions (placed or refused) a second of processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "scheduler/plan/fleet.h"

enum { CYCLES = 300, PER_QUEUE = 10 };

struct running { uint32_t class; struct seat seat; };

struct cluster {
    struct fleet *f;
    struct workload *w;
    struct random random;
    uint32_t *classes, (*of_queue)[PER_QUEUE];
    int64_t (*waiting)[PER_QUEUE];
    struct running *running;
    size_t nmachines, nclasses, nqueues, nrunning, next;
    int64_t nwaiting, decisions;
};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct room machine(struct random *r)
{
    static const struct { int cpu, gpus; } kinds[] = { { 96000, 8 }, { 96000, 8 }, { 104000, 2 }, { 128000, 8 }, { 64000, 4 },
                                                       { 64000, 0 } };
    size_t k = random_below(r, 6);
    struct room m = { .cpu_milli = kinds[k].cpu, .memory_bytes = (int64_t)kinds[k].cpu << 22, .gpus = (uint16_t)kinds[k].gpus,
                      .group = (uint16_t)random_below(r, 8) };
    for (int i = 0; i < kinds[k].gpus; i++)
        m.milli[i] = GPU_MILLI;
    return m;
}

static struct ask ask(struct random *r)
{
    static const int shares[] = { 1000, 1000, 1000, 810, 470, 320, 650, 230 };
    int gpus = random_below(r, 8) ? 1 : random_below(r, 3) ? 0 : 1 << random_below(r, 4);
    struct ask a = { .cpu_milli = 1000 * (1 + (int64_t)random_below(r, 16)),
                     .memory_bytes = ((int64_t)1 + (int64_t)random_below(r, 64)) << 30,
                     .gpus = gpus, .gpu_milli = gpus == 1 ? shares[random_below(r, 8)] : gpus ? GPU_MILLI : 0 };
    if (random_below(r, 3))
        memset(&a.groups, 0xff, sizeof a.groups);
    else
        groups_add(&a.groups, (unsigned)random_below(r, 8));
    return a;
}

static void cluster_init(struct cluster *c, size_t divisor)
{
    *c = (struct cluster){ .w = workload_new(), .random = { 1 }, .nmachines = 10000 / divisor, .nclasses = 2000 / divisor };
    c->nqueues = 1000 / divisor;
    c->f = fleet_new(SCORE_DEFAULT, c->w, 1);
    for (size_t i = 0; i < c->nmachines; i++) {
        struct room m = machine(&c->random);
        fleet_add(c->f, &m, &m);
    }
    c->classes = calloc(c->nclasses, sizeof *c->classes);
    c->of_queue = calloc(c->nqueues, sizeof *c->of_queue);
    c->waiting = calloc(c->nqueues, sizeof *c->waiting);
    c->running = calloc(c->nmachines * 200, sizeof *c->running);
    if (!c->classes || !c->of_queue || !c->waiting || !c->running)
        abort();
    for (size_t i = 0; i < c->nclasses; i++) {
        struct ask a = ask(&c->random);
        c->classes[i] = fleet_class(c->f, &a);
        for (int k = 0; k < 3; k++)
            fleet_arrive(c->f, c->classes[i]);
    }
    for (size_t q = 0; q < c->nqueues; q++)
        for (size_t k = 0; k < PER_QUEUE; k++) {
            c->of_queue[q][k] = c->classes[random_below(&c->random, c->nclasses)];
            c->waiting[q][k] = 1000000 / 1000 / PER_QUEUE;
            c->nwaiting += c->waiting[q][k];
        }
}

/* One job of the queue, if any fits. */
static bool serve(struct cluster *c, size_t q)
{
    for (size_t k = 0; k < PER_QUEUE; k++) {
        struct running *r = &c->running[c->nrunning];
        if (!c->waiting[q][k] || c->nrunning == c->nmachines * 200)
            continue;
        c->decisions++;
        r->class = c->of_queue[q][k];
        if (!fleet_place(c->f, r->class, &r->seat))
            continue;
        c->waiting[q][k]--;
        c->nwaiting--;
        c->nrunning++;
        return true;
    }
    return false;
}

/* Until every queue has been asked in vain once since the last placement. */
static void offer(struct cluster *c)
{
    for (size_t vain = 0; vain < c->nqueues; c->next = (c->next + 1) % c->nqueues)
        vain = serve(c, c->next) ? 0 : vain + 1;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static struct cluster c;
    int64_t took[CYCLES], from = now_us(), sum = 0;
    struct rusage usage;
    size_t divisor = argc > 1 ? (size_t)atol(argv[1]) : 1;
    cluster_init(&c, divisor ? divisor : 1);
    offer(&c);
    printf("%zu machines, %zu classes, %zu queues: filled in %.2f s by %ld decisions, %zu run, %ld wait\n", c.nmachines,
           c.nclasses, c.nqueues,
           (double)(now_us() - from) / 1e6, (long)c.decisions, c.nrunning, (long)c.nwaiting);
    c.decisions = 0;
    for (int i = 0; i < CYCLES; i++) {
        for (size_t k = 0; k < c.nmachines / 100; k++) {
            size_t at = random_below(&c.random, c.nrunning);
            fleet_give(c.f, c.running[at].class, c.running[at].seat);
            c.running[at] = c.running[--c.nrunning];
        }
        from = now_us();
        offer(&c);
        sum += took[i] = now_us() - from;
    }
    qsort(took, CYCLES, sizeof *took, by_value);
    getrusage(RUSAGE_SELF, &usage);
    printf("cycles of %zu ends: p50 %.1f ms, p99 %.1f ms, longest %.1f ms; %.0f decisions/s; %ld MB\n", c.nmachines / 100,
           (double)took[CYCLES / 2] / 1e3, (double)took[CYCLES * 99 / 100] / 1e3, (double)took[CYCLES - 1] / 1e3,
           (double)c.decisions * 1e6 / (double)(sum ? sum : 1), usage.ru_maxrss / 1024);
    return 0;
}
