/* SPDX-License-Identifier: Apache-2.0 */
/* legal_clock.h - terms that a law sets: requests of people, breaches, retentions, each with the moment it is due.
 *
 * A clock is opened under the law of a zone: the term is that of the zone's clock of its kind (zone_law.h) in force on the day
 * of opening, and what sets it is kept in words, so that a later law changes no clock that runs. Where the zone's law names no
 * number the caller gives the moment. Requests of people may be extended once, before they are due, by at most two calendar
 * months; breaches and retentions never. A closed clock stays as it is.
 * Acts in w->tx, in the scope of w->tenant_id. Memory: w->arena. Errors: NOT_FOUND, CONFLICT (closed, extended or due already),
 * UNPROCESSABLE with the member at fault, LIMIT (too many are open). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum legal_clock_kind { LCK_ACCESS, LCK_ERASURE, LCK_RECTIFICATION, LCK_OBJECTION, LCK_BREACH, LCK_RETENTION };
extern const char *const legal_clock_kinds[], *const legal_clock_states[];
enum legal_clock_state { LCS_OPEN, LCS_OVERDUE, LCS_CLOSED, LCS_ANY };      /* the first three: legal_clock_states */
enum { LEGAL_CLOCKS_OPEN = 10000, LEGAL_CLOCK_EXTENSION_MONTHS = 2 };

struct legal_clock {
    struct uuid clock_id;
    struct str kind, state, zone, reference, law;
    struct timestamp opened_at, due_at, first_due_at;
    struct uuid opened_by;
    struct timestamp extended_at;
    struct str extension_reason;
    struct timestamp closed_at;
    struct uuid closed_by;
    struct str note;
};
extern const struct schema legal_clock_schema;

struct legal_clock_new {
    int kind;                               /* enum legal_clock_kind */
    struct str zone, reference, law;        /* law: STR_NULL where the zone's sets the term */
    struct timestamp opened_at, due_at;     /* 0: now; 0: by the zone's law */
};

/* When a term of so many hours ends. Laws speak of months and years where a zone's clock has hours: a number that can be whole
 * months is read both ways, and the earlier end counts, of a retention the later one. Microseconds. */
int64_t legal_clock_due(int kind, int64_t opened_us, int64_t hours);

MUST_CHECK enum errc legal_clock_open(struct work *w, const struct legal_clock_new *in, struct legal_clock *ret, struct err *e);
MUST_CHECK enum errc legal_clock_get(struct work *w, struct uuid clock_id, struct legal_clock *ret, struct err *e);
/* By due_at; position: the clock behind which the page begins. */
MUST_CHECK enum errc legal_clock_list(struct work *w, enum legal_clock_state state, struct uuid position, int64_t limit,
                                      struct slice *ret, struct err *e);
MUST_CHECK enum errc legal_clock_extend(struct work *w, struct uuid clock_id, struct timestamp due_at, struct str reason,
                                        struct legal_clock *ret, struct err *e);
MUST_CHECK enum errc legal_clock_close(struct work *w, struct uuid clock_id, struct str note, struct legal_clock *ret,
                                       struct err *e);

/* --- the program that tells of them (scheduler/duty/notices.h), in the system scope --- */
enum legal_clock_told { LCT_SOON = 1, LCT_OVERDUE };
struct legal_clock_untold { struct uuid clock_id; struct str kind, reference; struct timestamp due_at; };
/* Clocks that are so and were not told of, the first due first, locked until the transaction ends; those that somebody else has
 * locked come the next time. */
MUST_CHECK enum errc legal_clocks_untold(struct work *w, struct uuid tenant, enum legal_clock_told what, int64_t limit,
                                         struct slice *ret, struct err *e);
MUST_CHECK enum errc legal_clocks_tell(struct work *w, struct uuid tenant, enum legal_clock_told what, const struct uuid *ids,
                                       size_t n, struct err *e);

extern const struct stmt *const legal_clock_stmts[], *const legal_clock_daemon_stmts[];
