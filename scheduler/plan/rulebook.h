/* SPDX-License-Identifier: Apache-2.0 */
/* rulebook.h - quota rules as arithmetic: how much may this job's tenant, project and queue still take on that machine?
 *
 * A rule limits one resource of one tenant, project or queue, on one flavor and zone or on all together. Rules with the same parent and the
 * same resource, flavor and zone form a cohort (tenants: the platform; projects: their tenant; queues: their project, or the tenant's own
 * jobs). With guaranteed = nominal - lending_limit, two things hold after every taking (after Kueue's cohorts, in integers):
 *     used <= nominal + borrowing_limit                                      for each rule
 *     sum of max(0, used - guaranteed) <= sum of lending_limit               for each cohort
 * So what a rule guarantees is never lent, what the others do not use is, and the sum of use never passes the sum of nominals.
 * A machine is allowed when every rule that matches it allows. No rule that matches: no limit here (the tenant's own quota remains).
 * A queue may be declared: how its line goes and what it may do to others; one that is not goes as queue_policy's defaults say.
 * Pure: plain data, no I/O; memory from the arena. Calling order: rulebook_link, then the others. */
#pragma once
#include "core/base/arena.h"
#include "core/base/id.h"
#include "core/base/str.h"

enum rule_resource { RULE_SLOTS, RULE_GPUS, RULE_JOBS };
enum rule_place { RULE_TENANT, RULE_PROJECT, RULE_QUEUE };
extern const char *const rule_resource_names[];         /* "slots", "gpus", "jobs" */
extern const char *const rule_place_names[];            /* "tenant", "project", "queue" */

struct rule {
    struct uuid tenant_id, project_id;
    int place, resource;                /* enum rule_place, enum rule_resource */
    struct str queue, flavor, zone;     /* flavor, zone empty: all together */
    int64_t nominal, borrowing_limit, lending_limit;    /* borrowing < 0: unlimited; lending < 0: all */
    int64_t weight;                     /* thousandths */
    int64_t used;                       /* by live attempts */
    int64_t cohort;                     /* from here on filled by rulebook_link */
    int64_t usage;                      /* of its queue, in its resource */
};
struct rule_cohort {
    int64_t lendable, lent;
    int64_t weights, usage;             /* of all its rules; of their queues, in the resource of the rules */
};

/* By Kueue's names. */
enum queue_mode { QUEUE_STRICT_FIFO, QUEUE_BEST_EFFORT_FIFO };
enum queue_stop { QUEUE_GOES, QUEUE_HOLD, QUEUE_HOLD_AND_DRAIN };
enum queue_within { WITHIN_NEVER, WITHIN_LOWER_PRIORITY, WITHIN_LOWER_OR_NEWER_EQUAL_PRIORITY };
enum queue_reclaim { RECLAIM_NEVER, RECLAIM_LOWER_PRIORITY, RECLAIM_ANY };
extern const char *const queue_mode_names[];            /* "StrictFIFO", "BestEffortFIFO" */
extern const char *const queue_stop_names[];            /* "None", "Hold", "HoldAndDrain" */
extern const char *const queue_within_names[];          /* "Never", "LowerPriority", "LowerOrNewerEqualPriority" */
extern const char *const queue_reclaim_names[];         /* "Never", "LowerPriority", "Any" */

/* A queue that somebody declared. */
struct rule_queue {
    struct uuid tenant_id, project_id;  /* project nil: of the tenant's own jobs */
    struct str name;
    int mode, stop_policy, within_cluster_queue, reclaim_within_cohort;
    int64_t slot_usage, gpu_usage;      /* slot and GPU seconds, halved every week */
};

struct rulebook {
    struct { struct rule *items; size_t n; } rules;     /* in rulebook_link's order: by tenant first */
    struct rule_cohort *cohorts;
    struct { struct rule_queue *items; size_t n; } queues;  /* in rulebook_link's order: by tenant, project, name */
};

/* What is asked, and where. */
struct rule_ask {
    struct uuid tenant_id, project_id;
    struct str queue, flavor, zone;
    int64_t slots, gpus;
};

/* Sorts rules and queues, and finds the cohorts. */
void rulebook_link(struct rulebook *b, struct arena *a);
/* The same for somebody who only tries: rules change, queues do not and are shared. */
struct rulebook rulebook_copy(const struct rulebook *b, struct arena *a);
/* How much more the rule may take: 0 or more. */
int64_t rulebook_room(const struct rulebook *b, const struct rule *r);
/* NULL: allowed; else the first rule that does not allow. */
const struct rule *rulebook_refuses(const struct rulebook *b, const struct rule_ask *ask);
/* Takes without asking; gives back what was taken. */
void rulebook_take(struct rulebook *b, const struct rule_ask *ask);
void rulebook_give(struct rulebook *b, const struct rule_ask *ask);
/* The queue that the ask names; NULL: nobody declared it. */
const struct rule_queue *rulebook_queue(const struct rulebook *b, const struct rule_ask *ask);
/* The rules of that place and resource that are about the ask, on whatever flavor and zone: *ret_n of them in a row. */
const struct rule *rulebook_run(const struct rulebook *b, const struct rule_ask *ask, enum rule_place place,
                                enum rule_resource resource, size_t *ret_n);
/* How much of that resource is asked. */
int64_t rulebook_amount(enum rule_resource resource, const struct rule_ask *ask);
/* The rule counts what is done on the ask's flavor and zone. */
bool rulebook_is_there(const struct rule *r, const struct rule_ask *ask);
/* Why not, with the numbers. */
struct str rulebook_words(const struct rulebook *b, const struct rule *r, const struct rule_ask *ask, struct arena *a);

/* The tenant's weight for a resource in thousandths: of its rule for all flavors and zones, else the least of its others, else 1000. */
int64_t rulebook_weight(const struct rulebook *b, struct uuid tenant_id, enum rule_resource resource);
/* 1 000 000 * used / limit * 1000 / weight, without overflow; limit or weight 0 with use: INT64_MAX. */
int64_t rulebook_ratio(int64_t used, int64_t limit, int64_t weight);
