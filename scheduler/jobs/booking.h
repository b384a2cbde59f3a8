/* SPDX-License-Identifier: Apache-2.0 */
/* booking.h - changes of quota.used that a batch of steps makes, written last in its transaction.
 *
 * Every batch touches the rows of many tenants, and a row stays locked until the commit. So a batch does all its other work first and
 * books at its end: the rows are locked in one order and changed by the next statement, whose snapshot is newer than any change that
 * was waited for, and the commit follows at once. That no booking passes a limit is a CHECK of the table.
 * Calling order: booking_new -> booking_add* -> booking_write -> commit. Memory: the arena. */
#pragma once
#include "core/base/arena.h"
#include "core/base/id.h"

struct db_tx;
struct stmt;
struct booking;

struct booking *booking_new(struct arena *a, size_t max_adds);
/* amount is added to what is used: negative gives back; 0 is nothing. resource is a constant. */
void booking_add(struct booking *b, struct uuid tenant_id, const char *resource, int64_t amount);
void booking_write(struct db_tx *tx, struct booking *b);       /* queued */

/* Stand in lease_end_stmts: whoever ends attempts books. */
extern const struct stmt booking_turn_stmt, booking_write_stmt;
