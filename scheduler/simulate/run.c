/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - the two ways to play a trace. Timed: a heap of ends, and a list of those that wait in the order of their coming. */
#include "scheduler/simulate/run.h"

#include <stdlib.h>

struct play {
    const struct trace *t;
    struct workload *w;
    struct fleet *f;
    uint32_t *class;                    /* by task */
    struct run_result *r;
    int64_t gpu_milli, cpu_milli, gpu_milli_all, cpu_milli_all;     /* in use now, and all that there is */
};

static int64_t ppm(__int128 part, __int128 of)
{
    return of > 0 ? (int64_t)(part * 1000000 / of) : 0;
}

static void begin(struct play *p, struct arena *a, const struct trace *t, enum score_policy policy, uint64_t seed, size_t most,
                  struct run_result *r)
{
    *r = (struct run_result){ .seats = { ARENA_ARRAY(a, struct run_seat, most + 1), 0 } };
    *p = (struct play){ .t = t, .w = workload_new(), .class = ARENA_ARRAY(a, uint32_t, t->tasks.n), .r = r };
    p->f = fleet_new(policy, p->w, seed);
    for (size_t i = 0; i < t->machines.n; i++) {
        const struct room *all = &t->machines.items[i].all;
        fleet_add(p->f, all, all);
        p->gpu_milli_all += room_milli(all);
        p->cpu_milli_all += all->cpu_milli;
    }
    for (size_t i = 0; i < t->tasks.n; i++) {
        p->class[i] = fleet_class(p->f, &t->tasks.items[i].ask);
        if (!score_row(policy)->learns)
            workload_arrive(p->w, &t->tasks.items[i].ask);
    }
    if (!score_row(policy)->learns)
        workload_draw(p->w);
}

static void finish(struct play *p)
{
    fleet_free(p->f);
    workload_free(p->w);
}

static bool place(struct play *p, uint32_t task, struct seat *ret)
{
    const struct ask *a = &p->t->tasks.items[task].ask;
    if (!fleet_place(p->f, p->class[task], ret))
        return false;
    p->r->seats.items[p->r->seats.n++] = (struct run_seat){ task, *ret };
    p->r->placed++;
    p->gpu_milli += ask_milli(a);
    p->cpu_milli += a->cpu_milli;
    return true;
}

uint32_t *run_shuffled(struct arena *a, const struct trace *t, uint64_t seed, int64_t inflate_milli, size_t *ret_n)
{
    struct random rnd = { seed };
    int64_t all = 0, asked = 0, largest = 0;
    for (size_t i = 0; i < t->machines.n; i++)
        all += room_milli(&t->machines.items[i].all);
    for (size_t i = 0; i < t->tasks.n; i++) {
        int64_t milli = ask_milli(&t->tasks.items[i].ask);
        asked += milli;
        largest = milli > largest ? milli : largest;
    }
    const int64_t goal = inflate_milli && largest ? (int64_t)((__int128)all * inflate_milli / 1000) : 0;
    size_t n = t->tasks.n;
    struct random draws = { seed ^ 0x5bd1e995u }, again = draws;
    for (; asked < goal && n < TRACE_TASKS_MAX; n++)
        asked += ask_milli(&t->tasks.items[random_below(&draws, t->tasks.n)].ask);
    uint32_t *order = asked < goal ? NULL : arena_try(a, sizeof *order * n);
    if (!order)
        return NULL;
    for (size_t i = 0; i < n; i++)
        order[i] = i < t->tasks.n ? (uint32_t)i : (uint32_t)random_below(&again, t->tasks.n);
    for (size_t i = t->tasks.n; i > 1; i--) {
        size_t k = random_below(&rnd, i);
        uint32_t other = order[k];
        order[k] = order[i - 1];
        order[i - 1] = other;
    }
    *ret_n = n;
    return order;
}

