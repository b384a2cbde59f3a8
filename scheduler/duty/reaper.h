/* SPDX-License-Identifier: Apache-2.0 */
/* reaper.h - what ends by silence: leases without a heartbeat, machines that are gone, runs far beyond their time.
 *
 * An expired attempt sends its job back to the queue with a pause of 2^n seconds (+-20 %, at most 10 minutes), or to NODE_FAIL when
 * its attempts are used up (serving jobs are tried without end), or to CANCELLED when somebody had asked for that. Only
 * PostgreSQL's clock counts. Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"

struct stmt;

struct reaper_result {
    int64_t lost_nodes, expired, requeued, failed, cancelled;
    struct uuid *jobs;                  /* whose state changed */
    size_t njobs;
};
/* One pass in w->tx, at most `limit` attempts. */
enum errc reaper_pass(struct work *w, int64_t limit, struct reaper_result *ret, struct err *e) MUST_CHECK;
/* Idempotency records older than 24 hours, at most `limit`. */
enum errc reaper_purge(struct work *w, int64_t limit, int64_t *ret_purged, struct err *e) MUST_CHECK;

extern const struct stmt *const reaper_stmts[];
