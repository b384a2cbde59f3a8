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

void snapshot_link(struct snapshot *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct snap_job j = s->jobs.items[i];
        j.tenant = tenant_index(s, j.tenant_id);
        if (j.tenant >= 0)
            s->jobs.items[kept++] = j;
    }
    s->jobs.n = kept;
}
