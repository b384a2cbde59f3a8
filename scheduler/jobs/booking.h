/* SPDX-License-Identifier: Apache-2.0 */
/* booking.h - jobs that end, counted for their tenants' quotas, last in the transaction that ends them.
 *
 * A row of job_end stays locked until the commit, and every batch touches those of many tenants. So a batch does all its other
 * work first and counts at its end, in the order of ids, and the commit follows at once. No submission waits for these rows: it
 * reads what has ended as far as it sees it, and takes that off quota.used (job_submit_many).
 * Calling order: booking_new -> booking_add* -> booking_write -> commit. Memory: the arena. */
#pragma once
#include "core/base/arena.h"
#include "core/base/id.h"

struct db_tx;
struct stmt;
struct booking;

struct booking *booking_new(struct arena *a, size_t max_adds);
void booking_add(struct booking *b, struct uuid tenant_id);     /* one job that ended */
void booking_write(struct db_tx *tx, struct booking *b);        /* queued */

extern const struct stmt booking_write_stmt;    /* stands in job_apply_stmts: whoever moves jobs ends some */