void run_untimed(struct arena *a, const struct trace *t, enum score_policy policy, uint64_t seed, const uint32_t *order, size_t n,
                 struct run_result *ret)
{
    struct play p;
    begin(&p, a, t, policy, seed, n, ret);
    int64_t from = clock_mono_us(&clock_system);
    for (size_t i = 0; i < n; i++) {
        uint32_t task = order ? order[i] : (uint32_t)i;
        struct seat seat;
        fleet_arrive(p.f, p.class[task]);
        if (!place(&p, task, &seat))
            ret->failed++;
    }
    ret->wall_us = clock_mono_us(&clock_system) - from;
    ret->tasks = (int64_t)n;
    ret->gpu_ppm = ppm(p.gpu_milli, p.gpu_milli_all);
    ret->cpu_ppm = ppm(p.cpu_milli, p.cpu_milli_all);
    finish(&p);
}

/* --- timed --- */

struct end { int64_t at_s; uint32_t seat; };            /* seat: index into seats */
struct coming { int64_t at_s; uint32_t task; };

struct timed {
    struct play p;
    struct end *heap;
    struct coming *come;                /* all tasks, in the order of their coming */
    uint32_t *waiting;
    int64_t *waits_s;                   /* by seat */
    size_t nheap, nwaiting, next;       /* next: in come */
    __int128 gpu, cpu, seconds;         /* milli times seconds, and seconds, while tasks came */
};

