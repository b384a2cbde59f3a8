/* SPDX-License-Identifier: Apache-2.0 */
/* roomset.h - the different rooms of a fleet, each once, with the machines that have it.
 *
 * Thousands of machines have a few hundred different rooms, so what is computed about a room is computed once. A room is known
 * by its number;
 * one that some machine has, or had, has a slot too: a small dense number for tables beside this one. The machines of a room
 * stand in a heap, so
 * the first of the list is at hand. Numbers and slots stay until roomset_reset. Rooms are sorted (room_sort).
 * Memory of its own. Not thread-safe. */
#pragma once
#include <stddef.h>
#include "scheduler/plan/resource.h"

#define ROOM_NONE UINT32_MAX

struct roomset_item {
    struct room room;
    uint32_t slot;                      /* ROOM_NONE: no machine had it yet */
    uint32_t live_at;                   /* index in the list of live rooms; ROOM_NONE: no machine has it */
    uint32_t *machines;                 /* heap by number */
    uint32_t n, cap;
    int64_t waste;                      /* kept by the fleet, of that epoch; epoch 0: none */
    uint32_t waste_epoch;
};

struct roomset;

struct roomset *roomset_new(void);
void roomset_free(struct roomset *s);

/* The number of that room, new if it was not there. */
uint32_t roomset_find(struct roomset *s, const struct room *r);
/* Valid until the next roomset_find. */
struct roomset_item *roomset_at(struct roomset *s, uint32_t number);
/* A machine has that room now, or no longer. at: where the machine stands in the heap; the set writes it for each machine that
 * moves. */
void roomset_enter(struct roomset *s, uint32_t number, uint32_t machine);
void roomset_leave(struct roomset *s, uint32_t number, uint32_t machine);

/* Numbers of the rooms that some machine has, in no order. */
const uint32_t *roomset_live(const struct roomset *s, size_t *n);
size_t roomset_slots(const struct roomset *s);
size_t roomset_size(const struct roomset *s);
/* Forgets the rooms that no machine has; all numbers and slots change. moved(ctx, machine, number) is called for every machine.
 * */
void roomset_reset(struct roomset *s, void (*moved)(void *ctx, uint32_t machine, uint32_t number), void *ctx);
