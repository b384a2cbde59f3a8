/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - scores by class and room, computed once.
 *
 * A class has an array of scores by the slot of a room; UNKNOWN is computed when the scan meets it. Scores of a policy that
 * learns are
 * forgotten when futures are drawn anew. When rooms that no machine has outnumber the others by far, all of them are forgotten
 * (tidy). */
#include "scheduler/plan/fleet.h"
#include "core/base/assert.h"
#include "scheduler/plan/askset.h"
#include "scheduler/plan/roomset.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN INT64_MIN
#define NO_FIT (INT64_MIN + 1)
enum { ROOMS_KEPT = 1 << 18, SCORES_KEPT = 1 << 26, GIVEN_KEPT = 1 << 12 };
/* Up to ROOMS_FEW different rooms all are looked at; of more, some in turn, and few of those are judged anew once one fits. */
enum { ROOMS_FEW = 4096, ROOMS_IN_TURN = 1024, JUDGED_MOST = 32 };

struct machine { struct room all, free; uint32_t number; };

struct class {
    int64_t *scores;                    /* by slot */
    size_t cap;
    uint32_t epoch;                     /* the workload's, when the scores began */
    uint64_t refused_at;                /* fleet.given when it fitted nowhere; UINT64_MAX: never */
};

struct fleet {
    const struct score_row *policy;
    struct workload *workload;
    struct random random;
    struct score_scale scale;
    struct roomset *rooms;
    struct machine *machines;
    struct askset asks;                 /* by class */
    struct class *classes;
    size_t nmachines, machines_cap, nclasses, classes_cap;
    uint64_t turn;                      /* where the next look at some of many rooms begins */
    uint64_t given;                     /* rises when a machine gets more free, which is then written here */
    uint32_t gained[GIVEN_KEPT];        /* by given modulo its length */
};

struct fleet *fleet_new(enum score_policy policy, struct workload *w, uint64_t seed)
{
    struct fleet *f = calloc(1, sizeof *f);
    ASSERT(f);
    f->policy = score_row(policy);
    f->workload = w;
    f->random.state = seed;
    f->scale = (struct score_scale){ 1, 1, 1 };
    f->rooms = roomset_new();
    return f;
}

void fleet_free(struct fleet *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->nclasses; i++)
        free(f->classes[i].scores);
    roomset_free(f->rooms);
    free(f->machines);
    free(f->classes);
    askset_release(&f->asks);
    free(f);
}

static void forget_scores(struct class *c)
{
    for (size_t i = 0; i < c->cap; i++)
        c->scores[i] = UNKNOWN;
}

static void moved(void *ctx, uint32_t machine, uint32_t number)
{
    ((struct fleet *)ctx)->machines[machine].number = number;
}

static void tidy(struct fleet *f)
{
    size_t live, slots = roomset_slots(f->rooms);
    (void)roomset_live(f->rooms, &live);
    bool has_many_scores = slots > 2 * live + 1024 && slots * f->nclasses > SCORES_KEPT;
    if (!has_many_scores && roomset_size(f->rooms) < ROOMS_KEPT + 8 * live)
        return;
    roomset_reset(f->rooms, moved, f);
    for (size_t i = 0; i < f->nclasses; i++)
        forget_scores(&f->classes[i]);
}

static uint32_t number_of(struct fleet *f, struct room r)
{
    room_sort(&r);
    return roomset_find(f->rooms, &r);
}

