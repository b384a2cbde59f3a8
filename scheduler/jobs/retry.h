/* SPDX-License-Identifier: Apache-2.0 */
/* retry.h - which failures of an attempt are followed by another attempt.
 *
 * A job that says nothing is tried again where its machine fails, up to max_attempts; every other failure ends it. With a `retry`
 * of its own the causes in `on`, and no others, are tried again up to `max` times in all, each time after twice the pause; it
 * takes the place of max_attempts. Both doors through which attempts end ask retry_judge: reports (engine/lease_report.h) and the
 * reaper (engine/lease_expire.c). Pure, but for retry_of_text, whose result lives in the arena. */
#pragma once
#include "core/base/id.h"
#include "core/table/schema.h"

enum retry_cause {
    RC_NONE = -1,                       /* no failure */
#define CAUSE(name, wire, doc) RC_##name,
#include "scheduler/jobs/retry_cause.def"
#undef CAUSE
    RC_COUNT
};
extern const char *const retry_cause_names[];   /* "machine", …; NULL-ended */

enum { RETRIES_MAX = 100, RETRY_BACKOFF_MAX_S = 3600, RETRY_PAUSE_MAX_MS = 3600000 };

struct retry {
    int64_t max, backoff_s;
    struct slice on;                    /* int: enum retry_cause */
};
extern const struct schema retry_schema;
static inline bool retry_is_set(const struct retry *r)
{
    return r->max > 0;
}

/* For job.retry, and back. STR_NULL: not set. */
struct str retry_text(const struct retry *r, struct arena *a);
enum errc retry_of_text(struct str text, struct arena *a, struct retry *ret, struct err *e) MUST_CHECK;

/* An attempt that failed, and its job. */
struct retry_facts {
    const struct retry *policy;         /* NULL or not set: as a job that says nothing */
    enum retry_cause cause;
    struct uuid attempt_id;
    int64_t failures;                   /* attempts of the job that failed before, whatever the cause */
    int64_t fence, max_attempts;        /* this attempt's number; how many may be, beside those that do not count */
    int64_t requeue_count;              /* returns that its pause is counted by */
    bool stays;                         /* the job has no end of its own: it is tried for ever where machines fail */
};
struct retry_verdict {
    bool is_again;
    int64_t delay_ms;
};
struct retry_verdict retry_judge(const struct retry_facts *f);

/* How long a job waits that has come back `times` times before: 2^times seconds, at most most_ms, give or take a fifth. The
 * spread is of the attempt's id, so that the same return always gives the same pause. */
int64_t retry_pause_ms(struct uuid attempt_id, int64_t times, int64_t most_ms);
