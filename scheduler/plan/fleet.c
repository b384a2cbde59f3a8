/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - machines and classes of asks; who takes and gives back seats.
 *
 * Scores of a policy that learns are forgotten when futures are drawn anew. When rooms that no machine has outnumber the others
 * by far, all of them are forgotten (tidy). */
#include "scheduler/plan/fleet_int.h"
#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { ROOMS_KEPT = 1 << 18, SCORES_KEPT = 1 << 26 };

struct fleet *fleet_new(enum score_policy policy, struct workload *w, uint64_t seed)
{
    struct fleet *f = calloc(1, sizeof *f);
    ASSERT(f);
    f->policy = score_row(policy);
    f->workload = w;
    f->random.state = seed;
    f->scale = (struct score_scale){ 1, 1, 1 };
    f->rooms = roomset_new();
    f->tree = freetree_new();
    return f;
}

void fleet_free(struct fleet *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->nclasses; i++)
        free(f->classes[i].scores);
    roomset_free(f->rooms);
    freetree_free(f->tree);
    free(f->machines);
    free(f->classes);
    askset_release(&f->asks);
    free(f);
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
        fleet_forget(&f->classes[i]);
}

uint32_t fleet_number_of(struct fleet *f, struct room r)
{
    room_sort(&r);
    return roomset_find(f->rooms, &r);
}

/* The machine's free room has changed. */
static void settle(struct fleet *f, uint32_t machine)
{
    struct machine *m = &f->machines[machine];
    roomset_leave(f->rooms, m->number, machine);
    m->number = fleet_number_of(f, m->free);
    roomset_enter(f->rooms, m->number, machine);
    freetree_set(f->tree, machine, &m->free);
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
            fleet_forget(&f->classes[i]);
    f->scale = s;
    f->machines[machine] = (struct machine){ *all, *free, fleet_number_of(f, *free) };
    roomset_enter(f->rooms, f->machines[machine].number, machine);
    freetree_set(f->tree, machine, free);
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

bool fleet_place(struct fleet *f, uint32_t class, struct seat *ret)
{
    struct class *c = &f->classes[class];
    const struct ask *a = &f->asks.asks[class];
    if (c->refused_at == f->given)
        return false;
    tidy(f);
    if (f->policy->learns && c->epoch != workload_epoch(f->workload)) {
        fleet_forget(c);
        c->epoch = workload_epoch(f->workload);
    }
    int level;
    uint32_t machine = fleet_choose(f, c, &level);
    if (machine == ROOM_NONE) {
        c->refused_at = f->given;
        return false;
    }
    struct machine *m = &f->machines[machine];
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
    if (r->cpu_milli < a->cpu_milli || r->memory_bytes < a->memory_bytes || r->slots < a->slots)
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
