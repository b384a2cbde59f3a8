/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - rows of runs, as the leader reads and writes them. Each function belongs in a transaction of the scheduler's role; none
 * speaks to an engine.
 *
 * Calling order in a turn: engine_demand_serve (demand.h) -> engine_run_read ->
 * (engine_run_begin -> the call -> engine_run_tell | engine_run_back)* -> engine_run_tell* | engine_run_end*.
 * Invariants: at most one open run for a job, one of an engine for a machine's name; a submission is counted, and the tokens of
 * its machines made, before it is sent, and only by who saw the number before it: of two that believe they lead one goes on.
 * Memory: w->arena. Errors: CONFLICT (engine_run_begin: somebody else went on with the run), those of the transaction. */
#pragma once
#include "core/base/work.h"
#include "scheduler/engines/judge.h"
#include "scheduler/engines/record.h"

enum { ENGINE_RUNS_MAX = 1000 };

/* Of a row n of node. */
#define RUN_MACHINE_HELD "EXISTS (SELECT FROM machine_hold h WHERE h.node_id = n.node_id)"
#define RUN_MACHINE_HEARD "(n.state IN ('READY', 'DRAINING') AND n.last_seen_at > clock_timestamp() - interval '30 seconds')"

struct run_row {
    struct uuid run_id, tenant_id, job_id;
    struct str state, seats;            /* seats: numbers between commas */
    int64_t slots, cpus, gpus, memory_bytes, minutes, tries;
    struct str digest, external_id, external_state, says;
    int64_t sent_us, wait_us;
    bool job_waits, is_held, is_heard;  /* its job waits; its machines have leases; one of them was heard of lately */
};

/* Engines that the leader looks after: enabled, with open runs, or with jobs told that places are kept. struct engine. */
enum errc engine_run_engines(struct work *w, struct slice *ret, struct err *e) MUST_CHECK;
/* ret: struct run_row of all that are open. */
enum errc engine_run_read(struct work *w, const struct engine *g, struct slice *ret, struct err *e) MUST_CHECK;
/* Machines of the engine with a lease take no second one, also where a scheduler of the release before gave it; today's plan
 * sees to it itself (lent.h). */
enum errc engine_run_drain(struct work *w, const struct engine *g, struct err *e) MUST_CHECK;

/* Counts the try up, makes the tokens, withdraws earlier ones and frees the names. ask: all but its comment is set by then with
 * engine_run_ask, which needs the tokens; so this calls it. r->tries and r->digest are the new ones. */
enum errc engine_run_begin(struct work *w, const struct engine *g, struct run_row *r, struct engine_ask *ret,
                           struct err *e) MUST_CHECK;
/* What was seen of it or said about it; empty: as it was. */
enum errc engine_run_tell(struct work *w, const struct run_row *r, struct str external_id, struct str external_state,
                          struct str says, struct err *e) MUST_CHECK;
/* The engine took nothing; not before wait_us. */
enum errc engine_run_back(struct work *w, const struct run_row *r, struct str says, int64_t wait_us, struct err *e) MUST_CHECK;
/* is_gone: its processes have surely ended, so its machines are taken as lost at once. is_left: something of it may be at the
 * engine (engine_run_left). */
enum errc engine_run_end(struct work *w, const struct engine *g, const struct run_row *r, const char *outcome, struct str says,
                  bool is_gone, bool is_left, struct err *e) MUST_CHECK;
/* Jobs that wait for a run say so, with the run's words. */
enum errc engine_run_reasons(struct work *w, const struct engine *g, struct err *e) MUST_CHECK;
enum errc engine_run_health(struct work *w, struct uuid engine_id, bool is_up, struct str says, struct err *e) MUST_CHECK;
/* Of these runs, those that have ended here: what is left of them at an engine is nobody's. n <= ENGINE_RUNS_MAX. */
enum errc engine_run_ended(struct work *w, const struct uuid *ids, size_t n, struct slice *ret, struct err *e) MUST_CHECK;
/* Ended runs that may have left something at the engine under their last name, the oldest first; and those of which nothing is
 * left there. */
struct run_left { struct uuid run_id; char name[ENGINE_NAME_TEXT]; };
enum errc engine_run_left(struct work *w, const struct engine *g, struct run_left *ret, size_t most, size_t *ret_n,
                          struct err *e) MUST_CHECK;
enum errc engine_run_removed(struct work *w, const struct uuid *ids, size_t n, struct err *e) MUST_CHECK;
/* Forgets runs that ended seven days ago (thirty, where they may have left something), and tokens and certificates of
 * engines' machines that ended as long ago. */
enum errc engine_run_purge(struct work *w, struct err *e) MUST_CHECK;

/* The submission of a run as it is or was sent; tokens: one for each machine, STR_NULL: without them, for comparison. Pure. */
void engine_run_ask(struct arena *a, const struct engine *g, const struct run_row *r, struct str tokens, struct engine_ask *ret);
/* hpc-1 hpc-2: the machines of the run, by sep. */
struct str engine_run_machines(struct arena *a, const struct engine *g, const struct run_row *r, const char *sep);

extern const struct stmt *const engine_run_stmts[];