/* The machine's free room has changed. */
static void settle(struct fleet *f, uint32_t machine)
{
    struct machine *m = &f->machines[machine];
    roomset_leave(f->rooms, m->number, machine);
    m->number = number_of(f, m->free);
    roomset_enter(f->rooms, m->number, machine);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void note_gain(struct fleet *f, uint32_t machine)
{
    f->gained[f->given++ % GIVEN_KEPT] = machine;
}

uint32_t fleet_add(struct fleet *f, const struct room *all, const struct room *free)
{
    ASSERT(f->nmachines < FLEET_MACHINES_MAX && room_is_valid(all) && room_is_valid(free));
    if (f->nmachines == f->machines_cap) {
        f->machines_cap = f->machines_cap ? f->machines_cap * 2 : 32;
        f->machines = list_alloc(f->machines, f->machines_cap, sizeof *f->machines);
    }
    uint32_t machine = (uint32_t)f->nmachines++;
    struct score_scale s = { larger(f->scale.cpu_milli, all->cpu_milli), larger(f->scale.memory_bytes, all->memory_bytes),
                             larger(f->scale.milli, room_milli(all)) };
    if (memcmp(&s, &f->scale, sizeof s) != 0)
        for (size_t i = 0; i < f->nclasses; i++)
            forget_scores(&f->classes[i]);
    f->scale = s;
    f->machines[machine] = (struct machine){ *all, *free, number_of(f, *free) };
    roomset_enter(f->rooms, f->machines[machine].number, machine);
    note_gain(f, machine);
    return machine;
}

uint32_t fleet_class(struct fleet *f, const struct ask *a)
{
    ASSERT(ask_is_valid(a));
    uint32_t class = askset_find(&f->asks, a, FLEET_CLASSES_MAX);
    ASSERT(class != ASK_NONE);
    if (class < f->nclasses)
        return class;
    if (f->nclasses == f->classes_cap) {
        f->classes_cap = f->classes_cap ? f->classes_cap * 2 : 16;
        f->classes = list_alloc(f->classes, f->classes_cap, sizeof *f->classes);
    }
    f->classes[f->nclasses++] = (struct class){ .refused_at = UINT64_MAX };
    return class;
}

const struct ask *fleet_ask(const struct fleet *f, uint32_t class)
{
    return &f->asks.asks[class];
}

void fleet_arrive(struct fleet *f, uint32_t class)
{
    if (f->policy->learns)
        workload_arrive(f->workload, &f->asks.asks[class]);
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
    return waste_of(f, number) - waste_of(f, number_of(f, after));
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

bool fleet_place(struct fleet *f, uint32_t class, struct seat *ret)
{
    struct class *c = &f->classes[class];
    const struct ask *a = &f->asks.asks[class];
    if (c->refused_at == f->given)
        return false;
    tidy(f);
    if (f->policy->learns && c->epoch != workload_epoch(f->workload)) {
        forget_scores(c);
        c->epoch = workload_epoch(f->workload);
    }
    bool is_random = !f->policy->direct && !f->policy->waste;
    uint32_t room = is_random ? any_machine(f, c) : best_room(f, c);
    if (room == ROOM_NONE) {
        c->refused_at = f->given;
        return false;
    }
    uint32_t machine = is_random ? room : roomset_at(f->rooms, room)->machines[0];
    struct machine *m = &f->machines[machine];
    int level = a->gpu_milli;
    if (a->gpus && level < GPU_MILLI && is_random)
        level = any_level(f, &m->free, a);
    else if (!is_random)
        (void)judge(f, room, a, &level);
    *ret = (struct seat){ machine, resource_devices(&m->free, a, level) };
    resource_take(&m->free, a, ret->devices);
    settle(f, machine);
    return true;
}

void fleet_give(struct fleet *f, uint32_t class, struct seat seat)
{
    resource_give(&f->machines[seat.machine].free, &f->asks.asks[class], seat.devices);
    settle(f, seat.machine);
    note_gain(f, seat.machine);
}

bool fleet_take(struct fleet *f, uint32_t class, struct seat seat)
{
    const struct ask *a = &f->asks.asks[class];
    struct room *r = &f->machines[seat.machine].free;
    if (__builtin_popcount(seat.devices) != a->gpus || seat.devices >> r->gpus)
        return false;
    if (r->cpu_milli < a->cpu_milli || r->memory_bytes < a->memory_bytes)
        return false;
    for (int i = 0; i < r->gpus; i++)
        if (seat.devices >> i & 1 && r->milli[i] < a->gpu_milli)
            return false;
    resource_take(r, a, seat.devices);
    settle(f, seat.machine);
    return true;
}

size_t fleet_size(const struct fleet *f)
{
    return f->nmachines;
}

const struct room *fleet_free_room(const struct fleet *f, uint32_t machine)
{
    return &f->machines[machine].free;
}

const struct room *fleet_all_room(const struct fleet *f, uint32_t machine)
{
    return &f->machines[machine].all;
}
