/* SPDX-License-Identifier: Apache-2.0 */
/* turnover.h - how fast leases of each machine end, and how many it may be given in advance.
 *
 *     while a round plans:   slots held until the plan, then idle until the next lease comes
 *     with leases in advance: the next ones wait at the machine, which takes one as soon as a slot of its own is free
 *
 * Learned from what rounds see and place, by Little's law: over about TURNOVER_US, slots held x time = slots ended x mean
 * stay. A machine is lent as many slots as end within LEND_US, at most LEND_TIMES its own, and only while leases stay
 * STAY_MOST_US in the mean, their wait in advance included: what is given in advance starts in some tenths of a second. What
 * comes back because it found no slot has stayed longer than TURNOVER_US, so it never looks like a quick end.
 * Lent slots are slots in all that counts: an attempt in advance is live, it holds quota and its machine's room. Nobody is
 * lent any while another machine of its zone and pool has a slot free, which would start the job now; or while room is
 * being made for somebody; nor ever one that is here for one lease. Of more than sixteen zones with their pools the first
 * sixteen are lent to, in the order of their machines.
 * Pure but for its own memory; one thread. Calling order for each round: turnover_see -> turnover_lend? -> turnover_place?
 * (once it is committed), all of one snapshot, whose machines stand in the order of their ids. NULL: nothing is learned or
 * lent. */
#pragma once
#include "scheduler/plan/snapshot.h"

enum { TURNOVER_US = 1000000, LEND_US = 250000, LEND_TIMES = 4, STAY_MOST_US = 500000 };

struct turnover;

struct turnover *turnover_new(void);
void turnover_free(struct turnover *t);         /* NULL is fine */
/* What machines hold now, before anything was lent. */
void turnover_see(struct turnover *t, const struct snapshot *s, int64_t now_us);
/* Raises `lent` and free_slots of the snapshot's machines, before snapshot_fill. */
void turnover_lend(const struct turnover *t, struct snapshot *s);
/* Takes it back: something waits that may not be given in advance. */
void turnover_unlend(struct snapshot *s);
/* So many slots of the machine were leased; node: its index in the snapshot that was seen last. */
void turnover_place(struct turnover *t, size_t node, int64_t slots);
