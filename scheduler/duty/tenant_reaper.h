/* SPDX-License-Identifier: Apache-2.0 */
/* tenant_reaper.h - what the end of a tenant leaves to do: stopping its queue, then removing it row by row.
 *
 * Of a tenant that is suspended or being deleted, jobs that wait and were asked to stop end here (a job that a worker holds ends by its
 * worker's report). A tenant whose days of grace are over, in which nothing runs and which no legal hold keeps, is wiped by
 * tenant_wipe, a few thousand rows a pass; its keys go to the keeper of keys; at last its name goes. What stays is
 * named in the table tenant_kept. Blobs without rows are removed by the orphan sweep of falaj-api.
 * Each pass is one transaction and can be repeated. Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"

struct stmt;

struct tenant_reaped {
    int64_t cancelled, removed, ended;
};
/* One pass in w->tx, at most `limit` jobs, and rows per table. */
enum errc tenant_reaper_pass(struct work *w, int64_t limit, struct tenant_reaped *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const tenant_reaper_stmts[];
