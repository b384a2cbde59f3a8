/* SPDX-License-Identifier: Apache-2.0 */
/* futures.c - masks by ladders.
 *
 * A ladder has the different amounts of one resource that the steps ask for, ascending. The rank of a free amount is how
 * many rungs it reaches; the mask of a rank has the steps whose rung is below. With more than RUNGS amounts several share a
 * rung, so a step that a mask lets through is looked at once more. A rank is found by the upper bits of the amount, which
 * lead to a rung close below it. The masks of one future lie together: a play reads near what it has read.
 * The square root of R: a lump left on one machine weighs less than the same in many places, since a future that was not drawn
 * may still want it. */
#include "scheduler/plan/futures.h"
#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { RUNGS = 127, STARTS = 512, MILLI_MAX = MACHINE_GPUS_MAX * GPU_MILLI };
_Static_assert(WORKLOAD_STEPS < 64, "a mask has a bit for each step");

struct ladder {
    int n, shift;
    int64_t rung[RUNGS + 1];                            /* the last one is above all amounts */
    uint8_t start[STARTS];                              /* rank of the least amount with those bits above the shift */
    uint64_t mask[WORKLOAD_FUTURES][RUNGS + 1];         /* by rank */
};

/* By future and step; below 0: the step has no part in this ladder. */
typedef int64_t amounts[WORKLOAD_FUTURES][WORKLOAD_STEPS];

struct step { int64_t cpu_milli, memory_bytes; int32_t gpus, gpu_milli; };

struct futures {
    uint32_t epoch;
    struct ladder cpu, memory, share;                   /* share: of steps that ask for less than a GPU */
    uint8_t share_rank[GPU_MILLI];                      /* by free thousandths of a begun device */
    bool is_exact;                                      /* no rung of processors or memory stands for several amounts */
    uint64_t whole[WORKLOAD_FUTURES][MACHINE_GPUS_MAX + 1]; /* steps that ask for so many whole GPUs at most, and all shares */
    struct step steps[WORKLOAD_FUTURES][WORKLOAD_STEPS];
    int32_t worth[MILLI_MAX + 1];
};

struct game {
    int64_t cpu_milli, memory_bytes;
    int32_t left, whole, nbegun;
    uint16_t begun[MACHINE_GPUS_MAX];                   /* what begun devices have left, ascending, 1 … 999 */
};

static uint64_t root(uint64_t v)
{
    uint64_t r = 0;
    for (int bit = 30; bit >= 0; bit--) {
        uint64_t t = r | (uint64_t)1 << bit;
        if (t * t <= v)
            r = t;
    }
    return r;
}

struct futures *futures_new(void)
{
    struct futures *f = calloc(1, sizeof *f);
    ASSERT(f);
    for (uint64_t i = 0; i <= MILLI_MAX; i++)
        f->worth[i] = (int32_t)root(i << 40);
    return f;
}

void futures_free(struct futures *f)
{
    free(f);
}

uint32_t futures_epoch(const struct futures *f)
{
    return f->epoch;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static inline int rank_of(const struct ladder *l, int64_t v)
{
    const uint64_t bits = (uint64_t)v >> l->shift;
    int rank = l->start[bits < STARTS ? bits : STARTS - 1];
    while (l->rung[rank] <= v)
        rank++;
    return rank;
}

static void build_starts(struct ladder *l)
{
    int rank = 0;
    l->rung[l->n] = INT64_MAX;
    l->shift = 0;
    while (l->n && l->rung[l->n - 1] >> l->shift >= STARTS)
        l->shift++;
    for (int64_t i = 0; i < STARTS; i++) {
        while (l->rung[rank] <= i << l->shift && rank < l->n)
            rank++;
        l->start[i] = (uint8_t)rank;
    }
}

/* False: several amounts share a rung. */
static bool build(struct ladder *l, amounts of)
{
    int64_t sorted[WORKLOAD_FUTURES * WORKLOAD_STEPS];
    int n = 0, different = 0;
    for (int k = 0; k < WORKLOAD_FUTURES; k++)
        for (int i = 0; i < WORKLOAD_STEPS; i++)
            if (of[k][i] >= 0)
                sorted[n++] = of[k][i];
    if (n)
        qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int i = 0; i < n; i++)
        if (!different || sorted[different - 1] != sorted[i])
            sorted[different++] = sorted[i];
    int every = (different + RUNGS - 1) / RUNGS;
    l->n = 0;
    for (int i = 0; i < different; i += every)
        l->rung[l->n++] = sorted[i];
    build_starts(l);
    memset(l->mask, 0, sizeof l->mask);
    for (int k = 0; k < WORKLOAD_FUTURES; k++) {
        for (int i = 0; i < WORKLOAD_STEPS; i++)
            if (of[k][i] >= 0)
                l->mask[k][rank_of(l, of[k][i])] |= (uint64_t)1 << i;
        for (int rank = 1; rank <= l->n; rank++)
            l->mask[k][rank] |= l->mask[k][rank - 1];
    }
    return every <= 1;
}

