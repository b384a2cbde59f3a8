/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - the order of one tenant's jobs, as a total order on values that never change while a job waits. */
#include "scheduler/plan/order.h"

#include <stdlib.h>

int order_compare(const struct snap_job *a, const struct snap_job *b)
{
    if (a->class_value != b->class_value)
        return a->class_value > b->class_value ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->submitted_at.us != b->submitted_at.us)
        return a->submitted_at.us < b->submitted_at.us ? -1 : 1;
    return uuid_cmp(a->job_id, b->job_id);
}

static int lane_compare(const struct snap_job *a, const struct snap_job *b)
{
    int c = uuid_cmp(a->project_id, b->project_id);
    return c ? c : str_cmp(a->queue, b->queue);
}

bool order_same_lane(const struct snap_job *a, const struct snap_job *b)
{
    return !a->has_lane || lane_compare(a, b) == 0;
}

static int by_tenant(const void *a, const void *b)
{
    const struct snap_job *x = a, *y = b;
    if (x->tenant != y->tenant)
        return x->tenant < y->tenant ? -1 : 1;
    int c = x->has_lane ? lane_compare(x, y) : 0;
    if (c)
        return c;
    return order_compare(x, y);
}

void order_jobs(struct snapshot *s)
{
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct snap_job *j = &s->jobs.items[i];
        j->is_placed = false;
        j->has_lane = (size_t)j->tenant < s->tenants.n && s->tenants.items[j->tenant].guarded;
    }
    if (s->jobs.n > 1)
        qsort(s->jobs.items, s->jobs.n, sizeof *s->jobs.items, by_tenant);
}
