/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - the worker's main work: register, take leases, run them, report, and fence itself when nobody answers.
 *
 * Threads: one fetches leases by long poll, one reports, one per train or serve lease runs it; the caller's thread watches the fence
 * and the stop flag. Jobs of kind noop run on no thread at all: they are started and finished by who fetched them, those that sleep
 * stand in a heap of wake-up times.
 * Calling order: agent_new -> agent_run (until *stop) -> agent_free. */
#pragma once
#include <stdatomic.h>
#include "core/table/config.h"
#include "workers/agent/book.h"

/* What the agent needs of the API; tests put another in its place. Each function is used by one thread. next gives STALE when this run of the
 * agent is not registered: then it is registered again, with the same boot_id. */
struct agent_api {
    void *ctx;
    enum errc (*enroll)(void *ctx, struct arena *a, const struct node_register *f, struct node_identity *ret, struct err *e);
    enum errc (*next)(void *ctx, struct arena *a, const struct node_identity *n, struct uuid after, struct slice told,
                      int64_t free_slots, int64_t wait_ms, struct lease_next_out *ret, struct err *e);
    enum errc (*report)(void *ctx, struct arena *a, struct str body, struct lease_report_out *ret, struct err *e);
    /* NULL: nobody says which images may be kept */
    enum errc (*kept)(void *ctx, struct arena *a, const struct lease_kept_in *in, struct lease_kept_out *ret, struct err *e);
};

struct agent;

/* api NULL: clients by config. clock: &clock_system but for tests. */
MUST_CHECK enum errc agent_new(const struct config *cfg, const struct clock *clock, const struct agent_api *api, struct agent **ret,
                               struct err *e);
/* Returns when *stop is set and what ran has ended or was given back, at most grace_ms later; its threads have ended, too. */
MUST_CHECK enum errc agent_run(struct agent *a, const _Atomic bool *stop, struct err *e);
struct book *agent_book(struct agent *a);
/* False: a lease that was killed still hangs in the kernel, so nothing is freed and the process must end without exit handlers. */
bool agent_free(struct agent *a);
