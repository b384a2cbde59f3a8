/* SPDX-License-Identifier: Apache-2.0 */
/* claims.h - waiting jobs for which room is being made, and the machine where.
 *
 * A plan places such a job on its machine before all others. While its room is not yet whole, what is free of it is kept from
 * everybody else. A claim that nobody renews ends after CLAIM_US, so what a leader forgets costs no machine.
 * Pure but for its own memory; one thread. Calling order in a plan: claims_take -> ... -> claims_untake. */
#pragma once
#include "scheduler/plan/snapshot.h"

enum { CLAIMS_MAX = 256, CLAIM_US = 5000000 };

struct claim {
    struct uuid tenant_id, job_id, node_id;
    struct ask ask;
    struct uuid project_id;
    char queue[64];
    bool is_guarded;                    /* its tenant has rules */
    int64_t until_us;
    /* in a plan: what is kept, and where */
    bool keeps;
    size_t node;
    struct ask took;
    uint64_t devices;
    int64_t tenant;                     /* whose quota counts the ask as used meanwhile; -1: it is not in the plan */
};

struct claims {
    struct claim items[CLAIMS_MAX];
    size_t n;
};

/* The claim of a job; NULL: it has none. */
struct claim *claims_find(struct claims *c, struct uuid tenant_id, struct uuid job_id);
/* One more, or a longer one. False: there are CLAIMS_MAX. */
bool claims_put(struct claims *c, const struct claim *what);
void claims_drop(struct claims *c, struct claim *which);
/* Forgets those that are over. */
void claims_end(struct claims *c, int64_t now_us);
/* Keeps of the machine what its ask would take and is free, and all of it of the tenant's quota and rules. */
void claims_take(struct claim *c, struct snapshot *s, size_t node);
/* Gives back what all of them kept. */
void claims_untake(struct claims *c, struct snapshot *s);
