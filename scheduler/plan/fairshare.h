/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare.h - which tenant goes next: the least dominant share, in integers.
 *
 * share = max over slots and gpus of 1 000 000 * used / limit * 1000 / weight (128-bit products), as DRF and Kueue's ratio have it; the
 * weight is that of the tenant's rules (rulebook.h), 1000 without. Before that, who has borrowed less from other tenants goes
 * first (share.h); who has no rules borrows nothing. A limit or weight of 0 with use is the largest share. Ties: the oldest
 * first job, then the tenant's id. */
#pragma once
#include "scheduler/plan/snapshot.h"

int64_t fairshare_of(const struct snap_tenant *t);
/* Less than 0: a goes before b. Jobs: the first waiting one of each. */
int fairshare_compare(const struct snap_tenant *a, const struct snap_job *ja, const struct snap_tenant *b, const struct snap_job *jb);
