/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - jobs and tenants of a snapshot, tied together. */
#include "scheduler/plan/snapshot.h"

static int64_t tenant_index(const struct snapshot *s, struct uuid id)
{
    size_t low = 0, high = s->tenants.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = uuid_cmp(s->tenants.items[mid].tenant_id, id);
        if (!c)
            return (int64_t)mid;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

static bool same_shape(const struct snap_job *a, const struct snap_job *b)
{
    return a->shape == b->shape && uuid_eq(a->tenant_id, b->tenant_id);
}

static void mark_cuts(struct snapshot *s)
{
    struct snap_job *j = s->jobs.items;
    for (size_t i = 0, first = 0; i < s->jobs.n; i++) {
        if (!same_shape(&j[first], &j[i]))
            first = i;
        bool is_last = i + 1 == s->jobs.n || !same_shape(&j[i], &j[i + 1]);
        j[i].is_cut = is_last && j[i].depth && (int64_t)(i - first + 1) >= j[i].depth;
    }
}

void snapshot_link(struct snapshot *s)
{
    size_t kept = 0;
    mark_cuts(s);
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct snap_job j = s->jobs.items[i];
        j.tenant = tenant_index(s, j.tenant_id);
        if (j.tenant >= 0)
            s->jobs.items[kept++] = j;
    }
    s->jobs.n = kept;
}
