/* SPDX-License-Identifier: Apache-2.0 */
/* reservation.h - machines that are kept for a window of time: for maintenance, or for the jobs of a tenant or of its project.
 *
 * The machines are named, or chosen when it is made: so many of a zone and flavor that no other reservation has then. Two of
 * them never have a machine at the same time: whoever makes one holds the planners' lock, so a plan that is being written ends
 * first and the next one knows the window. What a planner makes of it: scheduler/plan/reserved.h. At its start those who are
 * still there are told to make room as far as their class lets (reservations_begin), and for maintenance the machines are
 * drained; at its end, or when it is removed, they take work again.
 * All of it in the platform's scope. Memory: w->arena. Errors: NOT_FOUND, INVALID, CONFLICT (with the sum, and when it would
 * fit), LIMIT. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum reservation_purpose { RESERVE_MAINTENANCE, RESERVE_TENANT };
enum reservation_state { RESERVATION_PLANNED, RESERVATION_ACTIVE, RESERVATION_ENDED, RESERVATION_OPEN };    /* OPEN: not ENDED */
extern const char *const reservation_purposes[], *const reservation_states[];
enum { RESERVATIONS_MAX = 10000, RESERVATION_MACHINES = 1000, RESERVATION_AHEAD_DAYS = 366, RESERVATION_KEPT_DAYS = 90 };

struct reservation_create {
    int purpose;
    struct uuid tenant_id, project_id;
    struct timestamp from_at, until_at; /* from_at absent: now */
    struct slice nodes;                 /* struct str: ids or names of machines; or: */
    struct str zone, flavor;
    int64_t machines;
    struct str reason;
};
extern const struct schema reservation_create_schema;

struct reservation {
    struct uuid reservation_id;
    struct str purpose, state;
    struct uuid tenant_id, project_id;
    struct str zone, flavor;
    int64_t machines;
    struct slice node_ids;              /* struct uuid; of one that is read alone */
    struct timestamp from_at, until_at;
    struct str reason;
    struct timestamp created_at;
};
extern const struct schema reservation_schema;

enum errc reservation_make(struct work *w, const struct reservation_create *in, struct reservation *ret,
                           struct err *e) MUST_CHECK;
enum errc reservation_get(struct work *w, struct uuid id, struct reservation *ret, struct err *e) MUST_CHECK;
/* The next to begin first, behind `after`; node_id nil: whatever machines they have. */
enum errc reservation_list(struct work *w, enum reservation_state state, struct uuid node_id, struct uuid after, int64_t limit,
                           struct slice *ret, struct err *e) MUST_CHECK;
/* ret: what it was. Machines that it drained take work again. */
enum errc reservation_remove(struct work *w, struct uuid id, struct reservation *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const reservation_stmts[];
