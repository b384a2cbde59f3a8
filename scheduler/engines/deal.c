/* SPDX-License-Identifier: Apache-2.0 */
/* deal.c - the job that places are kept for comes first; while they are not enough, nobody gets any. */
#include "scheduler/engines/deal.h"

int64_t deal_share(const struct deal_rule *rule)
{
    return rule->tenants > 1 ? (rule->places + rule->tenants - 1) / rule->tenants : rule->places;
}

int64_t deal_hold_left(const struct deal_job *job, const struct deal_rule *rule)
{
    const bool is_within = !job->tenant_places || job->tenant_places + job->nodes <= deal_share(rule);
    if (job->nodes < 2 || job->nodes > rule->places || !is_within || rule->wait_s <= 0 || rule->hold_s <= 0
        || job->waits_s < rule->wait_s)
        return 0;
    const int64_t turn_s = (job->waits_s - rule->wait_s) % (rule->wait_s + rule->hold_s);
    return turn_s < rule->hold_s ? rule->hold_s - turn_s : 0;
}

struct deal_held engine_deal(const struct deal_job *jobs, size_t n, int64_t free, const struct deal_rule *rule, bool *gets)
{
    struct deal_held held = { .job = n };
    for (size_t i = 0; i < n; i++) {
        gets[i] = false;
        if (held.job == n && deal_hold_left(&jobs[i], rule))
            held.job = i;
    }
    if (held.job < n && jobs[held.job].nodes <= free) {
        gets[held.job] = true;
        free -= jobs[held.job].nodes;
        held.job = n;
    } else if (held.job < n) {
        held.places = free;
        held.left_s = deal_hold_left(&jobs[held.job], rule);
        return held;
    }
    for (size_t i = 0; i < n; i++)
        if (!gets[i] && jobs[i].nodes <= free) {
            gets[i] = true;
            free -= jobs[i].nodes;
        }
    return held;
}
