/* SPDX-License-Identifier: Apache-2.0 */
/* roomset.c - rooms in an array, found by open addressing; where each machine stands in its heap is kept in one array by
 * machine. */
#include "scheduler/plan/roomset.h"
#include "scheduler/plan/askset.h"

#include <stdlib.h>
#include <string.h>

struct roomset {
    struct roomset_item *items;
    uint32_t *index;                    /* number + 1; 0: free. Twice as long as items, a power of two */
    uint32_t *live, *at;                /* at: by machine, its place in the heap of its room */
    size_t n, cap, nlive, live_cap, slots, at_cap;
};

static uint64_t hash(const struct room *r)
{
    uint64_t h = (uint64_t)r->cpu_milli * 0x9e3779b97f4a7c15u ^ (uint64_t)r->memory_bytes, v;
    const char *p = (const char *)&r->group;
    for (size_t i = 0; i < 32; i += 8) {
        memcpy(&v, p + i, 8);
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    h ^= (uint64_t)r->slots << 40;
    return (h ^ r->milli[MACHINE_GPUS_MAX - 2] ^ (uint64_t)r->milli[MACHINE_GPUS_MAX - 1] << 16) * 0xc4ceb9fe1a85ec53u >> 16;
}

static bool same(const struct room *a, const struct room *b)
{
    return a->cpu_milli == b->cpu_milli && a->memory_bytes == b->memory_bytes && a->group == b->group && a->gpus == b->gpus &&
           a->slots == b->slots && memcmp(a->milli, b->milli, sizeof a->milli) == 0;
}

static void index_put(struct roomset *s, uint32_t number)
{
    size_t mask = s->cap * 2 - 1, at = hash(&s->items[number].room) & mask;
    while (s->index[at])
        at = (at + 1) & mask;
    s->index[at] = number + 1;
}

static void grow(struct roomset *s)
{
    s->cap = s->cap ? s->cap * 2 : 64;
    s->items = list_alloc(s->items, s->cap, sizeof *s->items);
    s->index = index_alloc(s->index, s->cap * 2);
    for (size_t i = 0; i < s->n; i++)
        index_put(s, (uint32_t)i);
}

struct roomset *roomset_new(void)
{
    struct roomset *s = list_alloc(NULL, 1, sizeof *s);
    *s = (struct roomset){ 0 };
    grow(s);
    return s;
}

static void release(struct roomset *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->items[i].machines);
    free(s->items);
    free(s->index);
    free(s->live);
    free(s->at);
}

void roomset_free(struct roomset *s)
{
    if (s)
        release(s);
    free(s);
}

uint32_t roomset_find(struct roomset *s, const struct room *r)
{
    size_t mask = s->cap * 2 - 1;
    for (size_t at = hash(r) & mask; s->index[at]; at = (at + 1) & mask)
        if (same(&s->items[s->index[at] - 1].room, r))
            return s->index[at] - 1;
    if (s->n == s->cap)
        grow(s);
    uint32_t number = (uint32_t)s->n++;
    s->items[number] = (struct roomset_item){ .room = *r, .slot = ROOM_NONE, .live_at = ROOM_NONE };
    index_put(s, number);
    return number;
}

struct roomset_item *roomset_at(struct roomset *s, uint32_t number)
{
    return &s->items[number];
}

static void put(struct roomset *s, struct roomset_item *r, uint32_t at, uint32_t machine)
{
    r->machines[at] = machine;
    s->at[machine] = at;
}

static void sift_up(struct roomset *s, struct roomset_item *r, uint32_t at, uint32_t machine)
{
    for (; at && r->machines[(at - 1) / 2] > machine; at = (at - 1) / 2)
        put(s, r, at, r->machines[(at - 1) / 2]);
    put(s, r, at, machine);
}

static void sift_down(struct roomset *s, struct roomset_item *r, uint32_t at, uint32_t machine)
{
    for (uint32_t child; (child = 2 * at + 1) < r->n; at = child) {
        if (child + 1 < r->n && r->machines[child + 1] < r->machines[child])
            child++;
        if (r->machines[child] > machine)
            break;
        put(s, r, at, r->machines[child]);
    }
    put(s, r, at, machine);
}

void roomset_enter(struct roomset *s, uint32_t number, uint32_t machine)
{
    struct roomset_item *r = &s->items[number];
    if (machine >= s->at_cap) {
        s->at_cap = machine + 1 > s->at_cap * 2 ? machine + 1 : s->at_cap * 2;
        s->at = list_alloc(s->at, s->at_cap, sizeof *s->at);
    }
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 4;
        r->machines = list_alloc(r->machines, r->cap, sizeof *r->machines);
    }
    if (r->slot == ROOM_NONE)
        r->slot = (uint32_t)s->slots++;
    if (!r->n) {
        if (s->nlive == s->live_cap) {
            s->live_cap = s->live_cap ? s->live_cap * 2 : 256;
            s->live = list_alloc(s->live, s->live_cap, sizeof *s->live);
        }
        r->live_at = (uint32_t)s->nlive;
        s->live[s->nlive++] = number;
    }
    sift_up(s, r, r->n++, machine);
}

void roomset_leave(struct roomset *s, uint32_t number, uint32_t machine)
{
    struct roomset_item *r = &s->items[number];
    uint32_t at = s->at[machine], last = r->machines[--r->n];
    if (last != machine) {
        if (at && r->machines[(at - 1) / 2] > last)
            sift_up(s, r, at, last);
        else
            sift_down(s, r, at, last);
    }
    if (r->n)
        return;
    uint32_t moved = s->live[--s->nlive];
    s->live[r->live_at] = moved;
    s->items[moved].live_at = r->live_at;
    r->live_at = ROOM_NONE;
}

const uint32_t *roomset_live(const struct roomset *s, size_t *n)
{
    *n = s->nlive;
    return s->live;
}

size_t roomset_slots(const struct roomset *s)
{
    return s->slots;
}

size_t roomset_size(const struct roomset *s)
{
    return s->n;
}

void roomset_reset(struct roomset *s, void (*moved)(void *ctx, uint32_t machine, uint32_t number), void *ctx)
{
    struct roomset old = *s;
    *s = (struct roomset){ .at = old.at, .at_cap = old.at_cap };
    grow(s);
    for (size_t i = 0; i < old.nlive; i++) {
        const struct roomset_item *r = &old.items[old.live[i]];
        for (uint32_t k = 0; k < r->n; k++) {
            uint32_t number = roomset_find(s, &r->room);
            roomset_enter(s, number, r->machines[k]);
            moved(ctx, r->machines[k], number);
        }
    }
    old.at = NULL;
    release(&old);
}
