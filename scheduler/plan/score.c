/* SPDX-License-Identifier: Apache-2.0 */
/* score.c - the rows of score.def and their functions. */
#include "scheduler/plan/score.h"
#include "scheduler/plan/futures.h"

#include <stddef.h>

static const struct score_row rows[SCORE_COUNT] = {
#define SCORE(id, name, waste, direct, learns, purpose) [SCORE_##id] = { name, purpose, waste, direct, learns },
#include "scheduler/plan/score.def"
#undef SCORE
};

enum { UNIT = 1 << 20 };                /* a machine's whole resource, in scores */

const struct score_row *score_row(enum score_policy p)
{
    return &rows[p];
}

enum score_policy score_by_name(struct str name)
{
    int i = 0;
    while (i < SCORE_COUNT && !str_eq(name, str_c(rows[i].name)))
        i++;
    return (enum score_policy)i;
}

static int64_t part(int64_t of, int64_t whole)
{
    return (int64_t)((__int128)of * UNIT / whole);
}

/* Processors and GPUs count alike. A GPU job prefers the fullest device that is enough. */
int64_t direct_bestfit(const struct score_scale *s, const struct room *before, const struct ask *a, int level, bool is_idle)
{
    (void)is_idle;
    (void)level;
    return -part(before->cpu_milli - a->cpu_milli, s->cpu_milli) - part(room_milli(before) - ask_milli(a), s->milli);
}

int64_t direct_dotprod(const struct score_scale *s, const struct room *before, const struct ask *a, int level, bool is_idle)
{
    (void)is_idle;
    (void)level;
    __int128 cpu = (__int128)part(before->cpu_milli, s->cpu_milli) * part(a->cpu_milli, s->cpu_milli);
    __int128 gpu = (__int128)part(room_milli(before), s->milli) * part(ask_milli(a), s->milli);
    return -(int64_t)(cpu + gpu);
}

int64_t direct_packing(const struct score_scale *s, const struct room *before, const struct ask *a, int level, bool is_idle)
{
    (void)s;
    if (a->gpus && level < GPU_MILLI)
        return 3 * GPU_MILLI - level;   /* beside another share: the less is left the better */
    return is_idle ? 0 : GPU_MILLI - room_milli(before) / MACHINE_GPUS_MAX;
}

/* The fragmentation measure of Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), section 4. A type that cannot run on
 * the machine could
 * use none of its free GPU: all of it is fragment for that type. One that can run leaves as fragment the devices with less free
 * than it asks
 * for of one. The mean over types by popularity is taken as the sum by counts, so it stays an integer. Types without a GPU would
 * add the
 * same to every choice and are not learned. */
int64_t waste_fgd(const struct workload *w, const struct room *r)
{
    size_t n;
    const struct workload_type *types = workload_types(w, &n);
    const int64_t all = room_milli(r);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ask *a = &types[i].ask;
        int64_t fragment = all;
        if (resource_fits(r, a)) {
            fragment = 0;
            for (int g = 0; g < r->gpus; g++)
                fragment += r->milli[g] < a->gpu_milli ? r->milli[g] : 0;
        }
        sum += types[i].arrivals * fragment;
    }
    return sum;
}

/* Fragmentation gradient descent asks which single arrival could still use a machine; this asks what a run of them would leave
 * there, so it sees
 * that four shares of 250 fill a device and that processors run out before GPUs do. Until futures are drawn every machine is
 * worth the same,
 * and the first of the list is taken. */
int64_t waste_roll(const struct workload *w, const struct room *r)
{
    return workload_epoch(w) ? futures_worth(workload_futures_of(w, r->group), r) : 0;
}
