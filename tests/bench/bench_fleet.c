/* SPDX-License-Identifier: Apache-2.0 */
/* bench_fleet.c - the scheduler's fleet at scale, without a database: 10,000 machines, 1,000,000 waiting jobs of 2,000 classes
 * in 1,000 queues.
 *
 *     ninja bench_fleet && bench_fleet [DIVISOR]        DIVISOR 10: a tenth of all
 *
 * Each cycle offers what waits: queues in turns from where the last cycle stopped, each its classes until one fits, at most
 * a fifth as many placements as machines; a class that fitted nowhere costs a compare until something ends. Once the fleet
 * is full a hundredth of what runs ends before each cycle. It goes on until all jobs have been placed. Prints the time of
 * the filling, p50, p99 and the longest of all cycles, and decisions (placed or refused) and placements a second of
 * processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "scheduler/plan/fleet.h"

enum { CYCLES_MAX = 1 << 16, PER_QUEUE = 10 };

struct running { uint32_t class; struct seat seat; };

struct cluster {
    struct fleet *f;
    struct workload *w;
    struct random random;
    uint32_t *classes, (*of_queue)[PER_QUEUE];
    int64_t (*waiting)[PER_QUEUE];
    struct running *running;
    size_t nmachines, nclasses, nqueues, nrunning, next;
    int64_t nwaiting, decisions, placed;
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
        c->placed++;
        c->nrunning++;
        return true;
    }
    return false;
}

/* Until every queue has been asked in vain once since the last placement, or it was enough for one cycle. True: full. */
static bool offer(struct cluster *c)
{
    size_t vain = 0;
    const int64_t until = c->placed + (int64_t)c->nmachines / 5;
    for (; vain < c->nqueues && c->placed < until; c->next = (c->next + 1) % c->nqueues)
        vain = serve(c, c->next) ? 0 : vain + 1;
    return vain == c->nqueues;
}

static void end_some(struct cluster *c)
{
    for (size_t k = c->nrunning / 100 + 1; k && c->nrunning; k--) {
        size_t at = random_below(&c->random, c->nrunning);
        fleet_give(c->f, c->running[at].class, c->running[at].seat);
        c->running[at] = c->running[--c->nrunning];
    }
}

static double allocated_pct(const struct cluster *c)
{
    int64_t all = 0, free = 0;
    for (uint32_t i = 0; i < c->nmachines; i++) {
        all += room_milli(fleet_all_room(c->f, i));
        free += room_milli(fleet_free_room(c->f, i));
    }
    return 100.0 * (double)(all - free) / (double)all;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static struct cluster c;
    static int64_t took[CYCLES_MAX];
    int64_t from, sum = 0;
    size_t n = 0, divisor = argc > 1 ? (size_t)atol(argv[1]) : 1;
    struct rusage usage;
    bool is_full = false;
    cluster_init(&c, divisor ? divisor : 1);
    while (c.nwaiting && n < CYCLES_MAX) {
        if (is_full)
            end_some(&c);
        from = now_us();
        bool is_enough = offer(&c);
        sum += took[n++] = now_us() - from;
        if (is_enough && !is_full)
            printf("%zu machines, %zu classes, %zu queues: filled in %.2f s, %zu run on %.2f %% of the GPUs, %ld wait\n",
                   c.nmachines, c.nclasses, c.nqueues, (double)sum / 1e6, c.nrunning, allocated_pct(&c), (long)c.nwaiting);
        is_full |= is_enough;
        if (is_full && !c.nrunning)
            break;
    }
    qsort(took, n, sizeof *took, by_value);
    getrusage(RUSAGE_SELF, &usage);
    const double seconds = (double)(sum ? sum : 1) / 1e6;
    printf("%ld placed, %ld left in %.1f s, %zu cycles: p50 %.1f ms, p99 %.1f ms, longest %.1f ms; ", (long)c.placed,
           (long)c.nwaiting, seconds, n, (double)took[n / 2] / 1e3, (double)took[n * 99 / 100] / 1e3, (double)took[n - 1] / 1e3);
    printf("%.0f decisions/s, %.0f placements/s; %ld MB\n", (double)c.decisions / seconds, (double)c.placed / seconds,
           usage.ru_maxrss / 1024);
    return 0;
}
