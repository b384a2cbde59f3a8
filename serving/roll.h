/* SPDX-License-Identifier: Apache-2.0 */
/* roll.h - a deployment moves to another job (another version, other settings) without a call that fails.
 *
 * A roll in three steps. Begin: a second job loads and warms up beside the one that serves. Turn: as soon as it says where it
 * listens, the deployment's target is that job. Drain: ROLL_DRAIN_MS later every falaj-api has forgotten the old target
 * (SERVING_TARGET_MS), and the old job is told to stop; it answers what it still has. A call that meets a target which has just
 * gone is asked once more at the new one (api/routes/inference.c).
 * The new job ended before it answered, or did not answer in time: the roll is given up, its job is stopped, and the deployment
 * says why (roll_error) while the old job goes on serving as if nothing had been asked. A second roll before the turn takes the
 * place of the first.
 * Invariants: at most one job is next and one is old; each step is one transaction with its audit event, and any falaj-api may
 * take it.
 * Calling order: roll_keeper_new -> roll_keeper_free (joins); the rest from any transaction of the tenant.
 * Memory: w->arena. Errors: NOT_FOUND (also another tenant's); those of the transaction. */
#pragma once
#include "core/base/work.h"

struct stmt;
enum { ROLL_DRAIN_MS = 3000, ROLL_STEP_MS = 500 };

/* What a deployment has under lock: its jobs, by which a caller decides. */
struct roll_state {
    struct uuid deployment_id, job_id, next_job_id, old_job_id;     /* nil: none */
    struct uuid model_id;
    struct str name;
    struct json spec;                                               /* of the job that serves, and its slots */
    int64_t model_version, next_version, version, slots;
    bool is_ready, is_late;                                         /* the next job answers; its time is over */
    bool is_drained;                                                /* the old job may go */
    struct str next_state, next_message;                            /* of the next job; STR_NULL without one */
};
enum errc roll_lock(struct work *w, struct uuid deployment_id, struct roll_state *ret, struct err *e) MUST_CHECK;
/* The deployment shall be served by this job; what was next before is stopped. */
enum errc roll_begin(struct work *w, const struct roll_state *s, struct uuid job_id, int64_t model_version, int64_t deadline_s,
                     struct err *e) MUST_CHECK;
/* Ends a roll that has not turned; why: for who looks at the deployment. Nothing to end: ERR_OK. */
enum errc roll_give_up(struct work *w, const struct roll_state *s, struct str why, struct err *e) MUST_CHECK;

/* One pass over what has a step to take; each in a transaction of its own. For the keeper, and tests. */
enum errc roll_pass(const struct app *app, struct arena *a, int64_t drain_ms, int64_t *ret_steps, struct err *e) MUST_CHECK;

struct roll_keeper;
struct roll_keeper *roll_keeper_new(const struct app *app);     /* starts the thread */
void roll_keeper_free(struct roll_keeper *k);                   /* ends it; NULL is fine */

/* Run as falaj_app. */
extern const struct stmt *const roll_stmts[];
