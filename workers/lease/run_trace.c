/* SPDX-License-Identifier: Apache-2.0 */
/* run_trace.c - the parent of the lease is the job's first span, which falaj-api told when the job was submitted. */
#include "workers/lease/run_trace.h"
#include "core/base/clock.h"
#include "core/http/otlp.h"

enum { ID_TEXT = 48 };

static int64_t now_us(void)
{
    return clock_wall_us(&clock_system);
}

void run_trace_begin(struct run_trace *t, struct otlp *o, const struct lease_grant *g)
{
    const struct trace job = otlp_job(o, g->job_id);
    *t = (struct run_trace){ .otlp = otlp_wants(o, &job) ? o : NULL, .g = g };
    if (!t->otlp)
        return;
    t->at = trace_child(&job);
    memcpy(t->job_span, job.span_id, sizeof t->job_span);
    t->begin_us = t->stage_us = now_us();
}

void run_trace_stage(struct run_trace *t, struct str name, bool ok)
{
    if (!t->otlp)
        return;
    struct span s = { .at = trace_child(&t->at), .kind = SPAN_INTERNAL, .name = name, .start_us = t->stage_us, .end_us = now_us(),
                      .error = ok ? STR_NULL : STR("failed"), .owner = t->g->tenant_id };
    memcpy(s.parent, t->at.span_id, sizeof s.parent);
    otlp_tell(t->otlp, &s);
    t->stage_us = s.end_us;
}

static void add_id(struct span *s, const char *key, char room[ID_TEXT], const char *prefix, struct uuid u)
{
    size_t n = strlen(prefix);
    memcpy(room, prefix, n);
    room[n] = '_';
    hex_encode(u.b, sizeof u.b, room + n + 1);
    span_text(s, key, str_c(room));
}

void run_trace_end(struct run_trace *t, struct str error)
{
    char job[ID_TEXT], attempt[ID_TEXT], tenant[ID_TEXT];
    if (!t->otlp)
        return;
    struct span s = { .at = t->at, .kind = SPAN_CONSUMER, .name = STR("lease"), .start_us = t->begin_us, .end_us = now_us(),
                      .error = error, .owner = t->g->tenant_id };
    memcpy(s.parent, t->job_span, sizeof s.parent);
    add_id(&s, "falaj.job.id", job, "job", t->g->job_id);
    add_id(&s, "falaj.attempt.id", attempt, "att", t->g->attempt_id);
    add_id(&s, "falaj.tenant.id", tenant, "tnt", t->g->tenant_id);
    span_text(&s, "falaj.job.kind", t->g->kind);
    span_text(&s, "falaj.zone", t->g->zone);
    span_number(&s, "falaj.fence", t->g->fence);
    span_number(&s, "falaj.slots", t->g->slots);
    otlp_tell(t->otlp, &s);
}
