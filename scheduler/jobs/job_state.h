/* SPDX-License-Identifier: Apache-2.0 */
/* job_state.h - the states of a job, the legal edges between them, and the reasons to wait. Pure tables.
 *
 * Enum values are indexes into job_state_names etc., which are what the database and JSON hold. */
#pragma once
#include <stdbool.h>
#include "core/base/str.h"

enum job_state {
#define STATE(name, terminal, group, doc) JOB_##name,
#include "scheduler/jobs/job_state.def"
#undef STATE
    JOB_STATE_COUNT
};

enum job_group {
#define GROUP(name, wire, doc) JG_##name,
#include "scheduler/jobs/job_state.def"
#undef GROUP
    JG_COUNT
};

enum job_event_kind {
    JE_ADMIT, JE_HOLD, JE_REJECT, JE_CANCEL, JE_DEADLINE, JE_UNHOLD, JE_TAKE, JE_RETURN, JE_EXPIRE, JE_LOSE, JE_START, JE_FAIL,
    JE_SUCCEED, JE_TIMEOUT, JE_OOM, JE_PREEMPT, JE_EVICT, JE_RETRY, JE_SUSPEND,
    JE_RESUME, JE_COUNT
};

enum job_reason {
#define REASON(name, wire, doc) JR_##name,
#include "scheduler/jobs/job_state.def"
#undef REASON
    JR_COUNT
};

extern const char *const job_state_names[];     /* "PENDING", …; NULL-ended */
extern const char *const job_group_names[];     /* "waiting", … */
extern const char *const job_event_names[];     /* "ADMIT", … */
extern const char *const job_reason_names[];    /* "", "Priority", … */

bool job_state_is_terminal(enum job_state s);
enum job_group job_state_group(enum job_state s);
/* No machine has it, and it has not ended: it waits, or is held back or put aside. */
static inline bool job_state_waits(enum job_state s)
{
    return job_state_group(s) == JG_WAITING;
}
/* The state that event leads to from s; -1: not legal. */
int job_state_next(enum job_state s, enum job_event_kind event);
/* The state that event leads to, wherever it is legal: no event has two. */
enum job_state job_event_goal(enum job_event_kind event);
/* Names of all states from which event leads somewhere; returns how many (at most JOB_STATE_COUNT). */
size_t job_states_before(enum job_event_kind event, struct str out[JOB_STATE_COUNT]);
/* docs/gen/job_states.md */
void job_state_print_markdown(struct buf *out);
