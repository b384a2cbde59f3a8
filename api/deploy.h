/* SPDX-License-Identifier: Apache-2.0 */
/* deploy.h - what a deployment and its jobs go through together, in the caller's transaction: made, rolled, taken down. The
 * routes
 * of deployments and those of the model repository (Open Inference Protocol) both act through here, so that a rule stands once.
 * Calling order: any, inside a call's transaction. Memory: w->arena.
 * Errors: NOT_FOUND of model, version or deployment, EXISTS of a name, QUOTA, BUDGET, RESIDENCY and the rest of a submission. */
#pragma once
#include "scheduler/jobs/job_prepare.h"
#include "serving/deployment.h"

enum { DEPLOY_DEADLINE_S = 600 };       /* a roll that says nothing else */

struct deploy_order {
    struct str name;
    struct uuid model_id;
    int64_t model_version, slots;       /* version 0: the latest */
    struct serve_knobs knobs;
};
enum errc deploy_make(struct work *w, const struct deploy_order *o, struct deployment *ret, struct err *e) MUST_CHECK;

/* What is not given stays as it serves. */
struct deploy_change {
    struct uuid deployment_id;
    bool has_model_version, has_slots, has_knob[SERVE_KNOB_COUNT];
    bool allow_new_signature;           /* callers are known to cope with other inputs and outputs */
    int64_t model_version, slots, deadline_s;
    struct serve_knobs knobs;
};
/* Begins a roll (serving/roll.h). What serves already is asked for: nothing begins, and a roll under way is ended.
 * UNPROCESSABLE: the version takes or gives something else than the one that serves, so callers would fail, and that was not
 * said to be meant. */
enum errc deploy_roll(struct work *w, const struct deploy_change *c, struct deployment *ret, struct err *e) MUST_CHECK;
/* Clients are refused at the latest SERVING_TARGET_MS later, when every falaj-api has forgotten where it listened. */
enum errc deploy_stop(struct work *w, struct uuid deployment_id, struct err *e) MUST_CHECK;
