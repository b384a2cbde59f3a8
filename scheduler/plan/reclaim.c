/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim.c - place by place; what is compared is few rules of one line with few of another. */
#include "scheduler/plan/reclaim.h"

/* Every rule of the job's at that place leaves it room within its nominal. */
static bool is_within(const struct rulebook *b, const struct rule_ask *job, enum rule_place place)
{
    for (int resource = RULE_SLOTS; resource <= RULE_GPUS; resource++) {
        size_t n;
        const int64_t amount = rulebook_amount(resource, job);
        const struct rule *r = amount > 0 ? rulebook_run(b, job, place, resource, &n) : NULL;
        for (size_t i = 0; r && i < n; i++)
            if (rulebook_is_there(&r[i], job) && r[i].used + amount > r[i].nominal)
                return false;
    }
    return true;
}

static bool is_beyond(const struct rulebook *b, const struct rule *mine, size_t mine_at, const struct rule_ask *held)
{
    size_t n;
    const struct rule *r = rulebook_run(b, held, mine->place, mine->resource, &n);
    for (size_t i = 0; r && i < n; i++)
        if ((size_t)(&r[i] - b->rules.items) != mine_at && r[i].cohort == mine->cohort && rulebook_is_there(&r[i], held) &&
            r[i].used > r[i].nominal)
            return true;
    return false;
}

bool reclaim_owes(const struct rulebook *b, const struct rulebook *runs, const struct rule_ask *job, const struct rule_ask *held)
{
    for (int place = RULE_TENANT; place <= RULE_QUEUE; place++)
        for (int resource = RULE_SLOTS; resource <= RULE_GPUS; resource++) {
            size_t n;
            const bool both = rulebook_amount(resource, job) > 0 && rulebook_amount(resource, held) > 0;
            const struct rule *r = both ? rulebook_run(b, job, place, resource, &n) : NULL;
            for (size_t i = 0; r && i < n; i++)
                if (rulebook_is_there(&r[i], job) && is_beyond(runs, &r[i], (size_t)(&r[i] - b->rules.items), held) &&
                    is_within(b, job, place))
                    return true;
        }
    return false;
}

bool reclaim_may_help(const struct rulebook *b, const struct rule_ask *job, const int64_t *borrowers)
{
    for (int place = RULE_TENANT; place <= RULE_QUEUE; place++)
        for (int resource = RULE_SLOTS; resource <= RULE_GPUS; resource++) {
            size_t n;
            const int64_t amount = rulebook_amount(resource, job);
            const struct rule *r = amount > 0 ? rulebook_run(b, job, place, resource, &n) : NULL;
            for (size_t i = 0; r && i < n; i++)
                if (r[i].used + amount <= r[i].nominal && borrowers[r[i].cohort] > 0)
                    return true;
        }
    return false;
}

bool reclaim_is_lower(const struct reclaim_rank *held, const struct reclaim_rank *job)
{
    return held->class_value != job->class_value ? held->class_value < job->class_value : held->priority < job->priority;
}

bool reclaim_within(enum queue_within policy, const struct reclaim_rank *job, const struct reclaim_rank *held)
{
    if (policy == WITHIN_NEVER)
        return false;
    if (reclaim_is_lower(held, job))
        return true;
    if (policy != WITHIN_LOWER_OR_NEWER_EQUAL_PRIORITY || reclaim_is_lower(job, held))
        return false;
    return held->submitted_at.us != job->submitted_at.us ? held->submitted_at.us > job->submitted_at.us
                                                          : uuid_cmp(held->job_id, job->job_id) > 0;
}
