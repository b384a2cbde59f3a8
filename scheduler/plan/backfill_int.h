/* SPDX-License-Identifier: Apache-2.0 */
/* backfill_int.h - a look into the future, between its two files: backfill_look.c plays what ends and which windows come,
 * backfill.c makes bookings of what it finds. */
#pragma once
#include "scheduler/plan/backfill.h"

struct place { struct uuid id; size_t node; };

/* Looks into the future of one snapshot. */
struct look {
    const struct snapshot *s;
    struct ends e;
    struct place *places;               /* machines by id */
    size_t *at;                         /* by end: its machine; SIZE_MAX: it takes no work now */
    struct arena *a, *scratch;          /* for what is found; for one moment */
};

/* The first moment that was found. */
struct found {
    int64_t at_us;
    size_t ends;                        /* so many have ended by then */
    struct seat_of seats[BOOKING_SEATS_MAX];
};

/* Sorts the ends. scratch is the caller's to free. */
struct look look_of(const struct snapshot *s, struct ends e, struct arena *a);
/* SIZE_MAX: it takes no work now. */
size_t look_node(const struct look *l, struct uuid id);
/* The first moment from which the job, with its quota, has all its machines, of those in `only`. False: there is none. */
bool look_find(const struct look *l, const struct snap_job *j, const bool *only, struct found *ret);
