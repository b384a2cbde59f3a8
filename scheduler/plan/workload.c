/* SPDX-License-Identifier: Apache-2.0 */
/* workload.c - types numbered by their asks; futures kept once per group that was asked for. */
#include "scheduler/plan/workload.h"
#include "core/base/arena.h"
#include "core/base/assert.h"
#include "scheduler/plan/askset.h"
#include "scheduler/plan/futures.h"

#include <stdlib.h>
#include <string.h>

struct workload {
    struct askset asks;                 /* types by number */
    struct workload_type *drawn_types;
    int64_t *came, *cumulative;         /* by type; cumulative: while drawing */
    size_t ndrawn;
    int64_t arrivals, next;             /* next: at so many arrivals futures are drawn */
    uint32_t epoch;
    struct random random;
    workload_futures drawn;
    struct futures *by_group[GROUPS_MAX];
};

struct workload *workload_new(void)
{
    struct workload *w = calloc(1, sizeof *w);
    ASSERT(w);
    w->came = calloc(WORKLOAD_TYPES_MAX, sizeof *w->came);
    w->cumulative = calloc(WORKLOAD_TYPES_MAX, sizeof *w->cumulative);
    w->drawn_types = calloc(WORKLOAD_TYPES_MAX, sizeof *w->drawn_types);
    ASSERT(w->came && w->cumulative && w->drawn_types);
    w->next = WORKLOAD_FIRST;
    w->random.state = 1;
    return w;
}

void workload_free(struct workload *w)
{
    if (!w)
        return;
    for (int i = 0; i < GROUPS_MAX; i++)
        futures_free(w->by_group[i]);
    askset_release(&w->asks);
    free(w->came);
    free(w->cumulative);
    free(w->drawn_types);
    free(w);
}

void workload_arrive(struct workload *w, const struct ask *a)
{
    if (!a->gpus)
        return;
    uint32_t type = askset_find(&w->asks, a, WORKLOAD_TYPES_MAX);
    if (type == ASK_NONE)
        return;
    w->came[type]++;
    if (++w->arrivals >= w->next)
        workload_draw(w);
}

/* The type in whose part of the cumulative counts the point lies. */
static uint16_t type_at(const int64_t *cumulative, size_t n, int64_t point)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (cumulative[mid] > point)
            high = mid;
        else
            low = mid + 1;
    }
    return (uint16_t)low;
}

void workload_draw(struct workload *w)
{
    static const int64_t fine = 1 << 20;                    /* points per arrival */
    if (!w->arrivals)
        return;
    int64_t sum = 0;
    for (size_t i = 0; i < w->asks.n; i++) {
        w->cumulative[i] = sum += w->came[i] * fine;
        w->drawn_types[i] = (struct workload_type){ w->asks.asks[i], w->came[i] };
    }
    w->ndrawn = w->asks.n;
    for (int step = 0; step < WORKLOAD_STEPS; step++) {
        uint16_t types[WORKLOAD_FUTURES];
        for (int k = 0; k < WORKLOAD_FUTURES; k++) {
            int64_t from = (int64_t)((__int128)sum * k / WORKLOAD_FUTURES);
            int64_t to = (int64_t)((__int128)sum * (k + 1) / WORKLOAD_FUTURES);
            types[k] = type_at(w->cumulative, w->ndrawn, from + (int64_t)random_below(&w->random, (uint64_t)(to - from)));
        }
        for (int k = WORKLOAD_FUTURES - 1; k >= 0; k--) {
            uint64_t other = random_below(&w->random, (uint64_t)k + 1);
            w->drawn[k][step] = types[other];
            types[other] = types[k];
        }
    }
    w->epoch++;
    int64_t more = w->arrivals < WORKLOAD_SLOW ? w->arrivals * 3 / 10 : w->arrivals;
    w->next = w->arrivals + (more > 1 ? more : 1);
}

uint32_t workload_epoch(const struct workload *w)
{
    return w->epoch;
}

const struct workload_type *workload_types(const struct workload *w, size_t *n)
{
    *n = w->ndrawn;
    return w->drawn_types;
}

const workload_futures *workload_drawn(const struct workload *w)
{
    return &w->drawn;
}

void workload_save(const struct workload *w, struct arena *a, struct workload_state *ret)
{
    *ret = (struct workload_state){ .ntypes = w->asks.n, .ndrawn = w->ndrawn, .arrivals = w->arrivals, .next = w->next,
                                    .epoch = w->epoch, .random = w->random.state,
                                    .types = ARENA_ARRAY(a, struct workload_type, w->asks.n + 1),
                                    .drawn_arrivals = ARENA_ARRAY(a, int64_t, w->ndrawn + 1) };
    for (size_t i = 0; i < w->asks.n; i++)
        ret->types[i] = (struct workload_type){ w->asks.asks[i], w->came[i] };
    for (size_t i = 0; i < w->ndrawn; i++)
        ret->drawn_arrivals[i] = w->drawn_types[i].arrivals;
    memcpy(ret->drawn, w->drawn, sizeof ret->drawn);
}

static bool fits(const struct workload_state *s)
{
    if (s->ntypes > WORKLOAD_TYPES_MAX || s->ndrawn > s->ntypes || s->arrivals < 0 || s->arrivals >= s->next ||
        (s->epoch != 0) != (s->ndrawn != 0))
        return false;
    for (size_t i = 0; i < s->ntypes; i++)
        if (!ask_is_valid(&s->types[i].ask) || !s->types[i].ask.gpus || s->types[i].arrivals < 0)
            return false;
    for (size_t i = 0; i < s->ndrawn; i++)
        if (s->drawn_arrivals[i] < 0)
            return false;
    for (size_t i = 0; s->epoch && i < WORKLOAD_FUTURES * WORKLOAD_STEPS; i++)
        if (s->drawn[i / WORKLOAD_STEPS][i % WORKLOAD_STEPS] >= s->ndrawn)
            return false;
    return true;
}

struct workload *workload_load(const struct workload_state *s)
{
    if (!fits(s))
        return NULL;
    struct workload *w = workload_new();
    for (size_t i = 0; i < s->ntypes; i++) {
        if (askset_find(&w->asks, &s->types[i].ask, WORKLOAD_TYPES_MAX) != i)
            return workload_free(w), NULL;
        w->came[i] = s->types[i].arrivals;
    }
    for (size_t i = 0; i < s->ndrawn; i++)
        w->drawn_types[i] = (struct workload_type){ s->types[i].ask, s->drawn_arrivals[i] };
    w->ndrawn = s->ndrawn;
    w->arrivals = s->arrivals;
    w->next = s->next;
    w->epoch = s->epoch;
    w->random.state = s->random;
    memcpy(w->drawn, s->drawn, sizeof w->drawn);
    return w;
}

/* Behind a const face, since it only keeps what would else be computed again. */
const struct futures *workload_futures_of(const struct workload *cw, unsigned group)
{
    struct workload *w = (struct workload *)cw;
    ASSERT(group < GROUPS_MAX && w->epoch);
    if (!w->by_group[group])
        w->by_group[group] = futures_new();
    if (futures_epoch(w->by_group[group]) != w->epoch)
        futures_fill(w->by_group[group], w, group);
    return w->by_group[group];
}
