/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare.c - the dominant share of a tenant in millionths of its limit (after DRF and Kueue's share, semantics in the header). */
#include "scheduler/plan/fairshare.h"
#include "scheduler/plan/order.h"

int64_t fairshare_of(const struct snap_tenant *t)
{
    const int64_t sw = t->guarded ? t->slots_weight : 1000, gw = t->guarded ? t->gpus_weight : 1000;
    int64_t slots = rulebook_ratio(t->slots_used, t->slots_limit, sw), gpus = rulebook_ratio(t->gpus_used, t->gpus_limit, gw);
    return slots > gpus ? slots : gpus;
}

int fairshare_compare(const struct snap_tenant *a, const struct snap_job *ja, const struct snap_tenant *b, const struct snap_job *jb)
{
    int64_t x = fairshare_of(a), y = fairshare_of(b);
    if (a->borrowed != b->borrowed)
        return a->borrowed < b->borrowed ? -1 : 1;
    if (x != y)
        return x < y ? -1 : 1;
    if (ja->submitted_at.us != jb->submitted_at.us)
        return ja->submitted_at.us < jb->submitted_at.us ? -1 : 1;
    return uuid_cmp(a->tenant_id, b->tenant_id);
}
