/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_score.c - scores by class and room, computed once, and the best of them.
 *
 * A class has an array of scores by the slot of a room; UNKNOWN is computed when the scan meets it. */
#include "scheduler/plan/fleet_int.h"

#define UNKNOWN INT64_MIN
#define NO_FIT (INT64_MIN + 1)
/* Up to ROOMS_FEW different rooms all are looked at; of more, some in turn, and few of those are judged anew once one fits. */
enum { ROOMS_FEW = 4096, ROOMS_IN_TURN = 1024, JUDGED_MOST = 32 };

void fleet_forget(struct class *c)
{
    for (size_t i = 0; i < c->cap; i++)
        c->scores[i] = UNKNOWN;
}

static int64_t waste_of(struct fleet *f, uint32_t number)
{
    struct roomset_item *r = roomset_at(f->rooms, number);
    uint32_t epoch = workload_epoch(f->workload);
    if (r->waste_epoch != epoch) {
        r->waste = f->policy->waste(f->workload, &r->room);
        r->waste_epoch = epoch;
    }
    return r->waste;
}

static int64_t score_at(struct fleet *f, uint32_t number, const struct room *before, const struct ask *a, int level)
{
    if (f->policy->direct)
        return f->policy->direct(&f->scale, before, a, level, room_milli(before) == before->gpus * GPU_MILLI);
    if (!f->policy->waste)
        return 0;
    struct room after = *before;
    resource_take(&after, a, resource_devices(&after, a, level));
    return waste_of(f, number) - waste_of(f, fleet_number_of(f, after));
}

/* The best score of the ask in that room and the level it is for; NO_FIT. */
static int64_t judge(struct fleet *f, uint32_t number, const struct ask *a, int *ret_level)
{
    const struct room before = roomset_at(f->rooms, number)->room;      /* a copy: new rooms move the array */
    int64_t best = NO_FIT;
    *ret_level = 0;
    if (!resource_fits(&before, a))
        return NO_FIT;
    if (a->gpus == 0 || a->gpu_milli == GPU_MILLI) {
        *ret_level = a->gpu_milli;
        return score_at(f, number, &before, a, a->gpu_milli);
    }
    for (int i = 0; i < before.gpus; i++) {
        int level = before.milli[i];
        if (level < a->gpu_milli || (i && level == before.milli[i - 1]))
            continue;
        int64_t score = score_at(f, number, &before, a, level);
        if (score > best) {
            best = score;
            *ret_level = level;
        }
    }
    return best;
}

/* The score of a live room, computed if need be. */
static int64_t score_of(struct fleet *f, struct class *c, uint32_t number)
{
    const struct ask *a = &f->asks.asks[c - f->classes];
    uint32_t slot = roomset_at(f->rooms, number)->slot;
    int level;
    if (slot >= c->cap) {
        size_t cap = larger((int64_t)roomset_slots(f->rooms) + 64, (int64_t)c->cap * 3 / 2);
        c->scores = list_alloc(c->scores, cap, sizeof *c->scores);
        while (c->cap < cap)
            c->scores[c->cap++] = UNKNOWN;
    }
    if (c->scores[slot] == UNKNOWN)
        c->scores[slot] = judge(f, number, a, &level);
    return c->scores[slot];
}

static bool is_judged(const struct fleet *f, const struct class *c, uint32_t number)
{
    uint32_t slot = roomset_at(f->rooms, number)->slot;
    return slot < c->cap && c->scores[slot] != UNKNOWN;
}

struct choice { uint32_t room, first; int64_t score; };

static void consider(struct fleet *f, struct class *c, uint32_t number, struct choice *best)
{
    int64_t score = score_of(f, c, number);
    if (score < best->score || score == NO_FIT)
        return;
    uint32_t first = roomset_at(f->rooms, number)->machines[0];
    if (score > best->score || first < best->first)
        *best = (struct choice){ number, first, score };
}

/* The best live room by score, then by its first machine; ROOM_NONE: none. A class that fitted nowhere fits at most on
 * machines that have got more free since, so only those are looked at. */
static uint32_t best_room(struct fleet *f, struct class *c)
{
    struct choice best = { ROOM_NONE, UINT32_MAX, NO_FIT };
    if (c->refused_at != UINT64_MAX && f->given - c->refused_at <= GIVEN_KEPT) {
        for (uint64_t i = c->refused_at; i < f->given; i++)
            consider(f, c, f->machines[f->gained[i % GIVEN_KEPT]].number, &best);
        return best.room;
    }
    size_t n, judged = 0;
    const uint32_t *live = roomset_live(f->rooms, &n);
    const bool has_many = n > ROOMS_FEW;
    const size_t from = has_many ? f->turn++ * ROOMS_IN_TURN % n : 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t number = live[(from + i) % n];
        const bool is_enough = has_many && best.room != ROOM_NONE, is_new = !is_judged(f, c, number);
        if (is_enough && i >= ROOMS_IN_TURN)
            break;
        if (is_enough && is_new && judged >= JUDGED_MOST)
            continue;
        judged += is_new;
        consider(f, c, number, &best);
    }
    return best.room;
}

/* Any machine where it fits, each as likely. */
static uint32_t any_machine(struct fleet *f, struct class *c)
{
    size_t n;
    const uint32_t *live = roomset_live(f->rooms, &n);
    uint64_t sum = 0, at;
    for (size_t i = 0; i < n; i++)
        sum += score_of(f, c, live[i]) == NO_FIT ? 0 : roomset_at(f->rooms, live[i])->n;
    if (!sum)
        return ROOM_NONE;
    at = random_below(&f->random, sum);
    for (size_t i = 0; i < n; i++) {
        const struct roomset_item *r = roomset_at(f->rooms, live[i]);
        uint64_t here = score_of(f, c, live[i]) == NO_FIT ? 0 : r->n;
        if (at < here)
            return r->machines[at];
        at -= here;
    }
    return ROOM_NONE;
}

static int any_level(struct fleet *f, const struct room *r, const struct ask *a)
{
    int levels[MACHINE_GPUS_MAX], n = 0;
    for (int i = 0; i < r->gpus; i++)
        if (r->milli[i] >= a->gpu_milli)
            levels[n++] = r->milli[i];
    return levels[random_below(&f->random, (uint64_t)n)];
}

uint32_t fleet_choose(struct fleet *f, struct class *c, int *ret_level)
{
    const struct ask *a = &f->asks.asks[c - f->classes];
    bool is_random = !f->policy->direct && !f->policy->waste;
    uint32_t room = is_random ? any_machine(f, c) : best_room(f, c);
    if (room == ROOM_NONE)
        return ROOM_NONE;
    uint32_t machine = is_random ? room : roomset_at(f->rooms, room)->machines[0];
    *ret_level = a->gpu_milli;
    if (a->gpus && a->gpu_milli < GPU_MILLI && is_random)
        *ret_level = any_level(f, &f->machines[machine].free, a);
    else if (!is_random)
        (void)judge(f, room, a, ret_level);
    return machine;
}
