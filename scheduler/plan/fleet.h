/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.h - machines, and where the next job goes by a policy of score.def. The live planner and the simulator place by this
 * code.
 *
 * Calling order: fleet_new -> fleet_add* -> (fleet_class, fleet_arrive, fleet_place, fleet_give)*. Equal asks are one
 * class, and equal machines one room (roomset.h); the score of a room for a class is computed when it is first wanted and
 * kept, so a placement costs a scan over the live rooms. Among very many different ones a tree (freetree.h) finds some that
 * can hold the job, and the fullest few of those are scored. A class that fitted nowhere is not judged again before
 * something was given back or added.
 *
 * Invariants: no machine is ever over its capacity; a job that fits somewhere is placed; the same calls give the same seats
 * (the random policy: for the same seed). What learns futures is shared between fleets by handing the workload over. No I/O,
 * no clock, integers only. Memory of its own: about 600 bytes per room and 8 bytes per class and room that was live. Not
 * thread-safe. */
#pragma once
#include "scheduler/plan/score.h"

enum { FLEET_MACHINES_MAX = 1 << 20, FLEET_CLASSES_MAX = 1 << 20 };

struct fleet;

/* Where a job is: which machine, by fleet_add's number, and which of its devices as a bit mask. */
struct seat { uint32_t machine, devices; };

/* w: borrowed, and it must live as long. */
struct fleet *fleet_new(enum score_policy policy, struct workload *w, uint64_t seed);
void fleet_free(struct fleet *f);

/* all: what it has; free: what of it is free now, by device. Machines count from 0 in the order of these calls, the list order
 * of ties. */
uint32_t fleet_add(struct fleet *f, const struct room *all, const struct room *free);
/* The number of equal asks. The ask is valid (ask_is_valid). */
uint32_t fleet_class(struct fleet *f, const struct ask *a);
const struct ask *fleet_ask(const struct fleet *f, uint32_t class);
/* The workload learns that one more of the class came. */
void fleet_arrive(struct fleet *f, uint32_t class);

/* Takes the best seat. False: it fits nowhere, and nothing changed. */
bool fleet_place(struct fleet *f, uint32_t class, struct seat *ret);
/* The job has left its seat. */
void fleet_give(struct fleet *f, uint32_t class, struct seat seat);
/* Takes a seat that was chosen elsewhere; false: it is not free. */
bool fleet_take(struct fleet *f, uint32_t class, struct seat seat);

size_t fleet_size(const struct fleet *f);
const struct room *fleet_free_room(const struct fleet *f, uint32_t machine);
const struct room *fleet_all_room(const struct fleet *f, uint32_t machine);
