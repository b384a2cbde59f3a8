/* SPDX-License-Identifier: Apache-2.0 */
/* custody.h - the thread that looks after the audit log beside numbering it: drops what is past its time, anchors heads outside the
 * database, compares the access log, and measures whether the log keeps up.
 *
 * Needs no leadership: a task is done by whoever moves its time in audit_task. It waits for disks and networks, so it is no part of the
 * sequencer's thread. An error is logged, and the task is due again with its next term.
 * Calling order: custody_new (starts the thread) -> custody_free (joins). */
#pragma once
#include "core/base/work.h"

struct custody;

/* sequencer_pool: role falaj_sequencer. retention_pool: role falaj_retention; NULL: nothing is dropped here. */
struct custody *custody_new(const struct app *app, struct db_pool *sequencer_pool, struct db_pool *retention_pool);
void custody_free(struct custody *c);

/* The tasks, for tests; each opens its own transactions. */
MUST_CHECK enum errc custody_anchor(const struct app *app, struct db_pool *pool, struct arena *a, struct err *e);
MUST_CHECK enum errc custody_retention(const struct app *app, struct db_pool *retention_pool, struct arena *a, int64_t *ret_dropped, struct err *e);
/* Goes on where the last comparison ended; a file that is shorter than that was rotated and is read from its start. */
MUST_CHECK enum errc custody_reconcile(const struct app *app, struct db_pool *pool, struct arena *a, const char *path, struct err *e);
/* By id, not by any order: what the sequencer passed over shows here, in the log and to who asks for the platform's facts. */
MUST_CHECK enum errc custody_count(const struct app *app, struct db_pool *pool, struct arena *a, struct err *e);

struct stmt;
extern const struct stmt *const custody_stmts[];        /* pool of falaj_sequencer */
