/* SPDX-License-Identifier: Apache-2.0 */
/* rulebook.h - quota rules as arithmetic: how much may this job's tenant, project and queue still take on that machine?
 *
 * A rule limits one resource of one tenant, project or queue, on one flavor and zone or on all together. Rules with the same parent and the
 * same resource, flavor and zone form a cohort (tenants: the platform; projects: their tenant; queues: their project, or the tenant's own
 * jobs). With guaranteed = nominal - lending_limit, two things hold after every taking (after Kueue's cohorts, in integers):
 *     used <= nominal + borrowing_limit                                      for each rule
 *     sum of max(0, used - guaranteed) <= sum of lending_limit               for each cohort
 * So what a rule guarantees is never lent, what the others do not use is, and the sum of use never passes the sum of nominals. Nothing is
 * taken back: who lent waits until the borrower's attempt ends.
 * A machine is allowed when every rule that matches it allows. No rule that matches: no limit here (the tenant's own quota remains).
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
    int64_t cohort;                     /* filled by rulebook_link */
};
struct rule_cohort { int64_t lendable, lent; };

struct rulebook {
    struct { struct rule *items; size_t n; } rules;     /* in rulebook_link's order: by tenant first */
    struct rule_cohort *cohorts;
};

/* What is asked, and where. */
struct rule_ask {
    struct uuid tenant_id, project_id;
    struct str queue, flavor, zone;
    int64_t slots, gpus;
};

/* Sorts the rules and finds the cohorts. */
void rulebook_link(struct rulebook *b, struct arena *a);
/* How much more the rule may take: 0 or more. */
int64_t rulebook_room(const struct rulebook *b, const struct rule *r);
/* NULL: allowed; else the first rule that does not allow. */
const struct rule *rulebook_refuses(const struct rulebook *b, const struct rule_ask *ask);
/* Takes without asking. */
void rulebook_take(struct rulebook *b, const struct rule_ask *ask);
/* Why not, with the numbers. */
struct str rulebook_words(const struct rulebook *b, const struct rule *r, const struct rule_ask *ask, struct arena *a);

/* Share of the tenant's queue that the ask names, in millionths of its nominal by weight: the largest over its rules of place queue and
 * project; 0 when none is about it. */
int64_t rulebook_share(const struct rulebook *b, const struct rule_ask *ask);
/* The tenant's weight for a resource in thousandths: of its rule for all flavors and zones, else the least of its others, else 1000. */
int64_t rulebook_weight(const struct rulebook *b, struct uuid tenant_id, enum rule_resource resource);
/* 1 000 000 * used / limit * 1000 / weight, without overflow; limit or weight 0 with use: INT64_MAX. */
int64_t rulebook_ratio(int64_t used, int64_t limit, int64_t weight);
