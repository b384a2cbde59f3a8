/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim.h - whether a job is owed what another's attempt borrows, by quota rules alone.
 *
 * It is, when at some place (tenant, project, queue) a rule of the job and another one of the attempt are of one cohort, the
 * attempt's is used
 * beyond its nominal in a resource that both count, and the job would stay within the nominal of every rule of its own at that
 * place.
 * So whoever is sent away that way is not owed the same back: its rule would be beyond its nominal with it. And rules of
 * tenants alone
 * stand between tenants, so no tenant loses to another but what it borrows. Pure. */
#pragma once
#include "core/base/clock.h"
#include "scheduler/plan/rulebook.h"

/* job: what it asks on its machine; held: what the attempt holds on its own. runs: the rules with what runs, the attempt too;
 * b: the same
 * rules, and what others who wait are to get is counted besides, by which the job's own are judged. */
bool reclaim_owes(const struct rulebook *b, const struct rulebook *runs, const struct rule_ask *job, const struct rule_ask *held);
/* Somebody borrows in a cohort of the job's rules in which it is owed something; borrowers: by cohort, how many rules are
 * beyond their
 * nominal. Flavors and zones aside: a first look. */
bool reclaim_may_help(const struct rulebook *b, const struct rule_ask *job, const int64_t *borrowers);
/* The job goes before an attempt of its own queue by the queue's policy. Priorities: of classes first. */
struct reclaim_rank { int64_t class_value, priority; struct timestamp submitted_at; struct uuid job_id; };
bool reclaim_is_lower(const struct reclaim_rank *held, const struct reclaim_rank *job);
bool reclaim_within(enum queue_within policy, const struct reclaim_rank *job, const struct reclaim_rank *held);
