/* SPDX-License-Identifier: Apache-2.0 */
/* plan_told.c - the first wait of a job began when its id was made. A later one began when it came back to the queue, which the
 * plan does not know: of those only the moment of the placement is told. */
#include "scheduler/plan_told.h"
#include "core/http/otlp.h"

static void tell(struct work *w, const struct snapshot *s, const struct plan_line *l, int64_t now_us)
{
    const struct snap_job *j = l->job;
    struct trace job = otlp_job(w->app->otlp, j->job_id);
    bool is_first = j->fence == 0;
    if (!otlp_wants(w->app->otlp, &job))
        return;
    struct span p = { .at = trace_child(&job), .kind = SPAN_INTERNAL, .name = is_first ? STR("wait") : STR("place again"),
                      .start_us = is_first ? uuid_time_us(j->job_id) : now_us, .end_us = now_us, .owner = j->tenant_id };
    memcpy(p.parent, job.span_id, sizeof p.parent);
    span_text(&p, "falaj.job.id", id_text(w->arena, "job", j->job_id));
    span_text(&p, "falaj.attempt.id", id_text(w->arena, "att", l->step.attempt_id));
    span_text(&p, "falaj.node.id", id_text(w->arena, "nod", l->step.node_id));
    span_text(&p, "falaj.tenant.id", id_text(w->arena, "tnt", j->tenant_id));
    span_text(&p, "falaj.zone", s->nodes.items[l->node].zone);
    span_text(&p, "falaj.waited_for", j->reason.len ? j->reason : STR_NULL);
    span_number(&p, "falaj.slots", j->slots);
    otlp_tell(w->app->otlp, &p);
}

void plan_told(struct work *w, const struct snapshot *s, const struct plan_line *lines, size_t n)
{
    int64_t now_us = clock_wall_us(w->app->clock);
    for (size_t i = 0; w->app->otlp && i < n; i++)
        tell(w, s, &lines[i], now_us);
}
