/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_score.c - scores by class and room, computed once, and the best of them.
 *
 * A class has an array of scores by the slot of a room; UNKNOWN is computed when the scan meets it. */
#include "scheduler/plan/fleet_int.h"

#define UNKNOWN INT64_MIN
#define NO_FIT (INT64_MIN + 1)
/* Up to ROOMS_FEW different rooms all are judged (of more than MACHINES_FEW machines, while they are much alike). Of more, SOME
 * machines that can hold the job are looked up in turn, and the JUDGED fullest
 * of them are judged by the policy. */
enum { ROOMS_FEW = 2048, MACHINES_FEW = 2048, ALIKE_MOST = 256, SOME = 64, JUDGED = 4 };

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
    size_t n;
    const uint32_t *live = roomset_live(f->rooms, &n);
    for (size_t i = 0; i < n; i++)
        consider(f, c, live[i], &best);
    return best.room;
}

/* The fullest machines that were seen, in the order of their fullness. */
struct fullest { uint32_t machines[JUDGED]; int64_t fullness[JUDGED]; size_t n; };

static void see(struct fleet *f, const struct ask *a, uint32_t machine, struct fullest *s)
{
    int64_t fullness = direct_bestfit(&f->scale, &f->machines[machine].free, a, 0, false);
    size_t at = s->n < JUDGED ? s->n++ : JUDGED;
    for (; at && s->fullness[at - 1] < fullness; at--)
        if (at < JUDGED) {
            s->fullness[at] = s->fullness[at - 1];
            s->machines[at] = s->machines[at - 1];
        }
    if (at < JUDGED) {
        s->fullness[at] = fullness;
        s->machines[at] = machine;
    }
}

static bool has_many(const struct fleet *f)
{
    size_t n;
    (void)roomset_live(f->rooms, &n);
    return n > ROOMS_FEW || (n > ALIKE_MOST && f->nmachines > MACHINES_FEW);
}

/* A good machine among very many different ones; ROOM_NONE: it fits nowhere. */
static uint32_t good_machine(struct fleet *f, struct class *c)
{
    const struct ask *a = &f->asks.asks[c - f->classes];
    struct fullest s = { .n = 0 };
    if (c->refused_at != UINT64_MAX && f->given - c->refused_at <= GIVEN_KEPT) {
        for (uint64_t i = c->refused_at; i < f->given; i++) {
            uint32_t machine = f->gained[i % GIVEN_KEPT];
            if (resource_fits(&f->machines[machine].free, a))
                see(f, a, machine, &s);
        }
    } else {
        uint32_t first = FREETREE_NONE, at = f->turn;
        for (int i = 0; i < SOME; i++, f->turn = at + 1) {
            at = freetree_next(f->tree, a, f->turn);
            if (at == FREETREE_NONE)
                at = freetree_next(f->tree, a, 0);
            if (at == first)            /* none at all, or round */
                break;
            first = first == FREETREE_NONE ? at : first;
            see(f, a, at, &s);
        }
    }
    uint32_t best = ROOM_NONE;
    int64_t most = NO_FIT;
    for (size_t i = 0; i < s.n; i++) {
        int level;
        int64_t score = judge(f, f->machines[s.machines[i]].number, a, &level);
        if (score > most) {
            most = score;
            best = s.machines[i];
        }
    }
    return best;
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

static uint32_t first_machine(struct fleet *f, uint32_t room)
{
    return room == ROOM_NONE ? ROOM_NONE : roomset_at(f->rooms, room)->machines[0];
}

uint32_t fleet_choose(struct fleet *f, struct class *c, int *ret_level)
{
    const struct ask *a = &f->asks.asks[c - f->classes];
    bool is_random = !f->policy->direct && !f->policy->waste;
    uint32_t machine = is_random ? any_machine(f, c) : has_many(f) ? good_machine(f, c) : first_machine(f, best_room(f, c));
    if (machine == ROOM_NONE)
        return ROOM_NONE;
    *ret_level = a->gpu_milli;
    if (a->gpus && a->gpu_milli < GPU_MILLI && is_random)
        *ret_level = any_level(f, &f->machines[machine].free, a);
    else if (!is_random)
        (void)judge(f, f->machines[machine].number, a, ret_level);
    return machine;
}