static void heap_add(struct timed *s, struct end e)
{
    size_t at = s->nheap++;
    for (; at && s->heap[(at - 1) / 2].at_s > e.at_s; at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = e;
}

static struct end heap_take(struct timed *s)
{
    struct end first = s->heap[0], e = s->heap[--s->nheap];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->nheap; at = child) {
        if (child + 1 < s->nheap && s->heap[child + 1].at_s < s->heap[child].at_s)
            child++;
        if (s->heap[child].at_s >= e.at_s)
            break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = e;
    return first;
}

static void end_one(struct timed *s)
{
    struct run_seat *seat = &s->p.r->seats.items[heap_take(s).seat];
    const struct ask *a = &s->p.t->tasks.items[seat->task].ask;
    fleet_give(s->p.f, s->p.class[seat->task], seat->seat);
    s->p.gpu_milli -= ask_milli(a);
    s->p.cpu_milli -= a->cpu_milli;
}

static void try_all(struct timed *s, int64_t now_s)
{
    size_t left = 0;
    for (size_t i = 0; i < s->nwaiting; i++) {
        uint32_t task = s->waiting[i];
        const struct trace_task *k = &s->p.t->tasks.items[task];
        struct seat seat;
        if (!place(&s->p, task, &seat)) {
            s->waiting[left++] = task;
            continue;
        }
        uint32_t at = (uint32_t)s->p.r->seats.n - 1;
        int64_t began_s = k->scheduled_s == TRACE_TIME_UNKNOWN ? k->created_s : k->scheduled_s;
        s->waits_s[at] = now_s - k->created_s;
        if (k->deleted_s != TRACE_TIME_UNKNOWN)
            heap_add(s, (struct end){ now_s + (k->deleted_s > began_s ? k->deleted_s - began_s : 0), at });
    }
    s->nwaiting = left;
}

static int by_coming(const void *a, const void *b)
{
    const struct coming *x = a, *y = b;
    return x->at_s != y->at_s ? (x->at_s > y->at_s) - (x->at_s < y->at_s) : (x->task > y->task) - (x->task < y->task);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Jain's index (sum x)^2 / (n sum x^2) of the mean waits of the QoS classes. A minute is added to each, so that two short waits
 * are equal. */
static int64_t fairness(const struct timed *s)
{
    enum { CLASSES = 64, GRACE_S = 60 };
    struct { struct str qos; int64_t sum, n; } c[CLASSES];
    size_t nc = 0;
    __int128 sum = 0, squares = 0;
    for (size_t i = 0; i < s->p.r->seats.n; i++) {
        struct str qos = s->p.t->tasks.items[s->p.r->seats.items[i].task].qos;
        size_t k = 0;
        while (k < nc && !str_eq(c[k].qos, qos))
            k++;
        if (k == CLASSES)
            continue;
        if (k == nc) {
            c[nc].qos = qos;
            c[nc].sum = c[nc].n = 0;
            nc++;
        }
        c[k].sum += s->waits_s[i] + GRACE_S;
        c[k].n++;
    }
    for (size_t k = 0; k < nc; k++) {
        int64_t mean = c[k].sum / c[k].n;
        sum += mean;
        squares += (__int128)mean * mean;
    }
    return squares ? (int64_t)(sum * sum * 1000000 / (squares * (__int128)nc)) : 1000000;
}

static void sum_up(struct timed *s)
{
    struct run_result *r = s->p.r;
    size_t n = r->seats.n;
    r->failed = r->tasks - r->placed;
    r->fairness_ppm = fairness(s);
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        r->wait_s_sum += s->waits_s[i];
    qsort(s->waits_s, n, sizeof *s->waits_s, by_value);
    r->wait_s_p50 = s->waits_s[(n - 1) / 2];
    r->wait_s_p99 = s->waits_s[(n - 1) * 99 / 100];
    r->wait_s_max = s->waits_s[n - 1];
}

/* A task without a creation_time is there from the beginning. */
static void sort_by_coming(struct timed *s, struct arena *a)
{
    const struct trace *t = s->p.t;
    s->come = ARENA_ARRAY(a, struct coming, t->tasks.n);
    for (size_t i = 0; i < t->tasks.n; i++) {
        struct trace_task *k = &t->tasks.items[i];
        k->created_s = k->created_s == TRACE_TIME_UNKNOWN ? 0 : k->created_s;
        s->come[i] = (struct coming){ k->created_s, (uint32_t)i };
    }
    qsort(s->come, t->tasks.n, sizeof *s->come, by_coming);
}

/* Until the next coming or end; what happens after the last coming counts for no mean. */
static int64_t go_on(struct timed *s, int64_t now_s)
{
    bool still_come = s->next < s->p.t->tasks.n;
    int64_t then_s = still_come ? s->come[s->next].at_s : INT64_MAX;
    if (s->nheap && s->heap[0].at_s < then_s)
        then_s = s->heap[0].at_s;
    if (still_come) {
        s->gpu += (__int128)s->p.gpu_milli * (then_s - now_s);
        s->cpu += (__int128)s->p.cpu_milli * (then_s - now_s);
        s->seconds += then_s - now_s;
    }
    return then_s;
}

void run_timed(struct arena *a, const struct trace *t, enum score_policy policy, uint64_t seed, struct run_result *ret)
{
    struct timed s = { 0 };
    const size_t n = t->tasks.n;
    begin(&s.p, a, t, policy, seed, n, ret);
    s.heap = ARENA_ARRAY(a, struct end, n);
    s.waiting = ARENA_ARRAY(a, uint32_t, n);
    s.waits_s = ARENA_ARRAY(a, int64_t, n);
    sort_by_coming(&s, a);
    int64_t from = clock_mono_us(&clock_system), now_s = s.come[0].at_s;
    while (s.next < n || s.nheap) {
        now_s = go_on(&s, now_s);
        while (s.nheap && s.heap[0].at_s <= now_s)
            end_one(&s);
        for (; s.next < n && s.come[s.next].at_s <= now_s; s.next++) {
            fleet_arrive(s.p.f, s.p.class[s.come[s.next].task]);
            s.waiting[s.nwaiting++] = s.come[s.next].task;
        }
        try_all(&s, now_s);
    }
    ret->wall_us = clock_mono_us(&clock_system) - from;
    ret->tasks = (int64_t)n;
    ret->gpu_ppm = ppm(s.gpu, s.seconds * s.p.gpu_milli_all);
    ret->cpu_ppm = ppm(s.cpu, s.seconds * s.p.cpu_milli_all);
    sum_up(&s);
    finish(&s.p);
}
