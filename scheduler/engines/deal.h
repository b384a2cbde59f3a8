/* SPDX-License-Identifier: Apache-2.0 */
/* deal.h - which of the jobs that wait in an engine's pool get its free places, in queue order. Pure.
 *
 * A job on several machines would never find enough places free at one moment while jobs of one machine take each that falls
 * free. So one of them that has waited for wait_s has free places kept, all that are free, until they are enough (ADR 0148):
 *
 *     at most one job of a pool, the first in queue order that has waited so long;
 *     within its tenant's share of the places (deal_share), or its tenant has none besides;
 *     for hold_s at most, then not for wait_s again: it follows from how long the job has waited, so no leader remembers it.
 *
 * Invariants: never more than is free; nobody gets less than without the rule except while places are kept, and they are kept
 * for no longer than hold_s at a time. wait_s 0: nothing is ever kept. Units: seconds, machines. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deal_job {
    int64_t nodes, waits_s;         /* machines at once; how long it has waited */
    int64_t tenant_places;          /* of its tenant's runs that are open */
};
struct deal_rule {
    int64_t places, tenants;        /* of the engine; that wait or have places */
    int64_t wait_s, hold_s;
};
struct deal_held {
    size_t job;                     /* its index; n: nobody's places are kept */
    int64_t places, left_s;         /* kept now; and for how long at most */
};

/* gets[i]: job i has its places. jobs in queue order. */
struct deal_held engine_deal(const struct deal_job *jobs, size_t n, int64_t free, const struct deal_rule *rule, bool *gets);
int64_t deal_share(const struct deal_rule *rule);
/* Seconds for which places may still be kept for it; 0: it may not now. */
int64_t deal_hold_left(const struct deal_job *job, const struct deal_rule *rule);
