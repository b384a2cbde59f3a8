/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_int.h - what a fleet holds, and its two halves: fleet.c keeps machines and classes, fleet_score.c judges rooms.
 *
 * Ownership: the fleet owns all but the workload. A score belongs to a class and the slot of a room; whoever changes what scores
 * depend on (the scale, the slots, the workload's epoch) forgets them. */
#pragma once
#include "scheduler/plan/askset.h"
#include "scheduler/plan/fleet.h"
#include "scheduler/plan/freetree.h"
#include "scheduler/plan/roomset.h"

enum { GIVEN_KEPT = 1 << 12 };

struct machine { struct room all, free; uint32_t number; };

struct class {
    int64_t *scores;                    /* by the slot of a room */
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
    struct freetree *tree;              /* of machines by their number */
    struct machine *machines;
    struct askset asks;                 /* by class */
    struct class *classes;
    size_t nmachines, machines_cap, nclasses, classes_cap;
    uint32_t turn;                      /* the machine where the next look at some of many begins */
    uint64_t given;                     /* rises when a machine gets more free, which is then written here */
    uint32_t gained[GIVEN_KEPT];        /* by given modulo its length */
};

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The number of that room, sorted; new if it was not there. */
uint32_t fleet_number_of(struct fleet *f, struct room r);
/* All scores of the class are computed anew when they are wanted. */
void fleet_forget(struct class *c);
/* The number of the machine where the class goes by the policy, and the level of the devices that it takes there (with gpus
 * alone). ROOM_NONE: it fits nowhere. */
uint32_t fleet_choose(struct fleet *f, struct class *c, int *ret_level);
