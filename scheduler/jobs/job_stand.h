/* SPDX-License-Identifier: Apache-2.0 */
/* job_stand.h - where a job stands, with its row locked until the commit: what a person's hold (job_hold.h) and suspension
 * (job_suspend.h) are judged by. In the tenant's transaction. Memory: w->arena. Errors: NOT_FOUND. */
#pragma once
#include "scheduler/jobs/job.h"

struct stand {
    int state, kind;                    /* enum job_state, enum job_kind */
    struct str reason;
    int64_t version;
    bool is_early, is_bound;            /* its time has not come; it waits for other jobs */
    bool cancel_requested, suspend_requested;
};
enum errc job_stand(struct work *w, struct uuid job_id, struct stand *ret, struct err *e) MUST_CHECK;
/* Why it waits once nobody holds it back. */
enum job_reason job_stand_reason(const struct stand *s);
/* Moves it from there. */
enum errc job_stand_move(struct work *w, struct uuid job_id, const struct stand *s, enum job_event_kind event,
                         enum job_reason why, struct str message, struct err *e) MUST_CHECK;
