/* SPDX-License-Identifier: Apache-2.0 */
/* bookings.h - jobs on several machines that found no room, when they are to start, and which machines are kept for them until
 * then.
 *
 * What is kept goes to nobody who could still run at that moment: a job may use it whose longest runtime ends before, with
 * some slack (booking_lets). Of a machine that much is kept as the job will take and those who run there do not give back
 * before, where that was counted lately (is_exact), else all of it. One job of a tenant has a booking at most, and no machine is
 * in two. A booking that nobody renews ends after BOOKING_US, so what a leader forgets costs no machine.
 * Pure but for its own memory; one thread. Calling order in a plan: bookings_begin -> bookings_show, from the latest on, until
 * it says that none is left. */
#pragma once
#include "scheduler/plan/snapshot.h"

enum { BOOKINGS_MAX = 32, BOOKING_SEATS_MAX = 16 };
#define BOOKING_US ((int64_t)10000000)
#define BOOKING_SLACK_US ((int64_t)30000000)    /* what is placed begins that much later at most */

struct booked_seat {
    struct uuid node_id;
    uint64_t devices;                   /* that it is to get, bit by bit */
    struct ask comes;                   /* what those who run there give back before it starts: slots, processors, memory */
    /* in a plan: what is kept, and where */
    bool keeps;
    size_t node;
    struct ask took;                    /* gpus: whole ones that were free */
    uint64_t held;                      /* devices of which all that is free is kept */
    uint16_t milli[DEVICES_MAX];        /* what that was */
};

struct start_booking {
    struct uuid tenant_id, job_id;
    struct ask ask;                     /* of one machine */
    struct uuid project_id;
    char queue[64];
    bool is_guarded;                    /* its tenant has rules */
    int64_t class_value;
    int64_t start_us, until_us;
    int64_t comes_slots, comes_gpus;    /* what its tenant's other jobs give back of its quota before it starts */
    bool is_exact;                      /* all that comes counts what runs now */
    bool is_started;                    /* in a plan: it has its machines, and keeps none */
    bool keeps;                         /* in a plan: its machines, and so much of its tenant's quota */
    size_t n;
    struct booked_seat seats[BOOKING_SEATS_MAX];   /* rank 0 first */
    int64_t kept_slots, kept_gpus;
};

struct bookings {
    struct start_booking items[BOOKINGS_MAX];
    size_t n;
};

/* NULL: it has none. */
struct start_booking *bookings_find(struct bookings *b, struct uuid tenant_id, struct uuid job_id);
/* Of whatever job of the tenant; NULL: it has none. */
struct start_booking *bookings_of(struct bookings *b, struct uuid tenant_id);
/* The booking that keeps that machine; NULL: none. */
const struct start_booking *bookings_at(const struct bookings *b, struct uuid node_id);
/* One more, or in place of the one that its tenant has. False: there are BOOKINGS_MAX. */
bool bookings_put(struct bookings *b, const struct start_booking *what);
void bookings_drop(struct bookings *b, struct start_booking *which);
/* The job has begun: nothing is kept for it any more. */
void bookings_settle(struct bookings *b, struct uuid tenant_id, struct uuid job_id);
/* Forgets those that are over. */
void bookings_end(struct bookings *b, int64_t now_us);
/* The job may use what the booking keeps: it will have ended, or goes before it. */
bool booking_lets(const struct start_booking *b, const struct snap_job *j, int64_t now_us);
/* Orders them by their start and keeps what all of them keep. */
void bookings_begin(struct bookings *b, struct snapshot *s);
/* Gives back what the latest one keeps that still keeps something; *ret: that one. False: none does. */
bool bookings_show(struct bookings *b, struct snapshot *s, const struct start_booking **ret);