void futures_fill(struct futures *f, const struct workload *w, unsigned group)
{
    amounts cpu, memory, share;
    const workload_futures *drawn = workload_drawn(w);
    size_t n;
    const struct workload_type *types = workload_types(w, &n);
    memset(f->whole, 0, sizeof f->whole);
    for (int k = 0; k < WORKLOAD_FUTURES; k++)
        for (int i = 0; i < WORKLOAD_STEPS; i++) {
            const struct ask *a = &types[(*drawn)[k][i]].ask;
            const uint64_t bit = (uint64_t)1 << i;
            bool is_in = groups_has(&a->groups, group), is_share = a->gpu_milli < GPU_MILLI;
            f->steps[k][i] = (struct step){ a->cpu_milli, a->memory_bytes, a->gpus, a->gpu_milli };
            cpu[k][i] = is_in ? a->cpu_milli : -1;
            memory[k][i] = is_in ? a->memory_bytes : -1;
            share[k][i] = is_in && is_share ? a->gpu_milli : -1;
            for (int g = is_share ? 1 : a->gpus; is_in && g <= MACHINE_GPUS_MAX; g++)
                f->whole[k][g] |= bit;
        }
    const bool is_cpu_exact = build(&f->cpu, cpu), is_memory_exact = build(&f->memory, memory);
    f->is_exact = is_cpu_exact && is_memory_exact;
    (void)build(&f->share, share);
    for (int i = 0; i < GPU_MILLI; i++)
        f->share_rank[i] = (uint8_t)rank_of(&f->share, i);
    f->epoch = workload_epoch(w);
}

static void take_share(struct game *p, int32_t milli)
{
    int at = 0, left;
    while (at < p->nbegun && p->begun[at] < milli)
        at++;
    if (at < p->nbegun) {
        left = p->begun[at] - milli;
        for (; at > 0 && p->begun[at - 1] > left; at--)
            p->begun[at] = p->begun[at - 1];
        p->begun[at] = (uint16_t)left;
        if (left)
            return;
        for (p->nbegun--; at < p->nbegun; at++)
            p->begun[at] = p->begun[at + 1];
        return;
    }
    p->whole--;
    left = GPU_MILLI - milli;
    for (at = p->nbegun++; at > 0 && p->begun[at - 1] > left; at--)
        p->begun[at] = p->begun[at - 1];
    p->begun[at] = (uint16_t)left;
}

static int32_t most_begun(const struct game *p)
{
    return p->nbegun ? p->begun[p->nbegun - 1] : 0;
}

/* Steps that probably fit now. */
static inline uint64_t fitting(const struct futures *f, int k, const struct game *p)
{
    uint64_t gpu = p->whole ? f->whole[k][p->whole] : f->share.mask[k][f->share_rank[most_begun(p)]];
    return gpu & f->cpu.mask[k][rank_of(&f->cpu, p->cpu_milli)] & f->memory.mask[k][rank_of(&f->memory, p->memory_bytes)];
}

/* A rung that stands for several amounts lets steps through that do not fit. */
static inline bool fits(const struct futures *f, const struct step *s, const struct game *p)
{
    if (!f->is_exact && (s->cpu_milli > p->cpu_milli || s->memory_bytes > p->memory_bytes))
        return false;
    return s->gpu_milli == GPU_MILLI || p->whole || most_begun(p) >= s->gpu_milli;
}

static int32_t play(const struct futures *f, int k, struct game p, uint64_t steps)
{
    while (steps) {
        const struct step *s = &f->steps[k][__builtin_ctzll(steps)];
        steps &= steps - 1;
        if (!fits(f, s, &p))
            continue;
        if (s->gpu_milli == GPU_MILLI)
            p.whole -= s->gpus;
        else
            take_share(&p, s->gpu_milli);
        p.left -= s->gpus * s->gpu_milli;
        p.cpu_milli -= s->cpu_milli;
        p.memory_bytes -= s->memory_bytes;
        if (!p.left)
            break;
        steps &= fitting(f, k, &p);
    }
    return p.left;
}

static struct game start(const struct room *r)
{
    struct game p = { .cpu_milli = r->cpu_milli, .memory_bytes = r->memory_bytes };
    for (int i = 0; i < r->gpus; i++) {
        p.left += r->milli[i];
        if (r->milli[i] == GPU_MILLI)
            p.whole++;
        else if (r->milli[i])
            p.begun[p.nbegun++] = r->milli[i];
    }
    return p;
}

int64_t futures_worth(const struct futures *f, const struct room *r)
{
    const struct game p = start(r);
    int64_t sum = 0;
    for (int k = 0; k < WORKLOAD_FUTURES; k++)
        sum += f->worth[play(f, k, p, fitting(f, k, &p))];
    return sum;
}

int32_t futures_left(const struct futures *f, int future, const struct room *r)
{
    const struct game p = start(r);
    return play(f, future, p, fitting(f, future, &p));
}
