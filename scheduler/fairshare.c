/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare.c - the dominant share of a tenant in millionths of its limit (after DRF and Kueue's share, semantics in the header). */
#include "scheduler/fairshare.h"
#include "scheduler/order.h"

enum { WHOLE = 1000000 };

static int64_t ratio(int64_t used, int64_t limit)
{
    if (used <= 0)
        return 0;
    if (limit <= 0)
        return INT64_MAX;
    __int128 r = (__int128)used * WHOLE / limit;
    return r > INT64_MAX ? INT64_MAX : (int64_t)r;
}

int64_t fairshare_of(const struct snap_tenant *t)
{
    int64_t slots = ratio(t->slots_used, t->slots_limit), gpus = ratio(t->gpus_used, t->gpus_limit);
    return slots > gpus ? slots : gpus;
}

int fairshare_compare(const struct snap_tenant *a, const struct snap_job *ja, const struct snap_tenant *b, const struct snap_job *jb)
{
    int64_t x = fairshare_of(a), y = fairshare_of(b);
    if (x != y)
        return x < y ? -1 : 1;
    if (ja->submitted_at.us != jb->submitted_at.us)
        return ja->submitted_at.us < jb->submitted_at.us ? -1 : 1;
    return uuid_cmp(a->tenant_id, b->tenant_id);
}
