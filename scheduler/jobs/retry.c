/* SPDX-License-Identifier: Apache-2.0 */
/* retry.c - a retry that comes at once hits what failed it once more, so each pause is twice the one before. */
#include "scheduler/jobs/retry.h"
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"

enum { USUAL_PAUSE_MAX_MS = 600000, DOUBLINGS_MAX = 10, TEXT_MAX = 1024 };

const char *const retry_cause_names[] = {
#define CAUSE(name, wire, doc) wire,
#include "scheduler/jobs/retry_cause.def"
#undef CAUSE
    NULL
};

SCHEMA_EXTERN(retry, "Which failures are tried again",
    FIELD(retry, max, 0, .min = 1, .max = RETRIES_MAX, .dflt = "3", 
          .doc = "Further attempts at most, in all; instead of max_attempts"),
    FIELD_ENUMS(retry, on, F_REQ, retry_cause_names, .min = 1, .max = RC_COUNT,
                .doc = "Causes that are tried again; a failure of any other cause ends the job at once"),
    FIELD(retry, backoff_s, 0, .min = 0, .max = RETRY_BACKOFF_MAX_S, .dflt = "10",
          .doc = "Seconds before the first of them; twice as long each time, at most an hour"));

struct str retry_text(const struct retry *r, struct arena *a)
{
    if (!retry_is_set(r))
        return STR_NULL;
    CLEANUP(buf_releasep) struct buf b = BUF(TEXT_MAX);
    json_encode(&retry_schema, r, &b);
    return str_dup(a, buf_str(&b));
}

enum errc retry_of_text(struct str text, struct arena *a, struct retry *ret, struct err *e)
{
    *ret = (struct retry){ 0 };
    return text.ptr ? json_decode(&retry_schema, text, a, ret, e) : ERR_OK;
}

int64_t retry_pause_ms(struct uuid attempt_id, int64_t times, int64_t most_ms)
{
    int64_t ms = INT64_C(1000) << (times < DOUBLINGS_MAX ? times : DOUBLINGS_MAX);
    int64_t spread = (attempt_id.b[14] << 8 | attempt_id.b[15]) % 401 - 200;      /* thousandths */
    ms += ms * spread / 1000;
    return ms < most_ms ? ms : most_ms;
}

static bool is_listed(const struct retry *r, enum retry_cause cause)
{
    for (size_t i = 0; i < r->on.n; i++)
        if (((const int *)r->on.items)[i] == (int)cause)
            return true;
    return false;
}

static int64_t doubled_ms(int64_t backoff_s, int64_t times)
{
    int64_t ms = backoff_s * 1000;
    for (; times > 0 && ms < RETRY_PAUSE_MAX_MS; times--)
        ms *= 2;
    return ms < RETRY_PAUSE_MAX_MS ? ms : RETRY_PAUSE_MAX_MS;
}

struct retry_verdict retry_judge(const struct retry_facts *f)
{
    const bool is_own = f->policy && retry_is_set(f->policy);
    const bool is_again = is_own ? is_listed(f->policy, f->cause) && f->failures < f->policy->max
                                 : f->cause == RC_MACHINE && (f->fence < f->max_attempts || f->stays);
    if (!is_again)
        return (struct retry_verdict){ 0 };
    return (struct retry_verdict){ true, is_own ? doubled_ms(f->policy->backoff_s, f->failures)
                                                : retry_pause_ms(f->attempt_id, f->requeue_count, USUAL_PAUSE_MAX_MS) };
}
