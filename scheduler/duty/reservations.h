/* SPDX-License-Identifier: Apache-2.0 */
/* reservations.h - what the leader does at the two ends of a reservation (scheduler/engine/reservation.h): machines that are kept
 * for maintenance are drained when it begins, and take work again when it has ended or was removed, unless a person drained them
 * meanwhile; a machine that was lost gives its place in a reservation by number to another; and rows that ended long ago, or are
 * for a tenant that is not in use any more, go. Who is to leave is told by evict_windows. Each move is an event. Errors: those of
 * the transaction. */
#pragma once
#include "core/base/work.h"

struct stmt;

/* A machine that is silent for so long is replaced; so many of them in one pass. */
enum { RESERVATION_LOST_S = 300, RESERVATION_REPLACED_MAX = 64 };

enum errc reservations_pass(struct work *w, struct err *e) MUST_CHECK;

extern const struct stmt *const reservations_stmts[];
