/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.h - when a job on several machines that finds no room will start, and on which machines: its booking (bookings.h).
 *
 * The moment is the first at which enough machines of one kind have room for it, its tenant's quota too, when what runs has ended
 * as its caller expects. Whoever comes later may use those machines only as far as that moment stays where it is, so:
 *   - nobody who is placed behind a booking delays it, but a job of the same tenant and a higher class;
 *   - while its machines are there and ready, a booking keeps them, so the latest moment at which all that ran there when it was
 *     made must have ended (max_runtime_s) is the latest at which it starts, however many small jobs stream in.
 * The first job in order of each tenant that waits for room or quota gets one. Where something without an end runs on too many
 * machines there is no such moment, and nothing is kept.
 * Pure; the memory of what it tries is the arena's. */
#pragma once
#include "scheduler/plan/bookings.h"

/* What a live attempt holds on one machine, and when it will have ended. */
struct snap_end {
    struct uuid tenant_id, project_id, node_id;
    struct str queue;
    struct ask ask;                     /* held there */
    uint64_t devices;
    int64_t all_slots, all_gpus;        /* of all its machines together; 0 on those behind the first */
    bool is_first;                      /* its first machine: there its tenant's quota is counted */
    int64_t ends_us;                    /* INT64_MAX: nobody knows */
};
struct ends { struct snap_end *items; size_t n; };      /* sorted by both calls */

/* Somebody of the plan waits who could have a booking. */
bool backfill_wanted(const struct snapshot *s, const struct plan *p);
/* Before placement_plan of s, whose bookings and now_us are set: all are counted anew; one whose job does not wait any more, or
 * whose machines will not be free, ends. */
void backfill_renew(struct snapshot *s, struct ends e, struct arena *a);
/* After placement_plan and preempt_plan: new bookings, and when they start in the words of those who have one. */
void backfill_plan(struct snapshot *s, struct plan *p, struct ends e, struct arena *a);
